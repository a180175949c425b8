"""Each decoder of one net against its source program's post-processing, written here by loops, on random outputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from decoder_nets import logistic, net_of, numbers, overlap_of, suppressed

from boxpresso import Detector, ModelError
from boxpresso.decoders import recognise

HIGH, WIDE = 200, 300  # of the pictures, in pixels


def same(found, boxes, scores, landmarks=None, tolerance=1e-3):
    """Whether detections have these boxes, scores and landmarks, in the order of their scores."""
    order = sorted(range(len(boxes)), key=lambda i: -scores[i])
    assert len(boxes) > 1
    np.testing.assert_allclose(found.scores, [scores[i] for i in order], atol=1e-5)
    np.testing.assert_allclose(found.boxes, [boxes[i] for i in order], atol=tolerance * max(HIGH, WIDE))
    if landmarks is not None:
        np.testing.assert_allclose(found.landmarks, [landmarks[i] for i in order], atol=tolerance * max(HIGH, WIDE))


def read(net, values, name, **settings):
    """The decoder that the net is recognised by, and what it makes of these outputs for a picture of 200 x 300 pixels."""
    decoder = recognise([net])
    assert decoder is not None
    assert name == decoder.NAME
    found = decoder.read(values, (HIGH, WIDE), decoder.settings.given(**settings))
    return decoder, found.sorted()


def test_retinaface():
    """InsightFace's retinaface.py: anchors of 16 pixels at scales by stride, offsets from centres, sides with a last pixel."""
    shapes, values = {}, {}
    for stride in (32, 16, 8):
        high, wide = 160 // stride, 192 // stride
        for word, channels in (("cls_prob_reshape", 4), ("bbox_pred", 8), ("landmark_pred", 20)):
            name = f"face_rpn_{word}_stride{stride}"
            shapes[name] = (1, channels, high, wide)
            values[name] = numbers(*shapes[name], seed=stride + channels, spread=0.4)
        values[f"face_rpn_cls_prob_reshape_stride{stride}"] = logistic(
            values[f"face_rpn_cls_prob_reshape_stride{stride}"] * 4
        )
    _, found = read(net_of(shapes, (160, 192)), values, "retinaface", threshold=0.8)
    boxes, scores, points = [], [], []
    for stride, scales in ((32, (32, 16)), (16, (8, 4)), (8, (2, 1))):
        score, offset, mark = (
            values[f"face_rpn_{word}_stride{stride}"][0] for word in ("cls_prob_reshape", "bbox_pred", "landmark_pred")
        )
        for row in range(160 // stride):
            for column in range(192 // stride):
                for a, scale in enumerate(scales):
                    if score[2 + a, row, column] < 0.8:
                        continue
                    side, x, y = 16 * scale, stride * column + 7.5, stride * row + 7.5
                    dx, dy, dw, dh = offset[4 * a : 4 * a + 4, row, column]
                    cx, cy, w, h = dx * side + x, dy * side + y, math.exp(dw) * side, math.exp(dh) * side
                    boxes.append([cx - (w - 1) / 2, cy - (h - 1) / 2, cx + (w - 1) / 2, cy + (h - 1) / 2])
                    scores.append(score[2 + a, row, column])
                    ten = mark[10 * a : 10 * a + 10, row, column]
                    points.append([(ten[2 * k] * side + x, ten[2 * k + 1] * side + y) for k in range(5)])
    stay = suppressed(boxes, scores, 0.4, last=1)
    scale = min(192 / WIDE, 160 / HIGH)  # the picture fills the input from its corner
    same(
        found, [np.array(boxes[i]) / scale for i in stay], [scores[i] for i in stay],
        [np.array(points[i]) / scale for i in stay],
    )  # fmt: skip
    assert found.label(0) == "face"


def test_ultralight():
    """Linzaer's program: priors by stride, variances 0.1 and 0.2."""
    count = 3 * 30 * 40 + 2 * 15 * 20 + 2 * 8 * 10 + 3 * 4 * 5
    net = net_of({"boxes": (1, count, 4), "scores": (1, count, 2)}, (240, 320), last="Softmax")
    values = {"boxes": numbers(1, count, 4), "scores": logistic(numbers(1, count, 2, seed=1, spread=2))}
    _, found = read(net, values, "ultralight", threshold=0.97)
    boxes, scores, at = [], [], 0
    for stride, sides in ((8, (10, 16, 24)), (16, (32, 48)), (32, (64, 96)), (64, (128, 192, 256))):
        for row in range(math.ceil(240 / stride)):
            for column in range(math.ceil(320 / stride)):
                for side in sides:
                    dx, dy, dw, dh = values["boxes"][0, at]
                    score = values["scores"][0, at, 1]
                    at += 1
                    if score <= 0.97:
                        continue
                    x, y = min((column + 0.5) * stride / 320, 1), min((row + 0.5) * stride / 240, 1)
                    w, h = min(side / 320, 1), min(side / 240, 1)
                    cx, cy, w, h = x + 0.1 * dx * w, y + 0.1 * dy * h, w * math.exp(0.2 * dw), h * math.exp(0.2 * dh)
                    boxes.append([(cx - w / 2) * WIDE, (cy - h / 2) * HIGH, (cx + w / 2) * WIDE, (cy + h / 2) * HIGH])
                    scores.append(score)
    stay = suppressed(boxes, scores, 0.3)
    assert 1 < len(stay) < len(boxes)
    same(found, [boxes[i] for i in stay], [scores[i] for i in stay])


def test_centerface():
    """prj-python/centerface.py; the vertical number comes first."""
    shapes = {"heat": (1, 1, 16, 24), "scale": (1, 2, 16, 24), "offset": (1, 2, 16, 24), "points": (1, 10, 16, 24)}
    values = {name: numbers(*shape, seed=i, spread=0.5) for i, (name, shape) in enumerate(shapes.items())}
    values["heat"] = logistic(values["heat"] * 6)
    values["scale"] += 1
    _, found = read(net_of(shapes, (64, 96), last="Sigmoid"), values, "centerface", threshold=0.9)
    heat, scale, offset, points = (values[name][0] for name in shapes)
    boxes, scores, marks = [], [], []
    for row, column in zip(*np.where(heat[0] > 0.9)):
        h, w = (math.exp(scale[k, row, column]) * 4 for k in (0, 1))
        x1 = min(max(0, (column + offset[1, row, column] + 0.5) * 4 - w / 2), 96)
        y1 = min(max(0, (row + offset[0, row, column] + 0.5) * 4 - h / 2), 64)
        boxes.append([x1, y1, min(x1 + w, 96), min(y1 + h, 64)])
        scores.append(heat[0, row, column])
        ten = points[:, row, column]
        marks.append([(ten[2 * j + 1] * w + x1, ten[2 * j] * h + y1) for j in range(5)])
    stay = suppressed(boxes, scores, 0.3, last=1)
    grow = np.array([WIDE / 96, HIGH / 64])
    same(
        found, [np.array(boxes[i]) * np.tile(grow, 2) for i in stay], [scores[i] for i in stay],
        [np.array(marks[i]) * grow for i in stay],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("maps", "classes", "anchors"),
    [
        ([(8, 12), (4, 6), (2, 3)], 3, None),
        ([(4, 6), (2, 3)], 20, None),
        ([(4, 6)], 1, (5, 7, 20, 20, 40, 30)),
        ([(16, 24), (8, 12), (4, 6)], 1, None),
    ],
)
def test_yolo_maps(maps, classes, anchors):
    """darknet: centres by sigmoid, sizes by exp of anchors in pixels, scores objectness * class, of whatever class suppressed."""
    shapes = {f"map{i}": (1, 3 * (5 + classes), *size) for i, size in enumerate(maps)}
    values = {name: numbers(*shape, seed=i, spread=1.2) for i, (name, shape) in enumerate(shapes.items())}
    decoder, found = read(
        net_of(shapes, (64, 96), last="Convolution"), values, "yolo_maps", threshold=0.6, anchors=anchors
    )
    faces = (4, 6, 7, 10, 11, 15, 16, 24, 33, 25, 26, 41, 47, 60, 83, 97, 141, 149)
    table = {
        3: (10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326),
        20: (26, 48, 67, 84, 72, 175, 189, 126, 137, 236, 265, 259), 1: anchors or faces,
    }  # fmt: skip
    boxes, scores, labels = [], [], []
    for i, (high, wide) in enumerate(maps):
        for row in range(high):
            for column in range(wide):
                for a in range(3):
                    n = values[f"map{i}"][0, a * (5 + classes) : (a + 1) * (5 + classes), row, column].astype(float)
                    w, h = (math.exp(n[2 + k]) * table[classes][2 * (3 * i + a) + k] for k in (0, 1))
                    x, y = (column + logistic(n[0])) * 96 / wide, (row + logistic(n[1])) * 64 / high
                    for c in range(classes):
                        score = logistic(n[4]) * logistic(n[5 + c])
                        if score > 0.6:
                            box = np.array([x - w / 2, y - h / 2, x + w / 2, y + h / 2])
                            boxes.append((box * np.tile([WIDE / 96, HIGH / 64], 2)).tolist())
                            scores.append(score)
                            labels.append(c + 1)
    stay = suppressed(boxes, scores, 0.45)
    same(found, [boxes[i] for i in stay], [scores[i] for i in stay])
    assert found.labels.tolist() == [labels[i] for i in stay]
    assert decoder.classes == classes + 1


def test_yolo_version_2_and_its_anchors():
    net = net_of({"map": (1, 125, 4, 6)}, (128, 192), last="Convolution")
    values = {"map": numbers(1, 125, 4, 6, spread=1.5)}
    _, found = read(net, values, "yolo_maps", threshold=0.5)
    w, h = 1.3221, 1.73145  # of the first anchor, in places
    n = values["map"][0, :25, 2, 3].astype(float)
    classes = np.exp(n[5:]) / np.exp(n[5:]).sum()
    assert logistic(n[4]) * classes.max() < 0.5  # not found; with a certain objectness and class it is
    values["map"][0, 4, 2, 3] = values["map"][0, 5, 2, 3] = 30
    _, more = read(net, values, "yolo_maps", threshold=0.5)
    assert len(more) == len(found) + 1
    x, y = (3 + logistic(n[0])) * WIDE / 6, (2 + logistic(n[1])) * HIGH / 4
    half = np.array([w * math.exp(n[2]) * WIDE / 6, h * math.exp(n[3]) * HIGH / 4]) / 2
    np.testing.assert_allclose(more.boxes[0], [x - half[0], y - half[1], x + half[0], y + half[1]], rtol=1e-4)
    with pytest.raises(ModelError, match="need 10 numbers as anchors, got 6"):
        read(net, values, "yolo_maps", anchors=(1, 2, 3, 4, 5, 6))
    odd = net_of({f"m{i}": (1, 21, 8 // 2**i, 8 // 2**i) for i in range(4)}, (64, 64), last="Convolution")
    with pytest.raises(ModelError, match="4 maps and 2 classes are not known; give 24 numbers"):
        Detector(odd)(np.zeros((9, 9, 3), np.uint8))


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
    _, found = read(net_of(shapes, size), values, "ctpn", threshold=0.4)
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
    same(found, wanted, scores)
    assert len(found) == 3


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
    _, found = read(Net(parse_net(R2CNN), device="cpu"), values, "r2cnn", overlap=0.999)
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
    np.testing.assert_allclose(found.scores, np.array(marks)[order], atol=1e-6)
    np.testing.assert_allclose(found.quadrilaterals, np.array(quads)[order], atol=0.05)
    assert found.label(0) == "text"
    _, fewer = read(Net(parse_net(R2CNN), device="cpu"), values, "r2cnn")
    assert 0 < len(fewer) < len(found)


def test_classification_gives_five():
    net = net_of({"prob": (1, 8)}, (32, 32), last="Softmax")
    scores = np.array([[0.05, 0.3, 0.02, 0.2, 0.1, 0.25, 0.03, 0.05]], np.float32)
    _, found = read(net, {"prob": scores}, "classification")
    assert found.labels.tolist() == [1, 5, 3, 4, 0]
    assert found.kind == "classes"
    assert found.boxes.tolist() == [[0, 0, WIDE, HIGH]] * 5
    assert len(read(net, {"prob": scores}, "classification", threshold=0.22)[1]) == 2


def test_segmentation_has_a_mask_for_each_class():
    net = net_of({"score": (1, 21, 20, 30)}, (20, 30))
    values = np.zeros((1, 21, 20, 30), np.float32)
    values[0, 0] = 1
    values[0, 8, :10, :15] = 5
    values[0, 12, 15:, 20:] = 3
    _, found = read(net, {"score": values}, "segmentation")
    assert [found.label(i) for i in range(2)] == ["cat", "dog"]
    assert found.boxes.tolist() == [[0, 0, 150, 100], [200, 150, 300, 200]]
    assert found.masks.shape == (2, HIGH, WIDE)
    assert found.masks.sum((1, 2)).tolist() == [15000, 5000]
    whole = np.exp(5) + np.e + 19
    assert found.scores[0] == pytest.approx(np.exp(5) / whole)
    labels = net_of({"label": (1, 1, 20, 30)}, (20, 30), last="ArgMax", more="argmax_param { axis: 1 }")
    decoder = recognise([labels])
    assert decoder is not None
    found = decoder.read({"label": np.full((1, 1, 20, 30), 3.0)}, (HIGH, WIDE), decoder.settings)
    assert found.labels.tolist() == [3]
    assert found.masks.all()


@pytest.mark.parametrize(("low", "high", "shift"), [(0.0, 1.0, 0.0), (-0.5, 0.5, 0.5), (0.0, 60.0, 0.0)])
def test_landmarks_in_each_unit(low, high, shift):
    net = net_of({"points": (1, 136)}, (64, 64), last="Flatten")
    random = np.random.default_rng(0)
    shares = random.uniform(0.05, 0.9, (68, 2))
    values = (shares - shift) if high <= 1 else shares * 64
    decoder = recognise([net])
    assert decoder is not None
    assert decoder.NAME == "landmarks"
    found = decoder.read({"points": values.reshape(1, 136).astype(np.float32)}, (HIGH, WIDE), decoder.settings)
    np.testing.assert_allclose(found.landmarks[0], shares * [WIDE, HIGH], atol=1e-3)


def test_super_resolution_keeps_colours():
    """A net that doubles by repeating each pixel."""
    from boxpresso import Net
    from boxpresso.proto import parse_net

    text = """layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 20 dim: 20 } } }
    layer { name: "up" type: "Deconvolution" bottom: "data" top: "up" convolution_param { num_output: 1 kernel_size: 2
    stride: 2 bias_term: false weight_filler { type: "constant" value: 1 } } }"""
    detector = Detector(Net(parse_net(text), device="cpu"))
    assert detector.decoder.NAME == "superresolution"
    flat = np.tile(np.array([200, 60, 30], np.uint8), (12, 18, 1))
    made = detector(flat)
    assert (made.picture.shape, len(made), made.kind) == ((24, 36, 3), 0, "picture")
    assert np.abs(made.picture.astype(int) - [200, 60, 30]).max() <= 3
    grey = np.random.default_rng(0).integers(0, 256, (9, 7), np.uint8)
    np.testing.assert_array_equal(detector(grey).picture, grey.repeat(2, 0).repeat(2, 1))


def test_suppression_by_loops_is_right():
    assert overlap_of((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(1 / 3)
    assert suppressed([(0, 0, 2, 2), (0, 0, 2, 2.1), (5, 5, 6, 6)], [0.5, 0.9, 0.1], 0.5) == [1, 2]


def people(limbs, fields, points, channels, shape=(24, 36)):
    """Maps (1, channels, H, W) of people, each a list of points (x, y) in places or None: bumps, and fields along limbs."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(float)
    maps = np.zeros((channels, *shape), np.float32)
    for person in points:
        for k, point in enumerate(person):
            if point is not None:
                maps[k] = np.maximum(maps[k], np.exp(-((x - point[0]) ** 2 + (y - point[1]) ** 2) / 1.5))
        for (a, b), channel in zip(limbs, fields):
            if person[a] is None or person[b] is None:
                continue
            start, line = np.array(person[a], float), np.array(person[b], float) - person[a]
            length = np.linalg.norm(line)
            along = ((x - start[0]) * line[0] + (y - start[1]) * line[1]) / length
            away = np.abs((x - start[0]) * line[1] - (y - start[1]) * line[0]) / length
            on = (along > -1) & (along < length + 1) & (away < 1.2)
            maps[channel][on], maps[channel + 1][on] = line / length
    return maps[None]


@pytest.mark.parametrize("channels", [57, 44, 78])
def test_openpose_finds_two_people(channels):
    """Of each form: the points where they were put, each person's own, and a missing one told."""
    from boxpresso.decoders.openpose import FORMS

    count, limbs, fields = FORMS[channels]
    assert sorted({at for pair in limbs for at in pair}) == list(range(count))
    assert sorted(fields) == list(range(channels - 2 * len(limbs), channels, 2))  # each limb has its own two channels
    random = np.random.default_rng(channels)
    body = [None] * count
    places = [(x, y) for y in range(3, 23, 4) for x in (2, 5, 8, 11, 14)]
    for k, at in zip(range(count), random.permutation(len(places))[:count]):
        body[k] = places[at]
    other = [(x + 20, y) for x, y in body]
    leaf = 4 if channels != 44 else 10
    assert sum(leaf in pair for pair in limbs) == 1  # an end of a limb
    other[leaf] = None
    net = net_of({"net_output": (1, channels, 24, 36)}, (192, 288))
    _, found = read(net, {"net_output": people(limbs, fields, [body, other], channels)}, "openpose", threshold=0.3)
    assert len(found) == 2
    assert found.links == limbs
    grow = np.array([WIDE / 36, HIGH / 24])
    for person in (body, other):
        wanted = np.array([(np.nan, np.nan) if p is None else (np.array(p) + 0.5) * grow for p in person])
        i = int(np.nansum(np.abs(found.landmarks - wanted), axis=(1, 2)).argmin())
        np.testing.assert_allclose(found.landmarks[i], wanted, atol=6)
    assert np.isnan(found.landmarks[:, leaf]).any()
    assert (found.landmark_scores >= 0).all()
    empty = np.zeros((1, channels, 24, 36), np.float32)
    assert len(read(net, {"net_output": empty}, "openpose")[1]) == 0


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
    _, found = read(net_of(shapes), values, "textboxes", threshold=0.3)
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
    kept: list[int] = []
    for i in stay:
        near = [j for j in kept if (pixels[i] & pixels[j]).any()]
        both = [(pixels[i] & pixels[j]).sum() / np.array(raster(quads[i] + quads[j])).sum() for j in near]
        assert all(abs(share - 0.2) > 0.004 for share in both)  # none so near that counting pixels decides otherwise
        if all(share <= 0.2 for share in both):
            kept.append(i)
    assert 1 < len(kept) < len(stay)
    np.testing.assert_allclose(found.scores, score[kept], atol=1e-6)
    np.testing.assert_allclose(found.quadrilaterals, np.array([quads[i] for i in kept]), atol=1e-3)


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
