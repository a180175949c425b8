"""The verb plot: the curves of a training log as a picture."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

NAME = "plot"
SHORT = "draw the curves of a training log"
TEXT = """\
Draw loss, learning rate and test results of a training log to a PNG picture.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    text = "what `boxpresso train` or `caffe train` wrote to standard error"
    parser.add_argument("log", metavar="LOG", help=text)
    parser.add_argument("--out", metavar="FILE", help="the picture to write (default: LOG.png)")


def run(args: Namespace) -> int:
    """Draws the curves of a log."""
    from ..train.curves import plot

    print(f"drawn in {plot(args.log, args.out or args.log + '.png')}")
    return 0
