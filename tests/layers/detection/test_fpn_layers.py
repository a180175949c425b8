"""Feature pyramids, anchors from outside the prototxt, FocalLoss and other layers of forks, against numpy of their own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError, ModelError, Net
from boxpresso.graph.anchors import read_anchors
from boxpresso.graph.dialects import settle
from boxpresso.proto import BoxpressoWarning, parse_net

RNG = np.random.default_rng(9)
SETTINGS = 'param_str: "{feat_strides: [8, 16], scales: [2], ratios: [0.5, 1], rpn_min_size: 4, rpn_post_nms_top_n: 6}"'


def anchors_of(stride: int, scale: float, ratios: list[float]) -> np.ndarray:
    """py-faster-rcnn's, around a stride x stride square."""
    rows = []
    for ratio in ratios:
        width = np.round(np.sqrt(stride * stride / ratio))
        height = np.round(width * ratio)
        half = np.array([width * scale - 1, height * scale - 1]) / 2
        rows.append([*((stride - 1) / 2 - half), *((stride - 1) / 2 + half)])
    return np.array(rows)


def iou(a, b) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]) + 1, min(a[3], b[3]) - max(a[1], b[1]) + 1
    shared = max(wide, 0) * max(high, 0)
    area = [(r[2] - r[0] + 1) * (r[3] - r[1] + 1) for r in (a, b)]
    return shared / (sum(area) - shared)


def expected_regions(scores, offsets, info) -> np.ndarray:
    candidates = []
    for score, offset, stride in zip(scores, offsets, (8, 16)):
        every = anchors_of(stride, 2, [0.5, 1])
        for y, x in np.ndindex(*score.shape[2:]):
            for k, anchor in enumerate(every):
                box = anchor + np.array([x, y, x, y]) * stride
                size = box[2:] - box[:2] + 1
                by = offset[0, 4 * k : 4 * k + 4, y, x]
                centre, grown = by[:2] * size + box[:2] + size / 2, np.exp(by[2:]) * size
                box = np.concatenate([centre - grown / 2, centre + grown / 2])
                box = np.clip(box, 0, [info[1] - 1, info[0] - 1] * 2)
                if (box[2:] - box[:2] + 1 >= 4 * info[2]).all():
                    candidates.append([*box, score[0, 2 + k, y, x]])
    survivors = []
    for row in sorted(candidates, key=lambda r: -r[4]):
        if all(iou(row, other) < 0.7 for other in survivors):
            survivors.append(row)
    return np.array(survivors[:6])[:, :4]


def test_fpn_proposal(device):
    """Both orders of bottoms, and the regions sorted by level."""
    scores = [RNG.random((1, 4, 4, 6)), RNG.random((1, 4, 2, 3))]
    offsets = [RNG.standard_normal((1, 8, 4, 6)) * 0.3, RNG.standard_normal((1, 8, 2, 3)) * 0.3]
    info = np.array([[32, 48, 1.0]])
    wanted = expected_regions(scores, offsets, info[0])
    text = f'type: "FPNProposal" python_param {{ {SETTINGS} }}'
    one = Rig(text, [info, *offsets, *scores], device=device, dtype=np.float64).forward()[0]
    two = Rig(text, [scores[0], offsets[0], scores[1], offsets[1], info], device=device, dtype=np.float64).forward()[0]
    close(one, np.column_stack([np.zeros(len(wanted)), wanted]))
    assert np.array_equal(one, two)
    tops = Rig(text, [info, *offsets, *scores], tops=3, dtype=np.float64).forward()
    assert [len(t) for t in tops] == [7, 6, 1]  # all are small: the second level has a row of zeros
    assert not tops[2].any()
    with pytest.raises(LayerError, match="for each of 3 levels"):
        Rig(text, [info, *offsets, offsets[1], *scores, scores[1]])


def test_module_anchors_are_makefiles():
    """Worked through by hand from makefile/frcnn's loop for a stride of 4, scales 8 and 16, ratios 0.5, 1 and 2."""
    from boxpresso.layers.detection.pyramid import module_anchors

    rows = np.array(module_anchors(4, [0.5, 1, 2], [8, 16]))
    sides = rows[:, 2:] - rows[:, :2] + 1
    assert sides[:3].tolist() == [[44, 22], [32, 32], [22, 44]]
    area = 22 * 16 * 44 * 16  # the second scale multiplies what the last ratio left
    assert abs(sides[4] - np.sqrt(area)).max() <= 2
    assert abs(sides[3] - [np.sqrt(2 * area), np.sqrt(2 * area) / 2]).max() <= 2


