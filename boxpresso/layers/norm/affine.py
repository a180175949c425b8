"""Affine: y = x * scale + bias, scale and bias broadcast over a blob, and the gradients. Scale and Bias call it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Device, Kernels
from ..core.layer import Layer

kernels = Kernels(Path(__file__).with_name("affine.cu"))
ROWS = 256  # rows whose columns one block sums


def place(layer: Layer, param: Any, bottom: list[Blob]) -> tuple[int, tuple[int, ...]]:
    """The axis of bottom 0 from which the other operand's axes are taken, and the other operand's shape.

    param: axis and num_axes, of a ScaleParameter or BiasParameter. With two bottoms the second is the other operand.
    """
    shape = bottom[0].shape
    if len(bottom) == 2:
        other = bottom[1].shape
        axis = layer.axis(bottom[0], param.axis) if other else 0
        fits = shape[axis : axis + len(other)] == other
        layer.need(fits, f"bottom 1 of shape {other} does not fit bottom 0 of shape {shape} from axis {axis} on")
        return axis, other
    count = param.num_axes
    layer.need(count >= -1, f"num_axes must be -1 or more, got {count}")
    if count == 0:
        return 0, ()
    axis = layer.axis(bottom[0], param.axis)
    last = len(shape) if count == -1 else axis + count
    layer.need(last <= len(shape), f"num_axes {count} from axis {axis} on does not fit a bottom of shape {shape}")
    return axis, shape[axis:last]


class Affine:
    """A blob seen as (outer, dim, inner); scale and bias have its middle axes, `dim` elements."""

    def __init__(self, device: Device, shape: Sequence[int], axis: int, other: Sequence[int]) -> None:
        """shape: the blob's. other: the shape of scale and bias, which is the blob's from `axis` on."""
        self.kernels = kernels.on(device)
        self.outer, self.dim, self.inner = prod(shape[:axis]), prod(other), prod(shape[axis + len(other) :])
        outer, dim, inner = self.outer, self.dim, self.inner
        self.pieces = -(-max(1, dim if inner == 1 else inner) // kernels.constants["PIECE"])
        self.chunks = -(-outer // ROWS) if inner == 1 else outer  # how many partial sums each of `dim` has, per piece
        self.per_chunk = 1 if inner == 1 else self.pieces
        self.partial = device.empty((max(1, self.chunks * dim * self.per_chunk),), np.float64)

    def apply(
        self, x: AnyArray, scale: AnyArray | None, bias: AnyArray | None, y: AnyArray, copy: AnyArray | None = None
    ) -> None:
        """y = x * scale + bias; None for a scale of 1 or a bias of 0. `copy` keeps x where y takes its place."""
        if self.inner == 1:
            self.kernels.affine_columns(self.outer * self.pieces, x, scale, bias, y, copy, self.dim, self.pieces)
        else:
            blocks = self.outer * self.dim * self.pieces if self.inner else 0
            self.kernels.affine_rows(blocks, x, scale, bias, y, copy, self.dim, self.inner, self.pieces)

    def reduce(self, diff: AnyArray, x: AnyArray | None, into: AnyArray, keep: bool) -> None:
        """into[d] = the sum over outer and inner of diff * x, or of diff where x is None; with `keep` it is added."""
        if self.inner == 1:
            self.kernels.sums_of_columns(self.chunks, diff, x, self.partial, self.outer, self.dim, ROWS)
        else:
            self.kernels.sums_of_rows(
                self.outer * self.dim * self.pieces, diff, x, self.partial, self.inner, self.pieces
            )
        self.kernels.sums_joined(self.dim, self.partial, into, self.chunks, self.per_chunk, int(keep))
