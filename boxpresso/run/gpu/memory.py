"""Memory that the values of a plan share on a GPU: buffers that are not needed at the same time have one place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...device import Buffer
from ...device.cuda import Cuda

ALIGN = 512  # bytes that a buffer begins at a multiple of
INNER = 16  # bytes that a part of another begins at a multiple of, where a library reads or writes it

Span = tuple[Buffer, int, int]  # a buffer, and the first and the last step that uses it


@dataclass(frozen=True)
class Join:
    """A step that puts buffers one behind the other into another: nothing has to be copied if they lie there from the start.

    Attributes
    ----------
    place
        Which step it is.
    whole
        What it writes.
    parts
        What it reads: (buffer, where it begins in the whole, its elements).
    """

    place: int
    whole: Buffer
    parts: tuple[tuple[Buffer, int, int], ...]


def place_joins(of: dict[int, Span], joins: Sequence[Join], tight: Collection[int]) -> list[Join]:
    """The joins whose buffers can lie in the whole; those are taken out of `of`, and the whole is needed as long as they are.

    Parameters
    ----------
    of
        What `spans` has found: changed.
    joins
        In the order of their steps.
    tight
        The ids of buffers that must begin at a multiple of INNER.
    """
    placed = []
    tight = set(tight)
    for join in joins:
        parts = {id(buffer): (at, buffer) for buffer, at, _ in join.parts}
        whole = of.get(id(join.whole))
        if whole is None or whole[1] != join.place or len(parts) < len(join.parts) or id(join.whole) in parts:
            continue
        if any(key not in of or of[key][2] != join.place for key in parts):  # kept, or used by a later step
            continue
        if any(key in tight and at * buffer.dtype.itemsize % INNER for key, (at, buffer) in parts.items()):
            continue
        first = min(of[key][1] for key in parts)
        if tight.intersection(parts):
            tight.add(id(join.whole))
        for key in parts:
            del of[key]
        of[id(join.whole)] = join.whole, first, whole[2]
        placed.append(join)
    return placed


class Part:
    """An address in memory that is kept alive, as a Buffer has it."""

    def __init__(self, memory: Any, start: int) -> None:
        self.memory, self.address = memory, int(memory) + start

    def __int__(self) -> int:
        return self.address


def spans(uses: Sequence[tuple[Sequence[Buffer], Sequence[Buffer]]], kept: Collection[int]) -> dict[int, Span]:
    """{id: (buffer, first step, last step)} of the buffers that steps alone write and read, each written before it is read.

    Parameters
    ----------
    uses
        What each step reads and writes.
    kept
        The ids of buffers that are needed before or after.
    """
    found: dict[int, Span] = {}
    never = set(kept)
    for place, (reads, writes) in enumerate(uses):
        for buffer in reads:
            if id(buffer) not in found:
                never.add(id(buffer))
        for buffer in (*reads, *writes):
            first = found[id(buffer)][1] if id(buffer) in found else place
            found[id(buffer)] = buffer, first, place
    return {key: span for key, span in found.items() if key not in never}


def places(of: Mapping[int, Span]) -> tuple[dict[int, int], int]:
    """Where each buffer begins, in bytes, and the bytes in all: the largest first, each as low as it fits."""
    starts: dict[int, int] = {}
    total = 0
    for key in sorted(of, key=lambda k: -size(of[k][0])):
        buffer, first, last = of[key]
        taken = sorted(
            (starts[other], starts[other] + size(of[other][0]))
            for other in starts if of[other][1] <= last and first <= of[other][2]
        )  # fmt: skip
        at = 0
        for begin, end in taken:
            if at + size(buffer) <= begin:
                break
            at = max(at, end)
        starts[key] = at
        total = max(total, at + size(buffer))
    return starts, total


def size(buffer: Buffer) -> int:
    """The bytes that a buffer takes, rounded up."""
    return -(-max(1, buffer.count) * buffer.dtype.itemsize // ALIGN) * ALIGN


class Arena:
    """The memory that the programs of a net share; only one of them has its buffers there at a time."""

    def __init__(self, device: Cuda) -> None:
        self.device = device
        self.memory: Any = None
        self.size = 0

    def grow(self, size: int) -> bool:
        """At least so many bytes; whether they lie elsewhere than before."""
        if size <= self.size:
            return False
        self.memory, self.size = None, 0  # gives the old back before more is taken
        self.memory, self.size = self.device.allocate(size), size
        return True


class Shared:
    """The buffers of a program that lie in the arena.

    Parameters
    ----------
    arena
        The net's.
    uses, kept
        As `spans` takes them. The buffers have their sizes.
    joins, tight
        As `place_joins` takes them.
    """

    def __init__(
        self, arena: Arena, uses: Sequence[tuple[Sequence[Buffer], Sequence[Buffer]]], kept: Collection[int],
        joins: Sequence[Join] = (), tight: Collection[int] = (),
    ) -> None:  # fmt: skip
        found = spans(uses, kept)
        self.joins = place_joins(found, joins, tight)
        starts, self.size = places(found)
        self.moved = arena.grow(self.size)
        self.parts = [(found[key][0], found[key][0].count, Part(arena.memory, start)) for key, start in starts.items()]
        for join in reversed(self.joins):  # a whole may be a part of a later one
            base = starts[id(join.whole)]
            for buffer, at, count in join.parts:
                starts[id(buffer)] = base + at * buffer.dtype.itemsize
                self.parts.append((buffer, count, Part(arena.memory, starts[id(buffer)])))

    def bind(self) -> None:
        """Gives the buffers their places; what they held is gone."""
        for buffer, count, part in self.parts:
            if buffer.memory is not part:
                buffer.host, buffer.count = None, count
                buffer.memory, buffer.start = part, int(part)
                buffer.host_fresh, buffer.device_fresh = False, True
                buffer.version += 1

    def unbind(self) -> None:
        """Takes them away: each buffer gets memory of its own when it is next used."""
        for buffer, _, part in self.parts:
            if buffer.memory is part:
                buffer.host = buffer.memory = None
                buffer.host_fresh = buffer.device_fresh = False