def test_fpn_anchor_target(device):
    truth = np.array([[0, 0, 15, 15, 1], [4, 4, 36, 28, 2]])
    scores = [np.zeros((1, 4, 4, 6)), np.zeros((1, 4, 2, 3))]
    text = """type: "FPNAnchorTarget" python_param {
        param_str: "{feat_strides: [8, 16], scales: [2], ratios: [0.5, 1], allowed_border: 1000}" }"""
    tops = Rig(text, [*scores, truth, [[32, 48, 1]]], tops=4, device=device, dtype=np.float64).forward()
    labels, targets, inside, outside = tops
    assert labels.shape == (1, 2 * 30)
    assert targets.shape == inside.shape == outside.shape == (1, 8, 30)
    start = place = 0
    drawn = int((labels >= 0).sum())
    for stride, (height, width) in ((8, (4, 6)), (16, (2, 3))):
        every = anchors_of(stride, 2, [0.5, 1])
        for k, y, x in np.ndindex(2, height, width):
            box = every[k] + np.array([x, y, x, y]) * stride
            label = labels[0, start + (k * height + y) * width + x]
            at = place + y * width + x
            shared = [iou(box, row) for row in truth]
            best = int(np.argmax(shared))
            if label == 1:
                size, real = box[2:] - box[:2] + 1, truth[best, 2:4] - truth[best, :2] + 1
                centre = truth[best, :2] + real / 2 - box[:2] - size / 2
                close(targets[0, 4 * k : 4 * k + 4, at], [*(centre / size), *np.log(real / size)])
                assert inside[0, 4 * k : 4 * k + 4, at].tolist() == [1] * 4
            else:
                assert max(shared) < 0.7
                assert not targets[0, 4 * k : 4 * k + 4, at].any()
            assert (label == 0) <= (max(shared) < 0.3)
            close(outside[0, 4 * k, at], 1 / drawn if label >= 0 else 0.0)
        start, place = start + 2 * height * width, place + height * width
    assert (labels == 1).sum() >= 2


def test_fpn_proposal_target(device):
    truth = np.array([[0, 0, 299, 299, 1], [10, 10, 49, 49, 2]])
    regions = np.array([[0, 0, 0, 280, 299], [0, 12, 10, 49, 49], [0, 400, 400, 410, 410]])
    text = 'type: "FPNProposalTarget" python_param { param_str: "{num_classes: 3, bg_thresh_lo: 0}" }'
    *levels, labels, targets, inside, outside = Rig(text, [regions, truth], tops=8, device=device).forward()
    rows = np.concatenate(levels)
    assert labels.shape == (len(rows),)
    assert [len(level) for level in levels] == [3, 1, 2, 1]
    assert labels[[3, 6]].tolist() == [-1, -1]  # the levels without regions
    assert sorted(labels[:3].tolist()) == [0, 2, 2]
    assert labels[4:6].tolist() == [1, 1]
    assert targets.shape == inside.shape == outside.shape == (7, 12)
    assert not inside[[3, 6]].any()


def test_frcnn_targets(device):
    truth, info = np.array([[0, 0, 15, 15, 1]]).reshape(1, 5, 1, 1), np.array([[16, 32, 1]]).reshape(1, 3, 1, 1)
    text = 'python_param { param_str: "{scales: [1], ratios: [1]}" }'
    labels = Rig(f'type: "FrcnnAnchorTarget" {text}', [np.zeros((1, 2, 1, 2)), truth, info], tops=4, device=device)
    assert labels.forward()[0].ravel().tolist() == [1, 0]
    regions = np.array([[0, 0, 0, 15, 13], [0, 0, 0, 15, 4], [0, 40, 40, 49, 49]]).reshape(3, 5, 1, 1)
    text = """type: "FrcnnProposalTarget" proposal_target_param { cls_num: 3 stage: %d gt_iou_thr: 0.8 }
        python_param { param_str: "{batch_size: 8, fg_fraction: 0.5}" }"""
    rois, kinds, *_ = Rig(text % 0, [regions, truth], tops=5, device=device).forward()
    assert rois.shape == (8, 5, 1, 1)
    assert kinds.ravel().tolist() == [1, 1, 0, 0, 0, 0, 0, 0]  # background is repeated
    assert (Rig(text % 1, [regions, truth], tops=5).forward()[1] > 0).sum() == 1  # the region of 0.875 is left out


