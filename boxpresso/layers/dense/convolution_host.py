"""Convolution of one and two spatial axes on the CPU: one linear map between images and maps, and its adjoints."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Device, Kernels, blas
from .sizes import GEOMETRY, SMALL, Sizes, scratch

HOST = Kernels(Path(__file__).with_name("convolution.cpp"))
PACKED = 2**24  # elements of a gradient that are packed at once
FEW, MANY = 2**16, 2**11  # weights of a group, and places of all images, from which on blocks share the places
TILES, ROOM = 2**10, 16  # tiles of 2 x 2 places whose points are taken at once, and what the last vector may run over
PIECE = 2**16  # elements of the map that such a block packs at once
LOOSE, LISTED = 8, 2**24  # elements that planes with their padding may have for one without, and taps of all phases


class HostConvolution:
    """One and two spatial axes on the CPU: the kernels of convolution.cpp."""

    def __init__(self, sizes: Sizes, device: Device) -> None:
        self.sizes, self.device, self.kernels = sizes, device, HOST.on(device)
        s = sizes
        self.geometry, self.back = self.struct(s), s.adjoint
        if self.back is not None:
            self.geometry_back = self.struct(self.back)
        # Channels of a block where columns are written out: enough rows for the tiles, enough blocks for the workers.
        fair = s.images * s.channels // (4 * device.workers)
        self.each = max(1, min(-(-144 // s.taps), s.inner, fair))
        # Whether the kernels of planes take memory in proportion: not where padding, stride or dilation are far larger.
        enough = LOOSE * (s.pixels + max(1, s.maps // s.channels) * s.places) + PIECE if s.depthwise else 0
        self.by_planes = s.depthwise and s.phased <= enough
        listed = prod(s.stride) * s.taps * max(1, s.maps // s.channels) if s.depthwise else 0
        self.by_pixels = s.depthwise and not s.sparse and s.received <= enough and listed <= LISTED

    def struct(self, s: Sizes) -> Any:
        axes = dict(zip(GEOMETRY, s.padded(2), strict=True))
        return self.kernels.struct("Geometry", channels=s.channels, maps=s.maps, group=s.group, **axes)

    def correlate(self, image: AnyArray, weights: AnyArray, bias: AnyArray | None, map: AnyArray, relu: bool) -> None:
        """map = weights * image + bias (None: no bias), and its ReLU where asked."""
        s = self.sizes
        if self.by_planes:
            self.kernels.depthwise_correlate(s.images * s.channels, image, weights, bias, map, self.geometry, relu)
            return
        if s.winograd and image.dtype == np.float32:
            points = scratch(self.device, 16 * s.maps * s.inner, image.dtype)
            self.winograd(s, self.geometry, image, weights, points, bias, map, relu)
            return
        self.plainly(s, self.geometry, image, weights, bias, map, relu)

    def room(self, dtype: Any, down: bool, learns: bool) -> int:
        """Elements of the shared memory that it needs, and of what its workers have for themselves. down, learns: whether for
        the gradients of bottom and weights too."""
        s, single = self.sizes, dtype == np.float32
        own = self.worker_room(single, down, learns)
        counts = [16 * s.maps * s.inner if s.winograd and single else 0]
        if down and self.back is not None and not self.by_pixels:
            counts.append((25 if self.back.winograd and single else int(s.identity)) * s.maps * s.inner)
        if learns and not self.by_planes:
            counts.append(self.gradient_room(single))
        return max(counts) + (self.device.workers * own if own > SMALL else 0)

    def worker_room(self, single: bool, down: bool, learns: bool) -> int:
        """Elements that the kernels of convolution.cpp ask `scratch` for, in each worker."""
        s, c = self.sizes, self.kernels.constants
        packed = (c["HIGH"] + 8) * c["DEPTH"]
        columns = 0 if s.identity else c["TAPS"] * c["PLACES"]
        counts = [s.phased if self.by_planes else self.points_of(s) if s.winograd and single else 0]
        if down:
            back = self.back
            if self.by_pixels:
                counts.append(s.received)
            elif back is not None and back.winograd and single:
                counts.append(self.points_of(back))
            elif not s.identity:
                counts.append(
                    min(columns, self.each * s.taps * c["PLACES"]) + min(packed, self.each * s.taps * c["DEPTH"])
                )
        if learns and self.by_planes:
            counts.append(s.phased + 16 * s.taps * (s.maps // s.channels))
        elif learns:
            each = max(1, min(-(-144 // s.taps), s.inner))
            wide = max(each * s.taps * s.filters, PIECE + 48 * c["PLACES"])
            counts.append(wide + min(columns, each * s.taps * c["PLACES"]))
        return max(counts)

    @staticmethod
    def points_of(s: Sizes) -> int:
        """Elements that a worker of `winograd` has for the points of its tiles."""
        across = (s.map[1] + 1) // 2
        tiles = max(1, round(96 / across)) * across + 16
        return 16 * (s.inner + s.filters) * tiles

    def gradient_room(self, single: bool) -> int:
        """The same, for the gradient of the weights."""
        s, cut = self.sizes, self.kernels.constants["CUT"]
        if s.winograd and s.group == 1 and single:
            return sum(self.points_room()[-1])
        if s.depth * s.filters <= FEW and s.images * s.places >= MANY:
            return s.group * self.places_room()[2] * s.depth * s.filters
        room = -(-s.filters // cut) * cut * s.places
        return min(s.images, max(1, PACKED // max(1, s.group * room))) * s.group * room

    def points_room(self) -> tuple[int, int, int, int, tuple[int, ...]]:
        """For `gradient_by_points`: rows of tiles and images at once, their tiles, the distance between points, and the
        elements of each part of its memory."""
        s, cut = self.sizes, self.kernels.constants["CUT"]
        across, down = (s.map[1] + 1) // 2, (s.map[0] + 1) // 2
        rows = min(down, max(1, TILES // across))
        together = min(s.images, max(1, TILES // (across * down))) if rows == down else 1
        tiles, weights = together * rows * across, s.channels * s.filters
        pitch = tiles + ROOM
        sizes = 16 * s.channels * pitch, 16 * -(-s.filters // cut) * cut * tiles, 16 * weights, 9 * weights
        return rows, together, tiles, pitch, sizes

    def places_room(self) -> tuple[int, int, int]:
        """For `gradient_by_places`: places at once, channels of a block, and into how many parts the places are cut."""
        s = self.sizes
        width, together = s.map[-1] if s.map else 1, max(1, min(PIECE // max(s.filters, 64), 1024))
        if width <= together:
            together = together // width * width  # whole rows
        each = max(1, min(-(-144 // s.taps), s.inner))
        return together, each, max(1, min(16, s.images * -(-s.places // together)))

    def plainly(
        self,
        s: Sizes,
        geometry: Any,
        image: AnyArray,
        weights: AnyArray,
        bias: AnyArray | None,
        map: AnyArray,
        relu: bool,
    ) -> None:
        """`correlate` of sizes `s` by panels of columns."""
        high, wide, blocks = blas.blocks(self.device.workers, s.filters, s.places, s.images * s.group)
        self.kernels.correlate(s.images * s.group * blocks, image, weights, bias, map, geometry, relu, high, wide)

    def winograd(
        self, s: Sizes, geometry: Any, image: AnyArray, weights: AnyArray, points: AnyArray, bias: AnyArray | None,
        map: AnyArray, relu: bool,
    ) -> None:  # fmt: skip
        """`correlate` of sizes `s` by products of points, for which there is room in `points`."""
        self.kernels.winograd_weights(s.maps, weights, points, s.inner)
        across, down = (s.map[1] + 1) // 2, (s.map[0] + 1) // 2
        rows = max(1, round(96 / across))  # enough tiles for two panels
        blocks = s.images * s.group * -(-down // rows)
        self.kernels.winograd(blocks, image, weights, points, bias, map, geometry, relu, rows)

    def spread(self, map: AnyArray, weights: AnyArray, bias: AnyArray | None, image: AnyArray) -> None:
        """The adjoint in the image: image = weights^T * map + bias of the channel."""
        s, back = self.sizes, self.back
        if self.by_pixels:  # else each pixel would look at many taps without a place
            self.kernels.depthwise_spread(s.images * s.channels, map, weights, bias, image, self.geometry)
        elif back is not None and back.winograd and map.dtype == np.float32:
            room = scratch(self.device, 25 * s.maps * s.inner, map.dtype)
            points = self.device.part(room, 0, (16 * s.maps * s.inner,))
            turned = self.device.part(room, 16 * s.maps * s.inner, (9 * s.maps * s.inner,))
            self.kernels.turn_weights(s.channels, weights, turned, self.geometry)
            self.winograd(back, self.geometry_back, map, turned, points, bias, image, False)
        elif back is not None and s.identity:
            turned = scratch(self.device, s.maps * s.inner, map.dtype)
            blocks = s.group * -(-s.inner // self.kernels.constants["CUT"])
            self.kernels.turn_points(blocks, weights, turned, self.geometry)
            self.plainly(back, self.geometry_back, map, turned, bias, image, False)
        else:
            blocks = s.images * s.group * -(-s.inner // self.each)
            self.kernels.spread(blocks, map, weights, bias, image, self.geometry, self.each)

    def gradient(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> None:
        """The adjoint in the weights: weights_diff += map * image^T."""
        s = self.sizes
        if self.by_planes:
            self.kernels.depthwise_weights(s.channels, image, map, weights_diff, self.geometry, s.images)
            return
        if (
            s.winograd
            and s.group == 1
            and image.dtype == np.float32
            and self.gradient_by_points(image, map, weights_diff)
        ):
            return
        if s.depth * s.filters <= FEW and s.images * s.places >= MANY:
            self.gradient_by_places(image, map, weights_diff)
            return
        cut = self.kernels.constants["CUT"]
        cuts = -(-s.filters // cut)
        room = cuts * cut * s.places
        each = max(1, min(-(-144 // s.taps), -(-s.channels // (4 * self.device.workers))))
        step = max(1, PACKED // (s.group * room))  # images at once; it orders the sums, so only sizes decide it
        for first in range(0, s.images, step):
            count = min(step, s.images - first)
            x = self.device.part(image, first * s.channels * s.pixels, (count, s.channels, s.pixels))
            y = self.device.part(map, first * s.maps * s.places, (count, s.maps, s.places))
            packed = scratch(self.device, count * s.group * room, image.dtype)
            self.kernels.pack_map(count * s.group * cuts, y, packed, self.geometry, room)
            blocks = s.group * -(-s.inner // each)
            self.kernels.weights_gradient(blocks, x, packed, weights_diff, self.geometry, count, each, room)

    def gradient_by_points(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> bool:
        """`gradient` of 3 x 3 windows by Winograd's transforms; False, and nothing is done, where it is not finite."""
        s, kernels = self.sizes, self.kernels
        across, down = (s.map[1] + 1) // 2, (s.map[0] + 1) // 2
        rows, together, _, pitch, sizes = self.points_room()
        blocks = -(-s.filters // kernels.constants["CUT"])
        room = scratch(self.device, sum(sizes), image.dtype)
        starts = [sum(sizes[:i]) for i in range(4)]
        points, panels, sums, taps = (self.device.part(room, at, (size,)) for at, size in zip(starts, sizes))
        sums.fill(0)
        each = -(-s.channels // max(1, min(4, s.channels // 64)))
        for first in range(0, s.images, together):
            count = min(together, s.images - first)
            x = self.device.part(image, first * s.channels * s.pixels, (count, s.channels, s.pixels))
            y = self.device.part(map, first * s.maps * s.places, (count, s.maps, s.places))
            for top in range(0, down, rows):
                high = min(rows, down - top)
                part = kernels.struct("Part", images=count, y0=top, rows=high, tiles=count * high * across)
                kernels.take_points(s.channels, x, points, self.geometry, part, pitch)
                kernels.spread_points(blocks, y, panels, self.geometry, part)
                kernels.add_points(
                    16 * -(-s.channels // each), points, panels, sums, self.geometry, part, pitch, each
                )  # fmt: skip
        wild = self.device.empty((s.channels,), np.int32)
        kernels.taps_of_points(s.channels, sums, taps, wild, s.filters)
        if np.any(wild):
            return False
        kernels.add_taps(blocks, taps, weights_diff, s.channels, s.filters)
        return True

    def gradient_by_places(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> None:
        """`gradient` of few weights: blocks share the places, not the weights."""
        s = self.sizes
        together, each, cuts = self.places_room()
        partial = scratch(self.device, s.group * cuts * s.depth * s.filters, image.dtype)
        args = image, map, partial, self.geometry, s.images, cuts, together, each
        self.kernels.weights_by_places(s.group * cuts, *args)
        blocks = s.group * -(-s.filters // self.kernels.constants["CUT"])
        self.kernels.join_weights(blocks, partial, weights_diff, s.filters, s.depth, cuts)
