"""Rules of NVIDIA's driver and libraries that show only when something else goes on at the same time: another thread, another
library, a fork, the end of the process. On the stand-in, which checks them.

What a capture forbids is in CUDA's programming guide, "prohibited and unhandled operations" of stream capture.
"""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in
from test_cuda_faults import MODEL

from boxpresso import Net
from boxpresso.device import Kernels, context, cuda
from boxpresso.device.events import median_ms
from boxpresso.device.foreign import from_interface
from boxpresso.device.graph import CapturedGraph
from boxpresso.device.records import slots_of
from boxpresso.proto import parse_net
from boxpresso.proto.errors import DeviceError

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]
TEXT = '#include "kernel.h"\nKERNEL twice(int n, const Real* x, Real* y) { GRID_LOOP(i, n) y[i] = 2 * x[i]; }\n'


@pytest.fixture
def gpu(monkeypatch):
    """A device of its own, pooled and not waiting, as users have it."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    return cuda.Cuda(0)


def small() -> Net:
    net = Net(parse_net(MODEL), seed=1, device="cuda")
    net.forward(x=np.zeros((2, 3, 9, 9)))
    return net


def in_thread(work) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


# Captures beside the work of others


def test_another_library_may_use_the_null_stream_while_a_graph_is_captured(gpu):
    """As torch does in its default stream. A stream that waits for the null stream would break: both calls would fail."""
    x, y = gpu.table(np.arange(5), np.float32), gpu.empty((5,), np.float32)
    x.address(False), y.address(True)
    status = []

    def other() -> None:
        with gpu:
            status.append(ctypes.CDLL(None).cuMemsetD8Async(theirs, 7, ctypes.c_size_t(20), None))

    with gpu:
        memory = cuda.driver().mem_alloc(20)
    theirs = ctypes.c_ulonglong(int(memory))

    def work() -> None:
        in_thread(other).join()
        gpu.copy(x.address(False), y.address(True), x.nbytes)

    graph = CapturedGraph(gpu, work)
    assert status == [0]
    graph.launch()
    np.testing.assert_array_equal(y, np.arange(5))


def test_a_stream_that_the_null_stream_waits_for_would_break(gpu):
    """The fault that the test above guards against, planted."""
    driver, made = ctypes.CDLL(None), ctypes.c_void_p()
    graph, status = ctypes.c_void_p(), []
    with gpu:
        memory = cuda.driver().mem_alloc(20)
        theirs = ctypes.c_ulonglong(int(memory))
        assert driver.cuStreamCreate(ctypes.byref(made), 0) == 0
        assert driver.cuStreamBeginCapture_v2(made, 2) == 0

        def other() -> None:
            with gpu:
                status.append(driver.cuMemsetD8Async(theirs, 7, ctypes.c_size_t(20), None))

        in_thread(other).join()
        assert status == [906]  # CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
        assert driver.cuStreamEndCapture(made, ctypes.byref(graph)) == 901  # ..._INVALIDATED
        assert driver.cuStreamDestroy_v2(made) == 0


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("begins", [True, False])
def test_what_waits_for_the_whole_gpu_waits_for_captures(gpu, begins, tmp_path):
    """Nets come and go in other threads: their libraries' handles are made and destroyed, their kernels loaded. To do any of
    that while a stream captures would break the capture."""
    (tmp_path / "fresh.cu").write_text(TEXT)
    faults = stand_in.counts()["faults"]
    nets = [] if begins else [small()]
    x, y = gpu.table(np.arange(5), np.float32), gpu.empty((5,), np.float32)
    x.address(False), y.address(True)

    def other() -> None:
        if begins:
            nets.append(small())
            fresh = Kernels(tmp_path / "fresh.cu")
            device = cuda.Cuda(0)
            fresh.on(device).twice(5, device.table(np.arange(5), np.float32), device.empty((5,), np.float32))
        else:
            nets.clear()
            gc.collect()

    threads = []

    def work() -> None:
        threads.append(in_thread(other))
        threads[0].join(0.3)
        gpu.copy(x.address(False), y.address(True), x.nbytes)

    graph = CapturedGraph(gpu, work)
    threads[0].join()
    assert stand_in.counts()["faults"] == faults
    assert len(nets) == int(begins)
    graph.launch()
    np.testing.assert_array_equal(y, np.arange(5))


def test_a_net_that_uses_anothers_weights_waits_for_its_capture(gpu, tmp_path):
    """What is given to the stream of those weights from another thread would go into the graph."""
    (tmp_path / "fresh.cu").write_text(TEXT)
    kernels, other = Kernels(tmp_path / "fresh.cu"), cuda.Cuda(0)
    x, y = gpu.table(np.arange(5), np.float32), gpu.empty((5,), np.float32)
    z, late = other.empty((5,), np.float32), gpu.table(np.arange(5), np.float32)
    x.address(False), y.address(True)
    kernels.on(other).twice(5, x, z)
    CapturedGraph(
        gpu, lambda: gpu.copy(x.address(False), y.address(True), x.nbytes)
    )  # this thread is one that captures

    def use() -> None:
        kernels.on(other).twice(5, x, z)
        kernels.on(other).twice(5, late, z)  # and is uploaded
        seen.append(np.array(x))

    threads, seen, faults = [], [], stand_in.counts()["faults"]

    def work() -> None:
        threads.append(in_thread(use))
        threads[0].join(0.3)
        gpu.copy(x.address(False), y.address(True), x.nbytes)

    graph = CapturedGraph(gpu, work)
    threads[0].join()
    assert stand_in.counts()["faults"] == faults
    assert graph.nodes == 1
    np.testing.assert_array_equal(seen, [np.arange(5)])
    np.testing.assert_array_equal(z, 2 * np.arange(5))


@pytest.mark.usefixtures("libraries")
def test_what_is_collected_in_a_capture_ends_after_it(gpu):
    """Garbage is collected at any time, also in the thread that captures: another Net's handles, streams and graphs."""
    x = gpu.table(np.arange(5), np.float32)
    x.address(True)
    net = small()
    for _ in range(4):
        net.forward(x=np.zeros((2, 3, 9, 9)))
    gc.collect()  # what earlier tests have left
    objects, before = [net, CapturedGraph(gpu, lambda: x.fill(2))], stand_in.counts()
    del net

    def work() -> None:
        objects.clear()
        gc.collect()
        x.fill(3)

    graph = CapturedGraph(gpu, work)
    grown = stand_in.since(before)
    assert (grown["faults"], grown["handles"], grown["streams"]) == (0, -2, -1)
    assert grown["graphs"] < 0
    graph.launch()
    np.testing.assert_array_equal(x, np.full(5, 3))


