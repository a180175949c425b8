"""The weights of the best test of a training, kept beside its snapshots, and when no better one is expected."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..net.net import Net
from ..proto import SolverParameter, files
from ..proto.errors import BoxpressoError, ModelError
from .log import Log

Values = Mapping[str, "np.ndarray[Any, Any]"]


@dataclass(frozen=True)
class Score:
    """What a test gave. name: of the output. larger: whether a larger value is better. iteration: how many were done."""

    name: str
    value: float
    larger: bool
    iteration: int

    def better_than(self, other: Score | None) -> bool:
        """Whether it is; a value that is no number never is, and any is better than nothing or another output's."""
        if not np.isfinite(self.value):
            return False
        if other is None or (self.name, self.larger) != (other.name, other.larger):
            return True
        return self.value > other.value if self.larger else self.value < other.value

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.6g} at iteration {self.iteration}"


def score_of(
    net: Net, values: Values, param: SolverParameter, iteration: int, precision: float = math.nan
) -> Score | None:
    """The score of a test net: of detections `precision`, their mean average precision over COCO's overlaps, where it is known.

    Else by the means of its outputs: the mean average precision of detections; the first output of one number that is no
    loss, such as an accuracy; or the losses together, of which less is better. None without outputs.
    """
    if not math.isnan(precision):
        return Score("AP@.5:.95", precision, True, iteration)
    weights = net.blob_loss_weights
    single = {name: float(value.ravel()[0]) for name, value in values.items() if value.size == 1}
    scores = [name for name in single if not weights[name]]
    if scores:
        name = "mAP" if param.eval_type == "detection" else scores[0]
        return Score(name, single[scores[0]], True, iteration)
    if not single:
        return None
    total = 0.0  # Python's sum() of floats rounds otherwise from 3.12 on
    for name, value in single.items():
        total += weights[name] * value
    return Score("loss", total, False, iteration)


class Best:
    """Keeps the weights of the best test as SNAPSHOT_PREFIX_best.caffemodel, or .caffemodel.h5.

    What it was lies beside it as SNAPSHOT_PREFIX_best.json, so that a training that is resumed knows it.

    Parameters
    ----------
    param
        The solver's; its first test net counts.
    log
        Gets a line for each better test.
    patience
        After how many tests without a better one `see` says that it is enough; None: never.

    Attributes
    ----------
    best, last
        The Scores of the best test and of the last one, or None.

    Raises
    ------
    ModelError
        Without snapshot_prefix, or where a patience has no tests to count.
    """

    def __init__(self, param: SolverParameter, log: Log, patience: int | None = None) -> None:
        if not param.HasField("snapshot_prefix"):
            raise ModelError("solver: to keep the best weights takes snapshot_prefix, the start of their name")
        if patience is not None and not param.test_interval:
            raise ModelError("solver: patience counts tests, and test_interval asks for none")
        self.param, self.log, self.patience = param, log, patience
        suffix = ".caffemodel.h5" if param.snapshot_format == SolverParameter.HDF5 else ".caffemodel"
        self.path, self.note = (Path(f"{param.snapshot_prefix}_best{end}") for end in (suffix, ".json"))
        self.best: Score | None = None
        self.last: Score | None = None
        self.worse = 0  # tests since the best one

    def resume(self, iteration: int) -> None:
        """Takes up what an earlier part of the training, of so many iterations, has kept: the best test, and how many came
        after it."""
        self.best, self.worse = None, 0
        with suppress(OSError, ValueError, TypeError, KeyError):
            if self.path.exists():
                noted = json.loads(self.note.read_text(encoding="utf-8"))
                best = Score(str(noted["name"]), float(noted["value"]), bool(noted["larger"]), int(noted["iteration"]))
                self.best = best if best.iteration <= iteration else None
        if self.best and self.param.test_interval:
            between = (iteration - 1) // self.param.test_interval - self.best.iteration // self.param.test_interval
            self.worse = max(0, between)  # the test of this iteration comes again

    def see(self, net: Net, tested: Net, values: Values, iteration: int, precision: float = math.nan) -> bool:
        """Keeps the weights of `net` where a test's score, of `score_of`, is better than any before; returns `enough`."""
        self.last = score_of(tested, values, self.param, iteration, precision)
        if self.last is None:
            return False
        if self.last.better_than(self.best):
            try:
                net.save(self.path)
                files.write_text(self.note, json.dumps(asdict(self.last)) + "\n")
            except BoxpressoError as error:  # a full disk: the training goes on
                self.log(f"The weights of the best test cannot be kept: {error}")
                return False
            self.best, self.worse = self.last, 0
            self.log(f"Best test so far, {self.best}: {self.path}")
            return False
        if self.best is None or iteration > self.best.iteration:  # else the best test again, after a resume
            self.worse += 1
        return self.enough

    @property
    def enough(self) -> bool:
        """Whether there were as many tests without a better one as the patience allows."""
        return self.patience is not None and self.worse >= self.patience

    def summary(self) -> str:
        """What was best and what was last, in a line; nothing where no test gave a score."""
        if self.best is None:
            return ""
        last = "" if self.last in (None, self.best) else f"; the last test: {self.last}"
        return f"Best test: {self.best} ({self.path}){last}"
