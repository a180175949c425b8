"""Layers that train together, as one pass each way over what a first one reads: what a Net asks of them (run/training.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ...device import AnyArray, Blob, Kernels

LONGEST = 3  # links of a chain


@dataclass(frozen=True)
class Link:
    """A layer of a net and its one bottom and top."""

    layer: Any
    bottom: Blob
    top: Blob


class Together(Protocol):
    """Some links of a net, one behind the other, whose tops but the last are `hidden`: a forward leaves them out."""

    kernels: ClassVar[Kernels]
    links: list[Link]
    bottom: Blob  # what the first one reads
    hidden: list[Blob]
    scale: (
        Any  # the layer, after the first, whose parameters `join` gives their gradients; None where the first has them
    )

    @property
    def top(self) -> Blob:
        """The last top."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Those that a forward has worked with, as its layers were reshaped last."""

    @property
    def reads_top(self) -> bool:
        """Whether a backward reads the values of the last top."""

    @property
    def ready(self) -> bool:
        """Whether there is anything to do."""

    @property
    def changed(self) -> bool:
        """Whether parameters by which a backward finds what the forward has left out are others than in that forward."""

    @property
    def learning(self) -> list[AnyArray | None]:
        """The diffs of parameters that `join` adds to."""

    def statistics(self) -> None:
        """The first part of a forward."""

    def apply(self) -> None:
        """The rest of it: the last top."""

    def gradients(self, down: bool, through: bool) -> None:
        """The first part of a backward; down: whether `backward` will come; through: whether Scale's bottom gets a diff."""

    def join(self, wanted: Sequence[AnyArray | None]) -> None:
        """Adds the gradients of parameters where they are wanted."""

    def backward(self) -> None:
        """The diff of the first bottom."""

    def settle(self, last: int) -> None:
        """Gives hidden blobs what the links up to number `last` would have left one by one."""

    def settle_diffs(self, first: int) -> None:
        """The same for the diffs of the links from number `first` on."""
