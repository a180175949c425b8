"""Kernels, devices and blobs: the contracts that every layer relies on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from boxpresso import Blob, DeviceError, KernelError, Layer, LayerError, ModelError, devices
from boxpresso.device import Kernels, context, cuda, host, open_device, signature
from boxpresso.device.schedule import Times
from boxpresso.layers.core import layer_class, make_layer
from boxpresso.proto import LayerParameter

CPU = open_device("cpu")
TEXT = """
#include "kernel.h"
// KERNEL not_this(int n, Real* y) is in a comment
KERNEL scaled(int n, const Real* x, Real* y, Real by) { GRID_LOOP(i, n) y[i] = x[i] * by; }
KERNEL count(int n, int* y, const int* __restrict__ add_to) { GRID_LOOP(i, n) y[i] = i + (add_to ? add_to[i] : 0); }
KERNEL row_sums(int n, const Real* x, Real* y, int length) {
  SHARED Real part[16];
  BLOCK_LOOP(row, n) {
    THREAD_LOOP(t, 16) {
      part[t] = 0;
      for (int i = t; i < length; i += 16) part[t] += x[row * length + i];
    }
    BARRIER();
    THREAD_LOOP(t, 1) {
      y[row] = 0;
      for (int k = 0; k < 16; ++k) y[row] += part[k];
    }
    BARRIER();
  }
}
"""


@pytest.fixture
def kernels(tmp_path):
    """A file of kernels written for the test."""
    return made(tmp_path, TEXT)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_kernel_runs_in_both_types(kernels, dtype, device):
    gpu = open_device(device)
    x, y = gpu.table(np.arange(10000), dtype), gpu.empty((10000,), dtype)
    kernels.on(gpu).scaled(10000, x, y, 0.5)
    np.testing.assert_array_equal(np.asarray(y), np.arange(10000, dtype=dtype) / 2)


def test_a_cooperative_kernel(kernels, device):
    gpu = open_device(device)
    x = gpu.table(np.arange(700).reshape(7, 100), np.float32)
    y = gpu.empty((7,), np.float32)
    kernels.on(gpu).row_sums(7, x, y, 100)
    np.testing.assert_array_equal(np.asarray(y), np.arange(700).reshape(7, 100).sum(1))


def test_none_is_a_null_pointer_and_zero_runs_nothing(kernels):
    y = np.full(4, -1, np.int32)
    kernels.on(CPU).count(0, y, None)
    assert (y == -1).all()
    kernels.on(CPU).count(4, y, None)
    np.testing.assert_array_equal(y, [0, 1, 2, 3])
    kernels.on(CPU).count(4, y, np.full(4, 10, np.int32))
    np.testing.assert_array_equal(y, [10, 11, 12, 13])


def test_the_signature_is_checked_before_launch(kernels):
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    for args, words in [
        ((4, x, y), r"takes 4 arguments \(n, x, y, by\), got 3"),
        ((4, x, y.astype(np.float64), 1.0), "'y' must be a contiguous array of float32.*float64"),
        ((4, np.zeros((4, 2), np.float32)[:, 0], y, 1.0), "'x' must be a contiguous array"),
        ((4, x, frozen, 1.0), "'y' must be writable"),
        ((4, x, y, "much"), "'by' must be one Real, got str 'much'"),
        ((4.5, x, y, 1.0), "'n' must be one int, got the float 4.5"),
        ((4, [0.0] * 4, y, 1.0), "'x' must be"),
    ]:
        with pytest.raises(KernelError, match=words):
            kernels.on(CPU).scaled(*args)
    with pytest.raises(KernelError, match="no kernel 'scale'; did you mean 'scaled'"):
        kernels.on(CPU).scale(1)
    kernels.on(CPU).scaled(4, frozen, y, 1.0)  # const: reading is allowed


GEOMETRY = """
#include "kernel.h"
constexpr int SLAB = 16, PART = 2 * SLAB;  // two of them
constexpr int WIDTH = sizeof(Real);  // not a plain number
struct Place { int row; Real scale; unsigned column; };
struct Table { int count; int steps[SLAB]; double last; };
struct Other { int* pointer; };
KERNEL place(int n, Real* y, const Place p, int more) { GRID_LOOP(i, n) y[i] = p.row * 100 + p.column * p.scale + i + more; }
KERNEL walk(int n, int begin, Table t, Real* y) { GRID_LOOP(i, n) y[i] = begin + t.steps[i] * t.count + t.last; }
KERNEL second(int n, Real* y, Place a, Table t, Place b, Real c) {
  GRID_LOOP(i, n) y[i] = a.row + t.steps[3] * 10 + b.scale * 1000 + c + t.last;
}
"""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_structs_travel_by_value(tmp_path, dtype, device):
    gpu = open_device(device)
    kernels = made(tmp_path, GEOMETRY).on(gpu)
    y = gpu.empty((4,), dtype)
    place = kernels.struct("Place", row=3, scale=0.5, column=8)
    kernels.place(4, y, place, 1000)
    np.testing.assert_array_equal(np.asarray(y), np.arange(4) + 1304)
    table = kernels.struct("Table", count=2, steps=np.arange(16), last=0.25)
    kernels.walk(4, 7, table, y)
    np.testing.assert_array_equal(np.asarray(y), 7.25 + 2 * np.arange(4))
    kernels.second(4, y, place, table, kernels.struct("Place", row=0, scale=2, column=0), 0.5)
    np.testing.assert_array_equal(np.asarray(y), np.full(4, 3 + 30 + 2000 + 0.5 + 0.25))


def test_structs_are_checked(tmp_path, device):
    gpu = open_device(device)
    file = made(tmp_path, GEOMETRY)
    kernels, y = file.on(gpu), gpu.empty((4,), np.float32)
    for name, values, words in [
        ("Plase", {}, "has no struct 'Plase' of numbers; did you mean 'Place'"),
        ("Other", {}, "has no struct 'Other' of numbers"),
        ("Place", {"row": 1, "scale": 1}, "struct Place needs a value for 'column'"),
        (
            "Place",
            {"row": 1, "scale": 1, "column": 1, "rows": 1},
            "struct Place has no field 'rows'; did you mean 'row'",
        ),
        ("Place", {"row": 1.5, "scale": 1, "column": 1}, "field 'row' of struct Place must be one int, got 1.5"),
        ("Place", {"row": 2**31, "scale": 1, "column": 1}, "field 'row' .* does not fit in int: 2147483648"),
        ("Place", {"row": 0, "scale": 1, "column": -1}, "field 'column' .* does not fit in unsigned: -1"),
        ("Table", {"count": 1, "steps": [1], "last": 0}, r"field 'steps' of struct Table must be 16 of int, got \[1\]"),
    ]:
        with pytest.raises(KernelError, match=words):
            file.struct(name, **values)
    for wrong in (None, 3, file.struct("Table", count=1, steps=[0] * 16, last=0)):
        with pytest.raises(KernelError, match="'p' must be a struct Place, got"):
            kernels.place(4, y, wrong, 1)


def test_constants_are_read_from_the_text(tmp_path):
    constants = made(tmp_path, GEOMETRY).constants
    assert (constants["SLAB"], constants["PART"]) == (16, 32)
    assert "WIDTH" not in constants
    with pytest.raises(KernelError, match="has no constant 'SLABS'; did you mean 'SLAB'"):
        constants["SLABS"]


def test_a_kernel_needs_a_device(kernels):
    with pytest.raises(KernelError, match=r"is not bound to a device: call it as kernels.on\(device\).scaled"):
        kernels.scaled(1, np.zeros(1, np.float32), np.zeros(1, np.float32), 1.0)
    with pytest.raises(KernelError, match="is not an attribute of a class: give the whole path"):
        Kernels("relu.cu").kernel("relu_forward")


STORED = """
#include "kernel.h"
KERNEL scaled(int n, const Store* x, const Real* by, Store* y, Real more) {
  GRID_LOOP(i, n) y[i] = Real(x[i]) * by[0] + more;
}
KERNEL widen(int n, const Real* by, const Store* x, Real* y) { GRID_LOOP(i, n) y[i] = Real(x[i]) * by[0]; }
KERNEL narrow(int n, const Real* x, Store* y) { GRID_LOOP(i, n) y[i] = x[i]; }
"""


def made(folder, text, *options):
    (folder / "made.cu").write_text(text)
    return Kernels(folder / "made.cu", *options)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_may_be_stored_in_float16_and_are_computed_in_float32(tmp_path, dtype, device):
    gpu, real = open_device(device), np.float64 if dtype == np.float64 else np.float32
    kernels = made(tmp_path, STORED)
    values = np.array([0.1, -3, 1e-7, 600, 65504]).astype(dtype)
    x, by, y = gpu.table(values, dtype), gpu.table([10.1], real), gpu.empty((5,), dtype)
    kernels.on(gpu).scaled(5, x, by, y, 0.3)
    with np.errstate(over="ignore"):
        wanted = (values.astype(real) * real(10.1) + real(0.3)).astype(dtype)
    np.testing.assert_allclose(
        np.asarray(y), wanted, rtol=2 * np.finfo(real).eps
    )  # a GPU multiplies and adds in one step
    wide = gpu.empty((5,), real)
    kernels.on(gpu).widen(5, by, x, wide)  # the Store array decides, wherever it stands
    np.testing.assert_array_equal(np.asarray(wide), values.astype(real) * real(10.1))


def test_float16_is_refused_where_a_kernel_computes_in_its_arrays_type(kernels, tmp_path):
    half = np.zeros(4, np.float16)
    with pytest.raises(KernelError, match=r"'x' must be a contiguous array of float32.*float16"):
        kernels.on(CPU).scaled(4, half, half, 1.0)
    with pytest.raises(KernelError, match=r"'by' must be a contiguous array of float32.*float16"):
        made(tmp_path, STORED).on(CPU).scaled(4, half, half, half, 1.0)
    with pytest.raises(KernelError, match="'by' must be Real; Store is for pointers alone"):
        made(tmp_path, "KERNEL f(int n, Store by) {}").on(CPU).f(1)


@pytest.mark.parametrize("options", [(), ("-DPLAIN_HALF",)], ids=["the compiler's", "our own"])
def test_every_float16_is_read_and_rounded_to_as_numpy_does(tmp_path, options):
    kernels = made(tmp_path, STORED, *options)
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    one, wide = np.ones(1, np.float32), np.zeros(2**16, np.float32)
    kernels.on(CPU).widen(2**16, one, every, wide)
    with np.errstate(invalid="ignore"):  # NaN that signals, where the CPU says so
        np.testing.assert_array_equal(wide, every.astype(np.float32))
    with np.errstate(over="ignore"):
        step = np.spacing(np.abs(every[np.isfinite(every)])).astype(np.float32)
    step[~np.isfinite(step)] = 32
    floats = every[np.isfinite(every)].astype(np.float32)
    for part in (-0.7, 0.2, 0.5, 0.500001, 0.7):  # between two that can be stored; 0.5 goes to the even one
        between = floats + np.float32(part) * step
        back = np.zeros(between.size, np.float16)
        kernels.on(CPU).narrow(between.size, between, back)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(back, between.astype(np.float16), err_msg=str(part))


def test_a_signature_that_cannot_be_read_is_named(tmp_path):
    for text, words in [
        ("KERNEL f(int n, std::string x) {}", "cannot read argument 'std::string x'"),
        ("KERNEL f(Real* x) {}", "first argument must be `int n`"),
    ]:
        (tmp_path / "bad.cu").write_text(text)
        kernels = Kernels(tmp_path / "bad.cu")
        with pytest.raises(KernelError, match=words):
            kernels.on(CPU).f(1)


def test_a_compile_error_shows_file_and_line(tmp_path):
    (tmp_path / "broken.cu").write_text(
        '#include "kernel.h"\nKERNEL f(int n, Real* y) {\n  GRID_LOOP(i, n) y[i] = oops;\n}\n'
    )
    kernels = Kernels(tmp_path / "broken.cu")
    with pytest.raises(KernelError, match=r"(?s)broken\.cu does not compile for the CPU.*broken\.cu:3.*oops"):
        kernels.on(CPU).f(1, np.zeros(1, np.float32))


def test_results_do_not_depend_on_the_number_of_threads(kernels):
    cpu = open_device("cpu")
    x = np.random.default_rng(0).standard_normal((1000, 100)).astype(np.float32)
    seen = []
    keep = cpu.workers
    try:
        for workers in (1, 2, 3, 7):
            cpu.workers = workers
            y = np.zeros(1000, np.float32)
            kernels.on(CPU).row_sums(1000, x, y, 100)
            seen.append(y)
    finally:
        cpu.workers = keep
    for other in seen[1:]:
        np.testing.assert_array_equal(seen[0], other)


def test_small_work_is_done_by_one_worker(kernels, monkeypatch):
    cpu, used = open_device("cpu"), []
    monkeypatch.setattr(cpu, "workers", 2)
    monkeypatch.setattr(cpu.schedule, "always_all", False)
    x, y = np.ones((1000, 100), np.float32), np.zeros(1000, np.float32)
    kernels.on(CPU).row_sums(1000, x, y, 100)
    key = kernels.row_sums, np.dtype(np.float32)
    _, arrays = cpu.functions[key]
    monkeypatch.setitem(cpu.functions, key, (lambda workers, *rest: used.append(workers), arrays))
    sizes = kernels.row_sums, (1000).bit_length(), (x.nbytes + y.nbytes).bit_length()
    for alone, together, workers in ((10**6, 2 * 10**6, 1), (3 * 10**9, 2 * 10**9, 2)):
        monkeypatch.setitem(cpu.schedule.took, sizes, Times(alone, together))
        kernels.on(CPU).row_sums(1000, x, y, 100)
        assert abs(used.pop()) == workers  # below 0: it may be interrupted
        assert cpu.schedule.took[sizes] != Times(alone, together)  # but what it took now


def test_large_arrays_are_zero_and_aligned():
    for count in (1, 1000, 2**20 + 1, 2**21):
        made = open_device("cpu").empty((count,), np.float64)
        assert made.shape == (count,)
        assert made.ctypes.data % 64 == 0
        assert not made.any()
        made.fill(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_large_arrays_of_its_own():
    code = (
        "import os; from boxpresso.device import open_device; x = open_device('cpu').empty((2**21,), 'f4'); child = os.fork()\n"
        "if not child: x.fill(1); os._exit(0)\n"
        "os.waitpid(child, 0); print(x.sum())"
    )
    assert run(code).stdout.strip() == "0.0"


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python code in a fresh process, with further environment variables."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, **environment}, capture_output=True, text=True
    )


RELU = """
    import numpy as np
    from boxpresso.device import open_device
    from boxpresso.layers.neuron.relu import ReLU
    x = np.array([-1, 2], np.float32); y = x.copy()
    ReLU.kernels.on(open_device("cpu")).relu_forward(2, x, y, 0.5, np.inf)
    print(y.tolist())
