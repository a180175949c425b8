"""Each decoder of one net against its source program's post-processing, written here by loops, on random outputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from decoder_nets import HIGH, WIDE, logistic, net_of, numbers, overlap_of, read, same, suppressed
from tiny_ssd import picture, tiny_net

from boxpresso import BoxpressoError, Detections, Detector, ModelError, Net
from boxpresso.decoders import recognise
from boxpresso.proto import parse_net
from boxpresso.proto.errors import BoxpressoWarning


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
    _, detections = read(net_of(shapes, (160, 192)), values, "retinaface", threshold=0.8)
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
        detections, [np.array(boxes[i]) / scale for i in stay], [scores[i] for i in stay],
        [np.array(points[i]) / scale for i in stay],
    )  # fmt: skip
    assert detections.label(0) == "face"


def test_ultralight():
    """Linzaer's program: priors by stride, variances 0.1 and 0.2."""
    count = 3 * 30 * 40 + 2 * 15 * 20 + 2 * 8 * 10 + 3 * 4 * 5
    net = net_of({"boxes": (1, count, 4), "scores": (1, count, 2)}, (240, 320), last="Softmax")
    values = {"boxes": numbers(1, count, 4), "scores": logistic(numbers(1, count, 2, seed=1, spread=2))}
    _, detections = read(net, values, "ultralight", threshold=0.97)
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
    same(detections, [boxes[i] for i in stay], [scores[i] for i in stay])


