"""How much memory a net needs: of its blobs and parameters, known from their shapes, and refused before it is taken."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ..device import Blob
from ..layers.core import Layer
from ..proto.errors import DeviceError, ModelError


class Memory:
    """The bytes that a net asks for. What layers keep for themselves comes on top.

    limit: the most that it may ask for; None is all the memory that this machine, or this container, has.
    """

    def __init__(self, limit: int | None, device: str) -> None:
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise ModelError(f"memory_limit must be a whole number of bytes from 1, got {limit!r}")
        self.given = limit is not None
        self.limit = limit if limit is not None else (machine_memory() if device == "cpu" else None)
        self.parameters = 0
        self.buffers: dict[object, int] = {}  # of tops: each memory with its bytes
        self.tops = self.diffs = 0
        self.blobs: Mapping[str, Blob] = {}

    @property
    def total(self) -> int:
        return self.parameters + self.tops + self.diffs

    def take_parameter(self, layer: Layer, index: int, size: int) -> None:
        """Counts a parameter of `size` bytes. Raises DeviceError where that is too much."""
        self.check(layer, f"parameter {index}", size)
        self.parameters += size

    def take_tops(self, layer: Layer, tops: Mapping[str, Blob]) -> None:
        """Counts the tops of a layer by their shapes, memory that several share once. Raises DeviceError as above."""
        for name, blob in tops.items():
            size, known = blob.count * blob.dtype.itemsize, self.buffers.get(blob._data, 0)
            if size > known:
                self.check(layer, f"top {name!r} of shape {blob.shape}", size - known)
                self.buffers[blob._data] = size
                self.tops += size - known

    def take_diffs(self, layer: Layer, what: str, blobs: Iterable[Blob], seen: set[object]) -> None:
        """Counts the diffs of blobs, memory that several share once, by what is in `seen`. Raises DeviceError as above."""
        for blob in blobs:
            if blob._diff not in seen:
                seen.add(blob._diff)
                size = blob.count * blob.dtype.itemsize
                self.check(layer, f"gradient of {what} of shape {blob.shape}", size)
                self.diffs += size

    def check(self, layer: Layer, what: str, more: int) -> None:
        if self.limit is None or self.total + more <= self.limit:
            return
        whose = "memory_limit (--memory-limit) allows" if self.given else "this machine has"
        raise DeviceError(
            f"{layer}: its {what} takes {amount(more)}, {amount(self.total + more)} with what comes before; {whose} "
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
    found: list[int] = []
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if ":" in line}
        found.append(sizes["MemTotal"] + sizes.get("SwapTotal", 0))
    if not found and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            found.append(int(Path(name).read_text()))
    return min(found, default=None)
