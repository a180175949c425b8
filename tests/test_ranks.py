"""Several ranks: two learn what one with twice the batch learns, signals and failures are everybody's, snapshots resume.

The ranks are real, on this machine, started by mpirun. This file is also what it starts: `mpirun -n 2 python test_ranks.py
FOLDER DEVICE` trains with each of the VARIANTS and writes down what each rank had after each step.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from boxpresso import Layer, Net, Solver, devices
from boxpresso.device import open_device
from boxpresso.layers.core import make_layer
from boxpresso.layers.core.catalogue import layer_types
from boxpresso.proto import LayerParameter, parse_net, parse_solver, parse_text
from boxpresso.train.ranks import POOL_LOCK, Ranks, open_ranks
from boxpresso.train.reduction import SMALL, plan

STEPS = 6
NET = """
name: "digits"
layer { name: "data" type: "Data" top: "data" top: "label" transform_param { mirror: true scale: 0.0078125 mean_value: 127 }
        data_param { source: "SOURCE" batch_size: BATCH backend: LMDB } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" param { lr_mult: 1 } param { lr_mult: 0 }
        convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "msra" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "one" type: "InnerProduct" bottom: "conv" top: "one" param { name: "w" } param { name: "b" lr_mult: 2 }
        inner_product_param { num_output: 24 weight_filler { type: "xavier" } } }
layer { name: "two" type: "InnerProduct" bottom: "conv" top: "two" param { name: "w" } param { name: "b" lr_mult: 2 }
        inner_product_param { num_output: 24 } }
