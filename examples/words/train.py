"""Trains the reader of words on scenes drawn as it goes, and says how many held-out words it reads.

    python examples/words/train.py [--iterations 1200] [--out DIR] [--seed 1] [--device cpu]

Writes to DIR (examples/words/work) words.caffemodel, words.log, read.png, which shows held-out scenes and what was read in them,
and curves.png. The seed fixes every scene and every starting weight. Worker processes draw, so that the net does not wait.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from boxpresso import Net, Solver, ops  # noqa: E402
from boxpresso.proto import read_solver  # noqa: E402
from boxpresso.training import progress  # noqa: E402
from examples.batches import ahead  # noqa: E402
from examples.common import curves, logged, sheet  # noqa: E402
from examples.words.model import SCENES  # noqa: E402
from examples.words.scenes import LETTERS, WORDS, Word, corners, jittered, scene  # noqa: E402

LEARN, CHECK, JUDGE = range(3)  # scenes to learn from, to look at while learning, and to judge the result by
Batch = dict[str, np.ndarray]


def drawn(stream: int, seed: int, number: int) -> tuple[Any, list[Word], np.ndarray]:
    """A scene, its words and where a detector might find them: (WORDS, 5). Those not to learn from have words of their own."""
    image, words = scene([seed, stream, number], held_out=stream != LEARN)
    rng = np.random.default_rng([seed, stream, number, 1])
    return image, words, np.array([jittered(rng, region) for _, region in words])


def batch(stream: int, seed: int, number: int) -> Batch:
    """Batch `number` of a stream: data (SCENES, 3, 160, 160), rois (K, 6) and text (K, 1, 4), for the net's inputs."""
    made = [drawn(stream, seed, number * SCENES + i) for i in range(SCENES)]
    data = np.stack([np.asarray(image, np.float32)[..., ::-1].transpose(2, 0, 1) for image, _, _ in made])
    rois = np.concatenate([np.insert(regions, 0, i, 1) for i, (_, _, regions) in enumerate(made)])
    text = [[[LETTERS.index(letter) for letter in word]] for _, words, _ in made for word, _ in words]
    return {"data": data, "rois": rois.astype(np.float32), "text": np.array(text, np.float32)}


def feeder(learn: Iterator[Batch], seed: int) -> Callable[[Net], None]:
    """What Solver calls before each pass: these batches for the train net, others to look at for the test net."""
    batches = {"TRAIN": learn, "TEST": map(partial(batch, CHECK, seed), count())}

    def feed(net: Net) -> None:
        for name, values in next(batches[net.phase]).items():
            net.blobs[name].data[...] = values

    return feed


def read(net: Net, made: Batch) -> list[str]:
    """The words that the net reads in the regions of a batch."""
    best = net.forward(data=made["data"], rois=made["rois"])["prob"].argmax(1)
    return ["".join(LETTERS[k] for k in row.ravel()) for row in best]


def judge(net: Net, seed: int, scenes: int) -> tuple[list[bool], list[bool]]:
    """Which words and which letters of held-out scenes are read right."""
    words: list[bool] = []
    letters: list[bool] = []
    for number in range(-(-scenes // SCENES)):
        made = batch(JUDGE, seed, number)
        for found, true in zip(read(net, made), made["text"]):
            right = [letter == LETTERS[int(k)] for letter, k in zip(found, true.ravel())]
            words.append(all(right))
            letters += right
    return words, letters


def picture(net: Net, seed: int, number: int, larger: int = 3) -> Any:
    """A held-out scene with its regions, each thick where its text begins; beside it the regions, turned upright by
    ROIAlignRotated, and what is read in them: green where it is right, red where it is wrong."""
    image, words, regions = drawn(JUDGE, seed, number)
    data = np.asarray(image, np.float32)[None, ..., ::-1].transpose(0, 3, 1, 2)
    rois = np.insert(regions, 0, 0, 1).astype(np.float32)
    upright = ops.roi_align_rotated(data, rois, (24, 96), spatial_scale=1.0, sampling_ratio=1)
    size = image.width * larger
    made = Image.new("RGB", (size + 210, size), "white")
    made.paste(image.resize((size, size)), (0, 0))
    drawing, font = ImageDraw.Draw(made), ImageFont.load_default(24)
    for i, (found, (true, _), region) in enumerate(zip(read(net, {"data": data, "rois": rois}), words, regions)):
        colour, top = "#00a040" if found == true else "#e00000", i * size // WORDS
        points = [tuple(p) for p in corners(region) * larger]
        drawing.polygon(points, outline=colour, width=2)
        drawing.line(points[3::-3], fill=colour, width=7)
        drawing.text(
            np.mean(points[::3], 0),
            str(i + 1),
            font=font,
            fill="white",
            anchor="mm",
            stroke_width=3,
            stroke_fill=colour,
        )
        crop = Image.fromarray(np.clip(upright[i, ::-1], 0, 255).astype(np.uint8).transpose(1, 2, 0))
        made.paste(crop.resize((192, 48)), (size + 9, top + 4))
        drawing.text((size + 12, top + 56), f"{i + 1}  {found}", font=font, fill=colour)
    return made


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--iterations", type=int, help="by default as many as solver.prototxt says")
    options.add_argument("--out", type=Path, default=HERE / "work", help="the folder for all that is made")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--device", default=None, help="cpu, cuda or cuda:N")
    options.add_argument("--workers", type=int, default=2, help="processes that draw scenes; 0 draws in this one")
    options.add_argument("--held-out", type=int, default=120, help="scenes to judge by, with 5 words each")
    args = options.parse_args()
    start = time.perf_counter()
    param = read_solver(HERE / "solver.prototxt")
    param.net, param.random_seed = str(HERE / "train.prototxt"), args.seed
    param.max_iter = param.max_iter if args.iterations is None else args.iterations
    learn = ahead(partial(batch, LEARN, args.seed), args.workers)
    with logged(args.out / "words.log") as log, closing(learn):
        solver = Solver(param, device=args.device, feed=feeder(learn, args.seed), log=log)
        with progress(solver):
            solver.solve()
    solver.net.save(args.out / "words.caffemodel")
    net = Net(HERE / "deploy.prototxt", args.out / "words.caffemodel", device=args.device)
    words, letters = judge(net, args.seed, args.held_out)
    sheet([picture(net, args.seed, number) for number in range(6)], columns=2).save(args.out / "read.png")
    curves(args.out / "words.log")
    print(
        f"{np.mean(words):.1%} of {len(words)} held-out words are read right, {np.mean(letters):.2%} of their letters"
    )
    print(f"after {time.perf_counter() - start:.0f} s; weights, log and pictures are in {args.out}")


if __name__ == "__main__":
    main()
