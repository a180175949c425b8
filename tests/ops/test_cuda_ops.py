"""Operators on GPU arrays of other libraries: no copy through the host, and no wait, as on the stand-in for the driver is seen.

A torch that has a GPU cannot be had there; its tensors are stood in for by a class that does what arrays.py asks of them.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in

from boxpresso import ops
from boxpresso.device import cast, context, open_device
from boxpresso.device.cast import cast_to
from boxpresso.device.foreign import package_of
from boxpresso.device.signature import BFLOAT16, REALS
from boxpresso.ops import arrays
from boxpresso.ops.arrays import CUDA
from boxpresso.proto.errors import DeviceError

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]
RNG = np.random.default_rng(12)
NAMES = {"float16": np.float16, "bfloat16": BFLOAT16, "float32": np.float32, "float64": np.float64, "int64": np.int64}


def name_of(dtype) -> str:
    """That of a test's case."""
    return REALS[np.dtype(dtype)]


class Managed(ctypes.Structure):
    """DLManagedTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("index", ctypes.c_int32), ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("steps", ctypes.c_void_p), ("start", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


class Tensor:
    """A contiguous tensor on a GPU."""

    requires_grad = False
    now = 0  # the GPU that torch has as its current one

    def __init__(self, values, index=0):
        values, self.index = np.ascontiguousarray(values), index
        self.shape, self.dtype, self.device = values.shape, values.dtype, open_device(f"cuda:{index}").with_stream()
        self.array = self.device.table(values, values.dtype)
        self.array.address(False)
        self.waited = []

    def dim(self):
        return len(self.shape)

    def is_contiguous(self, memory_format=None):
        return memory_format is None

    def detach(self):
        return self

    def new_empty(self, shape, dtype):
        return type(self)(np.zeros(shape, dtype), self.index)

    def numpy(self):
        return np.array(self.array)

    def __dlpack_device__(self):
        return CUDA, self.index

    def __dlpack__(self, stream=None):
        if Tensor.now != self.index:  # as torch does
            raise BufferError(
                f"Can't export tensors on a different CUDA device index. Expected: {self.index}. Current: {Tensor.now}."
            )
        self.waited.append(stream)
        if stream is not None:
            self.device.before(stream)
        self.sizes = (ctypes.c_int64 * len(self.shape))(*self.shape)
        code = {"f": 2, "i": 0, "u": 1, "V": 4}[self.dtype.kind]
        self.managed = Managed(
            self.array.address(False), CUDA, self.index, len(self.shape), code, self.dtype.itemsize * 8, 1,
            ctypes.addressof(self.sizes), None, 0, None, None,
        )  # fmt: skip
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


@pytest.fixture
def torch(monkeypatch):
    """A module of that name with the streams that its work is on, one of each GPU."""
    streams = [open_device(f"cuda:{index}").with_stream() for index in (0, 1)]

    @contextmanager
    def device(index):
        Tensor.now, before = index, Tensor.now
        yield
        Tensor.now = before

    stream = streams[0]
    module = SimpleNamespace(
        are_deterministic_algorithms_enabled=lambda: False, channels_last=object(), **{n: np.dtype(t) for n, t in NAMES.items()},
        cuda=SimpleNamespace(current_stream=lambda index: SimpleNamespace(cuda_stream=streams[index].stream.handle), device=device),
        stream=stream, streams=streams,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(Tensor, "__module__", "torch")
    monkeypatch.setattr(open_device("cuda:0"), "debug", False)  # or every launch is waited for
    package_of.cache_clear()  # where a type comes from is remembered
    yield module
    package_of.cache_clear()


ROIS = np.array([[0, 1, 1, 6, 6], [1, 0, 2, 5, 7]], np.float32)


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16, np.float32, np.float64], ids=name_of)
@pytest.mark.parametrize("rois", [np.float16, BFLOAT16, np.float32], ids=name_of)
def test_an_operator_copies_nothing_and_waits_for_nothing(torch, dtype, rois):
    x = cast_to(RNG.standard_normal((2, 3, 9, 9)), dtype)
    wanted = ops.roi_align(cast_to(x, np.float64), ROIS, (3, 3), sampling_ratio=2)
    features, regions = Tensor(x), Tensor(cast_to(ROIS, rois))
    ops.roi_align(features, regions, (3, 3), sampling_ratio=2)  # kernels are compiled, tables made
    before = stand_in.counts()
    output = ops.roi_align(features, regions, (3, 3), sampling_ratio=2)
    grown = stand_in.since(before)
    assert grown["to_host"] == 0
    assert grown["waits"] == 0
    assert features.waited[-1] is not None
    copied = np.empty(wanted.shape, dtype)
    with torch.stream:  # what torch does next, on its own stream, without a wait on the host
        context.driver().memcpy_dtoh_async(copied, output.array.address(False), torch.stream.stream)
        torch.stream.stream.synchronize()
    tolerance = {np.float16: 1e-3, BFLOAT16: 8e-3}.get(dtype, 1e-5)
    np.testing.assert_allclose(cast_to(copied, np.float64), wanted, rtol=tolerance, atol=tolerance)


def test_without_the_event_torch_would_read_too_early(torch, monkeypatch):
    """The planted fault: the stand-in's streams run late."""
    x, regions = Tensor(RNG.standard_normal((1, 3, 9, 9)).astype(np.float32)), Tensor(ROIS[:1])
    ops.roi_align(x, regions, (3, 3))
    monkeypatch.setattr("boxpresso.device.cuda.Cuda.before", lambda self, stream: None)
    output = ops.roi_align(x, regions, (3, 3))
    copied = np.zeros((1, 3, 3, 3), np.float32)
    with torch.stream:
        context.driver().memcpy_dtoh_async(copied, output.array.address(False), torch.stream.stream)
        torch.stream.stream.synchronize()
    open_device("cuda:0").synchronize()
    assert not np.array_equal(copied, output.numpy())


