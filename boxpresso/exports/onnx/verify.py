"""A written file run by onnxruntime or OpenVINO, and compared with the net that it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...layers.core import Trait
from ...net import Net
from ...net.fastest import use
from ...proto.errors import ModelError
from ...run.runner import Runner as PlanRunner
from ..operations import Numpy, output_name

LIMIT = 1e-4  # a larger difference is an error
ROUNDED = (
    0.05  # the same of a net in 8 bits: programs store sums in 8 bits that a plan does not, and round them by steps
)
HALF = 0.01  # the same of a file with weights in 16 bits
NUDGE = 1e-6  # by which an input is changed to see which rows a rounding decides
Arrays = dict[str, Numpy]
Runner = Callable[[Mapping[str, Numpy]], Arrays]


@dataclass
class Difference:
    """How far two outputs are apart: relative to the largest number of the blob, or to 1 where that is less.

    rows, missing: of a list such as detections, how many there are and how many have no counterpart in the other list;
    expected: how many have none where the net's own input changes by a millionth, because a rounding decides them.
    limit: up to which it is fine; with weights of 8 or 16 bits rows are counted, and do not matter.
    """

    name: str
    largest: float
    rows: int = 0
    missing: int = 0
    expected: int = 0
    limit: float = LIMIT

    @property
    def fine(self) -> bool:
        return self.largest <= self.limit and (self.limit != LIMIT or self.missing <= 2 * self.expected)

    def __str__(self) -> str:
        text = f"{self.name}: {self.largest:.2g}"
        if self.missing:
            text += f", {self.missing} of {self.rows} rows have no counterpart"
            text += f" ({self.expected} where the input changes by a millionth)" if self.expected else ""
        return text


# Running


def onnxruntime_runner(model: bytes) -> Runner:
    """A function that runs a file by onnxruntime, on the CPU."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names, wanted = [o.name for o in session.get_outputs()], {i.name for i in session.get_inputs()}

    def run(inputs: Mapping[str, Numpy]) -> Arrays:
        arrays = {name: np.asarray(values, np.float32) for name, values in inputs.items() if name in wanted}
        return dict(zip(names, session.run(None, arrays)))

    return run


def openvino_runner(model: bytes) -> Runner:
    """The same by OpenVINO, with arithmetic in float32."""
    import openvino

    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def run(inputs: Mapping[str, Numpy]) -> Arrays:
        arrays = {i.any_name: np.asarray(inputs[i.any_name], np.float32) for i in compiled.inputs}
        result = compiled(arrays)
        return {name: np.asarray(result[o]) for o in compiled.outputs for name in o.names}

    return run


def opencv_runner(model: bytes) -> Runner:
    """The same by OpenCV 5."""
    import cv2

    if int(cv2.__version__.split(".")[0]) < 5:
        raise ImportError("OpenCV 5 is needed")
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8))
    names = net.getUnconnectedOutLayersNames()

    def run(inputs: Mapping[str, Numpy]) -> Arrays:
        for name, values in inputs.items():
            net.setInput(np.ascontiguousarray(values, np.float32), name)
        return {name: np.asarray(value) for name, value in zip(names, net.forward(names))}

    return run


RUNNERS: dict[str, tuple[str, Callable[[bytes], Runner]]] = {  # of targets: the module that runs them
    "onnxruntime": ("onnxruntime", onnxruntime_runner),
    "openvino": ("openvino", openvino_runner),
    "opencv5": ("cv2", opencv_runner),
}


def runner_of(model: Any, target: str) -> Runner | None:
    """What runs a file here: the target itself, else onnxruntime; None where neither is installed.

    Raises ModelError where the program refuses the file.
    """
    for name in (target, "onnxruntime"):
        module, make = RUNNERS.get(name, ("", onnxruntime_runner))
        if not module:
            continue
        try:
            __import__(module)
        except ImportError:
            continue
        try:
            return told(name, make(model.SerializeToString()))
        except ImportError:
            continue
        except Exception as error:
            raise ModelError(f"{name} cannot read the file: {error}") from error
    return None


def told(name: str, run: Runner) -> Runner:
    """The same, but what the program raises becomes a ModelError that names it."""

    def tell(inputs: Mapping[str, Numpy]) -> Arrays:
        try:
            return run(inputs)
        except Exception as error:
            raise ModelError(f"{name} cannot run the file: {error}") from error

    return tell


# Inputs


