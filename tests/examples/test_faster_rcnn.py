"""The small Faster R-CNN of examples/: its files are what is written, its scenes are those of shapes, and in miniature it learns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stand_in
from places import ROOT

from boxpresso import Net, Solver, detect
from boxpresso.data.boxes import iou
from boxpresso.data.folders import Scene, read_voc
from boxpresso.evaluation import evaluate
from boxpresso.proto import parse_net, read_net, read_solver

HERE = ROOT / "examples" / "shapes_faster_rcnn"
sys.path.insert(0, str(ROOT))

from examples.shapes.scenes import LABELS, scene  # noqa: E402
from examples.shapes_faster_rcnn.draw import draw  # noqa: E402
from examples.shapes_faster_rcnn.model import CLASSES, SCENES, SIZE, net  # noqa: E402
from examples.shapes_faster_rcnn.train import recipe  # noqa: E402


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 3 scenes to learn from and 2 to judge by."""
    out = tmp_path_factory.mktemp("drawn")
    draw(out / "scenes", seed=4, counts={"train": 3, "test": 2})
    return out


def test_the_files_are_what_is_written():
    for kind in ("train", "deploy"):
        path = HERE / f"{kind}.prototxt"
        assert path.read_text() == str(net(kind)), (
            f"python -m examples.shapes_faster_rcnn.model writes another {path.name}"
        )
        assert parse_net(str(net(kind)), strict=True) == read_net(path)


def test_the_command_line_trains_what_train_py_trains(tmp_path):
    """Solver.prototxt names the files beside it, and the folders that draw.py and train.py make when they are told none."""
    made, solver = recipe(ROOT / "examples/shapes_faster_rcnn/work", 1, None), read_solver(HERE / "solver.prototxt")
    assert ROOT / solver.train_net == HERE / "train.prototxt"
    assert ROOT / solver.snapshot_prefix == Path(made.snapshot_prefix)
    assert read_net(ROOT / solver.train_net) == net("train", SCENES).to_proto()
    for message in (made, solver):
        for field in ("train_net", "train_net_param", "snapshot_prefix"):
            message.ClearField(field)
    assert made == solver
    assert recipe(tmp_path, 7, 20).max_iter == 20
    assert recipe(tmp_path, 7, 20).random_seed == 7


def test_the_folder_holds_the_scenes(drawn):
    """VOC's corners, read back, are the scenes' own to a hundredth of a pixel; those to judge by are others."""
    for split, kind, count in (("train", 1, 3), ("test", 2, 2)):
        annotated = read_voc(drawn / "scenes", split, CLASSES)
        assert len(annotated) == count
        for number in range(count):
            image, boxes = scene([4, kind, number])
            assert not annotated[number].wrong
            assert annotated[number].labels == [label for label, *_ in boxes]
            assert [CLASSES[label - 1] for label in annotated[number].labels] == [LABELS[label] for label, *_ in boxes]
            np.testing.assert_allclose(
                annotated[number].corners, np.array([b[1:] for b in boxes]) * image.width, atol=0.0051
            )


def recall(net: Net, scenes: list[Scene], regions: int = 20) -> float:
    """The share of true boxes that one of the first regions proposed overlaps by half."""
    shared = []
    for one in scenes:
        detect(net, one.path, size=(SIZE, SIZE))
        proposed = np.asarray(net.blobs["rois"].data)[:regions, 1:] * (one.width / SIZE)
        shared += list(iou(one.corners[:, None], proposed).max(1, initial=0))
    return float(np.mean(np.array(shared) >= 0.5))


@pytest.mark.later
def test_in_miniature_it_learns(drawn, device):
    """Three scenes by heart, in 150 passes: both stages err less and less, proposals cover the shapes, and detections are right."""
    if stand_in.active():
        pytest.skip("on the stand-in 150 passes take minutes; its layers are tested one by one")
    solver = Solver(recipe(drawn, seed=1, iterations=150), device=device, log=lambda line: None)
    deploy = Net(HERE / "deploy.prototxt", device=device)
    deploy.share_with(solver.net)
    scenes = read_voc(drawn / "scenes", "train", CLASSES)
    assert recall(deploy, scenes) < 0.5
    seen: dict[str, list[float]] = {name: [] for name in solver.net.outputs if "loss" in name}

    def watch() -> None:
        for name, values in seen.items():
            values.append(float(np.asarray(solver.net.blobs[name].data).item()))

    solver.add_callback(on_gradients=watch)
    solver.step(150)
    assert sorted(seen) == ["loss_bbox", "loss_cls", "rpn_loss_bbox", "rpn_loss_cls"]
    assert all(np.isfinite(values).all() for values in seen.values())
    for name, first, part in (("rpn_loss_cls", np.log(2), 0.2), ("loss_cls", np.log(4), 0.5)):
        assert 0.7 * first < seen[name][0] < 1.5 * first, "the weights start where every class is as likely"
        last = np.mean(seen[name][-20:])
        assert last < part * first, f"{name} is still {last:.3f}"
    assert recall(deploy, scenes) >= 0.75
    detections = [detect(deploy, one.path, size=(SIZE, SIZE), threshold=0.01) for one in scenes]
    assert evaluate(detections, scenes).mean >= 0.5


def test_training_resumes(drawn, tmp_path):
    """Pictures, flips, and which anchors and regions are drawn: a resumed training ends with bitwise identical weights."""
    param = recipe(drawn, seed=1, iterations=8)
    param.snapshot_prefix = str(tmp_path / "half")
    whole, resumed = (Solver(param, device="cpu", log=lambda line: None) for _ in range(2))
    whole.step(4)
    _, state = whole.snapshot()
    whole.step(4)
    resumed.restore(state)
    resumed.step(4)
    for (one, _, _), (other, _, _) in zip(whole.net.learnable, resumed.net.learnable):
        np.testing.assert_array_equal(one.data, other.data)


@pytest.mark.slow
def test_one_command_does_it_all(tmp_path):
    """Draws, trains, judges, and writes weights that fit the deploy net, a log, and pictures."""
    command = [sys.executable, str(HERE / "train.py"), "--iterations", "3", "--scenes", "6", "--held-out", "4"]
    result = subprocess.run([*command, "--out", str(tmp_path), "--device", "cpu"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "drew 6 scenes to learn from and 4 to judge by" in result.stdout
    assert all(name in result.stdout for name in (*CLASSES, "mean", "mAP@0.5"))
    assert "Iteration 0 (0 iter/s" in (tmp_path / "shapes.log").read_text()
    assert (tmp_path / "found.png").stat().st_size > 0
    report = Net(HERE / "deploy.prototxt", tmp_path / "shapes.caffemodel", device="cpu").copied[0]
    assert not report.missing
    assert not report.unused
