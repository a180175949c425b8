"""softmax and its gradient, for the layer and for the losses that begin with one."""

from __future__ import annotations

from typing import Any

from ...device.kernel import Kernels

kernels = Kernels("softmax.cu")
PIECE = 256  # positions of inner that one block does, as in softmax.cu
LONG = 128  # channels from which a row has a block of its own


def forward(x: Any, y: Any, outer: int, channels: int, inner: int) -> None:
    """y = exp(x) / sum(exp(x)) along the middle axis of (outer, channels, inner); y may be x."""
    pieces = -(-inner // PIECE)
    if inner > 1:
        kernels.softmax_planes(outer * pieces, x, y, channels, inner, pieces)
    elif inner == 1 and channels < LONG:
        kernels.softmax_rows(outer, x, y, channels)
    elif inner == 1:
        kernels.softmax_long_rows(outer, x, y, channels)


def backward(y: Any, top_diff: Any, bottom_diff: Any, outer: int, channels: int, inner: int) -> None:
    """The gradient at x, from the softmax y and the gradient at y; bottom_diff may be top_diff."""
    pieces = -(-inner // PIECE)
    if inner > 1:
        kernels.softmax_planes_backward(outer * pieces, y, top_diff, bottom_diff, channels, inner, pieces)
    elif inner == 1 and channels < LONG:
        kernels.softmax_rows_backward(outer, y, top_diff, bottom_diff, channels)
    elif inner == 1:
        kernels.softmax_long_rows_backward(outer, y, top_diff, bottom_diff, channels)
