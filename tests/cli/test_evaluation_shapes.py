"""Average precision of rotated boxes and quadrilaterals, and of objects of one size, against a plain second computation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from boxpresso.data.errors import DataError
from boxpresso.data.folders import Scene
from boxpresso.data.polygons import clipped, polygon_area
from boxpresso.decoders.detections import Detections, RotatedDetection
from boxpresso.evaluation import evaluate

Row = tuple[float, ...]


def corners(box: Row) -> np.ndarray:
    """Of centre x, centre y, height, width, degrees anti-clockwise, y pointing down: clockwise as it is seen."""
    x, y, high, wide, angle = box
    turn = math.radians(angle)
    ux, uy = math.cos(turn), -math.sin(turn)  # along the width
    vx, vy = math.sin(turn), math.cos(turn)  # along the height
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array(
        [(x + (a * wide * ux + b * high * vx) / 2, y + (a * wide * uy + b * high * vy) / 2) for a, b in signs]
    )


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Intersection over union of two convex quadrilaterals, by clipping one with the other."""
    both = polygon_area(clipped(a, b))
    return both / (polygon_area(a) + polygon_area(b) - both)


def by_hand(detections, truth, threshold=0.5, area=(0, math.inf)):
    """{label: average precision}, the area under the falling curve, in plain loops. Rows are as evaluate takes them."""
    labels = {row[0] for rows in truth for row in rows}
    result = {}
    for label in labels:
        boxes = [
            [(corners(row[1:6]), bool(len(row) > 6 and row[6])) for row in rows if row[0] == label] for rows in truth
        ]
        hard = [[h or not area[0] <= polygon_area(c) < area[1] for c, h in rows] for rows in boxes]
        count = sum(not h for rows in hard for h in rows)
        everything = [
            (row[1], i, corners(row[2:])) for i, rows in enumerate(detections) for row in rows if row[0] == label
        ]
        taken, hits = set(), []
        for _, image, quad in sorted(everything, key=lambda item: -item[0]):
            shared = [overlap(quad, c) for c, _ in boxes[image]]
            best = max(range(len(shared)), key=shared.__getitem__, default=None)
            if best is not None and shared[best] >= threshold:
                if not hard[image][best]:
                    hits.append((image, best) not in taken)
                taken.add((image, best))
                if not hard[image][best] and not hits[-1] and not area[0] <= polygon_area(quad) < area[1]:
                    hits.pop()  # wrong, and of another size
            elif area[0] <= polygon_area(quad) < area[1]:
                hits.append(False)
        precision = [sum(hits[: i + 1]) / (i + 1) for i in range(len(hits))]
        result[label] = sum(max(precision[i:]) for i, hit in enumerate(hits) if hit) / count if count else math.nan
    return result


def scenes(seed, images=6):
    """Rotated truth, and detections near it, beside it and twice."""
    rng = np.random.default_rng(seed)
    truth, detections = [], []
    for _ in range(images):
        rows = [
            (int(rng.integers(1, 3)), *rng.uniform(20, 180, 2), rng.uniform(6, 20), rng.uniform(20, 50), rng.uniform(-45, 135),
             int(rng.random() < 0.15)) for _ in range(rng.integers(1, 7))
        ]  # fmt: skip
        scored = []
        for label, *box, _ in rows:
            for _ in range(rng.integers(0, 3)):
                moved = np.array(box) + rng.normal(0, [2, 2, 1.5, 3, 8])
                scored.append((label, float(rng.random()), *np.maximum(moved, [0, 0, 2, 2, -90])))
        scored += [
            (int(rng.integers(1, 3)), float(rng.random()), *rng.uniform(20, 180, 2), 10, 30, 20) for _ in range(2)
        ]
        truth.append(rows)
        detections.append(scored)
    return detections, truth


