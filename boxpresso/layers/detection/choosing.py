"""Layers that choose rows: by kernels alone, which tell the host how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, Generic, TypeVar

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.places import number_at
from .choice import Choice


class Choosing(Layer, traits=Trait.CHOOSES_ROWS):
    """A layer of which only a forward tells how many rows its tops have.

    A subclass gives `forward_launch` and `forward_finish`, `shape`, and `forward_empty` where tops of nothing are not
    just without rows.
    """

    files: ClassVar[tuple[Kernels, ...]] = ()  # of kernels that it launches, beside those that are attributes

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.forward_launch(bottom, top):
            self.forward_finish(bottom, top)
        else:
            self.forward_empty(bottom, top)

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The forward where there is nothing to choose of."""
        self.shape(top, 0)

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        """Gives the tops so many rows."""
        raise NotImplementedError(f"{self} has no shape")

    def shape_by_count(self, top: Sequence[Blob], most: int) -> int:
        """Waits for the number that lies behind `most` rows of the first top, gives all tops as many, and returns it."""
        self.shape(top[:1], most + 1)
        count = number_at(top[0].data, most * prod(top[0].shape[1:]))
        self.shape(top, count)
        return count

    @classmethod
    def kernel_files(cls) -> list[Kernels]:
        return [*super().kernel_files(), *cls.files]

    def allow_force_backward(self, index: int) -> bool:
        return False


Kind = TypeVar("Kind", bound=Choice)


class ChoosingBy(Choosing, Generic[Kind]):
    """One of which `choice` launches the kernels.

    A subclass gives `launch`, and `finish` where more is to be done than to count rows.
    """

    choice: Kind | None = None

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        choice = self.choice
        if choice is None or not choice.rows:
            return False
        self.launch(choice, bottom, top)
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        assert self.choice is not None
        self.finish(self.choice, bottom, top)

    def launch(self, choice: Kind, bottom: list[Blob], top: list[Blob]) -> None:
        """Launches the kernels that choose."""
        raise NotImplementedError(f"{self} has no launch")

    def finish(self, choice: Kind, bottom: list[Blob], top: list[Blob]) -> None:
        """Waits for them, and gives the tops their shapes."""
        self.shape_by_count(top, choice.rows)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        choice = self.choice
        return choice.rows + choice.tail if choice is not None and choice.rows else 0
