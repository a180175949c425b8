"""boxpresso.onnxruntime: nodes as mmcv and mmdeploy export them, run by onnxruntime, beside the operators' formulas in numpy, and
beside onnxruntime's own RoiAlign and torch's grid_sample form written out."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from boxpresso import ops

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
ours = pytest.importorskip("boxpresso.onnxruntime")
from onnx import TensorProto, helper  # noqa: E402

from boxpresso.ops import ort  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 6, 12, 14)).astype(np.float32)
ROIS = np.array([[0.0, 2, 3, 19, 17], [1, 4, 6, 22, 21], [0, 5, 5, 12, 13]], np.float32)
ROTATED = np.array([[0.0, 9, 10, 12, 8, 0.4], [1, 12, 9, 7, 14, -1.1]], np.float32)
KINDS = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.int32): TensorProto.INT32,
}


def run(kind, inputs, attributes, domain="mmcv", output=TensorProto.FLOAT, missing=()):
    """What onnxruntime gives of a file of one node."""
    names = [f"in{i}" for i in range(len(inputs))]
    node = helper.make_node(
        kind, ["" if i in missing else n for i, n in enumerate(names)], ["out"], domain=domain, **attributes
    )
    feeds = {n: a for i, (n, a) in enumerate(zip(names, inputs)) if i not in missing}
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(n, KINDS[a.dtype], [None] * a.ndim) for n, a in feeds.items()],
        [helper.make_tensor_value_info("out", output, None)],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(domain, 1)] if domain else [helper.make_opsetid("", 16)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if domain:
        ours.register(options)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


SIZE = dict(output_height=3, output_width=2, spatial_scale=0.5, sampling_ratio=2)


@pytest.mark.parametrize("domain", ort.DOMAINS)
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align(domain, mode):
    result = run("MMCVRoiAlign", [X, ROIS], {**SIZE, "aligned": 1, "mode": mode}, domain.decode())
    assert np.array_equal(result, ops.roi_align(X, ROIS, (3, 2), 0.5, 2, True, mode))


def test_roi_align_beside_onnxruntimes_own():
    """The operator of ONNX of that name computes the same."""
    mine = run("MMCVRoiAlign", [X, ROIS], {**SIZE, "aligned": 1, "mode": "avg"})
    attributes = {**SIZE, "mode": "avg", "coordinate_transformation_mode": "half_pixel"}
    theirs = run("RoiAlign", [X, ROIS[:, 1:], ROIS[:, 0].astype(np.int64)], attributes, "")
    np.testing.assert_allclose(mine, theirs, atol=2e-6)


@pytest.mark.parametrize("clockwise", [0, 1])
def test_roi_align_rotated(clockwise):
    """By its formula: samples in a turned grid."""
    result = run("MMCVRoIAlignRotated", [X, ROTATED], {**SIZE, "aligned": 1, "clockwise": clockwise})

    def sample(image, y, x):
        if not (-1 <= y <= 12 and -1 <= x <= 14):
            return 0
        y, x = min(max(y, 0), 11), min(max(x, 0), 13)
        top, left = int(y), int(x)
        low, right = min(top + 1, 11), min(left + 1, 13)
        v, u = y - top, x - left
        upper = image[:, top, left] * (1 - u) + image[:, top, right] * u
        return upper * (1 - v) + (image[:, low, left] * (1 - u) + image[:, low, right] * u) * v

    want = np.zeros_like(result)
    for k, (b, cx, cy, w, h, angle) in enumerate(ROTATED.astype(np.float64)):
        turn = -angle if clockwise else angle
        for i in range(6):
            for j in range(4):
                v, u = ((i + 0.5) / 6 - 0.5) * h * 0.5, ((j + 0.5) / 4 - 0.5) * w * 0.5
                y = v * np.cos(turn) - u * np.sin(turn) + cy * 0.5 - 0.5
                x = v * np.sin(turn) + u * np.cos(turn) + cx * 0.5 - 0.5
                want[k, :, i // 2, j // 2] += sample(X[int(b)].astype(np.float64), y, x) / 4
    np.testing.assert_allclose(result, want, atol=1e-5)


def test_deformable_operators():
    """Without offsets a deformable convolution is a convolution, and a mask of ones changes nothing."""
    weight = RNG.standard_normal((4, 3, 3, 3)).astype(np.float32)
    zeros, ones = np.zeros((2, 2 * 2 * 9, 12, 14), np.float32), np.ones((2, 2 * 9, 12, 14), np.float32)
    taps = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 2, "deform_groups": 2}
    plain = run("Conv", [X, weight], {"pads": [1, 1, 1, 1], "group": 2}, "")
    exported = {**taps, "bias": 0, "im2col_step": 32}
    np.testing.assert_allclose(run("MMCVDeformConv2d", [X, zeros, weight], exported), plain, atol=1e-5)
    bias = RNG.standard_normal(4).astype(np.float32)
    result = run("MMCVModulatedDeformConv2d", [X, zeros, ones, weight, bias], taps, "mmdeploy")
    np.testing.assert_allclose(result, plain + bias[:, None, None], atol=1e-5)
    np.testing.assert_allclose(run("MMCVModulatedDeformConv2d", [X, zeros, ones, weight], taps), plain, atol=1e-5)
    moved = RNG.uniform(-2, 2, zeros.shape).astype(np.float32)
    want = ops.deform_conv2d(X, moved, weight, padding=1)
    assert np.array_equal(run("MMCVDeformConv2d", [X, moved, weight], exported), want)


def test_deform_roi_pool():
    offset = RNG.uniform(-1, 1, (3, 2, 3, 2)).astype(np.float32)
    exported = dict(pooled_height=3, pooled_width=2, spatial_scale=0.5, sampling_ratio=2.0, gamma=0.2)
    want = ops.deform_roi_pool(X, ROIS, offset, (3, 2), 0.5, 2, 0.2)
    assert np.array_equal(run("MMCVDeformRoIPool", [X, ROIS, offset], exported), want)
    want = ops.roi_align(X, ROIS, (3, 2), 0.5, 2)  # without offsets it is that
    result = run("MMCVDeformRoIPool", [X, ROIS, offset], exported, missing=(2,))
    np.testing.assert_allclose(result, want, atol=1e-5)


@pytest.mark.parametrize("whole", [np.int32, np.int64])
def test_attention(whole):
    sizes, value = np.array([[3, 4], [2, 5]], whole), RNG.standard_normal((2, 22, 2, 4)).astype(np.float32)
    places = RNG.uniform(-0.1, 1.1, (2, 5, 2, 2, 3, 2)).astype(np.float32)
    shares = RNG.uniform(0, 1, (2, 5, 2, 2, 3)).astype(np.float32)
    result = run(
        "MMCVMultiScaleDeformableAttention",
        [value, sizes, np.array([0, 12], whole), places, shares],
        {"im2col_step": 64},
        "mmdeploy",
    )
    want = np.zeros((2, 5, 2, 4))
    for n, q, m, level, p in np.ndindex(2, 5, 2, 2, 3):
        h, w = sizes[level]
        x, y = places[n, q, m, level, p].astype(np.float64) * (w, h) - 0.5
        for i, j in np.ndindex(int(h), int(w)):
            share = max(0, 1 - abs(y - i)) * max(0, 1 - abs(x - j)) * shares[n, q, m, level, p]
            want[n, q, m] += share * value[n, (0, 12)[level] + i * w + j, m]
    np.testing.assert_allclose(result, want.reshape(2, 5, 8), atol=1e-5)


def test_corner_pool_and_carafe():
    for mode, step in (("top", -1), ("bottom", 1)):
        want = np.maximum.accumulate(X[:, :, ::step], 2)[:, :, ::step]
        assert np.array_equal(run("MMCVCornerPool", [X], {"mode": ort.MODES.index(mode)}), want)
    masks = RNG.uniform(0, 1, (2, 18, 24, 28)).astype(np.float32)
    for kind in ("MMCVCARAFE", "MMCVCARAFENaive"):
        result = run(kind, [X, masks], dict(kernel_size=3, group_size=2, scale_factor=2.0))
        assert np.array_equal(result, ops.carafe(X, masks, 3, 2, 2))


def test_nms_rotated():
    """Upright boxes by hand; turned ones as ops.nms_rotated has them, image by image and class by class."""
    boxes = np.array([[[5, 5, 4, 2, 0], [5, 5, 4, 2, 0.05], [20, 20, 4, 2, 0]]], np.float32)
    scores = np.array([[[0.5, 0.9, 0.3], [0.8, 0.1, 0.05]]], np.float32)
    result = run(
        "NMSRotated", [boxes, scores], dict(iou_threshold=0.5, score_threshold=0.2), "mmdeploy", TensorProto.INT64
    )
    assert result.tolist() == [[0, 0, 1], [0, 0, 2], [0, 1, 0]]
    boxes = np.concatenate(
        [RNG.uniform(0, 20, (2, 30, 2)), RNG.uniform(2, 9, (2, 30, 2)), RNG.uniform(-2, 2, (2, 30, 1))], 2
    )
    boxes, scores = boxes.astype(np.float32), RNG.random((2, 2, 30)).astype(np.float32)
    result = run("NMSRotated", [boxes, scores], dict(iou_threshold=0.1), "mmdeploy", TensorProto.INT64)
    want = [[b, c, i] for b in (0, 1) for c in (0, 1) for i in ops.nms_rotated(boxes[b], scores[b, c], 0.1).tolist()]
    assert result.tolist() == want
    none = run("NMSRotated", [boxes[:, :0], scores[:, :, :0]], dict(iou_threshold=0.1), "mmdeploy", TensorProto.INT64)
    assert none.shape == (0, 3)


def test_a_head_of_rotated_boxes():
    """As mmrotate exports one: suppression, the boxes that stay as regions, features of them, and a linear layer."""
    boxes = np.concatenate(
        [RNG.uniform(4, 20, (1, 12, 2)), RNG.uniform(3, 9, (1, 12, 2)), RNG.uniform(-1, 1, (1, 12, 1))], 2
    )
    boxes, scores = boxes.astype(np.float32), RNG.random((1, 1, 12)).astype(np.float32)
    weight = RNG.standard_normal((6 * 4, 3)).astype(np.float32)
    node, constant = helper.make_node, helper.make_tensor
    nodes = [
        node("NMSRotated", ["boxes", "scores"], ["stay"], domain="mmdeploy", iou_threshold=0.2, score_threshold=0.1),
        node("Gather", ["stay", "two"], ["index"], axis=1),
        node("Squeeze", ["boxes", "zero"], ["flat"]),
        node("Gather", ["flat", "index"], ["rows"], axis=0),
        node("Pad", ["rows", "pads"], ["rois"]),
        node("MMCVRoIAlignRotated", ["x", "rois"], ["pooled"], domain="mmcv", output_height=2, output_width=2, spatial_scale=0.5,
             sampling_ratio=2, aligned=1, clockwise=1),
        node("Flatten", ["pooled"], ["features"]),
        node("MatMul", ["features", "weight"], ["out"]),
    ]  # fmt: skip
    feeds = {"x": X[:1], "boxes": boxes, "scores": scores}
    graph = helper.make_graph(
        nodes, "head", [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in feeds.items()],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
        [constant("two", TensorProto.INT64, [], [2]), constant("zero", TensorProto.INT64, [1], [0]),
         constant("pads", TensorProto.INT64, [4], [0, 1, 0, 0]), constant("weight", TensorProto.FLOAT, weight.shape, weight.ravel())],
    )  # fmt: skip
    opsets = [helper.make_opsetid(name, version) for name, version in (("", 13), ("mmcv", 1), ("mmdeploy", 1))]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    options = onnxruntime.SessionOptions()
    ours.register(options)
    sessions = [onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]) for _ in range(2)]
    results = [session.run(None, feeds)[0] for session in sessions for _ in range(2)]
    stay = ops.nms_rotated(boxes[0], scores[0, 0], 0.2)
    stay = stay[scores[0, 0, stay] > 0.1]
    rois = np.insert(boxes[0][stay], 0, 0, axis=1)
    pooled = ops.roi_align_rotated(X[:1], rois, 2, 0.5, 2, clockwise=True)
    for result in results:
        np.testing.assert_allclose(result, pooled.reshape(len(rois), -1) @ weight, atol=1e-4)
    before = len(ort.kernels)
    del sessions
    gc.collect()
    assert len(ort.kernels) == before - 4  # two nodes in two sessions


def test_errors():
    """They name the node's kind; those of attributes come when the file is read."""
    with pytest.raises(
        Exception, match="MMCVRoIAlignRotated: the attribute output_height is missing, or of another type"
    ):
        run("MMCVRoIAlignRotated", [X, ROTATED], {"output_width": 2})
    with pytest.raises(Exception, match="MMCVRoiAlign: roi_align: pool_mode must be 'avg' or 'max', got 'mean'"):
        run("MMCVRoiAlign", [X, ROIS], {**SIZE, "mode": "mean"})
    with pytest.raises(Exception, match=r"MMCVRoIAlignRotated: .*regions, must be"):
        run("MMCVRoIAlignRotated", [X, ROIS], SIZE)
    with pytest.raises(Exception, match="MMCVCornerPool: mode must be 0 to 3"):
        run("MMCVCornerPool", [X], {"mode": 4})
    taps = [X, np.zeros((2, 18, 12, 14), np.float32), np.ones((4, 3, 3, 3), np.float32)]
    with pytest.raises(Exception, match="do not fit weight"):
        run("MMCVDeformConv2d", taps, {"deform_groups": 2, "groups": 2})


@pytest.mark.parametrize(("kind", "wrong"), [
    ("MMCVRoiAlign", {"spatial_scale": 2}), ("MMCVRoiAlign", {"aligned": 0.0}), ("MMCVRoiAlign", {"mode": 1}),
    ("MMCVDeformConv2d", {"stride": 2}),
])  # fmt: skip
def test_an_attribute_of_another_type_is_no_default(kind, wrong):
    inputs = [X, ROIS] if kind == "MMCVRoiAlign" else [X, X, X]
    settings = {**SIZE, **wrong} if kind == "MMCVRoiAlign" else wrong
    with pytest.raises(Exception, match=f"{kind}: the attribute {next(iter(wrong))} is missing, or of another type"):
        run(kind, inputs, settings)
