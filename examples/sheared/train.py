"""Trains a plain and a deformable head to read sheared plates, on the same scenes, and compares them.

    python examples/sheared/train.py [--iterations 1000] [--out DIR] [--seed 1] [--device cpu]

Both start from the same seed and see the same batches in the same order. Writes to DIR (examples/sheared/work) the weights and
logs of both, plain.png and deformable.png, which show where their bins are in held-out scenes, and curves.png.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import ImageDraw

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from boxpresso import Net, Solver  # noqa: E402
from boxpresso.proto import read_solver  # noqa: E402
from boxpresso.train.curves import columns, read_curves  # noqa: E402
from boxpresso.train.progress import progress  # noqa: E402
from examples.batches import ahead  # noqa: E402
from examples.common import arguments, logged, sheet, tracked  # noqa: E402
from examples.sheared.model import GAMMA, MODELS, SCENES  # noqa: E402
from examples.sheared.scenes import FIELDS, Plate, scene  # noqa: E402

LEARN, CHECK, JUDGE = range(3)  # scenes to learn from, to look at while learning, and to judge the result by
BATCHES, LAST = 500, 50  # how many batches are drawn; how many iterations a mean at the end is of
Batch = dict[str, np.ndarray]


def drawn(stream: int, seed: int, number: int) -> tuple[Any, list[Plate], np.ndarray]:
    """A scene, its plates, and the boxes (PLATES, 4) around them as a detector might find them, each side up to 3 % off."""
    image, plates = scene([seed, stream, number])
    boxes = np.array([plate.box for plate in plates])
    sides = np.tile(boxes[:, 2:] - boxes[:, :2], 2)
    off = np.random.default_rng([seed, stream, number, 1]).uniform(-0.03, 0.03, boxes.shape)
    return image, plates, boxes + sides * off


def batch(stream: int, seed: int, number: int) -> Batch:
    """Batch `number` of a stream: data (SCENES, 3, 128, 128) of bytes, rois (K, 5) and fields (K, 16), for the nets' inputs."""
    scenes = [drawn(stream, seed, number * SCENES + i) for i in range(SCENES)]
    data = np.stack([np.asarray(image)[..., ::-1].transpose(2, 0, 1) for image, _, _ in scenes])
    rois = np.concatenate([np.insert(boxes, 0, i, 1) for i, (_, _, boxes) in enumerate(scenes)])
    fields = np.stack([plate.fields.ravel() for _, plates, _ in scenes for plate in plates])
    return {"data": data, "rois": rois.astype(np.float32), "fields": fields.astype(np.float32)}


def train(model: str, args: argparse.Namespace, batches: dict[str, list[Batch]]) -> tuple[Solver, list[float]]:
    """Trains one of the nets; returns its solver and, by iteration, how far bins were moved, in parts of their box."""
    param = read_solver(HERE / model / "solver.prototxt")
    param.net, param.random_seed = str(HERE / model / "train.prototxt"), args.seed
    param.max_iter = args.iterations or param.max_iter
    turns = {phase: cycle(parts) for phase, parts in batches.items()}
    moves: list[float] = []

    def feed(net: Net) -> None:
        for name, values in next(turns[net.phase]).items():
            net.blobs[name].data[...] = values.astype(np.float32)

    def measure() -> None:
        moves.append(float(GAMMA * np.abs(np.asarray(solver.net.blobs["offset"].data)).mean()))

    with logged(args.out / f"{model}.log") as log:
        solver = Solver(param, device=args.device, feed=feed, log=log)
        if "offset" in solver.net.blobs:
            solver.add_callback(on_gradients=measure)
        with progress(solver):
            solver.solve()
    solver.net.save(args.out / f"{model}.caffemodel")
    return solver, moves


@dataclass
class Result:
    """What a net does with held-out plates. `apart`: how far the middles of its bins are from those of the fields, in fields."""

    losses: list[float] = field(default_factory=list)
    fields: list[float] = field(default_factory=list)
    plates: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)


def middles(boxes: np.ndarray, offset: np.ndarray | None = None) -> np.ndarray:
    """The middles (K, 4, 4, 2) of the bins of boxes (K, 4), in pixels, moved by the net's offsets (K, 32)."""
    steps = (np.arange(FIELDS) + 0.5) / FIELDS
    inside = np.stack(np.meshgrid(steps, steps), -1)[None]
    if offset is not None:
        inside = inside + GAMMA * np.asarray(offset).reshape(-1, 2, FIELDS, FIELDS).transpose(0, 2, 3, 1)
    return boxes[:, None, None, :2] + inside * (boxes[:, 2:] - boxes[:, :2])[:, None, None]


