"""Draws digits, trains Caffe's LeNet on them, and says how many of 2000 held-out ones it reads.

    python examples/digits/train.py [--iterations 2000] [--out DIR] [--seed 1] [--device cpu]

Writes to DIR (examples/digits/work): the digits as train_lmdb and test_lmdb, snapshots, lenet.caffemodel, lenet.log and, as
pictures, read.png, held-out digits with what was read, and curves.png. The seed fixes every digit, every starting weight and so
the result. Once the digits are drawn, `boxpresso train --solver examples/digits/solver.prototxt` trains too.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from boxpresso import Net, Solver  # noqa: E402
from boxpresso.data.records import write_records  # noqa: E402
from boxpresso.proto import SolverParameter, read_net, read_solver  # noqa: E402
from boxpresso.train.progress import progress  # noqa: E402
from examples.common import arguments, curves, logged, sheet, tracked  # noqa: E402
from examples.digits.digits import HELD_OUT, TRAINING, records  # noqa: E402


def draw(out: Path, seed: int, digits: int, held_out: int) -> None:
    """Writes train_lmdb and test_lmdb, in place of those that are there."""
    for name, kind, count in (("train_lmdb", TRAINING, digits), ("test_lmdb", HELD_OUT, held_out)):
        shutil.rmtree(out / name, ignore_errors=True)
        write_records(out / name, tracked(records(seed, kind, count), count, f"drawing {name}"))


def recipe(out: Path, seed: int, iterations: int | None = None, held_out: int = 2000) -> SolverParameter:
    """solver.prototxt and its net in one message, with the records and snapshots in `out`."""
    param, net = read_solver(HERE / "solver.prototxt"), read_net(HERE / "train_test.prototxt")
    for layer, name in zip(net.layer, ("train_lmdb", "test_lmdb")):
        layer.data_param.source = str(out / name)
    param.test_iter[0] = -(-held_out // net.layer[1].data_param.batch_size)
    param.ClearField("net")
    param.net_param.CopyFrom(net)
    param.random_seed, param.snapshot_prefix = seed, str(out / "lenet")
    param.max_iter = param.max_iter if iterations is None else iterations
    return param


def read(net: Net, batches: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Held-out digits (N, 28, 28), 0 to 1, what they are (N), and what the net reads (N)."""
    seen = []
    for _ in range(batches):
        net.forward()
        digits, labels, scores = (np.array(net.blobs[name].data) for name in ("data", "label", "ip2"))
        seen.append((digits[:, 0], labels.astype(int), scores.argmax(1)))
    pictures, labels, answers = (np.concatenate(parts) for parts in zip(*seen))
    return pictures, labels, answers


def answered(picture: np.ndarray, label: int, answer: int) -> Any:
    """A digit with what was read below it, in red where that is wrong."""
    drawing = Image.new("RGB", (56, 70), "white")
    drawing.paste(Image.fromarray((picture * 255).astype(np.uint8)).resize((56, 56)), (0, 0))
    right = label == answer
    text = str(answer) if right else f"{answer}, is {label}"
    ImageDraw.Draw(drawing).text((28, 63), text, fill="black" if right else "red", anchor="mm")
    return drawing


def main() -> None:
    words = arguments(__doc__, HERE)
    words.add_argument("--digits", type=int, default=10000, help="how many to learn from")
    words.add_argument("--held-out", type=int, default=2000, help="how many to judge by")
    args = words.parse_args()
    start = time.perf_counter()
    draw(args.out, args.seed, args.digits, args.held_out)
    print(
        f"drew {args.digits} digits to learn from and {args.held_out} to judge by in {time.perf_counter() - start:.0f} s",
        flush=True,
    )
    with logged(args.out / "lenet.log") as log:
        solver = Solver(recipe(args.out, args.seed, args.iterations, args.held_out), device=args.device, log=log)
        with progress(solver):
            solver.solve()
    solver.net.save(args.out / "lenet.caffemodel")
    pictures, labels, answers = read(solver.test_nets[0], solver.param.test_iter[0])
    wrong = np.flatnonzero(labels != answers)
    shown = [*wrong[:24], *np.flatnonzero(labels == answers)[: 96 - min(len(wrong), 24)]]  # the errors first
    sheet([answered(pictures[i], labels[i], answers[i]) for i in shown], columns=12).save(args.out / "read.png")
    curves(args.out / "lenet.log")
    print(f"accuracy {np.mean(labels == answers):.4f} ({len(wrong)} of {len(labels)} wrong) after "
          f"{time.perf_counter() - start:.0f} s; weights and pictures are in {args.out}")  # fmt: skip


if __name__ == "__main__":
    main()
