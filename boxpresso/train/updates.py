"""The six update rules of Caffe: what each remembers of a parameter, and its formula's kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..device import AnyArray, Blob, Kernels
from ..proto import SolverParameter
from ..proto.errors import ModelError, nearest

kernels = Kernels(Path(__file__).with_name("solver.cu"))
PIECE = 1 << 14  # elements whose squares one block adds up


class Step(NamedTuple):
    """What an update of one parameter needs beside the parameter."""

    scale: float  # of the diff: clipping and 1 / iter_size
    rate: float  # the learning rate times lr_mult
    decay: float  # weight_decay times decay_mult
    l1: int
    iteration: int


class Method(NamedTuple):
    """An update rule: how many arrays it keeps for a parameter, and the function that updates one."""

    arrays: int
    update: Callable[[SolverParameter, Blob, list[AnyArray], Step], None]


def _common(blob: Blob, history: list[AnyArray], s: Step, rate: float | None = None) -> tuple[Any, ...]:
    return blob.count, blob.data, blob.diff, *history, s.scale, s.decay, s.l1, s.rate if rate is None else rate


def _sgd(p: SolverParameter, blob: Blob, history: list[AnyArray], s: Step) -> None:
    kernels.on(blob.device).sgd(*_common(blob, history, s), p.momentum)


def _nesterov(p: SolverParameter, blob: Blob, history: list[AnyArray], s: Step) -> None:
    kernels.on(blob.device).nesterov(*_common(blob, history, s), p.momentum)


def _adagrad(p: SolverParameter, blob: Blob, history: list[AnyArray], s: Step) -> None:
    kernels.on(blob.device).adagrad(*_common(blob, history, s), p.delta)


def _rmsprop(p: SolverParameter, blob: Blob, history: list[AnyArray], s: Step) -> None:
    kernels.on(blob.device).rmsprop(*_common(blob, history, s), p.delta, p.rms_decay)


def _adadelta(p: SolverParameter, blob: Blob, history: list[AnyArray], s: Step) -> None:
    kernels.on(blob.device).adadelta(*_common(blob, history, s), p.delta, p.momentum)


def _adam(p: SolverParameter, blob: Blob, history: list[AnyArray], s: Step) -> None:
    t = s.iteration + 1
    corrected = s.rate * math.sqrt(1 - p.momentum2**t) / (1 - p.momentum**t)
    kernels.on(blob.device).adam(*_common(blob, history, s, corrected), p.delta, p.momentum, p.momentum2)


METHODS = {
    "SGD": Method(1, _sgd), "Nesterov": Method(1, _nesterov), "AdaGrad": Method(1, _adagrad),
    "RMSProp": Method(1, _rmsprop), "AdaDelta": Method(2, _adadelta), "Adam": Method(2, _adam),
}  # fmt: skip


def method(param: SolverParameter) -> Method:
    """The update rule that `type` names, in any case.

    Raises ModelError for an unknown type, or for parameters that the rule refuses.
    """
    known = {name.lower(): name for name in METHODS}
    name = known.get(param.type.lower())
    if name is None:
        raise ModelError(f"solver: unknown type {param.type!r}{nearest(param.type, METHODS)}")
    if name in ("AdaGrad", "RMSProp") and param.momentum:
        raise ModelError(f"solver: {name} has no momentum, but momentum is {param.momentum:g}; leave it out")
    if name == "RMSProp" and not 0 <= param.rms_decay < 1:
        raise ModelError(f"solver: rms_decay must be from 0 to below 1, got {param.rms_decay:g}")
    if name in ("Adam", "AdaDelta") and not 0 <= param.momentum < 1:
        raise ModelError(f"solver: momentum of {name} must be from 0 to below 1, got {param.momentum:g}")
    if param.regularization_type not in ("L1", "L2"):
        raise ModelError(f"solver: regularization_type must be L1 or L2, got {param.regularization_type!r}")
    return METHODS[name]


def square_sum(blob: Blob) -> float:
    """The sum of the squares of a blob's diff, in double precision and in an order that is always the same."""
    pieces = -(-blob.count // PIECE)
    partial = blob.device.empty((pieces,), "float64")
    kernels.on(blob.device).square_sums(pieces, blob.diff, partial, blob.count, PIECE)
    return float(sum(partial.tolist()))
