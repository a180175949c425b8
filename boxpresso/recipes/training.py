"""`boxpresso train FOLDER`: the project of a folder of pictures, found or made, and a schedule for so many minutes."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..data.annotations import Files
from ..data.folders import PICTURES, listed_paths
from ..data.records import open_records
from ..device import open_device
from ..layers.core.lowering import bf16_available
from ..proto import files, read_solver
from ..proto.errors import BoxpressoError
from ..train import Solver
from . import schedule, texts
from .project import MARK, Made, Tell, Wish, create

KIND, BACKBONE = "ssd", "small"  # learns from nothing
SEED = 1  # of the split and of training
SHARE = 0.9  # of the minutes, for iterations and tests; the rest is for compiling, snapshots and the report
READ = (*PICTURES, ".xml", ".json", ".csv", ".txt", ".names", ".yaml", ".yml")  # what a folder's pictures are read from
WARM, TIMED = 3, 10  # iterations before the measured ones, and of these, at least
FEW = 3  # of these, where two ways are compared before anything else happens
MEASURED = 0.01  # of the minutes: how long both last, for the first rounds over the pictures cost more than others
LONGEST = 20  # seconds of it
SIDES = (128, 160, 192)  # of the input: the larger ones see more of a picture, and take longer to learn
ROUNDS = 500  # over the pictures to learn from, that minutes must hold for a larger input, and for mosaics
MOSAIC = 0.5  # of the pictures, where they come so often
WORTH = 0.95  # of an iteration's time in float32: what bfloat16 must take at most


@dataclass(frozen=True)
class Project:
    """A folder that `boxpresso new` wrote.

    data: the folder of its pictures, where that was given. made: what was written, if it was written now.
    """

    folder: Path
    data: Path | None = None
    made: Made | None = None

    @property
    def solver(self) -> Path:
        return self.folder / "solver.prototxt"

    @property
    def begun(self) -> bool:
        """Whether there is a snapshot to go on from."""
        return any((self.folder / "snapshots").glob("*.solverstate*"))

    def newer(self) -> int:
        """How many files of the pictures' folder, where that was given, were written after the project."""
        if self.data is None:
            return 0
        made = (self.folder / "labels.txt").stat().st_mtime
        home = self.folder.resolve()
        others = (path for path in Files(self.data).all if not path.resolve().is_relative_to(home))
        return sum(path.stat().st_mtime > made for path in others if path.suffix.lower() in READ and path.exists())


def is_project(folder: Path) -> bool:
    """Whether `boxpresso new` wrote a folder."""
    readme = folder / "README.md"
    return (folder / "solver.prototxt").is_file() and readme.is_file() and MARK in readme.read_text("utf-8", "replace")


def project_of(folder: Path, tell: Tell = lambda step, done, all: None) -> Project:
    """The project in a folder, or that of a folder of pictures: NAME_ssd_small in the working directory, made if need be.

    Raises BoxpressoError where the folder is neither, or something else has the project's name, also the project of
    another folder's pictures.
    """
    if is_project(folder):
        return Project(folder)
    if (folder / "solver.prototxt").is_file():
        raise BoxpressoError(f"{folder} has a solver.prototxt that `{MARK}` did not write: train it with --solver")
    out = Path(f"{folder.resolve().name}_ssd_{BACKBONE}")
    if is_project(out):
        if other := elsewhere(out, folder):
            raise BoxpressoError(
                f"{out} was made of other pictures than those of {folder}, such as {other}: go on with it by `boxpresso train "
                f"{out}`, or write a project of another name by `boxpresso new ssd --backbone {BACKBONE} --data "
                f"{folder} --out NAME`, and train that"
            )
        return Project(out, folder)
    return Project(out, folder, create(Wish(folder, out, BACKBONE, seed=SEED), tell))


def elsewhere(project: Path, folder: Path) -> str:
    """A picture of a project that lies in another folder; "" where one lies in this, or none is there any more."""
    home, other = folder.resolve(), ""
    for name in ("train.txt", "test.txt"):
        for listed in listed_paths(project / name) if (project / name).is_file() else ():
            path = Path(listed)
            if path.is_file():
                if path.resolve().is_relative_to(home):
                    return ""
                other = str(path)
    return other


Clock = Callable[[], float]  # seconds
ENDLESS = 1 << 30  # iterations


