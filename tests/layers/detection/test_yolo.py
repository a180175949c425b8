"""YOLO: detections of versions 2 and 3, and the loss of version 3."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, close

from boxpresso import LayerError

RNG = np.random.default_rng(15)


YOLO = """type: "Yolov3DetectionOutput" yolov3_detection_output_param { num_classes: 2 num_box: 1 confidence_threshold: 0.3
    nms_threshold: 0.5 mask_group_num: 2 anchors_scale: 32 anchors_scale: 16 mask: 1 mask: 0 biases: 16 biases: 16 biases: 32
    biases: 64 }"""


def test_yolov3_detection_output(device):
    """At 0 the sigmoid is a half: the middle of a place, with the anchor's own size."""
    first, second = np.full((2, 7, 2, 2), -9.0), np.full((2, 7, 4, 4), -9.0)
    first[0, :, 1, 0] = [0, 0, 0, 0, 9, 9, -9]
    second[0, :, 0, 3] = [0, 0, np.log(2), 0, 9, -9, 1]
    second[1, :, 0, 3] = second[0, :, 0, 3]
    rig = Rig(YOLO, [first, second], device=device)
    rows = rig.forward()[0]
    assert rows.shape == (1, 1, 3, 7)
    assert rows[0, 0, :, :2].tolist() == [[0, 1], [0, 2], [1, 2]]
    close(rows[0, 0, :, 3:], [[0, 0.25, 0.5, 1.25], [0.625, 0, 1.125, 0.25], [0.625, 0, 1.125, 0.25]], rtol=1e-4)
    close(rows[0, 0, 1, 2], 1 / (1 + np.exp(-9)) / (1 + np.exp(-1)))
    rig.set_bottom(0, np.full((3, 7, 2, 2), -9.0))
    rig.set_bottom(1, np.full((3, 7, 4, 4), -9.0))
    assert rig.forward()[0][0, 0, :, 0].tolist() == [0, 1, 2]
    with pytest.raises(LayerError, match="7 channels"):
        Rig(YOLO, [first[:, :6], second])
    with pytest.raises(LayerError, match="mask names anchor 5"):
        Rig(YOLO.replace("mask: 1", "mask: 5"), [first, second])


def test_yolov3_classes_suppress_each_other(device):
    first, second = np.full((1, 7, 2, 2), -9.0), np.full((1, 7, 4, 4), -9.0)
    first[0, :, 1, 0] = [0, 0, 0, 0, 9, 9, 8]
    assert Rig(YOLO, [first, second], device=device).forward()[0][0, 0, :, 1].tolist() == [1]


def test_yolo_detection_output(device):
    text = """type: "YoloDetectionOutput" yolo_detection_output_param { num_classes: 2 num_box: 1 confidence_threshold: 0.3
        nms_threshold: 0.5 biases: 1 biases: 2 }"""
    values = np.full((2, 7, 2, 2), -9.0)
    values[0, :, 1, 0] = [0, 0, 0, 0, 9, np.log(3), 0]
    values[0, :, 1, 1] = [-9, 0, 0, 0, 1, 0, np.log(9)]
    values[1, :, 0, 1] = [0, 0, np.log(2), 0, 9, 0, 0]
    rows = Rig(text, [values], device=device).forward()[0]
    close(rows[0, 0], [[0, 1, 0.75, 0, 0.25, 0.5, 1.25], [0, 2, 0.9 / (1 + np.exp(-1)), 0.25, 0.25, 0.75, 1.25],
                       [1, 1, 0.5, 0.25, -0.25, 1.25, 0.75]], rtol=1e-3)  # fmt: skip
    with pytest.raises(LayerError, match="1 pairs"):
        Rig(text.replace("biases: 2", ""), [values])


YOLO_LOSS = """type: "Yolov3" yolov3_param { num_class: 2 num: 2 anchors_scale: 8 object_scale: 3 class_scale: 2 coord_scale: 5
    thresh: 0.6 %s biases: 8 biases: 8 biases: 16 biases: 8 biases: 4 biases: 4 mask: 0 mask: 1 }"""
REGION = 'type: "Region" region_param { classes: 3 coords: 4 boxes_of_each_grid: 2 %s }'
CELLS = 3 * RNG.standard_normal((2, 16, 3, 5))
LAUNCHES = [
    (YOLO_LOSS % "", [RNG.standard_normal((2, 14, 4, 4)), np.full((2, 1, 1, 5), 0.4)], [True, False]),
    (REGION % "softmax: true", [CELLS], []),
]


