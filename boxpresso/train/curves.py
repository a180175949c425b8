"""The numbers of a training log, Boxpresso's or Caffe's, and their curves as a picture."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from ..proto import files
from ..proto.errors import BoxpressoError
from ..proto.reading import kind_of

NUMBER = r"(-?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf))"
ITERATION, LOSS = re.compile(r"Iteration (\d{1,18})\b", re.I), re.compile(rf", loss = {NUMBER}", re.I)
RATE = re.compile(rf"Iteration (\d{{1,18}}), lr = {NUMBER}", re.I)
TESTING = re.compile(r"Iteration (\d{1,18}), Testing net \(#(\d{1,18})\)")
CLASS = re.compile(rf"(?:^|\] )(class\d+): {NUMBER}(?: \((.*)\))?\s*$", re.I)  # of a test with show_per_class_result
OUTPUT = re.compile(rf"Test net output #\d+: (\S+) = {NUMBER}", re.I)
SPEED = re.compile(rf"Iteration (\d{{1,18}}) \({NUMBER} iter/s", re.I)
END = re.compile(r"(?:^|\] )(Optimization (?:Done|stopped early)\.|Training ends early .*)")
Points = list[tuple[int, float]]
LINE = 2**16  # bytes of a line that are looked at
HIGHEST = 1e100  # matplotlib cannot draw up to the largest number
MOST = 24  # curves of a kind that are drawn
NAMED = 10  # classes that are drawn in a colour, with their names


@dataclass
class Curves:
    """Points (iteration, value), in the order of the log; the tests' by net and output, or name of the class.

    speed: in iterations a second. end: the line that says that training is over, or nothing.
    """

    loss: Points = field(default_factory=list)
    rate: Points = field(default_factory=list)
    speed: Points = field(default_factory=list)
    tests: dict[str, Points] = field(default_factory=dict)
    classes: dict[str, Points] = field(default_factory=dict)
    end: str = ""

    @property
    def scores(self) -> dict[str, Points]:
        """The tests' outputs that are no losses, such as the mean average precision."""
        return {name: points for name, points in self.tests.items() if "loss" not in name}

    @property
    def losses(self) -> dict[str, Points]:
        """The tests' outputs that are losses."""
        return {name: points for name, points in self.tests.items() if "loss" in name}

    def __bool__(self) -> bool:
        return bool(self.loss or self.rate or self.tests)


class Reader:
    """Collects the numbers of a log, line by line.

    Attributes
    ----------
    curves
        What was seen.

    Examples
    --------
    >>> reader = Reader()
    >>> reader.feed("I1122 03:28:20.1 7 solver.py:1] Iteration 100 (9 iter/s, 2s/18 iters), loss = 0.5")
    ('loss', 100, 0.5)
    >>> reader.curves.loss, reader.curves.speed
    ([(100, 0.5)], [(100, 9.0)])
    """

    def __init__(self) -> None:
        self.curves = Curves()
        self.testing: tuple[int, int] | None = None  # iteration and net of the test that is being logged

    def feed(self, line: str) -> tuple[str, int, float] | None:
        """Takes one line of the log; returns the number that it says: "loss", "lr" or "test NAME", iteration, value."""
        curves = self.curves
        if (match := ITERATION.search(line)) and (losses := LOSS.findall(line, match.end())):
            curves.loss.append((int(match[1]), float(losses[-1])))
            curves.end = ""  # a training that goes on in the same log
            if speed := SPEED.search(line):
                curves.speed.append((int(speed[1]), float(speed[2])))
            return ("loss", *curves.loss[-1])
        elif match := RATE.search(line):
            curves.rate.append((int(match[1]), float(match[2])))
            return ("lr", *curves.rate[-1])
        elif match := TESTING.search(line):
            self.testing = int(match[1]), int(match[2])
        elif self.testing and (match := OUTPUT.search(line) or CLASS.search(line)):
            at, net = self.testing
            table = curves.tests if match.re is OUTPUT else curves.classes
            name = (match[3] if table is curves.classes else None) or match[1]
            name = name if net == 0 else f"{name} (net {net})"
            table.setdefault(name, []).append((at, float(match[2])))
            return (f"test {name}", *table[name][-1])
        elif match := END.search(line):
            curves.end = match[1]
        return None


