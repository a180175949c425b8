"""The verbs train, test and plot."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from shared import need

from boxpresso import ModelError, Net
from boxpresso.__main__ import main
from boxpresso.train.curves import read_curves
from boxpresso.train.ranks import Ranks


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch):
    """Also where the tests run with BOXPRESSO_DEBUG, which lets errors through."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


NET = """
name: "line"
layer { name: "x" type: "DummyData" top: "x" top: "y"
        dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 }
                           data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "step" gamma: 0.5 stepsize: 20 max_iter: MAX display: 10 random_seed: 1
solver_mode: CPU snapshot_prefix: "FOLDER/snap" test_iter: 2 test_interval: 20
"""


@pytest.fixture
def solver(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    path = tmp_path / "solver.prototxt"
    path.write_text(SOLVER.replace("FOLDER", str(tmp_path)).replace("MAX", "40"))
    return path


def test_train_logs_snapshots_and_plots(solver, tmp_path, capsys):
    assert main(["train", "--solver", str(solver)]) == 0
    log = capsys.readouterr().err
    assert re.search(r"^I\d{4} [\d:.]+ +\d+ solver\.py:1\] Iteration 10 \(", log, re.M)
    assert "Optimization Done." in log
    assert (tmp_path / "snap_iter_40.solverstate").exists()
    curves = read_curves(log.splitlines())
    assert [at for at, _ in curves.loss] == [0, 10, 20, 30, 40]
    assert curves.loss[-1][1] < curves.loss[0][1] / 10
    assert curves.rate[-1] == (30, 0.05)
    assert [at for at, _ in curves.tests["loss"]] == [0, 20, 40]
    (tmp_path / "log.txt").write_text(log)
    pytest.importorskip("matplotlib")
    assert main(["plot", str(tmp_path / "log.txt")]) == 0
    assert (tmp_path / "log.txt.png").stat().st_size > 10_000


def test_training_goes_on_from_a_snapshot_and_from_weights(solver, tmp_path, capsys):
    assert main(["train", "--solver", str(solver)]) == 0
    solver.write_text(solver.read_text().replace("max_iter: 40", "max_iter: 50"))
    assert main(["train", "--solver", str(solver), "--snapshot", str(tmp_path / "snap_iter_40.solverstate")]) == 0
    assert "Iteration 40, lr = 0.025" in capsys.readouterr().err
    assert (tmp_path / "snap_iter_50.caffemodel").exists()
    assert main(["train", "--solver", str(solver), "--weights", str(tmp_path / "snap_iter_50.caffemodel")]) == 0
    assert "Copied 1 layers" in capsys.readouterr().err
    assert main(["train", "--solver", str(solver), "--weights", "a", "--snapshot", "b"]) == 1
    assert "exclude each other" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals as POSIX has them")
def test_signals(solver, tmp_path):
    solver.write_text(
        solver.read_text().replace("max_iter: 40", "max_iter: 100000000").replace("display: 10", "display: 1000")
    )
    command = [sys.executable, "-m", "boxpresso", "train", "--solver", str(solver)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "TERM": "dumb"})
    try:
        for line in process.stderr:
            if "Iteration 1000 " in line:
                break
        process.send_signal(signal.SIGHUP)
        for _ in range(200):
            if list(tmp_path.glob("snap_iter_*.solverstate")):
                break
            time.sleep(0.05)
        assert len(list(tmp_path.glob("snap_iter_*.solverstate"))) == 1
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.stderr.close()
    assert "Optimization stopped early." in rest
    assert len(list(tmp_path.glob("snap_iter_*.solverstate"))) == 2


def test_test_prints_means(solver, tmp_path, capsys):
    net = Net(tmp_path / "net.prototxt", device="cpu", seed=0)
    net.params["fc"][0].data[...] = 0
    net.save(tmp_path / "w.caffemodel")
    assert main(["test", str(tmp_path / "net.prototxt"), str(tmp_path / "w.caffemodel"), "--iterations", "3"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "loss = 1 (* 1 = 1 loss)"
    assert "Batch 2, loss = 1" in out


def test_a_log_of_caffe_itself():
    log = need("models/v1_everpeace/train_log.txt").read_text(errors="replace")
    curves = read_curves(log.splitlines())
    assert curves.rate[0] == (0, 0.001)
    assert curves.tests["accuracy"][0] == (0, 0.0926)
    assert len(curves.loss) > 30
    assert np.isfinite([v for _, v in curves.loss]).all()


def test_errors(tmp_path, capsys):
    (tmp_path / "empty.txt").write_text("hello\n")
    assert main(["plot", str(tmp_path / "empty.txt")]) == 1
    assert "no line of a training log" in capsys.readouterr().err
    assert main(["plot", str(tmp_path / "none.txt")]) == 1
    assert "cannot read the log" in capsys.readouterr().err
    assert main(["train", "--solver", str(tmp_path / "none.prototxt")]) == 1
    assert "none.prototxt" in capsys.readouterr().err


def test_of_several_ranks_one_writes_the_project_of_a_folder(monkeypatch, capsys):
    """All of them did, and all but the first found that it exists already, while that one waited for them."""
    ranks, seen = Ranks(), []
    ranks.rank, ranks.size = 1, 2
    monkeypatch.setattr(ranks, "together", contextlib.nullcontext)
    monkeypatch.setattr(ranks, "common", lambda value: ("p/solver.prototxt", "p/train.log", "auto", "bf16"))
    monkeypatch.setattr("boxpresso.train.ranks.open_ranks", lambda: ranks)
    monkeypatch.setattr(
        "boxpresso.cli.train.prepared", lambda args: pytest.fail("a rank that is not the first writes it")
    )

    def solver(source, **options):
        seen.append((source, options["ranks"], options["precision"]))
        raise ModelError("far enough")

    monkeypatch.setattr("boxpresso.train.Solver", solver)
    assert main(["train", "pictures"]) == 1
    assert seen == [("p/solver.prototxt", ranks, "bf16")]  # what the first one has found to be faster
    assert "far enough" in capsys.readouterr().err
