"""Solver against the traces that Caffe recorded: losses, rates, weights and history over 20 iterations."""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
import pytest
from places import ROOT
from shared import golden, need, recorded

from boxpresso import LayerError, ModelError, Net, Solver
from boxpresso.device import open_device
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.proto import SolverParameter, parse_net, parse_solver
from boxpresso.proto.errors import DeviceError
from boxpresso.train import fork_fields
from boxpresso.train.rates import Rates
from boxpresso.train.state import write_state
from boxpresso.train.updates import METHODS

TRACES = golden("solver")


def trained(case, device: str, **options) -> Solver:
    """The solver of a recorded case with its start weights, fed with its batches."""
    param = parse_solver(str(case["solver_prototxt"]))
    param.ClearField("train_net")
    param.train_net_param.CopyFrom(parse_net(str(case["net_prototxt"])))
    turn = iter(range(10**6))

    def feed(net):
        i = next(turn) % len(case["data"])
        net.blobs["data"].data[...], net.blobs["label"].data[...] = case["data"][i], case["label"][i]

    solver = Solver(param, device=device, feed=feed, log=options.pop("log", lambda line: None), **options)
    for name, blobs in solver.net.params.items():
        for i, blob in enumerate(blobs):
            blob.data[...] = case[f"w0_{name}_{i}"]
    return solver


