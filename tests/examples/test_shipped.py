"""The example that is shipped: its files belong together and its weights find what was drawn."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
from PIL import Image
from places import ROOT

from boxpresso import Net, detect

SHAPES = ROOT / "examples" / "shapes"


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
    for kind in ("train", "test", "deploy"):
        assert (SHAPES / f"{kind}.prototxt").read_text() == model.net(kind)


def test_the_scene_is_the_one_of_its_seed():
    image, _ = module("scenes").scene(56, 512)
    shipped = np.asarray(Image.open(SHAPES / "scene.png"), np.int16)
    assert np.abs(np.asarray(image, np.int16) - shipped).mean() < 1  # Pillow's versions differ by a shade


def test_the_shipped_weights_find_what_was_drawn(device):
    scenes = module("scenes")
    net = Net(SHAPES / "deploy.prototxt", SHAPES / "shapes.caffemodel", device=device)
    drawn = right = detected = 0
    for seed in range(20):
        image, boxes = scenes.scene([5, seed])
        detections = detect(net, image)
        drawn, detected = drawn + len(boxes), detected + len(detections)
        for label, *corners in boxes:
            right += any(d.label == label and overlap(d.box, np.multiply(corners, 256)) > 0.5 for d in detections)
    assert drawn > 40
    assert right >= 0.95 * drawn
    assert detected <= 1.1 * drawn
