"""The log of a training: Caffe's lines, which other people's parsers read."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import numpy as np

from ..device import AnyArray
from ..net.net import Net
from ..proto import SolverParameter
from ..proto.errors import visible

Log = Callable[[str], None]


def glog_line(line: str) -> str:
    """A line as Caffe's log has it: parsers of Caffe's logs read the time before it."""
    now = datetime.now()
    return f"I{now:%m%d %H:%M:%S.%f} {os.getpid():5d} solver.py:1] {visible(line)}"


def glog(line: str) -> None:
    """Write a line to standard error as Caffe's log does."""
    print(glog_line(line), file=sys.stderr, flush=True)


def output_lines(which: str, net: Net, values: Sequence[AnyArray]) -> Iterator[str]:
    """The log lines of a net's outputs, one for each number; `which` is "Train" or "Test"."""
    number = 0
    weights = net.blob_loss_weights
    for name, value in zip(net.outputs, values):
        for number_of, one in enumerate(np.asarray(value).ravel(), number):
            weight = weights[name]
            loss = f" (* {weight:.6g} = {weight * one:.6g} loss)" if weight else ""
            yield f"    {which} net output #{number_of}: {name} = {one:.6g}{loss}"
            number = number_of + 1


class Display:
    """What a training shows of itself: the mean of its last losses, and every `display` iterations Caffe's lines.

    Attributes
    ----------
    losses
        The last average_loss losses of this run of iterations.
    smoothed
        Their mean.
    """

    def __init__(self, param: SolverParameter) -> None:
        self.param = param
        self.begin(0)

    def begin(self, iteration: int) -> None:
        """A run of iterations begins."""
        self.losses: list[float] = []
        self.smoothed, self.first = 0.0, iteration
        self.last = iteration, time.perf_counter()

    def add(self, loss: float, iteration: int) -> None:
        """Counts the loss of an iteration."""
        window = self.param.average_loss
        if len(self.losses) < window:
            self.losses.append(loss)
            self.smoothed += (loss - self.smoothed) / len(self.losses)
        else:
            place = (iteration - self.first) % window
            self.smoothed += (loss - self.losses[place]) / window
            self.losses[place] = loss

    def show(self, iteration: int, net: Net, log: Log) -> None:
        """Logs the loss, the speed since the last such line, and the outputs of the net."""
        shown, clock = self.last
        lapse = time.perf_counter() - clock
        speed = (iteration - shown) / lapse if lapse else 0.0
        log(
            f"Iteration {iteration} ({speed:.6g} iter/s, {lapse:.6g}s/{self.param.display} iters), "
            f"loss = {self.smoothed:.6g}"
        )
        self.last = iteration, time.perf_counter()
        for line in output_lines("Train", net, [net.blobs[name].data for name in net.outputs]):
            log(line)
