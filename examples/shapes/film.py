"""Films a training: what the shapes detector finds in held-out scenes while it learns, as learning.gif.

    python examples/shapes/film.py [--iterations 1000] [--out DIR] [--seed 1] [--device cpu] [--scenes 2000] [--film FILE]

Draws scenes, trains as train.py does, and stops at some iterations to look at three scenes and to judge by 100 others; the curve below
is their mean average precision. Writes to DIR (examples/shapes/work) and the film to FILE (DIR/learning.gif).
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

from boxpresso import Net, Solver, detect  # noqa: E402
from boxpresso.drawing import draw_detections  # noqa: E402
from boxpresso.evaluation import evaluate  # noqa: E402
from boxpresso.proto.errors import BoxpressoWarning  # noqa: E402
from examples.common import arguments, sheet, tracked  # noqa: E402
from examples.shapes.scenes import HELD_OUT, LABELS, TRAINING, draw, records, scene  # noqa: E402
from examples.shapes.train import NAMES, recipe  # noqa: E402

SHOWN, SIZE, GAP, STRIP = (99, 113, 132), 232, 6, 120  # numbers of scenes, their sides; pixels between and below them
STOPS = [0, 10, 20, 30, 40, 55, 70, 90, 110, 130, *range(160, 220, 30), *range(220, 340, 40), *range(340, 1000, 60)]
INK, PALE, LINE, CURVE = "#20303c", "#eef2f5", "#c3ccd3", "#009e73"


@dataclass
class Look:
    """What was seen at one stop."""

    iteration: int
    loss: float
    precision: float
    pictures: list[Any]


class Watcher:
    """Looks at what a solver's net finds."""

    def __init__(self, seed: int, folder: Path, device: str | None, judged: int) -> None:
        self.weights = folder / "film.caffemodel"
        self.deploy = Net(HERE / "deploy.prototxt", device=device)
        self.shown = [scene([seed, HELD_OUT, i], SIZE)[0] for i in SHOWN]
        self.judged = [scene([seed, HELD_OUT, 1000 + i]) for i in range(judged)]
        self.loss = float("nan")

    def log(self, line: str) -> None:
        """Takes the loss out of a line of the solver's log."""
        if match := re.search(r"Iteration \d+ .*loss = ([\d.e+-]+)", line):
            self.loss = float(match[1])

    def look(self, solver: Solver) -> Look:
        solver.net.save(self.weights)
        self.deploy.copy_from(self.weights)
        pictures = []
        for image in self.shown:
            detections = [one for one in detect(self.deploy, image, threshold=0.01) if one.score >= 0.5]
            pictures.append(draw_detections(image, detections, NAMES))
        detections = [detect(self.deploy, image, threshold=0.01) for image, _ in self.judged]
        truth = [[(label, *(c * image.width for c in box)) for label, *box in boxes] for image, boxes in self.judged]
        result = evaluate(detections, truth, {label: NAMES[label] for label in range(1, len(LABELS))})
        return Look(solver.iter, self.loss, result.mean, pictures)


def watch(args: Any) -> list[Look]:
    """Trains, and looks at each stop."""
    draw(args.out / "film_lmdb", tracked(records(args.seed, TRAINING, args.scenes), args.scenes, "drawing scenes"))
    param = recipe(args.out, args.seed, args.iterations)
    param.train_net_param.layer[0].data_param.source = str(args.out / "film_lmdb")
    for field in ("test_net_param", "test_iter", "test_interval"):  # it is judged here
        param.ClearField(field)
    param.display = param.average_loss = 10
    param.snapshot = 0
    watcher = Watcher(args.seed, args.out, args.device, args.held_out)
    solver, looks = Solver(param, device=args.device, log=watcher.log), []
    for stop in [*(stop for stop in STOPS if stop < args.iterations), args.iterations]:
        solver.step(stop - solver.iter)
        looks.append(watcher.look(solver))
        print(f"iteration {stop}: loss {looks[-1].loss:.3f}, mAP {looks[-1].precision:.3f}", flush=True)
    return looks


def frame(looks: list[Look], last: int) -> Any:
    """The picture of the last of some looks, with the curve up to it."""
    now = looks[-1]
    top = sheet(now.pictures, len(now.pictures), GAP)
    picture = Image.new("RGB", (top.width, top.height + STRIP), "white")
    picture.paste(top, (0, 0))
    pen = ImageDraw.Draw(picture)
    large, small = ImageFont.load_default(16), ImageFont.load_default(13)
    left, right, floor, ceiling = 250, top.width - 14, picture.height - 26, top.height + 16
    words = (("iteration", f"{now.iteration}"), ("loss", f"{now.loss:.2f}" if now.iteration else "-"),
             ("mAP", f"{now.precision:.2f}"))  # fmt: skip
    for i, (name, value) in enumerate(words):
        y = top.height + 18 + 31 * i
        pen.text((14, y), name, INK, large)
        pen.text((170, y), value, CURVE if name == "mAP" else INK, large, anchor="ra")
    pen.rectangle((left, ceiling, right, floor), fill=PALE)
    for value in (0, 0.5, 1):
        y = floor - value * (floor - ceiling)
        pen.line((left, y, right, y), LINE)
        pen.text((left - 8, y), f"{value:g}", INK, small, anchor="rm")
    pen.text((left, floor + 5), "0", INK, small, anchor="ma")
    pen.text((right, floor + 5), f"{last} iterations", INK, small, anchor="ra")
    points = [
        (left + look.iteration / last * (right - left), floor - look.precision * (floor - ceiling)) for look in looks
    ]
    if len(points) > 1:
        pen.line(points, CURVE, 3, joint="curve")
    x, y = points[-1]
    pen.ellipse((x - 4, y - 4, x + 4, y + 4), CURVE)
    return picture


def film(looks: list[Look], path: Path) -> None:
    """The frames of all looks as a GIF of one palette, the last one longer."""
    frames = [frame(looks[: i + 1], looks[-1].iteration) for i in range(len(looks))]
    palette = sheet([frames[0], frames[len(frames) // 2], frames[-1]], 1).quantize(255, dither=Image.Dither.NONE)
    small = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in frames]
    times = [350] * (len(small) - 1) + [3500]
    small[0].save(path, save_all=True, append_images=small[1:], duration=times, loop=0, optimize=True)


def main() -> None:
    words = arguments(__doc__, HERE)
    words.set_defaults(iterations=1000)
    words.add_argument("--scenes", type=int, default=2000, help="how many to learn from")
    words.add_argument("--held-out", type=int, default=100, help="how many to judge by")
    words.add_argument("--film", type=Path, help="the file to write (default: learning.gif in the folder)")
    args = words.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore", "\\d+ of \\d+ detections", BoxpressoWarning)  # of a net that has not learned yet
    looks = watch(args)
    path = args.film or args.out / "learning.gif"
    film(looks, path)
    print(f"{path}: {len(looks)} frames, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
