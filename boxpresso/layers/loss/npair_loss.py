"""NPairCLoss: of pairs of rows, each nearer to the other than to all rows else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...device import Blob, Kernels, blas
from ..core import Layer
from .normalized_sum import rows_of

SCALE, DECAY = 0.001, 0.001  # of its program, which has no fields for them


class NPairCLoss(Layer, type="NPairCLoss", bottoms=2, tops=2, loss=True):
    """top 0 = the mean over rows i of log(1 + sum over rows k of other classes of exp(s_ik - s_ip)), s_ij = 0.001 x_i x_j.

    Row p is the other row of i's class: each class has two rows in a batch. The gradient is the derivative plus 1e-6 x / N,
    a decay that its program has. top 1 = the mean share that rows of its own class, itself among them, have of the ten
    rows with the largest s_ij.

    Parameters
    ----------
    bottom 0
        x (N, K), or (N, K, 1, 1), N above 10.
    bottom 1
        (N, ...), labels; `group_id` (0) of the layer says which of several of a row.

    Returns
    -------
    top 0, top 1
        A single number each.

    Raises
    ------
    LayerError
        Ten rows or less; labels that are not of as many rows, a group_id that they lack, a class that has not two rows, a
        gradient of the labels is asked for.

    Source
    ------
    Sohn 2016, in a Caffe with N-pair losses.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> tops = run_layer('type: "NPairCLoss"', [[0.0]] * 12, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], tops=2)
    >>> round(tops[0].item(), 4), round(tops[1].item(), 4)  # log(11)
    (2.3979, 0.2)
    """

    kernels, products, gpu_files = Kernels("npair_loss.cu"), blas.HOST, (blas.TILED,)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.gemm = partial(blas.gemm, self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = rows_of(self, bottom[0])
        most = self.kernels.constants["NEAREST"]
        self.need(self.batch > most, f"needs more than {most} rows, got {self.batch}")
        labels = bottom[1]
        self.need(
            labels.shape[:1] == (self.batch,) and labels.count,
            f"needs labels of the {self.batch} rows of bottom 0, bottom 1 has the shape {labels.shape}",
        )
        self.each = labels.count // self.batch
        group = self.param.group_id
        self.need(0 <= group < self.each, f"group_id {group} is none of the {self.each} labels of a row")
        for blob in top:
            blob.reshape()
        self.near, self.weights = (self.device.empty((self.batch, self.batch), self.dtype) for _ in range(2))
        self.partners = self.device.empty((self.batch,), np.int32)
        self.costs, self.hits = (self.device.empty((self.batch,), np.float64) for _ in range(2))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        n, x, labels = self.batch, bottom[0].data, bottom[1].data
        classes, counts = np.unique(
            np.trunc(np.asarray(labels).reshape(n, -1)[:, self.param.group_id]), return_counts=True
        )
        wrong = np.flatnonzero(counts != 2)
        self.need(not len(wrong), f"each class has two rows in a batch; {classes[wrong[:1]]} has {counts[wrong[:1]]}")
        own = self.device.part(labels, self.param.group_id, (n * self.each - self.param.group_id,))
        self.kernels.find_partners(n, own, self.partners, self.each)
        self.gemm(False, True, n, n, self.length, SCALE, x, x, 0, self.near)
        self.kernels.npair_rows(n, self.near, self.partners, self.weights, self.costs, self.hits, SCALE)
        for values, blob in ((self.costs, top[0]), (self.hits, top[1])):
            self.kernels.mean_of_rows(1, values, blob.data, n)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            n, x, diff = self.batch, bottom[0].data, bottom[0].diff
            self.gemm(False, False, n, self.length, n, 1, self.weights, x, 0, diff)
            self.gemm(True, False, n, self.length, n, 1, self.weights, x, 1, diff)
            self.kernels.npair_diffs(bottom[0].count, x, top[0].diff, diff, SCALE * DECAY / n)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