def read_curves(lines: Iterable[str]) -> Curves:
    """Collects losses, learning rates and test outputs from the lines of a log.

    >>> read_curves(["I1122 03:28:20.1 7 solver.py:1] Iteration 100 (9 iter/s), loss = 0.5"]).loss
    [(100, 0.5)]
    """
    reader = Reader()
    for line in lines:
        reader.feed(line)
    return reader.curves


def plot(log: str, out: str) -> Path:
    """Draws loss, learning rate and test outputs of a log to a picture.

    Parameters
    ----------
    log
        The path of a log of Boxpresso or Caffe.
    out
        The picture to write, in the format that its name ends in.

    Returns
    -------
    Path
        The picture.

    Raises
    ------
    BoxpressoError
        Where the log cannot be read or has no such lines, or matplotlib is missing.
    """
    reader = Tail(log)
    reader.read()
    reader.finish()
    if not reader.curves:
        raise BoxpressoError(f"{log} has no line of a training log, such as 'Iteration 100, loss = 0.5'")
    figure = new_figure()
    draw(reader.curves, Path(log).name, figure)
    return save(figure, Path(out))


class Tail(Reader):
    """A log on disk that may still be written. Raises BoxpressoError for one that cannot be read."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path, self.at, self.rest = path, 0, b""

    def read(self) -> bool:
        """Takes the lines that are new; a log that has become shorter is another one, and is read from its start."""
        start = self.at
        try:
            fd = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
            with open(fd, "rb") as file:
                seen = os.fstat(fd)
                if kind := kind_of(seen.st_mode):
                    raise BoxpressoError(f"cannot read the log {self.path}: it is {kind}, not a regular file")
                if seen.st_size < self.at:
                    self.curves, self.testing, self.at, self.rest, start = Curves(), None, 0, b"", 0
                file.seek(self.at)
                while data := file.read(2**20):
                    self.take(data)
        except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
            raise BoxpressoError(
                f"cannot read the log {self.path}: {getattr(error, 'strerror', None) or error}"
            ) from error
        return self.at > start

    def take(self, data: bytes) -> None:
        """Takes the next bytes of the log."""
        self.at += len(data)
        *lines, rest = re.split(rb"[\r\n]", self.rest + data)
        self.rest = rest[:LINE]  # of a line without an end
        for line in lines:
            self.feed(line[:LINE].decode("utf-8", "replace"))

    def finish(self) -> None:
        """Takes a last line that has no end."""
        self.feed(self.rest.decode("utf-8", "replace"))
        self.rest = b""


def new_figure() -> Any:
    """An empty figure that needs no window. Raises BoxpressoError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BoxpressoError("plots need matplotlib: pip install 'boxpresso[train]'") from error
    return Figure()


def draw(curves: Curves, title: str, figure: Any) -> None:
    """Draws curves to a figure of matplotlib, in place of what it shows: loss, test results, learning rate."""
    panels = 2 + bool(curves.scores)
    if len(figure.axes) != panels:  # a window keeps the size that it was given
        figure.set_size_inches(9, 2.6 * panels)
    figure.clear()
    figure.set_layout_engine("constrained")
    axes = figure.subplots(panels, 1, sharex=True)
    axes[0].plot(*columns(curves.loss), marked(curves.loss), label="training", color="#0072b2", linewidth=1.2)
    colours = cycle(("#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#000000"))
    for (name, points), colour in zip(first(curves.losses), colours):
        axes[0].plot(*columns(points), "o-", label=label(f"test {name}"), color=colour, markersize=4)
    if curves.losses:
        axes[0].legend()
    axes[0].set_ylabel("loss")
    if curves.scores:
        draw_scores(curves, axes[1])
    axes[-1].plot(*columns(curves.rate), marked(curves.rate), drawstyle="steps-post", color="#009e73")
    axes[-1].set_ylabel("learning rate")
    axes[-1].set_xlabel("iteration")
    axes[0].set_title(label(title))
    for panel in axes:
        panel.grid(alpha=0.3)