def test_asking_an_array_for_what_it_lacks_copies_nothing():
    x = open_device("cuda").empty((5,), np.float32)
    x.fill(2)
    before = stand_in.counts()
    assert not hasattr(x, "requires_grad")
    assert stand_in.since(before)["to_host"] == 0


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=name_of)
def test_gradients_of_half_precision_stay_on_the_gpu(torch, dtype):
    x, grad = (cast_to(RNG.standard_normal((2, 3, size, size)), dtype) for size in (9, 3))
    rois = cast_to(ROIS, dtype)
    wanted = ops.roi_align_backward(*(cast_to(a, np.float64) for a in (grad, x, rois)), (3, 3), sampling_ratio=2)["x"]
    tensors = Tensor(grad), Tensor(x), Tensor(rois)
    ops.roi_align_backward(*tensors, (3, 3), sampling_ratio=2)
    before = stand_in.counts()
    output = ops.roi_align_backward(*tensors, (3, 3), sampling_ratio=2)["x"]
    assert stand_in.since(before)["to_host"] == 0
    open_device("cuda:0").synchronize()
    np.testing.assert_allclose(cast_to(output.numpy(), np.float64), wanted, rtol=8e-3, atol=5e-3)


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=name_of)
def test_operators_without_kernels_of_16_bits_change_types_on_the_gpu(torch, dtype):
    """carafe works on a copy in float32: it is made, and the results are rounded, where the numbers are."""
    inputs = [cast_to(RNG.standard_normal(shape), dtype) for shape in ((1, 2, 4, 5), (1, 9, 8, 10))]
    wide = [cast_to(a, np.float64) for a in inputs]
    wanted = ops.carafe(*wide, 3)
    there = [Tensor(a) for a in inputs]
    grad = Tensor(cast_to(wanted, dtype))
    ops.carafe_backward(grad, *there, 3)
    before = stand_in.counts()
    result, back = ops.carafe(*there, 3), ops.carafe_backward(grad, *there, 3)
    assert stand_in.since(before)["to_host"] == 0
    open_device("cuda:0").synchronize()
    low, high = (1e-3, 1e-3) if dtype == np.float16 else (8e-3, 8e-3)
    np.testing.assert_allclose(cast_to(result.numpy(), np.float64), wanted, rtol=low, atol=1e-4)
    for key, value in ops.carafe_backward(cast_to(cast_to(wanted, dtype), np.float64), *wide, 3).items():
        np.testing.assert_allclose(cast_to(back[key].numpy(), np.float64), value, rtol=high, atol=1e-4, err_msg=key)


