"""Net(..., reproducible=True): the bits of every blob are those that are kept here, whatever the CPU, compiler, threads and batch.

`PYTHONPATH=.:tests python tests/net/test_reproducible.py [NAME ...]` prints them as this machine has them, where a change of the contract
(docs/reproducible.md) has changed them all.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest
from harness import Rig
from layer_sizes import CASES
from places import TESTS
from plan_nets import conv, data, layer, normal, relu

import boxpresso
from boxpresso import Net, Solver, ops
from boxpresso.device import levels, open_device
from boxpresso.device.blas import gemm
from boxpresso.device.cast import cast_to
from boxpresso.device.signature import BFLOAT16
from boxpresso.layers.dense import lowerings
from boxpresso.ops import products
from boxpresso.proto import parse_net
from boxpresso.proto.boxpresso_pb2 import SolverParameter
from boxpresso.proto.errors import BoxpressoError, DeviceError

TRUNK = (
    conv("first", "data", 32, "kernel_size: 3 stride: 2 pad: 1") + relu("first_relu", "first")
    + conv("tiles", "first", 48) + normal("tiles", "tiles") + layer("logistic", "Sigmoid", "tiles")
    + conv("planes", "logistic", 48, "kernel_size: 3 pad: 1 group: 48") + relu("leaky", "planes", "relu_param { negative_slope: 0.1 }")
    + layer("local", "LRN", "planes", text="lrn_param { local_size: 5 alpha: 0.5 beta: 0.6 }")
    + layer("most", "Pooling", "local", text="pooling_param { kernel_size: 3 stride: 2 }")
    + conv("deep", "most", 300, "kernel_size: 1") + layer("bent", "TanH", "deep")
    + layer("mean", "Pooling", "bent", text="pooling_param { pool: AVE kernel_size: 2 stride: 2 }")
)  # fmt: skip
DEPLOY = (
    data(3, 3, 29, 31) + TRUNK
    + layer("scores", "InnerProduct", "mean", text="inner_product_param { num_output: 21 }")
    + layer("chances", "Softmax", "scores") + layer("growth", "Exp", "scores", text="exp_param { base: 2 scale: 0.25 }")
)  # fmt: skip
ROWS = data(3, 300) + layer("scores", "InnerProduct", "data", text="inner_product_param { num_output: 9 }")
TRAIN = (
    data(3, 3, 29, 31) + 'layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 3 } } }' + TRUNK
    + layer("scores", "InnerProduct", "mean", text="inner_product_param { num_output: 7 }")
    + layer("loss", "SoftmaxWithLoss", ["scores", "label"])
)  # fmt: skip
SMALL = (
    data(2, 3, 14, 15) + 'layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 2 } } }'
    + conv("first", "data", 20, "kernel_size: 3 pad: 1") + normal("first", "first") + relu("first_relu", "first")
    + layer("scores", "InnerProduct", "first", text="inner_product_param { num_output: 7 }")
    + layer("loss", "SoftmaxWithLoss", ["scores", "label"])
)  # fmt: skip
# SHA-256 of all blobs, by name in the order of the net.
KEPT = {
    "forward": "0d50a024184fb16ad03ceff671e745727b3585bcbee7c6e9afe64924477bcff5",
    "extreme": "11e48a4b56d9202380aa60b7f53da3a406cc703e405f2ea6d20f4cef01932ef0",
    "operators": "96534d349f2b571ea34e7317f39961d39f7b4195d16196c5cf42407afcfcc7eb",
    "double": "24018a68912368a46935be904b8424e1b9afa774bdce125967d46a2430b7d91a",
    "eight": "162446449a39b9ec1606acf1d0da96f4652792774dd499ac8002a37d92862bff",
    "layer_sums": "40de6fcfa54b109a307ef784e0c2a97e6bac8f279221c54ddde39214de4946df",
    "trained": "76d772a111bb543644605e1676ef64c3e6a72ebe5067985eba230c7d07d9d29f",
}


def whole(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers from -4 to 4 that take no function to draw: other numpys and systems draw the same."""
    return rng.integers(-(2**20), 2**20, shape) / 2**18


