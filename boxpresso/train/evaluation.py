"""A test net of a solver: its outputs over some batches, their means, or the average precision of its detections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ..data.evaluation import METHODS, average_precision, curves, curves_of_rows
from ..net.net import Net
from ..proto import LabelMap, SolverParameter, parse_text
from ..proto.errors import BoxpressoError, ModelError
from ..proto.reading import read_file
from .log import Log, output_lines

Doubles = NDArray[np.float64]
OVERLAPS = [0.5 + 0.05 * i for i in range(10)]  # COCO's
IMAGES = 1 << 20  # more than a batch has


def check_evaluation(param: SolverParameter) -> None:
    """Raises ModelError for an eval_type or ap_version that does not exist."""
    if param.eval_type not in ("classification", "detection"):
        raise ModelError(f'solver: eval_type must be "classification" or "detection", got {param.eval_type!r}')
    if param.eval_type == "detection" and param.ap_version not in METHODS:
        raise ModelError(f"solver: ap_version must be one of {', '.join(METHODS)}, got {param.ap_version!r}")


def evaluate_net(
    net: Net,
    batches: int,
    param: SolverParameter,
    *,
    forward: Callable[[Net], None],
    log: Log,
    interrupted: Callable[[], bool],
) -> dict[str, Doubles] | None:
    """Runs a test net over some batches, logs and returns the value of each output; None where it was interrupted.

    forward: runs one batch. interrupted: asked before each batch. Over no batches there is no value, as in Caffe.
    """
    if not batches:
        return {}
    outputs: dict[str, list[Doubles]] = {name: [] for name in net.outputs}
    loss = 0.0
    for _ in range(batches):
        if interrupted():
            log("Test interrupted.")
            return None
        forward(net)
        for name, parts in outputs.items():
            value = np.array(net.blobs[name].data, np.float64)
            if param.eval_type == "detection":
                parts.append(detection_rows(name, value))
            else:
                parts[:] = [add(name, value, parts)]
        if param.test_compute_loss:
            loss += net.loss()
    if param.test_compute_loss:
        log(f"Test loss: {loss / batches:.6g}")
    if param.eval_type == "detection":
        names = class_names(net) if param.show_per_class_result else {}
        values = [mean_precision(np.concatenate(parts), param, log, names) for parts in outputs.values()]
    else:
        values = [parts[0] / batches for parts in outputs.values()]
    for line in output_lines("Test", net, values):
        log(line)
    return dict(zip(outputs, values))


def detection_rows(name: str, value: Doubles) -> Doubles:
    """The rows of DetectionEvaluate. Raises ModelError for an output of another form."""
    if not value.ndim or value.shape[-1] != 5:
        raise ModelError(
            f'solver: eval_type "detection" needs outputs of DetectionEvaluate, rows of 5; {name!r} is {value.shape}'
        )
    return value.reshape(-1, 5)


def add(name: str, value: Doubles, before: list[Doubles]) -> Doubles:
    """The sum of an output and what earlier batches gave. Raises ModelError where the shapes differ."""
    if not before:
        return value
    if value.shape != before[0].shape:
        raise ModelError(
            f"solver: output {name!r} of a test net was {before[0].shape} and is {value.shape}: there is no mean of it; "
            'for the rows of DetectionEvaluate say eval_type: "detection"'
        )
    total: Doubles = before[0] + value
    return total


def protocol(net: Net, param: SolverParameter) -> str:
    """How the average precision of a test net is computed, in words."""
    layer = next((layer for layer in net.layers if layer.type == "DetectionEvaluate"), None)
    words = f"by {param.ap_version}"
    if layer is None:
        return words
    of = layer.param.detection_evaluate_param
    hard = "count" if of.evaluate_difficult_gt else "are left out"
    return (
        f"{words} at an overlap of {of.overlap_threshold:g}; difficult objects {hard}, a class without objects counts 0"
    )


class Boxes:
    """The detections and the true boxes that the first DetectionEvaluate of a test net compares, over some batches.

    It judges by one overlap. At 0.5 boxes that fit badly count as those that fit well, so that the best of many tests is one of
    chance; the mean over COCO's overlaps says which weights are better.
    """

    def __init__(self, net: Net) -> None:
        judges = [layer for layer in net.layers if layer.type == "DetectionEvaluate"]
        in_parts = (
            layer for layer in judges if len(net.bottom_names[layer.name]) == 2
        )  # of three, boxes are in pixels
        layer = next(in_parts, None)
        self.names = tuple(net.bottom_names[layer.name]) if layer else ()
        self.difficult = bool(layer and layer.param.detection_evaluate_param.evaluate_difficult_gt)
        self.parts: list[tuple[Doubles, Doubles]] = []

    def add(self, net: Net) -> None:
        """Takes those of a batch."""
        if not self.names:
            return
        detections, truth = (np.array(net.blobs[name].data, np.float64)[0, 0] for name in self.names)
        end = np.flatnonzero(truth[:, 0] == -1)
        truth = np.delete(truth[: end[0]] if len(end) else truth, 2, 1)  # without the instance
        detections = detections[(detections[:, :2] != -1).all(1)]
        detections, truth = (rows[np.isfinite(rows).all(1)] for rows in (detections, truth))
        for rows in (detections, truth):
            rows[:, 0] += len(self.parts) * IMAGES
        if self.difficult:
            truth[:, -1] = 0
        self.parts.append((detections, truth))

    def precision(self) -> float:
        """The mean average precision at overlaps from 0.5 to 0.95, by 101 points of recall, of the classes that have an object;
        NaN where none has."""
        if not self.parts:
            return float("nan")
        detections, truth = (np.concatenate(rows) for rows in zip(*self.parts))
        values = [
            curve.ap("101point")
            for overlap in OVERLAPS
            for curve in curves(detections, truth, overlap).values()
            if curve.truths
        ]
        return float(np.mean(values)) if values else float("nan")


def class_names(net: Net) -> dict[int, str]:
    """{label: name}, of the label map that a net's data name, where it can be read."""
    for path in (
        layer.param.annotated_data_param.label_map_file for layer in net.layers if layer.type == "AnnotatedData"
    ):
        if path:
            with suppress(BoxpressoError, OSError, UnicodeDecodeError):
                items = parse_text(read_file(path, "text_bytes").decode("utf-8"), LabelMap()).item
                return {item.label: item.display_name or item.name for item in items}
    return {}


def mean_precision(rows: Doubles, param: SolverParameter, log: Log, names: Mapping[int, str]) -> Doubles:
    """The mean average precision, of shape (), of DetectionEvaluate's rows.

    As in Caffe a class without objects, or without detections, counts 0, and recalls are compared in float32. With
    show_per_class_result the average precision of each class is logged, with its name where `names` has it.
    """
    precisions = []
    for label, curve in curves_of_rows(rows).items():
        if not len(curve.scores):
            log(f"Missing true_pos for label: {label}")
        single = curve.precision.astype(np.float32), curve.recall.astype(np.float32)
        precisions.append(average_precision(*single, param.ap_version) if curve.truths else 0.0)
        if param.show_per_class_result and len(curve.scores):
            log(f"class{label}: {precisions[-1]:.6g}" + (f" ({names[label]})" if label in names else ""))
    return np.array(np.mean(precisions) if precisions else 0.0)
