"""RegionLayer: what the region layers share: checks of parameters, the type they compute in, scratch arrays, tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Device, Kernels
from ...device.kernel import StructValue, real_of
from ..core.numbers import COUNT_LIMIT
from .region_check import CORNERS, CheckedRegions

KERNELS = Kernels(Path(__file__).with_name("region_base.cu"))
CONVERTED = 2**30
FEW = 16  # regions: not worth an order
BAND = 32  # rows of the map: regions with their centres there are neighbours
# Whether gradients are made in tiles, each by a block of its own.
TILED = {"cpu": False, "cuda": True}
PACKED = {"cpu": False, "cuda": True}  # whether the slabs of all maps are made before any region is read from them


class RegionLayer(CheckedRegions):
    """A layer whose bottoms are features (B, C, H, W) and regions, a row of numbers each, in pixels of the image.

    `setup_bins` and `setup_ratio` check parameters, `read_shapes` the bottoms' shapes; `fields` are then what the kernels'
    structs have in common. Kernels compute in `real`: float32 where the blobs are of 16 bits.
    """

    def setup_bins(self, pooled_height: int, pooled_width: int, scale: float) -> None:
        """Each region is cut into pooled_height x pooled_width bins; scale: pixels of the map in one of the image."""
        self.setup_types()
        self.pooled, self.scale = (pooled_height, pooled_width), scale
        self.need(min(self.pooled) > 0, f"pooled_h and pooled_w must be positive, got {self.pooled}")
        self.need(max(self.pooled) <= 2**20, f"pooled_h and pooled_w must be at most 2^20, got {self.pooled}")
        self.need(0 < scale < np.inf, f"spatial_scale must be positive, got {scale}")
        self.tile_cut: tuple[Any, StructValue] | None = None  # how maps are cut into tiles, and for which shapes

    def setup_types(self) -> None:
        """For layers whose kernels compute in `real`."""
        self.real = real_of(self.dtype)

    def setup_ratio(self, ratio: int, name: str = "sampling_ratio") -> None:
        """Samples along each side of a bin; from 0 down the grid is adaptive: as many as the bin's size in pixels."""
        self.ratio, self.adaptive = ratio, ratio <= 0
        most = KERNELS.constants["MOST_SAMPLES"]
        self.need(ratio < 0 or ratio**2 <= most, f"{name} {ratio} asks for more than 2^20 samples in a bin")

    def read_shapes(self, bottom: list[Blob], channels_last: bool = False) -> None:
        """Checks the shapes of features and regions."""
        shape = self.axes(bottom[0], 4, "bottom 0")
        self.batch, self.channels, *size = (shape[0], shape[3], *shape[1:3]) if channels_last else shape
        self.size = size[0], size[1]
        rows = bottom[1].shape
        self.need(
            len(rows) >= 2 and np.prod(rows[1:]) == len(self.columns),
            f"bottom 1, the regions, must be (K, {len(self.columns)}): {', '.join(self.columns)}; got {rows}",
        )
        self.regions = rows[0]
        (height, width), bins = self.size, math.prod(self.pooled)
        for subject, count in (
            ("pixels in a plane", height * width), ("planes", self.batch * self.channels),
            ("numbers of a region", self.channels * bins), ("edges of bins", self.regions * (2 * sum(self.pooled) + 5)),
        ):  # fmt: skip
            self.need(count <= COUNT_LIMIT, f"{count} {subject}: kernels count to 2^31 - 1")
        self.scratch("checked", (self.regions, len(self.columns)))
        if bottom[1].dtype != self.real:
            self.scratch("checked, stored", (self.regions, len(self.columns)), bottom[1].dtype)
        self.ask_sums(shape)

    @property
    def fields(self) -> dict[str, float]:
        """The values of the fields that the structs of the kernels have in common."""
        (height, width), (pooled_height, pooled_width) = self.size, self.pooled
        return {
            "regions": self.regions, "batch": self.batch, "channels": self.channels, "height": height, "width": width,
            "pooled_height": pooled_height, "pooled_width": pooled_width, "scale": self.scale,
        }  # fmt: skip

    def scratch(self, name: str, shape: Sequence[int], dtype: Any = None, *, backward: bool = False) -> None:
        """As of any layer; without a `dtype` in the computed type."""
        super().scratch(name, shape, dtype or self.real, backward=backward)

    def ask_sums(self, shape: tuple[int, ...]) -> None:
        """In reshape: for what `sums_of` and `rounded` give of an array of that shape."""
        if self.real != self.dtype:
            self.scratch("sums of diff", shape, backward=True)

    def ask_tables(self, backward: bool = False) -> None:
        """In reshape: for `tables`."""
        self.scratch("image", (self.regions,), np.int32, backward=backward)
        self.scratch("bins", (self.regions, 2 * sum(self.pooled) + 2), np.int32, backward=backward)

    @property
    def tables(self) -> tuple[AnyArray, AnyArray]:
        """The image of each region, and its row of a table of bins (see bins.h)."""
        return self.room("image"), self.room("bins")

    def by_place(self, regions: AnyArray, bands: bool = True) -> AnyArray:
        """The numbers of the regions, neighbours on the map one after another, so that a core finds the pixels of one in its
        cache from the one before: by bands of rows, then along x, or along x alone. Few regions stay in their order, and on a
        GPU all: their coordinates are not on the host."""
        if self.device.kind != "cpu":
            return first_numbers(self.device, self.regions)
        order = np.arange(self.regions)
        if self.regions >= FEW:
            with np.errstate(all="ignore"):
                rows = np.asarray(regions).reshape(self.regions, len(self.columns))
                centre = ((rows[:, 1:3] + rows[:, 3:5]) / 2 if self.columns == CORNERS else rows[:, 1:3]) * self.scale
                band = centre[:, 1] // BAND if bands else np.zeros(self.regions)
                order = np.lexsort((centre[:, 0], band, rows[:, 0]))
        table: AnyArray = self.device.table(order)
        return table

    def pack_slabs(self, features: AnyArray, slabs: AnyArray, behind: int = 0) -> None:
        """Features (B, C, H, W) in slabs: see slab.h. behind: pixels of zeros after those of a slab."""
        area = self.size[0] * self.size[1]
        pixels = KERNELS.constants["PACKED_PIXELS"] if self.packed else max(area, 1)
        count = self.batch * self.channel_slabs * max(-(-area // pixels), 1)
        KERNELS.on(self.device).region_pack(count, features, slabs, self.channels, area, behind, pixels)

    def ask_slabs_of_top(self, numbers: int) -> None:
        """In reshape: for the gradient of the top in slabs, as `slabs_of_top` (1) and `given_places` (2) give it."""
        shape = self.regions * self.channel_slabs, self.pooled[0] * self.pooled[1], KERNELS.constants["SLAB"], numbers
        self.scratch("given", shape, backward=True)

    def slabs_of_top(self, top_diff: AnyArray) -> AnyArray:
        """The gradient of a top (K, C, bins) in slabs, for kernels that work in tiles: see given.h."""
        slabs, bins = self.room("given"), self.pooled[0] * self.pooled[1]
        pixels = KERNELS.constants["PACKED_PIXELS"]
        blocks = self.regions * self.channel_slabs * -(-bins // pixels)
        KERNELS.on(self.device).region_pack(blocks, top_diff, slabs, self.channels, bins, 0, pixels)
        return slabs

    def given_places(self, top_diff: AnyArray, places: AnyArray, channels_last: bool = False) -> AnyArray:
        """The same with the place of each number's maximum beside it."""
        slabs, bins = self.room("given"), self.pooled[0] * self.pooled[1]
        KERNELS.on(self.device).region_placed(
            self.regions * self.channel_slabs, top_diff, places, slabs, self.channels, bins, int(channels_last)
        )
        return slabs

    def tiles(self, boxes: AnyArray, order: AnyArray) -> tuple[int, AnyArray]:
        """How many tiles the gradient of all maps is made in, and the lists of the regions that touch each: see tiles.h.

        boxes: (K, 5), the image, first row, rows, first column and columns of each region; order: the order in which a tile
        takes them.
        """
        side, lists = KERNELS.constants["TILE_SIDE"], self.room("tiles")
        down, across = (-(-size // side) for size in self.size)
        if self.tile_cut is None or self.tile_cut[0] != (down, across, self.regions):
            cut = KERNELS.struct("Tiles", rows=side, columns=side, down=down, across=across, most=self.regions)
            self.tile_cut = (down, across, self.regions), cut
        if not self.tile_count:  # no block of the kernel writes what comes before the lists
            lists.fill(0)
        KERNELS.on(self.device).region_tiles(
            self.tile_count, boxes, order, lists, self.regions, *self.size, self.tile_cut[1]
        )
        return self.tile_count, lists

    @property
    def tile_count(self) -> int:
        """How many tiles all maps make."""
        side = KERNELS.constants["TILE_SIDE"]
        return self.batch * math.prod(-(-size // side) for size in self.size)

    def ask_tiles(self) -> None:
        """In reshape: for `tiles` and the boxes that it takes."""
        lists = KERNELS.constants["TILE_HEAD"] + self.tile_count * (self.regions + 1)
        self.scratch("tiles", (lists,), np.int32, backward=True)
        self.scratch("boxes", (self.regions, 5), np.int32, backward=True)

    @property
    def channel_slabs(self) -> int:
        """How many slabs the channels of an image make."""
        return -(-self.channels // KERNELS.constants["SLAB"])

    @property
    def tiled(self) -> bool:
        """Whether gradients of maps are made in small tiles, by as many blocks."""
        return TILED[self.device.kind]

    def boxes_of(self, image: AnyArray, bins: AnyArray) -> AnyArray:
        """For `tiles`: where the regions of a table of bins lie."""
        boxes = self.room("boxes")
        KERNELS.on(self.device).region_boxes(self.regions, image, bins, boxes, *self.pooled)
        return boxes

    @property
    def packed(self) -> bool:
        """Whether the slabs of all maps are made first, so that a block is a region in a slab; else a worker makes one slab
        after another in a room that stays in its core's cache."""
        return PACKED[self.device.kind]

    def widened(self, array: AnyArray) -> AnyArray:
        """The numbers of an array in the computed type: the array itself, or of 16 bits a copy."""
        if array.dtype == self.real:
            return array
        copy: AnyArray = self.device.empty(array.shape, self.real)
        self.convert("widen", array, copy)
        return copy

    def narrow(self, source: AnyArray, target: AnyArray) -> None:
        """Copies from an array of the computed type to one of the blobs'."""
        self.convert("narrow", source, target)

    def convert(self, kernel: str, source: AnyArray, target: AnyArray) -> None:
        """By the kernel of that name, of which a launch has CONVERTED numbers at most."""
        convert, size = getattr(KERNELS.on(self.device), kernel), source.size
        if size <= CONVERTED:
            convert(size, source, target)
            return
        numbers, to = (np.asarray(array).reshape(-1) for array in (source, target))  # of the CPU: see Blob.most
        for first in range(0, size, CONVERTED):
            part = slice(first, min(first + CONVERTED, size))
            convert(part.stop - first, numbers[part], to[part])

    def sums_of(self, diff: AnyArray) -> AnyArray:
        """An array for the sums that become `diff`: itself or, where it is of 16 bits, one of float32."""
        return diff if self.real == self.dtype else self.room("sums of diff")

    @contextmanager
    def rounded(self, target: AnyArray, name: str = "sums of diff") -> Iterator[AnyArray]:
        """An array of the computed type, whose numbers are rounded once, at the end, where the target is of 16 bits; name: of
        the room that reshape has asked for."""
        sums = target if self.real == self.dtype else self.room(name)
        yield sums
        if sums is not target:
            self.narrow(sums, target)

    def need_no_region_gradient(self, propagate_down: Sequence[bool]) -> None:
        self.need(not propagate_down[1], "there is no gradient for the regions; set propagate_down: false for bottom 1")

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


def first_numbers(device: Device, count: int) -> AnyArray:
    """0, 1, .. count - 1 on a GPU: the beginning of one table, which is copied there once for all sizes up to its own."""
    table = device.memo.get("first numbers")
    if table is None or len(table) < count:
        table = device.memo["first numbers"] = device.table(np.arange(max(1024, 1 << (count - 1).bit_length())))
    part: AnyArray = device.part(table, 0, (count,))
    return part
