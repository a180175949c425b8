"""A training loses no work: to a signal, an error, a killed worker, a loss of nan or a folder that is missing."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from boxpresso import Solver
from boxpresso.cli.main import main
from boxpresso.layers.core import Layer
from boxpresso.net.weights import read_weights
from boxpresso.proto import BoxpressoError, ModelError, parse_net, parse_solver
from boxpresso.proto.files import machine
from boxpresso.train.safety import DivergedError
from boxpresso.train.state import read_state

pytestmark = pytest.mark.later

NET = """
    layer { name: "x" type: "DummyData" top: "x" top: "y"
            dummy_data_param { shape { dim: 8 dim: 3 } data_filler { type: "gaussian" std: 1 } } }
    layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }
    layer { name: "fc" type: "InnerProduct" bottom: "bn" top: "fc" inner_product_param { num_output: 3
            weight_filler { type: "xavier" } } }
    layer { name: "hook" type: "HookForTests" bottom: "fc" top: "hook" }
    layer { name: "loss" type: "EuclideanLoss" bottom: "hook" bottom: "y" top: "loss" }"""


class Hook(Layer, type="HookForTests", bottoms=1, tops=1):
    """Passes its bottom on, and does at a forward, or a backward, what a test wants."""

    forwards = backwards = 0
    at_forward: dict[int, object] = {}
    at_backward: dict[int, float] = {}

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data
        effect = Hook.at_forward.get(Hook.forwards)
        Hook.forwards += 1
        if isinstance(effect, BaseException):
            raise effect
        if effect is not None:
            top[0].data[...] = effect

    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = top[0].diff
        bottom[0].diff[...] *= Hook.at_backward.get(Hook.backwards, 1)
        Hook.backwards += 1


@pytest.fixture(autouse=True)
def hooks():
    Hook.forwards = Hook.backwards = 0
    Hook.at_forward, Hook.at_backward = {}, {}


def solver(tmp_path: Path, more: str = "", prefix: str | None = "s", **options: object) -> Solver:
    text = f'base_lr: 0.01 lr_policy: "fixed" max_iter: 20 random_seed: 1 solver_mode: CPU {more}'
    if prefix is not None:
        text += f' snapshot_prefix: "{(tmp_path / prefix).as_posix()}"'
    param = parse_solver(text)
    param.net_param.CopyFrom(parse_net(NET))
    lines: list[str] = []
    made = Solver(param, log=lines.append, **options)
    made.lines = lines
    return made


def snapshots(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.iterdir())


def weights(path: Path) -> dict[str, list[np.ndarray]]:
    return {name: [np.array(blob) for blob in layer.blobs] for name, layer in read_weights(path).items()}


def learned(tmp_path: Path, iterations: int) -> dict[str, list[np.ndarray]]:
    """The weights after so many iterations without any accident."""
    Hook.at_forward, Hook.at_backward = {}, {}
    calm = solver(tmp_path)
    calm.step(iterations)
    calm.net.save(tmp_path / "calm.caffemodel")
    return weights(tmp_path / "calm.caffemodel")


def check_saved(tmp_path: Path, iteration: int) -> None:
    """The snapshot of an iteration is bit for bit what a training without an accident had then."""
    state = read_state(tmp_path / f"s_iter_{iteration}.solverstate")
    assert state.iter == iteration
    saved = weights(tmp_path / f"s_iter_{iteration}.caffemodel")
    for name, blobs in learned(tmp_path, iteration).items():
        for got, wanted in zip(saved[name], blobs, strict=True):
            assert np.isfinite(got).all()
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("where", ["loss", "gradient", "infinite gradient"])
def test_training_stops_at_nan_with_the_last_finite_state(where, tmp_path):
    """BatchNorm's statistics, which the forward pass with NaN has changed, are those of before it too."""
    if where == "loss":
        Hook.at_forward = {7: np.nan}
    else:
        Hook.at_backward = {7: np.nan if where == "gradient" else np.inf}
    running = solver(tmp_path)
    with pytest.raises(DivergedError, match=r"(loss = nan|the gradient is not finite) at iteration 7: training stops"):
        running.solve()
    assert snapshots(tmp_path) == ["s_iter_7.caffemodel", "s_iter_7.solverstate"]
    assert "s_iter_7.solverstate resumes after iteration 7" in running.lines[-1]
    check_saved(tmp_path, 7)


def test_allow_nan_goes_on(tmp_path):
    Hook.at_forward = {7: np.nan}
    running = solver(tmp_path, allow_nan=True)
    running.solve()
    assert running.iter == 20
    assert np.isnan(running.net.params["fc"][0].data).any()