layer { name: "sum" type: "Eltwise" bottom: "one" bottom: "two" top: "sum" eltwise_param { coeff: 1 coeff: 0.5 } }
layer { name: "last" type: "InnerProduct" bottom: "sum" top: "last"
        inner_product_param { num_output: 12 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "last" bottom: "label" top: "loss" }
"""
RATE = 'base_lr: 0.01 lr_policy: "fixed" random_seed: 5 '
VARIANTS = {
    "plain": RATE + "momentum: 0.9 weight_decay: 0.01",
    "clipped": RATE + 'momentum: 0.9 clip_gradients: 0.5 type: "Nesterov"',
    "passes": RATE + "iter_size: 2 average_loss: 3 weight_decay: 0.1 regularization_type: 'L1'",
    "adam": RATE + 'type: "Adam" momentum: 0.9 momentum2: 0.999 delta: 0.01',
    "unseeded": RATE.replace("random_seed: 5", "random_seed: -1"),
}


def make_solver(folder: Path, variant: str, batch: int, device: str, ranks: Ranks | None = None) -> Solver:
    param = parse_solver(VARIANTS[variant])
    text = NET.replace("SOURCE", str(folder / "records")).replace("BATCH", str(batch))
    param.train_net_param.CopyFrom(parse_net(text))
    return Solver(param, device=device, log=lambda line: None, ranks=ranks)


def learn(solver: Solver) -> dict[str, np.ndarray]:
    """What is there after each step."""
    found, losses = {}, []
    solver.add_callback(on_gradients=lambda: losses.append(solver.smoothed_loss))

    def keep() -> None:
        for name, blobs in solver.net.params.items():
            for i, blob in enumerate(blobs):
                found[f"{solver.iter} {name} {i}"] = np.array(blob.data)

    solver.add_callback(on_start=keep)
    solver.step(STEPS)
    keep()
    for layer in solver.net.layers:
        if hasattr(layer, "close"):
            layer.close()
    return {**found, "losses": np.array(losses), "seed": np.array(solver.net.seed)}


def main(folder: Path, device: str) -> None:
    ranks = open_ranks()
    with ranks.together():
        for variant in VARIANTS:
            found = learn(make_solver(folder, variant, 4, device, ranks))
            np.savez(folder / f"{variant}_{ranks.rank}.npz", **found)


def mpirun() -> list[str]:
    """The command, or a skip that says what is missing."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed: pip install 'boxpresso[mpi]'")
    beside = Path(sys.executable).with_name("mpirun")
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if found is None:
        pytest.skip("there is no mpirun: pip install mpich, or the system's package")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    return [found, *(["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in version else [])]


@contextmanager
def started(count: int, *words: object, folder: Path, **more: str) -> Iterator[subprocess.Popen]:
    command = [*mpirun(), "-n", str(count), sys.executable, *map(str, words)]
    places = [str(folder), str(Path(__file__).parent), str(Path(__file__).resolve().parents[1])]
    places += os.environ.get("PYTHONPATH", "").split(os.pathsep)
    env = {**os.environ, "TERM": "dumb", "PYTHONPATH": os.pathsep.join(filter(None, places)), **more}
    env.pop("BOXPRESSO_DEBUG", None)
    process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()
        process.wait()


def run(count: int, *words: object, folder: Path, **more: str) -> tuple[int, str]:
    """The exit status of mpirun and what the ranks wrote to standard error."""
    with started(count, *words, folder=folder, **more) as process:
        _, said = process.communicate(timeout=300)
        return process.returncode, said


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("lmdb")
    from drawn import datum_lmdb

    datum_lmdb(tmp_path / "records", 11, height=22, width=22)
    return tmp_path


@pytest.mark.parametrize("count", [2, 3])
def test_ranks_learn_what_one_learns_from_the_whole_batch(folder, device, count):
    if device == "cuda" and len(devices()) - 1 < count:
        device = "cuda:0"  # for all
    status, said = run(count, __file__, folder, device, folder=folder)
    assert status == 0, said
    for variant in VARIANTS:
        found = [np.load(folder / f"{variant}_{rank}.npz") for rank in range(count)]
        for other in found[1:]:
            for name in found[0].files:
                np.testing.assert_array_equal(other[name], found[0][name], err_msg=f"{variant} {name}")
        if variant == "unseeded":
            continue
        whole = learn(make_solver(folder, variant, 4 * count, device))
        for name in found[0].files:
            np.testing.assert_allclose(found[0][name], whole[name], rtol=0, atol=1e-5, err_msg=f"{variant} {name}")
        moved = np.abs(whole[f"{STEPS} one 0"] - whole["0 one 0"]).max()
        assert moved > 1e-3


def test_messages_follow_backward_and_hold_each_parameter_once(folder):
    text = NET.replace("SOURCE", str(folder / "records")).replace("BATCH", "4")
    net = Net(parse_net(text), phase="TRAIN", device="cpu", seed=1)
    messages = plan(net)
    place = {layer.name: i for i, layer in enumerate(net.layers)}
    assert [m.layer for m in messages] == sorted((m.layer for m in messages), reverse=True)
    sent = [id(blob) for m in messages for blob in m.blobs]
    frozen = net.params["conv"][1]
    assert sorted(sent) == sorted(id(b) for b, lr, _ in net.learnable if b is not frozen)
    (large,) = [m for m in messages if m.count >= SMALL]
    assert large.alone
    assert large.layer == place["one"]  # the first of two that share it
    assert messages[-1].layer == place["conv"]


def test_random_numbers_are_a_ranks_own_but_those_of_weights_and_records_are_not(folder):
    text = NET.replace("SOURCE", str(folder / "records")).replace("BATCH", "4")
    text += 'layer { name: "drop" type: "Dropout" bottom: "sum" top: "dropped" }'
    nets = [settled(text, rank, 3) for rank in range(3)]
    assert len({net.layer_dict["drop"].key for net in nets}) == 3
    assert len({net.params["one"][0].data.tobytes() for net in nets}) == 1
    data = [net.forward(blobs=["data"], end="data") for net in nets]
    whole = Net(parse_net(text.replace("batch_size: 4", "batch_size: 12")), phase="TRAIN", device="cpu", seed=1)
    np.testing.assert_array_equal(np.concatenate([d["data"] for d in data]), whole.forward(end="data")["data"])
    for net in (*nets, whole):
        net.layer_dict["data"].close()


def settled(text: str, rank: int, size: int = 2) -> Net:
    """A net for training as rank `rank` has it."""
    net = Net(parse_net(text), phase="TRAIN", device="cpu", seed=1)
    ranks = Ranks()
    ranks.rank, ranks.size = rank, size
    ranks.settle(net)
    return net


def parse_layer(text: str) -> LayerParameter:
    return parse_text(text, LayerParameter())


INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 dim: 9 dim: 9 } } }\n'
KEYED = {
    "Dropout": "",
    "SpatialDropout": "",
    "SeLuDropout": "",
    "Pooling": "pooling_param { pool: STOCHASTIC kernel_size: 3 }",
    "Python": 'python_param { module: "spatial_dropout" layer: "SpatialDropoutLayer" }',  # served by SpatialDropout
}


