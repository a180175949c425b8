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
from boxpresso.ops.arrays import CUDA

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]
RNG = np.random.default_rng(12)
NAMES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "int64": np.int64}


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
        code = {"f": 2, "i": 0}[self.dtype.kind]
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


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("rois", [np.float16, np.float32])
def test_an_operator_copies_nothing_and_waits_for_nothing(torch, dtype, rois):
    x = RNG.standard_normal((2, 3, 9, 9)).astype(dtype)
    wanted = ops.roi_align(x, ROIS.astype(x.dtype), (3, 3), sampling_ratio=2)
    features, regions = Tensor(x), Tensor(ROIS.astype(rois))
    ops.roi_align(features, regions, (3, 3), sampling_ratio=2)  # kernels are compiled, tables made
    before = stand_in.counts()
    output = ops.roi_align(features, regions, (3, 3), sampling_ratio=2)
    grown = stand_in.since(before)
    assert grown["to_host"] == 0
    assert grown["waits"] == 0
    assert features.waited[-1] is not None
    copied = np.empty(wanted.shape, wanted.dtype)
    with torch.stream:  # what torch does next, on its own stream, without a wait on the host
        context.driver().memcpy_dtoh_async(copied, output.array.address(False), torch.stream.stream)
        torch.stream.stream.synchronize()
    tolerance = 2e-3 if np.float16 in (dtype, rois) else 1e-5
    np.testing.assert_allclose(copied.astype(float), wanted.astype(float), rtol=tolerance, atol=tolerance)


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


def test_gradients_of_half_precision_stay_on_the_gpu(torch):
    x = RNG.standard_normal((2, 3, 9, 9)).astype(np.float16)
    grad = RNG.standard_normal((2, 3, 3, 3)).astype(np.float16)
    wanted = ops.roi_align_backward(grad, x, ROIS.astype(np.float16), (3, 3), sampling_ratio=2)["x"]
    given = Tensor(grad), Tensor(x), Tensor(ROIS.astype(np.float16))
    ops.roi_align_backward(*given, (3, 3), sampling_ratio=2)
    before = stand_in.counts()
    output = ops.roi_align_backward(*given, (3, 3), sampling_ratio=2)["x"]
    assert stand_in.since(before)["to_host"] == 0
    open_device("cuda:0").synchronize()
    np.testing.assert_allclose(output.numpy().astype(float), wanted.astype(float), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("target", [np.float16, np.float32, np.float64])
def test_numbers_change_their_type_where_they_are(source, target):
    device = open_device("cuda")
    values = np.array([0, 1, -2.5, 65504, 1e-7, np.inf, np.nan, 3.14159], source)
    x, y = device.table(values, source), device.empty((8,), target)
    x.address(False)
    cast.convert(device, x, y)
    before = stand_in.counts()
    cast.convert(device, x, y)
    grown = stand_in.since(before)
    assert (grown["to_host"], grown["to_device"]) == (0, 0)
    np.testing.assert_array_equal(np.asarray(y), values.astype(target))
