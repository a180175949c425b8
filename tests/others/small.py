"""Runs a script as `python -m boxpresso.caffe SCRIPT ...` does, but ends a training after ITERATIONS: work of a size that can be tried.
Where OpenCV is installed, its dnn is Boxpresso's, its windows show nothing, and a key that ends most loops is pressed at once;
a camera gives noise, and a video that is not there FRAMES pictures of it.

    python tests/others/small.py SCRIPT ...

A solver of any script counts its iterations; a test of a solver takes one batch, and the process ends with code 0 and a line that
says so once they are done.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

import numpy as np

from boxpresso import Solver

ITERATIONS, FRAMES = 20, 5


def limit() -> None:
    """Solvers do ITERATIONS in all, then the process ends."""
    whole, done = Solver.step, [0]

    def step(self: Solver, iterations: int) -> None:
        left = min(iterations, ITERATIONS - done[0])
        done[0] += left
        self.param.test_iter[:] = [1] * len(self.param.test_iter)
        whole(self, left)
        if done[0] >= ITERATIONS:
            print(f"ended after {ITERATIONS} iterations: loss {self.smoothed_loss:g}")
            sys.stdout.flush()
            sys.exit(0)

    def solve(self: Solver, resume: object = None) -> None:
        self.step(ITERATIONS)

    Solver.step, Solver.solve = step, solve  # type: ignore[method-assign, assignment]


class Noise:
    """Stands in for cv2.VideoCapture: pictures of 640 x 480 pixels, without an end from a camera, FRAMES from a file."""

    SIZES = {
        3: 640.0,
        4: 480.0,
        5: 25.0,
        7: float(FRAMES),
    }  # by OpenCV's numbers: width, height, rate and count of pictures

    def __init__(self, source: int | str = 0, *_: object) -> None:
        self.left = FRAMES if isinstance(source, str) else -1
        self.rng = np.random.default_rng(0)

    def read(self, *_: object) -> tuple[bool, Any]:
        if not self.left:
            return False, None
        self.left -= 1
        return True, self.rng.integers(0, 255, (480, 640, 3), np.uint8)

    def isOpened(self) -> bool:
        return True

    def get(self, number: int) -> float:
        return self.SIZES.get(number, 0.0)

    def set(self, *_: object) -> bool:
        return True

    def release(self) -> None:
        """There is nothing to give back."""


def without_windows() -> None:
    """OpenCV's dnn, windows and cameras, of which a machine without a display has none."""
    try:
        import cv2
    except ImportError:
        return
    from boxpresso import dnn

    dnn.restore()
    whole = cv2.VideoCapture
    cv2.VideoCapture = lambda *source: whole(*source) if source and os.path.exists(str(source[0])) else Noise(*source)
    for name in ("imshow", "namedWindow", "moveWindow", "resizeWindow", "destroyAllWindows", "destroyWindow"):
        setattr(cv2, name, lambda *args, **options: None)
    cv2.waitKey = cv2.waitKeyEx = lambda *args: ord("q")


if __name__ == "__main__":
    limit()
    without_windows()
    del sys.argv[0]
    sys.argv.insert(0, "boxpresso.caffe")
    runpy.run_module("boxpresso.caffe", run_name="__main__", alter_sys=True)