def compare(solver: Solver, case, at: int) -> None:
    for name, blobs in solver.net.params.items():
        for i, blob in enumerate(blobs):
            wanted = case[f"w{at}_{name}_{i}"]
            np.testing.assert_allclose(np.asarray(blob.data), wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("path", TRACES, ids=lambda p: p.stem)
def test_caffe(path, device):
    case = recorded(path)
    lines = []
    solver = trained(case, device, log=lines.append)
    rates, losses = [], []
    for i in range(20):
        solver.step(1)
        rates.append(solver.rate)
        if f"w{i + 1}_{next(iter(solver.net.params))}_0" in case:
            compare(solver, case, i + 1)
        losses.append(solver.net.loss())
    np.testing.assert_allclose(rates, case["lr"], rtol=1e-5)
    np.testing.assert_allclose(losses, case["last_sub_loss"], rtol=1e-3)
    flat = [np.asarray(arrays[k]) for k in range(solver.method.arrays) for arrays in solver.history]
    assert len(flat) == sum(key.startswith("history_") for key in case)
    for i, array in enumerate(flat):
        wanted = case[f"history_{i}"]
        np.testing.assert_allclose(array, wanted, rtol=1e-3, atol=1e-4 * max(1e-3, np.abs(wanted).max()))
    assert solver.iter == case["state_iter"]
    assert solver.rates.step == case["state_current_step"]


def test_smoothed_losses_are_those_of_the_log():
    """Recorded with one call of step an iteration, each of which starts its means afresh."""
    case = recorded(need("golden/solver/sgd_iter_size3_average_loss.npz"))
    solver, seen = trained(case, "cpu"), []
    for _ in range(20):
        solver.step(1)
        seen.append(solver.smoothed_loss)
    np.testing.assert_allclose(seen, case["loss"], rtol=1e-3)
    whole, means = trained(case, "cpu"), []
    whole.add_callback(on_gradients=lambda: means.append(whole.smoothed_loss))
    whole.step(20)
    np.testing.assert_allclose(means, [np.mean(seen[max(0, i - 4) : i + 1]) for i in range(20)], rtol=1e-5)


SOLVER = """
base_lr: 0.1 momentum: 0.9 weight_decay: 0.01 lr_policy: "multistep" gamma: 0.5 stepvalue: 3 stepvalue: 6 max_iter: 8
display: 2 random_seed: 3 solver_mode: CPU type: "TYPE"
train_net_param { name: "line"
  layer { name: "d" type: "Input" top: "x" top: "y" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 } } }
  layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }
}
"""


def small(type: str = "SGD", more: str = "", **options) -> Solver:
    def feed(net):
        rng = np.random.default_rng(solver.iter if "solver" in box else 0)
        net.blobs["x"].data[...] = rng.standard_normal((4, 3))
        net.blobs["y"].data[...] = rng.standard_normal((4, 2))

    box = {}
    text = SOLVER.replace("TYPE", type)
    if type in ("AdaGrad", "RMSProp"):
        text = text.replace("momentum: 0.9", "")
    if "lr_policy" in more:
        text = text.replace('lr_policy: "multistep"', "")
    solver = Solver(parse_solver(text + more), feed=feed, log=options.pop("log", lambda line: None), **options)
    box["solver"] = solver
    return solver


@pytest.mark.parametrize("format", ["BINARYPROTO", "HDF5"])
@pytest.mark.parametrize("type", ["SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"])
def test_resuming_gives_the_same_bits(type, format, tmp_path):
    if format == "HDF5":
        pytest.importorskip("h5py")
    more = f'snapshot_prefix: "{tmp_path.as_posix()}/s" snapshot_format: {format}'
    whole, half, other = small(type, more), small(type, more), small(type, more)
    whole.step(8)
    half.step(4)
    model, state = half.snapshot()
    assert model.exists()
    other.net.params["fc"][0].data[...] = 99
    other.restore(state)
    assert other.iter == 4
    other.step(4)
    for one, two in zip(whole.net.params["fc"], other.net.params["fc"]):
        np.testing.assert_array_equal(one.data, two.data)
    assert whole.rate == other.rate


def test_resuming_behind_the_second_step_of_the_rate(tmp_path):
    """A multistep rate takes one step an iteration, so that which it has taken is part of the state."""
    whole, half, other = (small("SGD", f'snapshot_prefix: "{tmp_path.as_posix()}/s"') for _ in range(3))
    whole.step(8)
    half.step(7)
    _, state = half.snapshot()
    other.restore(state)
    other.step(1)
    assert other.rate == whole.rate == pytest.approx(0.1 * 0.5**2)
    np.testing.assert_array_equal(other.net.params["fc"][0].data, whole.net.params["fc"][0].data)


@pytest.mark.parametrize("format", ["BINARYPROTO", "HDF5"])
def test_resuming_watches_the_same_loss(format, tmp_path):
    """A plateau goes on with the lowest loss and the iteration of its last event, wherever it was left."""
    if format == "HDF5":
        pytest.importorskip("h5py")
    more = f'snapshot_prefix: "{tmp_path.as_posix()}/s" snapshot_format: {format} lr_policy: "plateau" plateau_winsize: [1, 2, 3, 2]'
    for done in range(1, 7):
        whole, half, other = (small("SGD", more) for _ in range(3))
        rates = []
        half.step(done)
        other.restore(half.snapshot()[1])
        for solver in (whole, other):
            while solver.iter < 12:
                solver.step(1)
                rates += [solver.rate] * (solver.iter > done)
        assert len(set(rates)) > 1
        assert rates[: 12 - done] == rates[12 - done :]
        assert whole.rates.progress == other.rates.progress


def test_resuming_draws_what_would_have_been_drawn(tmp_path):
    """DummyData, stochastic pooling and both dropouts go on as if there had been no end, in another Solver too."""
    net = """layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param {
        shape { dim: 2 dim: 3 dim: 6 dim: 6 } shape { dim: 2 dim: 4 } data_filler { type: "gaussian" } } }
      layer { name: "channels" type: "SpatialDropout" bottom: "x" top: "channels" spatial_dropout_param { dropout_ratio: 0.5 } }
      layer { name: "positive" type: "AbsVal" bottom: "channels" top: "positive" }
      layer { name: "pool" type: "Pooling" bottom: "positive" top: "pool" pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 } }
      layer { name: "drop" type: "Python" bottom: "pool" top: "drop"
        python_param { module: "spatial_dropout" layer: "SpatialDropoutLayer" param_str: "{p: 0.5, phase: TRAIN}" } }
      layer { name: "half" type: "Dropout" bottom: "drop" top: "half" }
      layer { name: "fc" type: "InnerProduct" bottom: "half" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
      layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" }"""
    param = parse_solver(
        f'base_lr: 0.1 lr_policy: "fixed" iter_size: 2 snapshot_prefix: "{tmp_path.as_posix()}/s" random_seed: 1 solver_mode: CPU'
    )
    param.train_net_param.CopyFrom(parse_net(net))
    whole, other = (Solver(param, log=lambda line: None) for _ in range(2))
    whole.step(4)
    _, state = whole.snapshot()
    whole.step(4)
    for resumed in (other, whole):
        expected = np.array(whole.net.params["fc"][0].data)
        resumed.restore(state)
        resumed.step(4)
        np.testing.assert_array_equal(resumed.net.params["fc"][0].data, expected)


def test_caffes_own_snapshots_are_read(tmp_path):
    for name in ("adam_iter_size2", "sgd_plateau", "adadelta_wd"):
        case = recorded(need(f"golden/solver/{name}.npz"))
        solver = trained(case, "cpu")
        solver.restore(need(f"golden/solver/{name}/snap_iter_20.solverstate"))
        assert solver.iter == 20
        compare(solver, case, 20)
        flat = [np.asarray(arrays[k]) for k in range(solver.method.arrays) for arrays in solver.history]
        for i, array in enumerate(flat):
            np.testing.assert_array_equal(array, case[f"history_{i}"])


def test_the_log_is_caffes():
    lines = []
    small(log=lines.append).solve()
    text = "\n".join(lines)
    assert lines[:2] == ["Solving line", "Learning Rate Policy: multistep"]
    assert "Iteration 2, lr = 0.1" in text
    assert "Iteration 4, lr = 0.05" in text
    (line,) = [x for x in lines if x.startswith("Iteration 2 (")]
    import re

    assert re.fullmatch(r"Iteration 2 \([\d.e+-]+ iter/s, [\d.e+-]+s/2 iters\), loss = [\d.e+-]+", line)
    assert re.search(r"\n    Train net output #0: loss = ([\d.e+-]+) \(\* 1 = \1 loss\)\n", text)
    assert re.search(r"\nIteration 8, loss = ", text)
    assert lines[-1] == "Optimization Done."


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"])
def test_names_that_no_file_can_have_are_refused(name, tmp_path):
    solver, state = small(device="cpu"), tmp_path / "s.solverstate"
    write_state(state, 1, name, solver.rates, [np.asarray(array) for array in chain(*solver.history)])
    with pytest.raises(ModelError, match="a"):
        solver.restore(state)
    with pytest.raises(ModelError, match="a"):
        Solver(SolverParameter(net=name, base_lr=1, lr_policy="fixed"))
    param = SolverParameter()
    param.CopyFrom(solver.param)
    param.weights.append(name)
    with pytest.raises(ModelError, match="a"):
        Solver(param, device="cpu")
    solver.param.snapshot_prefix = name
    with pytest.raises(ModelError, match="a"):
        solver.solve()
    with pytest.raises(ModelError, match="a"):
        solver.net.save(name)
    with pytest.raises(ModelError, match="cannot write /: it is a folder"):
        solver.net.save("/")


def test_weights_of_several_files_are_joined_by_commas(tmp_path):
    """As in Caffe, whose LoadNetWeights splits each `weights`; the later file counts. A name with a comma is one file."""
    net = small(device="cpu").net
    names = ("a.caffemodel", "b.caffemodel", "c,d.caffemodel")
    for number, name in enumerate(names):
        net.params["fc"][0].data[...] = number + 1
        net.save(tmp_path / name)
    for text, wanted in {" a.caffemodel, b.caffemodel": 2, "b.caffemodel,a.caffemodel": 1, names[2]: 3}.items():
        proto = tmp_path / "solver.prototxt"
        proto.write_text(f'{small(device="cpu").param}\nweights: "{text}"')
        assert (np.asarray(Solver(proto, device="cpu", log=lambda line: None).net.params["fc"][0].data) == wanted).all()


def test_test_nets_share_the_weights():
    more = """test_iter: 3 test_interval: 4 test_compute_loss: true
    test_net_param { layer { name: "d" type: "Input" top: "x" top: "y" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 } } }
      layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 2 } }
      layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" } }"""
    lines = []
    solver = small(more=more, log=lines.append)
    solver.solve()
    np.testing.assert_array_equal(solver.test_nets[0].params["fc"][0].data, solver.net.params["fc"][0].data)
    said = [x for x in lines if "Testing net" in x]
    assert said == ["Iteration 0, Testing net (#0)", "Iteration 4, Testing net (#0)", "Iteration 8, Testing net (#0)"]
    assert any(x.startswith("    Test net output #0: loss = ") for x in lines)
    assert any(x.startswith("Test loss: ") for x in lines)


PAIRED = """
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 4 dim: 3 dim: 9 dim: 9 } shape { dim: 4 dim: 8 }
    data_filler { type: "gaussian" std: 1 } data_filler { type: "constant" value: 0.5 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "conv" convolution_param { num_output: 6 kernel_size: 3
    weight_filler { type: "xavier" } } }
  layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
  layer { name: "wide" type: "Deconvolution" bottom: "conv" top: "wide" convolution_param { num_output: 8 kernel_size: 7
    weight_filler { type: "xavier" } } }
  layer { name: "mean" type: "Pooling" bottom: "wide" top: "mean" pooling_param { pool: AVE global_pooling: true } }
  layer { name: "rows" type: "Flatten" bottom: "mean" top: "rows" }
  layer { name: "loss" type: "EuclideanLoss" bottom: "rows" bottom: "t" top: "loss" }
}
base_lr: 0.02 lr_policy: "fixed" momentum: 0.9 max_iter: 30 random_seed: 3 test_iter: 1 test_interval: 100
"""


def test_convolutions_learn_in_bf16():
    """The net that learns rounds, its tests do not, and both ways the loss falls alike."""
    if not bf16_available(open_device("cpu")):
        with pytest.raises(
            DeviceError, match="precision='bf16' needs a CPU with AVX512-BF16 or ARM's BF16, and float32"
        ):
            Solver(parse_solver(PAIRED), device="cpu", precision="bf16")
        pytest.skip("this CPU does not multiply bfloat16")
    losses, weights = [], []
    for precision in (None, "float32", "bf16"):
        solver = Solver(parse_solver(PAIRED), device="cpu", precision=precision, log=lambda line: None)
        assert [solver.net.layer_dict[name].paired for name in ("conv", "wide")] == [precision == "bf16"] * 2
        assert not solver.test_nets[0].layer_dict["conv"].paired
        solver.step(30)
        losses.append(float(solver.net.loss()))
        weights.append(np.array(solver.net.params["conv"][0].data))
        assert weights[-1].dtype == np.float32
    assert losses[0] == losses[1]
    np.testing.assert_array_equal(weights[0], weights[1])
    assert losses[2] == pytest.approx(losses[0], rel=0.05)
    apart = np.abs(weights[2] - weights[0]).max() / np.abs(weights[0]).max()
    assert 1e-6 < apart < 0.02
    with pytest.raises(DeviceError, match="precision='bf16' is not reproducible"):
        Solver(parse_solver(PAIRED), device="cpu", precision="bf16", reproducible=True)
    with pytest.raises(DeviceError, match="and float32; this is cpu"):
        Solver(parse_solver(PAIRED), device="cpu", precision="bf16", dtype=np.float64)


def test_a_stop_ends_after_the_iteration_and_can_snapshot(tmp_path):
    lines = []
    solver = small(more=f'snapshot_prefix: "{tmp_path.as_posix()}/s"', log=lines.append)
    solver.add_callback(on_gradients=lambda: solver.stop(snapshot=True) if solver.iter == 2 else None)
    solver.solve()
    assert solver.iter == 3
    assert (tmp_path / "s_iter_3.solverstate").exists()
    assert sum("Snapshotting solver state" in line for line in lines) == 1  # the end does not write it again


def test_clipping_comes_before_iter_size_and_decay():
    for iter_size, wanted in ((1, 1e-3), (2, 0.5e-3)):
        solver = small(more=f"clip_gradients: 0.01 iter_size: {iter_size}", dtype=np.float64)
        solver.param.weight_decay = 0
        before = [blob.data.copy() for blob in solver.net.params["fc"]]
        solver.step(1)
        moved = sum(((blob.data - b) ** 2).sum() for blob, b in zip(solver.net.params["fc"], before)) ** 0.5
        assert moved == pytest.approx(wanted, rel=1e-6)  # the rate is 0.1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("SGD", "SDG"), "unknown type 'SDG'; did you mean 'SGD'"),
        (("multistep", "multistop"), "unknown lr_policy 'multistop'; did you mean 'multistep'"),
        (("gamma: 0.5", ""), "lr_policy 'multistep' needs gamma"),
        (("TYPE", "AdaGrad"), "AdaGrad has no momentum"),
        (("train_net_param", "net: 'x' train_net_param"), "must be named once"),
        (("display: 2", "display: 2 test_iter: 3"), "1 test_iter values for 0 test nets"),
        (("display: 2", "display: 2 iter_size: 0"), "iter_size and average_loss count from 1"),
        (("display: 2", "display: 2 regularization_type: 'L3'"), "regularization_type must be L1 or L2"),
        (('"TYPE"', '"Adam" momentum2: 1'), "momentum2 of Adam must be from 0 to below 1, got 1"),
        (('type: "TYPE"', "solver_type: SAG"), "unknown type 'SAG'"),
        (("display: 2", "display: 2 test_iter: -1 test_interval: 2"), r"test_iter counts batches from 0, got \[-1\]"),
        (
            ("display: 2", "display: 2 rampup_interval: 10 rampup_lr: 0.01"),
            "rampup_interval of a fork of Caffe is not supp",
        ),
        (
            ("display: 2", "display: 2 clip_weights: 0.01"),
            "clip_weights of a fork of Caffe is not supported; remove it",
        ),
    ],
)
def test_a_wrong_solver_is_named(change, words):
    text = SOLVER.replace(*change) if change[0] in SOLVER else SOLVER.replace("TYPE", change[1])
    with pytest.raises(ModelError, match=words):
        Solver(parse_solver(text.replace("TYPE", "SGD")), log=lambda line: None)


