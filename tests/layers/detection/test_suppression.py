"""Greedy suppression of upright and rotated boxes, by the rules of each program; overlaps of rotated boxes; the layer NMS."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, close

from boxpresso import LayerError
from boxpresso.device import open_device
from boxpresso.layers.detection.rcnn import Upright
from boxpresso.layers.detection.suppress import overlaps_of_rotated, suppress_boxes, suppress_rows

RNG = np.random.default_rng(12)


def greedy(boxes, threshold, shared, strict):
    survivors = []
    for i in range(len(boxes)):
        if all(shared[i, j] <= threshold if strict else shared[i, j] < threshold for j in survivors):
            survivors.append(i)
    return survivors


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 400])
def test_suppression_is_greedy(count, dtype, device):
    start = RNG.uniform(0, 100, (count, 2))
    boxes = np.concatenate([start, start + RNG.uniform(5, 60, (count, 2))], 1).astype(dtype)
    device = open_device(device)
    wanted = greedy(boxes, 0.5, Upright.overlaps(device, boxes, boxes), False) if count else []
    assert suppress_boxes(device, boxes, 0.5).tolist() == wanted
    assert suppress_boxes(device, boxes, 0.5, 7).tolist() == wanted[:7]
    parts = np.array([0, count // 3, count // 3, count])
    apart = [parts[i] + suppress_boxes(device, boxes[parts[i] : parts[i + 1]], 0.5) for i in range(3)]
    assert np.array_equal(suppress_boxes(device, boxes, 0.5, starts=parts), np.concatenate(apart))


def test_an_overlap_of_the_threshold_suppresses_but_not_when_rotated(device):
    device = open_device(device)
    boxes = np.array([[0, 0, 9, 9], [0, 0, 4, 9]], np.float32)  # 50 of 100 pixels
    assert suppress_boxes(device, boxes, 0.5).tolist() == [0]
    assert suppress_boxes(device, boxes, 0.5000001).tolist() == [0, 1]
    rotated = np.array([[5, 5, 10, 10, 0], [2.5, 5, 5, 10, 0]], np.float32)
    assert suppress_boxes(device, rotated, 0.5).tolist() == [0, 1]
    assert suppress_boxes(device, rotated, 0.499).tolist() == [0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_overlaps_of_rotated_boxes_by_hand(dtype, device):
    quarter = np.pi / 2
    a = np.array([[0, 0, 4, 2, 0]], dtype)
    b = np.array(
        [[0, 0, 4, 2, 0], [0, 0, 2, 4, quarter], [0, 0, 4, 2, quarter], [0, 0, 4, 2, np.pi], [9, 0, 4, 2, 0.3], [0, 0, 0, 2, 0],
         [2, 1, 4, 2, 0], [np.nan, 0, 4, 2, 0]], dtype,
    )  # fmt: skip
    close(overlaps_of_rotated(open_device(device), a, b)[0], [1, 1, 4 / 12, 1, 0, 0, 2 / 14, 0], rtol=2e-5)
    square = np.array([[1000, 1000, 2, 2, 0]], dtype)  # and the same turned by 45 degrees: a regular octagon is shared
    octagon = 8 * (np.sqrt(2) - 1)
    turned = np.array([[1000, 1000, 2, 2, np.pi / 4]], dtype)
    close(overlaps_of_rotated(open_device(device), square, turned), [[octagon / (8 - octagon)]], rtol=2e-5)


def test_overlaps_of_rotated_boxes_by_counting():
    """Against a fine raster."""
    boxes = np.column_stack([RNG.uniform(-3, 3, (12, 2)), RNG.uniform(1, 8, (12, 2)), RNG.uniform(-4, 4, 12)])
    y, x = (np.mgrid[:1200, :1200] - 599.5) / 75
    inside = []
    for cx, cy, w, h, t in boxes:
        u, v = np.cos(t) * (x - cx) + np.sin(t) * (y - cy), -np.sin(t) * (x - cx) + np.cos(t) * (y - cy)
        inside.append((abs(u) < w / 2) & (abs(v) < h / 2))
    flat = np.array(inside).reshape(12, -1).astype(np.float32)
    with np.errstate(all="ignore"):  # numpy's BLAS sets flags on ARM
        shared = flat @ flat.T
    wanted = shared / (np.diag(shared)[:, None] + np.diag(shared) - shared)
    assert np.abs(overlaps_of_rotated(open_device("cpu"), boxes, boxes) - wanted).max() < 0.01


def test_nms_layer(device):
    boxes = np.array([[0, 0, 9, 9], [100, 0, 109, 9], [1, 0, 10, 9], [50, 50, 59, 59]], np.float32)
    text = 'type: "NMS" nms_param { iou_threshold: 0.5 %s }'
    assert Rig(text % "", [boxes], device=device).forward()[0].tolist() == [0, 1, 3]
    assert Rig(text % "top_k: 2", [boxes], device=device).forward()[0].tolist() == [0, 1]
    assert Rig(text % "axis: 1", [boxes.T], device=device).forward()[0].tolist() == [0, 1, 3]
    rig = Rig(text % "", [boxes, np.array([1, 2, 3, 3])], device=device)
    assert rig.forward()[0].tolist() == [2, 3, 1]
    rig.set_bottom(0, np.zeros((0, 4)))
    rig.set_bottom(1, np.zeros(0))
    assert rig.forward()[0].shape == (0,)
    rotated = np.array([[5, 5, 10, 2, 0], [5, 5, 10, 2, 0.1], [5, 5, 10, 2, 1.5]])
    assert Rig(text % "", [rotated], device=device).forward()[0].tolist() == [0, 2]
    with pytest.raises(LayerError, match="4 numbers, or rotated ones of 5"):
        Rig(text % "", [np.zeros((3, 6))])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_suppression_by_the_rule_of_ssd(dtype, device):
    """Only an overlap above the threshold suppresses; boxes without area never do, infinite ones do each other."""
    device = open_device(device)

    def stay(boxes: list, threshold: float, **rule: float) -> list[int]:
        rows = np.array(boxes, dtype).reshape(-1, 4)
        return suppress_rows(device, device.table(rows, dtype), threshold, above=True, **rule).tolist()

    boxes = [[0, 0, 2, 1], [0, 0, 1, 1], [1, 0, 2, 1], [3, 3, 4, 4]]
    assert stay(boxes, 0.5) == [0, 1, 2, 3]
    assert stay(boxes, 0.49) == [0, 3]
    assert stay(boxes, 0.75, eta=0.65) == [0, 3]  # 0.4875 once the first has stayed, and no less then
    assert stay([], 0.5) == []
    assert stay([[1, 1, 1, 2]] * 2 + [[2, 2, 1, 1]] * 2, 0) == [0, 1, 2, 3]
    assert stay([[-np.inf, -np.inf, np.inf, np.inf]] * 2 + [[0, 0, 1, 1]], 0.5) == [0, 2]
