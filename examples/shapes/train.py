"""Trains the shapes detector: a plain loop over net.forward and net.backward, on scenes drawn as it goes.

    python train.py [--iterations 3000] [--out shapes.caffemodel]

Adam (Kingma and Ba 2015) with a rate that falls along half a cosine. Scenes are drawn by worker processes, so that the net
does not wait for them. The seed fixes every scene and every starting weight.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from scenes import scene

from boxpresso import Net

HERE = Path(__file__).parent
SIZE, SEED = 128, 1


def batch(number: int, count: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Images (count, 3, 128, 128), B, G, R, 0..255, and ground truth rows (image, label, 0, x1, y1, x2, y2, difficult)."""
    images, rows = [], []
    for i in range(count):
        image, boxes = scene([SEED, number, i])
        small = np.asarray(image.resize((SIZE, SIZE), Image.Resampling.BILINEAR), np.float32)
        images.append(small[..., ::-1].transpose(2, 0, 1))
        rows += [(i, label, 0, *corners, 0) for label, *corners in boxes]
    return np.stack(images), np.array(rows, np.float32).reshape(1, 1, -1, 8)


def batches(iterations: int, workers: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if workers == 0:
        yield from map(batch, range(iterations))
        return
    with multiprocessing.Pool(workers) as pool:
        yield from pool.imap(batch, range(iterations), chunksize=4)


class Adam:
    """m and v are running means of the gradient and of its square; a step is rate * m / sqrt(v), corrected for their start."""

    def __init__(self, net: Net, rate: float, decay: float = 1e-4) -> None:
        self.rate, self.decay, self.steps = rate, decay, 0
        self.parameters = [(blob, lr, wd) for blob, lr, wd in net.learnable if lr]
        self.m = [np.zeros(blob.shape, np.float32) for blob, _, _ in self.parameters]
        self.v = [np.zeros(blob.shape, np.float32) for blob, _, _ in self.parameters]

    def step(self, share: float) -> None:
        """One update; `share` of the rate is used."""
        self.steps += 1
        first, second = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for (blob, lr, decay), m, v in zip(self.parameters, self.m, self.v):
            data = np.asarray(blob.data)
            gradient = np.asarray(blob.diff) + self.decay * decay * data
            m += 0.1 * (gradient - m)
            v += 0.001 * (gradient**2 - v)
            blob.data[...] = data - self.rate * lr * share * (m / first) / (np.sqrt(v / second) + 1e-8)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--iterations", type=int, default=3000)
    words.add_argument("--out", type=Path, default=HERE / "shapes.caffemodel")
    words.add_argument("--device", default=None)
    words.add_argument("--workers", type=int, default=2, help="processes that draw scenes; 0 draws in this one")
    args = words.parse_args()
    net = Net(HERE / "train.prototxt", phase="TRAIN", device=args.device, seed=SEED)
    adam, start, smooth = Adam(net, rate=4e-3), time.perf_counter(), 0.0
    for i, (data, label) in enumerate(batches(args.iterations, args.workers)):
        loss = float(net.forward(data=data, label=label)["loss"])
        net.clear_param_diffs()
        net.backward()
        adam.step(0.5 + 0.5 * float(np.cos(np.pi * i / args.iterations)))
        smooth = loss if i == 0 else 0.95 * smooth + 0.05 * loss
        if i % 50 == 0 or i + 1 == args.iterations:
            print(f"Iteration {i}, loss = {smooth:.4f} ({time.perf_counter() - start:.0f} s)", flush=True)
    net.save(args.out)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
