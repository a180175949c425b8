"""What the examples of region detectors share: one command that draws a VOC folder, trains, finishes the weights and judges."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from boxpresso import Net, NetSpec, Solver, detect
from boxpresso.data.folders import Scene, read_voc
from boxpresso.drawing import draw_detections
from boxpresso.evaluation import Evaluation, evaluate
from boxpresso.proto import SolverParameter, read_solver
from boxpresso.recipes.finishing import finish
from boxpresso.train.progress import progress

from .common import arguments, curves, logged, sheet, tracked
from .shapes.scenes import scene as shapes
from .shapes_faster_rcnn.draw import Draw, draw


def learn(
    param: SolverParameter, out: Path, device: str | None, normalized: bool, feed: Callable[[Net], None] | None = None
) -> Path:
    """Trains by a recipe with a train_net_param; returns the path of weights for deploy.prototxt.

    normalized: as of Example. feed: as of Solver.
    """
    with logged(out / "shapes.log") as log:
        solver = Solver(param, device=device, feed=feed, log=log)
        with progress(solver):
            solver.solve()
    weights = out / "shapes.caffemodel"
    if not normalized:
        solver.net.save(weights)
        return weights
    trained = out / "trained.caffemodel"
    solver.net.save(trained)
    for line in finish(param.train_net_param, trained, weights):
        print(line)
    return weights


@dataclass(frozen=True)
class Example:
    """A detector with regions of its own, and the scenes that it learns.

    Attributes
    ----------
    folder
        Of solver.prototxt and deploy.prototxt.
    net
        net("train", scenes) writes the net that learns from the VOC folder `scenes`.
    classes
        Their names, label 1 first.
    size
        The sides of the net's input, in pixels.
    normalized
        Whether it learns offsets divided by their deviations, so that its weights are to be finished.
    scene
        As `draw` takes it.
    scenes
        How many to learn from, where the command does not say.
    """

    folder: Path
    net: Callable[[str, str], NetSpec]
    classes: Sequence[str]
    size: int
    normalized: bool = False
    scene: Draw = shapes
    scenes: int = 4000

    def recipe(self, out: Path, seed: int, iterations: int | None) -> SolverParameter:
        """solver.prototxt and train.prototxt as one message, with scenes and snapshots in `out`."""
        param = read_solver(self.folder / "solver.prototxt")
        param.ClearField("train_net")
        param.train_net_param.CopyFrom(self.net("train", str(out / "scenes")).to_proto())
        param.random_seed, param.snapshot_prefix = seed, str(out / "shapes")
        param.max_iter = param.max_iter if iterations is None else iterations
        return param

    def train(self, out: Path, seed: int, iterations: int | None, device: str | None) -> Path:
        """Trains on the scenes in `out`; returns the path of weights for deploy.prototxt."""
        return learn(self.recipe(out, seed, iterations), out, device, self.normalized)

    def judge(self, net: Net, scenes: list[Scene]) -> tuple[Evaluation, list[Any], list[Any]]:
        """What the net finds in scenes, evaluated; pictures of the first twelve; and the detections."""
        names = dict(enumerate(self.classes, 1))
        shown = tracked(scenes, len(scenes), "judging")
        detections = [detect(net, scene.path, size=(self.size, self.size), threshold=0.01) for scene in shown]
        sure = [[d for d in one if d.score >= 0.5] for one in detections[:12]]
        pictures = [draw_detections(Image.open(scene.path), one, names) for scene, one in zip(scenes, sure)]
        return evaluate(detections, scenes, names), pictures, detections

    def run(self, about: str, more: Callable[[list[Any], list[Scene]], None] | None = None) -> None:
        """The command. more: prints what else there is to say of detections and scenes."""
        words = arguments(about, self.folder)
        words.add_argument("--scenes", type=int, help=f"how many to learn from (default: {self.scenes})")
        words.add_argument("--held-out", type=int, help="how many to judge by (default: 500)")
        words.add_argument("--quick", action="store_true", help="a few scenes and iterations, to see that it runs")
        args = words.parse_args()
        counts = {"train": args.scenes or (8 if args.quick else self.scenes)}
        counts["test"] = args.held_out or (4 if args.quick else 500)
        iterations = 4 if args.quick and args.iterations is None else args.iterations
        start = time.perf_counter()
        folder = draw(args.out / "scenes", args.seed, counts, self.scene)
        print(f"drew {counts['train']} scenes to learn from and {counts['test']} to judge by in "
              f"{time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip
        weights = self.train(args.out, args.seed, iterations, args.device)
        deploy = Net(self.folder / "deploy.prototxt", weights, device=args.device)
        scenes = read_voc(folder, "test", self.classes)
        result, pictures, detections = self.judge(deploy, scenes)
        sheet(pictures).save(args.out / "found.png")
        curves(args.out / "shapes.log")
        if importlib.util.find_spec("matplotlib"):
            result.draw(args.out / "precision.png")
        print(result)
        if more:
            more(detections, scenes)
        print(
            f"mAP@0.5 {result.mean:.4f} after {time.perf_counter() - start:.0f} s; weights and pictures are in {args.out}"
        )
