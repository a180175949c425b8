"""The decoders of text against their programs' post-processing, written here by loops, on random outputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from decoder_nets import HIGH, WIDE, net_of, numbers, read, same, suppressed

from boxpresso import Detector, ModelError


def lines_of(boxes, scores, width):
    """CTPN's graph of proposals, as rows of proposals' numbers."""
    high = [b[3] - b[1] + 1 for b in boxes]

    def fits(i, j):
        shared = max(0, min(boxes[i][3], boxes[j][3]) - max(boxes[i][1], boxes[j][1]) + 1)
        return shared / min(high[i], high[j]) >= 0.7 and min(high[i], high[j]) / max(high[i], high[j]) >= 0.7

    def nearest(i, columns):
        for column in columns:
            result = [j for j in range(len(boxes)) if int(boxes[j][0]) == column and fits(j, i)]
            if result:
                return result
        return []

    graph = np.zeros((len(boxes), len(boxes)), bool)
    for i in range(len(boxes)):
        start = int(boxes[i][0])
        after = nearest(i, range(start + 1, min(start + 51, width)))
        if after:
            best = max(after, key=lambda j: scores[j])
            begin = int(boxes[best][0])
            before = nearest(best, range(begin - 1, max(begin - 50, 0) - 1, -1))
            if scores[i] >= max(scores[j] for j in before):
                graph[i, best] = True
    result = []
    for i in range(len(boxes)):
        if not graph[:, i].any() and graph[i].any():
            result.append([i])
            while graph[result[-1][-1]].any():
                result[-1].append(int(np.where(graph[result[-1][-1]])[0][0]))
    return result


def test_ctpn():
    """tianzhi0549/CTPN: anchors of 16 x 11 to 283, lines by the best successor, a straight line through tops and bottoms."""
    rows, columns, heights = 12, 20, (11, 16, 23, 33, 48, 68, 97, 139, 198, 283)
    shapes = {"rpn_cls_prob_reshape": (1, 20, rows, columns), "rpn_bbox_pred": (1, 20, rows, columns)}
    values = {name: numbers(*shape, seed=3, spread=0.1) for name, shape in shapes.items()}
    score = values["rpn_cls_prob_reshape"]
    score[...] = 0.1
    random = np.random.default_rng(0)
    for row, first, last, anchor in ((2, 1, 9, 1), (2, 12, 19, 2), (6, 3, 16, 3), (9, 5, 6, 1), (10, 10, 10, 1)):
        score[0, 10 + anchor, row, first : last + 1] = 0.9 + 0.1 * random.random(last + 1 - first)
        values["rpn_bbox_pred"][0, 2 * anchor, row, first : last + 1] += np.linspace(0, 0.8, last + 1 - first)
    score[0, 17, 11, 0] = 0.75  # the lowest, so that the others are stretched above it
    size = (16 * rows, 16 * columns)
    _, detections = read(net_of(shapes, size), values, "ctpn", threshold=0.4)
    boxes, marks = [], []
    for row in range(rows):
        for column in range(columns):
            for a, tall in enumerate(heights):
                if score[0, 10 + a, row, column] > 0.4:
                    top, bottom = int(7.5 - tall // 2), int(7.5 + tall // 2)
                    dy, dh = values["rpn_bbox_pred"][0, 2 * a : 2 * a + 2, row, column]
                    h = math.exp(dh) * (bottom - top + 1)
                    y = dy * (bottom - top + 1) + 16 * row + (top + bottom) / 2 - h / 2
                    box = np.clip([16 * column, y, 16 * column + 15, y + h], 0, [size[1] - 1, size[0] - 1] * 2)
                    boxes.append(box.tolist())
                    marks.append(score[0, 10 + a, row, column])
    stay = suppressed(boxes, marks, 0.3 - 1e-9, last=1)
    boxes, marks = [boxes[i] for i in stay], np.array([marks[i] for i in stay])
    marks = (marks - marks.min()) / (marks.max() - marks.min())
    wanted, scores = [], []
    for chain in lines_of(boxes, marks, size[1]):
        part = np.array([boxes[i] for i in chain])
        ends = []
        for side in (1, 3):
            fit = np.poly1d(np.polyfit(part[:, 0], part[:, side], 1))
            ends.append([fit(part[:, 0].min() + 7.5), fit(part[:, 2].max() - 7.5)])
        box = [part[:, 0].min(), min(ends[0]), part[:, 2].max(), max(ends[1])]
        w, h = box[2] - box[0] + 1, box[3] - box[1] + 1
        if w / h > 1.2 and marks[chain].mean() > 0.4 and w > 32:
            wanted.append(np.array(box) * np.tile([WIDE / size[1], HIGH / size[0]], 2))
            scores.append(marks[chain].mean())
    same(detections, wanted, scores)
    assert len(detections) == 3


R2CNN = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 400 dim: 600 } } }
layer { name: "info" type: "Input" top: "im_info" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "rpn" type: "DummyData" top: "p" top: "m" dummy_data_param { shape { dim: 1 dim: 2 dim: 4 dim: 6 }
  shape { dim: 1 dim: 4 dim: 4 dim: 6 } } }
layer { name: "proposal" type: "Python" bottom: "p" bottom: "m" bottom: "im_info" top: "rois"
  python_param { module: "rpn.proposal_layer" layer: "ProposalLayer" param_str: "{'feat_stride': 100, 'scales': [8], 'ratios': [1]}" } }
layer { name: "s" type: "DummyData" top: "cls_prob" dummy_data_param { shape { dim: 60 dim: 2 } } }
layer { name: "b" type: "DummyData" top: "bbox_pred" dummy_data_param { shape { dim: 60 dim: 8 } } }
layer { name: "i" type: "DummyData" top: "inclined_rect_pred" dummy_data_param { shape { dim: 60 dim: 10 } } }
layer { name: "end" type: "Silence" bottom: "data" bottom: "rois" }
"""


