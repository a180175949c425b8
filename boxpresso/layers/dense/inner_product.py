"""InnerProduct: the fully connected layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from ...device import Blob, Kernels, blas
from ..core import Layer, Trait
from ..core.gpu_lowering import GpuLowering
from ..core.lowering import Lowering, Numbers
from .columns import DEVICE
from .gpu_lowerings import Multiply, alone
from .int8_lowerings import in_int8
from .lowerings import InnerProductLowering


class InnerProduct(
    Layer, type="InnerProduct", param="inner_product_param", bottoms=1, tops=1, traits=Trait.WEIGHTED | Trait.WRITES_ALL
):
    """top = bottom W^T + bias, where the bottom's axes from `axis` on are taken as one of K elements.

    The fully connected layer. Learned parameters: W (N, K), or (K, N) with transpose, N being num_output; bias (N,)
    unless bias_term is false.

    Parameters
    ----------
    bottom 0
        (..., *inputs): the axes from `axis` on hold K elements.
    inner_product_param
        `num_output`: N, required. `bias_term` (true): whether a bias is added. `axis` (1): the first of the axes that
        are taken as one. `transpose` (false): W is stored as (K, N). `weight_filler`, `bias_filler` (constant 0): the
        first values of W and bias.

    Returns
    -------
    top 0
        The bottom's axes before `axis`, then N.

    Raises
    ------
    LayerError
        num_output is not given or 0; the bottom lacks `axis`, or its axes from there on hold no elements; a later
        bottom has another K than the weights.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "InnerProduct" inner_product_param { num_output: 2 }'
    >>> run_layer(text, [[1, 2, 3]], params=[[[1, 0, 1], [0, 1, 0]], [0, 0.5]]).tolist()
    [[4.0, 2.5]]
    """

    kernels, products = Kernels("inner_product.cu"), blas.HOST
    gpu_files = (DEVICE,)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, self.gemm = self.param.inner_product_param, partial(blas.gemm, self.device)
        self.outputs, self.bias_term, self.transpose = p.num_output, p.bias_term, p.transpose
        self.output_axis = p.axis
        self.need(self.outputs > 0, "num_output must be at least 1; the prototxt gives none")
        depth = prod(bottom[0].shape[self.axis(bottom[0], p.axis) :])
        self.need(depth > 0, f"the bottom's axes from {p.axis} on hold no elements, its shape is {bottom[0].shape}")
        self.parameter(0, (depth, self.outputs) if self.transpose else (self.outputs, depth), p.weight_filler)
        if self.bias_term:
            self.parameter(1, (self.outputs,), p.bias_filler)
        self.ones = self.device.empty((0,), self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        axis = self.axis(bottom[0], self.param.inner_product_param.axis)
        self.rows, self.depth = prod(shape[:axis]), prod(shape[axis:])
        wanted = self.blobs[0].shape[0 if self.transpose else 1]
        self.need(
            self.depth == wanted,
            f"the weights {self.blobs[0].shape} take {wanted} elements a row, but the bottom {shape} has {self.depth} "
            f"from axis {axis} on; an input of another size needs other weights",
        )
        top[0].reshape(*shape[:axis], self.outputs)
        if self.bias_term and self.ones.size != self.rows:
            self.ones = self.device.table(np.ones(self.rows), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.bias_term:
            self.kernels.bias_forward(self.rows, self.blobs[1].data, top[0].data, self.outputs)
        self.gemm(
            False, not self.transpose, self.rows, self.outputs, self.depth,
            1, bottom[0].data, self.blobs[0].data, float(self.bias_term), top[0].data,
        )  # fmt: skip

    def lower_gpu(self, bottom: list[Blob], top: list[Blob]) -> GpuLowering | None:
        return Multiply(self) if alone(bottom, top) and self.output_axis == 1 else None

    def scaled(self, weights: Numbers, factors: Numbers) -> Numbers:
        return np.asarray(weights * (factors if self.transpose else factors[:, None]))

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if self.param.inner_product_param.axis != 1 or len(bottom[0].shape) not in (2, 4):
            return None
        bias = self.blobs[1] if self.bias_term else None
        one = dict.fromkeys(("kernel", "stride", "dilation"), (1, 1)) | {"pad": (0, 0)}
        return InnerProductLowering(self.device, self.dtype, self.blobs[0], bias, 1, one, self.transpose)

    def lower_int8(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return in_int8(self.lower(bottom, top), bottom, top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        diff, weights = top[0].diff, self.blobs[0]
        if self.param_propagate_down[0]:
            if self.transpose:
                self.gemm(True, False, self.depth, self.outputs, self.rows, 1, bottom[0].data, diff, 1, weights.diff)
            else:
                self.gemm(True, False, self.outputs, self.depth, self.rows, 1, diff, bottom[0].data, 1, weights.diff)
        if self.bias_term and self.param_propagate_down[1]:
            self.gemm(False, False, 1, self.outputs, self.rows, 1, self.ones, diff, 1, self.blobs[1].diff)
        if propagate_down[0]:
            self.gemm(
                False, self.transpose, self.rows, self.depth, self.outputs,
                1, diff, weights.data, 0, bottom[0].diff,
            )  # fmt: skip
