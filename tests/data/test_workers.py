"""Who makes batches: this thread, threads and processes give the same ones, in any number, and leave nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from drawn import annotated_lmdb, data, datum_lmdb
from drawn import picture as drawn_picture
from harness import Rig

from boxpresso import LayerError, Solver
from boxpresso.data import loader
from boxpresso.data.errors import DataError
from boxpresso.data.loader import Loader, Order, RecordSource
from boxpresso.data.picture import encode
from boxpresso.data.records import make_datum, write_records
from boxpresso.data.workers import Threads
from boxpresso.proto import BoxpressoWarning, parse_net, parse_solver

pytest.importorskip("lmdb")
KINDS = (0, "threads:1", "threads:5", "processes:1", "processes:3")


@pytest.fixture(autouse=True)
def without_the_variable(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_WORKERS", raising=False)


@pytest.mark.later(but=1)
@pytest.mark.parametrize("make", [datum_lmdb, annotated_lmdb])
def test_results_depend_on_the_seed_and_not_on_the_workers(tmp_path, make):
    source = make(tmp_path / "db", 20)
    kind = "Data" if make is datum_lmdb else "AnnotatedData"
    text = (
        f'type: "{kind}" data_param {{ source: "{source.as_posix()}" batch_size: 5 prefetch: %d shuffle: true }} '
        "transform_param { mirror: true crop_size: 6 resize_param { height: 8 width: 9 interp_mode: LINEAR interp_mode: AREA } "
        "distort_param { brightness_prob: 0.5 brightness_delta: 32 hue_prob: 0.5 hue_delta: 18 random_order_prob: 0.5 } "
        "expand_param { prob: 0.5 max_expand_ratio: 3 } }"
    )

    def run(workers, ahead, seed):
        rig = Rig(text % ahead, [], tops=2, phase="TRAIN", seed=seed)
        rig.layer.workers = workers
        made = [rig.forward() for _ in range(8)]
        rig.layer.close()
        return made

    one, other = run(0, 1, 3), run(0, 1, 4)
    for workers, ahead in zip(KINDS, (5, 1, 7, 1, 4)):
        for a, b in zip(one, run(workers, ahead, 3)):
            np.testing.assert_array_equal(a[0], b[0])
            np.testing.assert_array_equal(a[1], b[1])
    assert any(not np.array_equal(a[0], b[0]) for a, b in zip(one, other))


@pytest.mark.later(but=1)
@pytest.mark.parametrize("workers", ["threads", "processes:2"])
def test_a_net_can_resume_and_share(tmp_path, workers):
    source = datum_lmdb(tmp_path / "db", 12)
    whole = data(source, batch=4, seed=2, param="shuffle: true", more="transform_param { mirror: true crop_size: 6 }")
    whole.layer.workers = workers
    batches = [whole.forward() for _ in range(4)]
    assert whole.layer.batch_number == 4
    whole.layer.batch_number = 1
    for wanted in batches[1:]:
        for a, b in zip(whole.forward(), wanted):
            np.testing.assert_array_equal(a, b)
    ranks = [
        data(source, batch=2, seed=2, param="shuffle: true", more="transform_param { mirror: true crop_size: 6 }")
        for _ in "ab"
    ]
    for rank, rig in enumerate(ranks):
        rig.layer.workers = workers
        rig.layer.share(rank, 2)
    for wanted in batches:
        parts = [rig.forward() for rig in ranks]
        for i in range(2):
            np.testing.assert_array_equal(np.concatenate([p[i] for p in parts]), wanted[i])


def broken_lmdb(path):
    good = make_datum(encode(drawn_picture(1), "PNG"), 1).SerializeToString()
    bad = make_datum(b"\xff\xd8 no picture", 2).SerializeToString()
    write_records(path, [("a", good), ("b", bad), ("c", b"\xff\xff\xff"), ("d", good)])
    return path


@pytest.mark.later(but=2)
@pytest.mark.parametrize("workers", [0, "threads", "processes:2"])
def test_broken_records_are_named_counted_and_left_out(tmp_path, workers):
    rig = data(broken_lmdb(tmp_path / "db"))
    rig.layer.workers = workers
    with pytest.warns(BoxpressoWarning) as seen:
        assert rig.forward()[1].tolist() == [1, 1, 1, 1]
    text = " ".join(str(w.message) for w in seen)
    assert "record 1 (b)" in text
    assert "record 2 (c)" in text
    assert sorted(rig.layer.broken) == [1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rig.forward()  # named once
    rig.layer.close()
    refusing = data(tmp_path / "db")
    refusing.layer.workers, refusing.layer.refuse_broken = workers, True
    with pytest.raises(LayerError, match=r"record 1 \(b\)"):
        refusing.forward()
    refusing.layer.close()


def test_nothing_but_broken_records(tmp_path):
    write_records(tmp_path / "db", [("a", b"\xff"), ("b", b"\xff")])
    with pytest.raises(LayerError, match="none of the 2 records can be read"):
        data(tmp_path / "db")


def test_waited_is_a_share(tmp_path, monkeypatch):
    """By a clock that goes on where the test says so: 1 s for each batch that is waited for, 3 s from one to the next."""
    now = [100.0]
    clock = SimpleNamespace(perf_counter=lambda: now[0], thread_time=lambda: 0.0)
    monkeypatch.setattr("boxpresso.data.loader.time", clock)
    give = Threads.give

    def late(self):
        now[0] += 1
        return give(self)

    monkeypatch.setattr(Threads, "give", late)
    rig = data(datum_lmdb(tmp_path / "db"))
    rig.layer.workers = "threads"
    assert rig.layer.waited == 0
    for i in range(5):
        rig.forward()
        now[0] += 3
        assert rig.layer.waited == pytest.approx((i + 1) / (4 * (i + 1)))


def test_threads_end_with_the_net(tmp_path):
    rig = data(datum_lmdb(tmp_path / "db"))
    rig.layer.workers = "threads"
    rig.forward()

    def threads(rig):
        return list(rig.layer.loader._pool.pool._threads)

    def ended(threads):
        for thread in threads:
            thread.join(10)
        return not any(thread.is_alive() for thread in threads)

    first = threads(rig)
    assert all(thread.is_alive() for thread in first)
    rig.layer.close()
    assert ended(first)
    assert rig.forward()[1].tolist() == [4, 5, 0, 1]  # it goes on where it was
    second = threads(rig)
    del rig  # without close
    gc.collect()
    assert ended(second)


def pids(rig) -> list[int]:
    return [worker.process.pid for worker in rig.layer.loader._pool.workers]


def gone(pid: int, seconds: float = 10) -> bool:
    """Whether a process is no more, or is within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # nobody here waits for the child of a program that was killed
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_processes_end_with_the_net_and_leave_nothing(tmp_path):
    rig = data(datum_lmdb(tmp_path / "db"))
    rig.layer.workers = "processes:2"
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    rig.forward()
    first = pids(rig)
    assert len(set(first)) == 2
    rig.layer.close()
    assert all(gone(pid) for pid in first)
    if before:
        assert set(os.listdir("/proc/self/fd")) <= before
    assert rig.forward()[1].tolist() == [4, 5, 0, 1]  # it goes on where it was
    second = pids(rig)
    del rig  # without close
    gc.collect()
    assert all(gone(pid) for pid in second)
    if before:
        assert set(os.listdir("/proc/self/fd")) <= before