@pytest.mark.parametrize("type", KEYED)
def test_a_layer_with_a_key_of_its_own_draws_differently_on_each_rank(type):
    text = INPUT + f'layer {{ name: "y" type: "{type}" bottom: "x" top: "y" {KEYED[type]} }}'
    nets = [settled(text, rank, 3) for rank in range(3)]
    layers = [net.layers[1].inner if type == "Python" else net.layers[1] for net in nets]
    assert len({layer.key for layer in layers}) == 3
    assert len({layer.rng.integers(2**32) for layer in layers}) == 3
    x = np.random.default_rng(0).random((2, 4, 9, 9), np.float32) + 1
    outputs = [net.forward(x=x)["y"] for net in nets]
    assert len({output.tobytes() for output in outputs}) == 3
    np.testing.assert_array_equal(settled(text, 2, 3).forward(x=x)["y"], outputs[2])


def test_every_layer_with_a_key_is_among_them():
    drawing = [cls for cls in layer_types() if re.search(r"self\.key = int\(self\.rng", inspect.getsource(cls))]
    assert {cls.type for cls in drawing} == set(KEYED) - {"Python"}
    assert all(cls.reseed is not Layer.reseed for cls in drawing)


def test_a_rank_leaves_the_caches_of_a_layer_alone():
    """ROIAlign's `key` is the shapes that its scratch arrays are for, and no key of random numbers."""
    text = """
    layer { name: "r" type: "Input" top: "r" input_param { shape { dim: 3 dim: 5 } } }
    layer { name: "y" type: "ROIAlign" bottom: "x" bottom: "r" top: "y" roi_align_param { pooled_h: 2 pooled_w: 2 } }
    """
    regions = np.array([[0, 1, 1, 5, 6], [1, 0, 0, 8, 8], [1, 2, 3, 4, 5]], np.float32)
    x = np.random.default_rng(0).random((2, 4, 9, 9), np.float32)
    net = Net(parse_net(INPUT + text), phase="TRAIN", device="cpu", seed=1)
    wanted = net.forward(x=x, r=regions)["y"]
    layer = net.layers[2]
    before = dict(vars(layer))
    ranks = Ranks()
    ranks.rank, ranks.size = 1, 2
    ranks.settle(net)
    assert all(vars(layer)[name] is value for name, value in before.items())
    assert vars(layer).keys() == before.keys()
    np.testing.assert_array_equal(net.forward(x=x, r=regions)["y"], wanted)


def test_data_and_place_in_it_reach_a_layer_that_stands_for_a_python_layer():
    calls = []

    class Inner(Layer):
        def share(self, rank, size):
            calls.append(("share", rank, size))

        def reseed(self, seed):
            calls.append(("reseed", seed))

        def resume(self, passes):
            calls.append(("resume", passes))

    layer = make_layer(parse_layer('name: "p" type: "Python"'), device=open_device("cpu"))
    layer.inner = Inner(layer.param, device=layer.device)
    layer.share(1, 2)
    layer.reseed([3, 4])
    layer.resume(5)
    assert calls == [("share", 1, 2), ("reseed", [3, 4]), ("resume", 5)]


