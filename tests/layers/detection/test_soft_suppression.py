"""Soft-NMS, Matrix-NMS, NMS of rotated boxes by class, overlaps of rotated boxes and of polygons, each beside plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import ops
from boxpresso.proto.errors import BoxpressoError

RNG = np.random.default_rng(0)
LOW = RNG.uniform(0, 40, (60, 2))
BOXES = np.concatenate([LOW, LOW + RNG.uniform(4, 25, (60, 2))], 1)
SCORES, CLASSES = RNG.uniform(0, 1, 60), RNG.integers(0, 3, 60)


def iou(a: np.ndarray, b: np.ndarray, offset: int = 0) -> float:
    width, height = (min(a[2 + k], b[2 + k]) - max(a[k], b[k]) + offset for k in (0, 1))
    areas = [(c[2] - c[0] + offset) * (c[3] - c[1] + offset) for c in (a, b)]
    return width * height / (sum(areas) - width * height) if width > 0 and height > 0 else 0.0


def soft(boxes, scores, threshold, sigma, least, method, offset) -> list[tuple[int, float]]:
    """Which boxes stay, and their scores."""
    left, result = dict(enumerate(scores)), []
    while left:
        i = max(left, key=lambda k: (left[k], -k))
        result.append((i, left.pop(i)))
        for j in list(left):
            o = iou(boxes[i], boxes[j], offset)
            hard = {"naive": 0.0, "linear": 1 - o, "gaussian": 1.0}[method] if o >= threshold else 1.0
            left[j] *= np.exp(-o * o / sigma) if method == "gaussian" else hard
            if left[j] < least:
                del left[j]
    return result


@pytest.mark.parametrize("method", ["linear", "gaussian", "naive"])
@pytest.mark.parametrize("offset", [0, 1])
def test_soft_nms(method, offset):
    wanted = soft(BOXES, SCORES, 0.2, 0.3, 0.05, method, offset)
    dets, inds = ops.soft_nms(BOXES, SCORES, 0.2, 0.3, 0.05, method, offset)
    assert inds.dtype == np.int64
    assert inds.tolist() == [i for i, _ in wanted]
    np.testing.assert_allclose(dets, np.column_stack([BOXES[inds], [s for _, s in wanted]]), rtol=1e-12)
    assert 5 < len(inds) < 60 or method == "gaussian"


def test_soft_nms_by_class_and_wild_numbers():
    dets, inds = ops.soft_nms(BOXES, SCORES, 0.2, idxs=CLASSES)
    for label in range(3):
        mine = np.flatnonzero(label == CLASSES)
        own, which = ops.soft_nms(BOXES[mine], SCORES[mine], 0.2)
        assert inds[CLASSES[inds] == label].tolist() == mine[which].tolist()
        assert np.array_equal(dets[CLASSES[inds] == label], own)
    assert (np.diff(dets[:, 4]) <= 0).all()
    far = CLASSES + 2**60  # of which float64 holds one in 256
    assert np.array_equal(ops.soft_nms(BOXES, SCORES, 0.2, idxs=far)[1], inds)
    boxes, scores = BOXES.astype(np.float32), SCORES.astype(np.float32)
    boxes[3], scores[5], boxes[7], scores[9] = np.nan, np.nan, np.inf, np.inf
    _, inds = ops.soft_nms(boxes, scores)
    assert 5 not in inds
    assert inds[0] == 9
    assert ops.soft_nms(boxes, np.full(60, -1.0))[1].tolist() == [0]  # the best stays, however low
    for name in (ops.soft_nms, ops.matrix_nms):
        dets, inds = name(np.zeros((0, 4), np.float32), np.zeros(0, np.float32))
        assert (dets.shape, inds.shape, dets.dtype, inds.dtype) == ((0, 5), (0,), np.float32, np.int64)


@pytest.mark.parametrize("method", ["gaussian", "linear"])
def test_matrix_nms(method):
    order = np.argsort(-SCORES, kind="stable")
    overlap = np.array([[iou(BOXES[a], BOXES[b]) if CLASSES[a] == CLASSES[b] else -1 for b in order] for a in order])
    value = {}
    for j, b in enumerate(order):
        decay = 1.0
        for i in range(j):
            if overlap[i, j] < 0:
                continue
            most = max(overlap[:i, i], default=0.0)
            most = max(most, 0.0)
            if method == "gaussian":
                decay = min(decay, np.exp(-2 * overlap[i, j] ** 2) / np.exp(-2 * most**2))
            else:
                decay = min(decay, (1 - overlap[i, j]) / (1 - most))
        value[int(b)] = SCORES[b] * decay
    wanted = [i for i in sorted(value, key=lambda i: -value[i]) if value[i] >= 0.1]
    dets, inds = ops.matrix_nms(BOXES, SCORES, CLASSES, min_score=0.1, method=method)
    assert inds.tolist() == wanted
    np.testing.assert_allclose(dets[:, 4], [value[i] for i in wanted], rtol=1e-12)
    twice = ops.matrix_nms(np.concatenate([BOXES, BOXES]), np.tile(SCORES, 2), method="linear")
    assert np.isfinite(twice[0]).all()


def turned(rng, count: int) -> np.ndarray:
    return np.column_stack([rng.uniform(0, 20, (count, 2)), rng.uniform(2, 15, (count, 2)), rng.uniform(-4, 4, count)])


def corners(boxes: np.ndarray) -> np.ndarray:
    """(N, 8) of rotated boxes, clockwise where y points down."""
    c, s = np.cos(boxes[:, 4:]), np.sin(boxes[:, 4:])
    u, v = np.array([-1, 1, 1, -1]) * boxes[:, 2:3] / 2, np.array([-1, -1, 1, 1]) * boxes[:, 3:4] / 2
    return np.stack([boxes[:, :1] + u * c - v * s, boxes[:, 1:2] + u * s + v * c], -1).reshape(len(boxes), 8)


def test_rotated_overlaps_and_polygons():
    rng = np.random.default_rng(1)
    a, b = turned(rng, 12), turned(rng, 9)
    both = ops.box_iou_rotated(a, b)
    assert both.shape == (12, 9)
    assert (both > 0.1).sum() > 10
    np.testing.assert_allclose(ops.polygon_iou(corners(a), corners(b)), both, atol=1e-12)
    np.testing.assert_allclose(
        ops.polygon_iou(corners(a), corners(b).reshape(-1, 4, 2)[:, ::-1].reshape(-1, 8)), both, atol=1e-12
    )
    area, other = a[:, 2] * a[:, 3], b[:, 2] * b[:, 3]
    shared = both / (1 + both) * (area[:, None] + other)
    np.testing.assert_allclose(ops.box_iou_rotated(a, b, "iof"), shared / area[:, None], atol=1e-12)
    np.testing.assert_allclose(ops.polygon_iou(corners(a), corners(b), "iof"), shared / area[:, None], atol=1e-12)
    np.testing.assert_allclose(ops.box_iou_rotated(a[:9], b, aligned=True), np.diag(both), atol=1e-12)
    np.testing.assert_allclose(ops.polygon_iou(corners(a[:9]), corners(b), aligned=True), np.diag(both), atol=1e-12)
    against = a * [1, 1, 1, 1, -1], b * [1, 1, 1, 1, -1]
    np.testing.assert_allclose(ops.box_iou_rotated(*against, clockwise=False), both, atol=1e-12)
    far = np.array([1e6, -1e6, 0, 0, 0])
    np.testing.assert_allclose(ops.box_iou_rotated(a + far, b + far), both, atol=1e-8)


def inside(polygon: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which points lie in a polygon, by how often a ray from them crosses its sides."""
    result = np.zeros(x.shape, bool)
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, 0)):
        if y0 != y1:
            result ^= ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return result


