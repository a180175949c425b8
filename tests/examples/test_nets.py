"""The nets of examples/ are what their writers write, and run forward and backward, made narrower and smaller."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import corpus
import numpy as np
import pytest
import stand_in
from places import ROOT

from boxpresso import Net
from boxpresso.proto import NetParameter, parse_net, read_net

KINDS = ("train", "test", "deploy")
SMALL: dict[str, dict[str, Any]] = {
    "ssd": dict(width=0.125),
    "faster_rcnn": dict(width=0.0625, size=(160, 224)),
    "rfcn": dict(width=0.0625, size=(160, 224)),
    "rotated_text": dict(width=0.0625, size=(96, 128), regions=4),
}
MODELS = {
    "ssd": ("vgg16_300", "vgg16_512", "mobilenet_300"),
    "faster_rcnn": ("zf", "vgg16", "resnet50"),
    "rfcn": ("resnet50", "resnet50_deformable"),
    "rotated_text": ("fots",),
}
SIZES = np.linspace(0.06, 0.97, 16)  # of objects, in parts of the image, with which each head of SSD finds its own
ALL = [(example, model) for example, models in MODELS.items() for model in models]
# On the stand-in, where a convolution takes long, one net of those with the same layers.
ON_A_GPU = [(e, m) for e, m in ALL if not stand_in.active() or m not in ("vgg16_512", "vgg16")]


def writer(example: str) -> ModuleType:
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(f"examples.{example}.model")


def small(example: str, model: str, kind: str) -> NetParameter:
    return corpus.fed(writer(example).NETS[model](kind, **SMALL[example]).to_proto(), example)


def running(example: str, model: str, kind: str, device: str) -> Net:
    """The net, made small, after a forward pass."""
    param = small(example, model, kind)
    net = Net(corpus.reduced(param, small=False), phase="TRAIN" if kind == "train" else "TEST", device=device, seed=3)
    corpus.feed(net)
    if "rois" in net.inputs:
        tilted = [
            [0, 60, 48, 80, 16, 0.3],
            [0, 30, 30, 40, 12, -0.4],
            [0, 90, 60, 60, 20, 1.2],
            [0, 64, 48, 100, 40, 0],
        ]
        net.blobs["rois"].data[...] = tilted
    for name, low, high in (("text", -1, 37), ("score_map", 0, 2), ("geometry_mask", 0, 2)):
        if name in net.inputs:
            net.blobs[name].data[...] = np.random.default_rng(5).integers(low, high, net.blobs[name].shape)
    if example == "ssd" and kind != "deploy":
        corners = [(c - s / 2, c - s / 2, c + s / 2, c + s / 2) for c in (0.25, 0.5) for s in SIZES]
        rows = [(0, 1 + i % 20, 0, *box, 0) for i, box in enumerate(corners)]
        net.blobs["label"].reshape(1, 1, len(rows), 8)
        net.blobs["label"].data[...] = np.array(rows).reshape(1, 1, -1, 8)
    corpus.forward(net)
    return net


@pytest.mark.later(but=1)
@pytest.mark.parametrize(("example", "model"), ALL)
def test_the_files_are_what_is_written(example, model):
    for kind in KINDS:
        path = ROOT / "examples" / example / model / f"{kind}.prototxt"
        made = writer(example).NETS[model](kind)
        assert path.read_text() == str(made), (
            f"python -m examples.{example}.model writes another {path.name} of {model}"
        )
        assert parse_net(str(made), strict=True) == read_net(path)


@pytest.mark.later(but=2)
@pytest.mark.parametrize("kind", ["deploy", "test"])
@pytest.mark.parametrize(("example", "model"), ON_A_GPU)
def test_forward(example, model, kind, device):
    net = running(example, model, kind, device)
    for name in net.outputs:
        assert np.isfinite(np.asarray(net.blobs[name].data)).all(), name
    shapes = {name: blob.shape for name, blob in net.blobs.items()}
    if example in ("faster_rcnn", "rfcn"):
        regions = shapes["rois"][0]
        assert regions > 0
        assert shapes["rois"] == (regions, 5)
        assert shapes["cls_prob"] == (regions, 21)
        assert shapes["bbox_pred"] == (regions, 84 if example == "faster_rcnn" else 8)
        np.testing.assert_allclose(np.asarray(net.blobs["cls_prob"].data).sum(1), 1, rtol=1e-4)
    elif example == "rotated_text":
        assert shapes["text_prob"] == (4, 37, 1, 32)
        assert shapes["score"] == (1, 1, 24, 32)
        assert shapes["geometry"] == (1, 5, 24, 32)


@pytest.mark.later(but=1)
@pytest.mark.parametrize(("example", "model"), ON_A_GPU)
def test_backward(example, model, device):
    """Losses are above 0, and every parameter that learns has a finite gradient that is not 0 everywhere."""
    net = running(example, model, "train", device)
    assert net.loss() > 0
    net.clear_param_diffs()
    net.backward()
    idle = []
    for layer in net.layers:
        for i, blob in enumerate(layer.blobs):
            diff = np.asarray(blob.diff)
            assert np.isfinite(diff).all(), f"{layer} {i}"
            learns = layer.param_propagate_down[i]
            if learns != bool(diff.any()):
                idle.append(f"{layer.name}[{i}]")
    assert not idle


@pytest.mark.later(but=1)
@pytest.mark.parametrize(("model", "priors"), [("vgg16_300", 8732), ("vgg16_512", 24564), ("mobilenet_300", 1917)])
def test_ssd_has_the_priors_of_the_publications(model, priors):
    net = Net(small("ssd", model, "deploy"), device="cpu")
    assert net.blobs["mbox_priorbox"].shape == (1, 2, priors * 4)
    assert net.blobs["mbox_conf"].shape == (1, priors * 21)


@pytest.mark.later
def test_parameters_of_the_whole_nets():
    """As many numbers as the published nets have: 26.3 million in SSD300 for Pascal VOC, 5.8 in its MobileNet."""
    for model, millions in (("vgg16_300", 26.285), ("mobilenet_300", 5.8)):
        net = Net(writer("ssd").NETS[model]("deploy").to_proto(), device="cpu")
        count = sum(b.count for layer in net.layers if layer.type != "BatchNorm" for b in layer.blobs)
        assert abs(count / 1e6 - millions) < 0.05, f"{model}: {count}"