def test_r2cnn():
    """quad_transform.py: two corners and a height; here the rectangle is turned by its angle, as there."""
    from boxpresso import Net
    from boxpresso.proto import parse_net

    random = np.random.default_rng(5)
    regions = np.zeros((60, 5), np.float32)
    regions[:, 1:3] = random.uniform(0, 400, (60, 2))
    regions[:, 3:] = regions[:, 1:3] + random.uniform(60, 150, (60, 2))
    offsets = random.normal(0, 0.1, (60, 2, 5)) + np.array([-0.4, -0.3, 0.4, -0.2, -0.5])
    scores = random.uniform(0.3, 1, (60, 1))
    values = {
        "rois": regions, "cls_prob": np.concatenate([1 - scores, scores], 1).astype(np.float32),
        "inclined_rect_pred": offsets.reshape(60, 10).astype(np.float32),
    }  # fmt: skip
    _, detections = read(Net(parse_net(R2CNN), device="cpu"), values, "r2cnn", overlap=0.999)
    quads, marks = [], []
    for region, (_, move), score in zip(regions[:, 1:] / 2, offsets, scores[:, 0]):  # 200 x 300 becomes 400 x 600
        w, h = region[2] - region[0] + 1, region[3] - region[1] + 1
        cx, cy = region[0] + w / 2, region[1] + h / 2
        x1, y1, x2, y2 = move[0] * w + cx, move[1] * h + cy, move[2] * w + cx, move[3] * h + cy
        tall, wide = math.exp(move[4]) * h, math.hypot(x2 - x1, y2 - y1)
        theta = math.asin((y1 - y2) / wide)  # anti-clockwise, as the picture is seen
        quad = []
        for dx, dy in ((0, 0), (wide, 0), (wide, tall), (0, tall)):
            x, y = dx * math.cos(theta) + dy * math.sin(theta), -dx * math.sin(theta) + dy * math.cos(theta)
            quad.append([min(max(x1 + x, 0), WIDE - 1), min(max(y1 + y, 0), HIGH - 1)])
        if score >= 0.5:
            quads.append(quad)
            marks.append(score)
    order = np.argsort(-np.array(marks))
    np.testing.assert_allclose(detections.scores, np.array(marks)[order], atol=1e-6)
    np.testing.assert_allclose(detections.quadrilaterals, np.array(quads)[order], atol=0.05)
    assert detections.label(0) == "text"
    decoder, fewer = read(Net(parse_net(R2CNN), device="cpu"), values, "r2cnn")
    assert 0 < len(fewer) < len(detections)
    none = decoder.read({name: value[:0] for name, value in values.items()}, (HIGH, WIDE), decoder.settings)
    assert (len(none), none.rotated.shape) == (0, (0, 5))  # no region is as large as the layer asks for


