"""InnerProduct: the fully connected layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Trait
from ..core.fixed_point import FixedParameters
from ..core.gpu_lowering import GpuLowering
from ..core.lowering import Lowering, Numbers
from .gpu_lowerings import Multiply, alone
from .inner_product_base import InnerProductLayer
from .int8_lowerings import in_int8
from .lowerings import InnerProductLowering


class InnerProduct(
    InnerProductLayer,
    type="InnerProduct",
    param="inner_product_param",
    bottoms=1,
    tops=1,
    traits=Trait.WEIGHTED | Trait.WRITES_ALL,
):
    """top = bottom W^T + bias, where the bottom's axes from `axis` on are taken as one of K elements.

    The fully connected layer. Learned parameters: W (N, K), or (K, N) with transpose, N being num_output; bias (N,)
    unless bias_term is false. `normalize: true`, of face nets, brings each row of W to length 1 in each forward, in the
    parameter itself: w / sqrt(|w|^2 + 1e-6); the gradient of W is that of the product.

    Parameters
    ----------
    bottom 0
        (..., *inputs): the axes from `axis` on hold K elements.
    inner_product_param
        `num_output`: N, required. `bias_term` (true): whether a bias is added. `axis` (1): the first of the axes that
        are taken as one. `transpose` (false): W is stored as (K, N). `normalize` (false): rows of W of length 1.
        `weight_filler`, `bias_filler` (constant 0): the first values of W and bias.

    Returns
    -------
    top 0
        The bottom's axes before `axis`, then N.

    Raises
    ------
    LayerError
        num_output is not given or 0; the bottom lacks `axis`, or its axes from there on hold no elements; a later
        bottom has another K than the weights; normalize with transpose.

    Source
    ------
    Caffe; `normalize`: happynear/caffe-windows (Wang et al. 2018, AM-Softmax).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "InnerProduct" inner_product_param { num_output: 2 }'
    >>> run_layer(text, [[1, 2, 3]], params=[[[1, 0, 1], [0, 1, 0]], [0, 0.5]]).tolist()
    [[4.0, 2.5]]
    """

    unit_kernels = Kernels("unit_rows.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.unit = self.updates_parameters = self.param.inner_product_param.normalize
        self.need(not (self.unit and self.transpose), "normalize: true takes no transpose: true")
        if self.unit:  # what is folded into weights would be lost with their length
            self.traits &= ~Trait.WEIGHTED

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.unit:
            self.unit_kernels.unit_rows(self.outputs, self.blobs[0].data, self.depth)
        bias = self.blobs[1].data if self.bias_term else None
        self.multiply(bottom[0].data, self.blobs[0].data, bias, top[0].data)

    def lower_gpu(self, bottom: list[Blob], top: list[Blob]) -> GpuLowering | None:
        return Multiply(self) if alone(bottom, top) and self.output_axis == 1 and not self.unit else None

    def scaled(self, weights: Numbers, factors: Numbers) -> Numbers:
        return np.asarray(weights * (factors if self.transpose else factors[:, None]))

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if self.unit or self.param.inner_product_param.axis != 1 or len(bottom[0].shape) not in (2, 4):
            return None
        bias = self.blobs[1] if self.bias_term else None
        one = dict.fromkeys(("kernel", "stride", "dilation"), (1, 1)) | {"pad": (0, 0)}
        return InnerProductLowering(self.device, self.dtype, self.blobs[0], bias, 1, one, self.transpose)

    def lower_int8(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return in_int8(self.lower(bottom, top), bottom, top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        down = bottom[0].diff if propagate_down[0] else None
        self.gradients(bottom[0].data, self.blobs[0].data, top[0], down)


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
