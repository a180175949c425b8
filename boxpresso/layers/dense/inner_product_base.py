"""What InnerProduct and FcRistretto share: their parameter, one matrix product and its gradients."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from ...device import AnyArray, Blob, Kernels, blas
from ..core import Layer
from .columns import DEVICE


class InnerProductLayer(Layer):
    """A layer of one product with a matrix of weights, and a bias."""

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

    def multiply(self, x: AnyArray, weights: AnyArray, bias: AnyArray | None, y: AnyArray) -> None:
        """y = x weights^T + bias (None: no bias)."""
        if bias is not None:
            self.kernels.bias_forward(self.rows, bias, y, self.outputs)
        self.gemm(
            False, not self.transpose, self.rows, self.outputs, self.depth, 1, x, weights, float(bias is not None), y
        )

    def gradients(self, x: AnyArray, weights: AnyArray, top: Blob, down: AnyArray | None) -> None:
        """Adds to the gradients of the parameters that learn, for bottoms x; writes that of the bottom, for these weights."""
        diff = top.diff
        if self.param_propagate_down[0]:
            own = self.blobs[0].diff
            if self.transpose:
                self.gemm(True, False, self.depth, self.outputs, self.rows, 1, x, diff, 1, own)
            else:
                self.gemm(True, False, self.outputs, self.depth, self.rows, 1, diff, x, 1, own)
        if self.bias_term and self.param_propagate_down[1]:
            self.gemm(False, False, 1, self.outputs, self.rows, 1, self.ones, diff, 1, self.blobs[1].diff)
        if down is not None:
            self.gemm(False, self.transpose, self.rows, self.depth, self.outputs, 1, diff, weights, 0, down)
