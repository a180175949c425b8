"""Net(reproducible=True) at each level of this CPU, beside the others: SHA-256 of blobs, gradients and trained weights.

    python tests/fuzz/same_bits.py --random 200 --seed 1
    python tests/fuzz/same_bits.py --random 200 --extreme
    python tests/fuzz/same_bits.py --layers --operators --solvers --steps 50 --eight
    python tests/fuzz/same_bits.py --examples --models ../shared/models --steps 50 [--small]
    python tests/fuzz/same_bits.py --layers --compiler clang++ --compiler "python -m ziglang c++" --python FOLDER/python

A process for each level computes all of them (BOXPRESSO_CPU), then one for each further compiler, thread count and Python; what
differs from the first is printed. Each has another number of threads (1, 2, 3 ..), each second one a numpy without vectors wider
than its least, and a BLAS for old CPUs. FOLDER/python is that of tests/levels/aarch64.py, on NEON. --small is for levels that compute
multiply-add in software, where 50 steps of a VGG16 take a day: the nets of files have pictures of SIDE pixels, or the least multiple of
two of it that they can be made for, and those without weights an eighth of their channels.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from places import ROOMS  # noqa: E402

sys.path.extend(map(str, ROOMS))

import nets  # noqa: E402
import numpy as np  # noqa: E402
import test_everywhere as everywhere  # noqa: E402
import test_reproducible as kept  # noqa: E402
import test_traits as traits  # noqa: E402
from harness import Rig  # noqa: E402
from layer_sizes import CASES  # noqa: E402
from numpy._core import _multiarray_umath as umath  # noqa: E402
from oracles import Case, random_inputs  # noqa: E402
from oracles import fill as drawn  # noqa: E402

from boxpresso import Net, Solver, ops, quantize  # noqa: E402
from boxpresso.device import levels  # noqa: E402
from boxpresso.device.cast import cast_to  # noqa: E402
from boxpresso.device.signature import HALVES, REALS  # noqa: E402
from boxpresso.layers.core import Trait, traits_of  # noqa: E402
from boxpresso.proto import parse_net, read_net  # noqa: E402
from boxpresso.proto.boxpresso_pb2 import NetParameter, SolverParameter  # noqa: E402
from boxpresso.proto.errors import BoxpressoError, LayerError  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
Work = Callable[[], str]


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


def even(values: np.ndarray) -> np.ndarray:
    """Drawn numbers as multiples of 2^-20: a numpy that was compiled for another machine draws other last bits."""
    return np.round(values * 2.0**20) / 2.0**20


def fill(net: Net) -> None:
    drawn(net, 1)
    for blobs in net.params.values():
        for blob in blobs:
            blob.data[...] = even(np.asarray(blob.data))


def gone_back(net: Net) -> str:
    """Hashes of all gradients, of random numbers at the outputs; the kind of the error where a layer has none."""
    rng = np.random.default_rng(7)
    for name in net.outputs:
        net.blobs[name].diff[...] = even(rng.standard_normal(net.blobs[name].shape))
    try:
        net.backward()
    except BoxpressoError as error:
        return type(error).__name__
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


def make_odd(arrays: Iterable[np.ndarray], dtype: np.dtype, step: int) -> None:
    """Puts numbers of ODD there, in place of every so many."""
    rng = np.random.default_rng(11)
    for values in arrays:
        flat = values.reshape(-1)
        flat[::step] = rng.choice(ODD[np.dtype(dtype)], len(flat[::step]))


def random_nets(count: int, seed: int, extreme: bool) -> Iterator[tuple[str, Work]]:
    for i in range(count):
        case = Case(tuple(nets.draw([seed, i])), (), dtype=("float32", "float64")[i % 5 == 4])
        yield f"random {i}", partial(of_case, case, extreme)


def of_case(case: Case, extreme: bool) -> str:
    """Hashes of a net; extreme: with a number of ODD in every ninth place of its inputs, and here and there in parameters."""
    message = parse_net("force_backward: true\n" + case.text)
    net = Net(message, device="cpu", seed=1, dtype=np.dtype(case.dtype), reproducible=True)
    fill(net)
    inputs = {name: even(values) for name, values in random_inputs(case, net).items()}
    if extreme:
        learned = [np.asarray(blob.data) for blobs in net.params.values() for blob in blobs[:1]]
        arrays = [array for name, array in inputs.items() if name.startswith("x")]
        make_odd(arrays, net.dtype, 9)
        make_odd(learned, net.dtype, 97)
    net.forward(**inputs)
    return seen(net) + gone_back(net)


def layer_cases(extreme: bool) -> Iterator[tuple[str, Work]]:
    """Every layer type forward and backward, in each type of numbers that it has."""
    for i, case in enumerate(CASES):
        halves = Trait.SIXTEEN_BITS in traits_of(case.type)
        for dtype in (np.float32, np.float64, *(HALVES[:1] if halves else ())):
            name = f"{i} {case.type} {np.dtype(dtype)}"
            yield name, partial(of_layer, case, dtype, extreme)


def of_layer(case, dtype, extreme: bool) -> str:
    drawn_bottoms = [even(value) for value in traits.values(case)]
    whole = [np.abs(np.rint(4 * value)) for value in drawn_bottoms]  # of labels and numbers of rows
    for bottoms in (drawn_bottoms, whole):
        if extreme and bottoms:
            make_odd(bottoms[:1], np.float32, 7)
        with suppress(LayerError):
            return of_bottoms(case, bottoms, dtype)
    return of_bottoms(case, case.arrays(), dtype)


def of_bottoms(case, bottoms: list[np.ndarray], dtype) -> str:
    options = {"tops": case.tops, "phase": case.phase, "dtype": dtype, "reproducible": True}
    rig = Rig(f'type: "{case.type}" {case.text}', [cast_to(b, dtype) for b in bottoms], **options)
    for blob in rig.layer.blobs:
        blob.data[...] = even(np.asarray(blob.data))
    tops = rig.forward()
    if case.down is None:
        return digest(single(tops))
    rng = np.random.default_rng(5)
    diffs = [cast_to(even(rng.standard_normal(top.shape)), top.dtype) for top in tops]
    grads = rig.backward(diffs, [i in case.down for i in range(len(bottoms))])
    return digest(single([*tops, *(grads[i] for i in case.down), *rig.param_diffs()]))


def single(arrays: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Those in 16 bits in float32, where a NaN is one."""
    return (cast_to(a, np.float32) if a.dtype in HALVES else a for a in map(np.asarray, arrays))


