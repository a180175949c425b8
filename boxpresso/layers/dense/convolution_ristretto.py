"""ConvolutionRistretto: a convolution with weights and inputs of few bits."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Trait
from ..core.gpu_lowering import GpuLowering
from ..core.lowering import Lowering
from .convolution_base import ConvolutionLayer
from .few_bits import FewBits


class ConvolutionRistretto(
    FewBits,
    ConvolutionLayer,
    type="ConvolutionRistretto",
    param=("convolution_param", "quantization_param"),
    bottoms=(1, None),
    tops=(1, None),
    traits=Trait.WRITES_ALL,
):
    """A convolution whose weights, and at TEST whose inputs, are rounded to what a fixed-point machine holds.

    A number of `b` bits of which `f` are a fraction is round(x 2^f) 2^-f, at least -2^(b - 1) 2^-f and at most
    (2^(b - 1) - 1) 2^-f. With `int8_term` numbers are round(x s) / s, from -128 / s to 127 / s. While training
    weights are rounded at random, up or down, so that their mean is right. The gradient is that of a convolution with the
    rounded weights; it goes to the weights as if they had not been rounded.

    Learned parameters: those of Convolution, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of Convolution.
    convolution_param
        As of Convolution.
    quantization_param
        `precision` (DYNAMIC_FIXED_POINT), or INTEGER_POWER_OF_2_WEIGHTS: weights are plus or minus a power of 2 from
        `exp_min` (-8) to `exp_max` (-1). `bw_params` (32) and `fl_params` (16): bits and bits of the fraction of weights and
        bias; `bw_layer_in`, `fl_layer_in` of inputs, `bw_layer_out` and `fl_layer_out` of outputs. `rounding_scheme`
        (NEAREST), or STOCHASTIC also at TEST. Of SummerLife's program: `bw_bias_params` (16) and `fl_bias_params` (16) of the
        bias, with which outputs are not rounded; `int8_term` with `data_scale` (1) and `weight_scale`, one number, or one for
        each group of outputs, where the bias is not rounded either.

    Returns
    -------
    top 0, ...
        As of Convolution.

    Raises
    ------
    LayerError
        As of Convolution, for `precision: MINIFLOAT`, and for weight_scale that does not divide the outputs.

    Source
    ------
    Gysel 2016 (Ristretto), and SummerLife/caffe_mobilessd.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "ConvolutionRistretto" convolution_param { num_output: 1 kernel_size: 1 bias_term: false }
    ...     quantization_param { bw_params: 4 fl_params: 1 bw_layer_in: 8 fl_layer_in: 0 bw_layer_out: 8 fl_layer_out: 1 }'''
    >>> run_layer(text, [[[[2.4, -3.6]]]], params=[[0.8]]).ravel().tolist()
    [2.0, -4.0]
    """

    can_pair = False  # it rounds by itself

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.set_rounding()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        weights, bias = self.weights()
        for i, (x, y) in enumerate(zip(bottom, top)):
            self.convolution.correlate(self.input_of(i, x), weights, bias, y.data, False)
            self.finish(y)

    def lower_gpu(self, bottom: list[Blob], top: list[Blob]) -> GpuLowering | None:
        return None

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for down, x, y in zip(propagate_down, bottom, top):
            self.bias_backward(y)
            if self.param_propagate_down[0]:
                self.convolution.gradient(x.data, y.diff, self.blobs[0].diff)
            if down:
                self.convolution.spread(y.diff, self.rounded[0], None, x.diff)
