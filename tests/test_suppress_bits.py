"""Greedy suppression of upright boxes by bits, as on a GPU, beside the loop over boxes, as on the CPU, and a plain one."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso.device import open_device
from boxpresso.layers.detection import suppress

RNG = np.random.default_rng(4)


def boxes_of(count: int, dtype: type = np.float32) -> np.ndarray:
    corner = RNG.uniform(0, 60, (count, 2))
    return np.concatenate([corner, corner + RNG.uniform(0, 30, (count, 2))], 1).round(1).astype(dtype)


def both(
    monkeypatch: pytest.MonkeyPatch, device: str, boxes: np.ndarray, *args: object, **options: object
) -> np.ndarray:
    """By bits; the other way must give the same."""
    opened, found = open_device(device), []
    for bits in (True, False):
        monkeypatch.setitem(suppress.BITS, opened.kind, bits)
        found.append(suppress.suppress_rows(opened, opened.table(boxes, boxes.dtype), *args, **options))
    assert np.array_equal(found[0], found[1])
    return found[0]


def plain(boxes: np.ndarray, threshold: float, last: int) -> list[int]:
    kept: list[int] = []
    for i, (left, top, right, bottom) in enumerate(boxes.astype(np.float64)):
        for k in kept:
            a, b, c, d = boxes[k].astype(np.float64)
            shared = max(0, min(right, c) - max(left, a) + last) * max(0, min(bottom, d) - max(top, b) + last)
            area = (right - left + last) * (bottom - top + last) + (c - a + last) * (d - b + last) - shared
            if shared / area >= threshold:
                break
        else:
            kept.append(i)
    return kept


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 31, 32, 33, 300])
def test_bits_choose_as_the_loop_does(count, dtype, device, monkeypatch):
    boxes = boxes_of(count, dtype)
    for threshold, last in ((0.3123, 0), (0.7123, 1)):
        assert both(monkeypatch, device, boxes, threshold, last=last).tolist() == plain(boxes, threshold, last)
    assert len(both(monkeypatch, device, boxes, 0.5, 4)) <= 4
    assert both(monkeypatch, device, boxes, 0.5, 0).size == 0


def test_groups_limits_and_boxes_that_are_none(device, monkeypatch):
    boxes = boxes_of(200)
    boxes[17], boxes[30, 0], boxes[31], boxes[40] = np.nan, np.inf, [-np.inf, 0, np.inf, 5], [9, 9, 2, 2]
    starts = np.array([0, 0, 70, 70, 71, 190, 200])  # the groups below
    with np.errstate(all="ignore"):
        for above in (False, True):
            found = both(monkeypatch, device, boxes, 0.4, 5, starts, above=above)
            for first, end in ((0, 0), (0, 70), (70, 70), (70, 71), (71, 190), (190, 200)):
                inside = found[(found >= first) & (found < end)]
                alone = both(monkeypatch, device, boxes[first:end], 0.4, 5, above=above)
                assert (inside - first).tolist() == alone.tolist()
    assert both(monkeypatch, device, boxes[:64], 0.9, eta=0.9).size  # a threshold that moves is the loop's


def test_too_many_pairs_go_by_the_loop(device, monkeypatch):
    monkeypatch.setattr(suppress, "MOST_WORDS", 10)
    boxes = boxes_of(50)
    assert both(monkeypatch, device, boxes, 0.5).tolist() == plain(boxes, 0.5, 0)