def read(net: Net, image: Any, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How likely each field of the plates in boxes is dark (K, 16), and where the net looked for it (K, 4, 4, 2)."""
    data = np.asarray(image, np.float32)[None, ..., ::-1].transpose(0, 3, 1, 2)
    moves = ["offset"] if "offset" in net.blobs else []
    out = net.forward(blobs=moves, data=data, rois=np.insert(boxes, 0, 0, 1))
    return out["prob"], middles(boxes, out.get("offset"))


def judge(net: Net, seed: int, scenes: int) -> Result:
    result = Result()
    for number in range(scenes):
        image, plates, boxes = drawn(JUDGE, seed, number)
        prob, places = read(net, image, boxes)
        for plate, one, reached, start in zip(plates, prob, places, middles(boxes)):
            dark = plate.fields.ravel() > 0
            result.losses.append(float(-np.log(np.maximum(np.where(dark, one, 1 - one), 1e-7)).mean()))
            right = (one > 0.5) == dark
            result.fields.append(float(right.mean()))
            result.plates.append(float(right.all()))
            size = np.sqrt(area(plate.corners)) / FIELDS
            result.apart.append(float(np.linalg.norm(reached - plate.middles, axis=-1).mean() / size))
            result.moved.append(float(np.linalg.norm(reached - start, axis=-1).mean() / size))
    return result


def area(points: np.ndarray) -> float:
    """Of a polygon with these corners (N, 2), in square pixels."""
    x, y = points.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def picture(net: Net, seed: int, number: int, larger: int = 4) -> Any:
    """A held-out scene: boxes, where bins begin (grey) and where they go (green: its field is read right; red: wrong)."""
    image, plates, boxes = drawn(JUDGE, seed, number)
    prob, places = read(net, image, boxes)
    canvas = image.resize((image.width * larger, image.height * larger))
    drawing = ImageDraw.Draw(canvas)
    for plate, box, one, ends, starts in zip(plates, boxes, prob, places, middles(boxes)):
        drawing.rectangle(tuple(box * larger), outline="white")
        rows = zip(one, plate.fields.ravel(), starts.reshape(-1, 2) * larger, ends.reshape(-1, 2) * larger)
        for likely, true, start, end in rows:
            drawing.line([*start, *end], fill="#c0c0c0", width=2)
            dot(drawing, start, 3, "#c0c0c0")
            dot(drawing, end, 5, "#00c050" if (likely > 0.5) == bool(true) else "#ff2020")
    return canvas


def dot(drawing: Any, at: np.ndarray, radius: int, fill: str) -> None:
    drawing.ellipse((*(at - radius), *(at + radius)), fill=fill, outline="black")


def curves(out: Path, moves: list[float]) -> None:
    """curves.png: the losses of both nets, while training and on held-out scenes, and how far bins are moved."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    losses, far = figure.subplots(2, 1, sharex=True)
    for model, colour in zip(MODELS, ("#d55e00", "#0072b2")):
        read = read_curves((out / f"{model}.log").read_text().splitlines())
        losses.plot(*columns(read.loss), color=colour, linewidth=1, label=f"{model}, training")
        losses.plot(*columns(read.tests["loss"]), "o-", color=colour, markersize=4, label=f"{model}, held out")
    losses.set_ylabel("loss")
    losses.legend()
    far.plot(moves, color="#0072b2")
    far.set_ylabel("mean move of a bin,\nparts of the box")
    far.set_xlabel("iteration")
    for panel in (losses, far):
        panel.grid(alpha=0.3)
    figure.savefig(out / "curves.png", dpi=110)


def main() -> None:
    options = arguments(__doc__, HERE)
    options.add_argument("--workers", type=int, default=2, help="processes that draw scenes; 0 draws in this one")
    options.add_argument("--held-out", type=int, default=150, help="scenes to judge by, with 4 plates each")
    args = options.parse_args()
    start = time.perf_counter()
    with closing(ahead(partial(batch, LEARN, args.seed), args.workers)) as drawing:
        count = min(args.iterations or BATCHES, BATCHES)
        learn = list(tracked(islice(drawing, count), count, "drawing scenes"))
    batches = {"TRAIN": learn, "TEST": [batch(CHECK, args.seed, number) for number in range(4)]}
    print(f"drew {len(learn) * SCENES} scenes to learn from in {time.perf_counter() - start:.0f} s", flush=True)
    for model in MODELS:
        solver, moves = train(model, args, batches)
        net = Net(HERE / model / "deploy.prototxt", args.out / f"{model}.caffemodel", device=args.device)
        result = judge(net, args.seed, args.held_out)
        print(f"{model}: loss {np.mean(solver.losses):.4f} in the last {len(solver.losses)} iterations; "
              f"on {len(result.losses)} held-out plates {np.mean(result.losses):.4f}, {np.mean(result.fields):.2%} of fields "
              f"and {np.mean(result.plates):.1%} of plates right; bins {np.mean(result.moved):.2f} fields from where they "
              f"began and {np.mean(result.apart):.2f} from their fields")  # fmt: skip
        sheet([picture(net, args.seed, number) for number in range(6)], columns=3).save(args.out / f"{model}.png")
    first, last = moves[0], np.mean(moves[-LAST:])
    print(f"offsets move a bin by {first:.4f} of its box at the first iteration, by {last:.4f} in the last {LAST}")
    if importlib.util.find_spec("matplotlib"):
        curves(args.out, moves)
    print(f"after {time.perf_counter() - start:.0f} s; weights, logs and pictures are in {args.out}")


if __name__ == "__main__":
    main()
