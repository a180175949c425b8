"""The numbers of a training log, Boxpresso's or Caffe's, and their curves as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from ..proto.errors import BoxpressoError

NUMBER = r"(-?(?:[\d.]+(?:e[+-]?\d+)?|nan|inf))"
LOSS = re.compile(rf"Iteration (\d+)\b.*, loss = {NUMBER}", re.I)
RATE = re.compile(rf"Iteration (\d+), lr = {NUMBER}", re.I)
TESTING = re.compile(r"Iteration (\d+), Testing net \(#(\d+)\)")
CLASS = re.compile(rf"(?:^|\] )(class\d+): {NUMBER}\s*$", re.I)  # of a test with show_per_class_result
OUTPUT = re.compile(rf"Test net output #\d+: (\S+) = {NUMBER}", re.I)
Points = list[tuple[int, float]]


@dataclass
class Curves:
    """Points (iteration, value), in the order of the log; the tests' by net and output, or class."""

    loss: Points = field(default_factory=list)
    rate: Points = field(default_factory=list)
    tests: dict[str, Points] = field(default_factory=dict)
    classes: dict[str, Points] = field(default_factory=dict)


def read_curves(lines: Iterable[str]) -> Curves:
    """Collects losses, learning rates and test outputs from the lines of a log.

    >>> read_curves(["I1122 03:28:20.1 7 solver.py:1] Iteration 100 (9 iter/s), loss = 0.5"]).loss
    [(100, 0.5)]
    """
    curves, testing = Curves(), None
    for line in lines:
        if match := LOSS.search(line):
            curves.loss.append((int(match[1]), float(match[2])))
        elif match := RATE.search(line):
            curves.rate.append((int(match[1]), float(match[2])))
        elif match := TESTING.search(line):
            testing = int(match[1]), int(match[2])
        elif testing and (match := OUTPUT.search(line) or CLASS.search(line)):
            name = match[1] if testing[1] == 0 else f"{match[1]} (net {testing[1]})"
            table = curves.tests if match.re is OUTPUT else curves.classes
            table.setdefault(name, []).append((testing[0], float(match[2])))
    return curves


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
    try:
        curves = read_curves(Path(log).read_text(errors="replace").splitlines())
    except OSError as error:
        raise BoxpressoError(f"cannot read the log {log}: {error.strerror}") from error
    if not (curves.loss or curves.rate or curves.tests):
        raise BoxpressoError(f"{log} has no line of a training log, such as 'Iteration 100, loss = 0.5'")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BoxpressoError("plots need matplotlib: pip install 'boxpresso[train]'") from error
    losses = {name: points for name, points in curves.tests.items() if "loss" in name}
    scores = {name: points for name, points in curves.tests.items() if name not in losses}
    panels = 2 + bool(scores)
    figure = Figure(figsize=(9, 2.6 * panels), layout="constrained")
    axes = figure.subplots(panels, 1, sharex=True)
    axes[0].plot(*columns(curves.loss), label="training", color="#0072b2", linewidth=1.2)
    for (name, points), colour in zip(losses.items(), cycle(("#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#000000"))):
        axes[0].plot(*columns(points), "o-", label=f"test {name}", color=colour, markersize=4)
    if losses:
        axes[0].legend()
    axes[0].set_ylabel("loss")
    for i, points in enumerate(curves.classes.values() if scores else ()):
        axes[1].plot(*columns(points), color="#bbbbbb", linewidth=0.8, label=None if i else "each class")
    for name, points in scores.items():
        axes[1].plot(*columns(points), "o-", label=name, markersize=4)
        axes[1].set_ylabel("test")
        axes[1].legend()
    axes[-1].plot(*columns(curves.rate), drawstyle="steps-post", color="#009e73")
    axes[-1].set_ylabel("learning rate")
    axes[-1].set_xlabel("iteration")
    axes[0].set_title(Path(log).name)
    for panel in axes:
        panel.grid(alpha=0.3)
    path = Path(out)
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as error:
        raise BoxpressoError(f"cannot write the picture {path}: {error}") from error
    return path


def columns(points: Points) -> tuple[list[int], list[float]]:
    return [at for at, _ in points], [value for _, value in points]
