"""Runs a script as `python -m boxpresso.caffe SCRIPT ...` does, but ends a training after ITERATIONS: work of a size that can be tried.

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


if __name__ == "__main__":
    limit()
    del sys.argv[0]
    sys.argv.insert(0, "boxpresso.caffe")
    runpy.run_module("boxpresso.caffe", run_name="__main__", alter_sys=True)
