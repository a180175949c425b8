"""`boxpresso train` by several ranks: signals and failures are everybody's, snapshots resume."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from places import ROOT
from ranked import NET, mpirun, run, started, with_records

pytestmark = pytest.mark.later

SOLVER = """
net: "net.prototxt" base_lr: 0.01 momentum: 0.9 lr_policy: "fixed" max_iter: MAX display: 5 random_seed: 1
snapshot: 10 snapshot_prefix: "snap" snapshot_format: BINARYPROTO
"""


@pytest.fixture
def job(tmp_path):
    """A folder with records, net.prototxt and solver.prototxt for 20 iterations."""
    folder = with_records(tmp_path)
    (folder / "net.prototxt").write_text(NET.replace("SOURCE", "records").replace("BATCH", "2"))
    (folder / "solver.prototxt").write_text(SOLVER.replace("MAX", "20"))
    return folder


TRAIN = ("-m", "boxpresso", "train", "--solver", "solver.prototxt", "--device", "cpu")


def test_a_job_resumes_to_the_same_bits_and_with_another_number_of_ranks(job):
    status, said = run(2, *TRAIN, folder=job, BOXPRESSO_THREADS="")
    assert status == 0, said
    assert said.count("Iteration 15 (") == said.count("Optimization Done.") == 1
    assert len(re.findall(r"Rank \d of 2: process \d+ on .+, cpu, CPU threads: \d+$", said, re.M)) == 2
    whole = (job / "snap_iter_20.caffemodel").read_bytes(), (job / "snap_iter_20.solverstate").read_bytes()
    for name in ("snap_iter_20.caffemodel", "snap_iter_20.solverstate"):
        (job / name).unlink()
    status, said = run(2, *TRAIN, "--snapshot", "snap_iter_10.solverstate", folder=job)
    assert status == 0, said
    assert ((job / "snap_iter_20.caffemodel").read_bytes(), (job / "snap_iter_20.solverstate").read_bytes()) == whole
    for count in (1, 3):
        status, said = run(count, *TRAIN, "--snapshot", "snap_iter_10.solverstate", folder=job)
        assert status == 0, said
        assert "Iteration 10 (" in said
        assert "Iteration 5 (" not in said


@contextmanager
def long_job(job: Path, **more: str) -> Iterator[tuple[subprocess.Popen, list[int]]]:
    """A job of two ranks that has come to iteration 20, and the numbers of their processes."""
    text = SOLVER.replace("MAX", "100000000").replace("snapshot: 10", "snapshot: 1000000")
    (job / "solver.prototxt").write_text(text)
    numbers = []
    with started(2, *TRAIN, folder=job, **more) as process:
        for line in process.stderr:
            numbers += [int(n) for n in re.findall(r"Rank \d of 2: process (\d+)", line)]
            if "Iteration 20 (" in line:
                break
        assert len(numbers) == 2
        yield process, numbers


def saved(job: Path) -> list[int]:
    """The iterations whose snapshots are whole."""
    iterations = [int(path.stem.rpartition("_")[2]) for path in job.glob("*.solverstate")]
    return sorted(i for i in iterations if (job / f"snap_iter_{i}.caffemodel").exists())


def resumes(job: Path, at: int) -> None:
    (job / "solver.prototxt").write_text(SOLVER.replace("MAX", str(at + 2)))
    status, said = run(2, *TRAIN, "--snapshot", f"snap_iter_{at}.solverstate", folder=job)
    assert status == 0, said
    assert at + 2 in saved(job)


def test_signals_to_any_rank_count_for_all(job):
    with long_job(job) as (process, numbers):
        os.kill(numbers[1], signal.SIGHUP)
        for _ in range(400):
            if saved(job):
                break
            time.sleep(0.05)
        assert len(saved(job)) == 1
        os.kill(numbers[1], signal.SIGINT)
        rest = process.communicate(timeout=300)[1]
        assert process.returncode == 0, rest
    assert rest.count("Optimization stopped early.") == 1
    assert len(saved(job)) == 2
    resumes(job, saved(job)[-1])


FAULTY = """
import os, signal
from mpi4py import MPI

class Faulty:
    def setup(self, bottom, top): self.turn = 0
    def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
    def backward(self, top, propagate_down, bottom): pass
    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data
        self.turn += 1
        if self.turn == 18 and MPI.COMM_WORLD.rank == int(os.environ["FAULTY"]):
            how = os.environ["HOW"]
            if how == "raise": raise ValueError("bad luck")
            if how == "memory": raise MemoryError
            if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
            if how == "leave": os._exit(3)
