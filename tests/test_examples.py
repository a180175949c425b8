"""The example that is shipped: its files belong together, its weights find what was drawn, and its training runs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from boxpresso import Net, detect

SHAPES = Path(__file__).resolve().parents[1] / "examples" / "shapes"


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"shapes_{name}", SHAPES / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def overlap(a, b) -> float:
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def test_the_prototxts_are_what_model_py_writes():
    model = module("model")
    for name, train in (("train", True), ("deploy", False)):
        assert (SHAPES / f"{name}.prototxt").read_text() == model.net(train)


def test_the_scene_is_the_one_of_its_seed():
    image, _ = module("scenes").scene(56, 512)
    shipped = np.asarray(Image.open(SHAPES / "scene.png"), np.int16)
    assert np.abs(np.asarray(image, np.int16) - shipped).mean() < 1  # Pillow's versions differ by a shade


def test_the_shipped_weights_find_what_was_drawn(device):
    scenes = module("scenes")
    net = Net(SHAPES / "deploy.prototxt", SHAPES / "shapes.caffemodel", device=device)
    drawn = right = found = 0
    for seed in range(20):
        image, boxes = scenes.scene([5, seed])
        detections = detect(net, image)
        drawn, found = drawn + len(boxes), found + len(detections)
        for label, *corners in boxes:
            right += any(d.label == label and overlap(d.box, np.multiply(corners, 256)) > 0.5 for d in detections)
    assert drawn > 40
    assert right >= 0.95 * drawn
    assert found <= 1.1 * drawn


@pytest.mark.parametrize("steps", [3])
def test_training_runs_and_its_weights_load(tmp_path, steps):
    out = tmp_path / "made.caffemodel"
    command = [sys.executable, str(SHAPES / "train.py"), "--iterations", str(steps), "--workers", "0", "--device", "cpu"]
    result = subprocess.run([*command, "--out", str(out)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "Iteration 0, loss = " in result.stdout
    report = Net(SHAPES / "deploy.prototxt", out, device="cpu").copied[0]
    assert not report.missing
    assert not report.unused
