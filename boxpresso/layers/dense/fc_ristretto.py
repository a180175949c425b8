"""FcRistretto: a fully connected layer with weights and inputs of few bits."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Trait
from .few_bits import FewBits
from .inner_product_base import InnerProductLayer


class FcRistretto(
    FewBits,
    InnerProductLayer,
    type="FcRistretto",
    param=("inner_product_param", "quantization_param"),
    bottoms=1,
    tops=1,
    traits=Trait.WRITES_ALL,
):
    """An InnerProduct whose weights, and at TEST whose inputs and outputs, are rounded to what a fixed-point machine holds.

    They are rounded as ConvolutionRistretto's are. The gradient is that of an InnerProduct with the rounded weights; it goes
    to the weights as if they had not been rounded.

    Learned parameters: those of InnerProduct, not rounded.

    Parameters
    ----------
    bottom 0
        As of InnerProduct.
    inner_product_param
        As of InnerProduct.
    quantization_param
        As of ConvolutionRistretto.

    Returns
    -------
    top 0
        As of InnerProduct.

    Raises
    ------
    LayerError
        As of InnerProduct, for `precision: MINIFLOAT`, and for several weight_scale that do not divide the outputs or belong
        to a transposed matrix.

    Source
    ------
    Gysel 2016 (Ristretto).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "FcRistretto" inner_product_param { num_output: 1 bias_term: false }
    ...     quantization_param { bw_params: 4 fl_params: 1 bw_layer_in: 8 fl_layer_in: 0 bw_layer_out: 8 fl_layer_out: 1 }'''
    >>> run_layer(text, [[2.4, -3.6]], params=[[0.8, 0.3]]).ravel().tolist()  # 2 * 1 - 4 * 0.5
    [0.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.set_rounding()
        several = len(self.q.weight_scale) > 1
        self.need(not (several and self.transpose), "weight_scale gives one number for all of a transposed matrix")

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        weights, bias = self.weights()
        self.multiply(self.input_of(0, bottom[0]), weights, bias, top[0].data)
        self.finish(top[0])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.gradients(bottom[0].data, self.rounded[0], top[0], bottom[0].diff if propagate_down[0] else None)
