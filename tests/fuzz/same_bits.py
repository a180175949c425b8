"""Net(reproducible=True) at each level of this CPU, beside the others: SHA-256 of blobs, gradients and trained weights.

    python tests/fuzz/same_bits.py --random 200 --seed 1
    python tests/fuzz/same_bits.py --random 200 --extreme
    python tests/fuzz/same_bits.py --examples --steps 50
    python tests/fuzz/same_bits.py --models ../shared/models

A process for each level computes all of them (BOXPRESSO_CPU); what differs is printed. Threads differ, too: 1, 2, 3 ..
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import warnings
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import nets
import numpy as np
from oracles import Case, fill, random_inputs

from boxpresso import Net, Solver
from boxpresso.device import levels
from boxpresso.proto import parse_net, read_net
from boxpresso.proto.boxpresso_pb2 import NetParameter, SolverParameter
from boxpresso.proto.errors import BoxpressoError

ROOT = Path(__file__).resolve().parents[2]


def digest(arrays: Iterable[np.ndarray]) -> str:
    """SHA-256 of arrays; all NaN are one (docs/reproducible.md)."""
    sha = hashlib.sha256()
    for array in arrays:
        values = np.array(array)
        if values.dtype.kind == "f":
            values[np.isnan(values)] = np.nan
        sha.update(values.tobytes())
    return sha.hexdigest()[:16]


def seen(net: Net) -> str:
    return digest([*(b.data for b in net.blobs.values())])


def gone_back(net: Net) -> str:
    """Hashes of all gradients, of random numbers at the outputs."""
    rng = np.random.default_rng(7)
    for name in net.outputs:
        net.blobs[name].diff[...] = rng.standard_normal(net.blobs[name].shape)
    net.backward()
    learned = [blob.diff for blobs in net.params.values() for blob in blobs]
    return digest([*(b.diff for b in net.blobs.values()), *learned])


ODD = {
    np.dtype(np.float32): [
        np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1.1754942e-38, -1.1754944e-38, 3.4028235e38, -3.4028235e38, 1.8446743e19,
        -1.8446746e19, 1e-20, 88.72284, -87.33655, -103.97208, 16777217.0, 0.99999994, 1.0000001,
    ],
    np.dtype(np.float64): [
        np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072009e-308, -2.2250738585072014e-308,
        1.797693134862315e308, -1.797693134862315e308, 1.3407807929942597e154, -1.3407807929942597e154, 1e-160, 709.7827128933841,
        -708.3964185322641, -745.1332191019412, 9007199254740993.0, 0.9999999999999999, 1.0000000000000002,
    ],
}  # fmt: skip


def random_nets(count: int, seed: int, extreme: bool) -> Iterator[tuple[str, str]]:
    for i in range(count):
        case = Case(tuple(nets.draw([seed, i])), (), dtype=("float32", "float64")[i % 5 == 4])
        yield f"random {i}", attempt(lambda case=case: of_case(case, extreme))


def of_case(case: Case, extreme: bool) -> str:
    """Hashes of a net; extreme: with a number of ODD in every ninth place of its inputs, and here and there in parameters."""
    message = parse_net("force_backward: true\n" + case.text)
    net = Net(message, device="cpu", seed=1, dtype=np.dtype(case.dtype), reproducible=True)
    fill(net, 1)
    inputs = random_inputs(case, net)
    if extreme:
        rng = np.random.default_rng(11)
        learned = [np.asarray(blob.data).reshape(-1) for blobs in net.params.values() for blob in blobs[:1]]
        arrays = [(array.reshape(-1), 9) for name, array in inputs.items() if name.startswith("x")]
        for values, step in (*arrays, *((array, 97) for array in learned)):
            values[::step] = rng.choice(ODD[net.dtype], len(values[::step]))
    net.forward(**inputs)
    return seen(net) + gone_back(net)


def example_nets() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "examples").rglob("deploy.prototxt")):
        if "vgg16" in str(path) or "resnet50" in str(path):
            continue  # large, and made of the same layers
        yield str(path.relative_to(ROOT)), attempt(lambda path=path: of_file(read_net(path)))


def of_file(param: NetParameter, weights: str | None = None) -> str:
    net = Net(param, weights, device="cpu", seed=1, reproducible=True)
    if weights is None:
        fill(net, 1)
    for name in net.inputs:
        blob = net.blobs[name]
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        blob.data[...] = (
            [blob.shape[2] if len(blob.shape) > 2 else 200, 200, 1][: blob.count]
            if name == "im_info"
            else (rng.integers(-128, 128, blob.shape))
        )
    net.forward()
    return seen(net)


def model_nets(folder: Path) -> Iterator[tuple[str, str]]:
    for weights in sorted(folder.rglob("*.caffemodel")):
        for path in sorted(weights.parent.glob("*.prototxt")):
            try:
                yield f"{weights.stem} as {path.stem}", of_file(read_net(path), str(weights))
            except (BoxpressoError, ValueError):
                continue
            break


TRAINED = """
    layer { name: "data" type: "Input" top: "data" top: "label" input_param { shape { dim: 4 dim: 3 dim: 24 dim: 24 }
            shape { dim: 4 } } }
    layer { name: "c1" type: "Convolution" bottom: "data" top: "c1" convolution_param { num_output: 24 kernel_size: 3 pad: 1
            weight_filler { type: "msra" } } }
    layer { name: "bn" type: "BatchNorm" bottom: "c1" top: "c1" }
    layer { name: "s" type: "Scale" bottom: "c1" top: "c1" scale_param { bias_term: true } }
    layer { name: "r1" type: "ReLU" bottom: "c1" top: "c1" }
    layer { name: "p1" type: "Pooling" bottom: "c1" top: "p1" pooling_param { kernel_size: 2 stride: 2 } }
    layer { name: "dw" type: "Convolution" bottom: "p1" top: "dw" convolution_param { num_output: 24 kernel_size: 3 pad: 1
            group: 24 weight_filler { type: "msra" } } }
    layer { name: "e" type: "ELU" bottom: "dw" top: "dw" }
    layer { name: "d" type: "Deconvolution" bottom: "dw" top: "d" convolution_param { num_output: 8 kernel_size: 2 stride: 2
            weight_filler { type: "xavier" } } }
    layer { name: "drop" type: "Dropout" bottom: "d" top: "d" }
    layer { name: "fc" type: "InnerProduct" bottom: "d" top: "fc" inner_product_param { num_output: 5
            weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }"""


def trained(steps: int) -> Iterator[tuple[str, str]]:
    """A small net by each solver."""
    for kind in ("SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"):
        rng = np.random.default_rng(3)

        def feed(net: Net, rng: np.random.Generator = rng) -> None:
            net.blobs["data"].data[...] = rng.integers(-(2**10), 2**10, net.blobs["data"].shape) / 2**9
            net.blobs["label"].data[...] = rng.integers(0, 5, 4)

        param = SolverParameter(
            type=kind, base_lr=0.01, lr_policy="exp", gamma=0.99, weight_decay=0.001, random_seed=1,
            net_param=parse_net(TRAINED), snapshot_after_train=False, momentum2=0.999, delta=1e-6,
            momentum=0.9 if kind in ("SGD", "Nesterov", "AdaDelta", "Adam") else 0,
        )  # fmt: skip
        solver = Solver(param, device="cpu", reproducible=True, feed=feed, log=lambda line: None)
        solver.step(steps)
        yield f"{kind}, {steps} steps", digest(blob.data for blobs in solver.net.params.values() for blob in blobs)


def attempt(work) -> str:
    """A hash, or the kind of the error, which is to be the same too."""
    try:
        return work()
    except BoxpressoError as error:
        return type(error).__name__


def hashes(args: argparse.Namespace) -> dict[str, str]:
    warnings.simplefilter("ignore")
    result = dict(random_nets(args.random, args.seed, args.extreme))
    if args.examples:
        result.update(example_nets())
    if args.models:
        result.update(model_nets(args.models))
    if args.steps:
        result.update(trained(args.steps))
    return result


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--random", type=int, default=0, help="so many random nets, forward and backward")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument(
        "--extreme", action="store_true", help="of these, with NaN, infinities and the ends of the range"
    )
    words.add_argument("--examples", action="store_true", help="the examples' nets")
    words.add_argument("--models", type=Path, help="the nets of a folder, with their weights")
    words.add_argument("--steps", type=int, default=0, help="a small net, trained for so many steps by each solver")
    words.add_argument("--levels", default=",".join(level.name for level in levels.offered()))
    words.add_argument("--print", action="store_true", help="this process's hashes as JSON")
    args = words.parse_args()
    if args.print:
        print(json.dumps(hashes(args)))
        return 0
    results = {}
    for threads, level in enumerate(args.levels.split(","), 1):
        environment = {
            **os.environ,
            "BOXPRESSO_CPU": level,
            "BOXPRESSO_THREADS": str(threads),
            "BOXPRESSO_PROGRESS": "0",
        }
        run = subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--print"], env=environment, capture_output=True, text=True
        )
        if run.returncode:
            print(f"{level}: {run.stderr[-2000:]}")
            return 1
        results[level] = json.loads(run.stdout)
    first, *others = results
    wrong = 0
    for name, value in results[first].items():
        for other in others:
            if results[other][name] != value:
                wrong += 1
                print(f"{name}: {first} {value}, {other} {results[other][name]}")
    errors = sum(value.endswith("Error") for value in results[first].values())
    print(f"{', '.join(results)}: {len(results[first])} results, {errors} of them errors; {wrong} differ")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
