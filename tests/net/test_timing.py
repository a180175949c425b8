"""`boxpresso time`: layers by cost, sums by type, the steps of a plan."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tiny_ssd import TINY, tiny_net, write_tiny

from boxpresso import Net
from boxpresso.__main__ import main
from boxpresso.proto import ModelError, parse_net
from boxpresso.summary import summarise_plan
from boxpresso.timing import time_net, time_plan, timing_net


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


def test_shares_and_types_are_sums_of_the_layers():
    net = timing_net(parse_net(TINY), device="cpu")
    times = time_net(net, 2)
    order = times.order()
    both = [ahead + back for ahead, back in zip(times.forward, times.backward)]
    assert [both[i] for i in order] == sorted(both, reverse=True)
    assert sum(map(times.share, range(len(both)))) == pytest.approx(1)
    rows = {row.type: row for row in times.by_type()}
    assert [row.forward + row.backward for row in rows.values()] == sorted(
        (row.forward + row.backward for row in rows.values()), reverse=True
    )
    assert rows["Convolution"].layers == 3
    where = [i for i, layer in enumerate(net.layers) if layer.type == "Convolution"]
    assert rows["Convolution"].forward == pytest.approx(sum(times.forward[i] for i in where))
    assert rows["Convolution"].backward == pytest.approx(sum(times.backward[i] for i in where))
    assert sum(row.layers for row in rows.values()) == len(net.layers)


def test_a_plan_is_timed_step_by_step(device):
    """The steps are those of the plan, each is run, and they leave the net with the results of a forward."""
    net = Net(parse_net(TINY), device=device)
    for name, blobs in tiny_net().params.items():
        for mine, other in zip(net.params[name], blobs):
            mine.data[...] = other.data
    net.blobs["data"].data[...] = np.random.default_rng(0).random(net.blobs["data"].shape) * 255
    before = {name: np.array(value) for name, value in net.forward().items()}
    seen: list[int] = []
    times = time_plan(net, 2, report=lambda i, seconds: seen.append(i))
    assert seen == [1, 2]
    assert len(times.passes) == 2
    once = [row.what == "once" for row in times.steps]
    assert all((value == 0) == zero for value, zero in zip(times.seconds, once))
    assert sum(map(times.share, range(len(once)))) == pytest.approx(1)
    for name, value in before.items():
        np.testing.assert_array_equal(net.blobs[name].data, value)
    assert [(row.what, row.layers) for row in times.steps] == [
        (row.what, row.layers) for row in summarise_plan(net).steps
    ]


def test_large_values_of_a_batch_are_timed_image_by_image():
    text = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 8 dim: 64 dim: 96 } } }
    layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 16 kernel_size: 3 pad: 1 } }
    layer { name: "b" type: "ReLU" bottom: "a" top: "a" }
    layer { name: "c" type: "Convolution" bottom: "a" top: "c" convolution_param { num_output: 8 kernel_size: 1 } }"""
    net = timing_net(parse_net(text), backward=False, device="cpu")
    before = np.array(net.forward()["c"])
    (program,) = net._runner.describe()
    assert any(images == 3 for _, _, images in program.groups), "the net is too small for this test"
    net.blobs["c"].data[...] = 0
    times = time_plan(net, 1)
    assert min(times.seconds) > 0
    np.testing.assert_array_equal(net.blobs["c"].data, before)


def test_a_net_without_a_plan_is_an_error():
    net = Net(parse_net(TINY), device="cpu", optimize=False)
    with pytest.raises(ModelError, match="has no plan to time"):
        time_plan(net, 1)


# The command


def call(capsys, *words: object) -> str:
    status = main(["time", *map(str, words), "--device", "cpu", "--iterations", "2"])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


def test_sort_and_sums(capsys, tmp_path):
    tiny = write_tiny(tmp_path)
    plain = call(capsys, *tiny)
    caffe, _, more = plain.partition("*** Benchmark ends ***\n")
    names = [layer.name for layer in tiny_net().layers]
    assert re.findall(r"^ *(\S+)\tforward: [\d.e-]+ ms\.$", caffe, re.M) == names  # Caffe's lines, in the net's order
    assert re.findall(r"^ *(\S+)\tbackward: [\d.e-]+ ms\.$", caffe, re.M) == names
    assert "%" not in caffe
    shares = [float(text) for text in re.findall(r"^[A-Z]\w+ +\d+ +[\d.]+ +[\d.]+ +([\d.]+)%$", more, re.M)]
    assert len(shares) == len({layer.type for layer in tiny_net().layers})
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=1)
    assert "Timed: the layers one by one" in more
    assert max(map(len, more.splitlines())) <= 80
    by_cost = call(capsys, *tiny, "--sort")
    rows = re.findall(r"^ *(\S+)\tforward: ([\d.e-]+) ms\.\t([\d.]+)%\n *\1\tbackward: ([\d.e-]+) ms\.$", by_cost, re.M)
    assert sorted(name for name, *_ in rows) == sorted(names)
    both = [float(ahead) + float(back) for _, ahead, _, back in rows]
    assert both == pytest.approx(sorted(both, reverse=True), rel=1e-3)


def test_plan(capsys, tmp_path):
    out = call(capsys, *write_tiny(tmp_path), "--plan")
    assert re.search(r"^ *[\d.]+ +[\d.]+% +convolution +feature$", out, re.M)
    assert re.search(r"^ *0\.000 +0\.0% +once +priors$", out, re.M)
    assert re.search(r"^Average Forward pass: [\d.e-]+ ms\.$", out, re.M)
    assert "Average Backward pass" not in out
    assert main(["time", str(tmp_path / "tiny.prototxt"), "--plan", "--phase", "train", "--device", "cpu"]) == 1
    assert "has no plan to time" in capsys.readouterr().err
