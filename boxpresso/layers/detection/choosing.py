"""Layers that choose rows: by kernels alone where these can count them, and on the host elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Layer
from ..core.places import told


class Choosing(Layer):
    """A layer of which only a forward tells how many rows its tops have.

    A subclass gives `forward_launch` and `forward_finish`, for devices that need no host, `forward_host` and `shape`.
    """

    chooses_rows = True

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

    def shape_as_told(self, top: Sequence[Blob], most: int) -> int:
        """Waits for the number that lies behind `most` rows of the first top, gives all tops as many, and returns it."""
        self.shape(top[:1], most + 1)
        count = told(top[0].data, most * prod(top[0].shape[1:]))
        self.shape(top, count)
        return count

    def allow_force_backward(self, index: int) -> bool:
        return False
