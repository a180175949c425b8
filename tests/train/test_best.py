"""The weights of the best test: kept beside the snapshots, known again after a resume, and what patience ends."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from boxpresso import ModelError, Net, Solver
from boxpresso.__main__ import main
from boxpresso.data.coco import dataset_of, evaluate_coco
from boxpresso.proto import SolverParameter, parse_net, parse_solver
from boxpresso.train.best import Best, Score, score_of
from boxpresso.train.evaluation import Boxes

LEARNS = """
    layer { name: "data" type: "Input" top: "x" top: "y"
            input_param { shape { dim: 8 dim: 4 } shape { dim: 8 dim: 2 } } }
    layer { name: "norm" type: "BatchNorm" bottom: "x" top: "normed" batch_norm_param { moving_average_fraction: 0.5 } }
    layer { name: "fc" type: "InnerProduct" bottom: "normed" top: "fc"
            inner_product_param { num_output: 2 weight_filler { type: "gaussian" std: 0.1 } } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }"""


def solver_of(folder: Path, more: str = "", iterations: int = 8, **options) -> Solver:
    """A regression whose targets turn over after four iterations, so that its tests become worse; tested on the first ones."""
    param: SolverParameter = parse_solver(
        f'base_lr: 0.5 lr_policy: "fixed" max_iter: {iterations} test_interval: 1 test_iter: 1 display: 1 random_seed: 1 '
        f'snapshot_prefix: "{(folder / "net").as_posix()}" {more}'
    )
    param.train_net_param.CopyFrom(parse_net(LEARNS))
    param.test_net_param.add().CopyFrom(parse_net(LEARNS))
    draws = np.random.default_rng(3)
    x, by = draws.normal(size=(8, 4)), draws.normal(size=(4, 2))

    def feed(net: Net) -> None:
        turned = net is solver.net and solver.iter >= 4
        net.blobs["x"].data[...] = x * (1 if net is not solver.net else 1 + 0.1 * solver.iter)
        net.blobs["y"].data[...] = -(x @ by) if turned else x @ by

    lines: list[str] = []
    solver = Solver(param, device="cpu", feed=feed, log=lines.append, **options)
    solver.lines = lines
    return solver


def losses_of(solver: Solver) -> list[float]:
    return [float(line.split(" = ")[1].split(" ")[0]) for line in solver.lines if "Test net output" in line]


def test_the_weights_of_the_best_test_are_kept(tmp_path):
    solver = solver_of(tmp_path, "snapshot: 1", keep_best=True)
    solver.solve()
    losses = losses_of(solver)
    assert len(losses) == 9  # before each iteration, and of what the last one left
    best = int(np.argmin(losses))
    assert 2 <= best <= 5  # a test of which the figures show that it is in between
    assert solver.best.best.iteration == best
    for name, i in (("norm", 0), ("norm", 1), ("norm", 2), ("fc", 0), ("fc", 1)):
        saved, there = (Net(parse_net(LEARNS), tmp_path / file, device="cpu").params[name][i].data
                       for file in ("net_best.caffemodel", f"net_iter_{best}.caffemodel"))  # fmt: skip
        np.testing.assert_array_equal(saved, there)
    noted = json.loads((tmp_path / "net_best.json").read_text())
    assert noted == {"name": "loss", "value": pytest.approx(losses[best], rel=1e-5), "larger": False, "iteration": best}
    assert solver.best.summary().startswith(f"Best test: loss = {losses[best]:.6g} at iteration {best} (")
    assert not list(tmp_path.glob("*.part"))


def test_what_is_tested_last_is_what_was_saved(tmp_path):
    """The pass that shows the last loss changes running statistics; the last test is of those in the snapshot."""
    solver = solver_of(tmp_path, iterations=3, keep_best=True)
    solver.solve()
    again = solver_of(tmp_path, iterations=3)
    again.restore(tmp_path / "net_iter_3.solverstate")
    again.test()
    assert losses_of(solver)[-1] == losses_of(again)[-1]


def test_a_resumed_training_knows_the_best(tmp_path):
    solver_of(tmp_path, "snapshot: 1", iterations=6, keep_best=True).solve()
    saved = (tmp_path / "net_best.caffemodel").read_bytes()
    resumed = solver_of(tmp_path, "snapshot: 1", keep_best=True)
    resumed.solve("auto")
    assert (tmp_path / "net_best.caffemodel").read_bytes() == saved  # its own tests are worse
    anew = solver_of(tmp_path, iterations=1, keep_best=True)
    anew.solve()
    assert anew.best.best.iteration <= 1
    assert (tmp_path / "net_best.caffemodel").read_bytes() != saved


def test_patience_ends_a_training_with_a_snapshot(tmp_path):
    solver = solver_of(tmp_path, iterations=50, patience=3)
    solver.solve()
    best = solver.best.best.iteration
    assert solver.iter == best + 4  # the iteration whose test was the third one without a better
    assert (tmp_path / f"net_iter_{solver.iter}.solverstate").exists()
    assert "No better test for 3 tests: training ends." in solver.lines
    with pytest.raises(ModelError, match="test_interval asks for none"):
        Best(SolverParameter(snapshot_prefix="x"), print, patience=3)
    with pytest.raises(ModelError, match="takes snapshot_prefix"):
        Best(SolverParameter(test_interval=1), print)


@pytest.mark.parametrize("ended", [2, 3, 4, 6])
def test_a_resumed_training_has_the_patience_that_is_left(ended, tmp_path):
    """It ends where it would have ended uninterrupted; the test at a snapshot comes again, and counts once."""
    whole = solver_of(tmp_path, "snapshot: 1", iterations=50, patience=3)
    whole.solve()
    assert whole.best.best.iteration == 3
    for path in tmp_path.iterdir():
        if any(path.name.startswith(f"net_iter_{i}.") for i in range(ended + 1, 50)):
            path.unlink()
    resumed = solver_of(tmp_path, "snapshot: 1", iterations=50, patience=3)
    resumed.solve("auto")
    assert (resumed.iter, resumed.best.best.iteration) == (whole.iter, whole.best.best.iteration)


def test_nothing_is_kept_where_nobody_asked(tmp_path):
    solver = solver_of(tmp_path, "snapshot_after_train: false", iterations=2)
    solver.solve()
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_full_ends_no_training(tmp_path, monkeypatch):
    solver = solver_of(tmp_path, "snapshot_after_train: false", iterations=2, keep_best=True)

    def full(path: object) -> None:
        raise ModelError(f"cannot write {path}: No space left on device")  # as Net.save says it

    monkeypatch.setattr(solver.net, "save", full)
    solver.solve()
    assert solver.iter == 2
    assert any("cannot be kept: cannot write" in line for line in solver.lines)
    assert not solver.best.summary()


def test_detections_are_scored_as_pycocotools_does():
    """Over batches of two images; with what stands for no detection and no true box, and boxes that do not fit well. pycocotools
    takes the best object that is left, where VOC's rule takes the best."""
    pytest.importorskip("pycocotools")
    rng, difficult = np.random.default_rng(5), 0
    param = SimpleNamespace(detection_evaluate_param=SimpleNamespace(evaluate_difficult_gt=False))
    net = SimpleNamespace(
        layers=[SimpleNamespace(type="DetectionEvaluate", name="eval", param=param)],
        bottom_names={"eval": ["rows", "truth"]},
    )
    boxes, rows, truth = Boxes(net), [], []
    for batch in range(4):
        of, objects = [], []
        for image in range(2):
            places = rng.permutation(16)[: rng.integers(0, 9)]
            for place in places:
                corner = np.array([place % 4, place // 4]) / 4
                box = np.concatenate([corner + 0.02, corner + rng.uniform(0.12, 0.23, 2)])
                label, hard = rng.integers(1, 3), rng.random() < 0.1
                difficult += hard
                objects.append([image, label, 0, *box, hard])
                truth.append([2 * batch + image, label, *box * 100, hard])
                if rng.random() < 0.8:
                    of.append([image, label, rng.random(), *box + rng.normal(0, 0.01, 4)])
            for corner in rng.uniform(0, 0.8, (3, 2)):
                of.append([image, rng.integers(1, 3), rng.random() / 2, *corner, *corner + 0.15])
        rows += [[2 * batch + row[0], *row[1:3], *np.array(row[3:]) * 100] for row in of]
        of.append([-1] * 7)
        objects.append([-1] * 8)
        net.blobs = {
            "rows": SimpleNamespace(data=np.array([[of]])),
            "truth": SimpleNamespace(data=np.array([[objects]])),
        }
        boxes.add(net)
    assert difficult
    wanted = evaluate_coco(np.array(rows), dataset_of(np.array(truth), 8)).stats["AP"]
    assert 0.2 < wanted < 0.8
    assert boxes.precision() == pytest.approx(wanted, abs=5e-3)


def test_scores():
    net = SimpleNamespace(blob_loss_weights={"loss": 1.0, "right": 0.0})
    param = SolverParameter()
    assert score_of(net, {"loss": np.array(0.5)}, param, 7) == Score("loss", 0.5, False, 7)
    mean = {"loss": np.array(0.5), "right": np.array(0.75)}
    assert score_of(net, mean, param, 7) == Score("right", 0.75, True, 7)
    param.eval_type = "detection"
    assert score_of(net, {"right": np.array(0.25)}, param, 7) == Score("mAP", 0.25, True, 7)
    assert score_of(net, {"right": np.array(0.25)}, param, 7, 0.125) == Score("AP@.5:.95", 0.125, True, 7)
    assert score_of(net, {"loss": np.zeros(3)}, param, 7) is None
    one, nan = Score("mAP", 0.5, True, 1), Score("mAP", float("nan"), True, 2)
    assert one.better_than(None)
    assert not nan.better_than(None)
    assert not Score("mAP", 0.5, True, 2).better_than(one)  # the first of equals
    assert Score("loss", 0.4, False, 2).better_than(Score("loss", 0.5, False, 1))


def test_the_command_keeps_it_unless_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    text = LEARNS.replace('type: "Input" top: "x" top: "y"', 'type: "DummyData" top: "x" top: "y"').replace(
        "input_param { shape { dim: 8 dim: 4 } shape { dim: 8 dim: 2 } }",
        'dummy_data_param { shape { dim: 8 dim: 4 } shape { dim: 8 dim: 2 } data_filler { type: "gaussian" } }',
    )
    Path("net.prototxt").write_text(text)
    Path("solver.prototxt").write_text(
        'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 3 test_interval: 2 test_iter: 1 random_seed: 1 '
        'snapshot_prefix: "s"'
    )
    assert main(["train", "--solver", "solver.prototxt", "--no-best"]) == 0
    assert not Path("s_best.caffemodel").exists()
    assert "Best test" not in capsys.readouterr().err
    assert main(["train", "--solver", "solver.prototxt"]) == 0
    assert Path("s_best.caffemodel").exists()
    err = capsys.readouterr().err
    assert "Iteration 3, Testing net (#0)" in err  # the last one, though 3 is no multiple of 2
    assert err.count("Best test: loss = ") == 1