def test_textboxes():
    """bbox_util.cpp and demo_det.py: corners from the prior's corners, suppression of boxes, then of polygons."""
    count, random = 40, np.random.default_rng(2)
    shapes = {"mbox_loc": (1, 12 * count), "mbox_conf": (1, 2 * count), "mbox_prior": (1, 2, 4 * count)}
    start = random.uniform(0, 0.8, (count, 2))
    priors = np.concatenate([start, start + random.uniform(0.05, 0.3, (count, 2))], 1)
    score = random.uniform(0, 1, count)
    moves = random.normal(0, 0.6, (count, 12))
    values = {
        "mbox_loc": moves.reshape(1, -1).astype(np.float32),
        "mbox_conf": np.stack([1 - score, score], 1).reshape(1, -1).astype(np.float32),
        "mbox_prior": np.stack([priors.ravel(), np.tile([0.1, 0.1, 0.2, 0.2], count)])[None].astype(np.float32),
    }
    _, detections = read(net_of(shapes), values, "textboxes", threshold=0.3)
    boxes, quads = [], []
    for (x1, y1, x2, y2), move in zip(priors, moves):
        w, h = x2 - x1, y2 - y1
        cx, cy = (x1 + x2) / 2 + 0.1 * move[0] * w, (y1 + y2) / 2 + 0.1 * move[1] * h
        w2, h2 = w * math.exp(0.2 * move[2]) / 2, h * math.exp(0.2 * move[3]) / 2
        boxes.append((cx - w2, cy - h2, cx + w2, cy + h2))
        corners = ((x1, y1), (x2, y1), (x2, y2), (x1, y2))
        quad = [(x + 0.1 * move[4 + 2 * k] * w, y + 0.1 * move[5 + 2 * k] * h) for k, (x, y) in enumerate(corners)]
        quads.append(
            [(min(max(1, round(x * WIDE)), WIDE - 1), min(max(1, round(y * HIGH)), HIGH - 1)) for x, y in quad]
        )
    stay = [i for i in suppressed(boxes, score, 0.45) if score[i] >= 0.3]
    pixels = {i: np.array(raster(quads[i])) for i in stay}
    survivors: list[int] = []
    for i in stay:
        near = [j for j in survivors if (pixels[i] & pixels[j]).any()]
        both = [(pixels[i] & pixels[j]).sum() / np.array(raster(quads[i] + quads[j])).sum() for j in near]
        assert all(abs(share - 0.2) > 0.004 for share in both)  # none so near that counting pixels decides otherwise
        if all(share <= 0.2 for share in both):
            survivors.append(i)
    assert 1 < len(survivors) < len(stay)
    np.testing.assert_allclose(detections.scores, score[survivors], atol=1e-6)
    np.testing.assert_allclose(detections.quadrilaterals, np.array([quads[i] for i in survivors]), atol=1e-3)


