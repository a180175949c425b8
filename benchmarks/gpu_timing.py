"""How long work takes on a device: events of its stream around each call, medians, with a cold second-level cache."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from boxpresso.device import Device
from boxpresso.device.cuda import Cuda
from boxpresso.device.graph import CapturedGraph
from boxpresso.proto.errors import BoxpressoError

FLUSH = 256 << 20  # bytes that are written between two calls: more than any second-level cache holds


class Timer:
    """Times calls on a GPU by events of its stream; on the CPU by the clock."""

    def __init__(self, device: Device, seconds: float, tiny: bool = False) -> None:
        self.device, self.seconds, self.least = device, seconds, 3 if tiny else 7
        self.flush = device.empty((1024 if tiny else FLUSH // 4,), "float32") if device.kind == "cuda" else None

    def ms(self, call: Callable[[], Any], cold: bool = True) -> float:
        """The median of some calls in milliseconds, each after what it needs has left the caches if `cold`."""
        call()
        call()
        self.device.synchronize()
        if self.flush is None:
            return self.by_clock(call)
        cuda: Any = import_module("pycuda.driver")
        pairs, begun = [], time.perf_counter()
        with cast(Cuda, self.device):
            while len(pairs) < self.least or (time.perf_counter() - begun < self.seconds and len(pairs) < 200):
                if cold:
                    self.flush.fill(0)
                start, end = cuda.Event(), cuda.Event()
                start.record(cast(Cuda, self.device).stream)
                call()
                end.record(cast(Cuda, self.device).stream)
                pairs.append((start, end))
                if len(pairs) % 8 == 0:
                    self.device.synchronize()
            self.device.synchronize()
            return statistics.median(start.time_till(end) for start, end in pairs)

    def graph(self, call: Callable[[], Any]) -> Callable[[], Any] | None:
        """A replay of what the call launches, as one CUDA graph; None on the CPU, and for what needs the host."""
        if self.device.kind != "cuda":
            return None
        call()
        try:
            return CapturedGraph(cast(Cuda, self.device), call).launch
        except BoxpressoError:
            return None

    def by_clock(self, call: Callable[[], Any]) -> float:
        """The median by the clock, each call waited for: for what goes to the host and back."""
        times, begun = [], time.perf_counter()
        while len(times) < self.least or (time.perf_counter() - begun < self.seconds and len(times) < 200):
            start = time.perf_counter()
            call()
            self.device.synchronize()
            times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times)


def torch_ms(call: Callable[[], Any], seconds: float, cold: bool = True) -> float:
    """The same of a call of torch on its GPU, by torch's events."""
    torch: Any = import_module("torch")
    scratch = torch.empty(FLUSH // 4, device="cuda") if cold else None
    call(), call()
    torch.cuda.synchronize()
    pairs, begun = [], time.perf_counter()
    while len(pairs) < 7 or (time.perf_counter() - begun < seconds and len(pairs) < 200):
        if scratch is not None:
            scratch.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        pairs.append((start, end))
        if len(pairs) % 8 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return float(statistics.median(start.elapsed_time(end) for start, end in pairs))


def torch_graph(call: Callable[[], Any]) -> tuple[Callable[[], Any], Any] | None:
    """A replay of a call of torch as one CUDA graph, and the tensors that it then writes; None for what cannot be captured."""
    torch: Any = import_module("torch")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call(), call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            results = call()
    except RuntimeError:
        torch.cuda.synchronize()
        return None
    return graph.replay, results


def torch_by_clock(call: Callable[[], Any], seconds: float) -> float:
    """By the clock, each call waited for."""
    torch: Any = import_module("torch")
    call(), call()
    torch.cuda.synchronize()
    times, begun = [], time.perf_counter()
    while len(times) < 7 or (time.perf_counter() - begun < seconds and len(times) < 200):
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)