def test_every_field_of_a_solver_is_read_or_in_a_table():
    """Else a fork's schedule would be passed over in silence."""
    of_forks = {*fork_fields.REFUSED, *fork_fields.PASSED_OVER, *fork_fields.OF_OTHERS}
    names = {field.name for field in SolverParameter.DESCRIPTOR.fields}
    assert of_forks <= names
    files = [ROOT / "boxpresso/proto/upgrade.py", *(ROOT / "boxpresso/train").glob("*.py")]
    text = "".join(path.read_text("utf-8") for path in files if path.name not in ("fork_fields.py", "rate_range.py"))
    assert [name for name in sorted(names - of_forks) if not re.search(rf"\b{name}\b", text)] == []
    assert [name for name in of_forks if re.search(rf"p(aram)?\.{name}\b", text)] == []


def test_the_old_form_of_the_type_counts_in_a_message_too():
    """A SolverParameter that a script filled trained with SGD, whatever its solver_type."""
    param = parse_solver(SOLVER.replace('type: "TYPE"', ""))
    param.solver_type = SolverParameter.ADAM
    solver = Solver(param, log=lambda line: None)
    assert (solver.method, solver.param.type) == (METHODS["Adam"], "Adam")


def test_what_a_training_passes_over_is_said():
    with pytest.warns(UserWarning, match="solver: snapshot_diff is not supported, and is passed over"):
        small(more="snapshot_diff: true")
    small(more="min_lr: 0 larc_eta: 0.1 layer_wise_reduce: false test_average: true")  # what changes nothing


