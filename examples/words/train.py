"""Trains a net that finds and reads words on scenes drawn as it goes, and says how many held-out words it reads.

    python examples/words/train.py [--iterations 1600] [--out DIR] [--seed 1] [--device cpu]

Writes to DIR (examples/words/work) words.caffemodel, words.log, found.png, which shows held-out scenes and what was found and read
in them, and curves.png. The seed fixes every scene and every starting weight. Worker processes draw, so that the net does not wait.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
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
from boxpresso.train.progress import progress  # noqa: E402
from examples.batches import ahead  # noqa: E402
from examples.common import arguments, curves, logged, sheet  # noqa: E402
from examples.words.model import CELLS, GEOMETRY, SCENES  # noqa: E402
from examples.words.regions import decode, encode  # noqa: E402
from examples.words.scenes import LETTERS, WORDS, Word, corners, jittered, scene  # noqa: E402

LEARN, CHECK, JUDGE = range(3)  # scenes to learn from, to look at while learning, and to judge the result by
Batch = dict[str, np.ndarray]


def drawn(stream: int, seed: int, number: int) -> tuple[Any, list[Word], np.ndarray]:
    """A scene, its words and where a detector might find them (WORDS, 5), a worse one while learning. Scenes that are not to
    learn from have words of their own."""
    image, words = scene([seed, stream, number], held_out=stream != LEARN)
    rng = np.random.default_rng([seed, stream, number, 1])
    return image, words, np.array([jittered(rng, region, 1.0 if stream == LEARN else 0.5) for _, region in words])


def batch(stream: int, seed: int, number: int) -> Batch:
    """Batch `number` of a stream, for the net's inputs. One region of four stands on its head: it has no text to learn."""
    scenes = [drawn(stream, seed, number * SCENES + i) for i in range(SCENES)]
    rois = np.concatenate([np.insert(regions, 0, i, 1) for i, (_, _, regions) in enumerate(scenes)])
    text = np.array([[[LETTERS.index(letter) for letter in word]] for _, words, _ in scenes for word, _ in words])
    turned = np.random.default_rng([seed, stream, number, 2]).random(len(rois)) < 0.25
    rois[turned, 5] += np.pi
    text[turned] = -1
    score, geometry = (np.stack(maps) for maps in zip(*(encode(words, CELLS[0]) for _, words, _ in scenes)))
    data = np.stack([pixels(image) for image, _, _ in scenes])
    maps = {"score_map": score, "geometry_map": geometry, "middle": (score > 0).repeat(GEOMETRY, 1)}
    return {"data": data, "rois": rois, "text": text, "turned": turned, **maps}


def pixels(image: Any) -> np.ndarray:
    """(3, 160, 160), B, G, R."""
    return np.asarray(image)[..., ::-1].transpose(2, 0, 1)


def feeder(learn: Iterator[Batch], seed: int) -> Callable[[Net], None]:
    """What Solver calls before each pass: these batches for the train net, others to look at for the test net."""
    batches = {"TRAIN": learn, "TEST": map(partial(batch, CHECK, seed), count())}

    def feed(net: Net) -> None:
        for name, values in next(batches[net.phase]).items():
            net.blobs[name].data[...] = values.astype(np.float32)

    return feed


def read(net: Net, rois: np.ndarray) -> list[str]:
    """The words that the net reads in these regions (K, 6) of the scenes that it saw last."""
    best = net.forward(start="upright", rois=rois, blobs=["prob"])["prob"].argmax(1)
    return ["".join(LETTERS[k] for k in row.ravel()) for row in best]


def find(net: Net) -> np.ndarray:
    """Regions (K, 6) of the words in the scenes that the net saw last, each turned the way in which it reads best."""
    maps = [np.asarray(net.blobs[name].data) for name in ("score", "geometry")]
    rois = np.concatenate([np.insert(decode(*one), 0, i, 1) for i, one in enumerate(zip(*maps))])
    if len(rois):
        on_head = net.forward(start="upright", rois=rois, blobs=["way"])["way"][:, 1]
        rois[on_head > 0.5, 5] += np.pi
    return rois


