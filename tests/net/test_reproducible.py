"""Net(..., reproducible=True): the bits of every blob are those that are kept here, whatever the CPU, compiler, threads and batch.

`PYTHONPATH=.:tests python tests/net/test_reproducible.py` prints them as this machine has them, where a change of the contract
(docs/reproducible.md) has changed them all.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest
from places import TESTS
from plan_nets import conv, data, layer, normal, relu

from boxpresso import Net, Solver, ops
from boxpresso.device import levels, open_device
from boxpresso.layers.dense import lowerings
from boxpresso.proto import parse_net
from boxpresso.proto.boxpresso_pb2 import SolverParameter
from boxpresso.proto.errors import DeviceError

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
TRAIN = (
    data(3, 3, 29, 31) + 'layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 3 } } }' + TRUNK
    + layer("scores", "InnerProduct", "mean", text="inner_product_param { num_output: 7 }")
    + layer("loss", "SoftmaxWithLoss", ["scores", "label"])
)  # fmt: skip
# SHA-256 of all blobs, by name in the order of the net.
KEPT = {
    "forward": "0d50a024184fb16ad03ceff671e745727b3585bcbee7c6e9afe64924477bcff5",
    "extreme": "11e48a4b56d9202380aa60b7f53da3a406cc703e405f2ea6d20f4cef01932ef0",
    "double": "aba9ba3c821f4bd85322ab72e672802e3c1939fb86de41795b24de233db83ecc",
    "trained": "85a471ce3b2d6c8f910c846381de72124c872e3d78be83cd47032f2c6c8b5f41",
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


def trained() -> str:
    """Weights, blobs and their gradients after some steps."""
    rng = np.random.default_rng(3)

    def feed(net: Net) -> None:
        net.blobs["data"].data[...] = whole(rng, net.blobs["data"].shape)
        net.blobs["label"].data[...] = rng.integers(0, 7, 3)

    param = SolverParameter(
        base_lr=0.01, momentum=0.9, weight_decay=0.0005, lr_policy="inv", gamma=0.1, power=0.75, type="SGD",
        random_seed=1, net_param=parse_net(TRAIN), snapshot_after_train=False,
    )  # fmt: skip
    solver = Solver(param, device="cpu", reproducible=True, feed=feed, log=lambda line: None)
    fill(solver.net)
    solver.step(4)
    net = solver.net
    learned = [blob for blobs in net.params.values() for blob in blobs]
    return digest([*(b.data for b in learned), *(b.diff for b in learned), *(b.data for b in net.blobs.values())])


def all_of_them() -> dict[str, str]:
    return {
        "forward": forward(), "extreme": forward(extreme), "double": forward(dtype=np.float64), "trained": trained(),
    }  # fmt: skip


def test_the_bits_are_those_that_are_kept():
    assert all_of_them() == KEPT


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_threads_and_batches_change_nothing(workers, monkeypatch):
    """Also with an image beside others that is drawn into a sum in other blocks."""
    monkeypatch.setattr(open_device("cpu", reproducible=True), "workers", workers)
    assert forward() == KEPT["forward"]
    assert trained() == KEPT["trained"]
    net = opened(DEPLOY)
    images = whole(np.random.default_rng(2), (3, 3, 29, 31))
    together = net.forward(data=images)
    for i in range(3):
        alone = net.forward(data=images[i : i + 1])
        for name, value in alone.items():
            assert value.tobytes() == together[name][i : i + 1].tobytes(), f"{name} of image {i}"


def test_another_order_of_a_sum_is_seen(monkeypatch):
    """The products of 3 x 3 windows made plainly in place of by Winograd's transforms."""
    monkeypatch.setattr(lowerings, "ENOUGH", 10**9)
    assert forward() != KEPT["forward"]


