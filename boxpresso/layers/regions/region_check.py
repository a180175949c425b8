"""CheckedRegions: refuses regions that ask for absurd work. On a GPU a kernel looks at them, and the host is told later."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...device import AnyArray, Kernels
from ...device.kernel import real_of
from ...device.records import Numbers
from ...proto.limits import LIMITS
from ..core.checked import checked_by
from ..core.layer import Layer

KERNELS = Kernels(Path(__file__).with_name("region_check.cu"))
CORNERS = ("batch index", "x1", "y1", "x2", "y2")
# What costs time, in pixels of a channel that are read:
SAMPLE = 32  # to find where a sample lies
TOUCHED = 4  # of a sample that is bilinear
AXIS_SAMPLE = 256  # the weight of a sample along an axis, where rows and columns are weighed apart
QUICK = 1024  # samples of a bin along an axis, at most, of regions whose coordinates are small


class CheckedRegions(Layer):
    """A layer with regions. `check_grids` and `check_work` give those that it is to work on.

    On a GPU that is a copy, in which the regions that are refused lie in no image, so that no kernel works long on them. What
    was refused is raised when the host next waits for the GPU, as it must to read an output.
    """

    # Of subclasses
    columns: tuple[str, ...] = CORNERS  # what a region's row holds
    ratio = 0  # samples along each side of a bin; 0: as many as it has pixels
    adaptive = False  # whether it is called for a grid and that is so
    separable = False  # whether samples of rows and of columns are weighed apart
    turned = False  # whether all pixels of the upright box around a rotated bin are looked at
    regions: int
    batch: int
    channels: int
    size: tuple[int, int]
    pooled: tuple[int, int]
    scale: float

    gpu_files = (KERNELS,)

    @property
    def channels_read(self) -> int:
        """Of how many channels each sample is."""
        return self.channels

    @property
    def cost_of_sample(self) -> int:
        """What a sample costs."""
        bilinear = not self.separable and (self.adaptive or self.ratio > 0)
        return (self.channels_read + SAMPLE) * (TOUCHED if bilinear else 1)

    def check_grids(self, regions: AnyArray, least: bool) -> AnyArray:
        """Refuses regions whose adaptive grids are absurd, and calls that read too much; what contributes nothing passes.

        Parameters
        ----------
        regions
            (K, 5) of corners or (K, 6) of centre, size and angle.
        least
            Whether sizes on the map are at least 1.

        Returns
        -------
        array
            The regions to work on.
        """
        if not self.adaptive:
            return self.check_work(regions, self.ratio)
        if self.device.kind != "cpu":
            return self.check_there(regions, 0, least, KERNELS.constants["MOST_SAMPLES"])
        rows = np.asarray(regions)
        small = 2 * np.abs(rows).max(initial=0) * self.scale < (QUICK - 1) * min(self.pooled)
        if small and self.cost_at_most(QUICK) <= LIMITS.region_samples:
            return regions
        rows = rows.reshape(len(rows), len(self.columns)).astype(np.float64)
        with np.errstate(all="ignore"):
            valid = np.isfinite(rows).all(1) & (rows[:, 0] > -1) & (rows[:, 0] < self.batch)
            size = (rows[:, 3:5] - rows[:, 1:3] if self.columns == CORNERS else rows[:, 3:5]) * self.scale
            size = np.maximum(size, 1 if least else 0)
            samples = np.ceil(size / self.pooled[::-1]).prod(1)
        bad = np.flatnonzero(valid & ~(samples <= KERNELS.constants["MOST_SAMPLES"]))
        if len(bad):
            self.refuse_grids(len(bad), rows[bad[:1]])
        self.check_cost(rows, 0)
        return regions

    def watch_grids(self, least: bool) -> tuple[int, Callable[[AnyArray], object]] | None:
        """The `watch` of a layer whose forward calls `check_grids` on its regions, bottom 1."""
        if not self.may_check:
            return None
        quick = self.adaptive and self.cost_at_most(QUICK) <= LIMITS.region_samples
        far = ((QUICK - 1) * min(self.pooled) / (2 * self.scale)) ** 2 if quick else 0.0

        def look(regions: AnyArray) -> None:
            flat = np.asarray(regions).reshape(-1)
            if (
                not np.add.reduce(flat * flat) < far
            ):  # else no coordinate is large; of few regions that is known sooner so
                self.check_grids(regions, least)

        return 1, look

    def checked_before(self, regions: AnyArray, least: bool) -> AnyArray:
        """`check_grids` of regions that forward has checked: on a GPU, where nobody may have asked yet what it has found."""
        return regions if self.device.kind == "cpu" else self.check_grids(regions, least)

    def check_work(self, regions: AnyArray, samples: int = 1) -> AnyArray:
        """Refuses a call that reads more than the limit region_samples allows, summed over regions, bins and channels.

        What lies outside the map costs nothing. A bilinear sample costs its four pixels in each channel, and SAMPLE more. Where
        the samples of rows and of columns are weighed apart, a bin costs the pixels that they touch, and each sample along an
        axis its weight.

        Parameters
        ----------
        regions
            Their rows.
        samples
            How many a bin has along an axis.

        Returns
        -------
        array
            The regions to work on.
        """
        if self.cost_at_most(samples) <= LIMITS.region_samples:
            return regions
        if self.device.kind != "cpu":
            return self.check_there(regions, samples)
        self.check_cost(np.asarray(regions).reshape(len(regions), -1).astype(np.float64), samples)
        return regions

    @property
    def may_check(self) -> bool:
        """Whether regions have to be looked at."""
        return self.adaptive or self.cost_at_most(max(self.ratio, 1)) > LIMITS.region_samples

    def costs(self, samples: int) -> tuple[tuple[int, int], int, int]:
        """Of a region: the rows and columns of the map that it may have samples on, one a pixel begun; the most samples that a
        channel of it has; what the weights of so many samples of a bin along an axis cost."""
        (height, width), (down, across) = self.size, self.pooled
        around = height + 2 + 2 * down, width + 2 + 2 * across
        each, bins, squared = math.prod(around), math.prod(self.pooled), self.ratio**2
        if self.ratio > 0:
            each = min(each, 4 * bins * squared) if self.separable else bins * squared
        return around, each, AXIS_SAMPLE * sum(self.pooled) * samples if self.separable else 0

    def cost_at_most(self, samples: int) -> int:
        """What a call costs wherever the regions lie."""
        _, each, along = self.costs(samples)
        return self.regions * (self.cost_of_sample * each + along)

    def check_cost(self, rows: np.ndarray, samples: int) -> None:
        """Raises where regions cost too much. samples: of a bin along an axis; 0: as many as the rows tell."""
        (around, each, along), fixed, pooled = self.costs(samples), self.ratio > 0, np.array(self.pooled)
        with np.errstate(all="ignore"):
            valid = np.isfinite(rows).all(1) & (rows[:, 0] > -1) & (rows[:, 0] < self.batch)
            rows = rows[valid]
            size = rows[:, 3:5] - rows[:, 1:3] if self.columns == CORNERS else rows[:, 3:5]
            size = size[:, ::-1] * self.scale
            if self.turned:
                size = np.abs(size).sum(1, keepdims=True) + np.zeros(2)
            if not fixed:  # a negative size has a pixel at most
                size = np.where((size <= 0).any(1, keepdims=True), 0, size)
            size = np.abs(size) + 2 + 2 * pooled
            inside = np.minimum(size, around).prod(1) if self.columns == CORNERS else np.minimum(size.prod(1), each)
            work = np.full(len(rows), float(each)) if fixed else inside
            if fixed and self.separable:
                work = np.minimum(inside, each)
            axes = np.full(len(rows), float(along)) if samples else AXIS_SAMPLE * size.sum(1)
            total = float((self.cost_of_sample * work + (axes if self.separable else 0)).sum())
        if not total <= LIMITS.region_samples:
            self.refuse_work(len(rows), total, LIMITS.region_samples)

    def check_there(self, regions: AnyArray, samples: int, least: bool = False, most: int = 0) -> AnyArray:
        """The same on a GPU, behind the host's back. most: samples of a bin; 0: any."""
        check = checked_by(self, CheckedRegions.raise_found)
        (height, width), each, along = self.costs(samples)
        work = KERNELS.struct(
            "WorkGeometry", regions=self.regions, batch=self.batch, columns=len(self.columns),
            pooled_height=self.pooled[0], pooled_width=self.pooled[1], adaptive=int(self.ratio <= 0),
            separable=int(self.separable), turned=int(self.turned), mark=check.mark, scale=float(self.scale),
            least=float(least),
            height=float(height), width=float(width), cost=float(self.cost_of_sample), each=float(each), along=float(along),
            along_pixel=0.0 if samples or not self.separable else float(AXIS_SAMPLE), samples=float(most),
            most=float(LIMITS.region_samples),
        )  # fmt: skip
        checked = self.room("checked" if regions.dtype == real_of(regions.dtype) else "checked, stored")
        KERNELS.on(self.device).region_check(min(self.regions, 1), regions, checked, check.record, work)
        return checked

    def raise_found(self, refusal: Numbers) -> None:
        """Raises what the kernel has written: see region_check."""
        bad, valid, total, most = int(refusal[0]), int(refusal[1]), float(refusal[2]), int(refusal[3])
        if bad:
            self.refuse_grids(bad, refusal[4 : 4 + len(self.columns)].reshape(1, -1))
        self.refuse_work(valid, total, most)

    def refuse_grids(self, count: int, example: np.ndarray) -> None:
        """Raises for grids that are too fine."""
        self.need(
            False,
            f"{count} regions ask for more than 2^20 samples a bin, such as {example}; "
            "set sampling_ratio, or look where the regions come from",
        )

    def refuse_work(self, regions: int, total: float, most: int) -> None:
        """Raises for a call that reads more samples than `most`."""
        grid = f" of {self.ratio} x {self.ratio} samples" if self.ratio > 0 else ""
        self.need(
            False,
            f"{regions} regions of {self.pooled[0]} x {self.pooled[1]} bins{grid} read {total:.3g} pixels of a map of "
            f"{self.channels} x {self.size[0]} x {self.size[1]}, {most:.3g} are allowed in a call: give fewer or smaller "
            f"regions or a smaller sampling_ratio, or {LIMITS.advice('region_samples')}",
        )
