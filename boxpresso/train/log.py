"""The log of a training: Caffe's lines, which other people's parsers read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import numpy as np

from ..device import AnyArray
from ..net.net import Net
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
