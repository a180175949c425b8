"""LiftedStructSimilaritySoftmaxLoss: each pair of a class nearer than all that either is apart from."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class LiftedStructLoss(
    Layer,
    type="LiftedStructSimilaritySoftmaxLoss",
    param="lifted_struct_sim_softmax_loss_param",
    bottoms=2,
    tops=(0, 1),
    loss=True,
):
    """top = sum over pairs (i, j) of one label of max(0, J_ij)^2 / (2 P), P being the number of these pairs, and
    J_ij = D_ij + log(sum over k of another label than i of e^(margin - D_ik) + the same sum for j).

    D is the Euclidean distance of two rows. A batch without pairs has the loss 0. A pair without any row of another
    label counts as 0 (its logarithm is minus infinity). Two rows in one place have no direction: their distance has the
    gradient 0, where the program that the layer is from divides by 0.

    Parameters
    ----------
    bottom 0
        (N, ...), one row for each example.
    bottom 1
        (N), labels.
    lifted_struct_sim_softmax_loss_param
        `margin` (1).

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        An empty batch, labels that are not one for each row, a gradient of the labels is asked for.

    Source
    ------
    Song et al. 2016 and its Caffe (rksltnl/Caffe-Deep-Metric-Learning-CVPR16).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "LiftedStructSimilaritySoftmaxLoss" lifted_struct_sim_softmax_loss_param { margin: 2 }'
    >>> run_layer(text, [[0], [1], [9]], [5, 5, 6]).round(4).item()  # J = 1 + log(e^(2 - 9) + e^(2 - 8)) < 0
    0.0
    >>> round(float(run_layer(text, [[0], [1], [2]], [5, 5, 6])), 3)  # (1 + log(e^0 + e^1))^2 / 2
    2.676
    """

    kernels, sum_kernels = Kernels("lifted_struct_loss.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = labelled_rows(self, bottom)
        self.margin = self.param.lifted_struct_sim_softmax_loss_param.margin
        self.items = self.batch * self.batch
        top[0].reshape()
        self.sum = Sum(self, self.items)
        self.distances, self.costs, self.moves = (self.device.empty((self.items,), self.dtype) for _ in range(3))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        label = bottom[1].data
        self.kernels.lifted_distances(self.items, bottom[0].data, self.distances, self.batch, self.length)
        self.kernels.lifted_costs(self.items, self.distances, label, self.costs, self.batch, self.margin)
        self.kernels.lifted_losses(self.sum.blocks, self.costs, label, self.sum.partial, self.items, self.batch)
        self.kernels.lifted_join(1, self.sum.partial, top[0].data, self.sum.result, self.sum.blocks)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        self.kernels.lifted_moves(
            self.items, self.distances, self.costs, bottom[1].data, self.sum.result, top[0].diff, self.moves, self.batch,
            self.margin,
        )  # fmt: skip
        self.kernels.lifted_diffs(
            bottom[0].count, bottom[0].data, self.distances, self.moves, bottom[0].diff, self.batch, self.length
        )

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
