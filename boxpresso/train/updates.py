"""The six update rules of Caffe: what each remembers of a parameter, and one launch that updates all parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..device import AnyArray, Blob, Kernels
from ..device.functions import power
from ..proto import SolverParameter
from ..proto.errors import KernelError, ModelError, nearest

kernels = Kernels(Path(__file__).with_name("solver.cu"))
PIECE = 1 << 14  # elements of a parameter that one block takes


class UpdateStep(NamedTuple):
    """What an update needs beside the parameters."""

    scale: float  # of the diffs: clipping and 1 / iter_size
    l1: int
    iteration: int
    rates: Sequence[float | None]  # of each parameter: the learning rate times lr_mult; None: it does not learn
    decays: Sequence[float]  # of each parameter: weight_decay times decay_mult


class Method(NamedTuple):
    """An update rule: how many arrays it keeps for a parameter, its kernel, and the kernel's numbers, a Rule in solver.cu."""

    arrays: int
    kernel: str
    rule: Callable[[SolverParameter], dict[str, float]]


METHODS = {
    "SGD": Method(1, "sgd", lambda p: {"first": p.momentum}),
    "Nesterov": Method(1, "nesterov", lambda p: {"first": p.momentum}),
    "AdaGrad": Method(1, "adagrad", lambda p: {"delta": p.delta}),
    "RMSProp": Method(1, "rmsprop", lambda p: {"delta": p.delta, "first": p.rms_decay}),
    "AdaDelta": Method(2, "adadelta", lambda p: {"delta": p.delta, "first": p.momentum}),
    "Adam": Method(2, "adam", lambda p: {"delta": p.delta, "first": p.momentum, "second": p.momentum2}),
}


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
    if name == "Adam" and not 0 <= param.momentum2 < 1:
        raise ModelError(f"solver: momentum2 of Adam must be from 0 to below 1, got {param.momentum2:g}")
    if param.regularization_type not in ("L1", "L2"):
        raise ModelError(f"solver: regularization_type must be L1 or L2, got {param.regularization_type!r}")
    return METHODS[name]


class Group:
    """Some of a net's learned parameters and what an update remembers of them, as the kernels take them: in pieces."""

    def __init__(self, blobs: Sequence[Blob], history: Sequence[Sequence[AnyArray]]) -> None:
        self.blobs, self.history = blobs, history
        self.device, self.dtype = blobs[0].device, blobs[0].dtype
        rows = [
            (i, first, min(PIECE, b.count - first)) for i, b in enumerate(blobs) for first in range(0, b.count, PIECE)
        ]
        self.count, self.pieces = len(rows), self.device.table(np.array(rows).reshape(-1, 3))
        self.arrays: list[list[AnyArray]] = []
        self.addresses: list[list[int]] = []  # that `distances` was made of
        self.distances = self.device.empty((0,), np.float64)

    def place(self) -> list[AnyArray]:
        """The arrays of the first parameter: data, diff and history. `distances` then says how far the others lie from them."""
        arrays = [[blob.data, blob.diff, *history] for blob, history in zip(self.blobs, self.history)]
        same = self.arrays and all(a is b for new, old in zip(arrays, self.arrays) for a, b in zip(new, old))
        self.arrays = arrays
        if same and self.device.kind == "cpu":
            return arrays[0]
        addresses = [[address(array, write=i != 1) for i, array in enumerate(row)] for row in arrays]
        if addresses != self.addresses:
            distances = np.zeros((len(addresses), kernels.constants["ARRAYS"]))
            for row, of in zip(distances, addresses):
                row[: len(of)] = [(at - start) / self.dtype.itemsize for at, start in zip(of, addresses[0])]
            self.distances, self.addresses = self.device.table(distances, np.float64), addresses
        return arrays[0]

    def update(self, p: SolverParameter, method: Method, step: UpdateStep) -> None:
        """One update of all of them, in one launch."""
        rates = [rate or 0.0 for rate in step.rates]
        if method.kernel == "adam":
            t = step.iteration + 1
            rates = [rate * math.sqrt(1 - power(p.momentum2, t)) / (1 - power(p.momentum, t)) for rate in rates]
        numbers = {"delta": 0.0, "first": 0.0, "second": 0.0, **method.rule(p)}
        rule = kernels.struct("Rule", l1=step.l1, scale=step.scale, **numbers)
        table = self.device.table(np.stack([rates, step.decays], 1), self.dtype)
        arrays, launch = self.place(), getattr(kernels.on(self.device), method.kernel)
        launch(self.count, *arrays, self.pieces, self.distances, table, rule)

    def norm(self) -> float:
        """The L2 norm of all diffs, in double precision and in an order that is always the same."""
        diff, partial = self.place()[1], self.device.empty((self.count,), np.float64)
        kernels.on(self.device).square_sums(self.count, diff, self.pieces, self.distances, partial)
        total = 0.0
        for each in partial.tolist():  # Python 3.12's sum rounds otherwise than that of 3.11
            total += each
        return math.sqrt(total)


class Parameters:
    """The learned parameters of a net, what an update remembers of them, and the rule of that update.

    Parameters
    ----------
    param
        The solver's, which names the rule.
    blobs
        The parameters, of one device and dtype.
    """

    def __init__(self, param: SolverParameter, blobs: Sequence[Blob]) -> None:
        self.param, self.blobs, self.method = param, list(blobs), method(param)
        self.history: list[list[AnyArray]] = [
            [blob.device.empty(blob.shape, blob.dtype) for _ in range(self.method.arrays)] for blob in self.blobs
        ]
        self.groups: dict[tuple[int, ...], Group] = {}

    def group(self, chosen: Sequence[int]) -> Group:
        """Some of the parameters, as the kernels take them."""
        key = tuple(chosen)
        if key not in self.groups:
            self.groups[key] = Group([self.blobs[i] for i in key], [self.history[i] for i in key])
        return self.groups[key]

    def update(self, step: UpdateStep) -> None:
        """One update of all parameters that learn."""
        chosen = [i for i, rate in enumerate(step.rates) if rate is not None and self.blobs[i].count]
        if chosen:
            wanted = step._replace(rates=[step.rates[i] for i in chosen], decays=[step.decays[i] for i in chosen])
            self.group(chosen).update(self.param, self.method, wanted)

    def norm(self) -> float:
        """The L2 norm of all diffs."""
        chosen = [i for i, blob in enumerate(self.blobs) if blob.count]
        return self.group(chosen).norm() if chosen else 0.0


def address(array: AnyArray, write: bool) -> int:
    """Where the elements of an array lie, on its device; `write`: a kernel will change them."""
    if isinstance(array, np.ndarray):
        if not array.flags.c_contiguous or (write and not array.flags.writeable):
            raise KernelError(
                f"an update needs parameters in contiguous arrays that it may write to, got one of shape {array.shape} "
                f"and strides {array.strides}, {'' if array.flags.writeable else 'not '}writable"
            )
        return int(array.__array_interface__["data"][0])
    return array.address(write)
