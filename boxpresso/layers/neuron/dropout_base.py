"""What Dropout and SpatialDropout share: a ratio, a number for each forward, and one way for data and gradients."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob
from ..core import Layer, Trait


class DropoutBase(Layer, traits=Trait.ELEMENTWISE | Trait.VIEW):
    """A layer whose forward and backward let the same elements pass, at the same scale.

    What is drawn depends on the seed and on the number of the forward, so that backward draws it again.
    """

    key: int  # of the random numbers in the kernels
    drops: bool  # whether elements are dropped, set in setup
    identity: bool  # whether the top is the bottom, set in setup

    def reseed(self, seed: int | Sequence[int]) -> None:
        super().reseed(seed)
        self.key = int(self.rng.integers(2**32))

    def lose_traits(self) -> None:
        """In setup: which elements are dropped depends on their place, and only an identity is a view."""
        if self.drops:
            self.traits &= ~Trait.ELEMENTWISE
        if not self.identity:
            self.traits &= ~(Trait.VIEW | Trait.REARRANGES)

    @staticmethod
    def threshold_of(ratio: float) -> int:
        """A random number of 32 bits is below it with the probability `ratio`."""
        return min(round(ratio * 2**32), 2**32 - 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_number = (self.pass_number + 1) % 2**32
        if self.identity:
            self.pass_on_data(bottom[0], top[0])
        else:
            self.pass_on(bottom[0].data, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.pass_on(top[0].diff, bottom[0].diff)

    def pass_on(self, source: AnyArray, target: AnyArray) -> None:
        """Passes data upwards, or gradients downwards."""
        raise NotImplementedError(f"{self} has no pass_on")
