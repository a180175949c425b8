"""The numbers of a training as rows, one for each display and each test: a CSV file, and TensorBoard's files."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..proto import files
from ..proto.errors import BoxpressoError

FIRST = ("iteration", "seconds", "lr", "loss")  # columns; those of tests follow


class Sink(Protocol):
    """Where rows go."""

    def write(self, iteration: int, numbers: dict[str, float]) -> None:
        """Takes a row."""

    def close(self) -> None:
        """There are no more rows."""


class Rows:
    """Gathers the numbers of a log, iteration by iteration, and gives each iteration's to all sinks.

    A sink that cannot write any more is left out with a warning on standard error; the training goes on.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self.sinks = list(sinks)
        self.iteration, self.numbers = -1, dict[str, float]()

    def add(self, name: str, iteration: int, value: float) -> None:
        """Takes a number; the row of an iteration is complete with its learning rate, or when another iteration begins."""
        if iteration != self.iteration:
            self.flush()
            self.iteration = iteration
        self.numbers[name] = value
        if name == "lr":
            self.flush()

    def flush(self) -> None:
        """Gives away what there is of a row."""
        if self.numbers:
            self.each(lambda sink: sink.write(self.iteration, self.numbers))
            self.numbers = {}

    def close(self) -> None:
        """There are no more numbers."""
        self.flush()
        self.each(lambda sink: sink.close())

    def each(self, work: Callable[[Sink], None]) -> None:
        for sink in list(self.sinks):
            try:
                work(sink)
            except OSError as error:  # a full disk ends the file, not the training
                self.sinks.remove(sink)
                print(f"boxpresso: warning: {sink} ends here: {error.strerror or error}", file=sys.stderr)


class CsvFile:
    """A CSV file with a column for each number, empty where a row has none.

    Parameters
    ----------
    path
        The file.
    again
        Whether the rows of a file that is there are kept. Those of iterations that are done once more are left out when the
        first of these is, and seconds are counted on from those before.

    Raises
    ------
    BoxpressoError
        Where the file cannot be read or written, or is another kind of file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = CsvFile(Path(folder, "train.csv"), clock=lambda: 0.0)
    ...     file.write(50, {"loss": 2.5, "lr": 0.1})
    ...     file.write(50, {"test mAP": 0.25})
    ...     print(Path(folder, "train.csv").read_text(), end="")
    iteration,seconds,lr,loss,test mAP
    50,0.0,0.1,2.5,0.25
    """

    def __init__(self, path: Path, again: bool = False, clock: Callable[[], float] = time.perf_counter) -> None:
        self.path, self.clock = path, clock
        self.columns, self.rows = list(FIRST), list[dict[str, str]]()
        if again and path.exists():
            self.read()
        self.start = clock() - self.before()
        self.first = True  # the row before the first one here is of a training before
        try:
            self.write_all()
        except OSError as error:
            raise BoxpressoError(f"cannot write {path}: {error.strerror or error}") from error

    def __str__(self) -> str:
        return str(self.path)

    def before(self) -> float:
        """The seconds of the last row."""
        return float(self.rows[-1]["seconds"]) if self.rows else 0.0

    def read(self) -> None:
        """Takes the columns and rows that are there."""
        try:
            with self.path.open(encoding="utf-8", newline="") as file:
                reader = csv.DictReader(file)
                rows = [row for row in reader if None not in row and None not in row.values()]  # not one half written
                columns = list(reader.fieldnames or FIRST)
                if columns[: len(FIRST)] != list(FIRST):
                    raise ValueError(f"its columns are {', '.join(columns[:4])}, not {', '.join(FIRST)}")
                for row in rows:
                    int(row["iteration"]), float(row["seconds"])
        except (OSError, ValueError, csv.Error) as error:
            raise BoxpressoError(f"cannot continue {self.path}: {getattr(error, 'strerror', None) or error}") from error
        self.columns, self.rows = columns, rows

    def write(self, iteration: int, numbers: dict[str, float]) -> None:
        rows, columns = len(self.rows), len(self.columns)
        if self.first:
            spent = self.clock() - self.start - self.before()
            self.rows = [row for row in self.rows if int(row["iteration"]) < iteration]
            self.start, self.first = self.clock() - spent - self.before(), False
        self.columns += [name for name in numbers if name not in self.columns]
        cells = {name: repr(float(value)) for name, value in numbers.items()}
        if self.rows and int(self.rows[-1]["iteration"]) == iteration:  # a test at a display
            self.rows[-1] |= cells
            self.write_all()
            return
        self.rows.append({"iteration": str(iteration), "seconds": repr(round(self.clock() - self.start, 3)), **cells})
        if (len(self.rows), len(self.columns)) != (rows + 1, columns):
            self.write_all()
            return
        with self.path.open("a", encoding="utf-8", newline="") as file:
            self.writer(file).writerow(self.rows[-1])

    def writer(self, file: Any) -> csv.DictWriter[str]:
        return csv.DictWriter(file, self.columns, restval="", lineterminator="\n")

    def write_all(self) -> None:
        """Writes the file anew, whole or not at all."""
        with files.replacing(self.path) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = self.writer(file)
            writer.writeheader()
            writer.writerows(self.rows)

    def close(self) -> None:
        """The file is whole after each row."""


class TensorBoard:
    """Scalars for TensorBoard, by the package tensorboardX: `train/loss`, `train/lr`, and `test/` with each test's.

    Raises BoxpressoError where the package is missing or the folder cannot be written.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise BoxpressoError(
                "--tensorboard needs the package tensorboardX: pip install 'boxpresso[tensorboard]'"
            ) from error
        try:
            self.file = SummaryWriter(folder)
        except OSError as error:
            raise BoxpressoError(f"cannot write {folder}: {error.strerror or error}") from error

    def __str__(self) -> str:
        return self.folder

    def write(self, iteration: int, numbers: dict[str, float]) -> None:
        for name, value in numbers.items():
            tag = name.replace(" ", "/", 1) if name.startswith("test ") else f"train/{name}"
            self.file.add_scalar(tag, value, iteration)
        self.file.flush()

    def close(self) -> None:
        self.file.close()


def beside(log: str) -> Path:
    """The CSV file of a log.

    >>> print(beside("mine/train.log"))
    mine/train.csv
    """
    path = Path(log)
    return path.with_name(f"{path.name}.csv") if path.suffix == ".csv" else path.with_suffix(".csv")
