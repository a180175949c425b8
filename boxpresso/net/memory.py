"""How much memory a net needs, known from the shapes of its arrays, and refused before it is taken."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..device import Blob
from ..layers.core import Layer
from ..proto.errors import DeviceError, ModelError
from ..run.cpu import CpuProgram

CODE = 40 * 2**20  # bytes, about, that modules and compiled kernels take in a process, beside arrays


class Sizes(dict[Any, int]):
    """Bytes by what they are of, and their sum."""

    total = 0

    def __setitem__(self, key: Any, size: int) -> None:
        self.total += size - self.get(key, 0)
        super().__setitem__(key, size)


class Memory:
    """The bytes that a net asks for: its parameters and gradients, its blobs, and what a plan and layers keep beside them.

    A net with a plan on the CPU has the blobs that the plan writes, the memory that its other values share, and packed
    weights; any other has all blobs, and gradients where it is trained. Layers tell what they keep by themselves
    (`Layer.own_bytes`, `Layer.shared_bytes`).

    limit: the most that it may ask for; None is all the memory that this machine, or this container, has.
    """

    def __init__(self, limit: int | None, device: str) -> None:
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise ModelError(f"memory_limit must be a whole number of bytes from 1, got {limit!r}")
        self.limited = limit is not None
        self.limit = limit if limit is not None else (machine_memory() if device == "cpu" else None)
        self.blobs: Mapping[str, Blob] = {}
        self.parameters = 0
        self.history = 0  # what a solver keeps of the parameters
        self.buffers = Sizes()  # of tops: each memory with its bytes
        self.gradients = Sizes()  # the same of diffs
        self.values = 0  # that the values of a plan share
        self.packs = Sizes()  # weights packed for a plan, by the layer's number and their form
        self.layer_bytes = Sizes()  # by the layer's name
        self.common = 0  # that layers share
        self.whole = False  # whether all blobs are counted, though a plan needs fewer
        self.running: Layer | None = None  # the layer that goes forward
        self.later: Callable[[], None] | None = None  # counts a plan that was not needed yet

    # The parts

    @property
    def tops(self) -> int:
        """Of the blobs' data, and of values of the plan that are in none."""
        self.settle()
        return self.known_tops

    @property
    def diffs(self) -> int:
        """Of gradients, of parameters and blobs."""
        return self.gradients.total

    @property
    def packed(self) -> int:
        """Of weights that a plan packs."""
        self.settle()
        return self.packs.total

    @property
    def scratch(self) -> int:
        """Of what layers keep beside blobs and parameters."""
        self.settle()
        return self.layer_bytes.total + self.common

    @property
    def total(self) -> int:
        self.settle()
        return self.known

    @property
    def known_tops(self) -> int:
        return self.buffers.total + self.values

    @property
    def known(self) -> int:
        """The sum of what is counted so far."""
        own = self.parameters + self.history + self.known_tops + self.diffs
        return own + self.packs.total + self.layer_bytes.total + self.common

    @property
    def parts(self) -> dict[str, int]:
        """All of them by their names, their sum as "total", and as "process" that with some bytes for code."""
        parts = {
            "parameters": self.parameters, "gradients": self.diffs, "history": self.history, "blobs": self.tops,
            "packed": self.packed, "scratch": self.scratch,
        }  # fmt: skip
        return {**parts, "total": self.total, "process": self.total + CODE}

    def settle(self) -> None:
        """Counts what was put off."""
        later, self.later = self.later, None
        if later is not None:
            later()

    # Counting: each raises DeviceError where it is too much

    def take_parameter(self, layer: Layer, index: int, size: int) -> None:
        """Counts a parameter of `size` bytes."""
        self.check(layer, f"parameter {index}", size)
        self.parameters += size

    def take_history(self, arrays: int, blobs: Iterable[Blob]) -> None:
        """Counts what a solver keeps: so many arrays for each of these parameters."""
        size = arrays * sum(blob.count * blob.dtype.itemsize for blob in blobs)
        self.check("solver", f"history, {arrays} arrays for each parameter,", size)
        self.history += size

    def take_tops(self, layer: Layer, tops: Mapping[str, Blob]) -> None:
        """Counts the tops of a layer by their shapes, memory that several share once."""
        for name, blob in tops.items():
            size, known = blob.count * blob.dtype.itemsize, self.buffers.get(blob._data, 0)
            if size > known:
                self.check(layer, f"top {name!r} of shape {blob.shape}", size - known)
                self.buffers[blob._data] = size

    def grow(self, blob: Blob, count: int) -> None:
        """Counts a top to which a forward is about to give so many elements."""
        size, known = count * blob.dtype.itemsize, self.buffers.get(blob._data, 0)
        if self.running is None or size <= known:
            return
        name = next((name for name, each in self.blobs.items() if each is blob), "")
        self.check(self.running, f"top {name!r} of {count} elements", size - known)
        self.buffers[blob._data] = size

    def look_at(self, layer: Layer, tops: Mapping[str, Blob]) -> None:
        """Whether each top of a layer fits by itself, beside the parameters; none has memory yet."""
        for name, blob in tops.items():
            size = blob.count * blob.dtype.itemsize
            self.check(layer, f"top {name!r} of shape {blob.shape}", size, self.parameters)

    def take_diffs(self, layer: Layer, owner: str, blobs: Iterable[Blob]) -> None:
        """Counts the diffs of blobs, memory that several share once."""
        for blob in blobs:
            if blob._diff not in self.gradients:
                size = blob.count * blob.dtype.itemsize
                self.check(layer, f"gradient of {owner} of shape {blob.shape}", size)
                self.gradients[blob._diff] = size

    def take_kept(self, layer: Layer, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> None:
        """Counts what a layer keeps beside its blobs. backward: whether it goes backward too."""
        own, shared = layer.own_bytes(bottom, top, backward), layer.shared_bytes(bottom, top, backward)
        known = self.layer_bytes.get(layer.name, 0)
        if own > known:
            self.check(layer, "scratch memory", own - known)
            self.layer_bytes[layer.name] = own
        self.take_common(layer, shared)

    def take_common(self, layer: Layer, size: int) -> None:
        """Counts memory that a layer shares with others."""
        if size > self.common:
            self.check(layer, "scratch memory, which layers share,", size - self.common)
            self.common = size

    def take_plan(self, program: CpuProgram) -> None:
        """Counts what a plan takes for some shapes; for several shapes, the most of each part."""
        source, homes = program.source, program.placement.homes
        makers = {name: i for i in program.layers for name in source.names[i][1]}
        names = dict.fromkeys(home.base[1] for home in homes.values() if home.base[0] == "blob")
        for name in names:
            self.take_tops(source.layers[makers.get(name, program.layers[0])], {name: source.blobs[name]})
        shared = program.shared.size * program.dtype.itemsize
        if shared > self.values:
            self.check("the plan", "memory that values share", shared - self.values)
            self.values = shared
        for step, lowering, bottom, top in program.lowered():
            layer, halved = source.layers[step.layer], step.halved is not None
            form, size = lowering.packs(bottom, top, halved)
            known = self.packs.get((step.layer, form), 0)
            if size > known:
                self.check(layer, "memory for packed weights", size - known)
                self.packs[step.layer, form] = size
            room = lowering.worker_room(bottom, top, halved) * program.dtype.itemsize
            self.take_common(layer, room * program.device.workers)
        for action in program.placement.actions:
            if action.step is not None and action.kind in ("forward", "planes"):
                i = action.step.layer
                self.take_kept(source.layers[i], source.bottoms[i], source.tops[i], False)

    def check(self, who: Layer | str, part: str, more: int, known: int | None = None) -> None:
        """Raises DeviceError where that many bytes more are too much."""
        known = self.known if known is None else known
        if self.limit is None or known + more <= self.limit:
            return
        whose = "memory_limit (--memory-limit) allows" if self.limited else "this machine has"
        raise DeviceError(
            f"{who}: its {part} takes {amount(more)}, {amount(known + more)} with what comes before; {whose} "
            f"{amount(self.limit)}. The largest blobs: {largest(self.blobs)}"
        )


def largest(blobs: Mapping[str, Blob], count: int = 3) -> str:
    """The largest of some blobs, with their shapes and sizes."""
    order = sorted(blobs.items(), key=lambda item: -item[1].count)[:count]
    parts = [f"{name!r} {blob.shape} ({amount(blob.count * blob.dtype.itemsize)})" for name, blob in order]
    return ", ".join(parts) or "none"


def amount(size: int) -> str:
    """Bytes in words.

    >>> amount(5), amount(3 * 2**20), amount(5 * 2**29)
    ('5 bytes', '3.0 MB', '2.5 GB')
    """
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


def machine_memory() -> int | None:
    """The bytes of memory of this machine, swap included, or those that its container may use; None where unknown."""
    limits: list[int] = []
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if ":" in line}
        limits.append(sizes["MemTotal"] + sizes.get("SwapTotal", 0))
    if not limits and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            limits.append(int(Path(name).read_text()))
    return min(limits, default=None)
