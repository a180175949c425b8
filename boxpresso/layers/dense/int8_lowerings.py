"""How convolutions, inner products and MAX pooling run in a plan in 8 bits, with channels last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ...device.chain import Chain
from ..core.int8 import LARGEST, MOST, TURN, Filters, layout_int8, padded_to, slopes_of
from ..core.lowering import ALL, VECTOR, After, Last, Lowering, Scale, folded
from .lowerings import (
    AXES,
    BAND,
    HELD,
    MANY,
    ConvolutionLowering,
    DepthwiseLowering,
    InnerProductLowering,
    PoolingLowering,
    cut,
)

CONVOLUTION, DEPTHWISE, POOLING = (
    Kernels(Path(__file__).with_name(f"{name}_int8.cpp"), UNFUSED) for name in ("convolution", "depthwise", "pooling")
)
TERMS = 60_000  # of a sum, at most: 2^31 is some 66,000 products, and the bias needs room too
DOWN = 16  # rows of places of a block of a depthwise convolution, about
GATHERED = 2**18  # bytes of gathered rows of a block, about: they are read again for each panel of filters
FAR = 2**23  # the same where it is the filters that are read again for each block
FEW = 4  # channels of an image up to which it is taken as planes of floats
NARROWEST = 4  # filters of the narrowest panel

Numbers = np.ndarray[Any, np.dtype[Any]]


class LinearInt8(Lowering):
    """What a convolution, a depthwise one and an inner product have in common in 8 bits.

    Parameters
    ----------
    of
        The same in float.
    """

    absorbs = ALL
    takes = "int8"

    def __init__(self, of: ConvolutionLowering | DepthwiseLowering) -> None:
        self.of, self.device = of, of.device

    def files(self) -> Sequence[Kernels]:
        return [CONVOLUTION, TURN]

    def prepare(self, after: After) -> None:
        self.after = after
        self.known: tuple[Scale, Filters] | None = None
        self.packed: dict[tuple[Scale, bool, int], Any] = {}
        slopes = slopes_of(after.activation, after.channels)
        self.slopes = None if slopes is None else padded_to(self.device, slopes, np.float32)

    def filters(self, scale: Scale) -> Filters:
        """The weights in 8 bits, with what is folded into them."""
        if self.known is None or self.known[0] != scale:
            bias = None if self.of.bias is None else np.asarray(self.of.bias.data)
            weights = np.asarray(self.of.weights.data)
            if isinstance(self.of, ConvolutionLowering) and self.of.transposed:
                weights = weights.T
            channels = self.after.channels
            rows, total = folded(
                weights.reshape(channels, -1),
                bias,
                self.after.affine,
                channels,
                lambda w, factors: w * factors[:, None],
            )
            shape = (channels, -1, *weights.shape[2:]) if weights.ndim == 4 else (channels, -1)
            self.known = scale, Filters(rows.reshape(shape), total, scale)
        return self.known[1]

    def factors(self, filters: Filters, bottom: Scale, top: Scale | None) -> Numbers:
        """What a sum of each filter is multiplied by."""
        factors = filters.steps * bottom.scale / (top.scale if top else 1.0)
        if top and top.factors:
            factors = factors / np.array(top.factors)
        return padded_to(self.device, np.clip(factors, 0, np.finfo(np.float32).max), np.float32)


class ConvolutionInt8(LinearInt8):
    """A convolution of two axes."""

    of: ConvolutionLowering
    planar = FEW
    places = 0  # of an inner product: pixels of an image, whose channels lie beside each other in a packed filter

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        planes, (high, wide) = bottom.pitch == 0, self.of.window["kernel"]
        terms = bottom.channels // self.of.group * self.of.taps
        length = wide if planes else terms // high if self.of.window["dilation"][1] == 1 else terms // self.of.taps
        return f"int8 {'planes' if planes else 'last'}", 4 * self.room(top.channels, terms // length, length)

    def room(self, maps: int, pieces: int, length: int) -> int:
        """The ints that packed filters take, on the CPU that needs the most. length: terms of a piece."""
        return self.of.group * -(-(maps // self.of.group) // VECTOR) * VECTOR * pieces * -(-length // 2)

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        channels = bottom.channels // self.of.group
        high, _, band = self.blocks(top.height, top.width, top.images, channels, top.channels // self.of.group)
        terms = channels * self.of.taps
        laid = self.of.band_of(high // top.width, top.width, channels) if band else high * (terms + VECTOR)
        return laid // 2 + high + terms + 4 * VECTOR

    def blocks(self, height: int, width: int, images: int, channels: int, maps: int) -> tuple[int, int, bool]:
        """Places of a block, into how many the filters are cut, and whether its pixels lie in a band.

        channels, maps: of a group.
        """
        window, terms = self.of.window, channels * self.of.taps
        one = window["kernel"] == (1, 1) and window["pad"] == (0, 0)
        rows = self.of.band_rows(height, width, images)
        if not one and self.of.band_of(rows, width, channels) <= min(BAND, rows * width * terms):
            return rows * width, 1, True
        size = maps * terms if MANY * terms <= HELD else 0  # a block takes all terms of its places at once
        high, across = cut(height * width, maps, images * self.of.group, self.device.workers, size)
        return min(high, max(8, GATHERED // terms)), across, False

    def arranged(self, weights: Numbers, planes: bool) -> Numbers:
        """Weights as (filters, pieces, terms): what is neighbouring in memory is a piece. planes: of an image as planes."""
        high, wide = self.of.window["kernel"]
        each: Numbers = weights.reshape(len(weights), -1, high, wide)
        filters, channels = each.shape[:2]
        if planes:
            return each.reshape(filters, channels * high, wide)
        lines = self.of.window["dilation"][1] == 1
        each = each.transpose(0, 2, 3, 1).reshape(filters, high if lines else high * wide, -1)
        return each

    def pack(self, scale: Scale, planes: bool = False) -> tuple[Any, Any, Filters]:
        """Packed filters and the biases of their sums. planes: for an image as planes."""
        if (key := (scale, planes, self.places)) not in self.packed:
            filters, group, maps = self.filters(scale), self.of.group, self.after.channels
            weights = np.ascontiguousarray(self.arranged(filters.weights, planes))
            _, pieces, length = weights.shape
            packed = self.device.empty((self.room(maps, pieces, length),), np.int32)
            sums = self.device.empty((maps + 2 * VECTOR,), np.int32)
            CONVOLUTION.on(self.device).pack_int8(
                group * -(-(maps // group) // NARROWEST), weights, filters.bias, packed, sums, group, maps // group, pieces,
                length, scale.zero,
            )  # fmt: skip
            self.packed = {key: (packed, sums, filters)}
        result: tuple[Any, Any, Filters] = self.packed[key]
        return result

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom, of = bottoms[0], self.of
        place = {"height": bottom.height, "width": bottom.width, "out_height": top.height, "out_width": top.width}
        images, window = top.images, of.window
        one = window["kernel"] == window["stride"] == (1, 1) and window["pad"] == (0, 0) and bottom.pitch != 0
        if (
            one and images > 1 and all(v is None or v.contiguous_images for v in (bottom, top, addend))
        ):  # all images as one
            place["height"] = place["out_height"] = images * top.height
            images = 1
        self.launch(chain, bottom, top, addend, of.geometry(CONVOLUTION, bottom, top, place), images)

    def launch(self, chain: Chain, bottom: Last, top: Last, addend: Last | None, sizes: Any, images: int) -> None:
        """Appends the launch."""
        assert bottom.scale is not None
        planes, (height, width) = bottom.pitch == 0, (sizes.values["out_height"], sizes.values["out_width"])
        packed, sums, filters = self.pack(bottom.scale, planes)
        group = self.of.group
        high, across, band = self.blocks(height, width, images, bottom.channels // group, top.channels // group)
        if planes and self.of.window["dilation"][1] != 1:
            band = False
        blocks = images * group * -(-height * width // high) * across
        odd = [np.zeros(blocks, np.int32)] if planes else []
        chain.flags += odd
        chain.add(
            CONVOLUTION.convolve_planes_int8 if planes else CONVOLUTION.convolve_int8, blocks, bottom.memory, packed, sums,
            self.factors(filters, bottom.scale, top.scale), self.slopes, addend.memory if addend else None,
            top.memory if top.scale else None, None if top.scale else top.memory, *odd, sizes,
            layout_int8(CONVOLUTION, bottom, top, addend, self.after.activation, high, across, band),
        )  # fmt: skip


class InnerProductInt8(ConvolutionInt8):
    """A fully connected layer: each image is one row."""

    contiguous, together, planar = True, True, 0

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        size = 4 * self.room(top.channels, 1, bottom.channels * bottom.places)
        return f"int8 of {bottom.channels} channels", size

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        terms = bottom.places * bottom.channels
        return self.blocks(1, top.images, 1, terms, top.channels)[0] * (terms + VECTOR) // 2

    def blocks(self, height: int, width: int, images: int, channels: int, maps: int) -> tuple[int, int, bool]:
        size = maps * channels
        high, across = cut(height * width, maps, images, self.device.workers, size)
        return min(high, max(8, (GATHERED if size <= HELD else FAR) // channels)), across, False

    def arranged(self, weights: Numbers, planes: bool) -> Numbers:
        each: Numbers = weights.reshape(len(weights), -1, self.places).transpose(0, 2, 1).reshape(len(weights), 1, -1)
        return each

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        self.places = bottom.places

        # Rows of one image: from one image to the next is from a pixel to the next.
        def rows(v: Last) -> Last:
            return replace(v, images=1, channels=v.places * v.channels, height=1, width=v.images, pitch=v.step, step=0)

        ones = {f"{name}_{axis}": int(name != "pad") for name in AXES for axis in "hw"}
        sizes = CONVOLUTION.struct(
            "Geometry", channels=bottom.places * bottom.channels, maps=top.channels, group=1, height=1, width=top.images,
            out_height=1, out_width=top.images, **ones,
        )  # fmt: skip
        self.launch(chain, rows(bottom), rows(top), rows(addend) if addend else None, sizes, 1)


class DepthwiseInt8(LinearInt8):
    """A convolution with one filter for each channel."""

    of: DepthwiseLowering

    def files(self) -> Sequence[Kernels]:
        return [DEPTHWISE, TURN]

    @property
    def taps(self) -> int:
        """Elements of a filter."""
        return self.of.window["kernel"][0] * self.of.window["kernel"][1]

    @property
    def beside(self) -> int:
        """Rows of places that are computed together: two that have pixels in common."""
        return 2 if self.of.window["stride"][0] == self.of.window["dilation"][0] == 1 else 1

    @property
    def ints(self) -> int:
        """Of the packed filters for each channel, on the CPU that needs the most."""
        high, wide = self.of.window["kernel"]
        return 2 * self.beside * -(-(high + self.beside - 1) // 4) * wide

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        return "int8", 4 * self.ints * -(-top.channels // VECTOR) * VECTOR

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        rows, band = self.blocks(top, top.images)
        return (self.band_of(rows, top) if band else self.taps * top.channels) // 4 + VECTOR

    def band_of(self, rows: int, top: Last) -> int:
        """Bytes of the pixels under so many rows of places, padding included."""
        window, whole = self.of.window, -(-rows // self.beside) * self.beside
        high, wide = (
            (places - 1) * stride + (kernel - 1) * dilation + 1
            for places, stride, kernel, dilation in zip(
                (whole, top.width), window["stride"], window["kernel"], window["dilation"]
            )
        )
        return high * wide * top.channels

    def blocks(self, top: Last, images: int) -> tuple[int, bool]:
        """Rows of places of a block, and whether their pixels are taken together."""
        blocks, workers = -(-top.height // DOWN), self.device.workers
        blocks = blocks if images % workers == 0 else -(-blocks // workers) * workers
        rows = -(-max(1, -(-top.height // blocks)) // self.beside) * self.beside
        return rows, self.band_of(rows, top) <= BAND

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom, channels = bottoms[0], top.channels
        assert bottom.scale is not None
        filters = self.filters(bottom.scale)
        (high, wide), (rows, band) = self.of.window["kernel"], self.blocks(top, top.images)
        together = self.beside if band else 1
        packed = self.device.empty((self.ints, -(-channels // VECTOR) * VECTOR), np.int32)
        sums = self.device.empty((channels + 2 * VECTOR,), np.int32)
        DEPTHWISE.on(self.device).pack_depthwise_int8(
            channels, np.ascontiguousarray(filters.weights.T), filters.bias, packed, sums, channels, high, wide, together,
            bottom.scale.zero,
        )  # fmt: skip
        axes = {f"{name}_{axis}": size for name in AXES for axis, size in zip("hw", self.of.window[name])}
        sizes = DEPTHWISE.struct(
            "Geometry", channels=channels, maps=channels, group=channels, height=bottom.height, width=bottom.width,
            out_height=top.height, out_width=top.width, **axes,
        )  # fmt: skip
        chain.add(
            DEPTHWISE.depthwise_int8, top.images * -(-top.height // rows), bottom.memory, packed, sums,
            self.factors(filters, bottom.scale, top.scale), self.slopes, addend.memory if addend else None,
            top.memory if top.scale else None, None if top.scale else top.memory, sizes,
            layout_int8(DEPTHWISE, bottom, top, addend, self.after.activation, rows, band=band),
        )  # fmt: skip


class PoolingInt8(Lowering):
    """The maximum of windows: of the bytes, for top and bottom have one scale."""

    takes = "int8"
    keeps_numbers = True

    def __init__(self, of: PoolingLowering) -> None:
        self.of = of

    def files(self) -> Sequence[Kernels]:
        return [POOLING, TURN]

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        axes = {f"{name}_{axis}": size for name, pair in self.of.window().items() for axis, size in zip("hw", pair)}
        sizes = POOLING.struct(
            "Int8Pool", channels=top.channels, height=bottom.height, width=bottom.width, out_height=top.height,
            out_width=top.width, bottom_pitch=bottom.pitch, bottom_step=bottom.step, top_pitch=top.pitch,
            top_step=top.step, **axes,
        )  # fmt: skip
        chain.add(POOLING.pool_int8, top.images * top.height, bottom.memory, top.memory, sizes)


def in_int8(lowering: Lowering | None, bottom: Sequence[Blob], top: Sequence[Blob]) -> Lowering | None:
    """A lowering in 8 bits; None where there is no such form, or where sums would not fit.

    bottom, top: as they are now.
    """
    if isinstance(lowering, DepthwiseLowering):
        return (
            DepthwiseInt8(lowering)
            if lowering.from_image and lowering.dtype == np.float32 and taps_of(lowering) <= TERMS
            else None
        )
    if isinstance(lowering, ConvolutionLowering):
        terms = lowering.weights.count // max(1, top[0].shape[1])
        if lowering.dtype != np.float32 or not 0 < terms <= TERMS or terms * LARGEST >= MOST:
            return None
        return (InnerProductInt8 if isinstance(lowering, InnerProductLowering) else ConvolutionInt8)(lowering)
    if isinstance(lowering, PoolingLowering) and not lowering.mean:
        window = lowering.window()
        inside = all(  # a window without a number gives -FLT_MAX
            (out - 1) * stride - pad < size
            for out, size, stride, pad in zip(top[0].shape[2:], bottom[0].shape[2:], window["stride"], window["pad"])
        )
        return PoolingInt8(lowering) if inside else None
    return None


def taps_of(lowering: DepthwiseLowering) -> int:
    """Elements of a filter of one channel."""
    return lowering.window["kernel"][0] * lowering.window["kernel"][1]