def extreme(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """The same with NaN, infinities, zeros of both signs, and numbers near the ends of float32's."""
    values = whole(rng, shape).reshape(shape[0], -1)
    odd = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, -1e-42, 1.2e-38, 3e38, -3.4e38, 1e20, 1e-20]
    for i, value in enumerate(odd):  # image 0 stays as it is
        values[1 + i % (len(values) - 1), 11 + 101 * i] = value
    return values.reshape(shape)


def fill(net: Net) -> None:
    """Parameters of such numbers, so that sums are of the size of their terms."""
    rng = np.random.default_rng(1)
    for name, blobs in net.params.items():
        for blob in blobs:
            value = whole(rng, blob.shape) / 4
            if net.layer_dict[name].type == "BatchNorm":
                value = np.abs(value) + 0.5
            elif len(blob.shape) > 1:
                value /= 2 ** round(np.log2(blob.count / blob.shape[0]) / 2)
            blob.data[...] = value


def digest(arrays: Iterable[np.ndarray]) -> str:
    """SHA-256 of arrays. All NaN are one: a machine's own signs and payloads of them are not promised."""
    sha = hashlib.sha256()
    for array in arrays:
        array = np.array(array)
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
        sha.update(array.tobytes())
    return sha.hexdigest()


def opened(text: str, **options) -> Net:
    net = Net(parse_net(text), device="cpu", reproducible=True, seed=1, **options)
    fill(net)
    return net


def forward(draw=whole, **options) -> str:
    net = opened(DEPLOY, **options)
    outputs = net.forward(data=draw(np.random.default_rng(2), net.blobs["data"].shape))
    return digest([*outputs.values(), *(blob.data for blob in net.blobs.values())])


def eight() -> str:
    """In 8 bits, with ranges and a choice of layers from its own inputs."""
    net = opened(DEPLOY)
    images = whole(np.random.default_rng(2), net.blobs["data"].shape)
    scales = boxpresso.quantize(net, [{"data": images}], speed=False, drop=1)
    net.quantize(scales)
    assert len(scales.chosen) > 3
    return digest(net.forward(data=images, blobs=["scores"]).values())


def trained(text: str = TRAIN, dtype=np.float32) -> str:
    """Weights, blobs and their gradients after 50 steps."""
    rng = np.random.default_rng(3)

    def feed(net: Net) -> None:
        net.blobs["data"].data[...] = whole(rng, net.blobs["data"].shape)
        net.blobs["label"].data[...] = rng.integers(0, 7, net.blobs["label"].shape)

    param = SolverParameter(
        base_lr=0.01, momentum=0.9, weight_decay=0.0005, lr_policy="inv", gamma=0.1, power=0.75, type="SGD",
        random_seed=1, net_param=parse_net(text), snapshot_after_train=False,
    )  # fmt: skip
    solver = Solver(param, device="cpu", reproducible=True, feed=feed, log=lambda line: None, dtype=dtype)
    fill(solver.net)
    solver.step(50)
    net = solver.net
    learned = [blob for blobs in net.params.values() for blob in blobs]
    return digest([*(b.data for b in learned), *(b.diff for b in learned), *(b.data for b in net.blobs.values())])


def operators() -> str:
    """Forward and backward, in 32 and in 16 bits, with overflows of the halves; and which boxes stay where scores are equal."""
    x, rois = whole(np.random.default_rng(4), (2, 9, 21, 23)), np.array([[0, 1.5, 2, 17, 19], [1, 0, 3.25, 9, 8]])
    arrays = []
    for dtype in (np.float32, np.float16, BFLOAT16):
        high = x if dtype == np.float32 else np.where(np.abs(x) > 3.9, x * 16384, x)
        with np.errstate(over="ignore"):
            args = cast_to(high.astype(np.float32), dtype), rois.astype(np.float32), (3, 3)
        with ops.reproducible():
            top = ops.roi_align(*args, spatial_scale=0.7)
            arrays += [top, ops.roi_align_backward(top, *args, spatial_scale=0.7)["x"]]
    corners = np.tile(rois[:, 1:], (20, 1)) + np.repeat(np.arange(20) % 4, 2)[:, None]
    with ops.reproducible():
        arrays.append(ops.nms(corners.astype(np.float32), np.tile([0.5, 0.25], 20).astype(np.float32), 0.6))
    return digest(cast_to(a, np.float32) if a.dtype == BFLOAT16 else a for a in map(np.asarray, arrays))


