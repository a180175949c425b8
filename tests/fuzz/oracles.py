"""Cases, and what to ask of each: is the plan as the layers are, and are both as defined, as ONNX and OpenCV have it?

An oracle is a function of a Case that gives None, or the first thing that differs.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import tempfile
import traceback
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import nets
import numpy as np
import reference
import reference_detections  # noqa: F401  # enters its layers there
import reference_losses  # noqa: F401  # the same
import reference_regions  # noqa: F401  # the same
from nets import Node

from boxpresso import Net, Solver, quantize
from boxpresso.layers.core import Layer
from boxpresso.proto import BoxpressoError, parse_net, parse_solver
from boxpresso.proto.errors import KernelError

# What a standalone script needs of this file


def values(seed, *shape, wild=0.0):
    """Random numbers, with that part of them NaN or infinite."""
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if wild:
        array[rng.random(shape) < wild] = rng.choice([np.nan, np.inf, -np.inf])
    return array


def regions(seed, count, images, height, width):
    """Rows of image and corners, as ROIPooling reads them."""
    rng = np.random.default_rng(seed)
    corners = np.sort(rng.integers(0, [[height], [width]], (count, 2, 2)), axis=2) if height and width else 0
    return np.column_stack(
        [rng.integers(0, images, count), corners[:, 1, 0], corners[:, 0, 0], corners[:, 1, 1], corners[:, 0, 1]]
    )


def fill(net, seed):
    """Random parameters, the same for a layer whatever other layers there are."""
    for layer in net.layers:
        rng = np.random.default_rng([seed, zlib.crc32(layer.name.encode())])
        for i, blob in enumerate(layer.blobs):
            if layer.type == "BatchNorm" and i < 3:
                blob.data[...] = [
                    rng.normal(0, 0.5, blob.shape),
                    rng.random(blob.shape) + 0.7,
                    np.full(blob.shape, 1.5),
                ][i]
            elif (layer.type == "Scale" and i == 0) or layer.type == "Normalize":
                blob.data[...] = rng.normal(1, 0.4, blob.shape)
            elif layer.type == "PReLU" or i == 1 or layer.type == "Bias":
                blob.data[...] = rng.normal(0, 0.3, blob.shape)
            else:
                blob.data[...] = rng.normal(0, 1, blob.shape) / np.sqrt(max(1, blob.count // max(1, blob.shape[0])))


class Counter(Layer, type="FuzzCounter", bottoms=1, tops=1):
    """Adds an eighth of the number of its forwards; each forward of a net is to run it once."""

    calls = 0

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        self.calls += 1
        top[0].data[...] = np.asarray(bottom[0].data) + self.calls / 8

    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = top[0].diff


def trainer(text, names, folder, **options):
    """A Solver of a net whose loss is the sum of the squares of some blobs, with two test nets of the same layers."""
    losses = "".join(
        f'layer {{ name: "loss_{name}" type: "Reduction" bottom: "{name}" top: "loss_{name}" loss_weight: 1'
        " reduction_param { operation: SUMSQ coeff: 0.01 } }"
        for name in names
    )
    param = parse_solver(
        'base_lr: 0.01 momentum: 0.5 lr_policy: "fixed" random_seed: 1 clip_gradients: 1 max_iter: 100 test_iter: 1 test_iter: 1 '
        f'test_interval: 1000 test_initialization: false snapshot_prefix: "{folder}/s"'
    )
    param.net_param.CopyFrom(parse_net(text + losses))
    planned = options.pop("optimize")

    class Made(Net):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more, optimize=planned)

    class Trainer(Solver):
        net_class = Made

    solver = Trainer(param, log=lambda line: None, **options)
    fill(solver.net, 1)
    return solver


SHARED = "\n\n".join(inspect.getsource(f) for f in (values, regions, fill, Counter, trainer))

LIMIT = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-9}
Seen = list[tuple[str, object]]


class Unfit(Exception):
    """A script that says nothing about a net: it asks for what is not there."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A net and a script, and what both are played with."""

    nodes: tuple[Node, ...]
    steps: tuple[str, ...]
    dtype: str = "float32"
    device: str = "cpu"  # of the plan
    phase: str = "TEST"
    head: str = ""  # fields of the net

    @property
    def text(self) -> str:
        return self.head + nets.text(self.nodes)


# Playing


