"""Shakeout: a fully connected layer whose inputs are dropped, or weigh by the sign of their weights."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Trait
from .inner_product_base import InnerProductLayer


class Shakeout(
    InnerProductLayer,
    type="Shakeout",
    param=("inner_product_param", "shakeout_param"),
    bottoms=1,
    tops=1,
    traits=Trait.WRITES_ALL,
):
    """While training, an InnerProduct whose weights are strengthened or reversed, input by input; at TEST an InnerProduct.

    TRAIN: for each input x_k of each row q is 0 with probability t = dropout_ratio, otherwise 1 / (1 - t), and
    top = sum_k x_k (q w_k + c (q - 1) sign(w_k)) + bias, c being shakeout_scale. With c = 0 that is Dropout before an
    InnerProduct. The gradient of the inputs is exact; in that of the weights tanh(s w) stands for sign(w), s being
    tanh_smooth_scale.

    What is drawn depends only on the layer's seed, the number of the forward pass and the index of the input. Learned
    parameters: those of InnerProduct.

    Parameters
    ----------
    bottom 0
        As of InnerProduct.
    inner_product_param
        As of InnerProduct, without `normalize`.
    shakeout_param
        `dropout_ratio` (0.5): t, from 0 to below 1. `shakeout_scale` (0.1): c. `tanh_smooth_scale` (1): s.
        `operate_layer_type` (required): "InnerProduct"; its program takes other layers, too.

    Returns
    -------
    top 0
        As of InnerProduct.

    Raises
    ------
    LayerError
        As of InnerProduct; a dropout_ratio outside this range; another operate_layer_type, or `normalize`.

    Source
    ------
    kgl-prml/shakeout-for-caffe; Kang et al. 2016, Shakeout: a new regularized deep neural network training scheme.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "Shakeout" inner_product_param { num_output: 1 bias_term: false }
    ...     shakeout_param { operate_layer_type: "InnerProduct" shakeout_scale: 0.25 }'''
    >>> run_layer(text, [[3]], params=[[[0.5]]]).tolist()
    [[1.5]]
    >>> train = run_layer(text, [[3]] * 100, params=[[[0.5]]], phase="TRAIN")
    >>> sorted(set(train.ravel().tolist()))  # 3 (0 - 0.25), 3 (2 * 0.5 + 0.25)
    [-0.75, 3.75]
    """

    shaking = Kernels("shakeout.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.param.shakeout_param
        self.need(0 <= p.dropout_ratio < 1, f"dropout_ratio must be from 0 to below 1, got {p.dropout_ratio:g}")
        self.need(
            p.operate_layer_type == "InnerProduct",
            f'operate_layer_type must be "InnerProduct", the layer that is shaken here, got {p.operate_layer_type!r}',
        )
        self.need(not self.param.inner_product_param.normalize, "inner_product_param: normalize is not supported")
        self.shakes = self.phase == "TRAIN"
        threshold = min(round(p.dropout_ratio * 2**32), 2**32 - 1)
        self.how = threshold, 1 / (1 - p.dropout_ratio), p.shakeout_scale
        self.key = int(self.rng.integers(2**32))

    def reseed(self, seed: int | Sequence[int]) -> None:
        super().reseed(seed)
        self.key = int(self.rng.integers(2**32))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().reshape(bottom, top)
        if self.shakes:
            inputs, weights = (self.rows, self.depth), self.blobs[0].shape
            for name in ("kept", "moved"):
                self.scratch(name, inputs)
            self.scratch("signs", weights)
            for name in ("of weights", "of signs"):
                self.scratch(name, inputs, backward=True)
            self.scratch("product", weights, backward=True)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_number = (self.pass_number + 1) % 2**32 if self.shakes else 0
        x, weights, y = bottom[0].data, self.blobs[0].data, top[0].data
        bias = self.blobs[1].data if self.bias_term else None
        if not self.shakes:
            self.multiply(x, weights, bias, y)
            return
        kept, moved, signs = self.room("kept"), self.room("moved"), self.room("signs")
        self.shaking.shake(bottom[0].count, x, kept, moved, self.key, self.pass_number, *self.how)
        self.shaking.shake_signs(self.blobs[0].count, weights, signs)
        self.multiply(kept, weights, bias, y)
        self.gemm(False, not self.transpose, self.rows, self.outputs, self.depth, 1, moved, signs, 1, y)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        weights, diff = self.blobs[0].data, top[0].diff
        if not self.shakes:
            self.gradients(bottom[0].data, weights, top[0], bottom[0].diff if propagate_down[0] else None)
            return
        kept, moved, signs = self.room("kept"), self.room("moved"), self.room("signs")
        drawn = self.key, self.pass_number, *self.how
        self.shaking.shake(bottom[0].count, bottom[0].data, kept, moved, *drawn)
        self.shaking.shake_signs(self.blobs[0].count, weights, signs)
        of_weights = self.room("of weights") if propagate_down[0] else None
        self.gradients(kept, weights, top[0], of_weights)
        if self.param_propagate_down[0]:
            product = self.room("product")
            rows, columns, a, b = (
                (self.depth, self.outputs, moved, diff) if self.transpose else (self.outputs, self.depth, diff, moved)
            )
            self.gemm(True, False, rows, columns, self.rows, 1, a, b, 0, product)
            smooth = self.param.shakeout_param.tanh_smooth_scale
            self.shaking.shake_weights(self.blobs[0].count, weights, product, self.blobs[0].diff, smooth)
        if of_weights is not None:
            of_signs = self.room("of signs")
            self.gemm(False, self.transpose, self.rows, self.depth, self.outputs, 1, diff, signs, 0, of_signs)
            self.shaking.shake_back(bottom[0].count, of_weights, of_signs, bottom[0].diff, *drawn)
