"""The learning rate at an iteration: Caffe's lr_policy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..device.functions import exponential, power
from ..proto import SolverParameter
from ..proto.errors import ModelError, nearest


class Rates:
    """Gives the rate of each iteration in turn, and keeps the step that `multistep` and `plateau` have reached.

    ========= ==============================================================================================
    lr_policy rate
    ========= ==============================================================================================
    fixed     base_lr
    step      base_lr * gamma^(iter / stepsize), the quotient rounded down
    exp       base_lr * gamma^iter
    inv       base_lr * (1 + gamma * iter)^-power
    multistep base_lr * gamma^(stepvalues passed)
    poly      base_lr * (1 - iter / max_iter)^power
    sigmoid   base_lr / (1 + exp(-gamma * (iter - stepsize)))
    plateau   base_lr * gamma^(times that the smoothed loss did not fall for plateau_winsize iterations)
    ========= ==============================================================================================

    Parameters
    ----------
    param
        The solver prototxt as a message.

    Raises
    ------
    ModelError
        For a policy that is unknown or lacks a parameter.

    Source
    ------
    Caffe; plateau is SSD's.

    Examples
    --------
    >>> from boxpresso.proto import parse_solver
    >>> rates = Rates(parse_solver('base_lr: 0.5 lr_policy: "step" gamma: 0.5 stepsize: 10'))
    >>> rates.at(0, 0.0), rates.at(25, 0.0)
    (0.5, 0.125)
    """

    NEEDS = {
        "fixed": (), "step": ("gamma", "stepsize"), "exp": ("gamma",), "inv": ("gamma", "power"),
        "multistep": ("gamma", "stepvalue"), "poly": ("power", "max_iter"), "sigmoid": ("gamma", "stepsize"),
        "plateau": ("gamma", "plateau_winsize"),
    }  # fmt: skip

    def __init__(self, param: SolverParameter) -> None:
        self.param = param
        policy = param.lr_policy
        if policy not in self.NEEDS:
            raise ModelError(f"solver: unknown lr_policy {policy!r}{nearest(policy, self.NEEDS)}")
        for name in ("base_lr", *self.NEEDS[policy]):
            value = getattr(param, name)
            missing = not len(value) if hasattr(value, "__len__") else not param.HasField(name)
            if missing:
                raise ModelError(f"solver: lr_policy {policy!r} needs {name}, which is not given")
        if policy in ("step", "poly") and getattr(param, "stepsize" if policy == "step" else "max_iter") < 1:
            raise ModelError(f"solver: lr_policy {policy!r} needs stepsize and max_iter from 1")
        self.step = 0
        self.lowest, self.last_event = math.inf, 0
        self.rule: Callable[[int], float] = getattr(self, f"_{policy}")

    @property
    def progress(self) -> tuple[int, float, int]:
        """What a snapshot keeps: the step, the lowest loss that `plateau` has seen, and the iteration of its last event."""
        return self.step, self.lowest, self.last_event

    @progress.setter
    def progress(self, progress: tuple[int, float, int]) -> None:
        self.step, self.lowest, self.last_event = progress

    def at(self, iteration: int, smoothed_loss: float) -> float:
        """The rate of this iteration; iterations are asked for in order."""
        if self.param.lr_policy == "plateau":
            self._watch(iteration, smoothed_loss)
        return float(self.param.base_lr) * self.rule(iteration)

    def _watch(self, iteration: int, loss: float) -> None:
        windows, loss = self.param.plateau_winsize, float(np.float32(loss))  # as a snapshot keeps it
        if loss < self.lowest:
            self.lowest, self.last_event = loss, iteration
        if self.step < len(windows) and iteration >= self.last_event + windows[self.step]:
            self.step += 1
            self.last_event = iteration

    def _fixed(self, iteration: int) -> float:
        return 1.0

    def _step(self, iteration: int) -> float:
        self.step = iteration // self.param.stepsize
        return power(self.param.gamma, self.step)

    def _exp(self, iteration: int) -> float:
        return power(self.param.gamma, iteration)

    def _inv(self, iteration: int) -> float:
        return power(1 + self.param.gamma * iteration, -self.param.power)

    def _multistep(self, iteration: int) -> float:
        values = self.param.stepvalue
        if self.step < len(values) and iteration >= values[self.step]:
            self.step += 1
        return power(self.param.gamma, self.step)

    def _poly(self, iteration: int) -> float:
        return power(max(1 - iteration / self.param.max_iter, 0.0), self.param.power)

    def _sigmoid(self, iteration: int) -> float:
        return 1 / (1 + exponential(-self.param.gamma * (iteration - self.param.stepsize)))

    def _plateau(self, iteration: int) -> float:
        return power(self.param.gamma, self.step)