def layer_sums() -> str:
    """Other sums than those of products: of squares, of an attention's gradients, and through a recurrent layer."""
    rng = np.random.default_rng(5)
    levels, places = [[6, 7]], (whole(rng, (2, 3, 2, 1, 4, 2)) + 5) / 10
    wide = whole(rng, (2, 42, 2, 40))
    attention = [wide, levels, [0], places, whole(rng, (2, 3, 2, 1, 4))]
    steps = [whole(rng, (3, 2, 40)), [[0, 0], [1, 1], [1, 1]]]
    arrays = []
    recurrent = 'recurrent_param { num_output: 24 weight_filler { type: "constant" value: 0.0625 } }'
    planes = "convolution_param { num_output: 4 group: 4 kernel_size: 3 pad: 1 bias_term: false }"
    for text, dtype, bottoms, down in (  # one is added up in double, which shows in double alone
        (
            'type: "Reduction" reduction_param { operation: SUMSQ axis: 1 }',
            np.float64,
            [whole(rng, (40, 700)) / 3],
            (0,),
        ),
        ('type: "MultiScaleDeformableAttention"', np.float32, attention, (0, 3, 4)),
        (f'type: "LSTM" {recurrent}', np.float32, steps, (0,)),
        (f'type: "Convolution" {planes}', np.float32, [whole(rng, (2, 4, 5, 40)) / 3], (0,)),
    ):
        rig = Rig(text, bottoms, dtype=dtype, reproducible=True)
        tops = rig.forward()
        grads = rig.backward([whole(rng, top.shape) for top in tops], [i in down for i in range(len(bottoms))])
        arrays += [*tops, *(grads[i] for i in down), *rig.param_diffs()]
    left, right, product = (np.float32(whole(rng, shape) / 3) for shape in ((20, 250), (250, 60), (20, 60)))
    gemm(open_device("cpu", reproducible=True), False, False, 20, 60, 250, 1.0, left, right, 0.0, product)
    return digest([*arrays, product])


