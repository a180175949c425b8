"""SSD on shapes in miniature: scenes become records, the command learns from them, and the same seed gives the same weights."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from places import ROOT

from boxpresso import Net, Solver
from boxpresso.detection import Detection
from boxpresso.proto import read_solver
from boxpresso.train.curves import read_curves

SHAPES = ROOT / "examples" / "shapes"
sys.path.insert(0, str(ROOT))

from examples.common import sheet, tracked  # noqa: E402
from examples.shapes import scenes, train  # noqa: E402

pytest.importorskip("lmdb", reason="records are LMDBs")
pytest.importorskip("matplotlib", reason="the command draws curves")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the command makes of 32 scenes in 50 iterations, and what it says."""
    out = tmp_path_factory.mktemp("shapes")
    command = [sys.executable, str(SHAPES / "train.py"), "--device", "cpu", "--out", str(out)]
    size = ["--iterations", "50", "--scenes", "32", "--held-out", "20"]
    result = subprocess.run([*command, *size], capture_output=True, text=True, cwd=out, check=False)
    assert result.returncode == 0, result.stderr
    return out, result


@pytest.mark.later
def test_it_learns_and_judges(made):
    out, result = made
    losses = [value for _, value in read_curves((out / "shapes.log").read_text().splitlines()).loss]
    assert losses[-1] < losses[0] / 2
    for name in ("circle", "box", "triangle"):
        assert re.search(rf"^{name} +\d+", result.stdout, re.M)
    assert float(re.search(r"mAP@0.5 (\S+)", result.stdout)[1]) > 0.02


@pytest.mark.later
def test_its_weights_fit_deploy_prototxt(made):
    out, _ = made
    report = Net(SHAPES / "deploy.prototxt", out / "shapes.caffemodel", device="cpu").copied[0]
    assert not report.missing
    assert not report.unused


@pytest.mark.later
def test_it_draws_what_it_found_and_its_curves(made):
    out, _ = made
    for name in ("found.png", "curves.png", "precision.png"):
        picture = np.asarray(Image.open(out / name).convert("RGB"), int)
        assert min(picture.shape[:2]) > 200
        assert picture.std() > 5


@pytest.mark.later
def test_the_test_net_logs_the_mean_average_precision(made):
    out, _ = made
    param = train.recipe(out, seed=1, iterations=1, held_out=20)
    assert list(param.test_iter) == [1]
    solver = Solver(param, device="cpu", weights=out / "shapes.caffemodel", log=lambda line: None)
    (means,) = solver.test()
    net = Net(SHAPES / "deploy.prototxt", out / "shapes.caffemodel", device="cpu")
    result, _ = train.judge(net, scenes.load(out / "test_lmdb"))
    assert means["detection_eval"] == pytest.approx(result.mean, abs=0.02)


@pytest.mark.later
def test_the_same_seed_gives_the_same_weights(made):
    out, _ = made
    weights = []
    for seed in (3, 3, 4):
        solver = Solver(train.recipe(out, seed, iterations=3), device="cpu", log=lambda line: None)
        solver.step(3)
        weights.append(np.concatenate([np.ravel(blob.data) for blob, _, _ in solver.net.learnable]))
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_the_recipe_is_that_of_the_solver_prototxt(tmp_path):
    """So that `boxpresso train` learns the same."""
    param, solver = train.recipe(tmp_path, seed=7), read_solver(SHAPES / "solver.prototxt")
    for name, net, recipe in (
        ("train", solver.train_net, param.train_net_param),
        ("test", solver.test_net[0], param.test_net_param[0]),
    ):
        assert Path(ROOT / net) == SHAPES / f"{name}.prototxt"
        assert recipe.layer[0].data_param.source == str(tmp_path / f"{name}_lmdb")
    assert (param.random_seed, param.max_iter, param.test_iter[0]) == (7, solver.max_iter, solver.test_iter[0])
    assert param.base_lr == solver.base_lr


@pytest.mark.later
def test_records_are_the_scenes_of_their_seeds(made):
    out, _ = made
    held_out = scenes.load(out / "test_lmdb")
    assert len(held_out) == 20
    for i, (image, boxes) in enumerate(held_out[:3]):
        drawn, truth = scenes.scene([1, scenes.HELD_OUT, i])
        assert np.abs(np.asarray(image, int) - np.asarray(drawn, int)).mean() < 12  # JPEG keeps less of the grain
        by_place = [sorted(rows, key=lambda row: row[1:]) for rows in (boxes, truth)]
        assert np.allclose(*by_place, atol=1e-6)


def test_a_perfect_finder_is_judged_perfect(monkeypatch):
    drawn = [scenes.scene([9, scenes.HELD_OUT, i], 64) for i in range(4)]
    answers = iter([[Detection(label, 0.9, tuple(c * 64 for c in corners)) for label, *corners in b] for _, b in drawn])
    monkeypatch.setattr(train, "detect", lambda net, image, threshold: next(answers))
    result, pictures = train.judge(None, drawn)
    assert result.mean == 1
    assert [picture.size for picture in pictures] == [(64, 64)] * 4


def test_a_sheet_holds_its_pictures_in_rows():
    pictures = [Image.new("RGB", (8, 6), (value, 0, 0)) for value in (10, 20, 30)]
    pixels = np.asarray(sheet(pictures, columns=2, gap=2))
    assert pixels.shape == (14, 18, 3)
    assert [tuple(pixels[y, x]) for y, x in ((0, 0), (0, 17), (13, 7))] == [(10, 0, 0), (20, 0, 0), (30, 0, 0)]
    assert (pixels[6:8] == 255).all()
    assert (pixels[8:, 8:] == 255).all()


def test_tracked_passes_things_on():
    assert list(tracked(iter("abc"), 3, "letters")) == ["a", "b", "c"]