@dataclass
class Result:
    """What is right and what is not, in held-out scenes."""

    words: list[bool] = field(default_factory=list)  # read right in the region that the scene gives
    letters: list[bool] = field(default_factory=list)
    located: list[bool] = field(default_factory=list)  # a region was found there
    spotted: list[bool] = field(default_factory=list)  # and in that it was read right
    wrong: int = 0  # regions found where there is no word


def judge(net: Net, seed: int, scenes: int) -> Result:
    result = Result()
    for number in range(scenes):
        image, words, regions = drawn(JUDGE, seed, number)
        net.forward(data=pixels(image)[None])
        for text, (true, _) in zip(read(net, np.insert(regions, 0, 0, 1)), words):
            right = [a == b for a, b in zip(text, true)]
            result.words.append(all(right))
            result.letters += right
        rois = find(net)
        texts = read(net, rois) if len(rois) else []
        matches = match(rois, words)
        result.wrong += len(rois) - len(matches)
        for i, (true, _) in enumerate(words):
            result.located.append(i in matches)
            result.spotted.append(i in matches and texts[matches[i]] == true)
    return result


def match(rois: np.ndarray, words: list[Word]) -> dict[int, int]:
    """Word -> the region found whose centre is nearest to its own, and no more than half its height away."""
    pairs = {}
    for i, (_, region) in enumerate(words):
        far = np.hypot(*(rois[:, 1:3] - region[:2]).T)
        if len(rois) and far.min() < region[3] / 2:
            pairs[i] = int(far.argmin())
    return pairs


def picture(net: Net, seed: int, number: int, larger: int = 3) -> Any:
    """A held-out scene with the regions found, each thick where its text begins; beside it the regions, turned upright by
    ROIAlignRotated, and what is read in them: green where it is right, red where it is wrong."""
    image, words, _ = drawn(JUDGE, seed, number)
    data = pixels(image)[None].astype(np.float32)
    net.forward(data=data)
    rois = find(net)
    size = image.width * larger
    canvas = Image.new("RGB", (size + 210, size), "white")
    canvas.paste(image.resize((size, size)), (0, 0))
    if not len(rois):
        return canvas
    texts = read(net, rois)
    right = {j for i, j in match(rois, words).items() if texts[j] == words[i][0]}
    upright = ops.roi_align_rotated(data, rois.astype(np.float32), (24, 96), spatial_scale=1.0, sampling_ratio=1)
    drawing, font = ImageDraw.Draw(canvas), ImageFont.load_default(24)
    for i, (text, region) in enumerate(zip(texts, rois[:, 1:])):
        colour, top = "#00a040" if i in right else "#e00000", i * size // max(WORDS, len(rois))
        points = [tuple(p) for p in corners(region) * larger]
        drawing.polygon(points, outline=colour, width=2)
        drawing.line(points[3::-3], fill=colour, width=7)
        tag = dict(font=font, fill="white", anchor="mm", stroke_width=3, stroke_fill=colour)
        drawing.text(np.mean(points[::3], 0), str(i + 1), **tag)
        crop = Image.fromarray(np.clip(upright[i, ::-1], 0, 255).astype(np.uint8).transpose(1, 2, 0))
        canvas.paste(crop.resize((192, 48)), (size + 9, top + 4))
        drawing.text((size + 12, top + 56), f"{i + 1}  {text}", font=font, fill=colour)
    return canvas


def main() -> None:
    options = arguments(__doc__, HERE)
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
    result = judge(net, args.seed, args.held_out)
    sheet([picture(net, args.seed, number) for number in range(6)], columns=2).save(args.out / "found.png")
    curves(args.out / "words.log")
    right, letters, located, spotted = map(np.mean, (result.words, result.letters, result.located, result.spotted))
    print(f"{right:.1%} of {len(result.words)} held-out words are read right, {letters:.2%} of their letters; without being told "
          f"where words are, {located:.1%} are found, {spotted:.1%} found and read right, {result.wrong} found where none is")  # fmt: skip
    print(f"after {time.perf_counter() - start:.0f} s; weights, log and pictures are in {args.out}")


if __name__ == "__main__":
    main()
