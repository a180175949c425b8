"""The buffers of a program on a GPU in its net's arena: which can lie there, and which of them as parts of others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...device import Blob, Buffer
from ...graph.passes import Portion
from ..arena import Arena, Home, shared_memory

ALIGN = 512  # bytes that a buffer begins at a multiple of
INNER = 16  # bytes that a part of another begins at a multiple of, where a library reads or writes it

Uses = list[tuple[Sequence[Buffer], Sequence[Buffer]]]  # what each step reads and writes
Joined = Sequence[tuple[Blob, Portion]]  # the operands of a join, and what they are of its top


def lives(uses: Uses, lasting: Collection[int]) -> dict[int, tuple[Buffer, int, int]]:
    """{id: (buffer, first step, last step)} of the buffers that steps alone write and read, each written before it is read.

    lasting: the ids of buffers that are needed before or after.
    """
    spans: dict[int, tuple[Buffer, int, int]] = {}
    outside = set(lasting)
    for place, (reads, writes) in enumerate(uses):
        outside.update(id(buffer) for buffer in reads if id(buffer) not in spans)
        for buffer in (*reads, *writes):
            first = spans[id(buffer)][1] if id(buffer) in spans else place
            spans[id(buffer)] = buffer, first, place
    return {key: span for key, span in spans.items() if key not in outside}


def inside(
    spans: Mapping[int, tuple[Buffer, int, int]], uses: Uses, joins: Mapping[int, Joined], tight: Collection[int]
) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """{id of a buffer: the id of that of which it is a part, and the byte where it begins}, and the joins that are done so.

    Nothing has to be copied where all operands of a join lie in its top from the start: one run each, which no later step uses,
    and which are written before anything else is in the top.

    Parameters
    ----------
    spans, uses
        As `lives` gives and takes them.
    joins
        {place of a step: its operands}.
    tight
        The ids of buffers that must begin at a multiple of INNER.
    """
    parts: dict[int, tuple[int, int]] = {}
    placed, tight = [], set(tight)
    for place, operands in joins.items():
        (whole,) = uses[place][1]
        starts = {id(blob._data): portion.at * blob.dtype.itemsize for blob, portion in operands}
        if len(starts) < len(operands) or id(whole) in starts or any(portion.pieces != 1 for _, portion in operands):
            continue
        if id(whole) not in spans or spans[id(whole)][1] != place:
            continue
        if any(key not in spans or spans[key][2] != place for key in starts):
            continue
        if any(key in tight and at % INNER for key, at in starts.items()):
            continue
        if tight.intersection(starts):
            tight.add(id(whole))
        parts.update({key: (id(whole), at) for key, at in starts.items()})
        placed.append(place)
    return parts, placed


class Address:
    """An address in memory that is kept alive, as a Buffer has it."""

    def __init__(self, memory: Any, start: int) -> None:
        self.memory, self.address = memory, int(memory) + start

    def __int__(self) -> int:
        return self.address


class Bound:
    """The buffers of a program that lie in the arena.

    Parameters
    ----------
    arena
        The net's, in which one program has its buffers at a time.
    uses, lasting
        As `lives` takes them. The buffers have their sizes.
    joins, tight
        As `inside` takes them.

    Attributes
    ----------
    size
        The bytes that they take together.
    moved
        Whether the arena lies elsewhere than before.
    joined
        The places of the steps that have nothing to do: what they would copy is there.
    """

    def __init__(
        self, arena: Arena, uses: Uses, lasting: Collection[int], joins: Mapping[int, Joined], tight: Collection[int]
    ) -> None:
        spans = lives(uses, lasting)
        parts, self.joined = inside(spans, uses, joins, tight)

        homes = {}
        for key, (buffer, _, _) in spans.items():
            base, at, size = key, 0, max(1, buffer.count) * buffer.dtype.itemsize
            while base in parts:
                base, at = parts[base][0], at + parts[base][1]
            homes[key] = Home(1, size, 1, 1, size, size, ("shared", base), at)
        of_steps = [[id(b) for b in (*reads, *writes) if id(b) in homes] for reads, writes in uses]
        shared = shared_memory(homes, of_steps, align=ALIGN, behind=0)
        self.size = shared.size
        self.moved = arena.grow(self.size)
        self.buffers = [
            (buffer, buffer.count, Address(arena.memory, shared.starts[homes[key].base] + homes[key].offset))
            for key, (buffer, _, _) in spans.items()
        ]

    def bind(self) -> None:
        """Gives the buffers their places; what they held is gone."""
        for buffer, count, address in self.buffers:
            if buffer.memory is not address:
                buffer.host, buffer.count = None, count
                buffer.memory, buffer.start = address, int(address)
                buffer.host_fresh, buffer.device_fresh = False, True
                buffer.version += 1

    def unbind(self) -> None:
        """Takes them away: each buffer gets memory of its own when it is next used."""
        for buffer, _, address in self.buffers:
            if buffer.memory is address:
                buffer.host = buffer.memory = None
                buffer.host_fresh = buffer.device_fresh = False
