"""Operators on GPU arrays of other libraries: no copy through the host, and no wait, as on the stand-in for the driver is seen.

A torch that has a GPU cannot be had there; its tensors are stood in for by a class that does what arrays.py asks of them.
"""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in

from boxpresso import ops
from boxpresso.device import cast, context, open_device
from boxpresso.device.cast import cast_to
from boxpresso.device.signature import BFLOAT16, REALS
from boxpresso.ops.arrays import CUDA

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
    library = None  # the stand-in for torch

    def __init__(self, values):
        values = np.ascontiguousarray(values)
        self.shape, self.dtype, self.device = values.shape, values.dtype, open_device("cuda:0").with_stream()
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
        return type(self)(np.zeros(shape, dtype))

    def numpy(self):
        return np.array(self.array)

    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, stream=None):
        self.waited.append(stream)
        if stream is not None:
            self.device.before(stream)
        self.sizes = (ctypes.c_int64 * len(self.shape))(*self.shape)
        code = {"f": 2, "i": 0, "u": 1, "V": 4}[self.dtype.kind]
        self.managed = Managed(
            self.array.address(False), CUDA, 0, len(self.shape), code, self.dtype.itemsize * 8, 1,
            ctypes.addressof(self.sizes), None, 0, None, None,
        )  # fmt: skip
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


@pytest.fixture
def torch(monkeypatch):
    """A module of that name with the stream that its work is on."""
    stream = open_device("cuda:0").with_stream()
    module = SimpleNamespace(
        are_deterministic_algorithms_enabled=lambda: False, channels_last=object(), **{n: np.dtype(t) for n, t in NAMES.items()},
        cuda=SimpleNamespace(current_stream=lambda index: SimpleNamespace(cuda_stream=stream.stream.handle)), stream=stream,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(Tensor, "__module__", "torch")
    monkeypatch.setattr(open_device("cuda:0"), "debug", False)  # or every launch is waited for
    return module


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
    given = Tensor(grad), Tensor(x), Tensor(rois)
    ops.roi_align_backward(*given, (3, 3), sampling_ratio=2)
    before = stand_in.counts()
    output = ops.roi_align_backward(*given, (3, 3), sampling_ratio=2)["x"]
    assert stand_in.since(before)["to_host"] == 0
    open_device("cuda:0").synchronize()
    np.testing.assert_allclose(cast_to(output.numpy(), np.float64), wanted, rtol=8e-3, atol=5e-3)


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=name_of)
def test_operators_without_kernels_of_16_bits_change_types_on_the_gpu(torch, dtype):
    """carafe works on a copy in float32: it is made, and the results are rounded, where the numbers are."""
    given = [cast_to(RNG.standard_normal(shape), dtype) for shape in ((1, 2, 4, 5), (1, 9, 8, 10))]
    wide = [cast_to(a, np.float64) for a in given]
    wanted = ops.carafe(*wide, 3)
    there = [Tensor(a) for a in given]
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