"""


def test_no_compiler_is_a_clear_error(tmp_path):
    result = run(RELU, CXX="no-such-compiler", BOXPRESSO_CACHE=str(tmp_path))
    assert "the C++ compiler that CXX names, 'no-such-compiler', was not found" in result.stderr
    result = run(RELU.replace("import numpy", "import sys; sys.modules['ziglang'] = None\n    import numpy"), PATH=str(tmp_path),
                 BOXPRESSO_CACHE=str(tmp_path))  # fmt: skip
    assert "no C++ compiler found" in result.stderr
    assert "apt install g++" in result.stderr


def test_the_cache_is_used_and_can_be_lost(tmp_path):
    place = tmp_path / "cache"
    assert run(RELU, BOXPRESSO_CACHE=str(place)).stdout == "[-0.5, 2.0]\n"
    (made,) = place.glob("relu-float-*.so")
    before = made.stat().st_mtime_ns
    assert run(RELU, BOXPRESSO_CACHE=str(place)).stdout == "[-0.5, 2.0]\n"
    assert made.stat().st_mtime_ns == before
    assert not list(place.glob("*.tmp"))
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    result = run(RELU, BOXPRESSO_CACHE=str(blocked / "below"))
    assert result.stdout == "[-0.5, 2.0]\n"
    assert "cannot be written" in result.stderr
    assert "BOXPRESSO_CACHE" in result.stderr


@pytest.mark.later
def test_two_processes_share_a_cold_cache(tmp_path):
    environment = {**os.environ, "BOXPRESSO_CACHE": str(tmp_path)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(RELU)], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert [p.communicate()[0] for p in both] == ["[-0.5, 2.0]\n"] * 2
    suffixes = sorted(file.suffix for file in tmp_path.iterdir())
    assert suffixes == [".so", ".so", ".sum", ".sum"]  # of the kernel and of the threads that it runs on


def test_devices():
    assert devices()[0] == "cpu"
    assert open_device("cpu") is open_device("cpu")
    with pytest.raises(DeviceError, match="unknown device 'gpu'"):
        open_device("gpu")


def test_the_device_of_the_environment(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    assert open_device().name == "cpu"
    monkeypatch.setenv("BOXPRESSO_DEVICE", "tpu")
    with pytest.raises(DeviceError, match="unknown device 'tpu'"):
        open_device()


def test_cuda_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(context.importlib.util, "find_spec", lambda name: None)
    cuda.driver.cache_clear()
    try:
        with pytest.raises(DeviceError, match=r"needs PyCUDA.*pip install"):
            cuda.driver()
    finally:
        cuda.driver.cache_clear()


def test_threads_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_THREADS", "3")
    assert host.threads() == 3
    monkeypatch.setenv("BOXPRESSO_THREADS", "many")
    with pytest.raises(DeviceError, match="BOXPRESSO_THREADS must be a whole number"):
        host.threads()


def test_a_blob_keeps_its_memory_while_it_is_large_enough(device):
    blob = Blob((2, 3, 4), device=device)
    assert (blob.num, blob.channels, blob.height, blob.width, blob.count) == (2, 3, 4, 1, 24)
    blob.data[...] = np.arange(24).reshape(2, 3, 4)
    blob.reshape(2, 3)
    np.testing.assert_array_equal(np.asarray(blob.data), np.arange(6).reshape(2, 3))
    blob.reshape(4, 6)
    np.testing.assert_array_equal(np.asarray(blob.data), np.arange(24).reshape(4, 6))
    blob.reshape(0, 5)
    assert blob.data.shape == (0, 5)
    blob.reshape(100)
    assert not np.asarray(blob.data).any()


def test_blobs_share_memory_even_when_it_grows(device):
    a, b = Blob((2, 6), device=device), Blob(device=device)
    b.share(a, 3, 4)
    a.data[...] = 1
    a.diff[...] = 2
    assert np.asarray(b.data).tolist() == [[1.0] * 4] * 3
    assert np.asarray(b.diff).tolist() == [[2.0] * 4] * 3
    a.reshape(5, 10)
    a.data[...] = 3
    assert np.asarray(b.data).tolist() == [[3.0] * 4] * 3


def test_an_impossible_shape_is_refused():
    with pytest.raises(LayerError, match=r"cannot have the shape \(-1, 2\)"):
        Blob((-1, 2))
    with pytest.raises(LayerError, match="2\\^31"):
        Blob((1 << 16, 1 << 16))
    with pytest.raises(LayerError, match="4 axes at most"):
        _ = Blob((1, 1, 1, 1, 1)).num


def test_an_unknown_type_names_the_nearest():
    with pytest.raises(ModelError, match="layer 'x' has the unknown type 'Permut'; did you mean 'Permute'"):
        layer_class("Permut", "x")
    assert layer_class("pErMuTe", "x") is layer_class("Permute", "x")


def test_a_type_taken_twice_names_both():
    with pytest.raises(LayerError, match=r"'relu' is taken twice: by boxpresso.layers.neuron.relu.ReLU and by .*Mine"):

        class Mine(Layer, type="relu"):
            pass


def test_a_layer_of_the_user_is_the_same_class(tmp_path):
    class Double(Layer, type="DoubleForTest", bottoms=1, tops=1):
        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            top[0].data[...] = np.asarray(bottom[0].data) * 2

    param = LayerParameter(name="twice", type="DoubleForTest")
    layer = make_layer(param, device=open_device("cpu"))
    a, b = Blob((3,)), Blob()
    a.data[...] = [1, 2, 3]
    layer.setup([a], [b])
    layer.reshape([a], [b])
    layer.forward([a], [b])
    assert b.data.tolist() == [2, 4, 6]
    with pytest.raises(LayerError, match="DoubleForTest layer 'twice': this layer has no gradient"):
        layer.backward([b], [True], [a])
    layer.backward([b], [False], [a])


def test_the_types_that_a_signature_may_name():
    assert set(signature.TYPES) == {"int", "unsigned", "int8_t", "uint8_t", "bfloat16", "float", "double"}


def test_a_layer_type_imports_its_own_module_alone():
    """`boxpresso detect` starts in half the time when it does not import all layers."""
    code = (
        "import sys\nfrom boxpresso.layers.core.registry import layer_class, modules\n"
        "for name in ('relu', 'Softmax', 'SoftmaxWithLoss', 'PriorBox', 'CuDNNConvolution'): assert layer_class(name, 'x')\n"
        "assert not [m for m in sys.modules if m.startswith(('boxpresso.layers.regions.', 'boxpresso.layers.data.'))]\n"
        "assert layer_class('ReLU6', 'x') is layer_class('ReLU', 'x')\n"
        "assert len(modules()) == len(set(modules().values()))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_a_type_of_boxpresso_is_not_taken_by_a_user():
    code = (
        "from boxpresso import Layer, Net\nfrom boxpresso.proto import parse_net\n"
        "class Mine(Layer, type='Softmax', bottoms=1, tops=1): pass\n"
        'Net(parse_net(\'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } } \'\n'
        '              \'layer { name: "s" type: "Softmax" bottom: "x" top: "y" }\'), device=\'cpu\')'
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        "layer type 'Softmax' is taken twice: by __main__.Mine and by boxpresso.layers.norm.softmax.Softmax"
        in result.stderr
    )
