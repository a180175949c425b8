"""Builds the parser of `boxpresso VERB ..` from the verbs, runs one, and turns errors and warnings into lines."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from typing import Any, NoReturn, Protocol, TextIO

from .. import __version__
from ..proto.errors import NOTE, BoxpressoError, nearest, visible
from . import (
    convert,
    detect,
    device_query,
    export,
    finish,
    info,
    layers,
    mean,
    models,
    new,
    plot,
    quantize,
    serve,
    test,
    time,
    train,
    upgrade,
)
from .arguments import WrongUse
from .output import Visible, complain, warn

ABOUT = """\
Run, time and look into Caffe detection models.

A model is two files: MODEL, a .prototxt that says which layers there are, and
WEIGHTS, a .caffemodel (or .h5) with what they learned.
"""
ENVIRONMENT = """\
`boxpresso VERB --help` explains a verb.

environment: BOXPRESSO_DEVICE, the device where --device is not given;
BOXPRESSO_THREADS, how many CPU threads; BOXPRESSO_DEBUG=1, tracebacks of
errors; BOXPRESSO_PROGRESS=0, no lines about the compilation of kernels
"""


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)


class Verb(Protocol):
    """What the module of a verb has."""

    @property
    def NAME(self) -> str:
        """The word on the command line."""

    @property
    def SHORT(self) -> str:
        """Its line in `boxpresso --help`."""

    @property
    def TEXT(self) -> str:
        """The start of its own help."""

    @property
    def EPILOG(self) -> str | None:
        """The end of its own help."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the arguments of the verb."""

    def run(self, args: argparse.Namespace) -> int:
        """Does the work and returns the exit status."""


VERBS: Sequence[Verb] = (  # in the order of --help
    detect, serve, models, info, time, new, train, finish, quantize, test, plot, convert, export, mean, device_query, layers,
    upgrade,
)  # fmt: skip


class Help(argparse.RawDescriptionHelpFormatter):
    """Text as it is written in the verbs, and room for the names of verbs and options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)
        self._action_max_length = 16  # argparse forgets that verbs are indented


class Parser(argparse.ArgumentParser):
    """A parser whose errors offer the nearest verb or option, and say where the help is."""

    inside = False  # whether it is parsing

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's; what is left over is told by the verb's own parser, which knows the options."""
        parsed, rest = self.parse_known_args(args, namespace)
        if rest:
            own: Parser = getattr(parsed, "parser", self)
            known = [
                name for action in own._actions for name in action.option_strings if action.help != argparse.SUPPRESS
            ]
            unknown = [word for word in rest if word.startswith("-") and word != "--"]
            if not unknown:
                own.error(f"there is no place for {' '.join(rest)}")
            name = unknown[0].partition("=")[0]
            own.error(f"there is no option {name}{nearest(name, known)}")
        return parsed

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's; but options may also stand among the words of a verb: of `detect MODEL WEIGHTS --threshold 0.3 IMAGE`
        argparse would have given all places away before the option."""
        if self._subparsers is not None or self.inside:
            return super().parse_known_args(args, namespace)
        self.inside = True  # argparse asks this method again
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.inside = False

    def shorten_usage(self) -> None:
        """Of the usage only what must be said stays: there are too many options to read in it."""
        needed = [action for action in self._actions if action.required or not action.option_strings]
        formatter = self._get_formatter()
        formatter.add_usage(f"{self.prog} [options]", [], [], prefix="")
        formatter.add_usage(None, needed, [], prefix="")
        head, rest = formatter.format_help().strip().split("\n\n", 1)
        self.usage = f"{head} {rest.removeprefix(self.prog).strip()}".strip()

    def error(self, message: str) -> NoReturn:
        """The usage, what is wrong, and where more is said; the status is 2."""
        self.complain(message)
        raise SystemExit(2)

    def complain(self, message: object) -> None:
        """Prints what `error` says."""
        text = f"{self.format_usage()}boxpresso: error: {message}\n  {self.prog} --help lists what there is"
        print(visible(text), file=sys.stderr)


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line; with `only`, of the verbs it is the one that knows its arguments."""
    parser = Parser(prog="boxpresso", description=ABOUT, epilog=ENVIRONMENT, formatter_class=Help)
    parser.add_argument("--version", action="version", version=f"boxpresso {__version__}")
    parsers = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for verb in VERBS:
        own = parsers.add_parser(
            verb.NAME, help=verb.SHORT, description=verb.TEXT, epilog=verb.EPILOG, formatter_class=Help
        )
        if only in (None, verb.NAME):
            verb.add_arguments(own)
            own.shorten_usage()
        own.set_defaults(module=verb, parser=own)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Errors and warnings are single lines on stderr; BOXPRESSO_DEBUG=1 lets errors through, with their tracebacks.

    Parameters
    ----------
    argv
        The words of the command, without the program; None takes those of this process.

    Returns
    -------
    int
        The exit status: 0, 1 for an error, 2 for a wrong use, 130 when interrupted, 141 when the reader of a pipe left.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in (["help"], ["version"]):  # as other programs have it: help VERB
        words = [*words[1:2], f"--{words[0]}"] if words[0] == "help" else ["--version"]
    first = words[0] if words else None
    names = [verb.NAME for verb in VERBS]
    parser = make_parser(first if first in names else None)
    try:
        if first is not None and not first.startswith("-") and first not in names:
            parser.error(f"there is no verb {first!r}{nearest(first, names)}")
        args = parser.parse_args(words)
        args.words = words  # for reports, which say what made them
    except SystemExit as stop:  # --help, --version, wrong usage
        return int(stop.code or 0)
    if args.verb is None:
        parser.print_help(sys.stderr)
        return 2
    debug = os.environ.get("BOXPRESSO_DEBUG") == "1"
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a label or file name that the terminal cannot show
    output = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  there is none where the caller has closed it
    try:
        with warnings.catch_warnings(), redirect_stdout(Visible(output)):
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = show_warning
            status: int = args.module.run(args)
            sys.stdout.flush()
            return status
    except BrokenPipeError:  # the reader, such as `head`, has left
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 141
    except KeyboardInterrupt:
        return 130
    except WrongUse as error:
        args.parser.complain(error)
        return 2
    except BoxpressoError as error:
        if debug:
            raise
        complain(error)
    except OSError as error:
        if debug:
            raise
        place = f"{error.filename}: " if error.filename else "cannot write the output: "
        complain(f"{place}{error.strerror or error}" if error.errno in FULL else fault(error))
    except ModuleNotFoundError as error:
        if debug:
            raise
        package = __name__.partition(".")[0]
        missing = error.name is not None and error.name.startswith(f"{package}.")  # a room that was taken out
        complain(f"this installation lacks {error.name}, which `{args.verb}` needs" if missing else fault(error))
    except MemoryError as error:
        if debug:
            raise
        complain(f"there is no memory left{f': {error}' if str(error) else ''}")
    except Exception as error:
        if debug:
            raise
        complain(fault(error))
    return 1


def fault(error: Exception) -> str:
    """What is said of an error that nobody expected."""
    layer = getattr(error, NOTE, "")
    advice = "this is a fault of Boxpresso, please report it with what BOXPRESSO_DEBUG=1 prints"
    if layer:
        advice = f"an error of the user's class that runs as {layer}; BOXPRESSO_DEBUG=1 prints where"
    return f"{type(error).__name__}: {error}; {advice}"


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line, without the place in the source."""
    warn(message)
