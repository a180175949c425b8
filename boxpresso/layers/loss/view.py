"""SoftmaxWithViewLoss, AccuracyView: viewpoints of objects, as fine classes that go round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels, functions
from ..core import Layer
from .normalized_sum import KERNELS, Sum, labelled_rows


class Views(Layer):
    """The base of both: rows of scores, `period` views for each class, and their labels."""

    kernels, sum_kernels = Kernels("view.cu"), KERNELS

    def settle(self, bottom: list[Blob], period: int) -> None:
        """Takes the sizes of the bottoms."""
        self.batch, self.length = labelled_rows(self, bottom)
        self.need(period > 0, f"period must be at least 1, got {period}")
        self.need(
            self.length % period <= 1 and self.length >= period,
            f"needs {period} scores for each class, and at most one for background, got {self.length} a row",
        )
        self.period, self.background = period, self.length // period * period
        self.plain: AnyArray = self.device.empty((self.batch,), self.dtype)

    def without_kind(self, label: AnyArray) -> AnyArray:
        """The labels without 10000, which those of real images have on top."""
        self.kernels.view_labels(self.batch, label, self.plain)
        return self.plain

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return first[:1]


class SoftmaxWithViewLoss(
    Views, type="SoftmaxWithViewLoss", param="softmax_with_view_loss_param", bottoms=2, tops=(0, 1), loss=True
):
    """top = the mean over rows of - w * sum over views k of exp(-|k| / sigma) log(p(label + k)), |k| <= bandwidth.

    p is the softmax over the `period` views of the label's own class, which go round: behind the last comes the first.
    Label c * period + v is view v of class c. The label behind all classes is background, whose loss is 0. w is
    pos_weight, or neg_weight for a label with 10000 on top, which stands for a real image. Each -log is at most that of
    FLT_MIN.

    Parameters
    ----------
    bottom 0
        (N, classes * period), scores; one further score of a row is that of background.
    bottom 1
        (N), whole labels.
    softmax_with_view_loss_param
        `bandwidth` (0): how many views on each side count. `sigma` (1). `period` (360): the views of a class.
        `pos_weight` (1): of rendered images. `neg_weight` (1): of real ones.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Scores that are not `period` for each class, labels that are none of them, a bandwidth that goes round, a sigma
        that is not above 0, a gradient of the labels is asked for.

    Source
    ------
    Su et al. 2015 (Render for CNN). An older state of its Caffe takes the softmax over all classes.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "SoftmaxWithViewLoss" softmax_with_view_loss_param { period: 4 }'
    >>> round(run_layer(text, [[0, 0, 0, 0, 9, 9, 9, 9]], [2]).item(), 4)  # log 4
    1.3863
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.softmax_with_view_loss_param
        self.need(p.sigma > 0, f"sigma must be positive, got {p.sigma}")
        self.need(
            0 <= 2 * p.bandwidth < p.period,
            f"bandwidth must be from 0 to less than half of the {p.period} views, got {p.bandwidth}",
        )
        self.how = p.bandwidth, p.sigma, p.pos_weight, p.neg_weight

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.settle(bottom, self.param.softmax_with_view_loss_param.period)
        top[0].reshape()
        self.sum, self.log_sums = Sum(self, self.batch), self.device.empty((self.batch,), np.float64)
        bandwidth, sigma, rendered, real = self.how
        self.views = self.kernels.struct(
            "Views", length=self.length, period=self.period, background=self.background, bandwidth=bandwidth, sigma=sigma,
            rendered=rendered, real=real,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, label, sizes = bottom[0].data, bottom[1].data, (self.length, self.period)
        plain = self.without_kind(label)
        self.kernels.view_log_sums(self.batch, x, plain, self.log_sums, *sizes)
        self.kernels.view_losses(
            self.sum.blocks, x, label, plain, self.log_sums, self.sum.partial, self.batch, self.views
        )
        self.sum.join(top[0].data, self.batch)
        self.sum.check_labels(plain, self.background + 1)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            x, label, bandwidth, sigma = bottom[0].data, bottom[1].data, *self.how[:2]
            away = np.abs(np.arange(-bandwidth, bandwidth + 1))
            whole = float(functions.exp(-away / sigma).sum())
            self.kernels.view_diffs(
                bottom[0].count, x, label, self.plain, self.log_sums, top[0].diff, bottom[0].diff, self.views, whole,
                1 / self.batch,
            )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class AccuracyView(Views, type="AccuracyView", param="accuracy_view_param", bottoms=2, tops=1):
    """top = the share of rows whose best view, of those of the label's class, is within tol_angle views of the label.

    Rows of background do not count. Of equal scores the first is the best.

    Parameters
    ----------
    bottom 0, bottom 1
        As for SoftmaxWithViewLoss.
    accuracy_view_param
        `tol_angle` (15): the views that it may be off. `period` (360): the views of a class.

    Returns
    -------
    top 0
        A single number; 0 where all rows are background.

    Raises
    ------
    LayerError
        Scores that are not `period` for each class, labels that are none of them, a gradient is asked for.

    Source
    ------
    Su et al. 2015 (Render for CNN). Its program takes view 0 where no score is above 0, and gives NaN where all rows
    are background.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "AccuracyView" accuracy_view_param { period: 4 tol_angle: 1 }'
    >>> run_layer(text, [[0, 0, 0, 5], [0, 0, 5, 0]], [0, 0]).item()
    0.5
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.settle(bottom, self.param.accuracy_view_param.period)
        top[0].reshape()
        self.sum = Sum(self, self.batch)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        plain, sizes = self.without_kind(bottom[1].data), (self.length, self.period, self.background)
        tolerance = self.param.accuracy_view_param.tol_angle
        self.kernels.view_hits(self.sum.blocks, bottom[0].data, plain, self.sum.partial, self.batch, *sizes, tolerance)
        self.sum.join(top[0].data, 0)
        self.sum.check_labels(plain, self.background + 1)

    def allow_force_backward(self, index: int) -> bool:
        return False