def test_an_infinite_loss_that_has_a_gradient_goes_on(tmp_path):
    Hook.at_forward, Hook.at_backward = {7: 3e30}, {7: 0}
    running = solver(tmp_path)
    running.solve()
    assert running.iter == 20


@pytest.mark.parametrize("error", [RuntimeError("a fault"), BoxpressoError("worker process 7 was ended by SIGKILL")])
def test_an_error_ends_training_with_a_snapshot(error, tmp_path):
    Hook.at_forward = {9: error}
    running = solver(tmp_path)
    with pytest.raises(type(error), match=str(error)):
        running.solve()
    assert snapshots(tmp_path) == ["s_iter_9.caffemodel", "s_iter_9.solverstate"]
    check_saved(tmp_path, 9)


def test_a_failing_snapshot_does_not_hide_the_error(tmp_path, monkeypatch):
    Hook.at_forward = {9: RuntimeError("the first fault")}
    running = solver(tmp_path)
    monkeypatch.setattr(running, "snapshot", lambda: (_ for _ in ()).throw(ModelError("the disk is full")))
    with pytest.raises(RuntimeError, match="the first fault"):
        running.solve()
    assert "no snapshot could be written (the disk is full)" in running.lines[-1]


def test_no_snapshot_where_there_is_no_name_or_nothing_was_learned(tmp_path):
    Hook.at_forward = {9: RuntimeError("a fault")}
    running = solver(tmp_path, prefix=None)
    with pytest.raises(RuntimeError):
        running.step(20)
    assert "the solver has no snapshot_prefix" in running.lines[-1]
    Hook.forwards, Hook.at_forward = 0, {0: RuntimeError("a fault")}
    running = solver(tmp_path)
    with pytest.raises(RuntimeError):
        running.step(20)
    assert not snapshots(tmp_path)


@pytest.mark.parametrize(("more", "start"), [("snapshot: 5", "step"), ("snapshot: 5", "solve"), ("", "solve")])
def test_a_missing_folder_is_said_at_the_start(more, start, tmp_path):
    running = solver(tmp_path, more, prefix="missing/s")
    with pytest.raises(
        ModelError, match=r"snapshot_prefix .* asks for the folder .*missing', which is missing; make it"
    ):
        running.step(5) if start == "step" else running.solve()
    assert (running.iter, Hook.forwards) == (0, 0)
    running = solver(tmp_path, more, prefix="missing/s")
    running.step(4)  # needs none


def test_a_folder_that_cannot_be_written_is_said_at_the_start(tmp_path, monkeypatch):
    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(ModelError, match=r"no snapshot can be written to .*: Permission denied"):
        solver(tmp_path).solve()
    with pytest.raises(ModelError, match="needs snapshot_prefix"):
        solver(tmp_path, "snapshot: 5", prefix=None).step(5)


def test_half_written_snapshots_of_killed_trainings_are_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"s_iter_3.caffemodel.{machine()}-{ended.pid}.00.part"
    other = tmp_path / f"t_iter_3.caffemodel.{machine()}-{ended.pid}.00.part"
    running = tmp_path / f"s_iter_4.caffemodel.{machine()}-{os.getppid()}.00.part"
    for path in (left, other, running):
        path.write_bytes(b"half")
    solver(tmp_path).solve()
    assert not left.exists()
    assert other.exists()
    assert running.exists()


# Resuming


