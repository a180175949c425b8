"""CosinAddm: ArcFace's margin, an angle that is added to that of the true class."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import labelled_rows


class CosinAddm(Layer, type="CosinAddm", param="cosin_add_m_param", bottoms=2, tops=1, traits=Trait.WRITES_ALL):
    """top = bottom, with cos(theta + m) in the place of the true class's cosine c = cos(theta).

    Where theta + m is pi or more, c - m sin(m) stands there, so that the score goes on falling. A cosine above 1 counts as 1.
    The gradient of the true class is cos(m) + sin(m) c / sqrt(1 - c^2) times the top's, and the top's alone where c is 1 or
    theta + m is pi or more. At TEST top is bottom, unless `transform_test` is true.

    Parameters
    ----------
    bottom 0
        (N, ...), one row of cosines for each example.
    bottom 1
        (N), labels from 0.
    cosin_add_m_param
        `m` (0.5): the margin, an angle. `transform_test` (false).

    Returns
    -------
    top 0
        In the shape of bottom 0.

    Raises
    ------
    LayerError
        An empty batch, labels that are not one for each row, a gradient of the labels is asked for. A label that is no
        cosine's number adds nothing.

    Source
    ------
    xialuxi/arcface-caffe (Deng et al. 2019). There `transform_test` has no effect in phase TEST, by a slip; here it has.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 3) for y in run_layer('type: "CosinAddm"', [[0, 0.5]], [0], phase="TRAIN")[0].tolist()]
    [-0.479, 0.5]
    """

    kernels = Kernels("cosine_margin.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.cosin_add_m_param
        margin = p.m if self.phase == "TRAIN" or p.transform_test else 0.0
        self.plain = margin == 0
        self.margin = cos(margin), sin(margin), margin

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = labelled_rows(self, bottom)
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].data[...] = bottom[0].data
        if not self.plain:
            data = bottom[0].data, bottom[1].data, top[0].data
            self.kernels.add_angles(self.batch, *data, self.length, *self.margin)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if not propagate_down[0]:
            return
        bottom[0].diff[...] = top[0].diff
        if not self.plain:
            data = bottom[0].data, bottom[1].data, top[0].diff, bottom[0].diff
            self.kernels.angle_diffs(self.batch, *data, self.length, *self.margin[:2])

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