def operators(extreme: bool) -> Iterator[tuple[str, Work]]:
    """All of boxpresso.ops in each type of numbers, those that have one backward."""
    with ops.reproducible():
        for dtype in (np.dtype(np.float32), np.dtype(np.float64), *HALVES):

            def cast(array: np.ndarray, dtype: np.dtype = dtype) -> np.ndarray:
                array = even(np.asarray(array, np.float64))
                if extreme:
                    make_odd([array], np.float32, 23)
                return cast_to(array, dtype)

            for i, (name, inputs, options) in enumerate(everywhere.OPERATORS):
                yield f"ops.{name} {i} {REALS[dtype]}", partial(of_operator, name, inputs, options, cast)
            for name, call in everywhere.FUNCTIONS.items():
                yield f"ops.{name} {REALS[dtype]}", partial(of_function, call, cast)


def of_operator(name: str, inputs: dict, options: dict, cast) -> str:
    op, indices = getattr(ops, name), ("spatial_shapes", "level_start_index")
    arrays = {n: a if n in indices else cast(a) for n, a in inputs.items()}
    result = op(**arrays, **options)
    diff = cast_to(even(np.random.default_rng(2).standard_normal(result.shape)), result.dtype)
    return digest(single([result, *op.backward(diff, **arrays, **options).values()]))


def of_function(call, cast) -> str:
    result = call(cast)
    return digest(single(result if isinstance(result, tuple) else (result,)))


ENDS = (0, -20, -60, -100, -120, -130, -145, 20, 60, 100, 118)


def eights() -> Iterator[tuple[str, Work]]:
    """A net in 8 bits, its ranges by each method from pictures of numbers up to both ends of float32's."""
    for ranges in ("minmax", "percentile", "entropy"):
        for power in ENDS:
            yield f"8 bits, {ranges}, 2^{power}", partial(in_eight, ranges, power)


