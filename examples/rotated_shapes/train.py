"""Trains a detector of rotated boxes on scenes drawn as it goes, and judges it by 500 held-out scenes: rotated mAP.

    python examples/rotated_shapes/train.py [--iterations 5000] [--out DIR] [--seed 1] [--device cpu] [--quick]

Writes to DIR (examples/rotated_shapes/work) snapshots, trained.caffemodel, shapes.caffemodel (the same, finished for
deploy.prototxt), shapes.log, and, as pictures, curves.png, precision.png and found.png, what was found in held-out scenes. The
seed fixes every scene, every starting weight and the draws of regions. Worker processes draw, so that the net does not wait.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from boxpresso import Detector, Net  # noqa: E402
from boxpresso.decoders.detections import Detections  # noqa: E402
from boxpresso.decoders.rcnn import PIXEL_MEANS  # noqa: E402
from boxpresso.drawing import draw_detections  # noqa: E402
from boxpresso.evaluation import Evaluation, evaluate  # noqa: E402
from boxpresso.proto import SolverParameter, read_solver  # noqa: E402
from examples.batches import ahead  # noqa: E402
from examples.common import arguments, curves, sheet, tracked  # noqa: E402
from examples.rotated_shapes.model import net  # noqa: E402
from examples.rotated_shapes.scenes import LABELS, SIZE, Shape, scene  # noqa: E402
from examples.shapes.scenes import HELD_OUT, TRAINING  # noqa: E402
from examples.two_stage import learn  # noqa: E402

NAMES = {label: name for label, name in enumerate(LABELS) if label}
Batch = dict[str, np.ndarray]


def recipe(out: Path, seed: int, iterations: int | None) -> SolverParameter:
    """solver.prototxt and train.prototxt as one message, with snapshots in `out`."""
    param = read_solver(HERE / "solver.prototxt")
    param.ClearField("train_net")
    param.train_net_param.CopyFrom(net("train").to_proto())
    param.random_seed, param.snapshot_prefix = seed, str(out / "shapes")
    param.max_iter = param.max_iter if iterations is None else iterations
    return param


def batch(seed: int, number: int) -> Batch:
    """Scene `number` to learn from, for the net's inputs."""
    image, shapes = scene([seed, TRAINING, number])
    pixels = np.asarray(image, np.float32)[..., ::-1].transpose(2, 0, 1) - np.array(PIXEL_MEANS)[:, None, None]
    truth = np.array([(*box, label) for label, box in shapes]).reshape(-1, 6)
    return {"data": pixels[None], "im_info": np.array([[SIZE, SIZE, 1]]), "gt_boxes": truth}


def feeder(batches: Iterator[Batch]) -> Callable[[Net], None]:
    """What Solver calls before each pass."""

    def feed(net: Net) -> None:
        for name, values in next(batches).items():
            net.blobs[name].reshape(*values.shape)
            net.blobs[name].data[...] = values

    return feed


def judge(net: Net, scenes: list[tuple[Any, list[Shape]]]) -> tuple[Evaluation, list[Any]]:
    """What the net finds in scenes, evaluated by what rotated boxes cover, and pictures of the first twelve."""
    detector = Detector(net, size=(SIZE, SIZE), threshold=0.01, labels=NAMES)
    detections = [detector(image) for image, _ in scenes]
    truth = [[(label, *box) for label, box in shapes] for _, shapes in scenes]
    pictures = [
        draw_detections(image.resize((2 * SIZE, 2 * SIZE)), twice(one.filter(0.5)))
        for (image, _), one in zip(scenes[:12], detections)
    ]
    return evaluate(detections, truth, NAMES, rotated=True), pictures


def twice(detections: Detections) -> Detections:
    """Detections in a picture twice as large."""
    assert detections.quadrilaterals is not None, "a net for rotated boxes gives their corners"
    return replace(detections, boxes=2 * detections.boxes, quadrilaterals=2 * detections.quadrilaterals)


def main() -> None:
    words = arguments(__doc__, HERE)
    words.add_argument("--workers", type=int, default=1, help="processes that draw scenes; 0 draws in this one")
    words.add_argument("--held-out", type=int, help="scenes to judge by (default: 500)")
    words.add_argument("--quick", action="store_true", help="a few scenes and iterations, to see that it runs")
    args = words.parse_args()
    start = time.perf_counter()
    iterations = 4 if args.quick and args.iterations is None else args.iterations
    with closing(ahead(partial(batch, args.seed), args.workers)) as batches:
        weights = learn(recipe(args.out, args.seed, iterations), args.out, args.device, True, feeder(batches))
    deploy = Net(HERE / "deploy.prototxt", weights, device=args.device)
    count = args.held_out or (4 if args.quick else 500)
    scenes = [scene([args.seed, HELD_OUT, i]) for i in tracked(range(count), count, "drawing")]
    result, pictures = judge(deploy, scenes)
    sheet(pictures).save(args.out / "found.png")
    curves(args.out / "shapes.log")
    if importlib.util.find_spec("matplotlib"):
        result.draw(args.out / "precision.png")
    print(result)
    print(
        f"rotated mAP@0.5 {result.mean:.4f} after {time.perf_counter() - start:.0f} s; weights and pictures are in {args.out}"
    )


if __name__ == "__main__":
    main()
