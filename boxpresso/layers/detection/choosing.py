"""Layers that choose rows: by kernels alone where these can count them, and on the host elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Generic, Protocol, TypeVar

from ...device import Blob
from ..core import Layer, Trait
from ..core.places import number_at


class Chooser(Protocol):
    """What chooses rows by kernels alone: `rows` is how many at most, 0 where the host has to choose."""

    rows: int


There = TypeVar("There", bound=Chooser)


class Choosing(Layer, traits=Trait.CHOOSES_ROWS):
    """A layer of which only a forward tells how many rows its tops have.

    A subclass gives `forward_launch` and `forward_finish`, for devices that need no host, `forward_host` and `shape`.
    """

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.forward_launch(bottom, top):
            self.forward_finish(bottom, top)
        else:
            self.forward_host(bottom, top)

    def forward_host(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The forward as the host does it."""
        raise NotImplementedError(f"{self} has no forward_host")

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        """Gives the tops so many rows."""
        raise NotImplementedError(f"{self} has no shape")

    def shape_by_count(self, top: Sequence[Blob], most: int) -> int:
        """Waits for the number that lies behind `most` rows of the first top, gives all tops as many, and returns it."""
        self.shape(top[:1], most + 1)
        count = number_at(top[0].data, most * prod(top[0].shape[1:]))
        self.shape(top, count)
        return count

    def allow_force_backward(self, index: int) -> bool:
        return False


class ChoosingThere(Choosing, Generic[There]):
    """One whose `on_device` chooses where the device needs no host.

    A subclass gives `launch`, and `finish` where more is to be done than to count rows.
    """

    on_device: There | None = None

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        there = self.on_device
        if there is None or not there.rows:
            return False
        self.launch(there, bottom, top)
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        assert self.on_device is not None
        self.finish(self.on_device, bottom, top)

    def launch(self, there: There, bottom: list[Blob], top: list[Blob]) -> None:
        """Launches the kernels that choose."""
        raise NotImplementedError(f"{self} has no launch")

    def finish(self, there: There, bottom: list[Blob], top: list[Blob]) -> None:
        """Waits for them, and gives the tops their shapes."""
        self.shape_by_count(top, there.rows)