@pytest.mark.parametrize("source", [np.float16, BFLOAT16, np.float32, np.float64], ids=name_of)
@pytest.mark.parametrize("target", [np.float16, BFLOAT16, np.float32, np.float64], ids=name_of)
def test_numbers_change_their_type_where_they_are(source, target):
    device = open_device("cuda")
    values = cast_to(np.array([0, 1, -2.5, 65504, 1e-7, np.inf, np.nan, 3.14159]), source)
    x, y = device.table(values, source), device.empty((8,), target)
    x.address(False)
    cast.convert(device, x, y)
    before = stand_in.counts()
    cast.convert(device, x, y)
    grown = stand_in.since(before)
    assert (grown["to_host"], grown["to_device"]) == (0, 0)
    with np.errstate(over="ignore"):
        wanted = cast_to(values, target)
    np.testing.assert_array_equal(*(cast_to(a, np.float64) for a in (np.asarray(y), wanted)))


def test_a_tensor_of_a_gpu_that_is_not_torchs_current_one(torch):
    x = RNG.standard_normal((2, 3, 9, 9)).astype(np.float32)
    wanted = ops.roi_align(x, ROIS, (3, 3), sampling_ratio=2)
    features, regions = Tensor(x, 1), Tensor(ROIS, 1)
    with open_device("cuda:0"):  # as cudaSetDevice(0)
        output = ops.roi_align(features, regions, (3, 3), sampling_ratio=2)
        grads = ops.roi_align_backward(output, features, regions, (3, 3), sampling_ratio=2)
    assert (output.index, grads["x"].index, Tensor.now) == (1, 1, 0)
    copied = np.empty(wanted.shape, np.float32)
    with torch.streams[1]:  # what torch does next there
        context.driver().memcpy_dtoh_async(copied, output.array.address(False), torch.streams[1].stream)
        torch.streams[1].stream.synchronize()
    np.testing.assert_allclose(copied, wanted, rtol=1e-5, atol=1e-5)


def test_arrays_without_a_device_of_their_own_are_where_their_memory_is():
    """Such as PyCUDA's, which have __cuda_array_interface__ alone."""
    x = RNG.standard_normal((1, 3, 9, 9)).astype(np.float32)
    wanted = ops.roi_align(x, ROIS[:1], (3, 3), sampling_ratio=2)
    for index in (1, 0):
        there = [open_device(f"cuda:{index}").table(a, a.dtype) for a in (x, ROIS[:1])]
        inputs = [
            SimpleNamespace(
                __cuda_array_interface__={"data": (a.address(False), False), "shape": a.shape, "typestr": "<f4"}
            )
            for a in there
        ]
        there[0].device.synchronize()
        assert arrays.device_of(inputs[0]).name == f"cuda:{index}"
        output = ops.roi_align(*inputs, (3, 3), sampling_ratio=2)
        assert output.device.name == f"cuda:{index}"
        np.testing.assert_allclose(np.asarray(output), wanted, rtol=1e-5, atol=1e-5)
    empty = SimpleNamespace(__cuda_array_interface__={"data": (0, False), "shape": (0, 4), "typestr": "<f4"})
    assert arrays.device_of(empty).name == "cuda:0"


@pytest.mark.parametrize("mode", [1, 2])  # in which this thread may not take memory, and may
@pytest.mark.parametrize("how", ["torch", "interface"])
def test_an_operator_is_no_part_of_a_graph_that_others_capture(torch, mode, how):
    """It says so, and the capture goes on: nothing was done that breaks it."""
    gpu, stream = torch.stream, torch.stream.stream.handle
    boxes, scores = np.array([[0, 0, 2, 2], [0, 0, 2, 2]], np.float32), np.array([1, 2], np.float32)
    inputs = [RNG.standard_normal((1, 3, 9, 9)).astype(np.float32), ROIS[:1], boxes, scores]
    if how == "torch":
        x, rois, boxes, scores = map(Tensor, inputs)
    else:
        there = [gpu.table(a, a.dtype) for a in inputs]
        x, rois, boxes, scores = (
            SimpleNamespace(
                dtype=a.dtype, shape=a.shape, __len__=lambda: 2, __cuda_array_interface__={
                    "data": (a.address(False), False), "shape": a.shape, "typestr": a.dtype.str, "stream": stream,
                },
            )
            for a in there
        )  # fmt: skip
    library = ctypes.CDLL(None)
    graph, faults, z = ctypes.c_void_p(), stand_in.counts()["faults"], gpu.empty((4,), np.float32)
    z.address(True)
    gpu.synchronize()
    with gpu:
        assert library.cuStreamBeginCapture_v2(ctypes.c_void_p(stream), mode) == 0
        try:
            for call in (
                lambda: ops.roi_align(x, rois, 3),
                lambda: arrays.take(boxes, open_device("cuda")),
                lambda: ops.roi_pool(x, rois, 3),
            ):
                with pytest.raises(DeviceError, match=r"was called while .* captures a CUDA graph"):
                    call()
            context.driver().memset_d32_async(z.address(True), 7, 4, torch.stream.stream)
        finally:  # or all later tests of this process would fail
            ended = library.cuStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(graph))
        assert ended == 0
        assert library.cuGraphDestroy(graph) == 0
    assert stand_in.counts()["faults"] == faults
    if how == "torch":
        assert ops.roi_align(x, rois, 3).shape == (1, 3, 3, 3)


