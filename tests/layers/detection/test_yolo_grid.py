"""YOLO's layers with true boxes in a grid: as loops over cells and boxes, in Python."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError, Net
from boxpresso.proto import parse_net
from boxpresso.proto.limits import LIMITS

RNG = np.random.default_rng(6)
SIDE, CLASSES, BOXES, IMAGES = 4, 3, 2, 2
CELLS = SIDE * SIDE
SIZES = f"side: {SIDE} num_class: {CLASSES} num_object: {BOXES}"
FIRST = f'type: "DetectionLoss" detection_loss_param {{ {SIZES} %s }}'
ANCHORS = [(0.2, 0.3), (0.5, 0.25)]
SECOND = f"""type: "YoloV2Loss" yolo_v2_loss_param {{ side: {SIDE} num_classes: {CLASSES} num_object: 2 box_scale: 1.5
    class_scale: 0.75 object_scale: 5 noobject_scale: 0.25 biaes: 0.2 biaes: 0.3 biaes: 0.5 biaes: 0.25 %s }}"""
EVAL = f'type: "EvalDetection" eval_detection_param {{ {SIZES} %s }}'


def grid(objects: list[list[tuple]]) -> np.ndarray:
    """BoxData's rows of each image's objects (class, x, y, width, height, difficult)."""
    rows = np.zeros((len(objects), 7 * CELLS))
    rows[:, 2 * CELLS : 3 * CELLS] = -1
    for row, of_image in zip(rows, objects):
        for kind, x, y, width, height, difficult in of_image:
            at = int(y * SIDE) * SIDE + int(x * SIDE)
            row[at], row[CELLS + at], row[2 * CELLS + at] = difficult, 1, kind
            row[3 * CELLS + 4 * at : 3 * CELLS + 4 * at + 4] = x, y, width, height
    return rows


OBJECTS = [
    [(1, 0.3, 0.4, 0.3, 0.2, 0), (2, 0.8, 0.9, 0.4, 0.5, 1), (1, 0.6, 0.1, 0.1, 0.6, 0)],
    [(0, 0.1, 0.6, 0.5, 0.9, 0)],
]
TRUTH = grid(OBJECTS)
VALUES = RNG.uniform(0.05, 0.9, (IMAGES, (CLASSES + 5 * BOXES) * CELLS))
RAW = RNG.uniform(-0.7, 0.9, (IMAGES, (CLASSES + 5) * BOXES * CELLS))


# of caffe-yolov2's form: maps of boxes with anchors, and rows of true boxes
REGION = EVAL % "biases: 0.7 biases: 0.9 biases: 2.4 biases: 1.5 %s"
MAP = 2 * RNG.standard_normal((IMAGES, BOXES * (5 + CLASSES), SIDE, SIDE))
ROWS = np.zeros((IMAGES, 5, 5))
ROWS[0, :3], ROWS[1, 0] = [each[:5] for each in OBJECTS[0]], OBJECTS[1][0][:5]
ROWS[:, 4] = 1, 0.5, 0.5, 1, 1  # behind a row without a place: not read


def share(a, b) -> float:
    wide = min(a[0] + a[2] / 2, b[0] + b[2] / 2) - max(a[0] - a[2] / 2, b[0] - b[2] / 2)
    high = min(a[1] + a[3] / 2, b[1] + b[3] / 2) - max(a[1] - a[3] / 2, b[1] - b[3] / 2)
    return 0 if wide < 0 or high < 0 else wide * high / (a[2] * a[3] + b[2] * b[3] - wide * high)


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("of_cell", [True, False])
def test_the_loss_of_the_first_version(of_cell, root, device):
    text = f"sqrt: {str(root).lower()} constriant: {str(of_cell).lower()} noobject_scale: 0.25 class_scale: 2"
    rig = Rig(FIRST % text, [VALUES, TRUTH], device=device, dtype=np.float64)
    assert rig.layer.type == "YoloDetectionLoss"
    values, slopes = VALUES.reshape(IMAGES, -1, CELLS), np.zeros((IMAGES, CLASSES + 5 * BOXES, CELLS))
    sums, others, objects = 0.0, 0.0, 0
    for n, of_image in enumerate(OBJECTS):
        slopes[n, CLASSES : CLASSES + BOXES] = 0.25 * values[n, CLASSES : CLASSES + BOXES]
        others += 0.25 * (values[n, CLASSES : CLASSES + BOXES] ** 2).sum()
        for kind, x, y, width, height, _ in of_image:
            column, row = int(x * SIDE), int(y * SIDE)
            cell, objects = row * SIDE + column, objects + 1
            options = []
            for k in range(BOXES):
                own = [values[n, CLASSES + BOXES + 4 * k + i, cell] for i in range(4)]
                box = [(column + own[0]) / SIDE, (row + own[1]) / SIDE, *own[2:]] if of_cell else list(own)
                box = [*box[:2], box[2] ** 2, box[3] ** 2] if root else box
                far = sum((a - b) ** 2 for a, b in zip(box, (x, y, width, height)))
                options.append((share(box, (x, y, width, height)), -far, -k, own))
            over = [o for o in options if o[0] > 0]
            overlap, _, k, own = max(over) if over else max(options, key=lambda o: o[1])
            wanted = [x * SIDE - column, y * SIDE - row, width, height] if of_cell else [x, y, width, height]
            wanted = [*wanted[:2], sqrt(width), sqrt(height)] if root else wanted
            score = values[n, CLASSES - k, cell]
            others -= 0.25 * score**2
            sums += (score - 1) ** 2 + sum(5 * (a - b) ** 2 for a, b in zip(own, wanted))
            slopes[n, CLASSES - k, cell] = score - overlap
            for i in range(4):
                slopes[n, CLASSES + BOXES - 4 * k + i, cell] = 5 * (own[i] - wanted[i])
            for c in range(CLASSES):
                sums += 2 * (values[n, c, cell] - (c == kind)) ** 2
                slopes[n, c, cell] = 2 * (values[n, c, cell] - (c == kind))
    wanted_loss = sums / objects + others / (IMAGES * BOXES * CELLS - objects)
    np.testing.assert_allclose(rig.forward()[0], wanted_loss, rtol=1e-12)
    diff = rig.backward([np.array(3.0)], [True, False])[0]
    np.testing.assert_allclose(diff, 3 * slopes.reshape(diff.shape) / IMAGES, rtol=1e-10, atol=1e-14)
    assert share((0.5, 0.5, 1, 1), (0.5, 0.5, 1, 0.5)) == 0.5


@pytest.mark.parametrize("rescore", [True, False])
def test_the_loss_with_anchors(rescore, device):
    thresh = 0.3
    rig = Rig(
        SECOND % f"thresh: {thresh} rescore: {str(rescore).lower()}", [RAW, TRUTH], device=device, dtype=np.float64
    )
    raw, slopes = RAW.reshape(IMAGES, 2, 5 + CLASSES, CELLS), np.zeros((IMAGES, 2, 5 + CLASSES, CELLS))
    of_objects, score, left_out = np.zeros(4), 0.0, 0

    def box_of(n, k, cell):
        at = raw[n, k, :, cell]
        place = ((cell % SIDE + at[0]) / SIDE, (cell // SIDE + at[1]) / SIDE)
        return (*place, exp(at[2]) * ANCHORS[k][0], exp(at[3]) * ANCHORS[k][1])

    for n, of_image in enumerate(OBJECTS):
        for k in range(2):
            for cell in range(CELLS):
                score += abs(raw[n, k, 4, cell])
                most = max(share(box_of(n, k, cell), each[1:5]) for each in of_image)
                left_out += most > np.float32(thresh)
                slopes[n, k, 4, cell] = 0 if most > np.float32(thresh) else 0.25 * raw[n, k, 4, cell]
        for kind, x, y, width, height, _ in of_image:
            cell = int(y * SIDE) * SIDE + int(x * SIDE)
            k = int(np.argmax([share((0, 0, *anchor), (0, 0, width, height)) for anchor in ANCHORS]))
            box, scale = box_of(n, k, cell), 1.5 * (2 - x * y)
            overlap, own = share(box, (x, y, width, height)), raw[n, k, 4, cell]
            by = (1, 1, box[2], box[3])
            for i, true in enumerate((x, y, width, height)):
                slopes[n, k, i, cell] = scale * (box[i] - true) * by[i]
            slopes[n, k, 4, cell] = 5 * (own - (overlap if rescore else 1))
            for c in range(CLASSES):
                slopes[n, k, 5 + c, cell] = 0.75 * (raw[n, k, 5 + c, cell] - (c == kind))
            of_objects += 5 * (1 - own), 0.75 * abs(raw[n, k, 5 + kind, cell] - 1), 1 - overlap, overlap <= 0.5
    assert left_out  # boxes that overlap a true one without being responsible
    wanted = 0.25 * score / (IMAGES * 2 * CELLS - 4) + (of_objects / 4).sum()
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-6)
    diff = rig.backward([np.array(3.0)], [True, False])[0]
    np.testing.assert_allclose(diff, 3 * slopes.reshape(diff.shape) / IMAGES, rtol=1e-6, atol=1e-12)


def test_a_batch_without_objects_teaches_the_objectness_alone(device):
    nothing = grid([[], []])
    for text, values, scale in ((FIRST % "", VALUES, 0.5), (SECOND % "", RAW, 0.25)):
        rig = Rig(text, [values, nothing], device=device, dtype=np.float64)
        first = "DetectionLoss" in text
        own = values.reshape(IMAGES, -1, CELLS)[:, CLASSES : CLASSES + BOXES]
        own = own if first else values.reshape(IMAGES, 2, -1, CELLS)[:, :, 4]
        wanted = scale * np.mean(own**2 if first else np.abs(own))
        np.testing.assert_allclose(rig.forward()[0], wanted)
        diff = rig.backward([np.array(1.0)], [True, False])[0]
        np.testing.assert_allclose(np.sort(diff[diff != 0]), np.sort((scale * own / IMAGES).ravel()), rtol=1e-6)


@pytest.mark.parametrize("nms", [-1, 0.2])
@pytest.mark.parametrize("kind", ["OBJ", "PROB", "MULTIPLY"])
def test_which_boxes_are_right(kind, nms, device):
    values = VALUES.reshape(IMAGES, -1, CELLS).copy()
    for n, of_image in enumerate(
        OBJECTS
    ):  # the first box of each object's cell is the object, but for the last one's class
        for c, x, y, width, height, _ in of_image:
            cell = int(y * SIDE) * SIDE + int(x * SIDE)
            values[n, :CLASSES, cell] = np.arange(CLASSES) == c
            place = x * SIDE - int(x * SIDE), y * SIDE - int(y * SIDE)
            for k in range(BOXES):
                values[n, CLASSES + BOXES + 4 * k :, cell][:4] = *place, sqrt(width), sqrt(height)
    rig = Rig(
        EVAL % f"score_type: {kind} nms: {nms}",
        [values.reshape(VALUES.shape), TRUTH, np.zeros(1)],
        device=device,
        dtype=np.float64,
    )
    tops = rig.forward()[0]
    assert tops.shape == (IMAGES, CLASSES + 4 * CELLS * BOXES)
    for n, of_image in enumerate(OBJECTS):
        counts = [sum(each[0] == c and not each[5] for each in of_image) for c in range(CLASSES)]
        assert tops[n, :CLASSES].tolist() == counts
        boxes = []
        for cell in range(CELLS):
            label = int(np.argmax(values[n, :CLASSES, cell]))
            for k in range(BOXES):
                own = values[n, CLASSES + BOXES + 4 * k :, cell][:4]
                box = ((cell % SIDE + own[0]) / SIDE, (cell // SIDE + own[1]) / SIDE, own[2] ** 2, own[3] ** 2)
                score = {"OBJ": values[n, CLASSES + k, cell], "PROB": values[n, label, cell]}.get(kind)
                score = values[n, CLASSES + k, cell] * values[n, label, cell] if score is None else score
                boxes.append((label, score, box))
        boxes.sort(key=lambda each: -each[1])
        if nms >= 0:
            left: list = []
            for each in boxes:
                if all(share(each[2], other[2]) < np.float32(nms) for other in left):
                    left.append(each)
            boxes = left
        taken, wanted = set(), []
        for label, score, box in sorted(boxes, key=lambda each: each[0]):
            own = [(share(box, each[1:5]), -i) for i, each in enumerate(of_image) if each[0] == label]
            most, at = max(own, default=(0, 0))
            right = wrong = 0
            if most < 0.5 or not own:
                wrong = 1
            elif not of_image[-at][5]:
                right, wrong = (0, 1) if at in taken else (1, 0)
                taken.add(at)
            wanted += [label, score, right, wrong]
        seen = tops[n, CLASSES:]
        np.testing.assert_allclose(seen[: len(wanted)], wanted, rtol=1e-12)
        assert not seen[len(wanted) :].any()
        assert nms >= 0 or sum(wanted[2::4]) == sum(not each[5] for each in of_image)


@pytest.mark.parametrize("nms", [-1, 0.3])
@pytest.mark.parametrize("kind", ["OBJ", "PROB", "MULTIPLY"])
def test_which_boxes_with_anchors_are_right(kind, nms, device):
    values = MAP.reshape(IMAGES, BOXES, 5 + CLASSES, SIDE, SIDE).copy()
    values[1, :, 4] -= 6  # scores that do not count
    for n, objects in enumerate(OBJECTS):  # the second anchor's box of each object's cell is the object
        for c, x, y, width, height, _ in objects:
            column, row = x * SIDE, y * SIDE
            own = values[n, 1, :, int(row), int(column)]
            for i, part in enumerate((column % 1, row % 1)):
                own[i] = np.log(part / (1 - part))
            own[2:5] = np.log(width * SIDE / 2.4), np.log(height * SIDE / 1.5), 2
            own[5:] = 3 * (np.arange(CLASSES) == c)
    text = REGION % f"score_type: {kind} nms: {nms} threshold: 0.6"
    rig = Rig(text, [values.reshape(MAP.shape), ROWS], device=device, dtype=np.float64)
    assert rig.layer.type == "RegionEvalDetection"
    tops = rig.forward()[0]
    assert tops.shape == (IMAGES, CLASSES + 4 * CELLS * BOXES)
    for n, objects in enumerate(OBJECTS):
        assert tops[n, :CLASSES].tolist() == [sum(each[0] == c for each in objects) for c in range(CLASSES)]
        boxes = []
        for row, column, k in np.ndindex(SIDE, SIDE, BOXES):
            x, y, width, height, objectness, *classes = values[n, k, :, row, column]
            parts = [exp(each) / sum(map(exp, classes)) for each in classes]
            anchor = np.float32([(0.7, 0.9), (2.4, 1.5)][k])
            box = ((column + 1 / (1 + exp(-x))) / SIDE, (row + 1 / (1 + exp(-y))) / SIDE,
                   exp(width) * anchor[0] / SIDE, exp(height) * anchor[1] / SIDE)  # fmt: skip
            score = (1 / (1 + exp(-objectness))) ** (kind != "PROB") * max(parts) ** (kind != "OBJ")
            boxes.append((parts.index(max(parts)), score, box))
        boxes.sort(key=lambda each: -each[1])
        counted: list = []
        for each in boxes:
            if nms < 0 or all(share(each[2], other[2]) < np.float32(nms) for other in counted):
                counted.append(each)
        counted = [each for each in counted if each[1] >= 0.005]
        assert len(counted) < len(boxes) or n == 0 or kind == "PROB"
        taken, wanted = set(), []
        for label, score, box in sorted(counted, key=lambda each: each[0]):
            own = [(share(box, each[1:5]), -i) for i, each in enumerate(objects) if each[0] == label]
            most, at = max(own, default=(0, 0))
            right = most >= np.float32(0.6) and at not in taken
            if right:
                taken.add(at)
            wanted += [label, score, right, not right]
        np.testing.assert_allclose(tops[n, CLASSES:][: len(wanted)], wanted, rtol=1e-9)
        assert not tops[n, CLASSES + len(wanted) :].any()
        assert sum(wanted[2::4]) == len(objects) or nms >= 0


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        (FIRST % "", [VALUES[:, 1:], TRUTH], "bottom 0 must have 13 numbers for each of 4 x 4 cells"),
        (EVAL % "", [VALUES, TRUTH[:, 1:]], "bottom 1 must have 7 numbers for each of 4 x 4 cells and 2 images"),
        (EVAL % "biases: 1", [MAP, ROWS], "biases must be 4 numbers, a width and a height for each of 2 boxes, got 1"),
        (REGION % "", [MAP[:, 1:], ROWS], r"bottom 0 must be \(2, 16, 4, 4\), got \(2, 15, 4, 4\)"),
        (REGION % "", [MAP, ROWS[:1]], r"the true boxes, must be \(2, ..., 5\), got"),
        (SECOND % "anchors: 1", [RAW, TRUTH], "anchors is of another program's layer"),
        (SECOND % "biaes: 1", [RAW, TRUTH], "biaes must be 4 numbers"),
        ('type: "YoloV2Loss"', [RAW, TRUTH], "side, classes and num_object must be above 0"),
    ],
)
def test_refused(text, bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, bottoms)


def test_a_label_that_is_no_class_is_refused(device):
    wrong = grid([[(3, 0.3, 0.4, 0.3, 0.2, 0)], []])
    with pytest.raises(LayerError, match="labels are 0 to 2"):
        Rig(REGION % "", [MAP, ROWS + np.eye(5)[0] * 3], device=device).forward()
    for text, values in ((FIRST % "", VALUES), (SECOND % "", RAW), (EVAL % "", VALUES)):
        with pytest.raises(LayerError, match="cell 5 has the label 3, labels are 0 to 2"):
            Rig(text, [values, wrong], device=device).forward()


def test_a_net_takes_the_cells_that_its_fields_tell():
    text = """
        layer { name: "data" type: "BoxData" top: "data" top: "label" transform_param { crop_size: 32 }
            data_param { source: "none" batch_size: 2 side: 4 } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c"
            convolution_param { num_output: 13 kernel_size: 8 stride: 8 weight_filler { type: "xavier" } } }
        layer { name: "r" type: "Reshape" bottom: "c" top: "r" reshape_param { shape { dim: 0 dim: -1 } } }
        layer { name: "loss" type: "DetectionLoss" bottom: "r" bottom: "label" top: "loss"
            detection_loss_param { side: 4 num_class: 3 num_object: 2 } }"""
    net = Net(parse_net(text), phase="TRAIN", device="cpu", data="shapes")
    assert net.blobs["label"].shape == (2, 112)
    assert np.isfinite(net.forward()["loss"])
    net.backward()


def test_overlaps_are_counted_before_they_are_made(monkeypatch, device):
    rig = Rig(SECOND % "", [RAW, TRUTH], device=device)
    pairs = 2 * CELLS * len(OBJECTS[0])
    monkeypatch.setattr(LIMITS, "box_pairs", pairs)
    rig.forward()
    monkeypatch.setattr(LIMITS, "box_pairs", pairs - 1)
    with pytest.raises(
        LayerError, match=f"overlaps of boxes and true boxes are of {pairs} pairs, {pairs - 1} are allowed"
    ):
        rig.forward()


def test_a_net_takes_the_rows_that_a_layer_with_anchors_reads():
    text = """
        layer { name: "data" type: "BoxData" top: "data" top: "label" transform_param { crop_size: 32 }
            data_param { source: "none" batch_size: 2 side: 4 } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c"
            convolution_param { num_output: 16 kernel_size: 8 stride: 8 weight_filler { type: "xavier" } } }
        layer { name: "e" type: "EvalDetection" bottom: "c" bottom: "label" bottom: "data" top: "e" eval_detection_param {
            side: 4 num_class: 3 num_object: 2 biases: 1 biases: 1 biases: 2 biases: 2 } }"""
    net = Net(parse_net(text), phase="TEST", device="cpu", data="shapes")
    assert net.blobs["label"].shape == (2, 30, 5)
    assert net.forward()["e"].shape == (2, 3 + 4 * 32)
