"""InnerDistance: distances of rows of features to learned centres, in the place of their products (NormFace)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class InnerDistance(
    Layer, type="InnerDistance", param="inner_distance_param", bottoms=(1, 3), tops=1, traits=Trait.WRITES_ALL
):
    """top_ij = |x_i - w_j|^2, or with L1 the sum of |x_i - w_j|.

    w is the learned parameter (num_output, K), or with a second bottom that bottom's rows. `update_center_only: true`
    takes the labels as the last bottom: w_j then has a gradient of the rows of class j alone. `normalize: true` scales
    the rows of the parameter to length 1 in each forward, in the parameter itself.

    Parameters
    ----------
    bottom 0
        (N, ...), rows of K features.
    bottom 1
        Optional: (M, ...), the rows to compare with; with update_center_only and two bottoms the labels (N).
    last bottom
        With update_center_only: (N), labels from 0.
    inner_distance_param
        `num_output`: M, where w is a parameter. `distance_type` ("L2"): L2 or L1. `normalize` (false),
        `update_center_only` (false), `weight_filler` (constant 0). `bias_term` has no meaning, as in its program.

    Returns
    -------
    top 0
        (N, M).

    Raises
    ------
    LayerError
        No num_output, another distance_type, axis or `transpose: true`, rows of another length, labels that are not one
        for each row, a gradient of the labels is asked for.

    Source
    ------
    happynear/NormFace; Wang et al. 2017.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "InnerDistance" inner_distance_param { num_output: 2 }'
    >>> run_layer(text, [[1, 2]], params=[[[1, 0], [4, 6]]]).tolist()
    [[4.0, 25.0]]
    """

    kernels, unit_kernels = Kernels("inner_distance.cu"), Kernels("unit_rows.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.inner_distance_param
        self.need(p.distance_type in ("L1", "L2"), f"distance_type is L1 or L2, got {p.distance_type!r}")
        self.need(p.axis == 1 and not p.transpose, "takes axis 1 and no transpose")
        self.need(
            len(bottom) < 3 or p.update_center_only, "takes a third bottom, labels, with update_center_only alone"
        )
        self.need(len(bottom) > 1 or not p.update_center_only, "update_center_only needs labels, as its last bottom")
        self.first_order, self.own = int(p.distance_type == "L1"), len(bottom) == 1 + int(p.update_center_only)
        self.need(not p.normalize or self.own, "normalize is for a parameter, not for a bottom")
        self.updates_parameters = p.normalize
        if self.own:
            self.need(p.num_output > 0, "num_output must be at least 1; the prototxt gives none")
            self.parameter(0, (p.num_output, prod(bottom[0].shape[1:])), p.weight_filler)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.inner_distance_param, bottom[0].shape
        self.need(len(shape) > 1, f"bottom 0 must be (N, ...), got {shape}")
        self.rows, self.depth = shape[0], prod(shape[1:])
        if self.own:
            self.parameter(0, (p.num_output, self.depth))
        others = (self.blobs[0] if self.own else bottom[1]).shape
        self.need(
            len(others) > 1 and prod(others[1:]) == self.depth,
            f"compares rows of one length; bottom 0 has the shape {shape}, the others {others}",
        )
        self.others = others[0]
        if p.update_center_only:
            self.need(
                bottom[-1].count == self.rows,
                f"needs a label for each of the {self.rows} rows of bottom 0, got the shape {bottom[-1].shape}",
            )
        top[0].reshape(self.rows, self.others)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.param.inner_distance_param.normalize:
            self.unit_kernels.unit_rows(self.others, self.blobs[0].data, self.depth)
        w = (self.blobs[0] if self.own else bottom[1]).data
        self.kernels.inner_distances(
            top[0].count, bottom[0].data, w, top[0].data, self.others, self.depth, self.first_order
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        labelled = self.param.inner_distance_param.update_center_only
        self.need(not (labelled and propagate_down[-1]), "labels have no gradient; set propagate_down: false for them")
        diff, x, others = top[0].diff, bottom[0].data, self.blobs[0] if self.own else bottom[1]
        label = bottom[-1].data if labelled else None
        how = self.depth, self.first_order
        if (self.own and self.param_propagate_down[0]) or (not self.own and propagate_down[1]):
            self.kernels.center_diffs(
                others.count, diff, x, others.data, label, others.diff, self.rows, self.others, *how, int(self.own)
            )
        if propagate_down[0]:
            self.kernels.row_diffs(bottom[0].count, diff, x, others.data, bottom[0].diff, self.others, *how)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0 or (index == 1 and not self.own)