def test_auto_resumes_from_the_newest_whole_snapshot(tmp_path):
    first = solver(tmp_path, "snapshot: 5")
    first.step(15)
    whole = learned(tmp_path, 20)
    (tmp_path / "s_iter_15.solverstate").write_bytes(b"damaged")
    (tmp_path / "s_iter_10.caffemodel").write_bytes((tmp_path / "s_iter_10.caffemodel").read_bytes()[:50])
    (tmp_path / "s_iter_99.solverstate.part").write_bytes(b"")
    (tmp_path / "s_iter_x.solverstate").write_bytes(b"")
    second = solver(tmp_path)
    second.solve("auto")
    said = [line for line in second.lines if line.startswith(("Not resumed", "Resuming"))]
    assert [line.partition(":")[0].rpartition("/")[2] for line in said] == [
        "s_iter_15.solverstate", "s_iter_10.solverstate", "s_iter_5.solverstate",
    ]  # fmt: skip
    assert second.iter == 20
    second.net.save(tmp_path / "end.caffemodel")
    for name, blobs in weights(tmp_path / "end.caffemodel").items():
        for got, wanted in zip(blobs, whole[name], strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def test_auto_without_a_snapshot_starts_anew(tmp_path):
    running = solver(tmp_path)
    running.solve("auto")
    assert running.iter == 20
    assert any("training starts anew" in line for line in running.lines)
    with pytest.raises(ModelError, match="takes snapshot_prefix"):
        solver(tmp_path, prefix=None).solve("auto")


# Two trainings under one name

HOLDER = """if True:
    import os, sys, time
    from boxpresso.proto import parse_solver
    from boxpresso.train.claims import Claim
    claim = Claim(parse_solver(f'snapshot_prefix: "{sys.argv[1]}"'))
    claim.take(print)
    child = os.fork() if "fork" in sys.argv else 1  # a data worker, which may outlive the training
    if child:
        print(child, flush=True)
    time.sleep(600)"""


@pytest.fixture
def holder(tmp_path):
    """Starts a process that trains under a prefix; gives it and the number that it says."""
    pytest.importorskip("fcntl", reason="locks are those of a Unix system")
    running, children = [], []

    def start(prefix: str, *more: str) -> tuple[subprocess.Popen[str], int]:
        command = [sys.executable, "-c", HOLDER, str(tmp_path / prefix), *more]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        said = int(process.stdout.readline())
        children.extend([said] if more else [])
        return process, said

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()
    for child in children:
        os.kill(child, signal.SIGKILL)


def test_a_second_training_under_one_name_is_told(holder, tmp_path):
    first, _ = holder("s")
    words = rf"snapshot_prefix '.*s' is in use by process {first.pid} on .*; end the other one, or give this one"
    for begin in (lambda s: s.solve(), lambda s: s.step(5)):
        running = solver(tmp_path, "snapshot: 5")
        with pytest.raises(ModelError, match=words):
            begin(running)
        assert (running.iter, Hook.forwards) == (0, 0)
    running = solver(tmp_path)
    running.step(3)  # needs no snapshot
    with pytest.raises(ModelError, match=words):
        running.snapshot()
    solver(tmp_path, prefix="t").solve()
    assert snapshots(tmp_path) == ["s_iter.lock", "t_iter_20.caffemodel", "t_iter_20.solverstate"]


def test_a_training_that_was_killed_leaves_its_name_free(holder, tmp_path):
    first, child = holder("s", "fork")
    with pytest.raises(ModelError, match=f"in use by process {first.pid} on"):
        solver(tmp_path).solve()
    first.kill()
    first.wait()
    os.kill(child, 0)  # its worker still runs
    assert snapshots(tmp_path) == ["s_iter.lock"]
    solver(tmp_path).solve()
    assert snapshots(tmp_path) == ["s_iter_20.caffemodel", "s_iter_20.solverstate"]


def test_solvers_of_one_process_share_a_name(holder, tmp_path):
    """One after the other, or one that trains on while another tries a snapshot; the last to end frees the name."""
    one, two = solver(tmp_path, "snapshot: 5"), solver(tmp_path, "snapshot: 5")
    one.step(5)
    two.solve()
    ask = [sys.executable, "-c", HOLDER.replace("time.sleep(600)", ""), str(tmp_path / "s")]
    refused = subprocess.run(ask, capture_output=True, text=True)
    assert f"is in use by process {os.getpid()} on" in refused.stderr
    assert "s_iter.lock" in snapshots(tmp_path)
    del one
    gc.collect()
    assert "s_iter.lock" not in snapshots(tmp_path)
    subprocess.run(ask, check=True, capture_output=True)


def test_where_nothing_can_be_locked_the_log_says_so(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="locks are those of a Unix system")

    def no_locks(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    running = solver(tmp_path)
    running.solve()
    assert any("s_iter.lock cannot be locked (No locks available)" in line for line in running.lines)


# The command

FILES = {
    "net.prototxt": NET.replace('layer { name: "hook" type: "HookForTests" bottom: "fc" top: "hook" }', "").replace(
        '"hook"', '"fc"'
    ),
    "solver.prototxt": 'net: "net.prototxt" base_lr: 0.001 lr_policy: "fixed" max_iter: 100000000 display: 1 '
    'random_seed: 1 solver_mode: CPU snapshot_prefix: "FOLDER/s"',
}


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace("FOLDER", str(tmp_path)))
    return tmp_path


def start(files: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    """A training that has done an iteration, and as its `said` the lines until then."""
    process = subprocess.Popen(
        [sys.executable, "-m", "boxpresso", "train", "--solver", str(files / "solver.prototxt"), *options],
        env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.said = ""
    for line in process.stderr:
        process.said += line
        if "Iteration 3" in line:
            break
    return process


@pytest.mark.skipif(os.name != "posix", reason="signals are those of a Unix system")
def test_sigterm_ends_training_with_a_snapshot(files):
    process = start(files)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signal.SIGTERM, said
    (state,) = files.glob("s_iter_*.solverstate")
    assert f"{state} resumes after iteration" in said
    assert read_state(state).iter >= 3
    assert read_weights(state.with_suffix(".caffemodel"))["fc"].blobs[0].shape == (3, 3)
    assert not list(files.glob("*.part"))
    process = start(files, "--resume", "auto")
    process.send_signal(signal.SIGTERM)
    said = process.said + process.communicate(timeout=60)[1]
    assert f"Resuming from {state}" in said


@pytest.mark.skipif(os.name != "posix", reason="signals are those of a Unix system")
@pytest.mark.parametrize("gap", [0, 0.002, 0.02])
def test_sigint_and_then_sigterm_save_one_iteration(gap, files):
    """Seconds between the two; tests/train/test_interruptions.py has them at any line."""
    process = start(files)
    process.send_signal(signal.SIGINT)
    time.sleep(gap)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode in (0, 128 + signal.SIGTERM, -signal.SIGTERM), said  # the last after the training's end
    states = [read_state(path) for path in files.glob("s_iter_*.solverstate")]
    assert len(states) in (1, 2), said  # the second where SIGTERM came an iteration later
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calm = Solver(files / "solver.prototxt", log=lambda line: None)
    for state in sorted(states):
        calm.step(state.iter - calm.iter)
        saved = weights(files / f"s_iter_{state.iter}.caffemodel")
        assert {"bn", "fc"} <= set(saved)
        for name, blobs in calm.net.params.items():
            for got, wanted in zip(saved[name], blobs, strict=True):
                np.testing.assert_array_equal(got, wanted.data)


@pytest.mark.skipif(os.name != "posix", reason="signals are those of a Unix system")
def test_two_commands_on_one_prefix_and_a_killed_one(files, capsys, monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    first = start(files)
    try:
        assert main(["train", "--solver", str(files / "solver.prototxt")]) == 1
        assert f"is in use by process {first.pid} on" in capsys.readouterr().err
        reader = threading.Thread(target=first.stderr.read)  # else it waits for one
        reader.start()
        first.send_signal(signal.SIGHUP)  # takes a snapshot
        end = time.monotonic() + 20
        while not list(files.glob("*.solverstate")) and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        first.kill()
        first.wait()
    reader.join()
    first.stderr.close()
    (state,) = files.glob("*.solverstate")
    text = (files / "solver.prototxt").read_text()
    more = read_state(state).iter + 2
    (files / "solver.prototxt").write_text(text.replace("100000000", str(more)))
    assert main(["train", "--solver", str(files / "solver.prototxt"), "--resume", "auto"]) == 0
    assert f"Resuming from {state}" in capsys.readouterr().err
    assert (files / f"s_iter_{more}.solverstate").exists()
    assert not list(files.glob("*.lock"))


def test_the_command_stops_at_nan(files, capsys, monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)  # which the stand-in sets: errors would go through
    text = (files / "solver.prototxt").read_text()
    (files / "solver.prototxt").write_text(text.replace("0.001", "1e30").replace("100000000", "30"))
    assert main(["train", "--solver", str(files / "solver.prototxt")]) == 1
    said = capsys.readouterr().err
    assert "training stops" in said
    assert "--allow-nan" in said
    assert "fault of Boxpresso" not in said
    assert main(["train", "--solver", str(files / "solver.prototxt"), "--allow-nan"]) == 0
    assert main(["train", "--solver", str(files / "solver.prototxt"), "--snapshot", "a", "--resume", "b"]) == 1
    assert "exclude each other" in capsys.readouterr().err


def kill_a_worker(parent: int) -> bool:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            os.kill(int(path.parent.name), signal.SIGKILL)
            return True
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="worker processes are found in /proc")
def test_a_killed_data_worker_ends_training_with_a_snapshot(files):
    from PIL import Image

    for i in range(4):
        Image.new("RGB", (8, 8), (i, 0, 0)).save(files / f"{i}.png")
    (files / "list.txt").write_text("".join(f"{files}/{i}.png {i}\n" for i in range(4)))
    (files / "net.prototxt").write_text(f"""
        layer {{ name: "x" type: "ImageData" top: "x" top: "y" image_data_param {{ source: "{files.as_posix()}/list.txt" batch_size: 2 }} }}
        layer {{ name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param {{ num_output: 4 }} }}
        layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }}""")
    process = start(files, BOXPRESSO_WORKERS="processes:2")
    end = time.monotonic() + 20
    while not kill_a_worker(process.pid) and time.monotonic() < end:
        time.sleep(0.05)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 1, said
    assert "was ended by SIGKILL" in said
    (state,) = files.glob("s_iter_*.solverstate")
    assert read_state(state).iter >= 3
