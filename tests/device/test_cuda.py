"""The GPU path on the stand-in for NVIDIA's driver (tests/stand_in/run.py): what is copied, held, given back and said.

Each test here also plants the fault that it guards against, where it can.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import stand_in

from boxpresso import Blob, DeviceError, KernelError, Net
from boxpresso.device import Kernels, cuda, open_device
from boxpresso.proto import SolverParameter, parse_net
from boxpresso.train.updates import Parameters, UpdateStep

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]

MODEL = """
    name: "small" force_backward: true
    layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 9 dim: 9 } } }
    layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
            convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
    layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
    layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
    layer { name: "permute" type: "Permute" bottom: "pool" top: "permute"
            permute_param { order: 0 order: 2 order: 3 order: 1 } }
    layer { name: "flat" type: "Flatten" bottom: "permute" top: "flat" }
    layer { name: "fc" type: "InnerProduct" bottom: "flat" top: "fc"
            inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
    layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
"""
IMAGE = np.random.default_rng(3).standard_normal((2, 3, 9, 9)).astype(np.float32)

TEXT = """
#include "kernel.h"
KERNEL scaled(int n, const Real* x, Real* y, Real by) { GRID_LOOP(i, n) y[i] = x[i] * by; }
KERNEL beyond(int n, Real* y) { GRID_LOOP(i, n + 1) y[i] = 0; }
KERNEL before(int n, Real* y) { GRID_LOOP(i, n) y[i - 1] = 0; }
KERNEL gathered(int n, const Real* x, Real* y) {
  SUMS_IN_ANY_ORDER;
  BLOCK_LOOP(b, n) {
    THREAD_LOOP(t, 16) add(y + b, x[b * 16 + t]);
    BARRIER();
  }
}
"""


@pytest.fixture
def kernels(tmp_path):
    return made(tmp_path, TEXT)


@pytest.fixture
def gpu(monkeypatch):
    """A device of its own, pooled and not waiting, as users have it."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    return cuda.Cuda(0)


@pytest.fixture
def strict(monkeypatch):
    """A device of its own that waits for every launch and has red zones beside every array."""
    monkeypatch.setenv("BOXPRESSO_DEBUG", "1")
    return cuda.Cuda(0)


def made(folder, text: str) -> Kernels:
    (folder / "made.cu").write_text(text)
    return Kernels(folder / "made.cu")


def small(**options) -> Net:
    return Net(parse_net(MODEL), seed=1, device="cuda", **options)


# Copies


def test_a_forward_pass_copies_its_inputs_and_outputs_and_nothing_else():
    net = small()
    first = net.forward(data=IMAGE)["prob"]
    for image in (IMAGE, IMAGE[::-1].copy(), IMAGE):
        before = stand_in.counts()
        out = net.forward(data=image)["prob"]
        grown = stand_in.since(before)
        assert (grown["to_device"], grown["to_device_bytes"]) == (1, IMAGE.nbytes)
        assert (grown["to_host"], grown["to_host_bytes"]) == (1, out.nbytes)
        assert grown["allocated"] == 0
        assert grown["launches"] > 5
    np.testing.assert_array_equal(out, first)
    np.testing.assert_allclose(out, Net(parse_net(MODEL), seed=1, device="cpu").forward(data=IMAGE)["prob"], rtol=1e-5)


def test_a_backward_pass_copies_its_upstream_and_its_inputs_diffs_and_nothing_else():
    net = small()
    upstream = np.random.default_rng(4).standard_normal((2, 5)).astype(np.float32)
    net.forward(data=IMAGE)
    net.backward(prob=upstream)
    before = stand_in.counts()
    diff = net.backward(prob=upstream)["data"]
    grown = stand_in.since(before)
    assert (grown["to_device"], grown["to_device_bytes"]) == (1, upstream.nbytes)
    assert (grown["to_host"], grown["to_host_bytes"]) == (1, diff.nbytes)


def test_a_blob_that_layers_touch_on_the_host_would_be_counted():
    net = small()
    net.forward(data=IMAGE)
    before = stand_in.counts()
    net.forward(data=IMAGE, end="conv")
    net.blobs["conv"].data[0, 0, 0] *= 2  # the planted fault: a part is changed by Python
    net.forward(start="relu")
    grown = stand_in.since(before)
    assert (grown["to_device"], grown["to_host"]) == (2, 2)


def test_reading_does_not_upload_and_overwriting_does_not_fetch(gpu, kernels):
    x, y = gpu.table(np.arange(8), np.float32), gpu.empty((8,), np.float32)
    kernels.on(gpu).scaled(8, x, y, 2.0)
    before = stand_in.counts()
    assert (float(y[3]), y.max(), y.tolist()[1], np.asarray(y)[2]) == (6.0, 14.0, 2.0, 4.0)
    kernels.on(gpu).scaled(8, y, x, 1.0)
    assert (stand_in.since(before)["to_host"], stand_in.since(before)["to_device"]) == (1, 0)
    before = stand_in.counts()
    x[...] = 1
    kernels.on(gpu).scaled(8, x, y, 1.0)
    assert (stand_in.since(before)["to_host"], stand_in.since(before)["to_device"]) == (0, 1)
    before = stand_in.counts()
    y[...] = x
    assert stand_in.since(before)["on_device"] == 1
    with pytest.raises(ValueError, match="broadcast"):
        y[...] = np.zeros(3)
    np.testing.assert_array_equal(y, np.ones(8))


@pytest.mark.parametrize(("dtype", "value"), [("f4", 2.5), ("f8", -1.25), ("i4", -7), ("f8", 0)])
def test_filling_happens_on_the_device(gpu, dtype, value):
    x = gpu.empty((3, 5), dtype)
    x.address(True)
    before = stand_in.counts()
    x.fill(value)
    assert (stand_in.since(before)["to_host"], stand_in.since(before)["to_device"]) == (0, 0)
    np.testing.assert_array_equal(np.asarray(x), np.full((3, 5), value, dtype))


def test_nothing_is_read_before_it_has_run(gpu, kernels):
    """Streams of the stand-in run late: what a kernel has made is there only for who waits."""
    x, y = gpu.table(np.ones(4), np.float32), gpu.empty((4,), np.float32)
    y.address(True)
    kernels.on(gpu).scaled(4, x, y, 3.0)
    peeked = np.zeros(4, np.float32)
    with gpu:  # the planted fault: another stream
        cuda.driver().memcpy_dtoh_async(peeked, y.address(False), cuda.driver().Stream())
    assert not (peeked == 3).any()
    np.testing.assert_array_equal(np.asarray(y), np.full(4, 3))


def test_each_net_has_a_stream_of_its_own():
    one, two = small(), small()
    assert one.device.name == two.device.name == "cuda:0"
    assert one.device.stream.handle != two.device.stream.handle
    assert one.device.modules is two.device.modules


@pytest.mark.parametrize("ordered", [True, False])
def test_streams_that_share_an_array_wait_for_each_other(monkeypatch, kernels, ordered):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    one, two = cuda.Cuda(0), cuda.Cuda(0)
    x, y = one.table(np.ones(4), np.float32), two.empty((4,), np.float32)
    y.address(True)
    two.synchronize()
    if not ordered:  # the planted fault
        monkeypatch.setattr(cuda.Cuda, "after", lambda self, other: None)
    kernels.on(one).scaled(4, x, y, 3.0)  # runs on the stream of x; the stream of y copies the result
    seen = np.array(y)
    assert (seen == 3).all() == ordered
    one.synchronize()


def test_nets_that_share_weights_see_each_others_updates(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    train, test = small(), small()
    test.share_with(train)
    blobs = [blob for blob, _, _ in train.learnable]
    parameters = Parameters(SolverParameter(), blobs)
    for i in range(3):
        for blob in blobs:
            blob.diff.fill(1)
        parameters.update(UpdateStep(1.0, 0, i, [0.01] * len(blobs), [0.0] * len(blobs)))
        np.testing.assert_array_equal(test.forward(data=IMAGE)["prob"], train.forward(data=IMAGE)["prob"])
        assert test.params["conv"][0].data[0, 0, 0, 0] == train.params["conv"][0].data[0, 0, 0, 0]


# Memory


def test_everything_is_given_back():
    device = open_device("cuda")
    gc.collect()
    device.free_held()
    before = stand_in.counts()
    net = small()
    net.forward(data=IMAGE)
    net.backward()
    assert stand_in.since(before)["held"] > 0
    del net
    gc.collect()
    device.free_held()  # the page-locked memory is all streams'
    grown = stand_in.since(before)
    assert (grown["held"], grown["pinned"]) == (0, 0)
    assert grown["allocated"] == grown["freed"]


def test_a_stream_may_end_in_a_thread_that_has_no_context(recwarn):
    """Garbage is collected in whichever thread is running, such as one that makes batches ahead."""
    net = small()
    net.forward(data=IMAGE)
    nets = [net]
    del net
    gc.disable()
    try:
        nets.clear()
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()
    finally:
        gc.enable()
    assert not [str(w.message) for w in recwarn.list]
    assert small().forward(data=IMAGE)["prob"].shape == (2, 5)


def test_the_pool_serves_what_comes_and_goes(gpu):
    gpu.empty((1000,), np.float32).address(True)
    before = stand_in.counts()
    for _ in range(5):
        gpu.empty((1000,), np.float32).address(True)
    assert stand_in.since(before)["allocated"] == 0
    gpu.free_held()
    assert stand_in.since(before)["freed"] > 0


def test_out_of_memory_says_what_is_held_and_leaves_the_net_usable():
    net = small()
    first = net.forward(data=IMAGE)["prob"]
    device = open_device("cuda")
    gc.collect()  # what other tests left would be freed in the middle, and leave room
    device.free_held()
    stand_in.set_memory(stand_in.counts()["held"] + 3 * 2**20)
    try:
        with pytest.raises(DeviceError, match=r"out of memory: \d+\.\d MiB were asked for, \d+\.\d MiB are held by arrays"
                                              r" of this process, \d+\.\d of \d+\.\d MiB are free; use a smaller batch"):  # fmt: skip
            net.forward(data=np.zeros((2000, 3, 9, 9), np.float32))
        np.testing.assert_array_equal(net.forward(data=IMAGE)["prob"], first)
        np.testing.assert_array_equal(net.forward(data=IMAGE[:1])["prob"], first[:1])
    finally:
        stand_in.set_memory(4 << 30)
        device.short_of_memory = False


def test_red_zones_find_a_write_outside(strict, kernels):
    y = strict.empty((10,), np.float32)
    with pytest.raises(
        DeviceError,
        match=r"kernel beyond of made.cu failed.*beyond.* (wrote|uses 4 bytes) at byte 40 of an allocation of 40",
    ):
        kernels.on(strict).beyond(10, y)
    with pytest.raises(
        DeviceError, match=r"kernel before of made.cu failed.*before.* (wrote at byte -4|uses 4 bytes at)"
    ):
        kernels.on(strict).before(10, y)
    kernels.on(strict).scaled(10, y, strict.empty((10,), np.float32), 1.0)


def test_copies_and_frees_are_checked(gpu):
    driver = cuda.driver()
    with gpu:
        memory = driver.mem_alloc(40)
        fresh = np.zeros(10, np.float32)
        driver.memcpy_dtoh(fresh, memory)
        assert np.isnan(fresh).all()
        with pytest.raises(driver.LogicError, match=r"44 bytes at .* are not inside one allocation"):
            driver.memcpy_htod(memory, np.zeros(11, np.float32))
        with pytest.raises(driver.LogicError, match="not inside one allocation"):
            driver.memcpy_htod(np.zeros(4).ctypes.data, np.zeros(4))
        memory.free()
        with pytest.raises(driver.LogicError, match="not inside one allocation"):
            driver.memset_d8(int(fresh.ctypes.data), 0, 1)


# Launches


def test_an_argument_that_is_wrong_is_named(gpu, kernels):
    x, y = gpu.empty((4,), np.float32), gpu.empty((4,), np.float32)
    for args, words in [
        ((4, x, np.zeros(4, np.float32), 1.0), "'y' must be an array of float32 on cuda:0, got ndarray of float32"),
        ((4, x, gpu.empty((4,), np.float64), 1.0), "'y' must be an array of float32 on cuda:0, got Array of float64"),
        ((4, x, open_device("cuda:1").empty((4,), np.float32), 1.0), "'y' must be .* on cuda:0, .* on cuda:1"),
        ((4, x, y, "much"), "'by' must be one Real, got str 'much'"),
        ((4.5, x, y, 1.0), "'n' must be one int, got the float 4.5"),
    ]:
        with pytest.raises(KernelError, match=words):
            kernels.on(gpu).scaled(*args)


def test_a_compile_error_is_nvccs_with_our_file_and_line(gpu, tmp_path):
    broken = made(tmp_path, '#include "kernel.h"\nKERNEL f(int n, Real* y) {\n  GRID_LOOP(i, n) y[i] = oops;\n}\n')
    with pytest.raises(KernelError, match=r"(?s)made\.cu does not compile for sm_90.*made\.cu[:(]3.*oops"):
        broken.on(gpu).f(1, gpu.empty((1,), np.float32))


def test_a_damaged_file_of_the_cache_is_compiled_again(gpu, kernels):
    kernels.on(gpu).scaled(4, gpu.empty((4,), np.float32), gpu.empty((4,), np.float32), 1.0)
    path = gpu.cubin_path(kernels, "float")
    path.write_bytes(b"half a fi")
    gpu.modules.clear()  # as in another process
    gpu.functions.clear()
    x, y = gpu.table(np.arange(4), np.float32), gpu.empty((4,), np.float32)
    kernels.on(cuda.Cuda(0)).scaled(4, x, y, 3.0)
    assert path.read_bytes().startswith(b"\x7fELF")
    np.testing.assert_array_equal(y, 3 * np.arange(4))


def test_deterministic_adds_in_one_order(kernels):
    x = np.random.default_rng(0).standard_normal((50, 16)).astype(np.float32)
    seen = []
    for deterministic in (False, True, True):
        device = open_device("cuda", deterministic=deterministic)
        y = device.empty((50,), np.float32)
        before = stand_in.counts()
        kernels.on(device).gathered(50, device.table(x, np.float32), y)
        assert stand_in.since(before)["one_thread"] == int(deterministic)
        seen.append(np.array(y))
    np.testing.assert_array_equal(seen[1], seen[2])
    np.testing.assert_allclose(seen[1], x.sum(1), rtol=1e-4, atol=1e-5)
    net = small(deterministic=True)
    np.testing.assert_array_equal(net.forward(data=IMAGE)["prob"], small().forward(data=IMAGE)["prob"])


# Contexts


def test_two_gpus_in_one_thread(kernels):
    for turn in range(3):
        for name in ("cuda:0", "cuda:1"):
            device = open_device(name)
            y = device.empty((6,), np.float32)
            kernels.on(device).scaled(6, device.table(np.arange(6), np.float32), y, float(turn))
            np.testing.assert_array_equal(np.asarray(y), turn * np.arange(6))


def test_nets_in_several_threads():
    wanted, seen = small().forward(data=IMAGE)["prob"], {}

    def work(i: int) -> None:
        net = small()
        for _ in range(3):
            seen[i] = net.forward(data=IMAGE)["prob"]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    for out in seen.values():
        np.testing.assert_array_equal(out, wanted)


def test_a_process_whose_threads_used_the_gpu_ends_well(tmp_path):
    """PyCUDA calls abort() where a thread, or the process, ends with a context that it has made current."""
    code = """
        import sys, threading, numpy as np
        from boxpresso import Net
        def work(device):
            kept[device] = Net(sys.argv[1], device=device)
            kept[device].forward(data=np.zeros((2, 3, 9, 9)))
        kept = {}
        thread = threading.Thread(target=work, args=("cuda:1",))
        thread.start()
        thread.join()
        kept.clear()  # in a thread that has not been on a GPU
        thread = threading.Thread(target=work, args=("cuda:1",))
        thread.start()
        thread.join()
        work("cuda:0")
        print("end")
    """
    (tmp_path / "model.prototxt").write_text(MODEL)
    environment = {**os.environ, "BOXPRESSO_CACHE": str(tmp_path)}  # cold: compiling uses threads of its own
    for debug in ("0", "1"):
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(tmp_path / "model.prototxt")]
        result = subprocess.run(command, capture_output=True, text=True, env={**environment, "BOXPRESSO_DEBUG": debug})
        assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


def test_pycuda_without_a_driver_is_a_clear_error():
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    code = "from boxpresso.device import open_device\nopen_device('cuda')"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=environment
    )
    if result.returncode == 0:
        pytest.skip("this machine has a GPU as well")
    assert "DeviceError: PyCUDA is installed but cannot load the NVIDIA driver" in result.stderr


def test_pycudas_own_source_module_runs_our_kernels(gpu):
    from pycuda.compiler import SourceModule
    from pycuda.driver import InOut

    core = os.path.dirname(cuda.__file__)
    y = np.arange(5, dtype=np.float32)
    out = np.zeros(5, np.float32)
    with gpu:
        module = SourceModule(
            TEXT, options=["-std=c++17", "-DReal=float"], no_extern_c=True, cache_dir=False, include_dirs=[core]
        )
        module.get_function("scaled")(np.int32(5), InOut(y), InOut(out), np.float32(3), grid=(2, 1), block=(32, 1, 1))
    np.testing.assert_array_equal(out, 3 * np.arange(5))


def test_a_blob_grows_and_is_shared_on_the_device():
    a, b = Blob((4,), device="cuda"), Blob(device="cuda")
    b.share(a)
    a.data[...] = np.arange(4)
    assert b.data.address(False) == a.data.address(False)
    a.reshape(1000)
    a.data.fill(1)
    b.reshape(10, 100)
    np.testing.assert_array_equal(np.asarray(b.data), np.ones((10, 100)))
