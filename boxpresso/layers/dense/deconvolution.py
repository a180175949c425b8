"""Deconvolution (transposed convolution): the adjoint of Convolution, for upsampling."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Trait
from ..core.fixed_point import FixedParameters
from ..core.lowering import Lowering, Numbers
from .convolution_base import WindowLayer
from .lowerings import DeconvolutionLowering


class Deconvolution(
    WindowLayer,
    type="Deconvolution",
    param="convolution_param",
    bottoms=(1, None),
    tops=(1, None),
    traits=Trait.WEIGHTED | Trait.WRITES_ALL,
):
    """Each bottom element adds W, times itself, to a window of the top; then the bias is added.

    This is the gradient of a Convolution as a layer, a transposed convolution. Several bottoms of one shape go through
    the same weights to as many tops.

    Learned parameters: W (channels, num_output / group, *kernel); bias (num_output,) unless bias_term is false.

    Bilinear upsampling by a factor f: `group` and `num_output` are C, `kernel_size` is 2 f - f % 2, `stride` is f,
    `pad` is ceil((f - 1) / 2), and the type of the weight_filler is "bilinear".

    Parameters
    ----------
    bottom 0
        (N, C, *size), the channels at `axis`. Further bottoms have the same shape.
    convolution_param
        As for Convolution: `num_output` and `kernel_size` (required), `pad` (0), `stride` (1), `dilation` (1), `group`
        (1), `bias_term` (true), `axis` (1), `weight_filler` and `bias_filler` (constant 0). The kernel, stride, pad and
        dilation are those of the windows of the top.

    Returns
    -------
    top 0
        (N, num_output, *(stride (size - 1) + dilation (kernel - 1) + 1 - 2 pad)). One top for each bottom.

    Raises
    ------
    LayerError
        What Convolution refuses of its parameters and bottoms; a pad that leaves nothing of the top.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Deconvolution" convolution_param { num_output: 1 kernel_size: 3 stride: 2 }'
    >>> run_layer(text, [[[1, 2]]], params=[[1, 2, 1], [0]]).tolist()
    [[[1.0, 2.0, 3.0, 4.0, 2.0]]]
    """

    spreads = can_pair = True

    def weights_shape(self) -> tuple[int, ...]:
        return self.channels, self.outputs // self.group, *self.kernel

    def scaled(self, weights: Numbers, factors: Numbers) -> Numbers:
        grouped = weights.reshape(self.group, -1, *weights.shape[1:])  # each group's (channels, outputs, *kernel)
        each = factors.reshape(self.group, 1, -1, *[1] * (weights.ndim - 2))
        scaled: Numbers = (grouped * each).reshape(weights.shape)
        return scaled

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        map = self.spatial(bottom, top)
        image = [s * (m - 1) + e - 2 * p for s, m, e, p in zip(self.stride, map, self.extent, self.pad)]
        self.need(
            min(image, default=1) > 0,
            f"the top would have the spatial shape {image}: bottom {list(map)}, kernel {list(self.kernel)}, stride "
            f"{list(self.stride)}, pad {list(self.pad)}; the pad is too large",
        )
        for size, pad in zip(image, self.pad):
            self.need(
                size + 2 * pad < 2**31,
                f"the top would have the spatial shape {image} and pad {list(self.pad)}: beyond 2147483647",
            )
        before = self.plan(bottom, self.outputs, image, self.channels, map)
        for blob in top:
            blob.reshape(*before, self.outputs, *image)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for x, y in zip(bottom, top):
            self.convolution.spread(x.data, self.blobs[0].data, self.bias, y.data)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        each = self.group == self.channels == self.outputs and len(self.kernel) == 2
        if len(bottom) > 1 or self.channel_axis != 1 or not each or max(self.dilation) > 1:
            return None
        names = ("kernel", "stride", "pad", "dilation")
        window = {name: (getattr(self, name)[0], getattr(self, name)[1]) for name in names}
        bias = self.blobs[1] if self.bias_term else None
        return DeconvolutionLowering(self.device, self.dtype, self.blobs[0], bias, window)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        weights = self.blobs[0]
        for down, x, y in zip(propagate_down, bottom, top):
            self.bias_backward(y)
            if not x.count:
                continue
            if self.param_propagate_down[0]:
                self.convolution.gradient(y.diff, x.data, weights.diff)
            if down:
                self.convolution.correlate(y.diff, weights.data, None, x.diff, False)


class DeconvolutionFixed(
    FixedParameters,
    Deconvolution,
    type="DeconvolutionFixed",
    param=("convolution_param", "fixed_param"),
    bottoms=(1, None),
    tops=(1, None),
    traits=Trait.WRITES_ALL,
):
    """Deconvolution whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of Deconvolution with the parameters as they are.

    Learned parameters: those of Deconvolution, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of Deconvolution.
    convolution_param
        As of Deconvolution.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of Deconvolution.

    Raises
    ------
    LayerError
        As of Deconvolution; no fixed_param; a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "DeconvolutionFixed" convolution_param { num_output: 1 kernel_size: 1 bias_term: false }
    ...     fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'''
    >>> run_layer(text, [[[[1]], [[10]]]], params=[[1.4, 0.6]]).item()  # 1.5 and 0.5
    6.5
    """

    can_pair = False  # it rounds by itself
