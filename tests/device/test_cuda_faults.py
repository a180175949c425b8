"""Faults that a review of the GPU's half found, each with what shows it, on the stand-in for the driver."""

from __future__ import annotations

import ctypes
import gc
import os
import re

import numpy as np
import pytest
import stand_in
from harness import Rig

from boxpresso import Net
from boxpresso.device import context, copies, cuda, open_device
from boxpresso.layers.dense import columns
from boxpresso.proto import parse_net
from boxpresso.proto.errors import DeviceError, DeviceLost

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]
RNG = np.random.default_rng(23)


@pytest.fixture
def gpu(monkeypatch):
    """A device of its own, pooled and not waiting, as users have it."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    return cuda.Cuda(0)


# Columns that do not fit


def test_columns_of_more_elements_than_an_int_counts_are_cut(monkeypatch):
    """64 channels, 3x3, 2000 x 2000: 2304000000 of them. What would be launched is looked at, and not run."""
    launched, largest = [], [0]
    monkeypatch.setattr(cuda.Cuda, "launch", lambda self, kernel, real, args: launched.append((kernel.name, args)))
    made = Rig(
        'type: "Convolution" convolution_param { num_output: 2 kernel_size: 3 pad: 1 bias_term: false }',
        [np.zeros((1, 64, 4, 4))],
        device="cuda",
    )
    made.bottom[0].reshape(1, 64, 2000, 2000)
    made.layer.reshape(made.bottom, made.top)
    made.layer.forward(made.bottom, made.top)
    made.layer.backward(made.top, [True], made.bottom)
    for name, args in launched:
        assert 0 < args[0] < 2**31, name
        sizes = [a.size for a in args if hasattr(a, "size") and name.startswith(("columns", "pixels"))]
        largest.append(min(sizes, default=0))
    assert columns.BUDGET // 2 < max(largest) <= columns.BUDGET
    places = [args[-1].values["first"] for name, args in launched if name == "columns_2"]
    assert len(places) > 60
    assert len(set(places)) * 2 == len(places)  # forward, and the filters' gradient


@pytest.mark.parametrize("text", [
    "num_output: 6 kernel_size: 3 pad: 1", "num_output: 6 group: 3 kernel_size: 3 stride: 2 pad: 2",
    "num_output: 6 kernel_h: 2 kernel_w: 5 stride_h: 1 stride_w: 3 dilation: 2", "num_output: 6 kernel_size: 1 stride: 2",
])  # fmt: skip
@pytest.mark.parametrize("type", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize("axes", [2, 3])
def test_cut_columns_give_the_same(type, text, axes, monkeypatch):
    if axes == 3 and "kernel_h" in text:
        pytest.skip("kernel_h and kernel_w are of two axes")
    shape, rng = (3, 6, 9, 10, 5)[: axes + 2], np.random.default_rng(2)
    seen = []
    x = rng.standard_normal(shape)
    for budget in (2**26, 300, 120):  # all images at once, one image, a part of an image
        monkeypatch.setattr(columns, "BUDGET", budget)
        made = Rig(
            f'type: "{type}" convolution_param {{ {text} weight_filler {{ type: "xavier" }} }}',
            [x],
            device="cuda",
            dtype=np.float64,
            seed=3,
        )
        pieces = len(list(made.layer.convolution.pieces()))
        assert budget == 2**26 or pieces > 1
        (top,) = made.forward()
        upstream = np.random.default_rng(4).standard_normal(top.shape)
        seen.append([top, *made.backward([upstream]), *made.param_diffs()])
    for others in seen[1:]:
        for a, b in zip(seen[0], others, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(a).max())


# Contexts of others


class Foreign:
    """Another library, which makes a GPU the thread's as cudaSetDevice does."""

    def __init__(self):
        self.driver = ctypes.CDLL(None)
        self.contexts = []
        for index in (0, 1):
            made = ctypes.c_void_p()
            assert self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(made), index) == 0
            self.contexts.append(made)

    def set(self, index):
        assert self.driver.cuCtxSetCurrent(self.contexts[index] if index is not None else None) == 0

    def get(self):
        return context.current()


@pytest.fixture
def foreign():
    made = Foreign()
    yield made
    made.set(None)


def test_our_work_goes_to_our_gpu_whatever_another_library_chose(gpu, foreign):
    net = Net(parse_net(MODEL), seed=1, device="cuda:0")
    wanted = net.forward(x=IMAGE)["f"]
    for index in (1, 0, None, 1):
        foreign.set(index)
        np.testing.assert_array_equal(net.forward(x=IMAGE)["f"], wanted)


