"""A training that a signal or an error ends at any line: what is saved is bit for bit what was there without it."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import boxpresso
from boxpresso import Solver
from boxpresso.cli.train import signals
from boxpresso.net.weights import read_weights
from boxpresso.proto import parse_net, parse_solver
from boxpresso.train.ranks import Terminated
from boxpresso.train.state import read_state

NET = """
    layer { name: "x" type: "DummyData" top: "x" top: "y"
            dummy_data_param { shape { dim: 4 dim: 3 } data_filler { type: "gaussian" std: 1 } } }
    layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }
    layer { name: "fc" type: "InnerProduct" bottom: "bn" top: "fc" inner_product_param { num_output: 3
            weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }"""
# All that an iteration can do is done at iteration 3. Two equal stepvalues take two askings for the rate.
SOLVER = """
    base_lr: 0.1 momentum: 0.9 weight_decay: 0.01 lr_policy: "multistep" gamma: 0.5 stepvalue: 3 stepvalue: 3 max_iter: 6
    iter_size: 2 clip_gradients: 0.5 display: 3 test_iter: 2 test_interval: 3 test_initialization: false snapshot: SNAPSHOT
    snapshot_prefix: "FOLDER/s" random_seed: 1 solver_mode: CPU"""
PACKAGE = Path(boxpresso.__file__).parent
TRACED = {
    str(PACKAGE / name)
    for name in (
        "train/solver.py", "train/safety.py", "train/snapshots.py", "train/state.py", "train/updates.py", "train/rates.py",
        "train/evaluation.py", "train/log.py", "net/net.py", "net/weights.py", "proto/weights.py", "layers/norm/batch_norm.py",
    )
}  # fmt: skip
AT = 3

AROUND_UPDATE = range(*(
    line for line, text in enumerate((PACKAGE / "train/solver.py").read_text().splitlines(), 1)
    if "self._prepared(display, " in text or "self.ranks.updated()" in text
))  # fmt: skip
# A file that is being opened when the signal comes is closed by its finalizer.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
THOROUGH = pytest.mark.parametrize(
    "step", [30, pytest.param(10, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.sweep)]
)


@pytest.fixture(autouse=True)
def finalizers() -> Iterator[None]:
    """Such a file is closed before this test ends, not in a later one, where its warning is an error."""
    yield
    gc.collect()


Place = tuple[str, int, int, int]  # file, line, iteration, and how often that line was run in that iteration before


def solver(folder: Path, snapshot: int = 3) -> Solver:
    folder.mkdir(exist_ok=True)
    param = parse_solver(SOLVER.replace("FOLDER", str(folder)).replace("SNAPSHOT", str(snapshot)))
    param.net_param.CopyFrom(parse_net(NET))
    return Solver(param, log=lambda line: None)


class Tracer:
    """Does something at a line of the training, or at two, and remembers the lines that it has seen."""

    def __init__(self, training: Solver, acts: dict[Place, object] | None = None) -> None:
        self.training, self.acts = training, acts or {}
        self.seen: list[Place] = []
        self.updating: list[bool] = []
        self.counts: Counter[tuple[str, int, int]] = Counter()

    def __call__(self, frame, event, argument):
        return self.line if frame.f_code.co_filename in TRACED else None

    def line(self, frame, event, argument):
        if event == "line":
            key = frame.f_code.co_filename, frame.f_lineno, self.training.iter
            place = (*key, self.counts[key])
            self.counts[key] += 1
            self.seen.append(place)
            act = self.acts.get(place)
            if isinstance(act, BaseException):
                self.updating.append(self.training.ranks.updating)
                raise act
            if act is not None:
                signal.raise_signal(act)
        return self.line


def run(training: Solver, acts: dict[Place, object] | None = None) -> tuple[Tracer, BaseException | None]:
    """Trains with signals handled as by the command. Returns what was seen, and what ended it."""
    tracer, before = Tracer(training, acts), sys.gettrace()
    with signals(training):
        sys.settrace(tracer)
        try:
            next(solving(training))
        except (Exception, Terminated) as error:
            return tracer, error
        finally:
            sys.settrace(before)
    return tracer, None


def solving(training: Solver) -> Iterator[None]:
    """A generator, as it has a stack of handled exceptions of its own: one that is raised at the last line of a handler leaves the
    handled one on the thread's, and each later error of this process would name it as what it was raised in."""
    yield training.solve()


def content(folder: Path, iteration: int) -> list[np.ndarray | float]:
    """All numbers of a snapshot: weights, statistics, history, and the place in the rates."""
    layers = read_weights(folder / f"s_iter_{iteration}.caffemodel")
    state = read_state(folder / f"s_iter_{iteration}.solverstate")
    assert state.iter == iteration
    weights = [np.array(blob) for name in sorted(layers) for blob in layers[name].blobs]
    return [*weights, *state.history, state.step]


def same(one, two) -> None:
    assert len(one) == len(two) > 7
    for a, b in zip(one, two):
        np.testing.assert_array_equal(a, b)


def saved(folder: Path) -> list[int]:
    """The iterations that have a snapshot, all of them whole, and nothing else in the folder but the lock's file."""
    names = {path.name for path in folder.iterdir()} - {"s_iter.lock"}
    iterations = sorted(
        int(name[1]) for name in (re.fullmatch(r"s_iter_(\d)\.solverstate", name) for name in names) if name
    )
    assert names == {f"s_iter_{i}.{kind}" for i in iterations for kind in ("caffemodel", "solverstate")}
    return iterations


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """What a training that nothing interrupts has at each iteration, and the lines of one round at which all is done."""
    folder = tmp_path_factory.mktemp("calm")
    tracer, error = run(solver(folder, snapshot=1))
    assert error is None
    contents = {i: content(folder, i) for i in range(1, 7)}
    tracer, error = run(solver(tmp_path_factory.mktemp("lines")))
    assert error is None
    # from the snapshot of iteration 3 over the test and the update to the next round, and what comes after the last round
    rounds = [place for place in tracer.seen if place[2] in (AT, 6)]
    first = [
        next(place for place in rounds if place[:3] == key) for key in dict.fromkeys(place[:3] for place in rounds)
    ]
    last = {place[:3]: place for place in rounds}
    places = sorted({*first, *last.values()}, key=rounds.index)
    files = {Path(place[0]).name for place in places}
    assert {"solver.py", "evaluation.py", "updates.py", "net.py", "batch_norm.py", "weights.py", "state.py"} <= files
    return contents, places, rounds


def some(places: list[Place], step: int, number: int) -> list[Place]:
    """Every so many places, beginning with another one for each test; of the lines around an update all."""
    near = [i for i, place in enumerate(places) if place[0].endswith("solver.py") and place[1] in AROUND_UPDATE]
    return [place for i, place in enumerate(places) if i % step == number % step or i in near]


def check(folder: Path, calm, training: Solver, new: bool = True) -> None:
    contents, *_ = calm
    iterations = saved(folder)
    for iteration in iterations:
        same(content(folder, iteration), contents[iteration])
    if new:
        assert iterations[-1:] == [training.iter]
    if iterations and iterations[-1] < 6:
        resumed = solver(folder)
        resumed.solve("auto")
        same(content(folder, 6), contents[6])


def test_a_snapshot_of_each_iteration_resumes_to_the_same_bits(calm, tmp_path):
    contents, *_ = calm
    for iteration in range(1, 6):
        folder = tmp_path / str(iteration)
        first = solver(folder, snapshot=0)
        first.step(iteration)
        first.snapshot()
        same(content(folder, iteration), contents[iteration])
        del first
        solver(folder, snapshot=0).solve("auto")
        same(content(folder, 6), contents[6])


@THOROUGH
def test_sigterm_at_any_line(step, calm, tmp_path):
    places = some(calm[1], step, 0)
    assert len(places) > 10
    ends = Counter()
    for number, place in enumerate(places):
        training = solver(tmp_path / str(number))
        _, error = run(training, {place: signal.SIGTERM})
        assert isinstance(error, Terminated), place
        assert error.code == 128 + signal.SIGTERM
        check(tmp_path / str(number), calm, training)
        ends[training.iter - place[2]] += 1
    assert ends[0] > ends[1] > 0  # a signal in an update waits for its end


@THOROUGH
def test_an_error_at_any_line(step, calm, tmp_path):
    places = some(calm[1], step, 1)
    ends = Counter()
    for number, place in enumerate(places):
        training, wanted = solver(tmp_path / str(number)), RuntimeError("a fault")
        tracer, error = run(training, {place: wanted})
        while error is not wanted and error is not None:  # a writer of files may have described it
            error = error.__cause__
        assert error is wanted, place
        (updating,) = tracer.updating
        check(tmp_path / str(number), calm, training, new=not updating)  # of half an update there is no snapshot
        assert sys.exc_info() == (None, None, None), (
            f"{place}: an error is left that later ones would name as their context"
        )
        ends[updating] += 1
    assert ends[False] > ends[True] > 0


@THOROUGH
def test_sigint_and_then_sigterm_at_any_lines(step, calm, tmp_path):
    _, places, rounds = calm
    draw = np.random.default_rng(0)
    for number, place in enumerate(some(places, step, 2)):
        at = rounds.index(place)
        later = rounds[min(len(rounds) - 1, at + int(draw.choice([1, 2, 5, 20, 100, 400])))]
        training = solver(tmp_path / str(number))
        run(training, {place: signal.SIGINT, later: signal.SIGTERM})
        check(tmp_path / str(number), calm, training)
        assert training.iter in (place[2], place[2] + 1)


def test_broken_data_of_a_test_net(calm, tmp_path):
    """The test comes after the update, and before the next forward pass: there is nothing to undo."""

    def feed(net):
        if net.phase == "TEST":
            raise RuntimeError("the data of the test net are broken")

    training = solver(tmp_path)
    training.feed = feed
    with pytest.raises(RuntimeError, match="are broken"):
        training.solve()
    assert training.iter == AT
    check(tmp_path, calm, training)


@pytest.mark.parametrize("where", ["on_start", "on_gradients"])
def test_an_error_of_a_callback(where, calm, tmp_path):
    def fail() -> None:
        if training.iter == 4:
            raise RuntimeError("a fault")

    training = solver(tmp_path)
    training.add_callback(**{where: fail})
    with pytest.raises(RuntimeError, match="a fault"):
        training.solve()
    check(tmp_path, calm, training)
    assert saved(tmp_path)[:2] == [3, 4]


def test_an_error_where_nan_is_allowed(calm, tmp_path):
    """The statistics are kept there too."""
    param = parse_solver(SOLVER.replace("FOLDER", str(tmp_path)).replace("SNAPSHOT", "0"))
    param.net_param.CopyFrom(parse_net(NET))

    training = Solver(param, log=lambda line: None, allow_nan=True)
    training.add_callback(on_gradients=lambda: os.strerror("wrong") if training.iter == 4 else None)
    with pytest.raises(TypeError):
        training.step(6)
    same(content(tmp_path, 4), calm[0][4])


def test_statistics_are_put_back_where_force_backward_asks_for_all_gradients(tmp_path):
    param = parse_solver(SOLVER.replace("FOLDER", str(tmp_path)).replace("SNAPSHOT", "0"))
    param.net_param.CopyFrom(parse_net("force_backward: true" + NET))
    training = Solver(param, log=lambda line: None)
    training.step(2)
    before = [np.array(blob.data) for blob in training.net.params["bn"]]
    training.add_callback(on_gradients=lambda: os.strerror("wrong"))
    with pytest.raises(TypeError):
        training.step(1)
    for blob, array in zip(training.net.params["bn"], before, strict=True):
        np.testing.assert_array_equal(blob.data, array)


def test_after_an_update_that_failed_there_is_no_snapshot_until_one_is_restored(calm, tmp_path, monkeypatch):
    training = solver(tmp_path)
    training.step(4)

    def fail(step) -> None:
        raise RuntimeError("half of the weights are updated")

    with monkeypatch.context() as patch:
        patch.setattr(training.parameters, "update", fail)
        with pytest.raises(RuntimeError, match="half of the weights"):
            training.step(1)
    with pytest.raises(boxpresso.ModelError, match="update of iteration 4 was interrupted"):
        training.snapshot()
    training.restore(tmp_path / "s_iter_3.solverstate")
    training.step(3)
    same(content(tmp_path, 6), calm[0][6])


def test_ctrl_c_in_a_script_leaves_the_last_complete_iteration(calm, tmp_path):
    training = solver(tmp_path)

    def interrupt() -> None:
        if training.iter == 4:
            raise KeyboardInterrupt

    training.add_callback(on_gradients=interrupt)
    with pytest.raises(KeyboardInterrupt):
        training.step(6)
    training.snapshot()
    same(content(tmp_path, 4), calm[0][4])
