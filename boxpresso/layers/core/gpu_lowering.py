"""How layers run in a plan on a GPU: sums that do in their store what follows them, and steps on channels-last arrays.

`Layer.lower_gpu` gives a GpuLowering; `Layer.lower_last`, and a GpuLowering's `on_last`, an OnLast for the chains of
run/gpu/layout.py. A blob keeps its shape there, (N, C, H, W): what changes is the order in which its elements lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...device import AnyArray, Array, Blob, Buffer, Kernels
from ...proto.errors import DeviceError
from .lowering import ALL, Activation, Affine, Lowering

KERNELS = Kernels(Path(__file__).with_name("channels_last.cu"))
IntoPart = Callable[[Blob, Blob, int], bool]  # (bottom, larger blob, first element): whether it was done


class GpuLowering(Lowering):
    """A layer whose sums can be scaled, shifted, added to and activated before they are stored.

    Attributes
    ----------
    layer
        The layer.
    folded
        Whether parameters went into copies, in `prepare`.
    """

    absorbs = ALL
    launches = False
    folded = False

    def __init__(self, layer: Any) -> None:
        self.layer, self.device = layer, layer.device

    def run(self, bottom: Blob, other: Blob | None, top: Blob) -> None:
        """Launches it; `other` is added."""
        raise NotImplementedError

    def on_last(self, added: bool) -> OnLast | None:
        """How it runs on channels-last arrays, where `added` says whether another blob is; None where it cannot."""
        return None

    def into_part(self, step: int) -> IntoPart | None:
        """What writes its maps into a larger blob, whose images are `step` elements apart; None where it cannot."""
        return None


class Refused(DeviceError):
    """cuDNN has no algorithm for a convolution on channels-last arrays: that of the layer of this number, where it is known."""

    layer = -1


class OnLast(Lowering):
    """How a step runs on channels-last arrays."""

    launches = False

    def parameters(self) -> Sequence[Blob]:
        """Those of which it keeps something."""
        return ()

    def refresh(self) -> None:
        """Makes what it keeps of them anew, where they have changed; outside a capture."""

    def run(self, bottoms: Sequence[Blob], top: Blob) -> None:
        """Launches it."""
        raise NotImplementedError

    def about(self) -> tuple[Any, ...]:
        """What its time depends on, beside the shapes of its arrays."""
        return ()


def state_of(blobs: Sequence[Blob]) -> list[tuple[Buffer, int]]:
    """Which values parameters have: what is there now, and how often it was changed."""
    for blob in blobs:
        blob._view(False)  # first values that wait are made
    return [(blob._data, blob._data.changes) for blob in blobs]


class AffineLast(OnLast):
    """A factor and an addend for each channel (BatchNorm, Scale, Bias), or a slope (PReLU)."""

    def __init__(self, layer: Any, channels: int) -> None:
        self.layer, self.channels = layer, channels
        self.state: list[tuple[Buffer, int]] | None = None
        self.arrays: list[AnyArray | None] = [None, None, None]  # scale, shift, slopes

    def parameters(self) -> Sequence[Blob]:
        return tuple(self.layer.blobs)

    def refresh(self) -> None:
        state = state_of(self.layer.blobs)
        if state == self.state:
            return
        fused = self.layer.fuse()
        values: list[Any] = [None, None, fused.slopes] if isinstance(fused, Activation) else []
        if isinstance(fused, Affine):
            values = [fused.scale, fused.shift, None]
        self.state = state_of(self.layer.blobs)
        self.arrays = [self.numbers(array, value) for array, value in zip(self.arrays, values)]

    def numbers(self, known: AnyArray | None, values: Any) -> AnyArray | None:
        """An array on the device of a number a channel: the one that is known, which graphs may use, where there is one."""
        if values is None:
            return None
        array = self.layer.device.empty((self.channels,), self.layer.dtype) if known is None else known
        array[...] = values
        if isinstance(array, Array):
            array.address(False)  # a capture could not copy it
        return array

    def run(self, bottoms: Sequence[Blob], top: Blob) -> None:
        kernels = KERNELS.on(self.layer.device)
        kernels.affine_last(-(-top.count // 4), bottoms[0].data, *self.arrays, top.data, top.count, self.channels)


class ForwardLast(OnLast):
    """A layer that takes each element alone: its own forward."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def run(self, bottoms: Sequence[Blob], top: Blob) -> None:
        self.layer.forward(list(bottoms), [top])