def test_the_gpu_of_another_library_stays_its_own(foreign):
    for index in (1, 0):
        foreign.set(index)
        nets = [Net(parse_net(MODEL), seed=1, device=f"cuda:{1 - index}")]
        nets[0].forward(x=IMAGE)
        assert foreign.get() == foreign.contexts[index].value
        for name in ("cuda:0", "cuda:1"):
            open_device(name).empty((70000,), np.float32).fill(1)
            open_device(name).synchronize()
            assert foreign.get() == foreign.contexts[index].value
        nets.clear()
        gc.collect()
        assert foreign.get() == foreign.contexts[index].value


def test_a_thread_is_left_without_a_context_where_it_had_none(foreign):
    foreign.set(None)
    Net(parse_net(MODEL), seed=1, device="cuda:0").forward(x=IMAGE)
    assert foreign.get() == 0


def test_a_context_that_a_library_puts_in_place_of_pycudas_own_is_given_back(gpu, foreign):
    """The user has one of PyCUDA's current, as pycuda.autoinit makes it; then another library replaces it."""
    users = cuda.driver().Device(1).retain_primary_context()
    users.push()
    try:
        foreign.set(0)
        gpu.empty((5,), np.float32).fill(1)
        with cuda.Cuda(1):
            gpu.synchronize()
        assert foreign.get() == foreign.contexts[0].value
    finally:
        users.pop()


# Page-locked memory