def test_a_test_of_no_batches_has_no_outputs():
    """As in Caffe, whose users leave a test out so."""
    lines = []
    solver = small(
        more="test_iter: 0 test_interval: 4 test_compute_loss: true "
        "test_net_param { layer { name: 'n' type: 'DummyData' top: 'n' dummy_data_param { shape { } } } }",
        log=lines.append,
    )
    solver.step(1)
    assert solver.test() == [{}]
    assert "Iteration 0, Testing net (#0)" in lines
    assert not any("Test net output" in line or "Test loss" in line for line in lines)


def test_snapshots_without_a_prefix_are_refused_before_the_training():
    solver = small(more="snapshot: 4")
    with pytest.raises(ModelError, match="a snapshot needs snapshot_prefix"):
        solver.solve()
    assert solver.iter == 0
    small(more="snapshot: 9").solve()  # of 8 iterations


def test_a_state_of_another_kind_is_refused(tmp_path):
    sgd, adam = small(more=f'snapshot_prefix: "{tmp_path.as_posix()}/s"'), small("Adam")
    model, state = sgd.snapshot()
    with pytest.raises(ModelError, match="another net or solver type"):
        adam.restore(state)
    with pytest.raises(ModelError, match=r"is not a \.solverstate"):
        sgd.restore(model)
    (tmp_path / "x.solverstate").write_text("<html>")
    with pytest.raises(ModelError, match="HTML"):
        sgd.restore(tmp_path / "x.solverstate")
    with pytest.raises(ModelError, match="snapshot_prefix"):
        small().snapshot()