def play(case: Case, planned: bool, dtype: str = "") -> Seen:
    """Runs a script; what `see` was given, in order, and last the error if it ended with one of ours."""
    device, seen, held = case.device if planned else "cpu", Seen(), {}

    def make(seed: int = 1) -> Net:
        net = Net(
            parse_net(case.text),
            phase=case.phase,
            device=device,
            seed=seed,
            dtype=np.dtype(dtype or case.dtype),
            optimize=planned,
        )
        fill(net, seed)
        return net

    def train(*names: str) -> Solver:
        return trainer(case.text, names, folder, device=device, dtype=np.dtype(dtype or case.dtype), optimize=planned)

    def tried(work: Callable[[], object]) -> None:
        try:
            work()
        except BoxpressoError as error:
            seen.append((f"step {number}", np.array([ord(c) for c in type(error).__name__])))

    def see(values: object) -> None:
        for name, array in values.items() if isinstance(values, dict) else [("", values)]:
            seen.append((f"step {number} {name}".strip(), np.array(array)))

    number = -1
    with tempfile.TemporaryDirectory() as folder:
        try:
            space = {
                "np": np,
                "held": held,
                "see": see,
                "make": make,
                "train": train,
                "tried": tried,
                "folder": folder,
                "values": values,
                "regions": regions,
            }
            space["net"] = make()
            for number in range(len(case.steps)):
                exec(case.steps[number], space)
        except BoxpressoError as error:
            seen.append((f"step {number}", f"{type(error).__name__}: {error}"))
        except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
            if not planned:
                raise Unfit from error
            where = traceback.extract_tb(error.__traceback__)[-1]
            seen.append(
                (f"step {number}", f"{type(error).__name__}: {error} ({Path(where.filename).name} {where.name})")
            )
    return seen


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, as a part of the largest value of `b`; infinite where shapes, NaN or infinities differ."""
    if a.shape != b.shape:
        return np.inf
    if not a.size:
        return 0.0
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return np.inf
    if not finite.any():
        return 0.0
    return float(np.abs(a[finite] - b[finite]).max() / (np.abs(b[finite]).max() + 1e-3))


def overflows(array: np.ndarray) -> bool:
    """Whether a float32 value is near the largest one, -FLT_MAX of an empty window left out."""
    large = np.abs(array[np.isfinite(array)].astype(np.float64))
    return bool(((large > 1e35) & (large < 0.999 * np.finfo(np.float32).max)).any())


def first_difference(one: Seen, other: Seen, limit: float) -> int | None:
    """The number of the first thing seen that is not the same in both."""
    for i, ((_, a), (_, b)) in enumerate(zip(one, other)):
        if isinstance(a, str) or isinstance(b, str):
            if not (isinstance(a, str) and isinstance(b, str) and a.split(":")[0] == b.split(":")[0]):
                return i
        elif distance(a, b) > limit:
            return i
    return None if len(one) == len(other) else min(len(one), len(other))


@dataclasses.dataclass(frozen=True)
class Finding:
    """What differs: where, and the values of plan and layers, or of one of these and the definitions."""

    where: str
    planned: object
    layers: object
    names: tuple[str, str] = ("plan", "layers")

    def __str__(self) -> str:
        def show(value: object) -> str:
            if isinstance(value, np.ndarray):
                return f"{value.shape} {np.array2string(value.reshape(-1)[:4], precision=5)}"
            return str(value)

        off = ""
        if isinstance(self.planned, np.ndarray) and isinstance(self.layers, np.ndarray):
            off = f" (off by {distance(self.planned, self.layers):.2g})"
        return f"{self.where}: {self.names[0]} {show(self.planned)}, {self.names[1]} {show(self.layers)}{off}"


def judge(case: Case) -> Finding | None:
    """What differs first between plan and layers. What float32's own rounding explains, by comparison with double, does not count.

    Raises Unfit for a case that says nothing.
    """
    layers, planned = play(case, False), play(case, True)
    limit = LIMIT[np.dtype(case.dtype)]
    at = first_difference(planned, layers, limit)
    if at is None:
        return None
    where = (layers[at] if at < len(layers) else planned[at])[0]
    pair = [seen[at][1] if at < len(seen) else "nothing more" for seen in (planned, layers)]
    if case.dtype == "float32" and all(isinstance(v, np.ndarray) for v in pair) and pair[0].shape == pair[1].shape:
        if max(np.abs(v[np.isfinite(v)]).max(initial=0) for v in pair) > 1e37:
            raise Unfit("sums that may overflow or not, by their order")
        exact = play(case, False, "float64")
        if at < len(exact) and isinstance(exact[at][1], np.ndarray):
            own = distance(pair[1], exact[at][1])
            off = distance(pair[0], exact[at][1])
            if off <= max(limit, 8 * own):
                return None
    return Finding(where, *pair)


def made(case: Case, dtype: object, planned: bool = True, force: bool = False) -> Net:
    """The net of a case with its random parameters."""
    text = "force_backward: true\n" * force + case.text
    device = case.device if planned else "cpu"
    net = Net(parse_net(text), device=device, seed=1, dtype=np.dtype(dtype), optimize=planned, phase=case.phase)
    fill(net, 1)
    return net


def parameters(net: Net) -> dict[str, list[np.ndarray]]:
    return {name: [np.array(blob.data) for blob in blobs] for name, blobs in net.params.items()}


def defined(case: Case) -> Finding | None:
    """What differs first between a plain forward, by plan and layer by layer, and what the layers are defined to do.

    A float32 value is wrong where it is further from its definition than `LIMIT`, and than eight times what the layers in double
    precision, which have the same weights, are from those in float32.
    """
    if case.phase != "TEST":
        raise Unfit("what layers do in training is not defined here")
    limit = LIMIT[np.dtype(case.dtype)]
    exact: dict[str, np.ndarray] = {}
    layers: dict[str, np.ndarray] = {}
    for planned in (False, True):
        net = made(case, case.dtype, planned)
        inputs, weights = random_inputs(case, net), parameters(net)
        try:
            wanted = reference.run(parse_net(case.text), weights, inputs, np.dtype(case.dtype).type, case.phase)
        except reference.Unknown as error:
            raise Unfit from error
        if case.dtype == "float32" and any(overflows(array) for array in wanted.values()):
            raise Unfit("whether a sum of such numbers overflows depends on its order")
        outputs = net.forward(**inputs)
        seen = [*outputs.items(), *((name, np.array(net.blobs[name].data)) for name in wanted)]
        for name, array in seen:
            off = distance(array, wanted[name])
            if off <= limit:
                continue
            if case.dtype == "float32" and not exact:
                double = made(case, np.float64, False)
                for key, arrays in weights.items():
                    for blob, values_ in zip(double.params[key], arrays):
                        blob.data[...] = values_
                double.forward(**inputs)
                exact = {key: np.array(double.blobs[key].data) for key in wanted}
            if case.dtype == "float32" and not planned and distance(exact[name], wanted[name]) <= 1e-7:
                continue  # rounding: the same layers are right in double
            if case.dtype == "float32" and planned and off <= 8 * distance(layers[name], wanted[name]):
                continue
            return Finding(f"blob {name}", array, wanted[name], ("plan" if planned else "layers", "definition"))
        layers = dict(seen)
    return None


def random_inputs(case: Case, net: Net) -> dict[str, np.ndarray]:
    """Values for the inputs of a plain forward, of the kind that the first word of a name says; `whole5` are numbers from 0 to 4."""
    inputs = {}
    for name in net.inputs:
        shape, kind = net.blobs[name].shape, re.split("_", name)[0]
        normal = values(zlib.crc32(name.encode()), *shape)
        if name.startswith("rois"):
            images, _, *size = (*net.blobs["x"].shape, 1, 1, 1, 1)[:4]
            array = regions(5, shape[0], images, *size)
        elif kind.startswith(("boxes", "turned")):  # of so many images, of that height and width
            images, height, width = (int(n) for n in kind[5 + (kind[0] == "t") :].split("x"))
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            corners = rng.uniform(-0.2, 1.2, (shape[0], 2, 2)) * [width, height]
            if kind[0] == "b":
                corners = np.sort(corners, axis=1) if rng.random() < 0.8 else corners
                array = np.column_stack([rng.integers(0, max(1, images), shape[0]), corners.reshape(-1, 4)])
            else:
                sides, angles = rng.uniform(0.1, 1, (shape[0], 2)) * [width, height], rng.uniform(-4, 4, shape[0])
                array = np.column_stack([rng.integers(0, max(1, images), shape[0]), corners[:, 0], sides, angles])
        elif kind == "priors":
            corners = np.sort(np.random.default_rng(1).uniform(0, 1, (shape[2] // 4, 2, 2)), axis=1).reshape(-1)
            array = np.stack([corners, np.resize([0.1, 0.1, 0.2, 0.2], corners.shape)])[None]
        elif kind.startswith("truth"):  # rows for so many images and classes
            images, classes = (int(n) for n in kind.removeprefix("truth").split("x"))
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            corners = np.sort(rng.uniform(0, 1, (shape[2], 2, 2)), axis=1).reshape(-1, 4)
            labels, hard = rng.integers(1, classes, shape[2]), rng.integers(0, 2, shape[2])
            array = np.column_stack([rng.integers(0, images, shape[2]), labels, labels, corners, hard])[None, None]
        elif kind.startswith("info"):
            array = np.array([[*map(float, kind.removeprefix("info").split("x")), 1.0]])
        elif kind.startswith("whole"):
            most = max(1, int(kind.removeprefix("whole")))
            array = np.floor(np.abs(normal) * 1000) % most
        else:
            array = {
                "tied": np.round(normal), "large": 1e3 * normal, "small": 1e-3 * normal, "offset": 0.3 * normal, "positive": np.abs(normal), "unit": np.abs(normal) % 0.98 + 0.01, "bits": (normal > 0).astype(float),
            }.get(kind, normal)  # fmt: skip
        inputs[name] = array.astype(case.dtype)
    return inputs


# Of these the gradient is none, or by its documentation not that of the forward.
NO_GRADIENT = re.compile(
    r"type: .(Threshold|ArgMax|Quantize|Rescale|PriorBox|DetectionOutput|Accuracy|Maxout|YoloSeg|ContrastiveLoss|SignedSqrt)|pool: STOCHASTIC"
    r"|mvn_param {.* eps|norm_param {.* channel_shared: false"
    r"|large_\d+[^}]*}(.|\n)*(Loss|OHEM)"  # which is held within bounds, the gradient is not
)


def gradients(case: Case) -> Finding | None:
    """What differs first between the gradients of inputs and parameters, along random directions, and central differences of the definition.

    In double precision. A direction along which two steps give two slopes crosses a kink and says nothing.
    """
    if NO_GRADIENT.search(case.text):
        raise Unfit("a layer without a gradient")
    net = made(case, np.float64, force=True)
    inputs, weights = random_inputs(dataclasses.replace(case, dtype="float64"), net), parameters(net)
    for node in case.nodes:
        if "tied_" in node.name:
            inputs[node.name] = inputs[node.name] + 0.01 * values(
                2, *inputs[node.name].shape
            )  # no kink at equal values
    message = parse_net(case.text)

    def forward(inputs: Mapping, weights: Mapping) -> dict[str, np.ndarray]:
        try:
            return reference.run(message, weights, inputs, np.float64, case.phase)
        except reference.Unknown as error:
            raise Unfit from error

    tops = forward(inputs, weights)
    if not all((np.abs(array) < 1e30).all() for array in tops.values()):
        raise Unfit("no finite values")
    makers = {top: (node.type, i) for node in case.nodes for i, top in enumerate(node.tops)}
    asked = [name for name in net.outputs if makers[name][0] != "Input"]
    diffs = {name: values(zlib.crc32(name.encode()) + 1, *tops[name].shape) for name in asked}
    for name in asked:
        type, at = makers[name]
        if at and (type.endswith("Loss") or "OHEM" in type or type in ("Pooling", "BN")):
            diffs[name] = np.zeros(
                tops[name].shape
            )  # probabilities, places, statistics: for a reader, not for gradients
        elif type.endswith("Loss"):
            diffs[name] = np.float64(1)
    net.forward(**inputs)
    net.backward(**diffs)
    held = {
        ("input", name, 0): (inputs[name], net.blobs[name].diff)
        for name in inputs
        if re.split(r"\d*_", name)[0] in ("x", "tied", "positive", "large", "small")
    }
    for name, blobs in net.params.items():
        type = next(node.type for node in case.nodes if node.name == name)
        learned = range(3, 5) if type == "BatchNorm" else range(2) if type == "BN" else range(9)
        if not (type == "BN" and "frozen" in case.text):
            held.update(
                {("parameter", name, i): (weights[name][i], blob.diff) for i, blob in enumerate(blobs) if i in learned}
            )

    def total(seen: dict[str, np.ndarray]) -> float:
        return sum(float((seen[key] * diffs[key]).sum()) for key in asked)

    def slopes(place: tuple[str, str, int], at: np.ndarray, direction: np.ndarray, step: float) -> list[float]:
        """To both sides."""
        (kind, name, i), sides = place, []
        for by in (step, -step):
            moved = at + by * direction
            if kind == "input":
                seen = forward({**inputs, name: moved}, weights)
            else:
                own = net.params[name][i].data
                same = {
                    key: [moved if np.shares_memory(own, b.data) else w for b, w in zip(net.params[key], weights[key])]
                    for key in weights
                }
                seen = forward(inputs, same)
            sides.append((total(seen) - total(tops)) / by)
        return sorted(sides)

    for place, (at, diff) in held.items():
        direction = values(3, *at.shape)
        wide, narrow = (slopes(place, at, direction, step) for step in (1e-5, 2e-6))
        own = float((np.asarray(diff, np.float64) * direction).sum())
        size = float(np.abs(diff * direction).sum()) + max(map(abs, narrow)) + 1e-3
        off = max(narrow[0] - own, own - narrow[1])  # at a kink either side will do
        if not np.isfinite(own) or abs(sum(wide) - sum(narrow)) < 2e-5 * size < off / 5:
            where = "gradient of {} {} {}".format(*place)
            return Finding(where, np.array(own), np.array(sum(narrow) / 2), ("backward", "difference"))
    return None


def beside(case: Case, name: str, run: Callable[..., dict[str, np.ndarray]]) -> Finding | None:
    """What differs first between a plain forward by the plan and by another program: `run` of the net, its weights and inputs.

    In float32. What is as defined where the other program is not, by less than a hundredth, is the other's rounding; by more, it is
    the other's fault where a third program, onnxruntime, agrees with us.
    """
    if case.phase == "TRAIN":
        raise Unfit("others only test")
    net = made(case, np.float32)
    weights = parameters(net)
    inputs = random_inputs(dataclasses.replace(case, dtype="float32"), net)
    try:
        wanted = reference.run(parse_net(case.text), weights, inputs, np.float32)
    except reference.Unknown as error:
        raise Unfit from error
    if any(np.abs(array[np.isfinite(array)]).max(initial=0) > 1e30 for array in wanted.values()):
        raise Unfit("the maximum of a window without elements: what follows it overflows")
    try:
        others = run(net, weights, inputs, wanted)
    except reference.Unknown as error:
        raise Unfit from error
    outputs, limit = net.forward(**inputs), LIMIT[np.dtype(np.float32)]
    flips = any(node.type in ("Threshold", "ArgMax", "ROIPooling", "PSROIPooling") for node in case.nodes)
    for key, other in others.items():
        array = outputs[key] if key in outputs else np.array(net.blobs[key].data)
        off, right = distance(array, other), distance(array, wanted[key]) <= limit
        if off <= limit or (right and (off <= 1e-2 or flips)):
            continue
        if right and name == "OpenCV" and distance(array, layer_by_layer(case, weights, inputs, wanted)[key]) <= limit:
            continue
        return Finding(f"blob {key}", array, other, ("plan", name))
    return None


def layer_by_layer(case: Case, weights: dict, inputs: dict, wanted: dict) -> dict[str, np.ndarray]:
    """All blobs by onnxruntime, of a model that is written layer by layer."""
    import onnx_writer

    shapes = {key: array.shape for key, array in wanted.items()}
    return onnx_writer.run(onnx_writer.written(parse_net(case.text), weights, shapes), inputs)


def by_onnx(case: Case) -> Finding | None:
    """Against a model written layer by layer, run by onnxruntime."""

    def run(net: Net, weights: dict, inputs: dict, wanted: dict) -> dict[str, np.ndarray]:
        return layer_by_layer(case, weights, inputs, wanted)

    return beside(case, "onnxruntime", run)


def exported(net: Net, inputs: dict, **how: object) -> dict[str, np.ndarray]:
    """The outputs of a net by onnxruntime, of our own export."""
    import onnxruntime

    from boxpresso.exports import onnx_model

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    model = onnx_model(net, **how).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    asked = {one.name: one.shape for one in session.get_inputs()}
    if any(type(m) is int and m != n for name, shape in asked.items() for m, n in zip(shape, inputs[name].shape)):
        raise Unfit("an input of one length alone")
    seen = dict(
        zip((one.name for one in session.get_outputs()), session.run(None, {name: inputs[name] for name in asked}))
    )
    return {name: seen[f"{name}_out" if name in net.inputs else name] for name in net.outputs}


def by_export(case: Case) -> Finding | None:
    """Against our own export, run by onnxruntime; what the export refuses is refused."""

    def run(net: Net, weights: dict, inputs: dict, wanted: dict) -> dict[str, np.ndarray]:
        if any(not array.size for array in wanted.values()):
            raise Unfit("blobs without elements")
        return exported(net, inputs)

    return beside(case, "export", run)


def by_batch(case: Case) -> Finding | None:
    """Against our own export for a batch of any length, run with two images more."""

    def more(node: Node) -> Node:
        if node.type != "Input" or re.split(r"\d*_", node.name)[0] not in ("x", "tied", "positive", "large", "small"):
            return node
        return dataclasses.replace(
            node, text=re.sub(r"(?<=dim: )\d+", lambda m: str(int(m[0]) + 2), node.text, count=1)
        )

    longer = dataclasses.replace(case, nodes=tuple(map(more, case.nodes)))
    small = made(dataclasses.replace(case, phase="TEST"), np.float32)

    def run(net: Net, weights: dict, inputs: dict, wanted: dict) -> dict[str, np.ndarray]:
        if any(not array.size for array in wanted.values()):
            raise Unfit("blobs without elements")
        for name, blobs in small.params.items():
            if [blob.shape for blob in blobs] != [array.shape for array in weights[name]]:
                raise Unfit("weights that depend on the batch")
            for blob, array in zip(blobs, weights[name]):
                blob.data[...] = array
        return exported(small, inputs, dynamic_batch=True)

    return beside(longer, "export for any batch", run)


SIZES = (
    (0, 0, 0),
    (2, 0, 0),
    (0, 3, -1),
    (1, 3, -1),
    (0, 0, 0),
    (2, 0, 0),
)  # images, rows and columns more than the case has


def resized(case: Case, more: tuple[int, int, int]) -> Case:
    """The case with so many images, rows and columns more, of the inputs that have the shape of the last one, the image."""
    shapes = [re.findall(r"shape \{.*?\}", node.text) for node in case.nodes if node.type == "Input"]
    if not shapes or not shapes[-1]:
        raise Unfit("no input whose shape is known")
    old = shapes[-1][0]
    dims = [int(size) for size in re.findall(r"dim: (\d+)", old)]
    new = "shape { " + " ".join(f"dim: {max(1, n + m)}" for n, m in zip(dims, [more[0], 0, *more[1:]])) + " }"
    nodes = (replace(n, text=n.text.replace(old, new)) if n.type == "Input" else n for n in case.nodes)
    return replace(case, nodes=tuple(nodes))


def by_fresh(case: Case) -> Finding | None:
    """`other_sizes`, where an error of a launch is a finding too: no net may ask for one that cannot be."""
    try:
        return other_sizes(case)
    except KernelError as error:
        return Finding("a launch", str(error), "none")


def other_sizes(case: Case) -> Finding | None:
    """A net that has had other sizes and weights beside one that is made for them, in float or, of float32, with narrow values.

    With narrow values (bfloat16, or 8 bits by ranges of three inputs) both have the same bits.
    """
    narrow = ("", "bf16", "int8")[zlib.crc32(case.text.encode()) % 3] if case.dtype == "float32" else ""
    quantization: Any = None

    def net_of(case: Case, weights: Mapping[str, list[np.ndarray]]) -> Net:
        precision = {"precision": "bf16"} if narrow == "bf16" else {}
        net = Net(
            parse_net(case.text), device=case.device, seed=1, dtype=np.dtype(case.dtype), phase=case.phase, **precision
        )
        fill(net, 1)
        if quantization is not None:
            net.quantize(quantization)
        for name, arrays in weights.items():
            for blob, array in zip(net.params[name], arrays):
                if blob.shape != array.shape:
                    raise Unfit("weights that depend on the batch")
                blob.data[...] = array
        return net

    if narrow and (case.phase == "TRAIN" or case.device != "cpu"):
        raise Unfit("narrow values are for TEST on the CPU")
    constants = {top for node in case.nodes if node.type == "DummyData" for top in node.tops}
    if any(constants.intersection(node.bottoms).intersection(node.tops) for node in case.nodes):
        raise Unfit("a constant that is changed in place, each forward anew: DummyData fills it once, as in Caffe")
    net = net_of(case, {})
    inputs = random_inputs(case, net)
    if narrow == "int8":
        shown = [{name: factor * array for name, array in inputs.items()} for factor in (1, 0.5, -1)]
        quantization = quantize(net, shown, speed=False, drop=1.0)
        net = net_of(case, {})
    for turn, more in enumerate(SIZES):
        other = resized(case, more)
        for blobs in net.params.values():
            for blob in blobs if turn == 3 else ():
                blob.data[...] = np.asarray(blob.data) * 0.75
        try:
            fresh = net_of(other, parameters(net))
        except (BoxpressoError, Unfit):
            if turn:
                continue  # it is not for that size
            raise
        inputs, seen = random_inputs(other, fresh), Seen()
        for each in (net, fresh):
            try:
                seen.append(("outputs", each.forward(**inputs)))
            except BoxpressoError as error:
                seen.append(("error", {"error": np.array([ord(c) for c in type(error).__name__])}))
        if any(not layer.repeatable for layer in net.layers):
            raise Unfit("a layer that runs once a forward")
        (_, one), (_, two) = seen
        for name in dict.fromkeys([*two, *one]):
            a, b = one.get(name, np.zeros(0)), two.get(name, np.zeros(0))
            same = np.array_equal(a, b, equal_nan=True) if narrow else distance(a, b) <= LIMIT[np.dtype(case.dtype)]
            if not same:
                where = f"turn {turn}{' in ' * bool(narrow)}{narrow}, {name}"
                return Finding(where, np.array(a), np.array(b), ("a net of other sizes before", "a fresh one"))
    return None


OPENCV = {  # layers that OpenCV's importer of Caffe has, and has as Caffe does
    "Input", "Convolution", "Deconvolution", "InnerProduct", "Pooling", "ReLU", "PReLU", "ELU", "Sigmoid", "TanH", "AbsVal", "Power", "BatchNorm",
    "Scale", "LRN", "Softmax", "Eltwise", "Concat", "Slice", "Split", "Permute", "Reshape", "Flatten", "Dropout",
}  # fmt: skip


def by_opencv(case: Case) -> Finding | None:
    """Against OpenCV's importer of Caffe, for the layers that it has."""
    import cv2

    otherwise = r"use_global_stats: false|transpose: true|param { name:|lrn_param {.* k: "  # what it does not look at
    far = any(  # it writes beside its memory where the padding is not smaller than the kernel
        node.type == "Deconvolution" and max(reference.spatial(p)[2]) >= min(reference.spatial(p)[0])
        for node, p in ((node, parse_net(str(node)).layer[0].convolution_param) for node in case.nodes)
    )
    if not {node.type for node in case.nodes} <= OPENCV or re.search(otherwise, case.text) or far:
        raise Unfit("a layer that OpenCV has not, or has otherwise")

    def run(net: Net, weights: dict, inputs: dict, wanted: dict) -> dict[str, np.ndarray]:
        makers = {
            top: node for node in case.nodes for top in node.tops if len(node.tops) == 1
        }  # it names layers, not blobs
        asked = [key for key in net.outputs if key in makers and makers[key].type != "Input"]
        try:
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "net.prototxt").write_text(case.text)
                net.save(f"{folder}/net.caffemodel")
                other = cv2.dnn.readNetFromCaffe(f"{folder}/net.prototxt", f"{folder}/net.caffemodel")
            other.enableFusion(False)  # which is wrong for a BatchNorm after a Deconvolution or a InnerProduct
            for key, value in inputs.items():
                other.setInput(value, key)
            return {key: np.asarray(other.forward(makers[key].name)).reshape(wanted[key].shape) for key in asked}
        except cv2.error:
            raise Unfit("OpenCV refuses it") from None

    return beside(case, "OpenCV", run)


ORACLES: dict[str, Callable[[Case], Finding | None]] = {
    "script": judge, "definition": defined, "gradient": gradients, "onnxruntime": by_onnx, "export": by_export, "batch": by_batch, "opencv": by_opencv,
    "fresh": by_fresh,
}  # fmt: skip