# Anchors


def proposal(channels: int, param_str: str = "'feat_stride': 16", kind: str = "Proposal", **options) -> Net:
    text = f"""layer {{ name: "s" type: "Input" top: "s" top: "o" top: "i" input_param {{
        shape {{ dim: 1 dim: {2 * channels} dim: 2 dim: 2 }} shape {{ dim: 1 dim: {channels * (5 if "R" in kind else 4)} dim: 2 dim: 2 }}
        shape {{ dim: 1 dim: 3 }} }} }}
        layer {{ name: "p" type: "{kind}" bottom: "s" bottom: "o" bottom: "i" top: "r"
        python_param {{ param_str: "{param_str}" }} }}"""
    return Net(parse_net(text), device="cpu", **options)


@pytest.mark.parametrize(("count", "scales"), [(12, "[4, 8, 16, 32]"), (15, "[2, 4, 8, 16, 32]"), (3, "[32]")])
def test_the_scores_tell_how_many_anchors(count, scales):
    with pytest.warns(BoxpressoWarning, match=f"scores are of {count} anchors") as caught:
        net = proposal(count)
    assert f"scales {scales}" in str(caught[0].message)
    assert net.layer_dict["p"].anchors.shape == (count, 4)
    with pytest.warns(BoxpressoWarning, match=r"ratios \[0.5, 1, 2, 3, 5, 7, 10\]"):
        assert len(proposal(28).layer_dict["p"].anchors) == 28
    with pytest.warns(BoxpressoWarning, match="angles"):
        assert proposal(45, kind="RotateProposal").layer_dict["p"].anchors.shape == (45, 5)


def test_anchors_that_do_not_divide_are_asked_for(tmp_path):
    with pytest.raises(LayerError, match=r"for 11 anchors.*anchors=.*--anchors.*\.anchors\.json"):
        proposal(11)
    with pytest.raises(LayerError, match="18 channels for 9 anchors, got 30"):
        proposal(15, "{'scales': [8, 16, 32]}")
    rows = [[-8.0 * i, -8.0 * i, 8.0 * i + 15, 8.0 * i + 15] for i in range(11)]
    assert np.array_equal(proposal(11, anchors=rows).layer_dict["p"].anchors, rows)
    with pytest.raises(LayerError, match="11 were given"):
        proposal(12, anchors=rows)
    path = tmp_path / "config.json"
    path.write_text(
        '{"batch": "2", // a comment\n "anchors": "' + ",\n ".join(f"{v}" for row in rows for v in row) + '"}'
    )
    assert np.array_equal(proposal(11, anchors=path).layer_dict["p"].anchors, rows)
    model = tmp_path / "deploy.prototxt"
    model.write_text('layer { name: "x" type: "Input" top: "x" }')
    (tmp_path / "deploy.anchors.json").write_text(json.dumps(rows))
    assert np.array_equal(Net(model, device="cpu").anchors, rows)
    for bad, match in (
        ([[1, 2]], "rows of 4"),
        ([["a"] * 4], "rows of numbers"),
        (tmp_path / "no.json", "cannot read"),
    ):
        with pytest.raises(ModelError, match=match):
            read_anchors(bad)


# Other layers of forks


