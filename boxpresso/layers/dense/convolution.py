"""Convolution (correlation, as in all of deep learning) along any number of axes."""

from __future__ import annotations

from ..core import Trait
from ..core.fixed_point import FixedParameters
from .convolution_base import ConvolutionLayer


class Convolution(
    ConvolutionLayer,
    type="Convolution",
    param="convolution_param",
    bottoms=(1, None),
    tops=(1, None),
    traits=Trait.WEIGHTED | Trait.WRITES_ALL,
):
    """top[n, m, y] = sum over c, k of W[m, c, k] * bottom[n, c, stride * y - pad + dilation * k], plus bias[m].

    A correlation, as in all of deep learning, along any number of spatial axes. Several bottoms of one shape go through
    the same weights to as many tops.

    Learned parameters: W (num_output, channels / group, *kernel); bias (num_output,) unless bias_term is false.

    Parameters
    ----------
    bottom 0
        (N, C, *size), the channels at `axis`. Further bottoms have the same shape.
    convolution_param
        `num_output`: channels of the top, required. `kernel_size` (required), `pad` (0), `stride` (1), `dilation` (1):
        once for all spatial axes, or once for each. With two spatial axes `kernel_h` and `kernel_w`, `pad_h` and
        `pad_w`, `stride_h` and `stride_w`, and yjxiong's `dilation_h` and `dilation_w` may stand in their place.
        `group` (1): channels and outputs are divided into so many independent convolutions. `bias_term` (true): whether
        there is a bias. `axis` (1): the axis of the channels; the axes behind it are spatial. `weight_filler`,
        `bias_filler` (constant 0): the first values of W and bias. `force_nd_im2col` and `engine` change nothing: every
        number of axes has one way to be computed on a device.

    Returns
    -------
    top 0
        (N, num_output, *places), places = (size + 2 pad - dilation (kernel - 1) - 1) / stride + 1, rounded down. One
        top for each bottom.

    Raises
    ------
    LayerError
        num_output or kernel_size is missing; kernel, stride, dilation or group is 0; a field is given neither once nor
        once for each spatial axis, or both as one number and as _h and _w; channels or num_output cannot be divided
        into the groups; the kernel does not fit into the padded bottom; bottoms differ in shape; their number is not
        that of the tops; `relu: true` of Intel's Caffe, or pad_type of Synopsys' Caffe is given, or its pad_l, pad_r,
        pad_t or pad_b beside another pad. (A net writes these four alone as pad_h and pad_w, or as a Pad.)

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Convolution" convolution_param { num_output: 1 kernel_size: 2 }'
    >>> run_layer(text, [[[1, 2, 3, 4]]], params=[[1, 10], [0.5]]).tolist()
    [[[21.5, 32.5, 43.5]]]
    """


class ConvolutionFixed(
    FixedParameters,
    Convolution,
    type="ConvolutionFixed",
    param=("convolution_param", "fixed_param"),
    bottoms=(1, None),
    tops=(1, None),
    traits=Trait.WRITES_ALL,
):
    """Convolution whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of Convolution with the parameters as they are.

    Learned parameters: those of Convolution, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of Convolution.
    convolution_param
        As of Convolution.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of Convolution.

    Raises
    ------
    LayerError
        As of Convolution; no fixed_param; a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "ConvolutionFixed" convolution_param { num_output: 1 kernel_size: 1 bias_term: false }
    ...     fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'''
    >>> run_layer(text, [[[[1]], [[10]]]], params=[[1.4, 0.6]]).item()  # 1.5 and 0.5
    6.5
    """

    can_pair = False  # it rounds by itself
