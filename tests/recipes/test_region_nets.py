"""`boxpresso new faster_rcnn` and `new rfcn`: what they read, learn, find, export, and their anchors."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from boxpresso import Net, Solver
from boxpresso.__main__ import main
from boxpresso.exports.onnx.writer import onnx_model
from boxpresso.proto import read_net, read_solver
from boxpresso.recipes import project, regions
from boxpresso.recipes.ssd import Task

sys.path.insert(0, str(ROOT))

from examples.own_pictures.draw import draw

pytest.importorskip("lmdb", reason="records are LMDBs")

KINDS = {"faster_rcnn": regions.faster_rcnn, "rfcn": regions.rfcn}
TRUNKS = {"small": regions.SMALL, "mobilenet": regions.MOBILE, "resnet18": regions.RESNET, "vgg": regions.VGG}
NETS = [(kind, name) for kind in KINDS for name in TRUNKS]


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    """Errors are lines, and paths are relative to a new folder."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """A folder of 16 drawn pictures."""
    return draw(tmp_path_factory.mktemp("drawn") / "shapes", "voc", 16, workers=0)


def new(*words: object) -> None:
    assert main(["new", *map(str, words)]) == 0


def thin(kind: str, name: str, phase: str) -> Net:
    """A net of an eighth of the channels, of 96 x 96 pixels and 3 classes, with random weights where it is for detection."""
    net = Net(KINDS[kind](phase, 96, 0.125, Task(classes=4), trunk=TRUNKS[name]).to_proto(), device="cpu")
    rng = np.random.default_rng(3)
    for name, blobs in net.params.items():
        if net.layer_dict[name].type == "BatchNorm":
            for blob, value in zip(blobs, (0, 0.03, 1)):  # mean, variance and factor: so that nothing fades
                blob.data[...] = value
            continue
        for blob in blobs:  # such that some regions are moved, and classes differ
            scale = 10 if name in ("cls_score", "rfcn_cls") else 0.5
            fan_in = max(1, blob.count // blob.shape[0])
            blob.data[...] = rng.normal(0, scale / np.sqrt(fan_in) if len(blob.shape) > 1 else 0.1, blob.shape)
    return net


@pytest.mark.later(one_of="kind")
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_folder_trains_tests_and_detects(kind, shapes, capsys):
    new(kind, "--data", shapes, "--out", "mine", "--iterations", 60, "--test-share", 0.25, "--size", 96)
    out = " ".join(capsys.readouterr().out.split())
    assert "anchors: " in out
    assert "training: 60 iterations of 1 picture, Adam" in out
    text = Path("mine/train.prototxt").read_text()
    assert "% of the objects overlap one by 0.5 or more" in text
    assert "batch_size: 1  # layers of regions take one picture" in text
    solver = Solver("mine/solver.prototxt", log=lambda line: None)
    losses: list[float] = []
    solver.add_callback(on_gradients=lambda: losses.append(solver.net.loss()))
    solver.step(60)
    assert np.isfinite(losses).all()
    assert np.mean(losses[-15:]) < 0.8 * np.mean(losses[:5])
    assert 0 <= solver.test()[0]["detection_eval"] <= 1

    solver.net.save("mine/w.caffemodel")
    report = Net("mine/deploy.prototxt", "mine/w.caffemodel").copied[0]
    assert not report.missing
    assert not report.unused
    picture = next(iter(sorted(shapes.rglob("*.jpg"))))
    words = ["detect", "mine/deploy.prototxt", "mine/w.caffemodel", str(picture), "--no-drawing", "--json"]
    assert main([*words, "--labels", "mine/labelmap.prototxt", "--threshold", "0.02"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["detections"]


def test_a_larger_batch_is_summed(shapes):
    new("rfcn", "--data", shapes, "--out", "mine", "--iterations", 10, "--batch", 3, "--size", 96)
    assert read_solver("mine/solver.prototxt").iter_size == 3
    assert read_net("mine/train.prototxt").layer[0].data_param.batch_size == 1


def test_each_picture_has_true_boxes_in_pixels(shapes):
    new("faster_rcnn", "--data", shapes, "--out", "mine", "--size", 96)
    net = Net("mine/train.prototxt", phase="TRAIN")
    for _ in range(60):
        net.forward(end="truth_silence")
        rows, boxes = np.array(net.blobs["label"].data)[0, 0], np.array(net.blobs["gt_boxes"].data)
        assert (boxes[:, 4] >= 1).all()  # a patch without an object would have a row of -1
        np.testing.assert_array_equal(boxes[:, 4], rows[:, 1])
        np.testing.assert_allclose(boxes[:, :4], rows[:, 3:7] * 96 - [0, 0, 1, 1], atol=1e-4)
        assert ((boxes[:, 2:4] - boxes[:, :2] + 1) > 0).all()


@pytest.mark.later(one_of="kind")
@pytest.mark.parametrize(("kind", "name"), NETS)
def test_all_three_nets_build(kind, name):
    """The nets for training and testing with a data layer replaced, which would need an LMDB."""
    for phase in ("train", "test"):
        message = KINDS[kind](phase, 96, 0.125, Task(classes=4), trunk=TRUNKS[name]).to_proto()
        first = message.layer[0]
        assert first.type == "AnnotatedData"
        first.Clear()
        first.name, first.type = "data", "Input"
        first.top.extend(["data", "label"])
        for shape in ((1, 3, 96, 96), (1, 1, 2, 8)):
            first.input_param.shape.add().dim.extend(shape)
        net = Net(message, phase=phase.upper(), device="cpu")
        net.blobs["label"].data[...] = [[0, 1, 0, 0.1, 0.1, 0.5, 0.6, 0], [0, 3, 1, 0.4, 0.3, 0.9, 0.9, 0]]
        net.blobs["data"].data[...] = np.random.default_rng(1).uniform(-1, 1, (1, 3, 96, 96))
        tops = net.forward()
        wanted = {"rpn_loss_cls", "rpn_loss_bbox", "loss_cls", "loss_bbox"} if phase == "train" else {"detection_eval"}
        assert set(tops) == wanted
        assert all(np.isfinite(value).all() for value in tops.values())
        if phase == "train":
            net.backward()
            assert all(np.isfinite(blob.diff).all() for blobs in net.params.values() for blob in blobs)


@pytest.mark.parametrize("kind", list(KINDS))
def test_detections_are_the_regions_moved(kind):
    """Every row against Faster R-CNN's own formulas in float64: sides of last - first + 1 pixels."""
    net = thin(kind, "small", "deploy")
    assert list(net.inputs) == ["data"]
    picture = np.random.default_rng(5).uniform(0, 255, (1, 3, 96, 96)).astype(np.float32)
    blobs = net.forward(("rois", "cls_prob", "bbox_pred", "detection_out"), data=picture)
    rois, scores = blobs["rois"].astype(np.float64), blobs["cls_prob"]
    offsets = blobs["bbox_pred"].astype(np.float64).reshape(len(rois), -1, 4)
    rows = blobs["detection_out"].reshape(-1, 7)
    assert len(rows) > 3
    side = rois[:, 3:] - rois[:, 1:3] + 1
    centre = rois[:, 1:3] + side / 2
    for _, label, score, *box in rows:
        by = offsets[:, int(label) if kind == "faster_rcnn" else 1]
        moved, grown = centre + by[:, :2] * side, side * np.exp(by[:, 2:])
        boxes = np.concatenate([moved - grown / 2, moved + grown / 2], 1) / 96
        same = np.abs(boxes - box).max(1) < 1e-5
        assert (scores[same, int(label)] == np.float32(score)).any()
    best = scores[:, 1:].max()
    assert rows[:, 2].max() == best


