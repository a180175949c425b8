"""What a call of an operator costs in Python: 13 regions of a map of 4 channels, 2 x 2 bins, beside torchvision's.

    python -m benchmarks.small_calls [--out FILE]

Needs torch and torchvision in the same Python; half a minute. In microseconds of this thread's processor time, the least of 15
times 300 calls: torchvision's own function, the same under boxpresso.torch.replace("torchvision"), boxpresso.torch,
boxpresso.ops on numpy's arrays, and the kernels that such a call launches, called by themselves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision

import boxpresso.torch as ours
from boxpresso import ops
from boxpresso.device.array import recording

REGIONS, ROUNDS, CALLS = 13, 15, 300


def least(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Microseconds of a call."""
    for _ in range(20):
        call()
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(CALLS):
            call()
        best = min(best, (time.thread_time() - start) / CALLS)
    return best * 1e6


def kernels(call: Callable[[], Any]) -> float:
    """What the kernels of a call take, called as a tape of it calls them."""
    ops.forget()  # so that the layer itself launches them
    launches: list[Any] = []  # with the arrays that the kernels read and write
    recording.launches = launches
    try:
        call()
    finally:
        recording.launches = None
    return sum(least(lambda f=function, passed=passed: f(1, *passed)) for _, function, _, _, passed, _ in launches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 10, (REGIONS, 2))
    rows = np.hstack([np.zeros((REGIONS, 1)), low, low + rng.uniform(1, 6, (REGIONS, 2))]).astype(np.float32)
    x, wide = (rng.standard_normal((1, channels, 16, 16), np.float32) for channels in (4, 16))
    boxes, scores, classes = np.ascontiguousarray(rows[:, 1:]), rng.random(REGIONS, np.float32), np.arange(REGIONS) % 3
    cases: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
        "roi_align, 2 x 2": ("roi_align", (x, rows, 2, 1.0, 2, True), {}),
        "roi_align, adaptive": ("roi_align", (x, rows, 2, 1.0, -1, True), {}),
        "roi_pool": ("roi_pool", (x, rows, 2), {}),
        "ps_roi_align, 2 x 2": ("ps_roi_align", (wide, rows, 2), {"sampling_ratio": 2}),
        "ps_roi_pool": ("ps_roi_pool", (wide, rows, 2), {}),
        "nms": ("nms", (boxes, scores, 0.5), {}),
        "batched_nms": ("batched_nms", (boxes, scores, classes, 0.5), {}),
    }
    lines = [f"{'us a call':<20} {'theirs':>7} {'replaced':>9} {'torch':>7} {'numpy':>7} {'kernels':>8}"]
    for title, (name, inputs, options) in cases.items():
        there = tuple(torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in inputs)
        theirs = lambda: getattr(torchvision.ops, name)(*there, **options)  # noqa: E731, B023
        plain = lambda: getattr(ops, name)(*inputs, **options)  # noqa: E731, B023
        with torch.no_grad():
            own = least(theirs)
            with ours.replacing("torchvision"):
                replaced = least(theirs)
            mine = least(lambda: getattr(ours, name)(*there, **options))  # noqa: B023
        lines.append(f"{title:<20} {own:7.1f} {replaced:9.1f} {mine:7.1f} {least(plain):7.1f} {kernels(plain):8.1f}")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    main()
