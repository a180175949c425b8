"""Nets on a GPU and arrays of other libraries there: inputs and outputs that the host never sees, and pictures of bytes.

Objects that speak the two protocols stand in for torch and cupy, so that a GPU without them shows the same."""

from __future__ import annotations

import ctypes
import gc
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in
from test_cuda_ops import Tensor

from boxpresso import BoxpressoError, ModelError, Net, Pictures
from boxpresso.device import Array, dlpack, foreign, open_device
from boxpresso.proto import parse_net

pytestmark = pytest.mark.cuda
TEXT = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 6 dim: 7 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3
        weight_filler { type: "xavier" } bias_filler { value: 0.5 } } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }"""
RNG = np.random.default_rng(8)


class Interface:
    """A GPU array that speaks `__cuda_array_interface__` alone, as numba's and PyCUDA's."""

    def __init__(self, values, device=None):
        self.device = device or open_device("cuda").with_stream()
        self.array = self.device.table(values, values.dtype)
        self.shape, self.dtype = values.shape, values.dtype
        self.__cuda_array_interface__ = {
            "shape": values.shape, "typestr": values.dtype.str, "data": (self.array.address(False), False),
            "stream": self.device.stream.handle, "version": 3,
        }  # fmt: skip


@pytest.fixture
def net(monkeypatch):
    net = Net(parse_net(TEXT), device="cuda", seed=1)
    monkeypatch.setattr(net.device, "debug", False)
    return net


@pytest.fixture
def host():
    return Net(parse_net(TEXT), device="cpu", seed=1)


def numbers(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("kind", [Tensor, Interface, "ours"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8])
def test_inputs_on_the_gpu(net, host, kind, dtype):
    """Other values and shapes each time, in types that are changed there; nothing of them goes through the host."""
    for turn in range(5):
        x = (50 * numbers(1 + turn // 3, 3, 6, 7)).astype(dtype)
        wanted = host.forward(x=x.astype(np.float32))["c"]
        array = net.device.with_stream().table(x, dtype) if kind == "ours" else kind(x)
        before = stand_in.counts() if stand_in.active() else {}
        result = net.forward(x=array, on_device=True)["c"]
        if before and turn in (1, 2, 4) and kind != "ours":
            grown = stand_in.since(before)
            assert (grown["to_host"], grown["to_device"]) == (0, 0)
        del array
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-4, atol=1e-3)


def test_the_producers_stream_is_waited_for_and_waits(net, host):
    """What it writes before is seen, and what it writes after is not, without a wait of the host."""
    for _ in range(4):
        x = numbers(1, 3, 6, 7)
        interface = Interface(np.zeros_like(x))
        source = interface.device.table(x, x.dtype)
        interface.device.copy(source.address(False), interface.array.address(True), x.nbytes)
        before = stand_in.counts() if stand_in.active() else None
        result = net.forward(x=interface, on_device=True)["c"]
        interface.device.fill(interface.array, 7)
        if before:
            assert stand_in.since(before)["waits"] == 0
        np.testing.assert_allclose(np.asarray(result), host.forward(x=x)["c"], rtol=1e-4, atol=1e-5)


def test_two_forwards_in_flight(net, host):
    """The second is launched before anybody has read the first, whose outputs stay as they are."""
    inputs = [numbers(1, 3, 6, 7) for _ in range(6)]
    there = [Interface(x) for x in inputs]
    for array in there[:3]:
        net.forward(x=array)  # prepared, and captured
    before = stand_in.counts() if stand_in.active() else None
    results = [net.forward(x=array, on_device=True)["c"] for array in there]
    if before:
        grown = stand_in.since(before)
        assert (grown["waits"], grown["to_host"], grown["replays"]) == (0, 0, 6)
    for x, result in zip(inputs, results):
        np.testing.assert_allclose(np.asarray(result), host.forward(x=x)["c"], rtol=1e-4, atol=1e-5)


def test_outputs_of_a_net_on_the_cpu_stay_there(host):
    x = numbers(1, 3, 6, 7)
    first = host.forward(x=x, on_device=True)["c"]
    before = first.copy()
    host.forward(x=-x)
    np.testing.assert_array_equal(first, before)


def test_what_cannot_be_taken_is_said(net, host):
    with pytest.raises(ModelError, match=r"input 'x' has the shape \(1, 3, 6, 7\), the array given \(7, 3\)"):
        net.forward(x=Interface(numbers(7, 3)))
    with pytest.raises(ModelError, match="input 'x' is on the CPU, the array given on a GPU"):
        host.forward(x=Interface(numbers(1, 3, 6, 7)))
    elsewhere = SimpleNamespace(
        shape=(1, 3, 6, 7), ndim=4, dtype=np.float32, __dlpack_device__=lambda: (dlpack.CUDA, 1)
    )
    with pytest.raises(BoxpressoError, match="an array on cuda:1 cannot be taken on cuda:0"):
        net.forward(x=elsewhere)


# Blobs for other libraries


def test_a_blob_speaks_the_array_interface(net, host):
    x = numbers(1, 3, 6, 7)
    net.forward(x=x)
    said = net.blobs["c"].data.__cuda_array_interface__
    assert (said["shape"], said["typestr"], said["version"]) == ((1, 4, 4, 5), "<f4", 3)
    assert said["stream"] == net.device.stream.handle
    taken = foreign.take(SimpleNamespace(__cuda_array_interface__=said), open_device("cuda"))
    np.testing.assert_allclose(np.asarray(taken), host.forward(x=x)["c"], rtol=1e-4, atol=1e-5)


def test_what_another_library_writes_into_a_blob_is_its_value(net):
    """A weight that is set on the GPU is seen by the next forward, by the host and by a plan that has folded it."""
    weight = net.params["c"][1]
    for value in (3, 5):
        view = foreign.take(
            SimpleNamespace(__cuda_array_interface__=weight.data.__cuda_array_interface__), open_device("cuda")
        )
        view.device.fill(view, value)
        view.device.synchronize()
        assert net.forward(x=np.zeros((1, 3, 6, 7), np.float32))["c"].ravel().tolist() == [value] * 80
        assert np.asarray(weight.data).tolist() == [value] * 4


def test_a_capsule_keeps_the_memory_until_it_is_deleted(net):
    array, live = open_device("cuda").table(np.arange(6).reshape(2, 3), np.float32), len(dlpack.lent)
    assert array.__dlpack_device__() == (dlpack.CUDA, 0)
    capsule = array.__dlpack__()
    del array
    gc.collect()
    assert len(dlpack.lent) == live + 1
    address, shape, steps, dtype = dlpack.described(capsule)
    assert (shape, steps, dtype) == ((2, 3), None, np.float32)
    gpu = open_device("cuda")
    np.testing.assert_array_equal(foreign.borrowed(gpu, dtype, shape, steps, address, capsule), [[0, 1, 2], [3, 4, 5]])
    del capsule
    gc.collect()
    assert len(dlpack.lent) == live


def test_a_capsule_that_was_consumed_is_deleted_by_the_consumer(net):
    array, live = open_device("cuda").table(np.arange(6), np.float32), len(dlpack.lent)
    capsule = array.__dlpack__(stream=-1, max_version=(1, 0), copy=True)
    at = dlpack.tensor_of(capsule, dlpack.NAME)
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    used = b"used_dltensor"
    rename(capsule, used)
    address = dlpack.Tensor.from_address(at).data
    assert address != array.address(False)  # a copy
    del capsule
    gc.collect()
    assert len(dlpack.lent) == live + 1
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(dlpack.Managed.from_address(at).deleter)(at)
    assert len(dlpack.lent) == live
    with pytest.raises(BufferError, match="on that device alone"):
        array.__dlpack__(dl_device=(dlpack.CPU, 0))


def test_half_precision_is_handed_over_by_dlpack():
    from boxpresso.device.signature import BFLOAT16

    for dtype in (np.float16, BFLOAT16):
        array = open_device("cuda").empty((3,), dtype)
        assert dlpack.described(array.__dlpack__())[3] == dtype
    assert not hasattr(array, "__cuda_array_interface__")  # it has no word for bfloat16


# Pictures


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("there", [None, Interface])
def test_pictures(net, host, last, reverse, there):
    """Bytes are copied, a fourth of the numbers, and a kernel makes these; as on the host, to the bit."""
    shape = (2, 5, 7, 3) if last else (2, 3, 5, 7)
    photos = RNG.integers(0, 256, shape, np.uint8)
    pictures = photos if there is None else there(photos)
    options = {"mean": (104.5, 117, 123), "scale": 0.017, "reverse": reverse, "last": last}
    before = stand_in.counts() if stand_in.active() else None
    out = net.forward(x=Pictures(pictures, **options))
    if before and there is None:
        assert stand_in.since(before)["to_device_bytes"] < 4 * photos.size
    expected = photos.transpose(0, 3, 1, 2) if last else photos
    expected = expected[:, ::-1] if reverse else expected
    expected = (expected - np.array([104.5, 117, 123]).reshape(3, 1, 1)) * 0.017
    np.testing.assert_allclose(np.asarray(net.blobs["x"].data), expected, rtol=1e-6, atol=1e-6)
    wanted = host.forward(x=Pictures(photos, **options))["c"]
    np.testing.assert_allclose(out["c"], wanted, rtol=1e-4, atol=1e-4)


def test_pictures_that_are_none():
    with pytest.raises(BoxpressoError, match="pictures must be uint8 with 4 axes, got float32 with 4"):
        Pictures(numbers(1, 2, 3, 3))
    with pytest.raises(BoxpressoError, match="pictures of 3 channels need as many means, or one; got 2"):
        Pictures(np.zeros((1, 2, 2, 3), np.uint8), mean=(1, 2))


def test_bytes_of_numpy_are_copied_as_bytes(net, host):
    photos = RNG.integers(0, 256, (1, 3, 6, 7), np.uint8)
    net.forward(x=photos)
    before = stand_in.counts() if stand_in.active() else None
    out = net.forward(x=photos)["c"]
    if before:
        assert stand_in.since(before)["to_device_bytes"] < 2 * photos.size
    np.testing.assert_allclose(out, host.forward(x=photos)["c"], rtol=1e-4, atol=1e-3)
    assert isinstance(net.blobs["x"].data, Array)