def boxes_of(count, columns, seed):
    """Boxes that overlap in groups, with equal scores and scores that are NaN among theirs."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 10 * np.sqrt(count), (count, 2))
    size = rng.uniform(5, 25, (count, 2))
    if columns == 4:
        boxes = np.concatenate([low, low + size], 1)
    else:
        boxes = np.concatenate([low, size, rng.uniform(-3, 3, (count, 1))], 1)
    scores = rng.integers(0, max(2, count // 3), count) / count
    scores[rng.random(count) < 0.05] = np.nan
    return boxes, scores, rng.integers(-3, 3, count)


def listed(result):
    """The numbers of a tensor, which are there for who waits."""
    open_device("cuda:0").synchronize()
    return result.numpy().tolist()


@pytest.mark.parametrize("count", [1, 31, 400, 1300])  # in one tile of words, and two
@pytest.mark.parametrize(
    "how", ["nms", "pixels", "batched", "batched int32", "rotated", "rotated back", "batched rotated"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16], ids=name_of)
def test_suppression_stays_on_the_gpu(torch, count, how, dtype):
    """What stays is what the host says, in its order; of all that the kernels find, the host reads how many there are."""
    if count > 1000 and (dtype != np.float32 or "rotated" in how):
        pytest.skip("slow, and the same")
    columns = 5 if "rotated" in how else 4
    boxes, scores, labels = boxes_of(count, columns, count)
    boxes, scores = boxes.astype(dtype), scores.astype(dtype)
    labels = labels.astype(np.int32 if "int32" in how else np.int64)
    name = ("batched_" if "batched" in how else "") + ("nms_rotated" if columns == 5 else "nms")
    more = {"clockwise": False} if how.endswith("back") else {"offset": 1} if how == "pixels" else {}
    inputs = [boxes, scores, *([labels] if "batched" in how else [])]
    wanted = getattr(ops, name)(*inputs, 0.3, **more)
    there = [Tensor(a) for a in inputs]
    assert listed(getattr(ops, name)(*there, 0.3, **more)) == wanted.tolist()  # kernels are compiled
    before = stand_in.counts()
    result = getattr(ops, name)(*there, 0.3, **more)
    grown = stand_in.since(before)
    assert (grown["to_host"], grown["to_host_bytes"], grown["waits"]) == (1, 4, 1)
    assert grown["to_device_bytes"] == 8 + 8 * len(wanted)  # where the list begins and ends; and the tensor's own zeros
    assert (result.dtype, type(result)) == (np.int64, Tensor)
    copied = np.empty(len(wanted), np.int64)
    with torch.stream:  # torch's stream waits for the result, not the host
        context.driver().memcpy_dtoh_async(copied, result.array.address(False), torch.stream.stream)
        torch.stream.stream.synchronize()
    assert copied.tolist() == wanted.tolist()
    assert 0 < len(wanted) <= count


def test_what_kernels_cannot_suppress_the_host_does(torch, monkeypatch):
    boxes, scores, labels = boxes_of(70, 4, 1)
    boxes, scores = boxes.astype(np.float32), scores.astype(np.float32)
    wanted = ops.batched_nms(boxes, scores, labels, 0.3).tolist()
    there = [Tensor(a) for a in (boxes, scores)]
    for groups in (Tensor(labels.astype(np.float32)), labels, labels.tolist(), Tensor(labels.astype(np.int16))):
        assert listed(ops.batched_nms(*there, groups, 0.3)) == wanted
    wanted = ops.nms(boxes, scores, 0.3).tolist()
    monkeypatch.setattr("boxpresso.layers.detection.suppress.MOST_WORDS", 10)
    assert listed(ops.nms(*there, 0.3)) == wanted
    empty = Tensor(np.zeros((0, 4), np.float32)), Tensor(np.zeros(0, np.float32))
    assert ops.nms(*empty, 0.3).shape == (0,)
