"""Neuron: the base of layers that work element by element and whose gradient may ask for their input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...device import Blob, Kernels
from ...device.kernel import BoundKernel
from ..core import Layer, Trait
from ..core.lowering import Elementwise, Lowering


class Neuron(Layer, traits=Trait.ELEMENTWISE):
    """One forward kernel (n, bottom, top, *numbers) and one backward (n, place, top_diff, bottom_diff, *numbers).

    The kernels are named after the file: `elu_forward` and `elu_backward` of elu.cu. `place` is the bottom, of which a
    layer in place keeps a copy; with `reads_top` it is the top.
    """

    kernels: ClassVar[Kernels]

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.copies = top[0] is bottom[0] and not self.reads_top
        self.copy = Blob((), self.dtype, self.device)
        self.numbers = self.read()

    def read(self) -> tuple[float, ...]:
        """The checked parameters, as the kernels take them."""
        return ()

    def kernel(self, verb: str) -> BoundKernel:
        """The kernel that is named after the file and a verb."""
        return self.kernels.bound(f"{self.kernels.file.path.stem}_{verb}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(*bottom[0].shape)
        if self.copies:
            self.copy.reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.copies:
            self.copy.reshape(*bottom[0].shape)
            self.copy.data[...] = bottom[0].data
        self.kernel("forward")(top[0].count, bottom[0].data, top[0].data, *self.numbers)
        self.remember(top[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Elementwise(self.kernel("forward").kernel, self.numbers)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            place = self.as_made(top[0]) if self.reads_top else self.copy if self.copies else bottom[0]
            self.kernel("backward")(top[0].count, place.data, top[0].diff, bottom[0].diff, *self.numbers)
