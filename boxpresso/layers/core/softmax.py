"""softmax and its gradient, for the layer and for the losses that begin with one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...device import AnyArray, Device, Kernels

kernels = Kernels(Path(__file__).with_name("softmax.cu"))
LONG = 128  # channels from which a row has a block of its own


def forward(device: Device, x: AnyArray, y: AnyArray, outer: int, channels: int, inner: int) -> None:
    """y = exp(x) / sum(exp(x)) along the middle axis of (outer, channels, inner); y may be x."""
    forward_by(lambda kernel, *args: kernels.on(device).bound(kernel.name)(*args), x, y, outer, channels, inner)


def forward_by(launch: Callable[..., None], x: AnyArray, y: AnyArray, outer: int, channels: int, inner: int) -> None:
    """The same with launch(kernel, *arguments)."""
    pieces = -(-inner // kernels.constants["PIECE"])
    if inner > 1:
        launch(kernels.softmax_planes, outer * pieces, x, y, channels, inner, pieces)
    elif inner == 1 and channels < LONG:
        launch(kernels.softmax_rows, outer, x, y, channels)
    elif inner == 1:
        launch(kernels.softmax_long_rows, outer, x, y, channels)


def backward(
    device: Device, y: AnyArray, top_diff: AnyArray, bottom_diff: AnyArray, outer: int, channels: int, inner: int
) -> None:
    """The gradient at x, from the softmax y and the gradient at y; bottom_diff may be top_diff."""
    pieces, on_device = -(-inner // kernels.constants["PIECE"]), kernels.on(device)
    if inner > 1:
        on_device.softmax_planes_backward(outer * pieces, y, top_diff, bottom_diff, channels, inner, pieces)
    elif inner == 1 and channels < LONG:
        on_device.softmax_rows_backward(outer, y, top_diff, bottom_diff, channels)
    elif inner == 1:
        on_device.softmax_long_rows_backward(outer, y, top_diff, bottom_diff, channels)