def test_yolov3_loss_by_hand(device):
    """Anchors of 1 x 1 and 2 x 1 places; a true box of 2 x 1 in the place (1, 2)."""
    values = np.zeros((2, 2, 7, 4, 4))
    truth = np.zeros((2, 3, 5))
    truth[0, 0] = [1, 0.375, 0.625, 0.5, 0.25]
    rig = Rig(YOLO_LOSS % "", [values.reshape(2, 14, 4, 4), truth], device=device)
    error = np.zeros_like(values)
    error[:, :, 4] = 0.5  # nothing is there
    error[0, 1, 4, 2, 1] = -0.5
    error[0, 1, 5:, 2, 1] = [1, -1]  # times class_scale
    close(rig.forward()[0], np.square(error).sum() / 2)
    close(rig.backward([1.5], [True, False])[0].reshape(values.shape), 0.75 * error)
    values[0, 1, :4, 2, 1] = [1, -1, 0.2, 0.3]
    values[0, 0, 2, 2, 1] = np.log(2)  # this one overlaps it wholly too, but its anchor has another shape
    rig.set_bottom(0, values.reshape(2, 14, 4, 4))
    scale = 5 * (2 - 0.125)
    half = 1 / (1 + np.exp(-1)) - 0.5
    error[0, 1, :4, 2, 1] = scale * np.array([half, -half, 0.2, 0.3])
    error[0, 0, 4, 2, 1] = 0
    close(rig.forward()[0], np.square(error).sum() / 2)
    logic = Rig(YOLO_LOSS % "use_logic_gradient: true", [values.reshape(2, 14, 4, 4), truth], device=device)
    logic.forward()
    error[0, 1, 4, 2, 1] *= 3
    sigmoid = 1 / (1 + np.exp(-values))
    slope = sigmoid * (1 - sigmoid)
    slope[:, :, 2:4] = 1
    close(logic.backward([1], [True, False])[0].reshape(values.shape), error * slope / 2)


def test_yolov3_loss_of_odd_true_boxes(device):
    values = np.zeros((1, 14, 4, 4))
    small = np.array(
        [[[0, 0.5, 0.5, 0.1, 0.1], [1, 1, 1, 0.25, 0.25], [0, 1, 1, 0.25, 0.25], [0] * 5, [9, 0.1, 0.1, 1, 1]]]
    )
    rig = Rig(YOLO_LOSS % "", [values, small], device=device)
    rig.forward()
    error = rig.backward([1], [True, False])[0].reshape(2, 7, 4, 4)
    assert error[0, 4, 2, 2] > 0  # the third anchor is that of another map
    assert error[0, 4, 3, 3] == -0.5  # a centre on the far border is of the last place
    close(error[0, 5:, 3, 3], [-0.5, -1])  # of two classes both are right
    rig.set_bottom(1, small[:, 4:])
    with pytest.raises(LayerError, match="from 0 to 1, got 9"):
        rig.forward()
    rig.set_bottom(0, values[:0])
    rig.set_bottom(1, small[:0])
    assert rig.forward()[0] == 0
    with pytest.raises(LayerError, match="14 channels"):
        Rig(YOLO_LOSS % "", [values[:, :13], small])


@pytest.mark.parametrize("softmax", [False, True])
def test_the_boxes_of_a_cell_lie_together(device, softmax):
    """(N, H, W, boxes, 5 + classes) in the shape of the bottom, as scripts that decode it read it."""
    rig = Rig(REGION % f"softmax: {str(softmax).lower()}", [CELLS], device=device, dtype=np.float64)
    boxes = CELLS.reshape(2, 2, 8, 3, 5).transpose(0, 3, 4, 1, 2).copy()
    boxes[..., 4] = 1 / (1 + np.exp(-boxes[..., 4]))
    if softmax:
        shares = np.exp(boxes[..., 5:])
        boxes[..., 5:] = shares / shares.sum(-1, keepdims=True)
    top = rig.forward()[0]
    assert top.shape == CELLS.shape
    np.testing.assert_allclose(top.reshape(boxes.shape), boxes, rtol=1e-12)
    with pytest.raises(LayerError, match="has no gradient"):
        rig.backward([top])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("classes: 4 boxes_of_each_grid: 2", "must have 18 channels for 2 boxes"),
        ("boxes_of_each_grid: 2", "classes must be at least 1"),
        ("classes: 3 boxes_of_each_grid: 2 coords: 5", "coords must be 4, got 5"),
        ("classes: 3 boxes_of_each_grid: 2 anchors: 1", "anchors is of a layer that chooses boxes"),
    ],
)
def test_what_region_refuses(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "Region" region_param {{ {text} }}', [CELLS])


def test_a_region_loss_without_anchors_takes_weights_and_says_in_forward_what_is_missing(device):
    rig = Rig(
        'type: "RegionLoss" region_loss_param { num_class: 1 num: 2 }',
        [np.zeros((1, 12, 2, 2)), np.zeros((1, 3, 5))],
        device=device,
    )
    with pytest.raises(LayerError, match="biases, the 2 anchors, are missing"):
        rig.forward()
    with pytest.raises(LayerError, match="biases must be 4 numbers"):
        Rig(
            'type: "RegionLoss" region_loss_param { num_class: 1 num: 2 biases: 1 }',
            [np.zeros((1, 12, 2, 2)), np.zeros((1, 3, 5))],
        )
