"""How convolutions, inner products and pooling run in a plan at TEST: on channels-last arrays, with packed filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Device, Kernels
from ...device.chain import Chain
from ..core.lowering import (
    ALL,
    POINTWISE,
    POINTWISE_BF16,
    TURN_BF16,
    VECTOR,
    After,
    Last,
    Lowering,
    bf16_form,
    by_type,
    layout,
)
from .sizes import SMALL

PLAIN, WINOGRAD, POOLING, SPREAD = (
    Kernels(Path(__file__).with_name(f"{name}_last.cpp"))
    for name in ("convolution", "winograd", "pooling", "deconvolution")
)
PLAIN_BF16, WINOGRAD_BF16, POOLING_BF16 = (
    Kernels(Path(__file__).with_name(f"{name}_bf16.cpp")) for name in ("convolution", "winograd", "pooling")
)
ROWS = 96  # places of a block, about
FEW = 192  # places up to which workers share the filters instead
HELD = 2**19  # bytes of filters that lie in a second cache while places go by
MANY = 384  # places of a block where they do not: so many places' DEEP terms do
NARROW = 48  # channels up to which windows are not gathered
MARGIN = 80  # elements beside those of the pixels of a tile or a place: padding, and vectors of sums
BAND = 2**21  # elements of whole rows of pixels that a worker lays out at most; windows over more are gathered
TILES = 96  # of a block of Winograd's
ENOUGH = 25  # tiles from which Winograd pays
NARROWEST = 4  # filters of the narrowest panel
AXES = ("kernel", "stride", "pad", "dilation")


class ConvolutionLowering(Lowering):
    """A convolution of two axes.

    Parameters
    ----------
    device, dtype
        The CPU, and float32 or float64.
    weights, bias
        Blobs: (filters, channels / group, kernel_h, kernel_w) or what has as many elements in this order, and (filters).
    group, window
        The number of groups; kernel, stride, pad and dilation, each for both axes.
    transposed
        Whether the weights lie as (terms, filters).
    places
        How many places the map has, as far as that is known; with enough, it can store the maximum of each 2 x 2.
    """

    absorbs = ALL
    planar = 4
    linear = True

    def __init__(
        self,
        device: Device,
        dtype: Any,
        weights: Blob,
        bias: Blob | None,
        group: int,
        window: dict[str, tuple[int, int]],
        transposed: bool = False,
        places: int = 0,
    ) -> None:
        self.device, self.dtype, self.weights, self.bias = device, np.dtype(dtype), weights, bias
        self.group, self.window, self.transposed = group, window, transposed
        self.packed: dict[tuple[str, int], AnyArray] = {}  # by form and channels
        self.three = window["kernel"] == (3, 3) and window["stride"] == window["dilation"] == (1, 1)
        if places >= 4 * ENOUGH and self.by_tiles(weights.shape[1], weights.shape[0] // group):
            self.absorbs = ALL | {"halves"}

    def files(self) -> Sequence[Kernels]:
        return [PLAIN, *([WINOGRAD] if self.three else [])]

    def in_bf16(self) -> Lowering | None:
        return ConvolutionBf16(self)

    def by_tiles(self, channels: int, maps: int) -> bool:
        """Whether Winograd's transform pays where there are enough places. channels, maps: of a group."""
        return self.three and self.dtype == np.float32 and min(channels, maps) >= 16

    def prepare(self, after: After) -> None:
        self.after, self.packed = after, {}
        bias = None if self.bias is None else np.asarray(self.bias.data)
        self.scale, self.sums, self.slopes = after.arrays(self.device, self.dtype, bias)

    def room(self, form: str, maps: int, channels: int, taps: int) -> tuple[int, np.dtype[Any]]:
        """The elements that packed filters of that form take, and their dtype."""
        inner, lanes = channels // self.group, 64 // self.dtype.itemsize
        terms = inner * (int(form) + 2) ** 2 if form.isdigit() else inner * taps
        return self.group * -(-(maps // self.group) // lanes) * lanes * terms, self.dtype

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        form = self.form(bottom, top, halved)
        count, dtype = self.room(form, top.channels, bottom.channels, self.taps)
        return form, count * dtype.itemsize

    @property
    def taps(self) -> int:
        """Elements of a filter's plane."""
        return self.window["kernel"][0] * self.window["kernel"][1]

    def filters(self, form: str, channels: int, taps: int) -> AnyArray:
        """The packed filters, in the form "plain", "2" or "4" (Winograd's), made once for so many channels: those of an inner
        product may lie in another number of channels for another shape."""
        if (form, channels) not in self.packed:
            maps, inner = self.after.channels, channels // self.group
            filters, (count, dtype) = maps // self.group, self.room(form, maps, channels, taps)
            packed = self.device.empty((count,), dtype)
            weights = np.asarray(self.weights.data)
            if self.transposed:
                weights = np.ascontiguousarray(weights.T)
            blocks = self.group * -(-filters // NARROWEST)
            self.pack(form, blocks, weights, self.scale, packed, self.group, filters, inner, taps)
            self.packed[form, channels] = packed
        return self.packed[form, channels]

    def pack(self, form: str, *args: Any) -> None:
        """Packs filters in that form; args: as the kernels take them, with the taps at the end."""
        if form == "plain":
            PLAIN.on(self.device).pack_filters(*args)
        else:
            WINOGRAD.on(self.device).pack_winograd(*args[:-1], int(form))

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        sizes: dict[str, Any] = {name: self.window[name] for name in AXES}
        place = {"height": bottom.height, "width": bottom.width, "out_height": top.height, "out_width": top.width}
        images = top.images
        form = self.form(bottom, top, self.after.halved)
        if form.isdigit():
            self.winograd(chain, bottom, top, addend, place, form)
            return
        one = sizes["kernel"] == (1, 1) and sizes["stride"] == (1, 1) and sizes["pad"] == (0, 0)
        joined = bottom.pitch != 0 and all(v is None or v.contiguous_images for v in (bottom, top, addend))
        if one and images > 1 and joined:  # all images as one
            place["height"] = place["out_height"] = images * top.height
            images = 1
        self.plain(chain, bottom, top, addend, place, images)

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        form, channels = self.form(bottom, top, halved), bottom.channels // self.group
        if form.isdigit():  # the points and products of some tiles
            points, (down, across) = (int(form) + 2) ** 2, self.map_of(bottom) if halved else (top.height, top.width)
            tiles = self.tile_rows(int(form), down, across, top.images) * -(-across // int(form))
            room = min(tiles, WINOGRAD.constants["TOGETHER"]) * points * (channels + MARGIN)
        else:  # the terms of a sum, and rows of pixels that are gathered
            room = channels * self.taps + max(ROWS, FEW, MANY) * (
                min(channels * self.taps, PLAIN.constants["DEEP"]) + MARGIN
            )
            if self.narrow(bottom):
                together = self.band_rows(top.height, top.width, top.images)
                band = self.band_of(together, top.width, channels)
                room = channels * self.taps + band if band <= BAND else room
        return room if room > SMALL else 0

    def band_rows(self, height: int, width: int, images: int) -> int:
        """The rows of places of a block whose pixels lie in a band."""
        blocks, workers = max(1, round(height * width / (2 * ROWS))), self.device.workers
        blocks = blocks if images * self.group % workers == 0 else -(-blocks // workers) * workers
        return -(-height // max(1, min(height, blocks)))

    def tile_rows(self, size: int, height: int, width: int, images: int) -> int:
        """The rows of tiles of a block of Winograd's, with tiles of size x size places."""
        down, across = -(-height // size), -(-width // size)
        products, workers = images * self.group, self.device.workers
        blocks = max(1, round(down * across / TILES))
        if products % workers:
            blocks = -(-blocks // workers) * workers
        return max(1, -(-down // blocks))

    def form(self, bottom: Last, top: Last, halved: bool) -> str:
        """The form of the filters for these arrays: as `filters` has it. halved: whether the maximum of 2 x 2 is stored."""
        inner = bottom.channels // self.group
        images = 1 if self.device.reproducible else top.images  # then batches are not to differ
        tiles = -(-top.height // 2) * -(-top.width // 2) * images
        by_tiles = self.by_tiles(inner, top.channels // self.group)
        if halved or (by_tiles and bottom.pitch != 0 and tiles >= ENOUGH):
            height, width = self.map_of(bottom) if halved else (top.height, top.width)
            return "4" if self.fast and min(height, width) >= 8 else "2"
        return "plain"

    def map_of(self, bottom: Last) -> tuple[int, int]:
        """Height and width of the map of 3 x 3 windows, where the top is the maximum of its 2 x 2."""
        high, wide = self.window["pad"]
        return bottom.height + 2 * high - 2, bottom.width + 2 * wide - 2

    def band_of(self, rows: int, places: int, channels: int) -> int:
        """Elements of the band under `rows` rows of `places`: padding, and what stride and dilation leave out, included."""
        (high, wide), (down, across) = self.window["kernel"], self.window["dilation"]
        step_down, step_across = self.window["stride"]
        height = (rows - 1) * step_down + (high - 1) * down + 1
        return height * ((places - 1) * step_across + (wide - 1) * across + 1) * channels

    def narrow(self, bottom: Last) -> bool:
        """Whether windows are over few channels: those are not gathered, but lie in a band of whole rows."""
        one = self.window["kernel"] == self.window["stride"] == (1, 1) and self.window["pad"] == (0, 0)
        return bottom.pitch == 0 or (not one and bottom.channels // self.group <= NARROW)

    def geometry(self, kernels: Kernels, bottom: Last, top: Last, place: dict[str, int]) -> Any:
        """geometry.h's Geometry."""
        axes = {f"{name}_{axis}": size for name in AXES for axis, size in zip("hw", self.window[name])}
        return kernels.struct(
            "Geometry", channels=bottom.channels, maps=top.channels, group=self.group, **place, **axes
        )

    def plain(
        self, chain: Chain, bottom: Last, top: Last, addend: Last | None, place: dict[str, int], images: int
    ) -> None:
        """Without a transform. place: heights and widths of the image and of the map."""
        places = place["out_height"] * place["out_width"]
        workers, products = self.device.workers, images * self.group
        filters, terms = top.channels // self.group, bottom.channels // self.group * self.taps
        high, across = cut(places, filters, products, workers, filters * terms * self.dtype.itemsize)
        band = self.narrow(bottom)
        if band:  # whole rows
            together = self.band_rows(place["out_height"], place["out_width"], images)
            band = self.band_of(together, place["out_width"], bottom.channels // self.group) <= BAND
            if band:
                high, across = together * place["out_width"], 1
        chain.add(
            PLAIN.convolve_last, products * -(-places // high) * across, bottom.memory,
            self.filters("plain", bottom.channels, self.taps), self.sums, self.slopes,
            addend.memory if addend else None, top.memory, self.geometry(PLAIN, bottom, top, place),
            layout(PLAIN, bottom, top, addend, self.after.activation), high, across, int(band),
        )  # fmt: skip

    def winograd(
        self, chain: Chain, bottom: Last, top: Last, addend: Last | None, place: dict[str, int], form: str
    ) -> None:
        """With F(2x2, 3x3) or F(4x4, 3x3)."""
        if self.after.halved:  # the place of the map is not the top's
            place["out_height"], place["out_width"] = self.map_of(bottom)
        size = int(form)
        down = -(-place["out_height"] // size)
        rows = self.tile_rows(size, place["out_height"], place["out_width"], top.images)
        odd = np.zeros(top.images * self.group * -(-down // rows), self.dtype)
        chain.flags.append(odd)
        last = self.takes == "last"
        kernels = WINOGRAD if last else WINOGRAD_BF16
        chain.add(
            kernels.kernel("winograd_last" if last else "winograd_bf16"), len(odd), bottom.memory,
            self.filters(form, bottom.channels, 9), self.sums, self.slopes, addend.memory if addend else None,
            *([top.memory] if last else by_type(top)), odd, self.geometry(kernels, bottom, top, place),
            layout(kernels, bottom, top, addend, self.after.activation, self.after.halved), rows, *([size] if last else []),
        )  # fmt: skip


def cut(places: int, filters: int, products: int, workers: int, size: int) -> tuple[int, int]:
    """Places of a block, and into how many the filters are cut, so that the workers have equal shares.

    size: the bytes of the filters. Each block reads all of its own: what the second cache does not hold, as seldom as can be.
    """
    rows = ROWS if size <= HELD else MANY
    blocks = max(1, round(places / rows))
    if products % workers == 0:
        return -(-places // blocks), 1
    if (places <= max(rows, FEW) and filters >= 96 * workers) or places < 8 * workers:
        return places, min(workers, max(1, filters // 16))
    return -(-places // (-(-blocks // workers) * workers)), 1


class InnerProductLowering(ConvolutionLowering):
    """A fully connected layer: a window over the whole image, so that each image is one row."""

    contiguous, together, planar = True, True, 0

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        terms = bottom.places * bottom.channels
        return terms if terms > SMALL else 0

    def in_bf16(self) -> Lowering | None:
        return InnerProductBf16(self)

    def form(self, bottom: Last, top: Last, halved: bool) -> str:
        return "plain"

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        form = self.form(bottom, top, halved)
        count, dtype = self.room(form, top.channels, bottom.channels, bottom.places)
        return f"{form} of {bottom.channels} channels", count * dtype.itemsize

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        packed = self.filters("plain", bottom.channels, bottom.places)
        size = top.channels * bottom.places * bottom.channels * self.dtype.itemsize
        high, across = cut(top.images, top.channels, 1, self.device.workers, size)
        left, row, other = of_images(bottom), of_images(top), of_images(addend) if addend else None
        chain.add(
            PLAIN.convolve_last, -(-top.images // high) * across, bottom.memory, packed, self.sums, self.slopes,
            addend.memory if addend else None, top.memory, row_geometry(PLAIN, left, row),
            layout(PLAIN, left, row, other, self.after.activation), high, across, 0,
        )  # fmt: skip


def of_images(array: Last) -> Last:
    """Images as the pixels of one row: from one to the next is from a pixel to the next."""
    return replace(
        array, images=1, channels=array.places * array.channels, height=1, width=array.images, pitch=array.step, step=0
    )


def row_geometry(kernels: Kernels, row: Last, map: Last) -> Any:
    """geometry.h's Geometry of 1 x 1 windows over a row of pixels."""
    ones = {f"{name}_{axis}": int(name != "pad") for name in AXES for axis in "hw"}
    return kernels.struct(
        "Geometry", channels=row.channels, maps=map.channels, group=1, height=1, width=row.width, out_height=1,
        out_width=row.width, **ones,
    )  # fmt: skip


class DepthwiseLowering(Lowering):
    """A convolution with one filter for each channel."""

    absorbs = ALL
    kernel, from_image = "depthwise_last", True
    linear = True

    def __init__(
        self, device: Device, dtype: Any, weights: Blob, bias: Blob | None, window: dict[str, tuple[int, int]]
    ) -> None:
        self.device, self.dtype, self.weights, self.bias, self.window = device, np.dtype(dtype), weights, bias, window

    def files(self) -> Sequence[Kernels]:
        return [POINTWISE] if self.takes == "last" else [POINTWISE_BF16, TURN_BF16]

    def in_bf16(self) -> Lowering | None:
        return bf16_form(self)

    def prepare(self, after: After) -> None:
        self.after = after
        bias = None if self.bias is None else np.asarray(self.bias.data)
        scale, self.sums, self.slopes = after.arrays(self.device, self.dtype, bias)
        taps = self.window["kernel"][0] * self.window["kernel"][1]
        weights = np.asarray(self.weights.data).reshape(after.channels, taps)
        if scale is not None:
            weights = weights * scale[: after.channels, None]
        self.packed = self.device.empty((taps, -(-after.channels // VECTOR) * VECTOR), self.dtype)
        self.packed[:, : after.channels] = weights.T
        self.lines = [self.split(v) for v in (weights.T, self.sums, self.slopes)] if self.three(after.channels) else []

    def three(self, channels: int) -> bool:
        """Whether windows are done by whole lines of maps in bfloat16: of 3 x 3 neighbours, with strides 1 and 2, over channels
        that fill most of the lines."""
        same = self.window["kernel"] == (3, 3) and self.window["dilation"] == (1, 1)
        full = -channels % (2 * VECTOR) <= channels // 2
        return self.takes != "last" and same and max(self.window["stride"]) <= 2 and full

    def split(self, values: AnyArray | None) -> AnyArray | None:
        """Rows of a number a channel in the order of these lines."""
        if values is None:
            return None
        channels = self.after.channels
        rows = np.ascontiguousarray(values[..., :channels], self.dtype).reshape(-1, channels)
        result: AnyArray = self.device.empty((len(rows), self.room(channels)), self.dtype)
        POINTWISE_BF16.on(self.device).split_bf16(len(rows), rows, result, channels, self.room(channels))
        return result

    @staticmethod
    def room(channels: int) -> int:
        """Numbers of a row for so many channels."""
        return -(-channels // (2 * VECTOR)) * 2 * VECTOR

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        taps = self.window["kernel"][0] * self.window["kernel"][1]
        lines = self.room(top.channels) if self.three(top.channels) else 0
        return "plain", taps * (-(-top.channels // VECTOR) * VECTOR + lines) * self.dtype.itemsize

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        image, map = (bottom, top) if self.from_image else (top, bottom)
        kernels, last = self.files()[0], self.takes == "last"
        axes = {f"{name}_{axis}": size for name in AXES for axis, size in zip("hw", self.window[name])}
        sizes = kernels.struct(
            "Geometry", channels=top.channels, maps=top.channels, group=top.channels, height=image.height,
            width=image.width, out_height=map.height, out_width=map.width, **axes,
        )  # fmt: skip
        where = layout(kernels, bottom, top, addend, self.after.activation)
        rows, other = top.images * top.height, addend.memory if addend else None
        if self.lines and by_type(top)[0] is not None:
            room = self.room(top.channels)
            chain.add(
                kernels.depthwise_three_bf16, rows, bottom.memory, *self.lines, other, top.memory, sizes, where, room
            )
            return
        chain.add(
            kernels.kernel(self.kernel if last else "depthwise_bf16"), rows, bottom.memory, self.packed, self.sums,
            self.slopes, other, *([top.memory] if last else by_type(top)), sizes, where,
        )  # fmt: skip


class DeconvolutionLowering(DepthwiseLowering):
    """A deconvolution with one filter for each channel."""

    kernel, from_image = "deconvolve_last", False

    def files(self) -> Sequence[Kernels]:
        return [SPREAD]

    def in_bf16(self) -> Lowering | None:
        return None


class PoolingLowering(Lowering):
    """Maximum or mean of windows.

    Parameters
    ----------
    window
        Called for kernel, stride and pad as they are now: with global_pooling they depend on the image.
    mean, inside
        Whether it is the mean, and whether that is over the pixels inside the image alone.
    halves
        Whether it is the maximum of each 2 x 2 pixels.
    """

    def __init__(self, window: Any, mean: bool, inside: bool, halves: bool) -> None:
        self.window, self.mean, self.inside, self.halves = window, mean, inside, halves

    def files(self) -> Sequence[Kernels]:
        return [POOLING] if self.takes == "last" else [POOLING_BF16, TURN_BF16]

    def in_bf16(self) -> Lowering | None:
        return bf16_form(self)

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        axes = {f"{name}_{axis}": size for name, pair in self.window().items() for axis, size in zip("hw", pair)}
        kernels, last = self.files()[0], self.takes == "last"
        sizes = kernels.struct(
            "LastPool", channels=top.channels, height=bottom.height, width=bottom.width, out_height=top.height,
            out_width=top.width, mean=int(self.mean), inside=int(self.inside), **axes,
        )  # fmt: skip
        rows = top.images * top.height
        cuts = 1 if rows >= 8 else max(1, min(8, top.channels // 64))
        chain.add(
            kernels.kernel("pool_last" if last else "pool_bf16"), rows * cuts, bottom.memory,
            *([top.memory] if last else by_type(top)), sizes, layout(kernels, bottom, top, None, None), cuts,
        )  # fmt: skip


# The same on maps in bfloat16


class ConvolutionBf16(ConvolutionLowering):
    """A convolution of two axes on maps in bfloat16: factors rounded to that, sums in float32.

    Parameters
    ----------
    of
        The same in float32.
    """

    takes = "bfloat16"

    def __init__(self, of: ConvolutionLowering) -> None:
        self.__dict__.update(of.__dict__)
        self.packed = {}

    def files(self) -> Sequence[Kernels]:
        return [PLAIN_BF16, TURN_BF16, *([WINOGRAD_BF16] if self.three else [])]

    def in_bf16(self) -> Lowering | None:
        return None

    def room(self, form: str, maps: int, channels: int, taps: int) -> tuple[int, np.dtype[Any]]:
        inner, vectors = channels // self.group, -(-(maps // self.group) // VECTOR)
        terms = inner * (16 if form.isdigit() else taps)
        run = inner if form.isdigit() else self.run(inner, taps)
        return self.group * vectors * VECTOR * (terms // run) * -(-run // 2), np.dtype(np.int32)

    def run(self, channels: int, taps: int) -> int:
        """Terms of a filter that lie beside each other in a map. channels: of a group."""
        return channels

    def form(self, bottom: Last, top: Last, halved: bool) -> str:
        return "2" if super().form(bottom, top, halved).isdigit() else "bf16"

    def pack(self, form: str, *args: Any) -> None:
        *_, channels, taps = args
        if form.isdigit():
            WINOGRAD_BF16.on(self.device).pack_winograd_bf16(*args[:-1])
        else:
            PLAIN_BF16.on(self.device).pack_bf16(*args, self.run(channels, taps))

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        if self.form(bottom, top, halved).isdigit():
            return super().worker_room(bottom, top, halved)
        channels = bottom.channels // self.group
        if self.direct(bottom):
            return 0
        high, wide = self.block(top.height, top.width, top.images, channels)
        room = (
            self.band_of(high, wide, channels + channels % 2) + channels * self.taps
        ) // 2 + high * wide * 3 * VECTOR
        return room if room > SMALL else 0

    def direct(self, bottom: Last) -> bool:
        """Whether windows are of one pixel whose channels lie there in whole pairs: then they are taken as they are."""
        one = self.window["kernel"] == (1, 1) and self.window["pad"] == (0, 0)
        return bottom.pitch != 0 and one and bottom.channels // self.group % 2 == 0

    def block(self, height: int, width: int, images: int, channels: int) -> tuple[int, int]:
        """Rows of places of a block, and places of a row, whose pixels are brought together."""
        rows = self.band_rows(height, width, images)
        if self.band_of(rows, width, channels) <= BAND:
            return rows, width
        wide = width
        while wide > 1 and self.band_of(1, wide, channels) > BAND:
            wide = -(-wide // 2)
        return 1, wide

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom, images = bottoms[0], top.images
        place = {"height": bottom.height, "width": bottom.width, "out_height": top.height, "out_width": top.width}
        if self.form(bottom, top, self.after.halved).isdigit():
            self.winograd(chain, bottom, top, addend, place, "2")
            return
        direct, arrays = self.direct(bottom), [v for v in (bottom, top, addend) if v is not None]
        if direct and self.window["stride"] == (
            1,
            1,
        ):  # all pixels as one row, of all images where these lie beside each other
            joined = all(v.contiguous_images for v in arrays)
            place = {"height": 1, "out_height": 1} | dict.fromkeys(
                ("width", "out_width"), top.places * (images if joined else 1)
            )
            images = 1 if joined else images
        height, width, across = place["out_height"], place["out_width"], 1
        if direct and height == 1:
            filters, products = top.channels // self.group, images * self.group
            size = filters * (bottom.channels // self.group) * self.taps * 2
            high, (wide, across) = 1, cut(width, filters, products, self.device.workers, size)
        else:
            high, wide = self.block(height, width, images, bottom.channels // self.group)
        blocks = images * self.group * -(-height // high) * -(-width // wide) * across
        sizes = self.geometry(PLAIN_BF16, bottom, top, place)
        packed = self.filters("bf16", bottom.channels, self.taps)
        self.launch(
            chain, blocks, bottom, top, addend, sizes, packed, high=high, wide=wide, across=across, band=int(not direct)
        )

    def launch(
        self, chain: Chain, blocks: int, bottom: Last, top: Last, addend: Last | None, sizes: Any, packed: AnyArray,
        **cut: int,
    ) -> None:  # fmt: skip
        """Appends the launch; cut: the fields of convolution_bf16.cpp's Cut."""
        chain.add(
            PLAIN_BF16.convolve_bf16, blocks, *by_type(bottom), packed, self.sums, self.slopes,
            addend.memory if addend else None, *by_type(top), sizes,
            layout(PLAIN_BF16, bottom, top, addend, self.after.activation), PLAIN_BF16.struct("Cut", **cut),
        )  # fmt: skip


class InnerProductBf16(ConvolutionBf16):
    """A fully connected layer: each image is one row."""

    contiguous, together, planar = True, True, 0

    def form(self, bottom: Last, top: Last, halved: bool) -> str:
        return "bf16"

    def run(self, channels: int, taps: int) -> int:
        return channels * taps

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        count, dtype = self.room("bf16", top.channels, bottom.channels, bottom.places)
        return f"bf16 of {bottom.channels} channels", count * dtype.itemsize

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        return 0

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom = bottoms[0]
        size = top.channels * bottom.places * bottom.channels * 2
        high, across = cut(top.images, top.channels, 1, self.device.workers, size)
        left, row, other = of_images(bottom), of_images(top), of_images(addend) if addend else None
        packed = self.filters("bf16", bottom.channels, bottom.places)
        sizes, blocks = row_geometry(PLAIN_BF16, left, row), -(-top.images // high) * across
        self.launch(
            chain, blocks, left, row, other, sizes, packed, high=1, wide=high, across=across, band=left.channels % 2
        )