@pytest.mark.parametrize("gamma", [0, 2, 1.5])
def test_focal_loss(gamma, device):
    scores, labels = RNG.standard_normal((3, 4, 2)), np.array([[0, 3], [2, 255], [1, 1]])
    text = f"""type: "FocalLoss" focal_loss_param {{ alpha: 0.5 gamma: {gamma} }}
        loss_param {{ ignore_label: 255 normalization: VALID }}"""
    rig = Rig(text, [scores, labels], dtype=np.float64, tops=2, device=device)
    likely = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    each = [
        -0.5 * (1 - likely[n, labels[n, i], i]) ** gamma * np.log(likely[n, labels[n, i], i])
        for n, i in np.ndindex(3, 2)
        if labels[n, i] != 255
    ]
    loss, probability = rig.forward()
    close(loss, np.mean(each))
    close(probability, likely)
    check_gradient(Rig(text, [scores, labels], dtype=np.float64, device=device))
    with pytest.raises(LayerError, match="none of the 4 channels"):
        Rig(text, [scores, labels + 3]).forward()


def test_softmax_loss_with_weights(device):
    scores, labels, weights = RNG.standard_normal((3, 4, 5)), RNG.integers(0, 4, (3, 5)), RNG.random((3, 5))
    labels[0, 0] = 255
    text = 'type: "SoftmaxWithLoss" loss_param { ignore_label: 255 }'
    likely = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    each = np.zeros((3, 5))
    for n, i in np.ndindex(3, 5):
        if labels[n, i] != 255:
            each[n, i] = -np.log(likely[n, labels[n, i], i]) * weights[n, i]
    rig = Rig(text, [scores, labels, weights], tops=3, dtype=np.float64, device=device)
    loss, probability, losses = rig.forward()
    close(loss, each.sum() / 14)
    close(losses, each)
    close(probability, likely)
    check_gradient(Rig(text, [scores, labels, weights], dtype=np.float64, device=device))
    rows = Rig(text, [scores[:, :, 0], labels[:, 1], weights[:, 0]], dtype=np.float64, device=device)
    check_gradient(rows)
    with pytest.raises(LayerError, match="a weight for each of 15 labels"):
        Rig(text, [scores, labels, weights[:2]])


LAUNCHES = [  # for tests/device/test_threaded.py
    (
        'type: "SoftmaxWithLoss"',
        [RNG.standard_normal((3, 4, 5)), RNG.integers(0, 4, (3, 5)), RNG.random((3, 5))],
        [True, False, False],
    ),
]


def test_denser_priors_and_polygons(device):
    text = 'type: "PriorBox" prior_box_param { min_size: 10 aspect_ratio: 4 flip: false %s }'
    shapes = [np.zeros((1, 1, 2, 3)), np.zeros((1, 3, 40, 60))]
    one = Rig(text % "", shapes, device=device).forward()[0][0, 0].reshape(2, 3, 2, 4) * [60, 40, 60, 40]
    two = Rig(text % "denser_prior_boxes: true", shapes, device=device).forward()[0][0, 0]
    two = two.reshape(2, 3, 4, 4) * [60, 40, 60, 40]
    close(two[:, :, ::2], one)
    close(two[:, :, 1::2], one + np.array([0, 10, 0, 10]))  # half a step of 20 pixels lower
    faces = Rig('type: "PriorBox" prior_box_param { min_size: 32 min_size: 64 min_size: 128 faceboxes: true step: 32 }',
                [np.zeros((1, 1, 1, 1)), np.zeros((1, 3, 256, 256))], device=device)  # fmt: skip
    boxes = faces.forward()[0][0, 0].reshape(-1, 4) * 256
    assert len(boxes) == 21
    close(boxes[0], [16 - 16 - 15.5, 16 - 16 - 15.5, 15.5, 15.5])
    close(boxes[15], [16 + 8 - 15.5, 16 + 8 - 15.5, 16 + 8 + 15.5, 16 + 8 + 15.5])
    close(boxes[20], [16 - 63.5, 16 - 63.5, 16 + 63.5, 16 + 63.5])

    prior = np.array([0.2, 0.2, 0.6, 0.4])
    offsets = np.arange(12) * 0.1
    priors = np.stack([prior, [0.1, 0.1, 0.2, 0.2]])[None]
    text = """type: "DetectionOutput" detection_output_param { num_classes: 2 code_type: CENTER_SIZE
        confidence_threshold: 0.1 use_polygon: true }"""
    row = Rig(text, [offsets[None], [[0.3, 0.7]], priors], device=device).forward()[0][0, 0, 0]
    corners = prior[[0, 1, 2, 1, 2, 3, 0, 3]]
    close(row[7:], corners + 0.1 * offsets[4:] * np.tile([0.4, 0.2], 4), atol=1e-6)
    close(row[:3], [0, 1, 0.7])
    size = np.exp(0.2 * offsets[2:4]) * [0.4, 0.2]
    centre = np.array([0.4, 0.3]) + 0.1 * offsets[:2] * [0.4, 0.2]
    close(row[3:7], [*(centre - size / 2), *(centre + size / 2)], atol=1e-6)