def test_polygons_that_are_not_convex():
    """Stars, beside the count of points of a grid that lie in both."""
    rng = np.random.default_rng(2)
    grid = (np.arange(400) + 0.5) / 20 - 10
    x, y = np.meshgrid(grid, grid)
    for corners_a, corners_b in ((7, 5), (4, 12)):
        stars = []
        for k in (corners_a, corners_b):
            radius = rng.uniform(2, 8, k)
            angle = 2 * np.pi * (np.arange(k) + rng.uniform(0, 0.8, k)) / k
            stars.append(np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1) + rng.uniform(-1, 1, 2))
        a, b = (inside(star, x, y) for star in stars)
        overlap = ops.polygon_iou(*(star.reshape(1, -1) for star in stars)).item()
        assert abs(overlap - (a & b).sum() / (a | b).sum()) < 0.01


def test_wild_polygons():
    a, b = turned(RNG, 4), turned(RNG, 4)
    a[0, 2], a[1, 0], b[2, 4], b[3, 3] = np.nan, np.inf, np.nan, -1
    for overlaps in (ops.box_iou_rotated(a, b), ops.polygon_iou(corners(a), corners(turned(RNG, 4)))):
        assert np.isfinite(overlaps).all()
        assert not overlaps[:2].any()
    assert not ops.box_iou_rotated(a, b)[:, 2:].any()
    assert ops.box_iou_rotated(a[:0], b).shape == (0, 4)
    assert ops.polygon_iou(corners(a), corners(b[:0])).shape == (4, 0)


def test_rotated_nms_by_class():
    boxes = turned(RNG, 40)
    scores, classes = RNG.uniform(0, 1, 40), RNG.integers(0, 3, 40)
    stay = ops.batched_nms_rotated(boxes, scores, classes, 0.2)
    for label in range(3):
        mine = np.flatnonzero(classes == label)
        assert stay[classes[stay] == label].tolist() == mine[ops.nms_rotated(boxes[mine], scores[mine], 0.2)].tolist()
    assert (np.diff(scores[stay]) <= 0).all()
    assert len(stay) < 40


def test_what_does_not_fit():
    for call, message in (
        (lambda: ops.soft_nms(BOXES, SCORES, method="hard"), "method must be"),
        (lambda: ops.soft_nms(BOXES, SCORES, offset=2), "offset must be"),
        (lambda: ops.soft_nms(BOXES, SCORES, sigma=0), "sigma must be"),
        (lambda: ops.soft_nms(BOXES, SCORES[:3]), r"\(N, 4\)"),
        (lambda: ops.matrix_nms(BOXES, SCORES, method="naive"), "method must be"),
        (lambda: ops.box_iou_rotated(BOXES, BOXES), r"\(N, 5\)"),
        (lambda: ops.polygon_iou(BOXES, BOXES), "corners"),
        (lambda: ops.polygon_iou(BOXES.reshape(-1, 8), BOXES.reshape(-1, 8)[:2], aligned=True), "one N"),
        (lambda: ops.box_iou_rotated(BOXES, BOXES, "giou"), "mode must be"),
    ):
        with pytest.raises(BoxpressoError, match=message):
            call()
