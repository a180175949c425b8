"""The example of plain and deformable bins: its files, its scenes, where bins move, and its training in miniature."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from PIL import Image
from places import ROOT

from boxpresso import Net
from boxpresso.proto import read_solver

SHEARED = ROOT / "examples" / "sheared"


def module(name: str) -> ModuleType:
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(f"examples.sheared.{name}")


def test_the_prototxts_are_what_model_py_writes():
    for name, text in module("model").FILES.items():
        assert (SHEARED / name).read_text() == text, f"python -m examples.sheared.model writes another {name}"
    plain, deformable = (read_solver(SHEARED / model / "solver.prototxt") for model in ("plain", "deformable"))
    assert plain == deformable


def test_both_nets_have_as_many_weights_and_start_from_the_same(device):
    model = module("model")
    nets = [Net(model.net(name, "train", 1).to_proto(), phase="TRAIN", device=device, seed=1) for name in model.MODELS]
    plain, deformable = (sum(blob.count for blobs in net.params.values() for blob in blobs) for net in nets)
    assert abs(plain - deformable) < 0.02 * plain
    for name in ("conv1", "conv2", "conv3"):
        np.testing.assert_array_equal(*(np.asarray(net.params[name][0].data) for net in nets))


def test_scenes_follow_from_their_seed_and_fields_from_their_plate():
    scenes = module("scenes")
    image, plates = scenes.scene([1, 2])
    again, _ = scenes.scene([1, 2])
    assert image.tobytes() == again.tobytes()
    assert len(plates) == scenes.PLATES
    grey = np.asarray(image.convert("L"), np.float64)
    for plate in plates:
        x1, y1, x2, y2 = plate.box
        assert 0 < x1 < x2 < scenes.SIZE
        assert 0 < y1 < y2 < scenes.SIZE
        x, y = plate.middles.reshape(-1, 2).astype(int).T
        dark = plate.fields.ravel() > 0
        assert grey[y, x][dark].max() < grey[y, x][~dark].min()


def test_offsets_move_bins_as_the_picture_shows(device):
    """The middle of a moved bin, as it is drawn, is where DeformROIPooling samples: on a ramp it reads its own place."""
    model, train = module("model"), module("train")
    net = Net(model.net("deformable", "deploy", 1).to_proto(), device=device, seed=1)
    y, x = np.mgrid[0:64, 0:64].astype(np.float32)
    ramp = np.zeros(net.blobs["relu3" if "relu3" in net.blobs else "conv3"].shape, np.float32)
    ramp[0, 0], ramp[0, 1] = x, y
    boxes = np.array([[20, 30, 70, 75], [40, 10, 90, 60], [50, 60, 100, 110], [10, 60, 50, 110]], np.float32)
    offset = np.random.default_rng(0).uniform(-1, 1, (4, 32)).astype(np.float32)
    layer = net.layer_dict["moved"]
    features, rois, offsets = net.bottoms[net.layers.index(layer)]
    features.data[...] = ramp
    rois.data[...] = np.insert(boxes, 0, 0, 1)
    offsets.data[...] = offset.reshape(offsets.shape)
    layer.forward([features, rois, offsets], [net.blobs["moved"]])
    sampled = np.asarray(net.blobs["moved"].data)[:, :2].transpose(0, 2, 3, 1)
    np.testing.assert_allclose((sampled + 0.5) / 0.5, train.middles(boxes, offset), atol=1e-3)


def test_offsets_are_0_at_the_start_and_then_learn(device):
    model, train = module("model"), module("train")
    net = Net(model.net("deformable", "train", 1).to_proto(), phase="TRAIN", device=device, seed=1)
    made = train.batch(train.LEARN, 1, 0)
    inputs = {"data": made["data"][:1].astype(np.float32), "rois": made["rois"][:4], "fields": made["fields"][:4]}
    out = net.forward(blobs=["offset", "bins", "moved"], **inputs)
    assert not out["offset"].any()
    np.testing.assert_allclose(out["moved"], out["bins"], rtol=1e-5, atol=1e-5)
    assert float(out["loss"]) == pytest.approx(np.log(2), abs=0.5)
    net.clear_param_diffs()
    net.backward()
    assert all(np.asarray(blob.diff).any() for blob in net.params["offset"])


@pytest.mark.later
def test_training_runs_and_its_weights_load(tmp_path):
    command = [sys.executable, str(SHEARED / "train.py"), "--iterations", "3", "--workers", "0", "--device", "cpu"]
    result = subprocess.run([*command, "--held-out", "6", "--out", str(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "offsets move a bin by 0.0000 of its box at the first iteration" in result.stdout
    for model in ("plain", "deformable"):
        assert f"{model}: loss" in result.stdout
        assert "Iteration 0" in (tmp_path / f"{model}.log").read_text()
        with Image.open(tmp_path / f"{model}.png") as picture:
            assert picture.width > 1000
        report = Net(SHEARED / model / "deploy.prototxt", tmp_path / f"{model}.caffemodel", device="cpu").copied[0]
        assert not report.missing
        assert not report.unused