def sized(
    project: Project, minutes: float, device: str | None = None, clock: Clock = time.perf_counter,
    tell: Tell = lambda step, done, all: None, precision: str | None = None,
) -> Project:  # fmt: skip
    """A project that was made now, made again with mosaics and the largest input of SIDES, of those with which the minutes hold
    ROUNDS rounds over the pictures; as it is where none is such. Seconds of an iteration are measured, and counted as the
    number of the input's pixels.
    """
    if project.made is None or project.made.wish.size is not None:
        return project
    wish, pictures = project.made.wish, project.made.pictures["train"]
    assert project.made.plan is not None
    batch = project.made.plan.batch * project.made.plan.iter_size
    seconds = 60 * minutes * SHARE / measured(project.solver, device, clock, measuring_time(minutes), precision)[0]
    rounds = {side: seconds * (project.made.size / side) ** 2 * batch / pictures for side in SIDES}
    fitting = [side for side in SIDES if rounds[side] >= ROUNDS]
    if not fitting:
        return project
    augmentation = {**wish.augmentation, "mosaic": MOSAIC}
    return replace(project, made=create(replace(wish, size=max(fitting), augmentation=augmentation, force=True), tell))


def fit(
    project: Project, minutes: float, device: str | None = None, clock: Clock = time.perf_counter,
    precision: str | None = None,
) -> schedule.Schedule:  # fmt: skip
    """Measures some iterations and a test, and gives a project's solver prototxt as many iterations as the minutes hold.

    clock: whose minutes; `time.process_time` counts those of the processor.

    Raises BoxpressoError where they do not hold a hundredth of the iterations of the project's own schedule, and for a project
    that has another schedule than `project_of` gives.
    """
    usual, pictures = usual_plan(project)
    if usual is None:
        raise BoxpressoError(f"{project.solver} has its own schedule")
    round_time, test_time = measured(project.solver, device, clock, measuring_time(minutes), precision)
    plan = usual
    for _ in range(3):  # the number of tests follows from that of iterations
        tests = -(-plan.iterations // plan.test_interval)
        left = 60 * minutes * SHARE - tests * test_time
        count = int(left / round_time) // 10 * 10
        if count < max(10, usual.iterations // 100):
            need = math.ceil((usual.iterations / 10 * round_time + tests * test_time) / SHARE / 60)
            raise BoxpressoError(
                f"{minutes:g} minutes hold {max(count, 0)} iterations of {round_time:.2f} s beside {tests} tests of "
                f"{test_time:.1f} s; --minutes {need} would hold a tenth of the usual {usual.iterations}"
            )
        plan = schedule.plan(KIND, BACKBONE, *pictures, pretrained=False, batch=plan.batch, iterations=count)
    text = texts.solver_text(project.folder.as_posix(), BACKBONE, plan, pictures, SEED, False)
    with files.replacing(project.solver) as part:
        part.write_text(text, encoding="utf-8")
    return plan


def usual_plan(project: Project) -> tuple[schedule.Schedule | None, tuple[int, int]]:
    """The schedule that `project_of` gives a project, None where the project's is another; and its numbers of pictures."""
    train, test = (len(open_records(str(project.folder / f"{kind}_lmdb"))) for kind in ("train", "test"))
    plan = schedule.plan(KIND, BACKBONE, train, test, pretrained=False)
    text = texts.solver_text(project.folder.as_posix(), BACKBONE, plan, (train, test), SEED, False)
    same = project.solver.read_text("utf-8", "replace") == text
    return plan if same else None, (train, test)


def measuring_time(minutes: float) -> float:
    """Seconds for which iterations are measured, of a training of so many minutes.

    >>> measuring_time(10), measuring_time(60)
    (6.0, 20)
    """
    return min(60 * minutes * MEASURED, LONGEST)


def faster(path: Path, device: str | None = None, clock: Clock = time.perf_counter) -> tuple[str | None, float]:
    """The precision in which the net of a solver learns faster here, "bf16" or None for float32, and what an iteration in bf16
    takes of one in float32; not measured, and 1, where the device does not multiply bfloat16."""
    opened = open_device(device)
    if opened.kind != "cpu" or not bf16_available(opened):
        return None, 1.0
    plain, rounded = (measured(path, device, clock, 0, precision, tests=False)[0] for precision in (None, "bf16"))
    return ("bf16" if rounded <= WORTH * plain else None), rounded / plain


def measured(
    path: Path, device: str | None, clock: Clock = time.perf_counter, least: float = 0, precision: str | None = None,
    tests: bool = True,
) -> tuple[float, float]:  # fmt: skip
    """Seconds of an iteration and of a whole test, of a solver whose weights are then forgotten.

    least: seconds for which it trains before the iterations that are measured, and for which these last. tests: without, fewer
    iterations are measured, and 0 stands for the test.
    """
    param = read_solver(path)
    param.display = 0
    with tempfile.TemporaryDirectory() as folder:
        param.snapshot_prefix = f"{folder}/measured"
        param.max_iter, param.test_interval = ENDLESS, ENDLESS + 1
        solver = Solver(param, device=device, precision=precision, log=lambda line: None)

        def train(iterations: int) -> float:
            start, count = clock(), 0
            while count < iterations or clock() - start < least:
                solver.step(1)
                count += 1
            return (clock() - start) / count

        train(WARM)
        iteration, start = train(TIMED if tests else FEW), clock()
        if tests:
            solver.test()
        return iteration, (clock() - start if tests else 0.0)
