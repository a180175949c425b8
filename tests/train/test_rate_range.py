"""`boxpresso train --find-lr`: the rates that are tried, the suggestion, and that nothing else is changed."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.__main__ import main
from boxpresso.proto import BoxpressoError
from boxpresso.train.rate_range import find_rate

# One weight w and a loss of (3 w - 6)^2 / 2: by gradient descent w - 2 shrinks by 1 - 9 rate, and grows from 2 / 9 on.
NET = """
layer { name: "x" type: "DummyData" top: "x" top: "y"
        dummy_data_param { shape { dim: 1 dim: 1 } shape { dim: 1 dim: 1 } data_filler { value: 3 } data_filler { value: 6 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 1 bias_term: false } }
layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.5 lr_policy: "step" gamma: 0.1 stepsize: 3 max_iter: 40 display: 10 snapshot: 5 random_seed: 1
snapshot_prefix: "snap" test_iter: 1 test_interval: 2 solver_mode: CPU
"""


@pytest.fixture
def solver(tmp_path, monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    folder = tmp_path / "nets"
    folder.mkdir()
    (folder / "net.prototxt").write_text(NET)
    (folder / "solver.prototxt").write_text(SOLVER)
    monkeypatch.chdir(tmp_path)
    return folder / "solver.prototxt"


def by_hand(rates):
    """The losses of gradient descent in float64."""
    w, losses = 0.0, []
    for rate in rates:
        losses.append((3 * w - 6) ** 2 / 2)
        w -= rate * 3 * (3 * w - 6)
    return losses


def test_the_losses_are_those_of_growing_rates(solver):
    search = find_rate(solver, low=1e-4, high=10, steps=60)
    wanted = np.geomspace(1e-4, 10, 60)[: len(search.rates)]
    np.testing.assert_allclose(search.rates, wanted, rtol=1e-4)
    # then it is near 0, and grows from there
    np.testing.assert_allclose(search.losses[:45], by_hand(wanted)[:45], rtol=1e-3, atol=1e-6)
    assert len(search.rates) < 60  # it diverges, and the test ends there
    assert search.own == 0.5
    best = int(np.argmin(search.smoothed))
    assert search.rate == pytest.approx(search.rates[best] / 10)
    assert 0.001 < search.rate < 2 / 9


def test_the_command_writes_a_picture_alone(solver, capsys):
    weights = solver.with_name("start.caffemodel")
    net = Net(solver.with_name("net.prototxt"), phase="TRAIN")
    net.params["fc"][0].data[...] = 1
    net.save(weights)
    before = {path: path.read_bytes() for path in solver.parent.iterdir()}
    assert main(["train", "--solver", str(solver), "--find-lr", "--weights", str(weights)]) == 0
    out = capsys.readouterr().out
    assert "suggested base_lr: " in out
    assert "(the solver has 0.5)" in out
    rows = [line.split() for line in out.splitlines()[1:21]]
    assert rows[0][:2] == ["1.00e-06", "4.5"]  # of w = 1
    after = {path: path.read_bytes() for path in solver.parent.iterdir() if path.suffix != ".png"}
    assert after == before
    assert not [path for path in solver.parent.parent.iterdir() if path != solver.parent]


def test_what_cannot_be_found(solver, capsys):
    with pytest.raises(BoxpressoError, match="the loss did not fall at any rate from 3 to"):
        find_rate(solver, low=3, high=10, steps=5)
    assert main(["train", "--solver", str(solver), "--find-lr", "--snapshot", "x.solverstate"]) == 1
    assert "--find-lr starts with the solver's weights" in capsys.readouterr().err
