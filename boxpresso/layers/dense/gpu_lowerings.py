"""How convolutions and inner products run in a plan on a GPU: with what follows them folded in, or done in their store."""

from __future__ import annotations

from math import prod
from typing import Any
from weakref import ref

import numpy as np

from ...device import AnyArray, Blob, Buffer, blas
from ..core import Layer
from ..core.lowering import ALL, Activation, After, Lowering, folded
from .columns import NONE, Finish, finish
from .convolution_base import ConvolutionLayer
from .inner_product import InnerProduct


class GpuLowering(Lowering):
    """A layer whose sums can be scaled, shifted, added to and activated before they are stored."""

    absorbs = ALL
    launches = False
    folded = False  # whether parameters went into copies

    def __init__(self, layer: Layer) -> None:
        self.layer, self.device = layer, layer.device

    def prepare(self, after: After) -> None:
        """Folds what comes after into copies of the parameters, where there is anything to fold."""
        blobs, dtype, affine = self.layer.blobs, self.layer.dtype, after.affine
        self.activation: Activation = after.activation or NONE
        self.weights: AnyArray | None = None  # folded; None: the layer's own
        self.bias: AnyArray | None = None
        slopes = self.activation.slopes
        self.slopes = None if slopes is None else self.device.table(np.broadcast_to(slopes, (after.channels,)), dtype)
        nothing = affine.scale is None and affine.shift is None
        self.folded = not nothing or slopes is not None
        if nothing:
            return
        own = None if len(blobs) < 2 else np.asarray(blobs[1].data)
        weights, bias = folded(np.asarray(blobs[0].data), own, affine, after.channels, self.layer.scaled)
        if affine.scale is not None:
            self.weights = self.device.table(weights, dtype)
        self.bias = self.device.table(bias, dtype)

    def after(self, other: AnyArray | None) -> Finish:
        """What is done with the sums."""
        own = self.layer.blobs[1].data if self.bias is None and len(self.layer.blobs) > 1 else self.bias
        return Finish(own, self.activation, other, self.slopes)

    def run(self, bottom: Blob, other: Blob | None, top: Blob) -> None:
        """Launches it; `other` is added."""
        raise NotImplementedError


class Turned:
    """Filters of a convolution with channels last, and what the parameters that they were made of were."""

    def __init__(self, filters: AnyArray) -> None:
        self.filters = filters
        self.state: list[tuple[Buffer, int]] = []


class Convolve(GpuLowering):
    """A convolution of one bottom."""

    layer: ConvolutionLayer
    turned: ref[Turned] | None = None  # its filters for channels-last arrays, while a step has them

    def run(self, bottom: Blob, other: Blob | None, top: Blob) -> None:
        weights = self.layer.blobs[0].data if self.weights is None else self.weights
        added = None if other is None else other.data
        convolution: Any = self.layer.convolution  # a GPU's
        convolution.apply(bottom.data, weights, top.data, self.after(added))


class Multiply(GpuLowering):
    """An inner product."""

    layer: InnerProduct

    def run(self, bottom: Blob, other: Blob | None, top: Blob) -> None:
        layer = self.layer
        weights = layer.blobs[0].data if self.weights is None else self.weights
        blas.gemm(
            self.device, False, not layer.transpose, layer.rows, layer.outputs, layer.depth,
            1, bottom.data, weights, 0, top.data,
        )  # fmt: skip
        added = None if other is None else other.data
        finish(self.device, top.data, self.after(added), layer.outputs, 1)


def gpu_lowering(layer: Layer, bottom: list[Blob], top: list[Blob]) -> GpuLowering | None:
    """How a layer runs on a GPU with others done in its store; None: by its own forward."""
    if len(bottom) != 1 or len(top) != 1 or prod(top[0].shape) == 0 or bottom[0]._data is top[0]._data:
        return None
    if isinstance(layer, ConvolutionLayer) and layer.channel_axis == 1:
        return Convolve(layer)
    if isinstance(layer, InnerProduct) and layer.param.inner_product_param.axis == 1:
        return Multiply(layer)
    return None
