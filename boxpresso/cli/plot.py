"""The verb plot: the curves of a training log as a picture, once or for as long as it grows."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from . import arguments

if TYPE_CHECKING:
    from ..train.curves import Curves

NAME = "plot"
SHORT = "draw the curves of a training log"
TEXT = """\
Draw loss, learning rate and test results of a training log to a PNG picture.

With --follow the curves are drawn anew whenever the log has grown, until it
says that training is over, or Ctrl-C: in a window where there is a display and
no --out, else to the picture.
"""
EPILOG = """\
examples:
  boxpresso plot train.log
  boxpresso train --solver solver.prototxt --log train.log &
  boxpresso plot train.log --follow
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    text = "what `boxpresso train` or `caffe train` wrote to standard error, or --log's file"
    add("log", metavar="LOG", help=text)
    add("--out", metavar="FILE", help="the picture to write (default: LOG.png)")
    add("--follow", action="store_true", help="draw anew as the log grows")
    add("--every", metavar="S", type=seconds, default=5.0, help="with --follow: look each S seconds (default: 5)")


def seconds(text: str) -> float:
    """A number of seconds, from 0.1."""
    value = arguments.number(text)
    if value < 0.1:
        raise ArgumentTypeError(f"{text!r} is less than 0.1")
    return value


def run(args: Namespace) -> int:
    """Draws the curves of a log."""
    from ..train.curves import plot

    out = args.out or args.log + ".png"
    if args.follow:
        return follow(args, out)
    print(f"drawn in {plot(args.log, out)}")
    return 0


def follow(args: Namespace, out: str) -> int:
    """Draws the curves until training is over, the window is closed, or Ctrl-C."""
    from ..train import curves

    figure = curves.new_figure()
    shown = None if args.out else curves.window(args.log)
    times = 0

    def show(read: Curves) -> None:
        nonlocal times
        times += 1
        curves.draw(read, Path(args.log).name, shown[0] if shown else figure)
        if not shown:
            curves.save(figure, Path(out))
            if times == 1:
                print(
                    f"{out} is drawn, and drawn anew as {args.log} grows (each {args.every:g} s); Ctrl-C ends",
                    flush=True,
                )

    def wait() -> bool:
        if shown:
            return shown[1](args.every)
        time.sleep(args.every)
        return True

    if not Path(args.log).exists():
        print(f"waiting for {args.log}", flush=True)
    try:
        end = curves.follow(args.log, show, wait)
        if shown and end:
            print(f"{end} Close the window, or Ctrl-C.", flush=True)
            while shown[1](1.0):
                pass
    except KeyboardInterrupt:
        end = ""
        print(file=sys.stderr)
    if times and not shown:
        print(f"{end + ' ' if end else ''}{out} was drawn {times} time{'s' * (times != 1)}")
    return 0
