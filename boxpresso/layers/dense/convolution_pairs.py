"""Convolution in training with factors that are rounded to bfloat16, on CPUs that multiply pairs of them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Device, Kernels
from .convolution_host import LOOSE, PACKED, HostConvolution
from .sizes import SMALL, Sizes, scratch

PAIRS = Kernels(Path(__file__).with_name("convolution_pairs.cpp"))
BAND = 2**17  # words of the pixels that a block takes at once, about
ROWS = 144  # of columns that a block of `gradient` has at least
TOGETHER = 64  # channels of a block of `gradient` whose planes are read as they are
BLOCKS = 8  # of `gradient`, at least, where there are so many images and stripes
WORDS = np.dtype(np.int32)


class PairedConvolution(HostConvolution):
    """As HostConvolution, on the same arrays: factors of float32 are rounded to bfloat16, sums are float32.

    Planes with a filter each, and arrays of float64, are convolved as there.
    """

    def __init__(self, sizes: Sizes, device: Device) -> None:
        super().__init__(sizes, device)
        self.pairs = PAIRS.on(device)
        self.tile = self.pairs.constants["TILE"]  # rows of words that are read together, behind the last, too

    @property
    def plain(self) -> bool:
        """Whether it computes as HostConvolution does."""
        return self.by_planes or self.by_pixels

    def correlate(self, image: AnyArray, weights: AnyArray, bias: AnyArray | None, map: AnyArray, relu: bool) -> None:
        if self.plain or relu or image.dtype != np.float32:
            super().correlate(image, weights, bias, map, relu)
            return
        self.products(self.sizes, self.geometry, "FORWARD", image, weights, bias, map)

    def spread(self, map: AnyArray, weights: AnyArray, bias: AnyArray | None, image: AnyArray) -> None:
        s = self.sizes
        if self.plain or image.dtype != np.float32:
            super().spread(map, weights, bias, image)
        elif self.back is not None:
            self.products(self.back, self.geometry_back, "ADJOINT", map, weights, bias, image)
        else:
            words = self.words(weights, "COLUMNWISE", True)
            blocks = s.images * s.group * -(-s.inner // self.each)
            self.pairs.spread_pairs(blocks, map, words, bias, image, self.geometry, self.each)

    def words(self, weights: AnyArray, form: str, by_taps: bool) -> AnyArray:
        """The weights, in pairs, in one of the forms of convolution_pairs.cpp."""
        s = self.sizes
        words = scratch(self.device, self.count_words(form == "FORWARD"), WORDS)
        rows = s.maps if form == "FORWARD" else s.channels
        self.pairs.pair_weights(
            -(-rows // self.tile), weights, words, self.geometry, self.pairs.constants[form], by_taps
        )
        return words

    def count_words(self, forward: bool) -> int:
        """Words of the weights, for the map or for the image."""
        s = self.sizes
        rows, terms = (s.maps, s.inner) if forward else (s.channels, s.filters)
        return (rows + self.tile) * s.taps * -(-terms // 2)

    def side_by_side(self, s: Sizes, words: int) -> bool:
        """Whether planes are read as they are, so many words, or channels, at once: not where padding would be most."""
        _, _, down, across, high, wide, _, _, _, _, down_by, across_by = s.padded(2)
        padded = (down + (high - 1) * down_by) * (across + (wide - 1) * across_by)
        enough = words >= self.pairs.constants["SIDE_BY_SIDE"]
        return enough and set(s.stride) == {1} and padded <= LOOSE * (s.pixels + s.places)

    def products(
        self,
        s: Sizes,
        geometry: Any,
        form: str,
        image: AnyArray,
        weights: AnyArray,
        bias: AnyArray | None,
        map: AnyArray,
    ) -> None:
        """`correlate` of sizes `s`, which are these or those of the adjoint."""
        by_taps = self.side_by_side(s, -(-s.inner // 2))
        words, high = self.words(weights, form, by_taps), self.band(s)
        blocks = s.images * s.group * -(-s.padded(2)[2] // high)
        self.pairs.correlate_pairs(blocks, image, words, bias, map, geometry, high, by_taps)

    def band(self, s: Sizes) -> int:
        """Rows of the map that a block takes: their pixels stay in the second cache, and all workers are busy."""
        _, width, down, _, _, _, stride, *_ = s.padded(2)
        fitting = BAND // max(1, -(-s.inner // 2) * width * stride)
        fair = -(-down * s.images * s.group // (4 * self.device.workers))
        return max(1, min(down, fitting, fair))

    @cached_property
    def parts(self) -> tuple[int, int, int, int, int, int]:
        """For `gradient`: images at once, words of an image's map, channels of a block, cuts of the stripes, places of a row,
        0 where all rows are one, and places, or rows, of a stripe.

        They order sums, so only sizes decide them.
        """
        s, c = self.sizes, self.kernels.constants
        _, _, down, across, high, wide, _, _, _, _, down_by, across_by = s.padded(2)
        width = 0
        if not s.identity and self.side_by_side(s, s.inner):
            width = across + (wide - 1) * across_by
            width += width % 2
        each = min(TOGETHER if width else -(-ROWS // s.taps), s.inner)
        if width:
            step = max(1, min(down, 2 * BAND // (each * width) - (high - 1) * down_by))
        else:
            rows = min(down, c["PLACES"] // max(1, across))
            step = max(2, (rows * across or c["PLACES"]) // 2 * 2)
        room = s.group * -(-s.filters // self.tile) * self.tile * (down * width // 2 if width else -(-s.places // 2))
        together = max(1, min(s.images, PACKED // max(1, room)))
        cuts = max(1, min(together, -(-BLOCKS // (s.group * -(-s.inner // each)))))
        return together, room, each, cuts, width, step

    def gradient(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> None:
        s = self.sizes
        if self.plain or image.dtype != np.float32:
            super().gradient(image, map, weights_diff)
            return
        together, room, each, cuts, width, step = self.parts
        columns = -(-s.filters // self.kernels.constants["CUT"])
        for first in range(0, s.images, together):
            count = min(together, s.images - first)
            x = self.device.part(image, first * s.channels * s.pixels, (count, s.channels, s.pixels))
            y = self.device.part(map, first * s.maps * s.places, (count, s.maps, s.places))
            packed = scratch(self.device, count * room, WORDS)
            partial = scratch(self.device, cuts * s.maps * s.depth, image.dtype)
            self.pairs.pack_map_pairs(count * s.group * columns, y, packed, self.geometry, width)
            blocks = s.group * cuts * -(-s.inner // each)
            self.pairs.weights_pairs(blocks, x, packed, partial, self.geometry, count, cuts, each, width, step)
            self.kernels.join_weights(s.group * columns, partial, weights_diff, s.filters, s.depth, cuts)

    def room(self, dtype: Any, down: bool, learns: bool) -> int:
        if self.plain or dtype != np.float32:
            return super().room(dtype, down, learns)
        together, room, _, cuts, _, _ = self.parts
        s, own = self.sizes, self.worker_room(True, down, learns)
        words = [self.count_words(True), self.count_words(False) * down, together * room * learns]
        return max(words) + cuts * s.maps * s.depth * learns + (self.device.workers * own if own > SMALL else 0)

    def worker_room(self, single: bool, down: bool, learns: bool) -> int:
        if self.plain or not single:
            return super().worker_room(single, down, learns)
        s, c = self.sizes, self.kernels.constants
        counts = [self.pixels_under(s)]
        if down and self.back is not None:
            counts.append(self.pixels_under(self.back))
        elif down:
            counts.append((-(-s.filters // 2) + min(c["TAPS"], self.each * s.taps)) * c["PLACES"])
        if learns:
            _, _, each, _, width, step = self.parts
            high, by = s.padded(2)[4], s.padded(2)[10]
            under = (
                (each + self.tile) * (step + (high - 1) * by) * width if width else 0 if s.identity else each * s.pixels
            )
            counts.append((under + (0 if width else (each * s.taps + self.tile) * step)) // 2)
        return max(counts)

    def pixels_under(self, s: Sizes) -> int:
        """Words of the pixels under a band of rows, with their padding where planes are read as they are."""
        height, width, _, across, high, wide, stride, _, _, _, down_by, across_by = s.padded(2)
        rows, each = (self.band(s) - 1) * stride + (high - 1) * down_by + 1, -(-s.inner // 2)
        if self.side_by_side(s, each):
            return each * rows * (across + (wide - 1) * across_by)
        return each * min(rows, height) * width