def plateau(losses: list[float], windows: list[int]) -> list[int]:
    """The step of `plateau` at each iteration, from its definition: a window passes without a new lowest loss."""
    steps, lowest, since = [], float("inf"), 0
    step = 0
    for iteration, loss in enumerate(losses):
        if loss < lowest:
            lowest, since = loss, iteration
        elif step < len(windows) and iteration - since >= windows[step]:
            step, since = step + 1, iteration
        steps.append(step)
    return steps


LOSSES = [9.0, 8, 8, 8, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 6]
POLICIES = {  # the fields, and the rate at each iteration over base_lr, from the definition
    "fixed": ({}, lambda i: 1),
    "step": ({"gamma": 0.5, "stepsize": 4}, lambda i: 0.5 ** (i // 4)),
    "exp": ({"gamma": 0.5}, lambda i: 0.5**i),
    "inv": ({"gamma": 0.25, "power": 0.5}, lambda i: 1 / (1 + 0.25 * i) ** 0.5),
    "multistep": ({"gamma": 0.5, "stepvalue": [3, 4, 9]}, lambda i: 0.5 ** sum(i >= value for value in (3, 4, 9))),
    "poly": ({"power": 2, "max_iter": 12}, lambda i: max(0, 1 - i / 12) ** 2),
    "sigmoid": ({"gamma": -0.5, "stepsize": 7}, lambda i: 1 / (1 + np.exp(0.5 * (i - 7)))),
    "plateau": ({"gamma": 0.5, "plateau_winsize": [3, 4, 5]}, lambda i: 0.5 ** plateau(LOSSES, [3, 4, 5])[i]),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_rates_are_those_of_the_definition(policy):
    """At, before and after each step, also where a training was resumed in between."""
    fields, factor = POLICIES[policy]
    assert set(POLICIES) == set(Rates.NEEDS)
    param = SolverParameter(base_lr=0.5, lr_policy=policy, **fields)
    wanted = [0.5 * factor(i) for i in range(15)]
    rates = Rates(param)
    assert [rates.at(i, LOSSES[i]) for i in range(15)] == pytest.approx(wanted, rel=1e-12, abs=0)
    for start in range(15):
        first, second = Rates(param), Rates(param)
        for i in range(start):
            first.at(i, LOSSES[i])
        second.progress = first.progress
        assert [second.at(i, LOSSES[i]) for i in range(start, 15)] == pytest.approx(wanted[start:], rel=1e-12, abs=0)


def test_plateau_here_is_worked_out_by_hand():
    assert plateau(LOSSES, [3, 4, 5]) == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize("policy", ["fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid"])
def test_a_solver_updates_with_the_rate_of_its_iteration(policy):
    """Without momentum and decay an update is the rate times the gradient."""
    fields, factor = POLICIES[policy]
    fields = {"max_iter": 12, **fields}
    param = parse_solver(SOLVER.replace("TYPE", "SGD"))
    for name in ("momentum", "weight_decay", "display", "stepvalue", "gamma"):
        param.ClearField(name)
    param.MergeFrom(SolverParameter(lr_policy=policy, **fields))
    gradients = []
    solver = Solver(
        param, dtype=np.float64, log=lambda line: None, feed=lambda net: net.blobs["x"].data.__setitem__(..., 1)
    )
    solver.add_callback(on_gradients=lambda: gradients.append(solver.net.params["fc"][1].diff.copy()))
    solver.net.blobs["y"].data[...] = 5
    for i in range(12):
        before = solver.net.params["fc"][1].data.copy()
        solver.step(1)
        wanted = 0.1 * factor(i)
        assert solver.rate == pytest.approx(wanted, rel=1e-6)
        np.testing.assert_allclose(
            before - solver.net.params["fc"][1].data, wanted * gradients[i], rtol=1e-5, atol=1e-12
        )


# A test net shares the weights of the net that learns: whatever changes them, its next forward has them.

TESTED = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } } }
layer { name: "y" type: "Input" top: "y" input_param { shape { dim: 4 } } }
layer { name: "conv" type: "Convolution" bottom: "x" top: "conv"
        convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "conv" }
