"""Convolution on a GPU, and of three and more axes on the CPU: by cuDNN where it is found, else columns and matrix products.

Depthwise ones have a kernel of ours too, and which of the two is faster depends on the GPU and the sizes: it is measured, once.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Array, Device, Kernels, blas, cudnn
from ...device.array import recording
from ...device.cublas import Matrices
from ...device.cuda import Cuda
from ...device.events import median_ms
from ...proto.errors import DeviceError
from ..core.lowering import Activation
from .sizes import GEOMETRY, Sizes, scratch

DEVICE = Kernels(Path(__file__).with_name("convolution.cu"))
BUDGET = 2**26  # elements of columns at once
KEPT = 256  # shapes of a stream whose convolutions are kept, with their algorithms
GAIN = 0.97  # of cuDNN's time, below which our kernel is taken: the rest is what two measurements differ by
MOST_MEASURED = 4096
measured: OrderedDict[Hashable, bool] = OrderedDict()  # whether our kernel makes a depthwise product
measuring = threading.RLock()  # held by who measures: others' measurements would not be its own
NONE = Activation("")
RELU = Activation("RELU")


@dataclass(frozen=True)
class Finish:
    """What is done with a convolution's sums: + bias of the channel + other, then the activation."""

    bias: AnyArray | None = None
    activation: Activation = NONE
    other: AnyArray | None = None
    slopes: AnyArray | None = None

    @property
    def nothing(self) -> bool:
        """Whether nothing is done."""
        return self.bias is None and self.other is None and not self.activation.kind


