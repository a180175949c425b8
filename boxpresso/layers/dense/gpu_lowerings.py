"""How convolutions and inner products run in a plan on a GPU: with what follows them folded in, or done in their store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

from ...device import AnyArray, Array, Blob, blas
from ..core.gpu_lowering import GpuLowering, IntoPart, OnLast
from ..core.lowering import Activation, After, folded
from .channels_last import ConvolveLast, Turned
from .columns import NONE, CudnnConvolution, Finish, finish
from .part_of_top import PartOfTop


class Sums(GpuLowering):
    """Products with weights, of which `prepare` folds what it can into copies of the parameters."""

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


class Convolve(Sums):
    """A convolution of one bottom."""

    what = "convolution"
    turned: ref[Turned] | None = None  # its filters for channels-last arrays, while a step has them

    def run(self, bottom: Blob, other: Blob | None, top: Blob) -> None:
        weights = self.layer.blobs[0].data if self.weights is None else self.weights
        added = None if other is None else other.data
        convolution: Any = self.layer.convolution  # a GPU's
        convolution.apply(bottom.data, weights, top.data, self.after(added))

    def on_last(self, added: bool) -> OnLast | None:
        by_cudnn = isinstance(self.layer.convolution, CudnnConvolution) and self.layer.dtype == np.float32
        return ConvolveLast(self, added) if by_cudnn else None

    def into_part(self, step: int) -> IntoPart | None:
        if not isinstance(self.layer.convolution, CudnnConvolution):
            return None
        part = PartOfTop(self.layer.convolution, self.layer.dtype, step)

        def run(bottom: Blob, whole: Blob, at: int) -> bool:
            weights = self.layer.blobs[0].data if self.weights is None else self.weights
            arrays = bottom.data, weights, whole.data
            assert all(isinstance(array, Array) for array in arrays)
            return part.apply(*arrays, at, self.after(None))  # type: ignore[arg-type]  # Arrays

        return run


class Multiply(Sums):
    """An inner product."""

    what = "product"

    def run(self, bottom: Blob, other: Blob | None, top: Blob) -> None:
        layer = self.layer
        weights = layer.blobs[0].data if self.weights is None else self.weights
        blas.gemm(
            self.device, False, not layer.transpose, layer.rows, layer.outputs, layer.depth,
            1, bottom.data, weights, 0, top.data,
        )  # fmt: skip
        added = None if other is None else other.data
        finish(self.device, top.data, self.after(added), layer.outputs, 1)


def alone(bottom: Sequence[Blob], top: Sequence[Blob]) -> bool:
    """Whether a layer has one bottom and one top, which has elements and does not lie in the bottom's memory."""
    return len(bottom) == len(top) == 1 and top[0].count > 0 and bottom[0]._data is not top[0]._data