layer { name: "scale" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "fc" type: "InnerProduct" bottom: "conv" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "p" type: "Softmax" bottom: "fc" top: "p" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }
"""
PIXELS = np.random.default_rng(0).standard_normal((4, 3, 8, 8)).astype(np.float32)
LABELS = np.arange(4)


def fill(net) -> None:
    net.blobs["x"].data[...], net.blobs["y"].data[...] = PIXELS, LABELS


def manual_step(solver: Solver) -> None:
    """What a script of pycaffe does in place of `step`."""
    solver.net.clear_param_diffs()
    fill(solver.net)
    solver.net.forward()
    solver.net.backward()
    for blobs in solver.net.params.values():
        for blob in blobs:
            blob.data[...] -= 0.1 * blob.diff


def edit(solver: Solver) -> None:
    solver.net.params["fc"][0].data[...] = 0
    solver.net.params["conv"][1].data[...] += 1


def edit_test_net(solver: Solver) -> None:
    solver.test_nets[0].params["fc"][0].data[...] *= -1


def restore(solver: Solver) -> None:
    solver.restore(f"{solver.param.snapshot_prefix}_iter_5.solverstate")


def copy_weights(solver: Solver) -> None:
    solver.net.copy_from(f"{solver.param.snapshot_prefix}_iter_5.caffemodel")


def copy_into_test_net(solver: Solver) -> None:
    solver.test_nets[0].copy_from(f"{solver.param.snapshot_prefix}_iter_5.caffemodel")


CHANGES = {
    "step": lambda solver: solver.step(2),
    "restore": restore,
    "restore_latest": lambda solver: solver.restore_latest(),
    "copy_from": copy_weights,
    "copy_from of the test net": copy_into_test_net,
    "an edit in place": edit,
    "an edit of the test net": edit_test_net,
    "SGD by hand": manual_step,
}


@pytest.fixture(params=["", "after a test", "after a step"])
def tested(request, device, tmp_path):
    """A solver whose test net has run, with a snapshot of iteration 5 that has other weights."""
    param = parse_solver(
        'base_lr: 0.02 momentum: 0.9 lr_policy: "fixed" max_iter: 20 random_seed: 1 test_iter: 1 test_interval: 1000 '
        f'test_initialization: false snapshot_prefix: "{tmp_path.as_posix()}/s"'
    )
    param.net_param.CopyFrom(parse_net(TESTED))

    def make() -> Solver:
        return Solver(param, device=device, log=lambda line: None, feed=fill)

    other = make()
    other.step(5)
    other.snapshot()
    solver = make()
    if request.param == "after a test":
        solver.test()
    if request.param == "after a step":
        solver.step(1)
    check_test_net(solver)
    return solver


def check_test_net(solver: Solver) -> np.ndarray:
    """Compares the test net with a new net of the same weights, layer by layer. Returns the outputs."""
    fresh = Net(parse_net(TESTED), phase="TEST", device=solver.net.device.name, optimize=False)
    for name, blobs in solver.net.params.items():
        for mine, blob in zip(fresh.params[name], blobs, strict=True):
            mine.data[...] = np.array(blob.data)
    wanted = np.array(fresh.forward(x=PIXELS, y=LABELS)["p"])
    got = np.array(solver.test_nets[0].forward(x=PIXELS, y=LABELS)["p"])
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    return got


@pytest.mark.parametrize("change", CHANGES)
def test_a_test_net_follows_the_weights(change, tested):
    before = check_test_net(tested)
    for _ in range(2):
        CHANGES[change](tested)
        after = check_test_net(tested)
    assert np.abs(after - before).max() > 1e-3 or change == "an edit of the test net"  # which turns the signs twice


@pytest.mark.parametrize("whose", ["the net's", "the test net's"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_test_net_follows_edits_of_arrays_that_were_held_before(change, whose, tested):
    net = tested.net if whose == "the net's" else tested.test_nets[0]
    held = [net.params["fc"][0].data, net.params["conv"][0].data]
    CHANGES[change](tested)
    before = check_test_net(tested)
    for array in held:
        array[...] = 0.3 * np.random.default_rng(1).standard_normal(array.shape)
    after = check_test_net(tested)
    assert np.abs(after - before).max() > 1e-3


def test_a_solvers_test_uses_the_weights_as_they_are(tested):
    tested.net.params["fc"][0].data[...] = 0
    tested.net.params["fc"][1].data[...] = 0
    (means,) = tested.test()
    assert means["loss"] == pytest.approx(np.log(4), rel=1e-6)


def test_a_solvers_test_follows_a_net_that_shares_anothers_weights(tested):
    """As in Caffe, whose solver shares them anew for each test."""
    other = Net(parse_net(TESTED), phase="TRAIN", device=tested.net.device.name, lazy=True)
    for blob in other.params["fc"]:
        blob.data[...] = 0
    tested.net.share_with(other)
    (means,) = tested.test()
    assert means["loss"] == pytest.approx(np.log(4), rel=1e-6)


SHARED = """
    layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 4 dim: 3 }
            data_filler { type: "gaussian" std: 1 } } }
    layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" FIRST } inner_product_param { num_output: 3
            bias_term: false weight_filler { type: "xavier" } } }
    layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" param { name: "w" SECOND } inner_product_param { num_output: 3
            bias_term: false weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "b" bottom: "y" top: "loss" }"""


@pytest.mark.parametrize(
    ("first", "second"), [("lr_mult: 4 decay_mult: 2", ""), ("", "lr_mult: 4 decay_mult: 2"), ("lr_mult: 4", "decay_mult: 2")]
)  # fmt: skip
def test_a_shared_parameter_has_the_multipliers_that_any_of_its_layers_gives(first, second):
    """One step from the formula: w - 4 rate (gradient + 2 decay w)."""
    param = parse_solver('base_lr: 0.01 lr_policy: "fixed" weight_decay: 0.5 random_seed: 1')
    param.net_param.CopyFrom(parse_net(SHARED.replace("FIRST", first).replace("SECOND", second)))
    solver = Solver(param, device="cpu", dtype=np.float64, log=lambda line: None)
    w = np.array(solver.net.params["a"][0].data)
    solver.step(1)
    x, y = (np.array(solver.net.blobs[name].data) for name in "xy")
    a = x @ w.T
    diff = (a @ w.T - y) / 4
    wanted = w - 0.04 * (diff.T @ a + (diff @ w).T @ x + 2 * 0.5 * w)
    np.testing.assert_allclose(solver.net.params["b"][0].data, wanted, rtol=1e-6)


@pytest.mark.parametrize("field", ["lr_mult", "decay_mult"])
def test_layers_that_give_a_shared_parameter_different_multipliers_are_refused(field):
    text = SHARED.replace("FIRST", f"{field}: 1").replace("SECOND", f"{field}: 0")
    with pytest.raises(LayerError, match=f"layer 'b': parameter 0 has {field} 0, but 'w'.*layer 'a', has 1"):
        Net(parse_net(text), device="cpu")
