"""Draws scenes into a VOC folder, trains Faster R-CNN on them, and says how many shapes of 500 held-out scenes it finds.

    python examples/shapes_faster_rcnn/train.py [--iterations 8000] [--out DIR] [--seed 1] [--device cpu] [--scenes 4000]

Writes to DIR (examples/shapes_faster_rcnn/work): the VOC folder scenes, snapshots, shapes.caffemodel, shapes.log, and, as
pictures, curves.png, precision.png and found.png, what was found in held-out scenes. The seed fixes every scene, every starting
weight, the order of pictures and the draws of regions.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from PIL import Image  # noqa: E402

from boxpresso import Net, Solver, detect  # noqa: E402
from boxpresso.data.folders import Scene, read_voc  # noqa: E402
from boxpresso.drawing import draw_detections  # noqa: E402
from boxpresso.evaluation import Evaluation, evaluate  # noqa: E402
from boxpresso.proto import SolverParameter, read_solver  # noqa: E402
from boxpresso.train.progress import progress  # noqa: E402
from examples.common import arguments, curves, logged, sheet  # noqa: E402
from examples.shapes_faster_rcnn.draw import draw  # noqa: E402
from examples.shapes_faster_rcnn.model import CLASSES, SIZE, net  # noqa: E402

NAMES = dict(enumerate(CLASSES, 1))


def recipe(out: Path, seed: int, iterations: int | None) -> SolverParameter:
    """solver.prototxt and train.prototxt as one message, with scenes and snapshots in `out`."""
    param = read_solver(HERE / "solver.prototxt")
    param.ClearField("train_net")
    param.train_net_param.CopyFrom(net("train", str(out / "scenes")).to_proto())
    param.random_seed, param.snapshot_prefix = seed, str(out / "shapes")
    param.max_iter = param.max_iter if iterations is None else iterations
    return param


def train(out: Path, seed: int, iterations: int | None, device: str | None) -> Path:
    """Trains on the scenes in `out`; returns the path of the weights."""
    with logged(out / "shapes.log") as log:
        solver = Solver(recipe(out, seed, iterations), device=device, log=log)
        with progress(solver):
            solver.solve()
    solver.net.save(out / "shapes.caffemodel")
    return out / "shapes.caffemodel"


def judge(net: Net, scenes: list[Scene]) -> tuple[Evaluation, list[Any]]:
    """What the net finds in scenes, evaluated, and pictures of the first twelve."""
    detections = [detect(net, scene.path, size=(SIZE, SIZE), threshold=0.01) for scene in scenes]
    sure = [[d for d in one if d.score >= 0.5] for one in detections[:12]]
    pictures = [draw_detections(Image.open(scene.path), one, NAMES) for scene, one in zip(scenes, sure)]
    return evaluate(detections, scenes, NAMES), pictures


def main() -> None:
    words = arguments(__doc__, HERE)
    words.add_argument("--scenes", type=int, default=4000, help="how many to learn from")
    words.add_argument("--held-out", type=int, default=500, help="how many to judge by")
    args = words.parse_args()
    start = time.perf_counter()
    folder = draw(args.out / "scenes", args.seed, {"train": args.scenes, "test": args.held_out})
    print(
        f"drew {args.scenes} scenes to learn from and {args.held_out} to judge by in {time.perf_counter() - start:.0f} s"
    )
    weights = train(args.out, args.seed, args.iterations, args.device)
    deploy = Net(HERE / "deploy.prototxt", weights, device=args.device)
    result, pictures = judge(deploy, read_voc(folder, "test", CLASSES))
    sheet(pictures).save(args.out / "found.png")
    curves(args.out / "shapes.log")
    if importlib.util.find_spec("matplotlib"):
        result.draw(args.out / "precision.png")
    print(result)
    print(
        f"mAP@0.5 {result.mean:.4f} after {time.perf_counter() - start:.0f} s; weights and pictures are in {args.out}"
    )


if __name__ == "__main__":
    main()