def in_eight(ranges: str, power: int) -> str:
    """Hash of a forward by scales, and of the scales."""
    net = kept.opened(kept.DEPLOY)
    images = np.ldexp(kept.whole(np.random.default_rng(2), net.blobs["data"].shape), power).astype(np.float32)
    scales = quantize(net, [{"data": images}], ranges=ranges, speed=False, drop=1)
    net.quantize(scales)
    measured = np.array([end for _, tops in sorted(scales.ranges.items()) for ends in tops for end in ends])
    return digest([measured, *net.forward(data=images).values()]) + f" {len(scales.chosen)} layers"


def example_nets(steps: int, small: bool) -> Iterator[tuple[str, Work]]:
    for path in sorted((ROOT / "examples").rglob("deploy.prototxt")):
        yield from of_file(str(path.relative_to(ROOT)), read_net(path), None, steps, small)


LARGE = 2.0e7  # numbers in parameters, from which on a net is trained for 2 steps
SIDE = 64  # pixels of a small picture


def made_small(param: NetParameter, weights: str | None) -> NetParameter:
    """The net for the smallest pictures that it can be made for; without weights its channels from 64 on are an eighth."""
    side, thin = SIDE, NetParameter()
    thin.CopyFrom(param)
    if weights is None:
        for each in thin.layer:
            for numbers in (
                each.convolution_param,
                each.deformable_convolution_param,
                each.inner_product_param,
                each.recurrent_param,
            ):
                if numbers.num_output in {64 << i for i in range(8)}:  # others say how many boxes there are, or classes
                    numbers.num_output //= 8
                    if getattr(numbers, "group", 1) > 1:
                        numbers.group //= 8
    while True:
        small = NetParameter()
        small.CopyFrom(thin)
        for each in small.layer:
            for shape in each.input_param.shape:
                if len(shape.dim) == 4:
                    shape.dim[2:] = [min(side, size) for size in shape.dim[2:]]
        try:
            Net(small, weights, device="cpu")
        except BoxpressoError:
            if small == thin:
                return param
            side *= 2
        else:
            return small


def of_file(name: str, param: NetParameter, weights: str | None, steps: int, small: bool) -> Iterator[tuple[str, Work]]:
    """A net forward; without what a gradient ends at, backward and trained by the squares of its outputs."""
    for each in param.layer:
        each.ClearField("include")
    param.force_backward = True
    if small:
        param = made_small(param, weights)
    net = Net(param, weights, device="cpu", seed=1, reproducible=True)
    begin(net, weights is None)
    yield name, partial(seen, net)
    param = without_ends(param)
    net = Net(param, weights, device="cpu", seed=1, reproducible=True)
    begin(net, weights is None)
    yield f"{name}, backward", partial(gone_back, net)
    if not steps:
        return
    count = sum(blob.count for blobs in net.params.values() for blob in blobs)
    steps = 2 if count > LARGE else steps
    yield f"{name}, {steps} steps", partial(taught, net, param, steps, 128 if weights is None else 1)


def begin(net: Net, drawn: bool) -> None:
    """A forward; of drawn parameters such that boxes and offsets are of the size of the picture, or all would be cut to one."""
    if drawn:
        fill(net)
        for name, blobs in net.params.items():
            for blob in blobs if any(word in name for word in ("offset", "bbox", "loc")) else ():
                blob.data[...] = np.asarray(blob.data) / 16
    give(net, 128 if drawn else 1)
    net.forward()


def give(net: Net, divisor: int) -> None:
    """Pictures of whole numbers through the divisor, and regions in them."""
    for name in net.inputs:
        blob = net.blobs[name]
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        drawn = rng.integers(-128, 128, blob.shape)
        if name == "im_info":
            side = next(b.shape[2] for b in net.blobs.values() if len(b.shape) == 4)
            drawn = np.array([side, side, 1][: blob.count])
        elif name == "rois":
            drawn = np.abs(drawn) % [1, 32, 32, *[64] * (blob.shape[1] - 3)]
        blob.data[...] = drawn / (divisor if len(blob.shape) == 4 else 1)


