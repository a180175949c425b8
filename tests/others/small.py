"""Runs a script as `python -m boxpresso.caffe SCRIPT ...` does, but ends a training after ITERATIONS: work of a size that can be tried.
Where OpenCV is installed, its dnn is Boxpresso's, its windows show nothing, and a key that ends most loops is pressed at once.

    python tests/others/small.py SCRIPT ...

A solver of any script counts its iterations; a test of a solver takes one batch, and the process ends with code 0 and a line that
says so once they are done.
"""

from __future__ import annotations

import runpy
import sys

from boxpresso import Solver

ITERATIONS = 20


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


def without_windows() -> None:
    """OpenCV's dnn and windows, of which a machine without a display has none."""
    try:
        import cv2
    except ImportError:
        return
    from boxpresso import dnn

    dnn.restore()
    for name in ("imshow", "namedWindow", "moveWindow", "resizeWindow", "destroyAllWindows", "destroyWindow"):
        setattr(cv2, name, lambda *args, **options: None)
    cv2.waitKey = cv2.waitKeyEx = lambda *args: ord("q")


if __name__ == "__main__":
    limit()
    without_windows()
    del sys.argv[0]
    sys.argv.insert(0, "boxpresso.caffe")
    runpy.run_module("boxpresso.caffe", run_name="__main__", alter_sys=True)