def test_locations_tell_what_priors_a_program_makes():
    text = """layer { name: "f" type: "Input" top: "f" } layer { name: "loc" type: "Convolution" bottom: "f" top: "loc"
        convolution_param { num_output: %d kernel_size: 1 } } layer { name: "p" type: "PriorBox" bottom: "f" bottom: "f"
        top: "p" prior_box_param { %s } } layer { name: "out" type: "DetectionOutput" bottom: "loc" bottom: "f" bottom: "p"
        top: "out" detection_output_param { num_classes: 2 share_location: %s } }"""
    two = "min_size: 30 aspect_ratio: 2 flip: false"
    for outputs, sizes, shared, mark in (
        (16, two, "true", "denser_prior_boxes"), (84, "min_size: 32 min_size: 64 min_size: 128", "true", "faceboxes"),
        (8, two, "true", ""), (16, two, "false", ""), (32, two, "false", "denser_prior_boxes"),
    ):  # fmt: skip
        p = settle(parse_net(text % (outputs, sizes, shared))).layer[2].prior_box_param
        assert [name for name in ("denser_prior_boxes", "faceboxes") if getattr(p, name)] == ([mark] if mark else [])


def test_ron_detection(device):
    objects, classes = RNG.random((2, 20, 2, 3)), RNG.random((2, 3, 20, 3))
    offsets = RNG.standard_normal((2, 40, 2, 3)) * 0.2
    text = """type: "RONDetection" python_param { param_str: "'stride_scale_numcls': 16,1,3" }"""
    boxes, scores = Rig(text, [objects, classes, offsets], tops=2, dtype=np.float64, device=device).forward()
    every = []
    for ratio in (0.333, 0.5, 1, 2, 3):
        width = np.round(np.sqrt(32 * 32 / ratio))
        height = np.round(width * ratio)
        for scale in (1, 2):
            half = np.array([width * scale - 1, height * scale - 1]) / 2
            every.append([*(15.5 - half), *(15.5 + half)])
    for n, y, x, k in np.ndindex(2, 2, 3, 10):
        row = (y * 3 + x) * 10 + k
        box = np.array(every[k]) + np.array([x, y, x, y]) * 16
        size, by = box[2:] - box[:2] + 1, offsets[n, 4 * k : 4 * k + 4, y, x]
        centre, half = by[:2] * size + box[:2] + size / 2, np.exp(by[2:]) * size / 2
        close(boxes[n, row], [*(centre - half), *(centre + half)])
        assert scores[n, row].tolist() == [objects[n, 10 + k, y, x], *classes[n, 1:, k * 2 + y, x]]


def test_cudnn_names_are_the_plain_layers():
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } }
        layer { name: "y" type: "CuDNNDeconvolution" bottom: "x" top: "y"
        convolution_param { num_output: 2 group: 2 kernel_size: 4 stride: 2 pad: 1 weight_filler { type: "bilinear" } } }"""
    assert Net(parse_net(text), device="cpu").blobs["y"].shape == (1, 2, 8, 8)


def test_maxout_and_gather(device):
    pooled, info = RNG.standard_normal((6, 4, 2, 2)), np.ones((1, 4))
    top = Rig('type: "Maxout"', [pooled, info], device=device).forward()[0]
    close(top, np.maximum(np.maximum(pooled[:3], pooled[3:]), 0))
    with pytest.raises(LayerError, match="no multiple of 2 scales"):
        Rig('type: "Maxout"', [pooled[:5], info])
    rig = Rig('type: "Gather"', [pooled, info], tops=2, dtype=np.float64, device=device)
    close(rig.forward()[1], info)
    check_gradient(rig, bottoms=(0, 1))
    with pytest.raises(LayerError, match="another program's"):
        Rig('type: "Gather" gather_param { axis: 1 }', [pooled])