def without_ends(param: NetParameter) -> NetParameter:
    """The net without its last layers that have no gradient, such as DetectionOutput, or none where they are sure, such as Softmax,
    and without those after them alone.
    """
    ends = {case.type for case in CASES if case.down is None or Trait.PROBABILITIES in traits_of(case.type)}
    rest, constant = NetParameter(), set()
    rest.CopyFrom(param)
    for each in rest.layer:
        if each.type in ends or (each.bottom and constant.issuperset(each.bottom)):
            constant.update(each.top)
    read: set[str] = set()
    for i in reversed(range(len(rest.layer))):
        if (
            rest.layer[i].type != "Input"
            and constant.issuperset(rest.layer[i].top)
            and read.isdisjoint(rest.layer[i].top)
        ):
            del rest.layer[i]
        else:
            read.update(rest.layer[i].bottom)
    return rest


def taught(net: Net, param: NetParameter, steps: int, divisor: int) -> str:
    """Weights after so many steps of a net whose loss is the squares of its outputs."""
    last = NetParameter()
    last.CopyFrom(param)
    read = {bottom for each in last.layer for bottom in each.bottom}
    for top in {top: 0 for each in last.layer for top in each.top if top not in read and each.type != "Input"}:
        squares = (
            f'type: "Reduction" bottom: "{top}" top: "loss_{top}" loss_weight: 1 reduction_param {{ operation: SUMSQ }}'
        )
        last.MergeFrom(parse_net(f'layer {{ name: "loss_{top}" {squares} }}'))
    rule = SolverParameter(
        base_lr=1e-4, lr_policy="exp", gamma=0.99, momentum=0.9, weight_decay=0.001, clip_gradients=1, random_seed=1,
        net_param=last, snapshot_after_train=False, type="SGD",
    )  # fmt: skip
    solver = Solver(
        rule,
        device="cpu",
        reproducible=True,
        feed=partial(give, divisor=divisor),
        log=lambda line: None,
        allow_nan=True,
    )
    for name, blobs in net.params.items():
        for blob, other in zip(blobs, solver.net.params.get(name, ())):
            other.data[...] = blob.data
    solver.step(steps)
    return digest(blob.data for blobs in solver.net.params.values() for blob in blobs)


def model_nets(folder: Path, steps: int, small: bool) -> Iterator[tuple[str, Work]]:
    """Each net of a folder with each file of weights beside it that fits it."""
    for weights in sorted(folder.rglob("*.caffemodel")):
        for path in sorted(weights.parent.glob("*.prototxt")):
            try:
                param = read_net(path)
                report = Net(param, device="cpu").copy_from(weights)
            except (BoxpressoError, ValueError):
                continue
            if report.missing or not report.matched:
                continue
            yield from of_file(f"{weights.relative_to(folder)} as {path.stem}", param, str(weights), steps, small)


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


def trained(steps: int) -> Iterator[tuple[str, Work]]:
    """A small net by each solver."""
    for kind in ("SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"):
        for dtype in (np.float32, np.float64):
            yield f"{kind}, {steps} steps, {np.dtype(dtype)}", partial(by_solver, kind, steps, dtype)


def by_solver(kind: str, steps: int, dtype) -> str:
    rng = np.random.default_rng(3)

    def feed(net: Net) -> None:
        net.blobs["data"].data[...] = rng.integers(-(2**10), 2**10, net.blobs["data"].shape) / 2**9
        net.blobs["label"].data[...] = rng.integers(0, 5, 4)

    param = SolverParameter(
        type=kind, base_lr=0.01, lr_policy="exp", gamma=0.99, weight_decay=0.001, random_seed=1, clip_gradients=5,
        net_param=parse_net(TRAINED), snapshot_after_train=False, momentum2=0.999, delta=1e-6,
        momentum=0.9 if kind in ("SGD", "Nesterov", "AdaDelta", "Adam") else 0,
    )  # fmt: skip
    solver = Solver(param, device="cpu", reproducible=True, feed=feed, log=lambda line: None, dtype=dtype)
    fill(solver.net)
    solver.step(steps)
    return digest(blob.data for blobs in solver.net.params.values() for blob in blobs)


def attempt(work: Work) -> str:
    """A hash, or the kind of the error, which is to be the same too."""
    try:
        return work()
    except BoxpressoError as error:
        return type(error).__name__


