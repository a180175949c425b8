"""CUDA graphs: what a stream is given while it captures, replayed by one call of the driver."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

from ..proto.errors import DeviceError
from . import context
from .array import Buffer, recording
from .cuda import Allocation, Cuda

RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: memory may be taken meanwhile


def destroy(device: Cuda, executable: ctypes.c_void_p) -> None:
    """Destroys a graph. One that is running ends first, as the driver's manual says."""
    if Allocation.closed:
        return
    with suppress(DeviceError), device:  # where the context is lost, so is the graph
        context.call("cuGraphExecDestroy", executable)


def captured(device: Cuda, work: Callable[[], None], uses: list[tuple[Buffer | None, Any, bool]]) -> ctypes.c_void_p:
    """What a function launches, as the driver's graph; `uses` gets the memory of it. Whatever happens, the stream captures no
    more when this returns, and what was to end meanwhile has ended."""
    graph, stream = ctypes.c_void_p(), ctypes.c_void_p(device.stream.handle)
    try:
        with context.exclusive:
            context.call("cuStreamBeginCapture_v2", stream, RELAXED)
            try:
                recording.uses = uses
                device.captured_by = threading.get_ident()
                work()
            except BaseException:
                recording.uses = None
                context.interface().cuStreamEndCapture(stream, ctypes.byref(graph))
                if graph.value:
                    context.call("cuGraphDestroy", graph)
                raise
            recording.uses = None
            context.call("cuStreamEndCapture", stream, ctypes.byref(graph))
    finally:
        waiting, recording.after = recording.after, []
        for end in waiting:
            end()
    return graph


class CapturedGraph:
    """The launches that a function makes, captured and not run.

    A graph holds the memory that it uses. It is replayed on what the arrays hold then: arrays that are newer on the host are
    copied first, and what it writes is newer on the GPU from then on.

    Parameters
    ----------
    device
        Whose stream captures, and replays.
    work
        Called once. What it launches must have run before, so that kernels are loaded, and what it keeps is there.

    Attributes
    ----------
    nodes
        How many launches, copies and fills there are.

    Raises
    ------
    DeviceError
        For work that needs the host: a copy to or from it, or a wait.
    """

    def __init__(self, device: Cuda, work: Callable[[], None]) -> None:
        self.device = device
        uses: list[tuple[Buffer | None, Any, bool]] = []
        self.executable = ctypes.c_void_p()
        with device:
            graph = captured(device, work, uses)
            count = ctypes.c_size_t()
            try:
                context.call("cuGraphGetNodes", graph, None, ctypes.byref(count))
                self.nodes = count.value
                if self.nodes:
                    context.call(
                        "cuGraphInstantiateWithFlags", ctypes.byref(self.executable), graph, ctypes.c_ulonglong(0)
                    )
            finally:
                context.call("cuGraphDestroy", graph)
        self.memory = [memory for _, memory, _ in uses]
        seen: dict[int, tuple[Buffer, Any]] = {}
        written: dict[int, Buffer] = {}
        read_first: dict[int, Buffer] = {}
        for buffer, memory, write in uses:
            if buffer is None:
                continue
            seen[id(buffer)] = buffer, memory
            if write:
                written[id(buffer)] = buffer
            elif id(buffer) not in written:
                read_first[id(buffer)] = buffer
        self.uses, self.writes, self.reads = list(seen.values()), list(written.values()), list(read_first.values())
        devices = {cast(Cuda, buffer.device) for buffer, _ in self.uses}
        self.others = [other for other in devices if other is not device]

    def valid(self) -> bool:
        """Whether every array that is still in use lies where it lay."""
        return all(buffer.memory is memory for buffer, memory in self.uses)

    def launch(self) -> None:
        """Replays it behind the caller's back."""
        for buffer in self.reads:
            if not buffer.device_fresh:
                buffer.on_device(False)
        device = self.device
        if self.nodes:
            with device:
                device.wait_for(self.others)
                context.call("cuGraphLaunch", self.executable, ctypes.c_void_p(device.stream.handle))
                device.let_wait(self.others)
        for buffer in self.writes:
            buffer.device_fresh, buffer.host_fresh = True, False
            buffer.changes += 1

    def __del__(self) -> None:
        if getattr(self, "executable", None):
            if recording.uses is not None:  # this thread captures another
                recording.after.append(partial(destroy, self.device, self.executable))
            else:
                destroy(self.device, self.executable)
