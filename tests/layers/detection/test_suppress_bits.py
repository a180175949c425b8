"""Greedy suppression of upright boxes by bits, as on a GPU, beside the loop over boxes, as on the CPU, and a plain one."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso.device import open_device
from boxpresso.layers.detection import suppress
from boxpresso.proto.errors import KernelError

RNG = np.random.default_rng(4)


def boxes_of(count: int, dtype: type = np.float32) -> np.ndarray:
    corner = RNG.uniform(0, 60, (count, 2))
    return np.concatenate([corner, corner + RNG.uniform(0, 30, (count, 2))], 1).round(1).astype(dtype)


def both(
    monkeypatch: pytest.MonkeyPatch, device: str, boxes: np.ndarray, *args: object, **options: object
) -> np.ndarray:
    """By bits; the other way must give the same."""
    opened, chosen = open_device(device), []
    for bits in (True, False):
        monkeypatch.setitem(suppress.BITS, opened.kind, bits)
        chosen.append(suppress.suppress_rows(opened, opened.table(boxes, boxes.dtype), *args, **options))
    assert np.array_equal(chosen[0], chosen[1])
    return chosen[0]


def plain(boxes: np.ndarray, threshold: float, last: int) -> list[int]:
    survivors: list[int] = []
    for i, (left, top, right, bottom) in enumerate(boxes.astype(np.float64)):
        for k in survivors:
            a, b, c, d = boxes[k].astype(np.float64)
            shared = max(0, min(right, c) - max(left, a) + last) * max(0, min(bottom, d) - max(top, b) + last)
            area = (right - left + last) * (bottom - top + last) + (c - a + last) * (d - b + last) - shared
            if area != 0 and shared / area >= threshold:  # as NaN, which is above nothing
                break
        else:
            survivors.append(i)
    return survivors


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("count", "tile"), [(1, 1), (31, 32), (32, 1), (33, 1), (300, 1), (300, 3), (300, 32), (1100, 32)]
)
def test_bits_choose_as_the_loop_does(count, tile, dtype, device, monkeypatch):
    """In one launch or in several, each for a tile of so many words."""
    monkeypatch.setitem(suppress.TILE, open_device(device).kind, tile)
    boxes = boxes_of(count, dtype)
    for threshold, last in ((0.3123, 0), (0.7123, 1)):
        assert both(monkeypatch, device, boxes, threshold, last=last).tolist() == plain(boxes, threshold, last)
    assert len(both(monkeypatch, device, boxes, 0.5, 4)) <= 4
    assert both(monkeypatch, device, boxes, 0.5, 0).size == 0


@pytest.mark.parametrize("tile", [1, 2, 32])
def test_groups_limits_and_boxes_that_are_none(tile, device, monkeypatch):
    monkeypatch.setitem(suppress.TILE, open_device(device).kind, tile)
    boxes = boxes_of(200)
    boxes[17], boxes[30, 0], boxes[31], boxes[40] = np.nan, np.inf, [-np.inf, 0, np.inf, 5], [9, 9, 2, 2]
    starts = np.array([0, 0, 70, 70, 71, 190, 200])  # the groups below
    with np.errstate(all="ignore"):
        for above in (False, True):
            chosen = both(monkeypatch, device, boxes, 0.4, 5, starts, above=above)
            for first, end in ((0, 0), (0, 70), (70, 70), (70, 71), (71, 190), (190, 200)):
                inside = chosen[(chosen >= first) & (chosen < end)]
                alone = both(monkeypatch, device, boxes[first:end], 0.4, 5, above=above)
                assert (inside - first).tolist() == alone.tolist()
    assert both(monkeypatch, device, boxes[:64], 0.9, eta=0.9).size  # a threshold that moves is the loop's


def test_too_many_pairs_go_by_the_loop(device, monkeypatch):
    monkeypatch.setattr(suppress, "MOST_WORDS", 10)
    boxes = boxes_of(50)
    assert both(monkeypatch, device, boxes, 0.5).tolist() == plain(boxes, 0.5, 0)


@pytest.mark.parametrize("columns", [4, 5])
@pytest.mark.parametrize("wide", [1, 2])
@pytest.mark.parametrize("tile", [1, 32])
def test_boxes_of_other_labels_do_not_see_each_other(columns, wide, tile, device, monkeypatch):
    opened = open_device(device)
    monkeypatch.setitem(suppress.BITS, opened.kind, True)
    monkeypatch.setitem(suppress.TILE, opened.kind, tile)
    boxes, labels = boxes_of(120), RNG.integers(-2, 2, 120).astype(np.int32 if wide == 1 else np.int64)
    if wide == 2:
        labels <<= 31  # which the lower half alone does not tell apart
    if columns == 5:
        boxes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2], RNG.uniform(-3, 3, (120, 1))], 1).astype(
            np.float32
        )
    order = RNG.permutation(120).astype(np.int32)  # box i of the list is number order[i] of the labels
    survivors = opened.empty((120,), np.int32)
    same = suppress.Labels(opened.table(labels.view(np.int32)), opened.table(order), wide)
    words = (opened, opened.table(boxes, np.float32), opened.table([0, 120]), survivors, None, 0.1, -1, 120)
    rooms = suppress.rooms_of(opened, boxes.shape, np.float32, 1, 120, 2**20)
    suppress.launch(*words, lambda name: opened.empty(*rooms[name]), 2**20, labels=same)
    chosen = [i for i in np.asarray(survivors).tolist() if i >= 0]
    wanted = []
    for label in np.unique(labels):
        mine = np.flatnonzero(labels[order] == label)
        stay = suppress.suppress_rows(opened, opened.table(boxes[mine], np.float32), 0.1)
        wanted += mine[stay].tolist()
    assert chosen == sorted(wanted)
    with pytest.raises(KernelError, match="too many boxes for the words of all their pairs"):
        suppress.launch(*words, lambda name: opened.empty(*rooms[name]), 10, labels=same)
