"""Layers of weights that an FPGA computes with numbers of few bits: ConvolutionFixed, DeconvolutionFixed, InnerProductFixed."""

from __future__ import annotations

from ...device import Blob
from ..core import Trait
from ..core.fixed_point import FixedParameters
from .convolution import Convolution
from .deconvolution import Deconvolution
from .inner_product import InnerProduct


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

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.fix_parameters()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.forward_fixed(super().forward, bottom, top)


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

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.fix_parameters()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.forward_fixed(super().forward, bottom, top)


class InnerProductFixed(
    FixedParameters,
    InnerProduct,
    type="InnerProductFixed",
    param=("inner_product_param", "fixed_param"),
    bottoms=1,
    tops=1,
    traits=Trait.WRITES_ALL,
):
    """InnerProduct whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of InnerProduct with the parameters as they are.

    Learned parameters: those of InnerProduct, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of InnerProduct.
    inner_product_param
        As of InnerProduct.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of InnerProduct.

    Raises
    ------
    LayerError
        As of InnerProduct; no fixed_param; a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "InnerProductFixed" inner_product_param { num_output: 1 bias_term: false }
    ...     fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'''
    >>> run_layer(text, [[1, 10]], params=[[1.4, 0.6]]).item()  # 1.5 and 0.5
    6.5
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.fix_parameters()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.forward_fixed(super().forward, bottom, top)