def test_a_layer_resumes_with_the_draws_that_would_have_come_next():
    layers = [make_layer(parse_layer('name: "d" type: "Silence"'), device=open_device("cpu"), seed=3) for _ in "ab"]
    draws = [layers[0].draws().random() for _ in range(5)]
    layers[1].resume(3)
    assert [layers[1].draws().random() for _ in range(2)] == draws[3:]
    layers[1].reseed(4)
    assert layers[1].draws().random() not in draws


@pytest.mark.parametrize("shuffle", ["true", "false"])
def test_rows_of_hdf5_are_shared_out(tmp_path, shuffle):
    h5py = pytest.importorskip("h5py")
    for part in (0, 1):
        with h5py.File(tmp_path / f"{part}.h5", "w") as file:
            file["x"] = np.arange(7.0) + 10 * part
    (tmp_path / "files.txt").write_text("".join(f"{tmp_path}/{part}.h5\n" for part in (0, 1)))
    text = f"""layer {{ name: "d" type: "HDF5Data" top: "x"
                hdf5_data_param {{ source: "{tmp_path}/files.txt" batch_size: BATCH shuffle: {shuffle} }} }}"""
    whole = Net(parse_net(text.replace("BATCH", "9")), device="cpu", seed=2)
    parts = [Net(parse_net(text.replace("BATCH", "3")), device="cpu", seed=2) for _ in range(3)]
    for rank, net in enumerate(parts):
        net.layers[0].share(rank, 3)
    wanted = [whole.forward()["x"] for _ in range(5)]
    for batch in wanted:
        np.testing.assert_array_equal(np.concatenate([net.forward()["x"] for net in parts]), batch)
    for net in parts:
        assert net.layers[0].batch_number == 5
        net.layers[0].batch_number = 2
    np.testing.assert_array_equal(np.concatenate([net.forward()["x"] for net in parts]), wanted[2])


SOLVER = """
net: "net.prototxt" base_lr: 0.01 momentum: 0.9 lr_policy: "fixed" max_iter: MAX display: 5 random_seed: 1
snapshot: 10 snapshot_prefix: "snap" snapshot_format: BINARYPROTO
"""


@pytest.fixture
def job(folder):
    """A folder with net.prototxt and solver.prototxt for 20 iterations."""
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
    found = [int(path.stem.rpartition("_")[2]) for path in job.glob("*.solverstate")]
    return sorted(i for i in found if (job / f"snap_iter_{i}.caffemodel").exists())


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
        pytest.param(0, "raise", marks=pytest.mark.slow),
        pytest.param(1, "memory", marks=pytest.mark.slow),
        (1, "kill"),
        pytest.param(0, "leave", marks=pytest.mark.slow),
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


def test_sigterm_waits_for_a_lock_that_a_fork_would_wait_for(monkeypatch):
    """The signal may come while a thread pool takes work; Python's fork takes the pool's lock, too."""

    class Ended(Exception):
        pass

    def abort(self, text, status):
        raise Ended(text)

    forks = []
    ranks = Ranks()
    monkeypatch.setattr(os, "fork", lambda: forks.append(1) or 12345)
    monkeypatch.setattr(os, "waitpid", lambda child, options: (child, 0))
    monkeypatch.setattr(Ranks, "_abort", abort)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGALRM)}
    try:
        with POOL_LOCK:
            ranks._terminate(signal.SIGTERM, None)
            assert not forks
        with pytest.raises(Ended, match="what was learned is saved"):
            signal.sigtimedwait([], 5)
        assert forks
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


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
    env = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    mpirun()  # or a skip
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "mpirun started 2 ranks, but mpi4py's library" in done.stderr


def test_alone_nothing_is_shared(monkeypatch):
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    ranks = open_ranks()
    assert (ranks.rank, ranks.size, ranks.common(3), ranks.mean(0.5), ranks.device("cuda")) == (0, 1, 3, 0.5, "cuda")
    with ranks.together():
        ranks.check_same([np.zeros(3)], "nothing")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