def test_a_capture_that_another_thread_breaks_is_tried_again(monkeypatch):
    """A library that waits for the whole GPU in its own thread breaks the capture; the forward goes on, and captures later."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    net = Net(parse_net(MODEL), seed=1, device="cuda")
    x = np.random.default_rng(2).standard_normal((2, 3, 9, 9)).astype(np.float32)
    wanted = net.forward(x=x)["f"]
    net.forward(x=x)
    planted, launch, other = [], cuda.Cuda.launch, cuda.Cuda(0)

    def spoiled(self, *args) -> None:
        launch(self, *args)
        if self is net.device and not planted:
            planted.append(in_thread(synchronize))
            planted[0].join()

    def synchronize() -> None:
        with other:
            ctypes.CDLL(None).cuCtxSynchronize()

    monkeypatch.setattr(cuda.Cuda, "launch", spoiled)
    for _ in range(4):
        np.testing.assert_array_equal(net.forward(x=x)["f"], wanted)
    assert planted
    (program,) = net._runner.describe()
    assert program.describe()["graphs"] > 0
    assert program.describe()["by themselves"] == {}


@pytest.mark.parametrize("stream", [None, 1, "own"])
def test_work_of_a_library_of_the_array_interface_is_waited_for_on_the_gpu(gpu, monkeypatch, stream):
    """By our stream, behind the stream that is named, or the null stream, where PyCUDA's arrays are computed; the host does not
    wait. Our streams do not wait for the null stream by themselves."""
    theirs = cuda.Cuda(0)
    array = theirs.table(np.arange(6), np.float32)
    handle = theirs.stream.handle if stream == "own" else stream
    said = {"shape": (6,), "typestr": "<f4", "data": (array.address(False), False), "stream": handle, "version": 3}
    if stream != "own":
        theirs.synchronize()
    seen, order = [], cuda.Cuda.order
    monkeypatch.setattr(cuda.Cuda, "order", lambda self, *streams: (seen.append(streams), order(self, *streams)))
    before = stand_in.counts()
    ours = from_interface(SimpleNamespace(__cuda_array_interface__=said), gpu)
    assert stand_in.since(before)["waits"] == 0
    assert seen == [(handle or cuda.LEGACY, gpu.stream.handle)]
    np.testing.assert_array_equal(ours, np.arange(6))


# Forks and ends


def test_a_fork_says_that_it_cannot_use_the_gpu(tmp_path):
    """CUDA cannot be used in a fork of a process that has started it. What the fork inherits ends in silence."""
    code = """
        import os, sys, gc, numpy as np
        from boxpresso import Net
        from boxpresso.proto.errors import DeviceError
        net = Net(sys.argv[1], device="cuda")
        net.forward(x=np.zeros((2, 3, 9, 9)))
        child = os.fork()
        if child == 0:
            try:
                net.forward(x=np.ones((2, 3, 9, 9)))
            except DeviceError as error:
                print(error, flush=True)
            del net
            gc.collect()
            print(Net(sys.argv[1], device="cpu").forward(x=np.zeros((2, 3, 9, 9)))["f"].shape, flush=True)
            sys.exit(0)
        print(os.waitpid(child, 0)[1], flush=True)
        net.forward(x=np.zeros((2, 3, 9, 9)))
    """
    (tmp_path / "model.prototxt").write_text(MODEL)
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(tmp_path / "model.prototxt")]
    environment = {**os.environ, "BOXPRESSO_DEBUG": "0"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    said, shape, status = result.stdout.splitlines()
    assert "a fork of a process that has used the GPU cannot use it" in said
    assert (shape, status) == ("(2, 4)", "0")


def test_a_training_that_is_told_to_end_saves_from_a_fork_what_is_on_the_gpu(tmp_path):
    """Rank 0 of a job saves in a fork, which mpirun does not know. The weights are brought to the host before."""
    code = """
        import sys, numpy as np
        from boxpresso import Net, Solver
        from boxpresso.proto import SolverParameter
        from boxpresso.train.ranks import Ranks
        from google.protobuf import text_format
        param = text_format.Parse(open(sys.argv[1]).read(), SolverParameter())
        param.snapshot_prefix = sys.argv[2]
        solver = Solver(param, device="cuda", log=lambda line: None)
        solver.step(3)
        Ranks._abort = lambda self, text, status: print(text, flush=True)
        solver.ranks._terminate(15, None)
        saved = Net(param.net_param, sys.argv[2] + "_iter_3.caffemodel", device="cpu")
        print(np.abs(saved.params["f"][0].data - np.array(solver.net.params["f"][0].data)).max(), flush=True)
    """
    (tmp_path / "solver.prototxt").write_text("""
        base_lr: 0.1 lr_policy: "fixed" momentum: 0.9
        net_param {
          layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param {
            shape { dim: 4 dim: 6 } shape { dim: 4 dim: 3 } data_filler { type: "gaussian" } data_filler { type: "constant" } } }
          layer { name: "f" type: "InnerProduct" bottom: "x" top: "f" inner_product_param {
            num_output: 3 weight_filler { type: "xavier" } } }
          layer { name: "loss" type: "EuclideanLoss" bottom: "f" bottom: "t" top: "loss" }
        }
    """)
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "solver.prototxt"), str(tmp_path / "saved")]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "BOXPRESSO_DEBUG": "0"})
    assert result.returncode == 0, result.stderr
    said, apart = result.stdout.splitlines()
    assert said == "ended by SIGTERM; what was learned is saved"
    assert float(apart) == 0


# Compiling


def test_a_gpu_that_is_newer_than_nvcc_gets_ptx(gpu, tmp_path, monkeypatch):
    """The driver compiles it. An older one than nvcc knows cannot be helped."""
    (tmp_path / "fresh.cu").write_text(TEXT)
    kernels = Kernels(tmp_path / "fresh.cu")
    for arch, works in (("sm_130", True), ("sm_70", False)):
        device = cuda.Cuda(0)
        device.arch, device.modules, device.functions = arch, {}, {}
        monkeypatch.setenv("BOXPRESSO_CACHE", str(tmp_path / arch))
        x, y = device.table(np.arange(5), np.float32), device.empty((5,), np.float32)
        if works:
            kernels.on(device).twice(5, x, y)
            np.testing.assert_array_equal(y, 2 * np.arange(5))
        else:
            with pytest.raises(DeviceError, match=r"does not compile for sm_70 .the oldest that it knows is 75."):
                kernels.on(device).twice(5, x, y)


def test_processes_that_want_the_same_kernel_compile_it_once(tmp_path):
    """As the workers of pytest-xdist on a machine whose cache is empty."""
    log = tmp_path / "log"
    (tmp_path / "nvcc").write_text(
        f'#!/bin/sh\n[ "$1" = --version ] || echo once >> {log}\nsleep 0.2\nexec {shutil.which("nvcc")} "$@"\n'
    )
    (tmp_path / "nvcc").chmod(0o755)
    (tmp_path / "fresh.cu").write_text(TEXT)
    code = """
        import sys, numpy as np
        from boxpresso.device import Kernels, open_device
        open_device("cuda").build(Kernels(sys.argv[1]), np.dtype(np.float32))
    """
    environment = {
        **os.environ, "BOXPRESSO_CACHE": str(tmp_path / "cache"), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "fresh.cu")]
    running = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert log.read_text().split() == ["once"]


# Memory


def test_a_wide_load_from_an_address_that_it_cannot_take_is_found(monkeypatch, tmp_path):
    """A GPU stops there with "misaligned address", which ends the context; a CPU does not mind."""
    monkeypatch.setenv("BOXPRESSO_DEBUG", "1")
    (tmp_path / "wide.cu").write_text(
        '#include "kernel.h"\nstruct alignas(16) Four { float of[4]; };\n'
        "KERNEL sums(int n, const float* x, Real* y) {\n"
        "  GRID_LOOP(i, n) { const Four f = *(const Four*)(x + 4 * i); y[i] = f.of[0] + f.of[1] + f.of[2] + f.of[3]; }\n}\n"
    )
    device, kernels = cuda.Cuda(0), Kernels(tmp_path / "wide.cu")
    x, y = device.table(np.arange(24), np.float32), device.empty((5,), np.float32)
    for start in (0, 4):
        kernels.on(device).sums(5, device.part(x, start, (20,)), y)
        np.testing.assert_array_equal(y, (np.arange(20).reshape(5, 4) + start).sum(1))
    with pytest.raises(DeviceError, match=r"misaligned address .sums: .*wide\.cu:4: a load or store at"):
        kernels.on(device).sums(5, device.part(x, 1, (20,)), y)


def test_events_of_a_thread_end_there(gpu, recwarn):
    """PyCUDA cannot end them in a thread that is not the one that made the context, unless that is current: it warns, and keeps
    them for ever."""

    def work() -> None:
        large = gpu.table(np.arange(3 * 2**20), np.float32)
        large.address(False)
        seen.append(np.array(large)[-1])
        large.address(True)
        seen.append(np.array(large)[-1])
        small_ = gpu.table(np.arange(5), np.float32)
        median_ms(gpu, lambda: gpu.copy(small_.address(False), large.address(True), small_.nbytes))

    seen = []
    in_thread(work).join()
    gc.collect()
    assert seen == [3 * 2**20 - 1] * 2
    assert not [str(w.message) for w in recwarn.list]


def test_a_finaliser_waits_for_nobody(gpu):
    """Garbage is collected while a thread has the lock of the records; another one that captures wants that lock. A finaliser
    that waited for the capture's end would wait for ever."""
    slots, dropped, before = slots_of(0), [cuda.Cuda(0)], stand_in.counts()
    holds, captures, taken = threading.Event(), threading.Event(), []

    def collect() -> None:
        with slots.lock:
            holds.set()
            assert captures.wait(20)
            dropped.clear()
            gc.collect()

    def capture() -> None:
        assert holds.wait(20)
        with context.exclusive:
            captures.set()
            taken.append(slots.take())

    threads = [threading.Thread(target=work, daemon=True) for work in (collect, capture)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert len(taken) == 1
    assert stand_in.since(before)["streams"] == -1  # its stream has ended, by who came out last


def test_what_a_finaliser_leaves_waits_for_the_outermost_end():
    done = []
    with context.exclusive:
        with context.exclusive:
            context.exclusive.leave(lambda: done.append(1))
        assert not done  # as in a capture that loads a kernel
    assert done == [1]
    context.exclusive.leave(lambda: done.append(2))
    assert done == [1, 2]