PROGRAM = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # under nohup it is ignored from the start
print("hello")                      # a program without a guard for __main__: no worker must run it
from boxpresso import Net
from boxpresso.proto import parse_net
net = Net(parse_net('layer {{ name: "d" type: "Data" top: "x" data_param {{ source: "{source}" batch_size: 64 prefetch: 10 }} }}'),
          phase="TRAIN", device="cpu")
net.layers[0].workers = {workers!r}
net.forward()
if {workers!r} != "threads":
    print(*[w.process.pid for w in net.layers[0].loader._pool.workers], flush=True)
{end}
"""
ENDS = {
    "": 0,
    "signal.signal(signal.SIGINT, lambda *a: print('heard', flush=True)); os.killpg(0, signal.SIGINT); net.forward()": 0,
    "os.killpg(0, signal.SIGINT); time.sleep(9)": -signal.SIGINT,
    "os.kill(os.getpid(), signal.SIGKILL)": -signal.SIGKILL,
    "os.fork() or sys.exit()\nos.wait(); net.forward(); net.forward()": 0,
}


CASES = [(end, "processes:2") for end in ENDS] + [(end, "threads") for end in list(ENDS)[:3:2]]


@pytest.mark.later(but=2)
@pytest.mark.parametrize(("end", "workers"), CASES)
def test_programs_end_and_their_workers_too(tmp_path, end, workers):
    program = PROGRAM.format(source=datum_lmdb(tmp_path / "db").as_posix(), workers=workers, end=end)
    (tmp_path / "program.py").write_text(program)
    result = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=60, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert result.returncode == ENDS[end], result.stderr
    lines = result.stdout.split("\n")
    assert lines[0] == "hello"
    assert result.stdout.count("hello") == 1
    assert ("heard" in lines) == ("heard" in end)
    assert "Traceback" not in result.stderr.replace("Traceback", "", int("time.sleep" in end))
    if workers != "threads":
        assert all(gone(int(pid)) for pid in lines[1].split())


class Numbers(RecordSource):
    """A source of this file: record i is i in an array of a shape that depends on it; one record has a fault."""

    def __init__(self, fault: str = "", at: int = 5) -> None:
        self.fault, self.at = fault, at

    def load(self, index, rng):
        if index == self.at and self.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if index == self.at and self.fault == "raises":
            raise ValueError("out of ideas")
        return index

    def collate(self, samples):
        if self.fault == "collate":
            raise RuntimeError("not together")
        size = samples[0]
        return [
            np.full((len(samples), size, 1000 * size), size, np.float64),
            np.zeros((0, 5), np.int32),
            np.array(samples, np.uint8),
        ]

    def name(self, index):
        return f"number {index}"


def numbers(workers, source=None, ahead=3) -> Loader:
    return Loader(source or Numbers(), Order(10, False, 0), 2, seed=0, ahead=ahead, workers=workers)


@pytest.mark.parametrize("workers", [0, "threads", "processes:2"])
def test_batches_of_any_shape(workers, monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)  # shared memory is a file without a name then
    made = numbers(workers)
    for turn in range(12):
        big, none, few = made.next()
        first = 2 * turn % 10
        assert big.shape == (2, first, 1000 * first)
        assert (big == first).all()
        assert (none.shape, none.dtype) == ((0, 5), np.int32)
        assert few.tolist() == [first, first + 1]
    made.close()


@pytest.mark.later(but=2)
@pytest.mark.parametrize("workers", [0, "threads", "processes:2"])
def test_what_a_worker_raises_names_the_record(workers):
    made = numbers(workers, Numbers("raises"))
    assert [made.next()[2].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    for _ in range(2):  # again: it stays where it was
        with pytest.raises(DataError, match="number 5: ValueError: out of ideas"):
            made.next()
    made.maker.source.fault = ""
    assert made.next()[2].tolist() == [4, 5]
    made.close()


@pytest.mark.later
def test_a_worker_that_dies_names_the_record():
    made = numbers("processes:2", Numbers("killed"))
    assert [made.next()[2].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(
        DataError, match=r"worker process \d+ was ended by SIGKILL, .* while it loaded batch 2, with number 5 at hand"
    ):
        made.next()
    made.maker.source.fault = ""
    assert made.next()[2].tolist() == [4, 5]  # others take its place
    made.close()


def test_a_dead_worker_is_an_error_of_its_layer(tmp_path):
    rig = data(datum_lmdb(tmp_path / "db"))
    rig.layer.workers = "processes:1"
    rig.forward()
    os.kill(pids(rig)[0], signal.SIGTERM)
    with pytest.raises(LayerError, match=r"Data layer 'layer': worker process \d+ was ended by SIGTERM"):
        [rig.forward() for _ in range(9)]
    rig.forward()
    rig.layer.close()


def test_what_cannot_go_to_a_process():
    class Local(Numbers):
        pass

    with pytest.raises(DataError, match=r"cannot be pickled for a process .* choose workers"):
        numbers("processes:2", Local()).next()
    with pytest.raises(DataError, match=r"a worker process failed: (?s:.*)not together"):
        numbers("processes:2", Numbers("collate")).next()


@pytest.mark.later
def test_the_choice_of_workers(monkeypatch):
    def kinds(heavy, source=None, workers="auto"):
        monkeypatch.setattr(loader, "HEAVY", -1 if heavy else 1e9)
        made = numbers(workers, source)
        for wanted in ([0, 1], [2, 3], [4, 5]):
            assert made.next()[2].tolist() == wanted
        pool = type(made._pool).__name__
        made.close()
        return pool

    class Own(Numbers):
        pass

    Own.__module__ = "__main__"
    assert kinds(heavy=False) == "Threads"
    assert kinds(heavy=True) == "Processes"
    assert kinds(heavy=True, source=Own()) == "Threads"
    assert kinds(heavy=True, workers=0) == "Here"
    assert kinds(heavy=True, workers="threads") == "Threads"
    for variable, pool in (("processes:1", "Processes"), ("0", "Here"), ("", "Threads")):
        monkeypatch.setenv("BOXPRESSO_WORKERS", variable)
        assert kinds(heavy=False, workers="threads") == pool
    for wrong in ("many", "2.5", "threads:-1"):
        monkeypatch.setenv("BOXPRESSO_WORKERS", wrong)
        with pytest.raises(DataError, match=r"must be like processes:2, .* got '" + wrong):
            numbers(2)


def test_a_small_net_learns_from_an_lmdb(tmp_path):
    """Bright and dark pictures: Convolution, Pooling and InnerProduct tell them apart after some steps."""
    rng = np.random.default_rng(0)
    records = []
    for i in range(64):
        label = i % 2
        values = np.clip(rng.normal(70 + 110 * label, 30, (12, 12, 1)), 0, 255).astype(np.uint8)
        records.append((f"{i:04d}", make_datum(values, label).SerializeToString()))
    write_records(tmp_path / "db", records)
    source = (
        f'layer {{ name: "data" type: "Data" top: "data" top: "label" data_param {{ source: "{tmp_path.as_posix()}/db" backend: LMDB batch_size: 8 shuffle: true }} '
        "transform_param { scale: 0.00390625 crop_size: 10 mirror: true } }"
    )
    net = (
        source
        + """
      layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
      layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
      layer { name: "relu" type: "ReLU" bottom: "pool" top: "pool" }
      layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
      layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }
    """
    )
    param = parse_solver(
        'base_lr: 0.1 momentum: 0.9 lr_policy: "fixed" max_iter: 40 random_seed: 3 solver_mode: CPU iter_size: 2 '
        f'snapshot_after_train: false snapshot: 15 snapshot_prefix: "{tmp_path.as_posix()}/snap"'
    )
    param.train_net_param.CopyFrom(parse_net(net))
    losses = []
    for _ in range(2):
        solver = Solver(param, log=lambda line: None)
        seen = []
        for _ in range(40):
            solver.step(1)
            seen.append(solver.net.loss())
        losses.append(seen)
    assert losses[0][-1] < 0.1 < losses[0][0]
    assert losses[0] == losses[1]
    resumed = Solver(param, log=lambda line: None)
    resumed.restore(tmp_path / "snap_iter_30.solverstate")
    for wanted in losses[0][30:]:
        resumed.step(1)
        assert resumed.net.loss() == wanted  # the same batches, crops and flips, to the bit


def test_resuming_leaves_other_layers_alone(tmp_path):
    """Layers such as EuclideanLoss have a `batch` of their own; only makers of batches are told where to go on."""
    net = """layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 4 dim: 3 } data_filler { type: "gaussian" } } }
      layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
      layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" }"""
    param = parse_solver(
        f'base_lr: 0.1 lr_policy: "fixed" max_iter: 3 snapshot_prefix: "{tmp_path.as_posix()}/s" random_seed: 1 solver_mode: CPU'
    )
    param.train_net_param.CopyFrom(parse_net(net))
    solver = Solver(param, log=lambda line: None)
    solver.step(3)
    before = [dict(vars(layer)) for layer in solver.net.layers]
    solver.restore(solver.snapshot()[1])
    for layer, old in zip(solver.net.layers, before):
        assert all(vars(layer)[k] == v for k, v in old.items() if isinstance(v, int))