@pytest.mark.parametrize("area", [None, (0, 350), (350, 700), (700, math.inf)])
@pytest.mark.parametrize("seed", range(4))
def test_rotated_boxes(seed, area):
    detections, truth = scenes(seed)
    for threshold in (0.5, 0.7):
        made = evaluate(detections, truth, overlap=threshold, rotated=True, area=area)
        expected = by_hand(detections, truth, threshold, area or (0, math.inf))
        for label, value in expected.items():
            assert made.aps[label] == pytest.approx(value, abs=1e-9, nan_ok=True)
    if area is None:
        upright = evaluate(
            [[(r[0], r[1], *corners(r[2:]).min(0), *corners(r[2:]).max(0)) for r in rows] for rows in detections],
            [[(r[0], *corners(r[1:6]).min(0), *corners(r[1:6]).max(0), r[6]) for r in rows] for rows in truth],
        )
        assert upright.mean != pytest.approx(made.mean), "the boxes around them are no measure"


def test_forms_of_rows_say_the_same():
    """Rotated boxes, four corners in either direction, RotatedDetections and Detections."""
    detections, truth = scenes(9)
    expected = evaluate(detections, truth, rotated=True).aps
    quads = [[(r[0], r[1], *corners(r[2:]).ravel()) for r in rows] for rows in detections]
    back = [[(r[0], *corners(r[1:6])[::-1].ravel(), r[6]) for r in rows] for rows in truth]
    assert evaluate(quads, back, rotated=True).aps == pytest.approx(expected)
    single = [[RotatedDetection(r[0], r[1], (0, 0, 1, 1), r[2:]) for r in rows] for rows in detections]
    assert evaluate(single, truth, rotated=True).aps == pytest.approx(expected)
    arrays = [
        Detections(
            np.zeros((len(rows), 4)), [r[1] for r in rows], [r[0] for r in rows], angles=[r[6] for r in rows],
            quadrilaterals=np.array([corners(r[2:]) for r in rows]).reshape(-1, 4, 2),
        ) for rows in detections
    ]  # fmt: skip
    assert evaluate(arrays, truth, rotated=True).aps == pytest.approx(expected, abs=1e-3)
    assert evaluate([list(one) for one in arrays], truth, rotated=True).aps == pytest.approx(expected, abs=1e-3)


def test_upright_boxes_are_rotated_ones_too():
    rng = np.random.default_rng(4)
    low = rng.uniform(0, 50, (20, 2))
    boxes = np.concatenate([low, low + rng.uniform(5, 40, (20, 2))], 1)
    near = boxes + rng.normal(0, 3, boxes.shape)
    scene = Scene(Path("a.jpg"), 100, 100, [1] * 20, boxes, [False] * 20)
    detections = Detections(near, rng.random(20), np.ones(20, int))
    assert evaluate([detections], [scene], rotated=True).mean == pytest.approx(evaluate([detections], [scene]).mean)
    assert evaluate([list(detections)], [scene], rotated=True).mean == pytest.approx(
        evaluate([detections], [scene]).mean
    )


def test_area_of_upright_boxes_by_hand():
    """Small ones are 10 x 10, large ones 40 x 40; a wrong detection counts where its own size does."""
    truth = [[(1, 0, 0, 10, 10), (1, 50, 50, 90, 90)]]
    detections = [
        [(1, 0.9, 0, 0, 10, 10), (1, 0.8, 50, 50, 90, 90), (1, 0.7, 20, 0, 30, 10), (1, 0.95, 20, 20, 60, 60)]
    ]
    small, large = (evaluate(detections, truth, area=area) for area in ((0, 400), (400, math.inf)))
    assert [(r.curves[1].truths, r.curves[1].right.tolist()) for r in (small, large)] == [
        (1, [True, False]),
        (1, [False, True]),
    ]
    assert (small.mean, large.mean) == (1, 0.5)
    assert small.as_json()["area"] == [0, 400]
    assert large.as_json()["area"] == [400, None]
    assert "area" not in evaluate(detections, truth).as_json()


def test_what_does_not_fit_is_an_error():
    with pytest.raises(DataError, match=r"rows of label, score, and centre x.*one has"):
        evaluate([[(1, 0.9, 0, 0, 10)]], [[]], rotated=True)
    for more in ({"coco": True}, {"last_inside": True}):
        with pytest.raises(DataError, match="last_inside and coco are for upright boxes"):
            evaluate([[]], [[]], rotated=True, **more)
