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
from .lowerings import AXES, ConvolutionLowering, DepthwiseLowering, InnerProductLowering, PoolingLowering, cut

CONVOLUTION, DEPTHWISE, POOLING = (
    Kernels(Path(__file__).with_name(f"{name}_int8.cpp"), UNFUSED) for name in ("convolution", "depthwise", "pooling")
)
TERMS = 60_000  # of a sum, at most: 2^31 is some 66,000 products, and the bias needs room too
TAPS = 512  # of a filter for each channel: of so many a float holds the sum
GATHERED = 2**18  # bytes of gathered rows of a block, about: they are read again for each panel of filters
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
        self.packed: dict[Scale, Any] = {}
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
            self.known = scale, Filters(rows, total, scale)
        return self.known[1]

    def factors(self, filters: Filters, bottom: Scale, top: Scale | None) -> Numbers:
        """What a sum of each filter is multiplied by."""
        factors = filters.steps * bottom.scale / (top.scale if top else 1.0)
        return padded_to(self.device, np.clip(factors, 0, np.finfo(np.float32).max), np.float32)


class ConvolutionInt8(LinearInt8):
    """A convolution of two axes."""

    of: ConvolutionLowering

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        count = self.room(top.channels, bottom.channels * self.of.taps // self.of.group)
        return "int8", 4 * count

    def room(self, maps: int, terms: int) -> int:
        """The ints that packed filters take, on the CPU that needs the most."""
        return self.of.group * -(-(maps // self.of.group) // VECTOR) * VECTOR * -(-terms // 2)

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        terms = bottom.channels // self.of.group * self.of.taps
        return min(top.places, max(8, GATHERED // terms)) * (terms + VECTOR) // 2

    def pack(self, scale: Scale, channels: int, taps: int) -> tuple[Any, Any, Filters]:
        """Packed filters and the biases of their sums. channels: of the bottom."""
        if scale not in self.packed:
            filters, group, maps = self.filters(scale), self.of.group, self.after.channels
            packed = self.device.empty((self.room(maps, channels // group * taps),), np.int32)
            sums = self.device.empty((maps + 2 * VECTOR,), np.int32)
            CONVOLUTION.on(self.device).pack_int8(
                group * -(-(maps // group) // NARROWEST), filters.weights, filters.bias, packed, sums, group, maps // group,
                channels // group, taps, scale.zero,
            )  # fmt: skip
            self.packed = {scale: (packed, sums, filters)}
        result: tuple[Any, Any, Filters] = self.packed[scale]
        return result

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom, of = bottoms[0], self.of
        assert bottom.scale is not None
        packed, sums, filters = self.pack(bottom.scale, bottom.channels, of.taps)
        place = {"height": bottom.height, "width": bottom.width, "out_height": top.height, "out_width": top.width}
        images, window = top.images, of.window
        one = window["kernel"] == window["stride"] == (1, 1) and window["pad"] == (0, 0)
        if (
            one and images > 1 and all(v is None or v.contiguous_images for v in (bottom, top, addend))
        ):  # all images as one
            place["height"] = place["out_height"] = images * top.height
            images = 1
        sizes = of.geometry(CONVOLUTION, bottom, top, place)
        self.launch(
            chain, bottom, top, addend, packed, sums, filters, sizes, images * of.group, top.channels // of.group
        )

    def launch(
        self, chain: Chain, bottom: Last, top: Last, addend: Last | None, packed: Any, sums: Any, filters: Filters,
        sizes: Any, products: int, maps: int,
    ) -> None:  # fmt: skip
        """Appends the launch. products: images x groups; maps: of a group."""
        assert bottom.scale is not None
        numbers = sizes.values
        places = numbers["out_height"] * numbers["out_width"]
        terms = numbers["channels"] // numbers["group"] * numbers["kernel_h"] * numbers["kernel_w"]
        high, across = cut(places, maps, products, self.device.workers)
        high = min(high, max(8, GATHERED // terms))
        shape = layout_int8(CONVOLUTION, bottom, top, addend, self.after.activation, high, across)
        factors = self.factors(filters, bottom.scale, top.scale)
        chain.add(
            CONVOLUTION.convolve_int8, products * -(-places // high) * across, bottom.memory, packed, sums, factors,
            self.slopes, addend.memory if addend else None, top.memory if top.scale else None,
            None if top.scale else top.memory, sizes, shape,
        )  # fmt: skip


class InnerProductInt8(ConvolutionInt8):
    """A fully connected layer: each image is one row."""

    contiguous, together = True, True

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        return "int8", 4 * self.room(top.channels, bottom.channels * bottom.places)

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        terms = bottom.places * bottom.channels
        return min(top.images, max(8, GATHERED // terms)) * (terms + VECTOR) // 2

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        assert bottom.scale is not None
        packed, sums, filters = self.pack(bottom.scale, bottom.channels, bottom.places)

        # Rows of one image: from one image to the next is from a pixel to the next.
        def rows(v: Last) -> Last:
            return replace(v, images=1, channels=v.places * v.channels, height=1, width=v.images, pitch=v.step, step=0)

        ones = {f"{name}_{axis}": int(name != "pad") for name in AXES for axis in "hw"}
        sizes = CONVOLUTION.struct(
            "Geometry", channels=bottom.places * bottom.channels, maps=top.channels, group=1, height=1, width=top.images,
            out_height=1, out_width=top.images, **ones,
        )  # fmt: skip
        added = rows(addend) if addend else None
        self.launch(chain, rows(bottom), rows(top), added, packed, sums, filters, sizes, 1, top.channels)


class DepthwiseInt8(LinearInt8):
    """A convolution with one filter for each channel."""

    of: DepthwiseLowering

    def files(self) -> Sequence[Kernels]:
        return [DEPTHWISE, TURN]

    @property
    def taps(self) -> int:
        """Elements of a filter."""
        return self.of.window["kernel"][0] * self.of.window["kernel"][1]

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        return "int8", 4 * self.taps * -(-top.channels // VECTOR) * VECTOR

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom, channels = bottoms[0], top.channels
        assert bottom.scale is not None
        filters = self.filters(bottom.scale)
        packed = self.device.empty((self.taps, -(-channels // VECTOR) * VECTOR), np.float32)
        packed[:, :channels] = filters.weights.T
        axes = {f"{name}_{axis}": size for name in AXES for axis, size in zip("hw", self.of.window[name])}
        sizes = DEPTHWISE.struct(
            "Geometry", channels=channels, maps=channels, group=channels, height=bottom.height, width=bottom.width,
            out_height=top.height, out_width=top.width, **axes,
        )  # fmt: skip
        chain.add(
            DEPTHWISE.depthwise_int8, top.images * top.height, bottom.memory, packed,
            padded_to(self.device, filters.bias, np.int32), self.factors(filters, bottom.scale, top.scale), self.slopes,
            addend.memory if addend else None, top.memory if top.scale else None, None if top.scale else top.memory,
            sizes, layout_int8(DEPTHWISE, bottom, top, addend, self.after.activation),
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
            if lowering.from_image and lowering.dtype == np.float32 and taps_of(lowering) <= TAPS
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
