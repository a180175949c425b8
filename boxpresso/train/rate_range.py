"""A range test of the learning rate: some iterations at rates that grow, and which of them is a good one to train with."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..device.functions import power
from ..proto import SolverParameter, read_solver
from ..proto.errors import BoxpressoError
from . import nets
from .solver import Solver

LOWEST, HIGHEST, STEPS = 1e-6, 1.0, 100
MEMORY = 0.9  # of the smoothed loss, for each iteration
ENDS = 4.0  # times the least smoothed loss, at which the test is over
PART = 0.1  # of the rate at which the loss was least
ROWS = 20  # that are printed
TESTING = ("test_net", "test_net_param", "test_iter", "test_state", "test_interval", "test_initialization")
SCHEDULE = ("gamma", "power", "stepsize", "stepvalue", "warmup_iter", "snapshot", "display")


@dataclass(frozen=True)
class RateRange:
    """What a range test saw.

    Attributes
    ----------
    rates, losses, smoothed
        Of each iteration: its rate, its loss, and the mean of the losses so far, the last ones counting most.
    rate
        The suggestion: a tenth of the rate at which the smoothed loss was least.
    own
        The solver's base_lr.
    """

    rates: list[float]
    losses: list[float]
    smoothed: list[float]
    rate: float
    own: float

    def rows(self) -> list[tuple[str, str, str]]:
        """Some of the rates with their losses, as text."""
        chosen = sorted({round(i * (len(self.rates) - 1) / (ROWS - 1)) for i in range(ROWS)})
        return [(f"{self.rates[i]:.2e}", f"{self.losses[i]:.4g}", f"{self.smoothed[i]:.4g}") for i in chosen]

    def draw(self, path: str | Path) -> Path:
        """Draws losses over rates to a picture. Raises BoxpressoError where matplotlib is missing."""
        from . import curves

        figure = curves.new_figure()
        axes = figure.subplots()
        axes.plot(self.rates, self.losses, color="0.8", label="loss")
        axes.plot(self.rates, self.smoothed, label="smoothed")
        axes.axvline(self.rate, linestyle="--", color="0.3", label=f"suggested: {self.rate:.2g}")
        axes.set(xscale="log", xlabel="learning rate", ylabel="loss")
        axes.legend()
        return curves.save(figure, Path(path))


def find_rate(
    path: str | os.PathLike[str], *, low: float = LOWEST, high: float = HIGHEST, steps: int = STEPS,
    tell: Callable[[int, int], None] = lambda done, all: None, **options: Any,
) -> RateRange:  # fmt: skip
    """Trains at rates from low to high, each a fixed multiple of the one before, and forgets what was learned.

    The test ends early where the smoothed loss is four times its least, or no number. Nothing is written: neither weights nor
    snapshots nor a log.

    Parameters
    ----------
    path
        The solver prototxt; its method, weights and batches count, its rates and tests do not.
    low, high, steps
        The first and the last rate, and how many.
    tell
        Called after each iteration with how many are done, and of how many.
    options
        Of Solver, such as weights and device.

    Returns
    -------
    RateRange
        Rates, losses and a suggestion.

    Raises
    ------
    BoxpressoError
        Where the loss did not fall at any rate, or is no number at the first one.

    Source
    ------
    Smith 2015 (Cyclical learning rates for training neural networks), with the smoothing and the tenth that fastai uses.
    """
    param = read_solver(path)
    own, folder = param.base_lr, Path(path).parent
    for name in (*TESTING, *SCHEDULE):
        param.ClearField(name)
    for name in ("net", "train_net"):
        if param.HasField(name):
            setattr(param, name, str(nets.find_file(getattr(param, name), folder)))
    param.weights[:] = [str(nets.find_file(name, folder)) for name in param.weights]
    param.base_lr, param.lr_policy, param.gamma = low, "exp", power(high / low, 1 / (steps - 1))
    param.max_iter, param.average_loss = steps, 1
    with tempfile.TemporaryDirectory() as written:
        param.snapshot_prefix = f"{written}/range"
        solver = Solver(param, allow_nan=True, log=lambda line: None, **options)
        return measured(solver, param, own, tell)


def measured(solver: Solver, param: SolverParameter, own: float, tell: Callable[[int, int], None]) -> RateRange:
    """Runs the iterations of a solver whose rate grows."""
    rates: list[float] = []
    losses: list[float] = []
    smoothed: list[float] = []
    mean = 0.0
    while solver.iter < param.max_iter:
        solver.step(1)
        loss = solver.smoothed_loss  # of this iteration alone
        mean = MEMORY * mean + (1 - MEMORY) * loss
        now = mean / (1 - power(MEMORY, len(losses) + 1))  # as if the first losses had been there before
        if not math.isfinite(now):
            break
        rates.append(solver.rate)
        losses.append(loss)
        smoothed.append(now)
        tell(solver.iter, param.max_iter)
        if now > ENDS * min(smoothed):
            break
    if not rates:
        raise BoxpressoError("the loss is no number from the first iteration on: look at the data and at the weights")
    best = min(range(len(rates)), key=smoothed.__getitem__)
    if smoothed[best] >= smoothed[0]:
        raise BoxpressoError(
            f"the loss did not fall at any rate from {rates[0]:g} to {rates[-1]:g}: it was {losses[0]:.4g} at first and "
            f"{losses[-1]:.4g} at last"
        )
    return RateRange(rates, losses, smoothed, PART * rates[best], own)
