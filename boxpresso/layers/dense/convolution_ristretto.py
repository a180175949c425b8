"""ConvolutionRistretto: a convolution with weights and inputs of few bits."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from ..core.gpu_lowering import GpuLowering
from ..core.lowering import Lowering
from .convolution_base import ConvolutionLayer


class ConvolutionRistretto(
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

    rounding = Kernels("ristretto.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.q = self.param.quantization_param
        self.need(p.precision != p.MINIFLOAT, "precision: MINIFLOAT is not supported; use DYNAMIC_FIXED_POINT")
        self.powers = p.precision == p.INTEGER_POWER_OF_2_WEIGHTS
        self.fixed = not self.powers and not p.int8_term
        self.own_bias = p.HasField("bw_bias_params") or p.HasField("fl_bias_params")
        count = max(1, len(p.weight_scale))
        self.need(
            self.outputs % count == 0, f"weight_scale has {count} numbers, which do not divide {self.outputs} outputs"
        )
        self.need(min([p.data_scale, *p.weight_scale], default=1) > 0, "data_scale and weight_scale must be above 0")
        self.rounded = [self.device.empty(blob.shape, self.dtype) for blob in self.blobs]
        self.inputs: list[AnyArray] = []

    @staticmethod
    def first(values: Sequence[int], default: int) -> int:
        """The first of a list that the prototxt gives."""
        return int(values[0]) if values else default

    def round(self, source: AnyArray, target: AnyArray, scale: float, low: float, high: float, key: int = 0) -> None:
        """round(x * scale) / scale between two whole numbers; a key above 0 draws up or down."""
        self.rounding.round_fixed(source.size, source, target, scale, low, high, key)

    def fix(self, source: AnyArray, target: AnyArray, bits: int, fraction: int, key: int = 0) -> None:
        """As a number of that many bits has it."""
        self.round(source, target, 2.0**fraction, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1, key)

    def weights(self) -> tuple[AnyArray, AnyArray | None]:
        """Weights and bias as they are computed with."""
        p, parts = self.q, [blob.data for blob in self.blobs]
        key = 0
        if self.phase == "TRAIN" or p.rounding_scheme == p.STOCHASTIC:
            key = int(self.draws().integers(1, 2**31))
        if p.int8_term:
            scales = list(p.weight_scale) or [1.0]
            each = parts[0].size // len(scales)
            for i, scale in enumerate(scales):
                self.round(
                    self.device.part(parts[0], i * each, (each,)), self.device.part(self.rounded[0], i * each, (each,)),
                    scale, -128, 127,
                )  # fmt: skip
            return self.rounded[0], parts[1] if self.bias_term else None
        if self.powers:
            self.rounding.round_powers(parts[0].size, parts[0], self.rounded[0], p.exp_min, p.exp_max, key)
            return self.rounded[0], parts[1] if self.bias_term else None
        fraction = self.first(p.fl_params, 16)
        self.fix(parts[0], self.rounded[0], p.bw_params, fraction, key)
        if not self.bias_term:
            return self.rounded[0], None
        if self.own_bias:
            self.fix(parts[1], self.rounded[1], p.bw_bias_params, p.fl_bias_params)
        else:
            self.fix(parts[1], self.rounded[1], p.bw_params, fraction, key)
        return self.rounded[0], self.rounded[1]

    def input_of(self, index: int, blob: Blob) -> AnyArray:
        """A bottom as it is computed with."""
        p = self.q
        if self.powers or (self.phase == "TRAIN" and not p.int8_term):
            return blob.data
        while len(self.inputs) <= index:
            self.inputs.append(self.device.empty((0,), self.dtype))
        if self.inputs[index].shape != blob.shape:
            self.inputs[index] = self.device.empty(blob.shape, self.dtype)
        if p.int8_term:
            self.round(blob.data, self.inputs[index], p.data_scale, -128, 127)
        else:
            self.fix(blob.data, self.inputs[index], p.bw_layer_in, self.first(p.fl_layer_in, 16))
        return self.inputs[index]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        weights, bias = self.weights()
        p = self.q
        for i, (x, y) in enumerate(zip(bottom, top)):
            self.convolution.correlate(self.input_of(i, x), weights, bias, y.data, False)
            if self.phase == "TEST" and self.fixed and not self.own_bias:
                self.fix(y.data, y.data, p.bw_layer_out, self.first(p.fl_layer_out, 16))

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