def draw_scores(curves: Curves, axes: Any) -> None:
    """The tests' outputs, and behind them the classes: the best and the worst of many by name, the others in grey."""
    order = sorted(first(curves.classes, 10 * MOST), key=lambda item: -item[1][-1][1])
    half = NAMED // 2
    named = order if len(order) <= NAMED else order[:half] + order[-half:]
    for name, points in first(curves.scores):
        axes.plot(*columns(points), "o-", color="#000000", label=label(name), markersize=4, linewidth=1.8, zorder=3)
    for i, (name, points) in enumerate(named):  # C0 to C9 are matplotlib's ten colours
        axes.plot(
            *columns(points), marked(points), color=f"C{i}", linewidth=1, label=f"{points[-1][1]:.3f} {label(name)}"
        )
    for i, (_, points) in enumerate(order[half:-half] if len(order) > NAMED else ()):
        others = f"{len(order) - len(named)} other classes"
        axes.plot(
            *columns(points), marked(points), color="#bbbbbb", linewidth=0.8, zorder=1, label=None if i else others
        )
    axes.set_ylabel("test")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, fontsize="small")


def marked(points: Points) -> str:
    """The line of a curve, with a dot where it has no second point to be drawn to."""
    return "o-" if len(points) == 1 else "-"


def first(curves: dict[str, Points], most: int = MOST) -> list[tuple[str, Points]]:
    """The first curves of a table."""
    return list(islice(curves.items(), most))


def label(text: str) -> str:
    """A name as matplotlib shows it: no formula, whatever it holds, and not hidden.

    >>> label("a$b"), label("_x")
    ('a\\\\$b', ' _x')
    """
    plain = "".join(sign if sign.isprintable() else "?" for sign in text[:60]).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def save(figure: Any, path: Path) -> Path:
    """Writes a figure as a picture, as a whole or not at all. Raises BoxpressoError where it cannot be written."""
    with files.replacing(path, "the picture ", path.suffix or ".png") as part:
        figure.savefig(part, dpi=110)
    return path


def follow(log: str, show: Callable[[Curves], None], wait: Callable[[], bool]) -> str:
    """Shows the curves of a log anew whenever it has grown, until it says that training is over.

    Parameters
    ----------
    log
        The path; a log that is not there yet is waited for.
    show
        Called with the curves.
    wait
        Waits some seconds; says whether to go on.

    Returns
    -------
    str
        The line that says that training is over; nothing where `wait` ended it.
    """
    tail = Tail(log)
    while True:
        if os.path.exists(log) and tail.read() and tail.curves:
            show(tail.curves)
        if tail.curves.end or not wait():
            return tail.curves.end


def window(title: str) -> tuple[Any, Callable[[float], bool]] | None:
    """A figure in a window and a function that keeps it alive for some seconds; None where matplotlib has no window.

    The function says whether the window is still open.
    """
    try:
        import matplotlib
        from matplotlib import pyplot

        backend = pyplot.get_backend().lower()
        headless = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}
        if backend in headless or backend.startswith("module://"):
            return None
        pyplot.ion()
        figure = pyplot.figure(num=title)
        number = figure.number
    except Exception:  # whatever a toolkit without a display raises
        matplotlib.use("agg", force=True)
        return None

    def alive(seconds: float) -> bool:
        figure.canvas.draw_idle()
        end = time.monotonic() + seconds
        while time.monotonic() < end and pyplot.fignum_exists(number):
            figure.canvas.start_event_loop(0.1)
        return bool(pyplot.fignum_exists(number))

    return figure, alive


def columns(points: Points) -> tuple[list[int], list[float]]:
    return [at for at, _ in points], [value if abs(value) < HIGHEST else math.nan for _, value in points]
