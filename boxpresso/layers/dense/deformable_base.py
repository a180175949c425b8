"""DeformableConvolution and ModulatedDeformableConvolution: their parameter, and the kernels that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...device import AnyArray, Blob, Kernels, blas
from ...proto import LayerParameter
from ..core.layer import Window
from .convolution_base import WindowLayer
from .sizes import GEOMETRY, scratch


@dataclass
class Image:
    """One image's part of the blobs. None: there is no mask; a gradient is not asked for."""

    features: AnyArray
    offset: AnyArray
    mask: AnyArray | None
    top: AnyArray  # data in forward, diff in backward
    features_diff: AnyArray | None
    offset_diff: AnyArray | None
    mask_diff: AnyArray | None


class DeformableLayer(WindowLayer):
    """Bottoms: features, offsets, and the mask where there is one. Image by image: places, columns and gemm."""

    moved, spread = Kernels("deformable.cu"), Kernels("deformable_spread.cu")
    message = "deformable_convolution_param"

    @classmethod
    def window_of(cls, param: LayerParameter) -> Window | None:
        return None  # each of its taps may lie anywhere

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        options = getattr(self.param, self.message)
        self.axes(bottom[0], 4, "bottom 0")
        self.need(options.axis in (1, -3), f"axis must be 1, the channels of (N, C, H, W), got {options.axis}")
        known = type(self.param)()  # the fields that it shares with Convolution, under Convolution's name
        known.CopyFrom(self.param)
        known.convolution_param.Clear()
        for field, value in options.ListFields():
            if field.name == "deformable_group":
                continue
            if isinstance(value, (int, float)):
                setattr(known.convolution_param, field.name, value)
            else:
                getattr(known.convolution_param, field.name).MergeFrom(value)
        self.param = known
        super().setup(bottom[:1], top)
        self.parts = options.deformable_group
        self.need(
            self.parts > 0 and self.channels % self.parts == 0,
            f"the bottom's {self.channels} channels cannot be divided into deformable_group {self.parts}; it is 4 where the "
            "prototxt does not give it, as in most forks of Caffe, 1 in some",
        )

    def weights_shape(self) -> tuple[int, ...]:
        return self.outputs, self.channels // self.group, *self.kernel

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        image = self.spatial(bottom[:1], top)
        self.map = self.map_of(image)
        self.taps, self.places = self.kernel[0] * self.kernel[1], self.map[0] * self.map[1]
        rows = self.parts * self.taps
        for blob, each, subject in zip(bottom[1:], (2 * rows, rows), ("offsets, (y, x) of each tap,", "mask")):
            wanted = bottom[0].shape[0], each, *self.map
            self.need(blob.shape == wanted, f"the {subject} must be of shape {wanted}, got {blob.shape}")
        largest = max(4 * rows, self.channels * self.taps) * self.places
        self.need(largest < 2**31, f"an image's columns would have {largest} elements; they can have 2^31 - 1 at most")
        top[0].reshape(bottom[0].shape[0], self.outputs, *self.map)
        window = (*image, *self.map, *self.kernel, *self.stride, *self.pad, *self.dilation)
        self.window = self.moved.struct("Window", **dict(zip(GEOMETRY, window, strict=True)))
        self.area, self.rows = image[0] * image[1], rows
        self.at = self.device.empty((rows * self.places * 4,), np.int32)
        self.fractions = self.device.empty((rows * self.places * 2,), self.dtype)

    def shared_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        sums = self.outputs * self.bias_parts(top[0]) if backward and self.bias_term else 0
        return int(max(self.channels * self.taps * self.places, sums) * self.dtype.itemsize)

    def images(self, bottom: list[Blob], top: Blob, diff: Sequence[bool] = ()) -> Iterator[Image]:
        """The images one by one; with `diff`, which says what bottoms ask for a gradient, the top is its diff."""
        sizes = self.channels * self.area, 2 * self.rows * self.places, self.rows * self.places

        def part(array: AnyArray, i: int, size: int) -> AnyArray:
            array_of_image: AnyArray = self.device.part(array, i * size, (size,))
            return array_of_image

        for i in range(bottom[0].shape[0]):
            features, offset, *mask = (part(b.data, i, size) for b, size in zip(bottom, sizes))
            diffs = [part(b.diff, i, size) if ask else None for b, ask, size in zip(bottom, diff, sizes)]
            output = part(top.diff if diff else top.data, i, self.outputs * self.places)
            yield Image(features, offset, mask[0] if mask else None, output, *diffs, *[None] * (3 - len(diffs)))

    def columns(self, image: Image, columns: AnyArray) -> None:
        """Fills in where this image's taps sample, and its columns."""
        self.moved.deformable_places(self.rows, image.offset, self.at, self.fractions, self.window)
        self.moved.deformable_columns(
            self.channels * self.taps, image.features, self.at, self.fractions, image.mask, columns,
            *self.sizes_of_columns(),
        )  # fmt: skip

    def sizes_of_columns(self) -> tuple[int, int, int, int]:
        """The last arguments of the kernels: taps, places, a plane's elements, channels of a deformable group."""
        return self.taps, self.places, self.area, self.channels // self.parts

    def groups_of(self, weights: AnyArray, columns: AnyArray, top: AnyArray) -> Iterator[list[AnyArray]]:
        """Each group's part of the weights, the columns and the top."""
        for g in range(self.group):
            parts = []
            for array in (weights, columns, top):
                size = array.size // self.group
                parts.append(self.device.part(array, g * size, (size,)))
            yield parts

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        depth, filters = self.channels // self.group * self.taps, self.outputs // self.group
        columns = scratch(self.device, self.channels * self.taps * self.places, self.dtype)
        for image in self.images(bottom, top[0]):
            self.columns(image, columns)
            for w, x, y in self.groups_of(self.blobs[0].data, columns, image.top):
                blas.gemm(self.device, False, False, filters, self.places, depth, 1, w, x, 0, y)
        if self.bias_term:
            planes = bottom[0].shape[0] * self.outputs
            self.kernels.add_bias(planes, top[0].data, self.bias, True, self.outputs, self.places, False)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        depth, filters = self.channels // self.group * self.taps, self.outputs // self.group
        weights, sizes = self.blobs[0], self.sizes_of_columns()
        self.bias_backward(top[0])
        columns = scratch(self.device, self.channels * self.taps * self.places, self.dtype)
        if propagate_down[0]:
            bottom[0].diff.fill(0)
        for image in self.images(bottom, top[0], propagate_down):
            self.columns(image, columns)
            if self.param_propagate_down[0]:
                for w, x, y in self.groups_of(weights.diff, columns, image.top):
                    blas.gemm(self.device, False, True, filters, depth, self.places, 1, y, x, 1, w)
            if not any(propagate_down):
                continue
            for w, x, y in self.groups_of(weights.data, columns, image.top):
                blas.gemm(self.device, True, False, depth, self.places, filters, 1, w, y, 0, x)
            if image.features_diff is not None:
                self.spread.deformable_spread(
                    self.channels, columns, self.at, self.fractions, image.mask, image.features_diff, *sizes
                )
            if any(propagate_down[1:]):
                self.moved.deformable_moves(
                    self.rows * self.places, columns, image.features, self.at, self.fractions, image.mask,
                    image.offset_diff, image.mask_diff, *sizes,
                )  # fmt: skip