def inputs_of(net: Net, seed: int, picture: bool = False) -> Arrays:
    """An array for each input: random numbers, or smooth shapes as pictures have them; proper regions and sizes of images."""
    rng = np.random.default_rng(seed)
    shapes = {name: tuple(net.blobs[name].shape) for name in net.inputs}
    image = next((s for s in shapes.values() if len(s) == 4), (1, 1, 1, 1))
    regions = fed_to(net, Trait.REGIONS, 1)
    infos = fed_to(net, Trait.IMAGE_INFO, 2)
    result: Arrays = {}
    for name, shape in shapes.items():
        if name in regions:
            values = proper_regions(rng, shape, image)
        elif name in infos:
            values = np.tile([*image[2:], 1.0, 1.0, 1.0, 1.0][: shape[-1]], (shape[0], 1))
        elif picture and len(shape) == 4:
            values = drawn(rng, shape)
        else:
            values = rng.standard_normal(shape)
        result[name] = values.astype(np.float32)
    return result


def fed_to(net: Net, trait: Trait, index: int) -> set[str]:
    """The inputs that are bottom `index` of layers with a trait, also through Split."""
    names = set()
    for layer, (bottoms, _) in zip(net.layers, net.names):
        if trait in layer.traits and len(bottoms) > index:
            names.add(bottoms[index])
    for layer, (bottoms, tops) in reversed(list(zip(net.layers, net.names))):
        if Trait.VIEW | Trait.ELEMENTWISE in layer.traits and names.intersection(tops):
            names.add(bottoms[0])
    return names & set(net.inputs)


def proper_regions(rng: np.random.Generator, shape: tuple[int, ...], image: tuple[int, ...]) -> Numpy:
    """Regions inside an image: (R, 5) corners, or (R, 6) centre, sizes and angle."""
    count, columns = shape[0], int(np.prod(shape[1:]))
    size = np.array([image[3], image[2]], np.float64)
    low = rng.uniform(0, 0.5, (count, 2)) * size
    extent = rng.uniform(0.2, 0.5, (count, 2)) * size
    of = rng.integers(0, image[0], (count, 1))
    if columns == 6:
        rows = np.concatenate([of, low + extent / 2, extent, rng.uniform(-40, 130, (count, 1))], 1)
    else:
        rows = np.concatenate([of, low, low + extent], 1)
    return rows.reshape(shape)


def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> Numpy:
    """Smooth colours with some edges, from about -1 to 1."""
    images, channels, height, width = shape
    y, x = np.mgrid[:height, :width] / max(height, width)
    result = np.zeros(shape)
    for n in range(images):
        for c in range(channels):
            a, b, phase = rng.uniform(-6, 6, 3)
            result[n, c] = 0.6 * np.sin(a * x + b * y + phase)
        for _ in range(6):
            cx, cy, radius = rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0.05, 0.3)
            inside = (x - cx) ** 2 + (y - cy) ** 2 < radius**2
            result[n][:, inside] = rng.uniform(-1, 1, (channels, 1))
    return result


# Comparing


def compare(
    net: Net,
    run: Runner,
    inputs: Mapping[str, Numpy],
    seed: int = 0,
    outputs: Sequence[str] | None = None,
    half: bool = False,
) -> list[Difference]:
    """The outputs of a file against the net's.

    outputs: the blobs that the file gives, None for the outputs of the net; half: whether its weights have 16 bits.
    """
    wanted = forward(net, inputs, outputs)
    made = run(inputs)
    limit = ROUNDED if net.quantization is not None else HALF if half else LIMIT
    differences = [apart(name, values, of_name(made, name, net), limit) for name, values in wanted.items()]
    if any(d.missing for d in differences):
        moved = nudged(net, inputs, seed, outputs)
        for one in differences:
            one.expected = apart(one.name, wanted[one.name], moved[one.name], limit).missing
            one.expected = max(one.expected, abs(len_of(moved[one.name]) - len_of(wanted[one.name])))
    return differences


def of_name(outputs: Arrays, name: str, net: Net) -> Numpy:
    return outputs[output_name(name, net)]


def forward(net: Net, inputs: Mapping[str, Numpy], outputs: Sequence[str] | None) -> Arrays:
    """The blobs `outputs` of a forward pass, None for those of the net; in float32 but for a net in 8 bits, as its file."""
    names = list(net.outputs if outputs is None else outputs)
    with fresh(net), as_written(net, float32=net.quantization is None):
        values = net.forward(names, **dict[str, Any](inputs))
    return {name: values[name] for name in names}


def nudged(net: Net, inputs: Mapping[str, Numpy], seed: int, outputs: Sequence[str] | None) -> Arrays:
    """The net's outputs for inputs that are a millionth of their size away."""
    rng = np.random.default_rng(seed)
    other: dict[str, Any] = {
        name: values * (1 + NUDGE * rng.standard_normal(values.shape)) if values.ndim == 4 else values
        for name, values in inputs.items()
    }
    return forward(net, other, outputs)