@pytest.mark.later(one_of="kind")
@pytest.mark.parametrize(("kind", "name"), NETS)
def test_onnxruntime_finds_the_same(kind, name):
    pytest.importorskip("onnx", reason="the export needs onnx")
    runtime = pytest.importorskip("onnxruntime", reason="it runs what is exported")
    net = thin(kind, name, "deploy")
    picture = np.random.default_rng(5).uniform(-1, 1, (1, 3, 96, 96)).astype(np.float32) * (
        100 if name == "small" else 2
    )
    session = runtime.InferenceSession(onnx_model(net).SerializeToString(), providers=["CPUExecutionProvider"])
    ours = net.forward(data=picture)["detection_out"].reshape(-1, 7)  # not before: the file knows no number of regions
    assert len(net.blobs["rois"].data) > 1
    (theirs,) = session.run(None, {session.get_inputs()[0].name: picture})
    theirs = theirs.reshape(-1, 7)
    assert len(ours) == len(theirs) > 1
    apart = np.abs(ours[:, None] - theirs).max(2)  # near scores may come in another order
    assert max(apart.min(0).max(), apart.min(1).max()) < 1e-3


def test_anchors_are_fitted_where_the_usual_ones_miss():
    rng = np.random.default_rng(2)
    low = rng.uniform(0, 0.5, (300, 2))
    flat = np.concatenate([low, low + np.array([0.4, 0.06]) * rng.uniform(0.8, 1.2, (300, 2))], 1)
    usual = np.concatenate([low, low + 0.3 * rng.uniform(0.9, 1.1, (300, 2))], 1)

    def covered(boxes, anchors):
        return float((project.overlaps(boxes, anchors) >= 0.5).mean())

    assert regions.fit_anchors(usual, 160, 8, partial(covered, usual)) == regions.STANDARD
    sides, ratios = regions.fit_anchors(flat, 160, 8, partial(covered, flat))
    assert (sides, ratios) != regions.STANDARD
    np.testing.assert_allclose(sides[1], np.sqrt(0.4 * 0.06), rtol=0.1)
    np.testing.assert_allclose(ratios[1], 0.15, rtol=0.1)
    nets = [
        Net(regions.rfcn("deploy", 160, task=Task(classes=2, anchors=anchors)).to_proto(), device="cpu")
        for anchors in (None, (sides, ratios))
    ]
    shares = [covered(flat, regions.anchors_of(net)) for net in nets]
    assert shares[0] < 0.3
    assert shares[1] > 0.7  # the others lie between places, 8 pixels apart


def test_given_weights_keep_their_statistics():
    """BatchNorm of a batch of one picture would have its statistics alone."""
    message = regions.rfcn("train", 320, task=Task(still=True), trunk=regions.MOBILE).to_proto()
    norms = [layer for layer in message.layer if layer.type == "BatchNorm"]
    assert norms
    assert all(layer.batch_norm_param.use_global_stats for layer in norms)
    frozen = [layer.name for layer in regions.rfcn("train", 448, task=Task(still=True), trunk=regions.VGG).to_proto().layer
              if layer.type == "Convolution" and layer.param[0].lr_mult == 0]  # fmt: skip
    assert frozen == ["conv1_1", "conv1_2", "conv2_1", "conv2_2"]