MADE = {
    "forward": forward, "extreme": lambda: forward(extreme), "trained": trained, "eight": eight, "operators": operators,
    "layer_sums": layer_sums, "double": lambda: trained(SMALL, np.float64),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_the_bits_are_those_that_are_kept(name):
    assert MADE[name]() == KEPT[name]


@pytest.mark.parametrize("workers", range(1, 9))
def test_threads_change_nothing(workers, monkeypatch):
    monkeypatch.setattr(open_device("cpu", reproducible=True), "workers", workers)
    assert forward() == KEPT["forward"]
    assert MADE["double"]() == KEPT["double"]
    if workers in (1, 3, 8):
        assert trained() == KEPT["trained"]


@pytest.mark.parametrize("text", [DEPLOY, ROWS], ids=["pictures", "rows"])
def test_an_image_is_the_same_in_any_batch(text):
    """Alone, and beside others, which draw it into a sum in other blocks."""
    net = opened(text)
    images = whole(np.random.default_rng(2), (8, *net.blobs["data"].shape[1:]))
    alone = [net.forward(data=images[i : i + 1]) for i in range(8)]
    for count in (3, 8):
        for name, together in net.forward(data=images[:count]).items():
            for i in range(count):
                assert together[i].tobytes() == alone[i][name][0].tobytes(), f"{name} of image {i} of {count}"


def test_another_order_of_a_sum_is_seen(monkeypatch):
    """The products of 3 x 3 windows made plainly in place of by Winograd's transforms."""
    monkeypatch.setattr(lowerings, "ENOUGH", 10**9)
    assert forward() != KEPT["forward"]


def test_a_nan_that_a_forward_returns_is_the_one_of_numpy():
    net = opened(data(2, 5) + layer("log", "Log", "data"))
    result = net.forward(data=np.array([[np.nan, -np.nan, -1, 1, 2]] * 2))["log"]
    assert result[:, :3].tobytes() == np.full((2, 3), np.nan, np.float32).tobytes()


def test_a_loss_is_not_added_up_by_pythons_sum(monkeypatch):
    """Which compensates from Python 3.12 on, as fsum does."""
    weights = "loss_weight: 1e16 loss_weight: 1 loss_weight: -1e16"
    text = f'layer {{ name: "cut" type: "Slice" bottom: "data" top: "a" top: "b" top: "c" {weights} }}'
    monkeypatch.setattr("boxpresso.net.net.sum", math.fsum, raising=False)
    net = opened(data(1, 3) + text)
    net.forward(data=np.ones((1, 3)))
    assert net.loss() == np.float32(1e16) + 1.0 - np.float32(1e16) == 0


def test_what_cannot_be_the_same_everywhere_is_refused():
    with pytest.raises(DeviceError, match="reproducible: cuda is a GPU"):
        Net(parse_net(DEPLOY), device="cuda", reproducible=True)
    with pytest.raises(DeviceError, match="precision='bf16' is not reproducible"):
        Net(parse_net(DEPLOY), device="cpu", reproducible=True, precision="bf16")
    with ops.reproducible(), pytest.raises(BoxpressoError, match="torch and jax are not reproducible"):
        products.roi_align(np.ones((1, 1, 4, 4)), np.zeros((1, 5)), 2)


INEXACT = {
    "np": "exp exp2 expm1 log log2 log10 log1p logaddexp sin cos tan tanh sinh cosh arctan arctan2 arcsin arccos hypot power cbrt dot "
    "matmul einsum inner tensordot vdot linalg interp convolve correlate float_power polyfit cov corrcoef logspace geomspace",
    "math": "exp expm1 log log2 log10 log1p sin cos tan tanh sinh cosh atan atan2 asin acos hypot pow dist",
}  # fmt: skip
# Files and pictures, before what is promised begins, and other programs' forms and faces, which promise nothing.
OUTSIDE = ("data/", "layers/data/", "exports/", "serve/", "dnn/", "caffe/")


def inexact(text: str) -> list[str]:
    """What a Python text asks numpy or C for that is not the same everywhere: functions, powers, and products of matrices."""
    names = {f"{module}.{name}" for module, words in INEXACT.items() for name in words.split()}
    places = []
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and f"{node.value.id}.{node.attr}" in names
        ):
            places.append(f"line {node.lineno}: {node.value.id}.{node.attr}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            places.append(f"line {node.lineno}: @")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            exact = isinstance(node.right, ast.Constant) and node.right.value == 2
            if not exact and not isinstance(node.left, ast.Constant):
                places.append(f"line {node.lineno}: **")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "dot":
            places.append(f"line {node.lineno}: dot")
    return places


def test_nothing_asks_numpy_for_functions_of_its_own():
    assert inexact("import numpy as np\na = np.exp(b) @ c") == ["line 2: @", "line 2: np.exp"]
    root, files = TESTS.parent / "boxpresso", {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(OUTSIDE) and (there := inexact(path.read_text(encoding="utf-8"))):
            files[name] = there
    # Of whole numbers, of 0 and infinity, and refused.
    assert files.keys() == {"layers/detection/lattice.py", "device/functions.py", "ops/products.py"}, files


def rounded_up(module, name: str):
    """A function whose floats are the next larger ones."""
    function = getattr(module, name)

    @functools.wraps(function)
    def other(*args, **options):
        result = function(*args, **options)
        return np.nextafter(result, np.inf) if np.asarray(result).dtype.kind == "f" else result

    return other


def results(case) -> list[np.ndarray]:
    """Tops and gradients of a case of a layer."""
    rng = np.random.default_rng(3)
    bottoms = [whole(rng, ones.shape) if i == 0 and ones.any() else ones for i, ones in enumerate(case.arrays())]
    rig = Rig(f'type: "{case.type}" {case.text}', bottoms, tops=case.tops, phase=case.phase, dtype=np.float64)
    tops = rig.forward()
    if case.down is None:
        return tops
    grads = rig.backward([whole(rng, top.shape) for top in tops], [i in case.down for i in range(len(bottoms))])
    return [*tops, *(grads[i] for i in case.down), *rig.param_diffs()]


@pytest.mark.later
def test_no_layer_type_depends_on_the_last_bits_of_numpys_functions(monkeypatch):
    """Every type, run with functions of numpy and of the C library that answer with the next larger numbers."""
    with np.errstate(all="ignore"):
        before = [results(case) for case in CASES]
        for module, words in ((np, INEXACT["np"]), (math, INEXACT["math"])):
            for name in words.split():
                if name != "linalg":
                    monkeypatch.setattr(module, name, rounded_up(module, name))
        assert np.exp(1.0) > math.e
        for case, wanted in zip(CASES, before):
            for one, other in zip(results(case), wanted, strict=True):
                assert digest([one]) == digest([other]), case.type


class Environment(ctypes.Structure):
    """The C library's fenv_t, large enough for all."""

    _fields_ = [("words", ctypes.c_uint32 * 32)]


# Where glibc keeps what decides: the word of it, and its bits for numbers rounded up, and for zeros in place of subnormal ones.
CONTROLS = {"x86_64": (7, 0x4000, 0x8040), "aarch64": (0, 0x400000, 0x1000000)}


@pytest.mark.parametrize("which", ["nearest", "subnormal"])
def test_a_thread_that_computes_otherwise(which):
    """As another library may have told the CPU: kernels compute as always, and where numpy would not, it is refused."""
    system, control = ctypes.CDLL(None), CONTROLS.get(levels.machine())
    if control is None or not hasattr(system, "gnu_get_libc_version"):
        pytest.skip("where this C library keeps the CPU's rounding is not known here")
    text = data(2, 500) + layer("third", "Power", "data", text="power_param { scale: 0.3333 }")
    net, same = Net(parse_net(text), device="cpu"), opened(text)
    images = np.ldexp(whole(np.random.default_rng(2), (2, 500)), -128).astype(np.float32)
    wanted = net.forward(data=images)["third"].tobytes()
    before, other, said = Environment(), Environment(), ""
    system.fegetenv(ctypes.byref(before))
    system.fegetenv(ctypes.byref(other))
    other.words[control[0]] |= control[1 if which == "nearest" else 2]
    system.fesetenv(ctypes.byref(other))
    try:
        output = net.forward(data=images)["third"].tobytes()
        try:
            same.forward(data=images)
        except DeviceError as error:
            said = str(error)
    finally:
        system.fesetenv(ctypes.byref(before))
    assert output == wanted
    assert which in said
    assert same.forward(data=images)["third"].tobytes() == wanted


def in_a_process(*names: str, **environment: str) -> dict[str, str]:
    path = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    whole = {**os.environ, "BOXPRESSO_PROGRESS": "0", "PYTHONPATH": path, **environment}
    run = subprocess.run([sys.executable, __file__, *names], env=whole, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.sweep
@pytest.mark.parametrize("level", [level.name for level in levels.levels()])
def test_levels(level):
    """The same bits at each level of CPUs that this one offers."""
    if level not in [offered.name for offered in levels.offered()]:
        pytest.skip(f"this CPU does not offer {level}")
    assert in_a_process(BOXPRESSO_CPU=level) == KEPT


@pytest.mark.sweep
@pytest.mark.parametrize("compiler", ["clang++", "python -m ziglang c++"])
def test_compilers(compiler, tmp_path):
    """The same bits by another compiler than g++."""
    if compiler.startswith("python"):
        pytest.importorskip("ziglang")
        compiler = compiler.replace("python", sys.executable)
    elif shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    assert in_a_process(CXX=compiler, BOXPRESSO_CACHE=str(tmp_path)) == KEPT


if __name__ == "__main__":
    print(json.dumps({name: MADE[name]() for name in sys.argv[1:] or MADE}, indent=4))
