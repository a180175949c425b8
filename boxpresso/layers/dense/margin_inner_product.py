"""MarginInnerProduct and its like: scores of classes, of which the true one is held to a smaller angle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, ClassVar

from ...device import Blob, Kernels, blas
from ...device.functions import power
from ..core import Layer, Trait, softmax


class MarginScores(Layer, traits=Trait.WRITES_ALL):
    """What these layers share."""

    kernels, products = Kernels("margin_inner_product.cu"), blas.HOST
    sphere: ClassVar[bool]  # whether weights have length 1 and gradients are SphereFace's

    def fields(self) -> Any:
        """The message that the layer reads."""
        raise NotImplementedError(f"{self} has no fields")

    def degree(self) -> int:
        """How many times as large the angle of the true class counts."""
        self.need(self.how.axis == 1, f"takes axis 1 alone, got {self.how.axis}")
        return int(self.how.type) + 1

    def plain_share(self) -> float:
        """lambda: how much the plain score counts beside the other, of forward number `pass_number`."""
        p = self.how
        return float(max(p.base * power(1 + p.gamma * (p.iteration + self.pass_number), -p.power), p.lambda_min))

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.how = p = self.fields()
        self.margin, self.outputs = self.degree(), p.num_output
        self.gemm = partial(blas.gemm, self.device)
        self.updates_parameters = self.sphere
        self.need(self.outputs > 0, "num_output must be at least 1; the prototxt gives none")
        self.need(len(bottom[0].shape) > 1, f"bottom 0 must be (N, ...), got {bottom[0].shape}")
        depth = prod(bottom[0].shape[1:])
        self.need(depth > 0, f"the rows of bottom 0 hold no elements, its shape is {bottom[0].shape}")
        self.parameter(0, (self.outputs, depth), p.weight_filler)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.rows, self.depth = bottom[0].shape[0], prod(bottom[0].shape[1:])
        self.parameter(0, (self.outputs, self.depth))
        self.need(
            bottom[1].count == self.rows,
            f"needs a label for each of the {self.rows} rows of bottom 0, bottom 1 has the shape {bottom[1].shape}",
        )
        top[0].reshape(self.rows, self.outputs)
        for blob in top[1:]:
            blob.reshape(1)
        self.factors = self.device.empty((max(1, 3 * self.rows),), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_number += 1
        x, label, weights, share = bottom[0].data, bottom[1].data, self.blobs[0].data, self.plain_share()
        if self.sphere:
            self.kernels.margin_unit_rows(self.outputs, weights, self.depth)
        self.gemm(False, True, self.rows, self.outputs, self.depth, 1, x, weights, 0, top[0].data)
        if self.margin > 1:
            self.kernels.margin_forward(
                self.rows, x, label, weights, top[0].data, self.factors, self.outputs, self.depth, self.margin,
                int(self.sphere), share,
            )  # fmt: skip
        for blob in top[1:]:
            blob.data.fill(share)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        diff, x, label, weights = top[0].diff, bottom[0].data, bottom[1].data, self.blobs[0]
        sizes = self.outputs, self.depth
        if self.param_propagate_down[0]:
            self.gemm(True, False, *sizes, self.rows, 1, diff, x, 1, weights.diff)
            if self.margin > 1 and not self.sphere:
                self.kernels.margin_weight_diffs(
                    self.outputs, diff, x, label, weights.data, self.factors, weights.diff, self.rows, self.depth
                )
        if propagate_down[0]:
            self.gemm(False, False, self.rows, self.depth, self.outputs, 1, diff, weights.data, 0, bottom[0].diff)
            if self.margin > 1:
                self.kernels.margin_diffs(self.rows, diff, x, label, weights.data, self.factors, bottom[0].diff, *sizes)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class MarginInnerProduct(
    MarginScores, type="MarginInnerProduct", param="margin_inner_product_param", bottoms=2, tops=(1, 2)
):
    """top_ij = |x_i| |w_j| cos(theta_ij), and for the true class (|x| |w| psi + lambda |x| |w| cos(theta)) / (1 + lambda).

    psi(theta) = (-1)^k cos(m theta) - 2 k, k being floor(m theta / pi): it falls from 1 to 1 - 2 m, where the cosine only
    falls to -1. m is 1 for SINGLE (plain scores), 2 for DOUBLE, 3 for TRIPLE, 4 for QUADRUPLE. lambda = max(lambda_min,
    base (1 + gamma i)^-power), i being `iteration` plus the number of the forward, from 1.

    This is A-Softmax (SphereFace): each forward scales the rows of W to length 1, in the parameter itself. Its gradients
    are that program's: of x for the true class psi' w + (psi - cos psi') / |x| x, divided by the hypotenuse of the two
    factors; of W that of plain scores. `LargeMarginInnerProduct` is L-Softmax, with plain weights and true derivatives.

    Learned parameter: W (num_output, K).

    Parameters
    ----------
    bottom 0
        (N, ...), rows of K features.
    bottom 1
        (N), labels.
    margin_inner_product_param
        `num_output`: required. `type` (SINGLE): SINGLE, DOUBLE, TRIPLE or QUADRUPLE. `base` (1), `gamma` (0), `power` (1),
        `lambda_min` (0), `iteration` (0): of lambda. `weight_filler` (constant 0). `axis` (1): only 1.

    Returns
    -------
    top 0
        (N, num_output).
    top 1
        Optional: (1), lambda.

    Raises
    ------
    LayerError
        No num_output, another axis, bottoms without elements, labels that are not one for each row, a gradient of the
        labels is asked for. A label that is no class counts as a row without a true class.

    Source
    ------
    wy1iu/sphereface; Liu et al. 2017.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MarginInnerProduct" margin_inner_product_param { num_output: 2 type: DOUBLE base: 0 }'
    >>> run_layer(text, [[3, 4]], [0], params=[[[1, 0], [0, 7]]]).round(1)  # cos = 3/5: 5 (2 (3/5)^2 - 1)
    array([[-1.4,  4. ]], dtype=float32)
    """

    sphere = True

    def fields(self) -> Any:
        return self.param.margin_inner_product_param


class LargeMarginInnerProduct(
    MarginScores, type="LargeMarginInnerProduct", param="largemargin_inner_product_param", bottoms=2, tops=(1, 2)
):
    """The scores of `MarginInnerProduct`, with weights of any length and with the derivatives as gradients (L-Softmax).

    Parameters
    ----------
    bottom 0, bottom 1
        As there.
    largemargin_inner_product_param
        The fields of margin_inner_product_param.

    Returns
    -------
    top 0, top 1
        As there.

    Raises
    ------
    LayerError
        As there.

    Source
    ------
    wy1iu/LargeMargin_Softmax_Loss; Liu et al. 2016.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "LargeMarginInnerProduct" largemargin_inner_product_param { num_output: 1 type: DOUBLE base: 0 }'
    >>> run_layer(text, [[3, 4]], [0], params=[[[2, 0]]]).round(1)  # cos = 3/5: 5 * 2 (2 (3/5)^2 - 1)
    array([[-2.8]], dtype=float32)
    """

    sphere = False

    def fields(self) -> Any:
        return self.param.largemargin_inner_product_param


class MarginSoftmaxLoss(
    MarginScores,
    type="MarginSoftmaxLoss",
    param="margin_softmax_loss_param",
    bottoms=2,
    tops=(0, 1),
    loss=True,
    traits=Trait.NONE,
):
    """top = the mean of -log(softmax(scores)[label]) of the scores of LargeMarginInnerProduct, QUADRUPLE.

    lambda is `value`. With the policy STEPUP it is multiplied by gamma, with ADDUP gamma is added to it, after each `step`
    forwards, and it is held between min and max from then on; `iter` forwards count as done before.

    Learned parameter: W (num_output, K).

    Parameters
    ----------
    bottom 0
        (N, ...), rows of K features.
    bottom 1
        (N), labels.
    margin_softmax_loss_param
        `num_output`: required. `weight_filler` (constant 0). `lambda`: a message of `policy` (CONSTANT), `value` (0), `gamma`
        (1), `step` (1000), `min` (0), `max` (1), `iter` (0).

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        No num_output, an empty batch, bottoms without elements, labels that are not one for each row, a step of 0, a
        gradient of the labels is asked for. A label that is no class counts as a row without a loss.

    Source
    ------
    WeitaoVan/L-GM-loss; Liu et al. 2016.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "MarginSoftmaxLoss" margin_softmax_loss_param { num_output: 2 }'
    >>> round(run_layer(text, [[1, 0]], [0], params=[[[1, 0], [0, 1]]]).item(), 4)  # scores 1 and 0
    0.3133
    """

    sphere, softmax_kernels = False, softmax.kernels

    def fields(self) -> Any:
        return self.param.margin_softmax_loss_param

    def degree(self) -> int:
        return 4

    def plain_share(self) -> float:
        p = getattr(self.how, "lambda")
        steps = (p.iter + self.pass_number - 1) // p.step
        if p.policy == p.CONSTANT or not steps:
            return float(p.value)
        value = p.value * power(p.gamma, steps) if p.policy == p.STEPUP else p.value + p.gamma * steps
        return float(min(max(value, p.min), p.max))

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.need(getattr(self.how, "lambda").step > 0, "lambda: step must be 1 or more")
        self.scores, self.probability = (Blob((), self.dtype, self.device) for _ in range(2))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, [self.scores])
        self.need(self.rows > 0, f"a loss over an empty batch (shape {bottom[0].shape}) has no value")
        self.probability.reshape(*self.scores.shape)
        top[0].reshape()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().forward(bottom, [self.scores])
        softmax.forward(self.device, self.scores.data, self.probability.data, self.rows, self.outputs, 1)
        self.kernels.margin_losses(1, self.probability.data, bottom[1].data, top[0].data, self.rows, self.outputs)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        data = self.probability.data, bottom[1].data, top[0].diff, self.scores.diff
        self.kernels.margin_loss_diffs(self.rows, *data, self.outputs)
        super().backward([self.scores], propagate_down, bottom)
