"""Draws scenes, trains the shapes detector on them, and says how many shapes of 500 held-out scenes it finds.

    python examples/shapes/train.py [--iterations 3500] [--out DIR] [--seed 1] [--device cpu] [--scenes 6000]

Writes to DIR (examples/shapes/work): the scenes as train_lmdb and test_lmdb, snapshots, shapes.caffemodel, shapes.log, and, as
pictures, curves.png, precision.png and found.png, what was found in held-out scenes. The seed fixes every scene, every starting
weight and the order of batches. Once the scenes are drawn, `boxpresso train --solver examples/shapes/solver.prototxt` trains too.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from boxpresso import Net, Solver, detect  # noqa: E402
from boxpresso.drawing import draw_detections  # noqa: E402
from boxpresso.evaluation import evaluate  # noqa: E402
from boxpresso.proto import SolverParameter, read_net, read_solver  # noqa: E402
from boxpresso.train.progress import progress  # noqa: E402
from examples.common import arguments, curves, logged, sheet, tracked  # noqa: E402
from examples.shapes.scenes import HELD_OUT, LABELS, TRAINING, draw, load, records  # noqa: E402

NAMES = dict(enumerate(LABELS))


def recipe(out: Path, seed: int, iterations: int | None = None, held_out: int = 500) -> SolverParameter:
    """solver.prototxt and its nets in one message, with the records and snapshots in `out`."""
    param = read_solver(HERE / "solver.prototxt")
    learns, judges = read_net(HERE / "train.prototxt"), read_net(HERE / "test.prototxt")
    for net, name in ((learns, "train_lmdb"), (judges, "test_lmdb")):
        net.layer[0].data_param.source = str(out / name)
    param.ClearField("train_net")
    param.ClearField("test_net")
    param.train_net_param.CopyFrom(learns)
    param.test_net_param.append(judges)
    param.test_iter[0] = -(-held_out // judges.layer[0].data_param.batch_size)
    param.random_seed, param.snapshot_prefix = seed, str(out / "shapes")
    param.max_iter = param.max_iter if iterations is None else iterations
    return param


def train(param: SolverParameter, out: Path, device: str | None) -> Path:
    """Trains by a recipe; returns the path of the weights."""
    with logged(out / "shapes.log") as log:
        solver = Solver(param, device=device, log=log)
        with progress(solver):
            solver.solve()
    solver.net.save(out / "shapes.caffemodel")
    return out / "shapes.caffemodel"


def judge(net: Net, scenes: list[tuple[Any, Any]]) -> tuple[Any, list[Any]]:
    """What the net finds in scenes, evaluated, and pictures of the first twelve."""
    detections = [detect(net, image, threshold=0.01) for image, _ in scenes]
    truth = [[(label, *(c * image.width for c in corners)) for label, *corners in boxes] for image, boxes in scenes]
    sure = [[d for d in one if d.score >= 0.5] for one in detections[:12]]
    pictures = [draw_detections(image, one, NAMES) for (image, _), one in zip(scenes, sure)]
    return evaluate(detections, truth, {label: NAMES[label] for label in (1, 2, 3)}), pictures


def main() -> None:
    words = arguments(__doc__, HERE)
    words.add_argument("--scenes", type=int, default=6000, help="how many to learn from")
    words.add_argument("--held-out", type=int, default=500, help="how many to judge by")
    args = words.parse_args()
    start = time.perf_counter()
    for name, kind, count in (("train_lmdb", TRAINING, args.scenes), ("test_lmdb", HELD_OUT, args.held_out)):
        draw(args.out / name, tracked(records(args.seed, kind, count), count, f"drawing {name}"))
    drawn = time.perf_counter()
    print(
        f"drew {args.scenes} scenes to learn from and {args.held_out} to judge by in {drawn - start:.0f} s", flush=True
    )
    weights = train(recipe(args.out, args.seed, args.iterations, args.held_out), args.out, args.device)
    result, pictures = judge(Net(HERE / "deploy.prototxt", weights, device=args.device), load(args.out / "test_lmdb"))
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
