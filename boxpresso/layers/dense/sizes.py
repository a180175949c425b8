"""The numbers of a convolution, and the memory that all convolutions of a stream share."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from math import prod
from typing import Any, cast

import numpy as np

from ...device import AnyArray, Device, GpuDevice

local = threading.local()
SMALL = 2**18  # elements of a worker's own memory up to which it does not count


def scratch(device: Device, count: int, dtype: np.dtype[Any]) -> AnyArray:
    """`count` elements of any value, shared by all layers of a stream; on the CPU, of the calling thread."""
    cache = local.__dict__ if device.kind == "cpu" else device.memo
    key = f"convolution {dtype}"
    array: AnyArray | None = cache.get(key)
    short = device.kind != "cpu" and cast(GpuDevice, device).short_of_memory  # then no more is held than is needed
    if array is None or array.size < count or (short and array.size > count):
        cache.pop(key, None)  # gives the old one's memory back before more is taken
        array = cache[key] = device.empty((count,), dtype)
    part: AnyArray = device.part(array, 0, (count,))
    return part


@dataclass(frozen=True)
class Sizes:
    """How many images, channels, maps and groups, and for each spatial axis its numbers."""

    images: int
    channels: int
    maps: int
    group: int
    image: tuple[int, ...]
    map: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]
    apart: bool = False  # whether an image's map is to be what it would be in a batch of its own

    @property
    def pixels(self) -> int:
        """Elements of a plane of the image."""
        return prod(self.image)

    @property
    def places(self) -> int:
        """Elements of a plane of the map."""
        return prod(self.map)

    @property
    def taps(self) -> int:
        """Elements of a filter's plane."""
        return prod(self.kernel)

    @property
    def inner(self) -> int:
        """Channels of a group."""
        return self.channels // self.group

    @property
    def filters(self) -> int:
        """Maps of a group."""
        return self.maps // self.group

    @property
    def depth(self) -> int:
        """Terms of a sum."""
        return self.inner * self.taps

    @property
    def depthwise(self) -> bool:
        """Whether each map is made from one channel, by kernels without a matrix product."""
        return self.inner == 1 and (self.group > 1 or self.maps <= 4)

    @property
    def sparse(self) -> bool:
        """Whether few pixels of the image have many places under their taps: the map is small under its windows."""
        return self.pixels > 2**14 + 8 * self.places * prod(self.stride)

    @property
    def phased(self) -> int:
        """Elements of a plane of the image with its padding, by phases in the stride, and lists (depthwise.h, Phases)."""
        height, _, down, across, kh, kw, sh, sw, _, _, dh, dw = self.padded(2)
        plane = (down + (kh - 1) * dh // sh + 1) * (across + (kw - 1) * dw // sw + 1) * sh * sw
        return plane + 6 * height * sw + 2 * self.taps

    @property
    def received(self) -> int:
        """Elements of a channel's planes of the map with their padding, and lists of taps (depthwise.h, Spread)."""
        height, width, _, _, kh, kw, sh, sw, ph, pw, dh, dw = self.padded(2)
        rows, columns = (
            (kh - 1) * dh // sh + (height - 1 + ph) // sh + 1,
            (kw - 1) * dw // sw + (width - 1 + pw) // sw + 1,
        )
        each = self.maps // self.channels
        return each * (rows * columns + 4 * self.taps) + width + 17 * sw + 5 * sh * sw

    @property
    def winograd(self) -> bool:
        """Whether the transforms, of the weights above all, cost less than they save."""
        once = set(self.stride + self.dilation) == {1} and self.kernel == (3, 3)
        places = self.places * (1 if self.apart else self.images)
        return once and places >= 1000 and min(self.inner, self.filters) >= 32

    @property
    def adjoint(self) -> Sizes | None:
        """The convolution from map to image, with turned weights, that is the adjoint; None where it is no plain one."""
        if set(self.stride + self.dilation) - {1} or any(p >= k for p, k in zip(self.pad, self.kernel)):
            return None
        pad = tuple(k - 1 - p for p, k in zip(self.pad, self.kernel))
        return replace(self, channels=self.maps, maps=self.channels, image=self.map, map=self.image, pad=pad)

    def padded(self, axes: int) -> list[int]:
        """Image, map, kernel, stride, pad and dilation of at least `axes` axes: leading ones of one pixel are added."""
        missing = axes - len(self.image)
        numbers = self.image, self.map, self.kernel, self.stride, self.pad, self.dilation
        return [n for one, values in zip((1, 1, 1, 1, 0, 1), numbers) for n in (one,) * missing + values]

    @property
    def identity(self) -> bool:
        """Whether the columns are the image itself."""
        return self.taps == 1 and max(self.stride, default=1) == 1 and max(self.pad, default=0) == 0


GEOMETRY = (
    "height", "width", "out_height", "out_width", "kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w",
    "dilation_h", "dilation_w",
)  # of window.h's struct, in the order of Sizes.padded  # fmt: skip