def finish(device: Device, top: AnyArray, after: Finish, channels: int, places: int) -> None:
    """Does what `after` says to the elements of `top`, planes of `places` in their order of channels."""
    if after.nothing or top.size == 0:
        return
    a, constants = after.activation, DEVICE.constants
    numbers = DEVICE.struct(
        "Finish", size=top.size, channels=channels, places=places, activation=constants[a.kind] if a.kind else 0,
        slope=float(a.slope), low=float(a.low), high=float(a.high),
    )  # fmt: skip
    DEVICE.on(device).finish(-(-top.size // 4), top, after.bias, after.other, after.slopes, numbers)


@dataclass(frozen=True)
class Piece:
    """What is done at once: images from `image` on, places from `place` on, in columns whose rows are `pitch` apart."""

    image: int
    images: int
    place: int
    places: int
    pitch: int


def convolved(by: cudnn.Convolution, image: Array, weights: Array, map: Array, after: Finish) -> Finish | None:
    """map = weights * image by cuDNN, with bias, sum and ReLU in the same call where it has that.

    Returns what is left to do of `after`; None where cuDNN has no algorithm, and nothing is done.
    """
    bias, other, kind = after.bias, after.other, after.activation.kind
    known = kind in ("", "RELU") and isinstance(bias, Array) and not isinstance(other, np.ndarray)
    if known and by.forward_after(image, weights, bias, other, map, kind == "RELU"):  # type: ignore[arg-type]
        return Finish()
    return after if by.forward(image, weights, map) else None


class ColumnConvolution:
    """Any number of spatial axes on any device: columns of several images at once, and one product; depthwise directly.

    Columns never take more than BUDGET elements: images with more are cut by places.
    """

    def __init__(self, sizes: Sizes, device: Device) -> None:
        self.sizes, self.device, self.kernels = sizes, device, DEVICE.on(device)
        self.axes = max(len(sizes.image), 1)
        self.table = device.table(sizes.padded(1))
        self.plane = sizes.pixels, sizes.taps, sizes.places
        if self.axes == 2:
            self.window = self.kernels.struct("Window", **dict(zip(GEOMETRY, sizes.padded(2), strict=True)))

    # Columns

    def pieces(self) -> Iterator[Piece]:
        """The whole work in parts whose columns fit."""
        s, rows = self.sizes, self.sizes.channels * self.sizes.taps
        if s.identity:
            yield Piece(0, s.images, 0, s.places, s.places)
            return
        pitch = -(-s.places // 4) * 4
        step = min(s.images, BUDGET // max(1, rows * pitch))
        if step:
            for first in range(0, s.images, step):
                yield Piece(first, min(step, s.images - first), 0, s.places, pitch)
            return
        chunk = max(4, BUDGET // max(1, rows) // 4 * 4)
        for image in range(s.images):
            for place in range(0, s.places, chunk):
                count = min(chunk, s.places - place)
                yield Piece(image, 1, place, count, -(-count // 4) * 4)

    def range(self, piece: Piece) -> Any:
        """convolution.cu's Range."""
        return self.kernels.struct("Range", first=piece.place, count=piece.places, pitch=piece.pitch)

    def images_of(self, array: AnyArray, piece: Piece, size: int) -> AnyArray:
        """The piece's images of an array, of `size` elements each."""
        part: AnyArray = self.device.part(array, piece.image * size, (piece.images * size,))
        return part

    def room(self, dtype: Any, down: bool, learns: bool) -> int:
        """Elements of the shared memory that its columns need, whatever is computed."""
        s = self.sizes
        if s.depthwise or s.identity:
            return 0
        piece = next(self.pieces(), None)
        return piece.images * s.channels * s.taps * piece.pitch if piece else 0

    def room_of(self, piece: Piece, dtype: Any) -> AnyArray:
        """Memory for a piece's columns."""
        s = self.sizes
        return scratch(self.device, piece.images * s.channels * s.taps * piece.pitch, dtype)

    def columns(self, image: AnyArray, piece: Piece) -> AnyArray:
        """A piece's columns: (images, channels * taps, pitch)."""
        s = self.sizes
        source = self.images_of(image, piece, s.channels * s.pixels)
        if s.identity:
            return source
        target = self.room_of(piece, image.dtype)
        planes = piece.images * s.channels
        if self.axes == 2:
            blocks = planes * -(-piece.places // DEVICE.constants["QUADS"])
            self.kernels.columns_2(blocks, source, target, self.window, self.range(piece))
        else:
            count = planes * s.taps * piece.places
            self.kernels.columns_n(count, source, target, self.range(piece), s.pixels, s.taps, self.axes, self.table)
        return target

    def gather(self, columns: AnyArray, image: AnyArray, piece: Piece) -> None:
        """The adjoint of `columns`; the first piece of an image overwrites what is there."""
        s, more = self.sizes, piece.place > 0
        target = self.images_of(image, piece, s.channels * s.pixels)
        if self.axes != 2:
            self.kernels.pixels_n(
                target.size, columns, target, self.range(piece), s.pixels, s.taps, int(more), self.axes, self.table
            )
            return
        begin, end = 0, s.pixels
        if more:  # the rows that the piece's windows touch
            first, last = piece.place // s.map[1], (piece.place + piece.places - 1) // s.map[1]
            reach = s.dilation[0] * (s.kernel[0] - 1) + 1
            begin = max(0, first * s.stride[0] - s.pad[0]) * s.image[1]
            end = max(0, min(s.image[0], last * s.stride[0] - s.pad[0] + reach)) * s.image[1]
        blocks = piece.images * s.channels * -(-(end - begin) // DEVICE.constants["THREADS"])
        self.kernels.pixels_2(
            max(0, blocks), columns, target, self.window, self.range(piece), begin, end - begin, int(more)
        )  # fmt: skip

    def multiply(
        self, piece: Piece, form: str, weights: AnyArray, columns: AnyArray, map: AnyArray, alone: bool = False
    ) -> None:
        """The products of a piece: "map" = weights * columns, "columns" = weights^T * map, or "weights" += map * columns^T.

        They are batched over the images or over the groups, whichever are more; alone: over the groups, for sums over images.
        """
        s, part = self.sizes, self.device.part
        over_groups = alone or s.group >= piece.images
        wide = s.channels * s.taps * piece.pitch  # of an image's columns
        outer, count = (piece.images, s.group) if over_groups else (s.group, piece.images)
        for i in range(outer):
            image, group = (i, 0) if over_groups else (0, i)
            w_at = group * s.filters * s.depth
            x_at = image * wide + group * s.depth * piece.pitch
            y_at = (piece.image + image) * s.maps * s.places + group * s.filters * s.places + piece.place
            w = part(weights, w_at, (weights.size - w_at,))
            x = part(columns, x_at, (columns.size - x_at,))
            y = part(map, y_at, (map.size - y_at,))
            steps = (
                (s.filters * s.depth, s.depth * piece.pitch, s.filters * s.places)
                if over_groups else (0, wide, s.maps * s.places)
            )  # fmt: skip
            lw, lx, ly = (Matrices(p, n) for p, n in zip((s.depth, piece.pitch, s.places), steps))
            if form == "map":
                blas.products(
                    self.device, False, False, s.filters, piece.places, s.depth, 1, w, x, 0, y, (lw, lx, ly), count
                )
            elif form == "columns":
                blas.products(
                    self.device, True, False, s.depth, piece.places, s.filters, 1, w, y, 0, x, (lw, ly, lx), count
                )
            else:
                blas.products(
                    self.device, False, True, s.filters, s.depth, piece.places, 1, y, x, 1, w, (ly, lx, lw), count
                )

    # The three products

    def correlate(self, image: AnyArray, weights: AnyArray, bias: AnyArray | None, map: AnyArray, relu: bool) -> None:
        """map = weights * image + bias (None: no bias), and its ReLU where asked."""
        self.apply(image, weights, map, Finish(bias, RELU if relu else NONE))

    def apply(self, image: AnyArray, weights: AnyArray, map: AnyArray, after: Finish) -> None:
        """map = weights * image, then what `after` says."""
        s = self.sizes
        if s.depthwise:
            self.kernels.depthwise_correlate(
                map.size, image, weights, map, s.maps, s.filters, *self.plane, self.axes, self.table
            )
        else:
            for piece in self.pieces():
                self.multiply(piece, "map", weights, self.columns(image, piece), map)
        finish(self.device, map, after, s.maps, s.places)

    def spread(self, map: AnyArray, weights: AnyArray, bias: AnyArray | None, image: AnyArray) -> None:
        """The adjoint in the image: image = weights^T * map + bias of the channel."""
        s = self.sizes
        if s.depthwise:
            self.kernels.depthwise_spread(
                image.size, map, weights, image, s.maps, s.filters, *self.plane, self.axes, self.table
            )
        else:
            for piece in self.pieces():
                if s.identity:
                    self.multiply(piece, "columns", weights, self.images_of(image, piece, s.channels * s.pixels), map)
                    continue
                columns = self.room_of(piece, image.dtype)
                self.multiply(piece, "columns", weights, columns, map)
                self.gather(columns, image, piece)
        finish(self.device, image, Finish(bias), s.channels, s.pixels)

    def gradient(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> None:
        """The adjoint in the weights: weights_diff += map * image^T."""
        s = self.sizes
        if s.depthwise:
            sizes = s.images, s.maps, s.filters, *self.plane, self.axes
            self.kernels.depthwise_weights(weights_diff.size, image, map, weights_diff, *sizes, self.table)
            return
        for piece in self.pieces():
            self.multiply(piece, "weights", weights_diff, self.columns(image, piece), map, alone=True)


class CudnnConvolution(ColumnConvolution):
    """By cuDNN, with an algorithm for each of the three products; what it does not know goes through columns, and depthwise
    products to our kernel where that has been measured to be faster."""

    device: Cuda

    def __init__(self, sizes: Sizes, device: Cuda, dtype: Any) -> None:
        super().__init__(sizes, device)
        s, numbers = sizes, self.by_axis(sizes.padded(2))
        self.find = os.environ.get("BOXPRESSO_GPU_FIND")
        self.by = cudnn.Convolution(device, np.dtype(dtype), s.images, s.channels, s.maps, s.group, *numbers)

    @staticmethod
    def by_axis(numbers: list[int]) -> list[tuple[int, ...]]:
        """Sizes.padded's numbers, cut into its six kinds."""
        axes = len(numbers) // 6
        return [tuple(numbers[i : i + axes]) for i in range(0, len(numbers), axes)]

    def apply(self, image: AnyArray, weights: AnyArray, map: AnyArray, after: Finish) -> None:
        """map = weights * image, then what `after` says: bias, sum and ReLU in the same call where cuDNN has it."""
        assert isinstance(image, Array)
        assert isinstance(weights, Array)
        assert isinstance(map, Array)
        ours = partial(super().apply, image, weights, map, after)

        def theirs() -> bool:
            rest = convolved(self.by, image, weights, map, after)
            if rest is not None:
                finish(self.device, map, rest, self.sizes.maps, self.sizes.places)
            return rest is not None

        if self.prefers_ours("Forward", ours, theirs) or not theirs():
            ours()

    def spread(self, map: AnyArray, weights: AnyArray, bias: AnyArray | None, image: AnyArray) -> None:
        """The adjoint in the image."""
        ours = partial(super().spread, map, weights, bias, image)

        def theirs() -> bool:
            done = self.by.backward_data(map, weights, image)  # type: ignore[arg-type]  # Arrays
            if done:
                finish(self.device, image, Finish(bias), self.sizes.channels, self.sizes.pixels)
            return done

        if self.prefers_ours("BackwardData", ours, theirs) or not theirs():
            ours()

    def gradient(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> None:
        """The adjoint in the weights."""

        def ours(diff: AnyArray) -> None:
            ColumnConvolution.gradient(self, image, map, diff)

        def theirs(diff: AnyArray) -> bool:
            return self.by.backward_filter(image, map, diff)  # type: ignore[arg-type]  # Arrays

        if self.sizes.depthwise:  # it is added to: what is measured goes elsewhere
            trial = self.device.empty(weights_diff.shape, weights_diff.dtype)
            chosen = self.prefers_ours("BackwardFilter", partial(ours, trial), partial(theirs, trial))
        else:
            chosen = False
        if chosen or not theirs(weights_diff):
            ours(weights_diff)

    def prefers_ours(self, kind: str, ours: Callable[[], None], theirs: Callable[[], object]) -> bool:
        """Whether one of cuDNN's products is made by our kernel. Of depthwise ones that is measured when it is first asked for,
        and kept as long as the process; cuDNN's is taken while nothing can be measured, as in a capture, and where each run of
        a program is to give the same bits."""
        device = self.device
        if not self.sizes.depthwise or device.deterministic:
            return False
        key = device.name, device.fast_math, self.find, cudnn.version(), self.sizes, self.by.dtype, kind
        with measuring:
            if key not in measured:
                if device.debug or recording.uses is not None:
                    return False
                try:
                    known = self.by.algorithm(kind) is not None
                    measured[key] = not known or median_ms(device, ours) < GAIN * median_ms(device, theirs)
                except DeviceError:  # as where memory is short
                    measured[key] = False
                while len(measured) > MOST_MEASURED:
                    measured.popitem(last=False)
            return measured[key]


def convolution_of(sizes: Sizes, device: Device, dtype: Any) -> ColumnConvolution:
    """A convolution of these sizes: by cuDNN on a GPU where that is found and the sizes are ones it takes."""
    if not isinstance(device, Cuda):
        return ColumnConvolution(sizes, device)
    convolutions: OrderedDict[Any, ColumnConvolution] = device.memo.setdefault("convolutions", OrderedDict())
    by_cudnn = len(sizes.image) <= 3 and cudnn.usable(device)
    by_cudnn = by_cudnn and min(sizes.images, sizes.channels, sizes.maps, sizes.pixels, sizes.places) > 0
    key = sizes, np.dtype(dtype), by_cudnn
    known = convolutions.pop(key, None)
    if known is None:
        known = CudnnConvolution(sizes, device, dtype) if by_cudnn else ColumnConvolution(sizes, device)
    convolutions[key] = known  # the latest is the last
    while len(convolutions) > KEPT:
        convolutions.popitem(last=False)
    return known