@contextmanager
def as_written(net: Net, float32: bool) -> Iterator[None]:
    """While it lasts, a net runs as a file of it does: in float32, or else in 8 bits as its `quantization` says. With "fastest"
    nothing is measured meanwhile."""
    runner, precision = net._runner, net._precision
    if not isinstance(runner, PlanRunner):
        yield
        return
    narrow, bf16, net._precision = runner.narrow, runner.bf16, None
    if float32:
        use(runner, "float32", None)
    try:
        yield
    finally:
        net._precision = precision
        if float32:
            runner.bf16 = bf16
            runner.use_int8(narrow)
            runner.forget_plan()


@contextmanager
def fresh(net: Net) -> Iterator[None]:
    """Recurrent layers start from zeros, as a file does."""
    for layer in net.layers:
        for array in layer.carried():
            array.fill(0)
    yield


def len_of(values: Numpy) -> int:
    return int(np.prod(values.shape[:-1])) if values.ndim else 1


def apart(name: str, wanted: Numpy, got: Numpy, limit: float = LIMIT) -> Difference:
    """How far two values of an output are apart; lists of rows may be in another order, and have rows of their own."""
    if wanted.shape == got.shape:
        largest = distance(wanted, got)
        if largest <= limit or wanted.ndim < 2:
            return Difference(name, largest, len_of(wanted), limit=limit)
    elif wanted.ndim < 2 or wanted.ndim != got.ndim:
        return Difference(name, float("inf"), limit=limit)
    ours, theirs = as_rows(wanted), as_rows(got)
    if ours.shape[1] != theirs.shape[1] or max(len(ours), len(theirs)) > 4096:
        return Difference(name, float("inf") if wanted.shape != got.shape else distance(wanted, got), limit=limit)
    largest, missing = matched(ours, theirs, limit)
    return Difference(name, largest, len(ours), missing, limit=limit)


def as_rows(values: Numpy) -> Numpy:
    """Detections (1, 1, D, 7) as (D, 7), anything else by its first axis."""
    if values.ndim == 4 and values.shape[:2] == (1, 1):
        return values.reshape(-1, values.shape[3])
    return values.reshape(values.shape[0], -1)


def distance(wanted: Numpy, got: Numpy) -> float:
    """The largest difference, relative to the largest number or 1."""
    if not wanted.size:
        return 0.0
    finite = np.isfinite(wanted)
    if not np.array_equal(np.isnan(wanted), np.isnan(got)):
        return float("inf")
    with np.errstate(invalid="ignore"):
        values = np.where((wanted == got) | np.isnan(wanted), 0, np.abs(wanted - got))
    return float(values.max() / max(1.0, float(np.abs(wanted[finite]).max(initial=0))))


def matched(ours: Numpy, theirs: Numpy, limit: float) -> tuple[float, int]:
    """Each row with the nearest one of the other list that is not taken: the largest distance of pairs that are alike, and
    how many rows are not alike any."""
    scale = max(1.0, float(np.abs(ours[np.isfinite(ours)]).max(initial=0)))
    largest, free, lost = 0.0, np.ones(len(theirs), bool), 0
    for row in ours:
        gaps = np.abs(theirs - row).max(1, initial=0) / scale
        gaps[~free] = np.inf
        at = int(gaps.argmin()) if len(gaps) else -1
        if at < 0 or not gaps[at] <= min(10 * limit, ROUNDED):
            lost += 1
            continue
        free[at] = False
        largest = max(largest, float(gaps[at]))
    return largest, max(lost, int(free.sum()))


def verify(
    net: Net,
    model: Any,
    target: str,
    more: Sequence[Arrays] = (),
    outputs: Sequence[str] | None = None,
    half: bool = False,
) -> list[Difference] | None:
    """Runs a file on random numbers, on a drawn picture and on `more` inputs; None where nothing here can run it.

    outputs: the blobs that the file gives, where these are not the outputs of the net; half: whether its weights have 16 bits.

    Returns the largest difference of each output over all of them. Raises ModelError when one is above its limit.
    """
    run = runner_of(model, target)
    if run is None:
        return None
    worst: dict[str, Difference] = {}
    for seed, inputs in enumerate([inputs_of(net, 1), inputs_of(net, 2, picture=True), *more]):
        for one in compare(net, run, inputs, seed, outputs, half):
            before = worst.get(one.name)
            if before is None or (one.fine, -one.largest) < (before.fine, -before.largest):
                worst[one.name] = one
    if bad := [str(one) for one in worst.values() if not one.fine]:
        limit = next(iter(worst.values())).limit
        raise ModelError(f"the file does not agree with the net, the limit is {limit:g}: {'; '.join(bad)}")
    return list(worst.values())