def test_a_nan_that_a_forward_returns_is_the_one_of_numpy():
    net = opened(data(2, 5) + layer("log", "Log", "data"))
    result = net.forward(data=np.array([[np.nan, -np.nan, -1, 1, 2]] * 2))["log"]
    assert result[:, :3].tobytes() == np.full((2, 3), np.nan, np.float32).tobytes()


def test_what_cannot_be_the_same_everywhere_is_refused():
    with pytest.raises(DeviceError, match="reproducible: cuda is a GPU"):
        Net(parse_net(DEPLOY), device="cuda", reproducible=True)
    with pytest.raises(DeviceError, match="precision='bf16' is not reproducible"):
        Net(parse_net(DEPLOY), device="cpu", reproducible=True, precision="bf16")


def test_operators():
    x, rois = whole(np.random.default_rng(4), (2, 9, 21, 23)), np.array([[0, 1.5, 2, 17, 19], [1, 0, 3.25, 9, 8]])
    args = x.astype(np.float32), rois.astype(np.float32), (3, 3)
    with ops.reproducible():
        forward = ops.roi_align(*args, spatial_scale=0.7)
        backward = ops.roi_align_backward(forward, *args, spatial_scale=0.7)["x"]
    assert digest([forward, backward]) == OF_OPERATORS


OF_OPERATORS = "481ed58aff9b8d7d180bdb81c86e8347f2de6f2a5310d14896db301349dedaa6"


INEXACT = {
    "np": "exp exp2 expm1 log log2 log10 log1p logaddexp sin cos tan tanh sinh cosh arctan arctan2 arcsin arccos hypot power cbrt dot "
    "matmul einsum inner tensordot vdot linalg",
    "math": "exp expm1 log log2 log10 log1p sin cos tan tanh sinh cosh atan atan2 asin acos hypot pow dist",
}  # fmt: skip
READERS = "boxpresso/layers/data/"  # of files and pictures: before what is promised begins


def inexact(text: str) -> list[str]:
    """What a Python text asks numpy or C for that is not the same everywhere: functions, and products of matrices."""
    names = {f"{module}.{name}" for module, words in INEXACT.items() for name in words.split()}
    found = []
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and f"{node.value.id}.{node.attr}" in names
        ):
            found.append(f"line {node.lineno}: {node.value.id}.{node.attr}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append(f"line {node.lineno}: @")
    return found


def test_no_layer_asks_numpy_for_functions_of_its_own():
    assert inexact("import numpy as np\na = np.exp(b) @ c") == ["line 2: @", "line 2: np.exp"]
    root, found = TESTS.parent, {}
    for path in sorted((root / "boxpresso" / "layers").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(READERS) and (there := inexact(path.read_text(encoding="utf-8"))):
            found[name] = there
    assert found.keys() == {"boxpresso/layers/detection/lattice.py"}, found  # which has one of whole numbers


def in_a_process(**environment: str) -> dict[str, str]:
    path = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    whole = {**os.environ, "BOXPRESSO_PROGRESS": "0", "PYTHONPATH": path, **environment}
    run = subprocess.run([sys.executable, __file__], env=whole, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.sweep
@pytest.mark.parametrize("level", [level.name for level in levels.levels()])
def test_levels(level):
    """The same bits at each level of CPUs that this one offers."""
    if level not in [offered.name for offered in levels.offered()]:
        pytest.skip(f"this CPU does not offer {level}")
    assert in_a_process(BOXPRESSO_CPU=level) == KEPT


@pytest.mark.parametrize(
    "compiler",
    [pytest.param("clang++", marks=pytest.mark.slow), pytest.param("python -m ziglang c++", marks=pytest.mark.sweep)],
)
def test_compilers(compiler, tmp_path):
    """The same bits by another compiler than g++."""
    if compiler.startswith("python"):
        pytest.importorskip("ziglang")
        compiler = compiler.replace("python", sys.executable)
    elif shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    assert in_a_process(CXX=compiler, BOXPRESSO_CACHE=str(tmp_path)) == KEPT


if __name__ == "__main__":
    print(json.dumps(all_of_them(), indent=4))