"""
LAYER = """
layer { name: "faulty" type: "Python" bottom: "data" top: "seen" python_param { module: "faulty" layer: "Faulty" } }
layer { name: "end" type: "Silence" bottom: "seen" }
"""


@pytest.mark.parametrize(
    ("rank", "how"),
    [
        (1, "raise"),
        pytest.param(0, "raise", marks=pytest.mark.sweep),
        pytest.param(1, "memory", marks=pytest.mark.slow),
        (1, "kill"),
        pytest.param(0, "leave", marks=pytest.mark.sweep),
    ],
)
def test_a_rank_that_dies_ends_the_job_and_leaves_a_snapshot(job, rank, how):
    (job / "faulty.py").write_text(FAULTY)
    (job / "net.prototxt").write_text((job / "net.prototxt").read_text() + LAYER)
    words = (*TRAIN, "--python-layers", "faulty")
    status, said = run(2, *words, folder=job, FAULTY=str(rank), HOW=how)
    assert status != 0
    if how in ("raise", "memory"):
        why = "bad luck" if how == "raise" else "there is no memory left"
        (line,) = [x for x in said.splitlines() if x.startswith("boxpresso: error")]
        assert re.search(
            rf"rank {rank} \(process \d+ on .+\) failed: .*{why}.*; snap_iter_17.solverstate resumes", line
        ), line
        assert saved(job) == [10, 17]
    else:  # nothing is left that could say more; mpirun does, and names the process
        assert 10 in saved(job)
    (job / "faulty.py").write_text(FAULTY.replace("== 18", "== -1"))
    (job / "solver.prototxt").write_text(SOLVER.replace("MAX", "25"))
    again = run(2, *words, "--snapshot", f"snap_iter_{saved(job)[-1]}.solverstate", folder=job, FAULTY="0", HOW=how)
    assert again[0] == 0, again[1]


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_told_to_end_saves_what_was_learned(job, rank):
    with long_job(job) as (process, numbers):
        os.kill(numbers[rank], signal.SIGTERM)
        rest = process.communicate(timeout=300)[1]
        assert process.returncode != 0
    assert f"rank {rank} (process {numbers[rank]} on" in rest
    assert len(saved(job)) == 1
    resumes(job, saved(job)[0])


BATCH_NORM = 'layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "conv" }'


@pytest.mark.parametrize(
    ("rank", "how"), [(0, "raise"), pytest.param(1, "raise", marks=pytest.mark.sweep), (0, "end"), (-1, "test")]
)
def test_what_a_job_saves_when_it_ends_in_an_iteration_is_the_iteration_before(job, rank, how, tmp_path_factory):
    """The forward pass has changed the running statistics by then, or, in a test, those of the iteration are complete."""
    calm = with_records(tmp_path_factory.mktemp("calm"))
    text = (job / "net.prototxt").read_text().replace(
        'layer { name: "relu"', BATCH_NORM + '\nlayer { name: "relu"'
    ) + LAYER
    faulty = FAULTY.replace('how == "raise"', 'how in ("raise", "test")').replace(
        'if how == "kill"', 'if how == "end": os.kill(os.getpid(), signal.SIGTERM)\n            if how == "kill"'
    )
    solver = SOLVER.replace("MAX", "20")
    if how == "test":  # the test before iteration 17 fails: the test net has a layer of its own
        solver += "test_iter: 1 test_interval: 17 test_initialization: false"
        faulty = faulty.replace("self.turn == 18", "self.phase == 1 and os.environ['FAULTY'] == '-1'").replace(
            'and MPI.COMM_WORLD.rank == int(os.environ["FAULTY"])', ""
        )
    for folder in (job, calm):
        (folder / "net.prototxt").write_text(text)
        (folder / "faulty.py").write_text(faulty)
        (folder / "solver.prototxt").write_text(solver)
    (calm / "solver.prototxt").write_text(solver.replace("snapshot: 10", "snapshot: 1"))
    words = (*TRAIN, "--python-layers", "faulty")
    status, said = run(2, *words, folder=calm, FAULTY="9", HOW=how)
    assert status == 0, said
    status, said = run(2, *words, folder=job, FAULTY=str(rank), HOW=how)
    assert status != 0
    assert saved(job) == [10, 17], said
    for name in ("snap_iter_17.caffemodel", "snap_iter_17.solverstate"):
        assert (job / name).read_bytes() == (calm / name).read_bytes(), name


def test_a_job_finds_its_snapshot_prefix_in_use(job):
    """The ranks of a job are one training; that of another process is another."""
    code = """if True:
        from boxpresso.proto import parse_solver
        from boxpresso.train.claims import Claim
        claim = Claim(parse_solver('snapshot_prefix: "snap"'))
        claim.take(print)
        print(end="ready", flush=True)
        input()"""
    pytest.importorskip("fcntl", reason="locks are those of a Unix system")
    mpirun()  # or a skip
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=job, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.read(5) == b"ready"
        status, said = run(2, *TRAIN, folder=job)
        assert status != 0
        assert "rank 0 (process" in said, said
        assert f"'snap' is in use by process {other.pid} on" in said, said
        assert saved(job) == []
        other.communicate(b"\n")
    status, said = run(2, *TRAIN, folder=job)
    assert status == 0, said
    assert saved(job) == [10, 20]
    assert not list(job.glob("*.lock"))


def test_a_failure_before_training_is_one_line(job):
    (job / "net.prototxt").write_text((job / "net.prototxt").read_text().replace('type: "ReLU"', 'type: "ReLu6x"'))
    status, said = run(2, *TRAIN, folder=job)
    assert status != 0
    (line,) = [x for x in said.splitlines() if x.startswith("boxpresso: error")]
    assert "layer 'relu' has the unknown type 'ReLu6x'" in line


def test_weights_that_differ_between_ranks_are_found(job):
    script = """
from boxpresso import Solver
from boxpresso.train.ranks import open_ranks
ranks = open_ranks()
with ranks.together():
    solver = Solver("solver.prototxt", device="cpu", ranks=ranks)
    solver.step(3)
    if ranks.rank == 1:
        solver.net.params["last"][1].data[0] += 1e-6
    solver.step(7)
"""
    (job / "script.py").write_text(script)
    status, said = run(2, "script.py", folder=job)
    assert status != 0
    assert "the weights at iteration 10 of rank 1 are no longer those of rank 0" in said


def test_an_mpirun_of_another_mpi_is_told(monkeypatch):
    script = "from boxpresso.train.ranks import open_ranks; open_ranks()"
    env = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "PYTHONPATH": str(ROOT)}
    mpirun()  # or a skip
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "mpirun started 2 ranks, but mpi4py's library" in done.stderr