def test_centerface():
    """prj-python/centerface.py; the vertical number comes first."""
    shapes = {"heat": (1, 1, 16, 24), "scale": (1, 2, 16, 24), "offset": (1, 2, 16, 24), "points": (1, 10, 16, 24)}
    values = {name: numbers(*shape, seed=i, spread=0.5) for i, (name, shape) in enumerate(shapes.items())}
    values["heat"] = logistic(values["heat"] * 6)
    values["scale"] += 1
    _, detections = read(net_of(shapes, (64, 96), last="Sigmoid"), values, "centerface", threshold=0.9)
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
        detections, [np.array(boxes[i]) * np.tile(grow, 2) for i in stay], [scores[i] for i in stay],
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
    decoder, detections = read(
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
    same(detections, [boxes[i] for i in stay], [scores[i] for i in stay])
    assert detections.labels.tolist() == [labels[i] for i in stay]
    assert decoder.classes == classes + 1


def test_yolo_version_2_and_its_anchors():
    net = net_of({"map": (1, 125, 4, 6)}, (128, 192), last="Convolution")
    values = {"map": numbers(1, 125, 4, 6, spread=1.5)}
    _, detections = read(net, values, "yolo_maps", threshold=0.5)
    w, h = 1.3221, 1.73145  # of the first anchor, in places
    n = values["map"][0, :25, 2, 3].astype(float)
    classes = np.exp(n[5:]) / np.exp(n[5:]).sum()
    assert logistic(n[4]) * classes.max() < 0.5  # not found; with a certain objectness and class it is
    values["map"][0, 4, 2, 3] = values["map"][0, 5, 2, 3] = 30
    _, more = read(net, values, "yolo_maps", threshold=0.5)
    assert len(more) == len(detections) + 1
    x, y = (3 + logistic(n[0])) * WIDE / 6, (2 + logistic(n[1])) * HIGH / 4
    half = np.array([w * math.exp(n[2]) * WIDE / 6, h * math.exp(n[3]) * HIGH / 4]) / 2
    np.testing.assert_allclose(more.boxes[0], [x - half[0], y - half[1], x + half[0], y + half[1]], rtol=1e-4)
    numpys = Detector(net, threshold=np.float32(0.5), overlap=np.float64(0.45), anchors=np.linspace(1, 5, 10)).settings
    assert {type(value) for value in (numpys.threshold, numpys.overlap, *numpys.anchors)} == {float}
    read(net, values, "yolo_maps", threshold=np.float32(0.5), anchors=np.linspace(1, 5, 10))
    for name, wrong in (
        ("threshold", "high"),
        ("size", "96x64"),
        ("size", 96),
        ("size", (9.5, 9)),
        ("anchors", (1, "a")),
    ):
        with pytest.raises(BoxpressoError, match=f"{name} must be .*number.*, got"):
            Detector(net, **{name: wrong})
    assert Detector(net, size=np.array([192, 128])).settings.size == (192, 128)
    with pytest.raises(ModelError, match="need 10 numbers as anchors, got 6"):
        read(net, values, "yolo_maps", anchors=(1, 2, 3, 4, 5, 6))
    odd = net_of({f"m{i}": (1, 21, 8 // 2**i, 8 // 2**i) for i in range(4)}, (64, 64), last="Convolution")
    with pytest.raises(ModelError, match="4 maps and 2 classes are not known; give 24 numbers"):
        Detector(odd)(np.zeros((9, 9, 3), np.uint8))


def test_classification_gives_five():
    net = net_of({"prob": (1, 8)}, (32, 32), last="Softmax")
    scores = np.array([[0.05, 0.3, 0.02, 0.2, 0.1, 0.25, 0.03, 0.05]], np.float32)
    _, detections = read(net, {"prob": scores}, "classification")
    assert detections.labels.tolist() == [1, 5, 3, 4, 0]
    assert detections.kind == "classes"
    assert detections.boxes.tolist() == [[0, 0, WIDE, HIGH]] * 5
    assert len(read(net, {"prob": scores}, "classification", threshold=0.22)[1]) == 2


def test_segmentation_has_a_mask_for_each_class():
    net = net_of({"score": (1, 21, 20, 30)}, (20, 30))
    values = np.zeros((1, 21, 20, 30), np.float32)
    values[0, 0] = 1
    values[0, 8, :10, :15] = 5
    values[0, 12, 15:, 20:] = 3
    _, detections = read(net, {"score": values}, "segmentation")
    assert [detections.label(i) for i in range(2)] == ["cat", "dog"]
    assert detections.boxes.tolist() == [[0, 0, 150, 100], [200, 150, 300, 200]]
    assert detections.masks.shape == (2, HIGH, WIDE)
    assert detections.masks.sum((1, 2)).tolist() == [15000, 5000]
    whole = np.exp(5) + np.e + 19
    assert detections.scores[0] == pytest.approx(np.exp(5) / whole)
    labels = net_of({"label": (1, 1, 20, 30)}, (20, 30), last="ArgMax", more="argmax_param { axis: 1 }")
    decoder = recognise([labels])
    assert decoder is not None
    detections = decoder.read({"label": np.full((1, 1, 20, 30), 3.0)}, (HIGH, WIDE), decoder.settings)
    assert detections.labels.tolist() == [3]
    assert detections.masks.all()


@pytest.mark.parametrize(("low", "high", "shift"), [(0.0, 1.0, 0.0), (-0.5, 0.5, 0.5), (0.0, 60.0, 0.0)])
def test_landmarks_in_each_unit(low, high, shift):
    net = net_of({"points": (1, 136)}, (64, 64), last="Flatten")
    random = np.random.default_rng(0)
    shares = random.uniform(0.05, 0.9, (68, 2))
    values = (shares - shift) if high <= 1 else shares * 64
    decoder = recognise([net])
    assert decoder is not None
    assert decoder.NAME == "landmarks"
    detections = decoder.read({"points": values.reshape(1, 136).astype(np.float32)}, (HIGH, WIDE), decoder.settings)
    np.testing.assert_allclose(detections.landmarks[0], shares * [WIDE, HIGH], atol=1e-3)


def test_landmarks_of_a_batch_are_those_of_each_picture_s_faces():
    text = """layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
      layer { name: "points" type: "InnerProduct" bottom: "data" top: "points" inner_product_param { num_output: 10 } }"""
    net = Net(parse_net(text), device="cpu")
    net.params["points"][0].data[...] = 0
    net.params["points"][1].data[...] = 0.5
    detector = Detector([tiny_net(), net], decoder="landmarks")
    pictures = [picture(cell=(0, 1)), picture(cell=(3, 2))]
    for detections, (left, top) in zip(detector.batch(pictures), [(8, 0), (16, 24)], strict=True):
        np.testing.assert_allclose(detections.boxes, [[left, top, left + 8, top + 8]], atol=0.01)
        np.testing.assert_allclose(detections.landmarks[0], [[left + 4, top + 4]] * 5, atol=0.01)
    detector.decoder.faces.detect = lambda pixels, settings: Detections(
        [[0, np.nan, 4, 4], [0, 0, 8, 8]], [1, 0.5], [1, 1]
    )
    with pytest.warns(BoxpressoWarning, match="1 of 2 detections have no finite box"):
        (face,) = detector(pictures[0])
    assert face.box == (0, 0, 8, 8)


def test_super_resolution_keeps_colours(tmp_path):
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
    np.save(tmp_path / "mean.npy", np.full((1, 1, 1), 40, np.float32))
    other = Detector(Net(parse_net(text), device="cpu"), mean=tmp_path / "mean.npy")
    np.testing.assert_array_equal(other(grey).picture, grey.repeat(2, 0).repeat(2, 1))


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


@pytest.mark.later(but=1)
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
    _, detections = read(net, {"net_output": people(limbs, fields, [body, other], channels)}, "openpose", threshold=0.3)
    assert len(detections) == 2
    assert detections.links == limbs
    grow = np.array([WIDE / 36, HIGH / 24])
    for person in (body, other):
        wanted = np.array([(np.nan, np.nan) if p is None else (np.array(p) + 0.5) * grow for p in person])
        i = int(np.nansum(np.abs(detections.landmarks - wanted), axis=(1, 2)).argmin())
        np.testing.assert_allclose(detections.landmarks[i], wanted, atol=6)
    assert np.isnan(detections.landmarks[:, leaf]).any()
    assert (detections.landmark_scores >= 0).all()
    empty = np.zeros((1, channels, 24, 36), np.float32)
    assert len(read(net, {"net_output": empty}, "openpose")[1]) == 0
    with pytest.warns(BoxpressoWarning, match=r"have \d+ peaks, of which no people can be made"):
        assert len(read(net, {"net_output": empty + 1}, "openpose")[1]) == 0  # each pixel is a peak of its flat map


@pytest.mark.later(but=1)
@pytest.mark.parametrize(("channels", "count", "name"), [(71, 70, "face"), (22, 21, "hand")])
def test_openpose_of_a_face_and_of_a_hand(channels, count, name):
    random = np.random.default_rng(channels)
    points = [(int(x), int(y)) for x, y in zip(random.integers(2, 34, count), random.integers(2, 22, count))]
    maps = people((), (), [points[:-1]], channels)
    net = net_of({"net_output": (1, channels, 24, 36)}, (192, 288))
    decoder, detections = read(net, {"net_output": maps}, "openpose")
    assert (len(detections), detections.label(0), decoder.names[1]) == (1, name, name)
    wanted = (np.array(points[:-1]) + 0.5) * [WIDE / 36, HIGH / 24]
    np.testing.assert_allclose(detections.landmarks[0, :-1], wanted, atol=6)
    assert np.isnan(detections.landmarks[0, -1]).all()
    assert len(read(net, {"net_output": maps * 0}, "openpose")[1]) == 0
    assert len(read(net, {"net_output": maps * np.nan}, "openpose")[1]) == 0
    sure = float(detections.scores[0])
    faint = read(net, {"net_output": maps * (0.2 / sure)}, "openpose")[1]
    assert 0.1 < faint.scores[0] < 0.4  # which a person would need
    for threshold, count in ((sure - 0.01, 1), (sure + 0.01, 0)):
        assert len(read(net, {"net_output": maps}, "openpose", threshold=threshold)[1]) == count
    maps[0, 3] = np.nan
    _, without = read(net, {"net_output": maps}, "openpose")
    assert (np.isnan(without.landmarks[0, 3]).all(), without.landmark_scores[0, 3]) == (True, 0)
    assert all(pair in detections.links for pair in ((0, 1), (1, 2), (0, 17))) == (name == "hand")