MODEL = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 9 dim: 9 } } }
    layer { name: "c" type: "Convolution" bottom: "x" top: "c"
            convolution_param { num_output: 5 kernel_size: 3 weight_filler { type: "xavier" } } }
    layer { name: "f" type: "InnerProduct" bottom: "c" top: "f"
            inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
"""
IMAGE = RNG.standard_normal((2, 3, 9, 9)).astype(np.float32)


def test_an_array_set_from_python_keeps_no_page_locked_memory(gpu):
    gpu.free_held()  # of earlier tests
    before = stand_in.counts()["pinned"]
    arrays = [gpu.empty((2**20,), np.float32) for _ in range(8)]
    for i, array in enumerate(arrays):
        array[...] = i
        array.address(True)
        assert np.asarray(array)[7] == i
    held = stand_in.counts()["pinned"] - before
    assert 0 < held <= 4 * copies.CHUNK, "two parts of a copy at a time, whatever the number of arrays"


@pytest.mark.parametrize("count", [1, 2**14, 2**20, 2**20 + 3, 3 * 2**20 + 5])
def test_a_copy_in_parts_is_whole(gpu, count):
    values = RNG.integers(0, 2**31 - 1, count).astype(np.int32)
    array = gpu.table(values)
    array.address(True)
    np.testing.assert_array_equal(np.asarray(array), values)
    np.testing.assert_array_equal(np.asarray(gpu.part(array, 0, (count,))), values)


def test_weights_have_no_copy_on_the_host_once_they_are_on_the_gpu():
    net = Net(parse_net(MODEL), seed=1, device="cuda", optimize=False)
    net.forward(x=IMAGE)
    assert net.params["c"][0]._data.host is None
    view = net.params["f"][0].data[...]  # somebody holds it: it may be written to
    net.forward(x=IMAGE)
    view[...] = 0
    net.params["f"][0].data[...] = net.params["f"][0].data
    assert net.params["f"][0].data.shape == (4, 5 * 49)
    for _ in range(3):
        net.forward(x=IMAGE)
    assert net.blobs["x"]._data.host is not None  # it is set for each forward


# Launches


def test_a_launch_costs_the_host_little(gpu):
    """On null launches; the bound is five times what it takes on an idle core, for machines that are not idle."""
    import timeit

    layer = Rig('type: "ReLU"', [np.zeros((1, 8))], device="cuda")
    kernels = layer.layer.kernels
    x, y = gpu.empty((8,), np.float32), gpu.empty((8,), np.float32)
    bound = kernels.file.on(gpu)
    bound.relu_forward(8, x, y, 0.0, np.inf)
    stand_in.null_launches(True)
    try:
        best = min(timeit.repeat(lambda: bound.relu_forward(8, x, y, 0.0, np.inf), number=200, repeat=20)) / 200
    finally:
        stand_in.null_launches(False)
    print(f"a launch: {best * 1e6:.1f} us on {os.uname().machine}")
    assert best < 40e-6


@pytest.mark.parametrize("size", [1, 700, copies.SMALL, copies.SMALL + 1, 3 * copies.CHUNK + 5])
def test_an_array_may_change_as_soon_as_it_was_copied(gpu, size):
    """The stand-in reads memory that is not page-locked as late as a driver may."""
    host = RNG.integers(0, 255, size).astype(np.uint8)
    wanted, memory, waits = host.copy(), gpu.allocate(size), stand_in.counts()["waits"]
    gpu.to_device(host, memory)
    host[:] = 77
    assert (stand_in.counts()["waits"] == waits) == (size <= copies.SMALL)  # a small one is not waited for
    output = np.empty_like(host)
    gpu.to_host(memory, output)
    np.testing.assert_array_equal(output, wanted)


def test_small_copies_give_their_memory_back(gpu):
    """However many there are: those that are done at once, and the oldest where too many are under way."""
    memory, values = gpu.allocate(copies.SMALL), np.arange(copies.SMALL // 4, dtype=np.float32)
    for _ in range(3):
        for _ in range(2 * copies.UPLOADS):
            gpu.to_device(values, memory)
            assert len(gpu.held["uploads"]) <= copies.UPLOADS
        pinned = stand_in.counts()["pinned"]
    for _ in range(5 * copies.UPLOADS):
        gpu.to_device(values, memory)
    assert stand_in.counts()["pinned"] == pinned
    gpu.synchronize()
    gpu.to_device(values, memory)
    assert len(gpu.held["uploads"]) == 1
    gpu.to_device(values[:0], memory)


def test_a_stream_that_ends_waits_for_its_copies():
    """Their memory goes to the copies of other streams, which would write over it."""
    one, other = cuda.Cuda(0), cuda.Cuda(0)
    memory, more = other.allocate(400), other.allocate(400)
    one.to_device(np.arange(100, dtype=np.float32), memory)
    del one
    gc.collect()
    other.to_device(np.zeros(100, np.float32), more)
    output = np.empty(100, np.float32)
    other.to_host(memory, output)
    np.testing.assert_array_equal(output, np.arange(100))


# Errors that last as long as the process


@pytest.fixture
def lose():
    """Makes a GPU give an error to all calls, as after a kernel that used a wrong address."""
    yield stand_in.lose
    stand_in.lose()


@pytest.mark.parametrize("error", [700, 716, 719])
def test_after_an_error_that_stays_all_work_says_so(gpu, lose, error):
    x, memory = gpu.empty((300,), np.float32), gpu.allocate(8)
    x.fill(1)
    with gpu:
        event = cuda.driver().Event()
        event.record(gpu.stream)
    attempts = {
        "cuStreamSynchronize": gpu.synchronize,
        "cuMemsetD32Async": lambda: x.fill(2),
        "cuMemcpyDtoHAsync": lambda: gpu.to_host(memory, np.zeros(1)),
        "cuMemcpyHtoDAsync|cuEventQuery|cuMemHostAlloc": lambda: gpu.to_device(np.zeros(1), memory),
        "cuMemcpyDtoDAsync": lambda: gpu.copy(int(memory), int(memory), 8),
        "cuMemAlloc": lambda: cuda.Cuda.allocate(gpu, 10**6),
        "cuEventCreate of the NVIDIA driver": lambda: gpu.before(gpu.stream.handle),
    }
    lose(error)
    for name, attempt in attempts.items():
        with pytest.raises(DeviceLost, match=rf"(?s)(^cuda:0: .*)?({name}).*{re.escape(context.LOST)}"):
            attempt()
    lose()
    gpu.synchronize()


def test_an_error_that_does_not_stay_is_another(gpu):
    with pytest.raises(DeviceError, match=r"^cuda:0: cuMemcpyDtoDAsync failed: invalid argument") as seen:
        gpu.copy(4, 8, 8)
    assert type(seen.value) is DeviceError
    gpu.synchronize()


def test_a_lost_gpu_leaves_the_thread_as_it_was(lose, foreign):
    foreign.set(1)
    device = cuda.Cuda(0)
    lose(700)
    with pytest.raises(DeviceLost):
        device.synchronize()
    assert foreign.get() == foreign.contexts[1].value
    assert context.thread.entered == []


@pytest.mark.parametrize("forwards", [0, 1, 4])  # by layers, by a plan, by its graphs
def test_a_forward_says_that_the_gpu_is_lost(monkeypatch, lose, forwards):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    net = Net(parse_net(MODEL), seed=1, device="cuda")
    for _ in range(forwards):
        wanted = net.forward(x=IMAGE)["f"]
    lose(700)
    for _ in range(2):
        with pytest.raises(DeviceLost, match="an illegal memory access"):
            net.forward(x=IMAGE)
    lose()  # which a real one never does
    if forwards:
        np.testing.assert_array_equal(net.forward(x=IMAGE)["f"], wanted)
