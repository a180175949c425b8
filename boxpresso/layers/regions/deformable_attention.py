"""MultiScaleDeformableAttention: weighted bilinear samples of several maps, where each query says (Deformable DETR)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ...device.kernel import real_of
from ..core import Trait
from .region_base import RegionLayer

BANDS = {"cpu": 1, "cuda": 32}  # parts of a map's rows that the gradient of the values gives to blocks of their own
AXES = (
    ("value", 4),
    ("spatial_shapes", 2),
    ("level_start_index", 1),
    ("sampling_locations", 6),
    ("attention_weights", 5),
)
EXACT = 2**24  # whole numbers below it are exact in float32


class MultiScaleDeformableAttention(
    RegionLayer, type=("MultiScaleDeformableAttention", "MSDeformAttn"), bottoms=5, tops=1, traits=Trait.SIXTEEN_BITS
):
    """Each query's weighted sum of bilinear samples of maps of several sizes, for each head.

    A sample of level l lies at x W - 1/2, y H - 1/2 of the level's H x W map; pixels outside the map are 0. With weight A
    and map V, top[n, q, m] is the sum over levels l and points p of A[n, q, m, l, p] times the sample of V[n, level l, m].

    Gradients go to the values, the places and the weights, each number summed in one order, so that they are bitwise
    the same on every run. A place that is NaN or infinite, or has no pixel of the map beside it, counts for nothing and has
    no gradient, whatever its weight. float16 and bfloat16 are storage types: the arithmetic is in float32.

    Parameters
    ----------
    bottom 0
        (N, S, M, D), value: S pixels, those of all levels one after another, M heads of D channels.
    bottom 1
        (L, 2), spatial_shapes: height and width of each level.
    bottom 2
        (L), level_start_index: the first pixel of each level.
    bottom 3
        (N, Q, M, L, P, 2), sampling_locations: x and y of each sample in parts of the level's width and height.
    bottom 4
        (N, Q, M, L, P), attention_weights.

    Returns
    -------
    top 0
        (N, Q, M D), for each query the heads one after another.

    Raises
    ------
    LayerError
        For shapes that do not fit each other, levels that are not whole numbers, reach past the values or overlap.

    Source
    ------
    Zhu et al. 2020, Deformable DETR; numbers as mmcv's multi_scale_deformable_attn has them.

    Examples
    --------
    One level of 2 x 2 pixels, one head of one channel; the sample lies in the middle, between all four pixels.

    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> value, place = np.arange(4).reshape(1, 4, 1, 1), np.full((1, 1, 1, 1, 1, 2), 0.5)
    >>> weight = np.full((1, 1, 1, 1, 1), 2)
    >>> run_layer('type: "MultiScaleDeformableAttention"', value, [[2, 2]], [0], place, weight).tolist()
    [[[3.0]]]
    """

    kernels = Kernels("deformable_attention.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.real = real_of(self.dtype)
        self.known: bytes | None = None  # the levels that the tables are of

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob, (name, axes) in zip(bottom, AXES):
            self.need(len(blob.shape) == axes, f"{name} must have {axes} axes, got shape {blob.shape}")
        batch, self.pixels, heads, depth = bottom[0].shape
        queries, levels, points = bottom[4].shape[1], *bottom[4].shape[3:]
        wanted = (batch, queries, heads, levels, points)
        self.need(
            bottom[4].shape == wanted and bottom[3].shape == (*wanted, 2),
            f"attention_weights must be (N, Q, M, L, P) with the value's N and M, and sampling_locations the same with a "
            f"last axis of 2; the value is {bottom[0].shape}, they are {bottom[4].shape} and {bottom[3].shape}",
        )
        self.need(
            bottom[1].shape == (levels, 2) and bottom[2].shape == (levels,),
            f"of {levels} levels spatial_shapes must be {(levels, 2)} and level_start_index {(levels,)}, got "
            f"{bottom[1].shape} and {bottom[2].shape}",
        )
        self.need(self.pixels < EXACT, f"the value has {self.pixels} pixels; at most {EXACT - 1} can be counted")
        self.known = None
        samples = levels * points
        together = max(1, min(heads, self.kernels.constants["SAMPLES"] // max(samples, 1)))
        self.geometry = self.kernels.struct(
            "AttentionGeometry", pixels=self.pixels, heads=heads, depth=depth, queries=queries, levels=levels,
            points=points, samples=samples, together=together,
        )  # fmt: skip
        self.batch, self.heads, self.depth, self.queries, self.levels, self.samples = (
            batch, heads, depth, queries, levels, samples
        )  # fmt: skip
        top[0].reshape(batch, queries, heads * depth)
        self.scratch("levels", (3 * levels,), np.int32)
        self.scratch("levels of samples", (3 * heads * samples,), np.int32)
        self.scratch("zeros", (depth,), self.dtype)  # the channels of a pixel that is not there
        if samples > self.kernels.constants["SAMPLES"]:
            self.scratch("sums", top[0].shape)
        self.ask_sums(bottom[0].shape)
        if self.real != self.dtype:
            for name, blob in zip(("of places", "of weights"), bottom[3:]):
                self.scratch(name, blob.shape, backward=True)

    def read_levels(self, bottom: list[Blob]) -> None:
        """The levels as the kernels take them: `rows` (L, 3), `table` (3, M L P) for each sample."""
        shapes, starts = (np.asarray(b.data).astype(np.float64) for b in bottom[1:3])
        rows = np.column_stack([shapes.reshape(-1, 2), starts])
        if self.known == rows.tobytes():
            return
        whole = np.isfinite(rows).all() and (rows == np.floor(rows)).all() and rows.min(initial=0) >= 0
        self.need(whole, f"levels must be whole numbers from 0 on: height, width, first pixel; got {rows.tolist()}")
        ends = rows[:, 2] + rows[:, 0] * rows[:, 1]
        self.need(
            ends.max(initial=0) <= self.pixels and rows.max(initial=0) < EXACT,
            f"levels (height, width, first pixel) {rows.tolist()} reach past the value's {self.pixels} pixels",
        )
        order = [i for i in np.argsort(rows[:, 2], kind="stable") if ends[i] > rows[i, 2]]
        apart = all(ends[a] <= rows[b, 2] for a, b in pairwise(order))
        self.need(apart, f"levels (height, width, first pixel) {rows.tolist()} overlap each other")
        points = self.samples // max(self.levels, 1)
        self.rows, self.table = self.room("levels"), self.room("levels of samples")
        self.rows[...] = rows.astype(np.int32).reshape(-1)
        self.table[...] = np.tile(np.repeat(rows.T.astype(np.int32), points, 1), (1, self.heads)).reshape(-1)
        self.known = rows.tobytes()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_levels(bottom)
        if not self.samples or not self.pixels:
            top[0].data.fill(0)
        elif self.depth:
            many = self.samples > self.kernels.constants["SAMPLES"]
            sums = self.room("sums") if many else None
            where, weights = (self.widened(b.data) for b in bottom[3:])
            self.kernels.deformable_attention_forward(
                self.batch * self.queries, bottom[0].data, self.table, where, weights, self.room("zeros"), sums, top[0].data,
                self.geometry,
            )  # fmt: skip

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:3]), "sizes of levels have no gradient; set propagate_down: false for them")
        self.read_levels(bottom)
        where, weights = (self.widened(b.data) for b in bottom[3:])
        if propagate_down[0]:
            sums, bands = self.sums_of(bottom[0].diff), BANDS[self.device.kind]
            sums.fill(0)
            if self.depth:
                self.kernels.deformable_attention_spread(
                    self.batch * self.heads * self.levels * bands, self.rows, where, weights, top[0].diff, sums, bands,
                    self.geometry,
                )  # fmt: skip
            if sums is not bottom[0].diff:
                self.narrow(sums, bottom[0].diff)
        if any(propagate_down[3:]):
            self.moves(top, propagate_down, bottom, where, weights)

    def moves(
        self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob], where: AnyArray, weights: AnyArray
    ) -> None:
        """The gradients of the places and of the weights."""
        diffs = [
            None if not asked else b.diff if self.real == self.dtype else self.room(name)
            for name, b, asked in zip(("of places", "of weights"), bottom[3:], propagate_down[3:])
        ]
        if not self.depth or not self.pixels:
            for diff in diffs:
                if diff is not None:
                    diff.fill(0)
        else:
            self.kernels.deformable_attention_moves(
                self.batch * self.queries, bottom[0].data, self.table, where, weights, self.room("zeros"), top[0].diff, *diffs,
                self.geometry,
            )  # fmt: skip
        for diff, blob in zip(diffs, bottom[3:]):
            if diff is not None and diff is not blob.diff:
                self.narrow(diff, blob.diff)

    def allow_force_backward(self, index: int) -> bool:
        return index not in (1, 2)
