"""LabelSpecificRescale: the score of the true class is weighed, and those of the others."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ...device.functions import power
from ..core import Layer, Trait
from .normalized_sum import labelled_rows


class LabelSpecificRescale(
    Layer,
    type="LabelSpecificRescale",
    param="label_specific_rescale_param",
    bottoms=2,
    tops=(1, 2),
    in_place=True,
    traits=Trait.WRITES_ALL,
):
    """top = w x for the score x of the true class, and `negative_weight` x for the scores of the others.

    So the true class of distances or cosines is made harder than it will be at TEST, where the top is the bottom, unless
    `rescale_test` is true. With `bias_fix` it is w x + 1 - w, which leaves a cosine of 1 as it is; with `power_on_positive`
    sign(x) |x|^w; with `for_ip` it is changed only where it is above 0.

    w is `positive_weight`. In TRAIN, with `positive_weight_base`, it changes with each forward i, from `iteration` on, which
    it counts from 1: positive_weight_base (1 + gamma i)^-power, at least positive_weight_min and at most positive_weight_max,
    where these are given.

    Parameters
    ----------
    bottom 0
        (N, ...), one row of scores for each example.
    bottom 1
        (N), labels from 0.
    label_specific_rescale_param
        `positive_weight` (1), `negative_weight` (1), `rescale_test` (false), `bias_fix` (false), `power_on_positive` (false),
        `for_ip` (false), `positive_weight_base`, `gamma` (0), `power` (1), `positive_weight_min`, `positive_weight_max`,
        `iteration` (0).

    Returns
    -------
    top 0
        In the shape of bottom 0.
    top 1
        Optional: (1), w.

    Raises
    ------
    LayerError
        An empty batch, labels that are not one for each row, positive_lower_bound and negative_upper_bound, which do nothing
        in its program, a gradient of the labels is asked for. A label that is no score's number makes all of a row others.

    Source
    ------
    happynear/caffe-windows. There a layer that works in place looks for `for_ip` at what it has written, and refuses
    power_on_positive.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "LabelSpecificRescale" label_specific_rescale_param { positive_weight: 0.5 bias_fix: true }'
    >>> run_layer(text, [[0.5, 1], [1, 0.5]], [0, 0], phase="TRAIN").tolist()
    [[0.75, 1.0], [1.0, 0.5]]
    """

    kernels = Kernels("label_specific_rescale.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.label_specific_rescale_param
        for name in ("positive_lower_bound", "negative_upper_bound"):
            self.need(
                not p.HasField(name), f"label_specific_rescale_param: {name} does nothing in its program; remove it"
            )
        how = {"raise": p.power_on_positive, "fix": p.bias_fix, "above": p.for_ip}
        self.how = self.kernels.struct("Rescaling", **{name: int(value) for name, value in how.items()})
        self.changes = self.phase != "TEST" or p.rescale_test

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.length = labelled_rows(self, bottom)
        top[0].reshape(*bottom[0].shape)
        for blob in top[1:]:
            blob.reshape(1)
        self.slopes = self.device.empty((self.batch,), self.dtype)

    def weight(self) -> float:
        """The weight of the true class in this forward."""
        p = self.param.label_specific_rescale_param
        if self.phase == "TEST" or not p.HasField("positive_weight_base"):
            return float(p.positive_weight)
        self.pass_number += 1
        weight = p.positive_weight_base * power(1 + p.gamma * (p.iteration + self.pass_number), -p.power)
        if p.HasField("positive_weight_min"):
            weight = max(weight, p.positive_weight_min)
        return float(min(weight, p.positive_weight_max) if p.HasField("positive_weight_max") else weight)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        weight = self.weight()
        if self.changes:
            self.kernels.rescale_scores(
                bottom[0].count, bottom[0].data, bottom[1].data, top[0].data, self.slopes, self.length, weight,
                self.param.label_specific_rescale_param.negative_weight, self.how,
            )  # fmt: skip
        elif top[0] is not bottom[0]:
            top[0].data[...] = bottom[0].data
        for blob in top[1:]:
            blob.data.fill(weight)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0] and self.changes:
            self.kernels.rescale_diffs(
                bottom[0].count, top[0].diff, bottom[1].data, self.slopes, bottom[0].diff, self.length,
                self.param.label_specific_rescale_param.negative_weight,
            )  # fmt: skip
        elif propagate_down[0] and top[0] is not bottom[0]:
            bottom[0].diff[...] = top[0].diff

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
