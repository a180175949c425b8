"""LabelSpecificAdd: a margin on the score of the true class (AM-Softmax)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ...device.functions import power
from ..core import Layer, Trait
from .normalized_sum import labelled_rows


class LabelSpecificAdd(
    Layer,
    type="LabelSpecificAdd",
    param="label_specific_add_param",
    bottoms=2,
    tops=(1, 2),
    in_place=True,
    traits=Trait.WRITES_ALL,
):
    """top = bottom, with `bias` added to the score of the true class where that score is above -bias.

    So a bias below 0 is a margin by which the true class has to be ahead. At TEST nothing is added, unless
    `transform_test` is true. The gradient is the top's.

    With `bias_base` the bias changes with each forward i, from `iteration` on: bias_base + (1 + bias_gamma i)^bias_power
    - 1, between bias_min and bias_max.

    Parameters
    ----------
    bottom 0
        (N, ...), one row of scores for each example.
    bottom 1
        (N), labels from 0.
    label_specific_add_param
        `bias` (0), `transform_test` (false), `bias_base`, `bias_gamma` (0), `bias_power` (1), `bias_min` (0), `bias_max`
        (0), `iteration` (0).

    Returns
    -------
    top 0
        In the shape of bottom 0.
    top 1
        Optional: (1), the bias that was added; 0 at TEST.

    Raises
    ------
    LayerError
        An empty batch, labels that are not one for each row, a gradient of the labels is asked for. A label that is no
        score's number adds nothing.

    Source
    ------
    happynear/AMSoftmax; Wang et al. 2018. There `transform_test` has no effect in phase TEST, by a slip; here it has.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "LabelSpecificAdd" label_specific_add_param { bias: -0.5 }'
    >>> run_layer(text, [[0.75, 0.25], [0.25, 0.75]], [0, 0], phase="TRAIN").tolist()
    [[0.25, 0.25], [0.25, 0.75]]
    """

    kernels = Kernels("label_specific_add.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = labelled_rows(self, bottom)
        top[0].reshape(*bottom[0].shape)
        for blob in top[1:]:
            blob.reshape(1)

    def bias(self) -> float:
        p, number = self.param.label_specific_add_param, self.pass_number
        if self.phase == "TEST" and not p.transform_test:
            return 0.0
        self.pass_number += 1
        if not p.HasField("bias_base"):
            return float(p.bias)
        grown = p.bias_base + power(1 + p.bias_gamma * (p.iteration + number), p.bias_power) - 1
        return float(min(max(grown, p.bias_min), p.bias_max))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        bias = self.bias()
        self.kernels.add_to_truth(bottom[0].count, bottom[0].data, bottom[1].data, top[0].data, self.length, bias)
        for blob in top[1:]:
            blob.data.fill(bias)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0] and top[0] is not bottom[0]:
            bottom[0].diff[...] = top[0].diff

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