def raster(points):
    """The pixels of the convex hull of points: those on one side of all lines around it."""
    y, x = np.mgrid[:HIGH, :WIDE] + 0.5
    inside = np.ones((HIGH, WIDE), bool)
    for i, a in enumerate(points):
        for j, b in enumerate(points):
            sides = [(b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) for p in points]
            if i != j and a != b and min(sides) >= 0:
                inside &= (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= 0
    return inside


def test_the_last_layers_of_ctpn_and_textboxes_are_left_out(tmp_path):
    from boxpresso.decoders.files import without_last

    path = tmp_path / "net.prototxt"
    start = 'layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }'
    path.write_text(start)
    assert without_last(path) is path
    python = 'layer { name: "p" type: "Python" top: "rois" python_param { module: "layers.text_proposal_layer" layer: "P" } }'
    for last in (python, 'layer { name: "d" type: "DetectionOutput" detection_output_param { use_polygon: true } }'):
        path.write_text(start + last)
        assert [layer.type for layer in without_last(path).layer] == ["Input"]
    path.write_text(start + 'layer { name: "d" type: "DetectionOutput" detection_output_param { use_polygon: false } }')
    assert len(without_last(path).layer) == 2
    with pytest.raises(ModelError, match="cannot read"):
        Detector(tmp_path / "no.prototxt", "no.caffemodel")


def test_denser_priors_follow_each_at_the_lower_edge_of_a_cell():
    from boxpresso.layers.core import run_layer

    text = 'type: "PriorBox" prior_box_param { min_size: 8 aspect_ratio: 4 flip: false step: 16 %s }'
    maps = np.zeros((1, 1, 2, 3)), np.zeros((1, 1, 32, 48))
    plain = run_layer(text % "", *maps).reshape(2, 2, 3, 2, 4)
    dense = run_layer(text % "denser_prior_boxes: true", *maps).reshape(2, 2, 3, 4, 4)
    np.testing.assert_array_equal(dense[:, :, :, ::2], plain)
    np.testing.assert_allclose(dense[0, :, :, 1::2], plain[0] + [0, 8 / 32, 0, 8 / 32], atol=1e-6)
    np.testing.assert_array_equal(dense[1, :, :, 1::2], plain[1])


def test_plates():
    """SegmentationFreeRecognizer.cpp: a letter where it differs from the one before; the last class is none."""
    from boxpresso import Net
    from boxpresso.decoders.plates import LETTERS, read_text
    from boxpresso.proto import parse_net

    assert (len(LETTERS), len(set(LETTERS))) == (83, 83)
    scores = np.random.default_rng(1).random((84, 20)) * 0.3
    wanted = [83, 83, 0, 0, 83, 41, 41, 42, 83, 42, 31, 31, 31, 83, 32, 83, 33, 33, 82, 83]
    scores[wanted, np.arange(20)] = np.linspace(0.5, 0.9, 20)
    text, before, total = "", -1, []
    for place, at in enumerate(wanted):
        if at != before and at < 83:
            text += LETTERS[at]
            total.append(scores[at, place])
        before = at
    assert text == "京ABB012空"
    assert read_text(scores) == (text, pytest.approx(np.mean(total)))
    assert read_text(np.eye(84)[:, [83] * 5]) == ("", 0.0)

    prototxt = """layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 4 } } }
    layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 84 kernel_w: 4 kernel_h: 1 } }
    layer { name: "prob" type: "Softmax" bottom: "c" top: "prob" }"""
    net = Net(parse_net(prototxt), device="cpu")
    for blob in net.params["c"]:
        blob.data[...] = 0
    net.params["c"][0].data[40, :2] = 100  # what is not red is a 9
    net.params["c"][0].data[60, 2] = 100  # red is a V
    detector = Detector(net)
    plate = np.zeros((20, 80, 3), np.uint8)
    plate[:, :40] = (255, 0, 0)
    plate[:, 40:] = (0, 255, 255)
    (detection,) = detector(plate)
    assert detector.decoder.NAME == "plates"
    assert detection.label == LETTERS[60] + "9"
    assert detection.box == (0, 0, 80, 20)
    assert detector(plate, threshold=detection.score)[0] == detection
    assert [len(detector(plate * 0, threshold=least)) for least in (0, 0.5)] == [1, 0]  # each letter is as likely
