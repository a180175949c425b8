"""Tapes: the launches of a piece of work, made again on other arrays of the same kinds without the Python that led to them.

A graph (graph.py) is bound to its arrays, and is right for a net, whose blobs stay. An operator is called with other arrays
each time: its launches differ in a few addresses alone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..proto.errors import DeviceError
from ..proto.limits import LIMITS
from . import context
from .array import Array, Buffer, recording
from .cuda import Cuda, driver
from .host import Cpu, lacking
from .signature import Kernel, addressof, char_at

ADDRESS = struct.Struct("<Q")
TRIES = 3  # how often work that was not launches alone is tried again: it may have taken memory, or made a table


class Unrecordable(DeviceError):
    """Work that is not launches alone; it may have been done in part."""


class Tape:
    """What `work` launches, which it does while it is recorded too.

    Parameters
    ----------
    device
        Whose stream it is launched in.
    work
        Called once. What it uses beside `arrays` must be there, so that it launches kernels and does nothing else.
    arrays
        Arrays of the caller's, which are others when it is played; each in memory of its own.

    Raises
    ------
    Unrecordable
        For work that copies, fills, waits, takes memory or calls a library.
    """

    def __init__(self, device: Cuda, work: Callable[[], None], arrays: Sequence[Array]) -> None:
        self.device, slots = device, {id(array.buffer): i for i, array in enumerate(arrays)}
        if len(slots) < len(arrays):
            raise Unrecordable("two arrays lie in one memory")
        self.aligned = [array.address(False) % 16 for array in arrays]
        uses: list[tuple[Buffer | None, Any, bool]] = []
        launches: list[tuple[Any, tuple[int, int], tuple[int, int, int], Any, bytes, Sequence[Any]]] = []
        entered, self.limit = context.thread.entries, LIMITS.region_samples
        recording.uses, recording.launches = uses, launches
        try:
            work()
        except DeviceError as error:
            raise Unrecordable(str(error)) from error
        finally:
            recording.uses = recording.launches = None
        foreign = any(buffer is None or buffer.device is not device for buffer, _, _ in uses if id(buffer) not in slots)
        if context.thread.entries != entered or foreign:
            raise Unrecordable("it is not launches alone")
        self.launches = []
        for function, grid, block, packed, passed, args in launches:
            places = []
            for at, i in packed.addresses:
                slot = slots.get(id(args[i].buffer)) if isinstance(args[i], Array) else None
                if slot is not None:
                    places.append((at, slot, args[i].start * args[i].dtype.itemsize))
            self.launches.append((function, grid, block, bytearray(passed), places))
        own = {
            id(buffer): (buffer, memory) for buffer, memory, _ in uses if buffer is not None and id(buffer) not in slots
        }
        self.uses = list(own.values())
        self.writes = [own[at][0] for at in {id(buffer) for buffer, _, write in uses if write} if at in own]

    def fits(self, addresses: Sequence[int]) -> bool:
        """Whether it can be played on arrays at these addresses: all else lies where it lay, and the limit is the same."""
        if self.limit != LIMITS.region_samples:
            return False
        for address, aligned in zip(addresses, self.aligned):
            if address % 16 != aligned:
                return False
        for buffer, memory in self.uses:  # noqa: SIM110  all(...) costs a call for each
            if buffer.memory is not memory or not buffer.device_fresh:
                return False
        return True

    def play(self, addresses: Sequence[int]) -> None:
        """Makes the launches on other arrays, whose addresses are given in the order of `arrays`."""
        device, stream = self.device, self.device.stream
        foreign = context.current() != device.handle
        if foreign:
            context.interface().cuCtxPushCurrent_v2(device.handle)
        try:
            for function, grid, block, passed, places in self.launches:
                for at, slot, offset in places:
                    ADDRESS.pack_into(passed, at, addresses[slot] + offset)
                function._launch_kernel(grid, block, passed, 0, stream)
        except driver().Error as error:
            raise DeviceError(f"{device.name}: a recorded launch failed: {error}") from error
        finally:
            if foreign:
                context.interface().cuCtxPopCurrent_v2(context.thread.at)
        for buffer in self.writes:
            buffer.host_fresh = False
            buffer.changes += 1


class HostTape:
    """The same on the CPU, where nobody can tell whether `work` is launches alone: its caller knows.

    Parameters
    ----------
    device
        The CPU.
    work
        Called once. It launches kernels and does nothing else that depends on the numbers of `arrays`.
    arrays
        Arrays of the caller's, which are others of the same sizes when it is played. All else that is launched on is kept.

    Raises
    ------
    Unrecordable
        For arrays of which one lies in another.
    """

    def __init__(self, device: Cpu, work: Callable[[], None], arrays: Sequence[np.ndarray]) -> None:
        self.device, self.limit = device, LIMITS.region_samples
        spans = sorted((address_of(array), address_of(array) + array.nbytes, i) for i, array in enumerate(arrays))
        if any(end > start for (_, end, _), (start, _, _) in pairwise(spans)):
            raise Unrecordable("two arrays lie in one memory")
        launches: list[Any] = []
        recording.launches = launches
        try:
            work()
        finally:
            recording.launches = None
        self.launches: list[tuple[Kernel, Any, int, int, list[Any], list[tuple[int, int, int]], Sequence[Any]]] = []
        for kernel, function, n, size, passed, args in launches:
            places = [
                (at, i, address_of(arg) - start)
                for at, arg in enumerate(args)
                if isinstance(arg, np.ndarray) and arg.nbytes
                for start, end, i in spans
                if start <= address_of(arg) < end
            ]
            own = [arg for at, arg in enumerate(args) if at not in {at for at, _, _ in places}]
            self.launches.append((kernel, function, n, size, passed, places, own))

    def fits(self, addresses: Sequence[int]) -> bool:
        """Whether the limit is still the same."""
        return self.limit == LIMITS.region_samples

    def play(self, addresses: Sequence[int]) -> None:
        """Makes the launches on other arrays, whose addresses are given in the order of `arrays`."""
        run, workers = self.device.schedule.run, self.device.workers
        for kernel, function, n, size, passed, places, _ in self.launches:
            for at, slot, offset in places:
                passed[at] = addresses[slot] + offset
            lacks = run(kernel, workers if workers < n else n, n, size, function, passed)
            if lacks:
                raise MemoryError(lacking(lacks, kernel))


def address_of(array: np.ndarray) -> int:
    """Where an array of the CPU lies."""
    try:
        return addressof(char_at(array))  # type: ignore[arg-type]  # arrays are buffers
    except (TypeError, ValueError):  # one that is read-only or empty, or of another library's dtype
        address: int = array.ctypes.data if array.dtype.kind == "V" else array.__array_interface__["data"][0]
        return address