def hashes(args: argparse.Namespace) -> dict[str, str]:
    warnings.simplefilter("ignore")
    works = [random_nets(args.random, args.seed, args.extreme)]
    if args.layers:
        works.append(layer_cases(args.extreme))
    if args.operators:
        works.append(operators(args.extreme))
    if args.examples:
        works.append(example_nets(args.steps, args.small))
    if args.models:
        works.append(model_nets(args.models, args.steps, args.small))
    if args.eight:
        works.append(eights())
    if args.solvers:
        works.append(trained(args.steps))
    results, start = {}, time.monotonic()
    for name, work in chain.from_iterable(works):
        if args.only in name:
            results[name] = attempt(work)
            print(f"{time.monotonic() - start:6.0f} s  {name} {results[name]}", file=sys.stderr, flush=True)
    return results


def sides(args: argparse.Namespace) -> Iterator[tuple[str, dict[str, str], str]]:
    """What is compared: a name, variables of its process, and its Python."""
    best = args.levels.split(",")[-1]
    for level in args.levels.split(","):
        yield level, {"BOXPRESSO_CPU": level}, sys.executable
    for compiler in args.compiler:
        command = compiler.replace("python ", f"{sys.executable} ", 1) if compiler.startswith("python ") else compiler
        yield f"{best} by {compiler}", {"BOXPRESSO_CPU": best, "CXX": command}, sys.executable
    for python in args.python:
        yield python, {}, python
    for threads in filter(None, args.threads.split(",")):
        yield f"{best}, {threads} threads", {"BOXPRESSO_CPU": best, "BOXPRESSO_THREADS": threads}, sys.executable


def answer(number: int, side: tuple[str, dict[str, str], str]) -> dict[str, str]:
    """The hashes of a process. Raises CalledProcessError where it fails."""
    name, variables, python = side
    environment = {"BOXPRESSO_THREADS": str(1 + number % 8), "BOXPRESSO_PROGRESS": "0", **variables}
    if number % 2 and python == sys.executable:
        environment |= {"NPY_DISABLE_CPU_FEATURES": " ".join(umath.__cpu_dispatch__), "OPENBLAS_CORETYPE": "Nehalem"}
    print(f"{name}:", file=sys.stderr)
    command = [python, __file__, *sys.argv[1:], "--print"]
    run = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--random", type=int, default=0, help="so many random nets, forward and backward")
    words.add_argument("--seed", type=int, default=1)
    text = "of nets, layers and operators, with NaN, infinities and the ends of the range"
    words.add_argument("--extreme", action="store_true", help=text)
    words.add_argument("--layers", action="store_true", help="a case of every layer type, forward and backward")
    words.add_argument("--operators", action="store_true", help="those of boxpresso.ops, forward and backward")
    words.add_argument("--examples", action="store_true", help="the examples' nets, forward and backward")
    words.add_argument("--models", type=Path, help="the nets of a folder, with their weights")
    words.add_argument("--small", action="store_true", help="nets of files for small pictures, and thinner")
    words.add_argument("--eight", action="store_true", help="a net in 8 bits, with ranges of numbers of all sizes")
    words.add_argument("--solvers", action="store_true", help="a small net, trained by each solver")
    words.add_argument("--steps", type=int, default=0, help="so many steps of training, of nets of files too")
    words.add_argument("--only", default="", help="what has this in its name")
    words.add_argument("--levels", default=",".join(level.name for level in levels.offered()))
    words.add_argument("--compiler", action="append", default=[], help="a further compiler, for the best level")
    words.add_argument(
        "--python", action="append", default=[], help="a Python of another machine, such as an emulated one"
    )
    words.add_argument(
        "--threads", default="", help="further processes of the best level: numbers of threads, as 5,6,7,8"
    )
    words.add_argument("--print", action="store_true", help="this process's hashes as JSON")
    args = words.parse_args()
    if args.print:
        print(json.dumps(hashes(args)))
        return 0
    results = {}
    for number, side in enumerate(sides(args)):
        try:
            results[side[0]] = answer(number, side)
        except subprocess.CalledProcessError:
            return 1
    first, *others = results
    wrong = 0
    for name, value in results[first].items():
        for other in others:
            if results[other].get(name) != value:
                wrong += 1
                print(f"{name}: {first} {value}, {other} {results[other].get(name)}")
    errors = sum(value.endswith("Error") for value in results[first].values())
    print(f"{', '.join(results)}: {len(results[first])} results, {errors} of them errors; {wrong} differ")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
