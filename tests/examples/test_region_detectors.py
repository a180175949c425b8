"""The small R-FCN, feature pyramid and detector of rotated boxes of examples/: their files, their nets, and in miniature they learn."""

from __future__ import annotations

import importlib
import subprocess
import sys
from functools import cache
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import stand_in
from places import ROOT

from boxpresso import Detector, L, Net, Solver
from boxpresso.data.folders import read_voc
from boxpresso.decoders.detections import Detections
from boxpresso.evaluation import evaluate
from boxpresso.layers.detection.rcnn import Rotated
from boxpresso.proto import parse_net, read_net, read_solver

sys.path.insert(0, str(ROOT))

from examples.shapes_faster_rcnn.draw import draw
from examples.trunks import Writer
from examples.two_stage import learn

FOLDERS = ("shapes_rfcn", "shapes_fpn")  # with scenes in a VOC folder
ALL = (*FOLDERS, "rotated_shapes")
DATA = {"data": (1, 3, 160, 160)}  # a net without its scenes


@cache
def module(example: str, name: str) -> ModuleType:
    return importlib.import_module(f"examples.{example}.{name}")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 2 scenes to learn from and 1 to judge by."""
    out = tmp_path_factory.mktemp("drawn")
    draw(out / "scenes", 4, {"train": 2, "test": 1})
    return out


def recipe(example: str, out: Path, iterations: int) -> tuple[Any, Any]:
    """The solver of an example, and what gives its net scenes."""
    train = module(example, "train")
    if example in FOLDERS:
        return train.EXAMPLE.recipe(out, 1, iterations), None
    batches = [train.batch(4, number) for number in range(2)]
    return train.recipe(out, 1, iterations), train.feeder(cycle(batches))


@pytest.mark.parametrize("example", ALL)
def test_the_files_are_what_is_written(example):
    for kind in ("train", "deploy"):
        path, made = ROOT / "examples" / example / f"{kind}.prototxt", module(example, "model").net(kind)
        assert path.read_text() == str(made), f"python -m examples.{example}.model writes another {path.name}"
        assert parse_net(str(made), strict=True) == read_net(path)


@pytest.mark.parametrize("example", ALL)
def test_the_command_line_trains_what_train_py_trains(example):
    solver = read_solver(ROOT / "examples" / example / "solver.prototxt")
    param, _ = recipe(example, ROOT / "examples", 7)
    assert ROOT / solver.train_net == ROOT / "examples" / example / "train.prototxt"
    assert (ROOT / solver.snapshot_prefix).name == Path(param.snapshot_prefix).name
    assert (param.max_iter, param.random_seed, param.base_lr, param.type) == (7, 1, solver.base_lr, "Adam")
    if example in FOLDERS:
        work = module(example, "train").EXAMPLE.recipe(Path("examples") / example / "work", 1, None)
        assert read_net(ROOT / solver.train_net) == work.train_net_param


@pytest.mark.later(but=1)
@pytest.mark.parametrize("example", ALL)
def test_trained_finished_and_found(example, drawn, tmp_path, device):
    """Every weight gets a gradient; finished weights fit the deploy net, which finds the same twice, by plan and layer by layer."""
    param, feed = recipe(example, drawn, 1)
    solver = Solver(param, device=device, feed=feed, log=lambda line: None)
    solver.step(1)
    net = solver.net
    assert {"loss_bbox", "loss_cls", "rpn_loss_bbox", "rpn_loss_cls"} <= set(net.outputs)
    assert np.isfinite(net.loss())
    for name, blobs in net.params.items():
        for blob in blobs:
            diff = np.asarray(blob.diff)
            assert np.isfinite(diff).all(), name
            assert diff.any() or name in ("p4", "p5"), name  # few anchors: chance draws some, or none
    param, feed = recipe(example, drawn, 1)
    path = learn(param, tmp_path, device, True, feed)
    before = Net(param.train_net_param, tmp_path / "trained.caffemodel", phase="TRAIN", device="cpu", data=DATA)
    deploy = Net(ROOT / "examples" / example / "deploy.prototxt", path, device=device)
    assert not deploy.copied[0].missing
    assert not deploy.copied[0].unused
    (head,) = {"rfcn_bbox", "bbox_pred"} & set(deploy.params)
    ratio = np.asarray(deploy.params[head][0].data) / np.asarray(before.params[head][0].data)
    deviations = [0.1, 0.1, 0.2, 0.2, 0.1][: 5 if example == "rotated_shapes" else 4]
    bins = 9 if head == "rfcn_bbox" else 1
    expected = np.tile(np.repeat(deviations, bins), len(ratio) // bins // len(deviations))
    np.testing.assert_allclose(
        ratio.reshape(len(expected), -1),
        np.broadcast_to(expected[:, None], ratio.reshape(len(expected), -1).shape),
        rtol=1e-5,
    )
    plain = Net(ROOT / "examples" / example / "deploy.prototxt", path, device=device, optimize=False)
    picture = np.random.default_rng(2).integers(0, 255, (160, 160, 3), np.uint8)
    by_plan, by_layer = (Detector(net, size=(160, 160), threshold=0.01) for net in (deploy, plain))
    for _ in range(2):
        one, other = by_plan(picture), by_layer(picture)
        assert len(one) == len(other) > 0
        np.testing.assert_allclose(one.boxes, other.boxes, atol=0.05)
        assert (one.angles is not None) == (example == "rotated_shapes")


def test_the_levels_share_one_proposal_network(drawn):
    param, _ = recipe("shapes_fpn", drawn, 1)
    net = Net(param.train_net_param, phase="TRAIN", device="cpu", data=DATA, seed=1)
    for name in ("rpn_conv", "rpn_cls_score", "rpn_bbox_pred"):
        first, *others = (net.params[f"{name}/p{level}"] for level in (2, 3, 4, 5))
        for other in others:
            assert all(np.shares_memory(np.asarray(a.data), np.asarray(b.data)) for a, b in zip(first, other))


def test_small_shapes_are_small():
    """The pyramid's scenes have shapes from 9 to 112 pixels of the net's 160, and some of each size."""
    model, train = module("shapes_fpn", "model"), module("shapes_fpn", "train")
    sides = [
        np.sqrt((x2 - x1) * (y2 - y1)) * 160
        for number in range(60)
        for _, x1, y1, x2, y2 in train.EXAMPLE.scene([3, number])[1]
    ]
    assert 8 < min(sides) < 12
    assert 80 < max(sides) < 125
    counts = np.histogram(sides, [0, 20, 48, 200])[0]
    assert counts.min() > 20
    assert model.STRIDES == (4, 8, 16, 32)


def test_rotated_scenes():
    """The same seed, the same scene; shapes lie inside it, in their boxes, and nowhere else."""
    scenes = module("rotated_shapes", "scenes")
    image, shapes = scenes.scene([1, 2])
    assert image.tobytes() == scenes.scene([1, 2])[0].tobytes() != scenes.scene([1, 3])[0].tobytes()
    assert len(shapes) >= 2
    for label, box in shapes:
        assert box[2] < box[3]
        assert -45 <= box[4] < 135
        corners = Rotated.corners(box[None])[0]
        assert corners.min() > 0
        assert corners.max() < scenes.SIZE
        points = scenes.outline(label, box)
        away = points - box[:2]
        sin, cos = np.sin(np.radians(box[4])), np.cos(np.radians(box[4]))
        along, across = away @ (cos, -sin), away @ (sin, cos)
        np.testing.assert_allclose([np.abs(along).max(), np.abs(across).max()], [box[3] / 2, box[2] / 2], rtol=0.01)
        if label == 1:
            assert {tuple(p) for p in points.round(6)} == {tuple(p) for p in corners.round(6)}


def test_regions_as_roi_align_rotated_takes_them():
    w = Writer("test", "deploy")
    w.n.rois = L.Input(shape=dict(dim=[2, 6]))
    module("rotated_shapes", "model").as_aligned(w, w.n.rois)
    net = Net(w.n.to_proto(), device="cpu")
    made = net.forward(rois=[[0, 1, 2, 3, 4, 90], [0, 5, 6, 7, 8, -30]])["aligned_rois"]
    np.testing.assert_allclose(made, [[0, 1, 2, 4, 3, np.pi / 2], [0, 5, 6, 8, 7, -np.pi / 6]], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("example", "passes"), [("shapes_fpn", 120), ("rotated_shapes", 150)])
def test_in_miniature_it_learns(example, passes, drawn, tmp_path):
    """Two scenes by heart."""
    if stand_in.active():
        pytest.skip("on the stand-in so many passes take minutes; its layers are tested one by one")
    param, feed = recipe(example, drawn, passes)
    path = learn(param, tmp_path, "cpu", True, feed)
    detector = Detector(
        Net(ROOT / "examples" / example / "deploy.prototxt", path, device="cpu"), size=(160, 160), threshold=0.01
    )
    if example in FOLDERS:
        scenes = read_voc(drawn / "scenes", "train", module(example, "train").EXAMPLE.classes)
        truth: list[Any] = scenes
        detections: list[Detections] = [detector(one.path) for one in scenes]
    else:
        drawn_scenes = [module(example, "scenes").scene([4, 1, number]) for number in range(2)]
        truth = [[(label, *box) for label, box in shapes] for _, shapes in drawn_scenes]
        detections = [detector(image) for image, _ in drawn_scenes]
    result = evaluate(detections, truth, rotated=example == "rotated_shapes")
    assert result.mean >= 0.5, str(result)


@pytest.mark.slow
@pytest.mark.parametrize("example", ALL)
def test_one_command_does_it_all(example, tmp_path):
    """Draws, trains, finishes, judges, and writes weights, a log and pictures."""
    command = [sys.executable, str(ROOT / "examples" / example / "train.py"), "--quick", "--device", "cpu"]
    result = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "mAP@0.5" in result.stdout
    assert "outputs times 0.1 0.2" in result.stdout
    assert ("small, 0 to 20 pixels" in result.stdout) == (example == "shapes_fpn")
    assert (tmp_path / "found.png").stat().st_size > 0
    assert (tmp_path / "shapes.caffemodel").stat().st_size > 0
    assert "Iteration 0 (0 iter/s" in (tmp_path / "shapes.log").read_text()
