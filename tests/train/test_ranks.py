"""Several ranks: two learn what one with twice the batch learns; what each rank draws, shares and saves.

The ranks are real, on this machine, started by mpirun. This file is also what it starts: `mpirun -n 2 python test_ranks.py
FOLDER DEVICE` trains with each of the VARIANTS and writes down what each rank had after each step.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from ranked import NET, run, with_records

from boxpresso import Layer, Net, Solver, devices
from boxpresso.device import open_device
from boxpresso.layers.core import make_layer
from boxpresso.layers.core.catalogue import layer_types
from boxpresso.proto import LayerParameter, parse_net, parse_solver, parse_text
from boxpresso.train.ranks import POOL_LOCK, Ranks, open_ranks
from boxpresso.train.reduction import SMALL, plan

STEPS = 6
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
    weights, losses = {}, []
    solver.add_callback(on_gradients=lambda: losses.append(solver.smoothed_loss))

    def keep() -> None:
        for name, blobs in solver.net.params.items():
            for i, blob in enumerate(blobs):
                weights[f"{solver.iter} {name} {i}"] = np.array(blob.data)

    solver.add_callback(on_start=keep)
    solver.step(STEPS)
    keep()
    for layer in solver.net.layers:
        if hasattr(layer, "close"):
            layer.close()
    return {**weights, "losses": np.array(losses), "seed": np.array(solver.net.seed)}


def main(folder: Path, device: str) -> None:
    ranks = open_ranks()
    with ranks.together():
        for variant in VARIANTS:
            learned = learn(make_solver(folder, variant, 4, device, ranks))
            np.savez(folder / f"{variant}_{ranks.rank}.npz", **learned)


@pytest.fixture
def folder(tmp_path):
    return with_records(tmp_path)


@pytest.mark.later(but=1)
@pytest.mark.parametrize("count", [2, 3])
def test_ranks_learn_what_one_learns_from_the_whole_batch(folder, device, count):
    if device == "cuda" and len(devices()) - 1 < count:
        device = "cuda:0"  # for all
    status, said = run(count, __file__, folder, device, folder=folder)
    assert status == 0, said
    for variant in VARIANTS:
        by_rank = [np.load(folder / f"{variant}_{rank}.npz") for rank in range(count)]
        for other in by_rank[1:]:
            for name in by_rank[0].files:
                np.testing.assert_array_equal(other[name], by_rank[0][name], err_msg=f"{variant} {name}")
        if variant == "unseeded":
            continue
        whole = learn(make_solver(folder, variant, 4 * count, device))
        for name in by_rank[0].files:
            np.testing.assert_allclose(by_rank[0][name], whole[name], rtol=0, atol=1e-5, err_msg=f"{variant} {name}")
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
    assert len(large.blobs) == 1
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


def test_one_rank_has_everything_in_common_with_itself():
    ranks = Ranks()
    assert ranks.gather(np.arange(3)).tolist() == [[0, 1, 2]]
    assert [line.partition(": process ")[0] for line in ranks.describe("cpu")] == ["Rank 0 of 1"]
    assert (ranks.common("x"), ranks.mean(0.5), ranks.tell("bär")) == ("x", 0.5, ["bär"])


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
    "Noise": "noise_param { uniform_range: 1 }",
    "DataAugmentation": "augmentation_param { crop_width: 5 crop_height: 5 translate { spread: 0.2 } }",
    "GuidedDropout": 'bottom: "mean" guided_dropout_param { type: "stochastic" sigmoid_scaler: 0 }',
    "Pooling": "pooling_param { pool: STOCHASTIC kernel_size: 3 }",
    "Shakeout": 'inner_product_param { num_output: 2 weight_filler { type: "constant" value: 1 } } '
    'shakeout_param { operate_layer_type: "InnerProduct" }',
    "Python": 'python_param { module: "spatial_dropout" layer: "SpatialDropoutLayer" }',  # served by SpatialDropout
}


@pytest.mark.parametrize("type", KEYED)
def test_a_layer_with_a_key_of_its_own_draws_differently_on_each_rank(type):
    mean = 'layer { name: "mean" type: "Pooling" bottom: "x" top: "mean" pooling_param { pool: AVE global_pooling: true } }'
    before = INPUT + mean * ('"mean"' in KEYED[type])
    text = before + f'layer {{ name: "y" type: "{type}" bottom: "x" top: "y" {KEYED[type]} }}'
    nets = [settled(text, rank, 3) for rank in range(3)]
    layers = [net.layers[-1] for net in nets]
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
                hdf5_data_param {{ source: "{tmp_path.as_posix()}/files.txt" batch_size: BATCH shuffle: {shuffle} }} }}"""
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

    def wait_for_the_alarm():  # which may come at any line
        with POOL_LOCK:
            ranks._terminate(signal.SIGTERM, None)
            assert not forks
        signal.sigtimedwait([], 5)

    try:
        with pytest.raises(Ended, match="what was learned is saved"):
            wait_for_the_alarm()
        assert forks
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def test_alone_nothing_is_shared(monkeypatch):
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    ranks = open_ranks()
    assert (ranks.rank, ranks.size, ranks.common(3), ranks.mean(0.5), ranks.device("cuda")) == (0, 1, 3, 0.5, "cuda")
    with ranks.together():
        ranks.check_same([np.zeros(3)], "nothing")


@pytest.mark.parametrize(("seen", "local", "wanted"), [
    (4, 3, "cuda:3"), (1, 3, "cuda:0"), (2, 3, "cuda:1"), (0, 1, "cuda:0"),
])  # fmt: skip
def test_a_rank_takes_one_of_the_gpus_that_it_sees(monkeypatch, seen, local, wanted):
    """Slurm may show each rank a single one, which is its number 0; without any, what opens it says what is missing."""
    monkeypatch.setattr("boxpresso.train.ranks.cuda_devices", lambda: ("GPU",) * seen)
    monkeypatch.delenv("BOXPRESSO_DEVICE", raising=False)
    ranks = Ranks()
    ranks.size, ranks.local = 4, local
    assert ranks.device("cuda") == wanted
    assert ranks.device(None) == (wanted if seen else "cpu")
    assert (ranks.device("cpu"), ranks.device("cuda:1")) == ("cpu", "cuda:1")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
