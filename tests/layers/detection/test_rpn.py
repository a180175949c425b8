"""RPN beside the same in plain numpy, of which nothing is shared, and beside Proposal where both agree."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, close

from boxpresso import LayerError

FIELDS = "feat_stride: 16 basesize: 16 scale: 2 scale: 4 ratio: 0.5 ratio: 1 ratio: 2"
HEIGHT, WIDTH, SCALE = 70.0, 90.0, 1.5


def text(more: str, fields: str = FIELDS) -> str:
    return f'type: "RPN" rpn_param {{ {fields} {more} }}'


def anchors() -> np.ndarray:
    """Ratios first, each with all scales; a box of w x h pixels around the centre of the first 16 x 16."""
    rows = []
    for ratio in (0.5, 1, 2):
        wide = np.floor(np.sqrt(256 / ratio) + 0.5)
        tall = np.floor(wide * ratio + 0.5)
        for scale in (2, 4):
            half = (scale * wide - 1) / 2, (scale * tall - 1) / 2
            rows.append([7.5 - half[0], 7.5 - half[1], 7.5 + half[0], 7.5 + half[1]])
    return np.trunc(rows)


def regions(scores, offsets, least: float, before: int, after: int, threshold: float) -> list[list[float]]:
    """(score, xmin, ymin, xmax, ymax), best first."""
    rows = []
    _, channels, high, wide = scores.shape
    for y in range(high):
        for x in range(wide):
            for a, anchor in enumerate(anchors()):
                w, h = anchor[2] - anchor[0] + 1, anchor[3] - anchor[1] + 1
                dx, dy, dw, dh = offsets[0, 4 * a : 4 * a + 4, y, x]
                cx, cy = anchor[0] + 16 * x + w / 2 + dx * w, anchor[1] + 16 * y + h / 2 + dy * h
                w, h = w * np.exp(dw), h * np.exp(dh)
                if w < least * SCALE or h < least * SCALE:
                    continue
                box = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]
                ends = [WIDTH, HEIGHT, WIDTH, HEIGHT]
                row = [min(max(side, 0), end) for side, end in zip(box, ends)]
                rows.append([scores[0, channels // 2 + a, y, x], *row])
    rows.sort(key=lambda row: -row[0])
    survivors: list[list[float]] = []
    for row in rows[: before or None]:
        if all(overlap(row[1:], other[1:]) < threshold for other in survivors):
            survivors.append(row)
    return survivors[: after or None]


def overlap(a, b) -> float:
    wide = max(0, min(a[2], b[2]) - max(a[0], b[0]) + 1)
    tall = max(0, min(a[3], b[3]) - max(a[1], b[1]) + 1)
    area = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)]
    return wide * tall / (sum(area) - wide * tall)


def bottoms(rng) -> list[np.ndarray]:
    scores = rng.permutation(np.linspace(0.01, 0.99, 12 * 20)).reshape(1, 12, 4, 5)
    return [scores, rng.normal(0, 0.4, (1, 24, 4, 5)), np.array([[HEIGHT, WIDTH, SCALE]])]


@pytest.mark.parametrize(
    ("least", "before", "after", "threshold"), [(0, 0, 0, 0.7), (22, 0, 0, 0.3), (16, 40, 5, 0.5), (16, 0, 7, 0.9)]
)
def test_regions(least, before, after, threshold, device):
    inputs = bottoms(np.random.default_rng(3))
    more = f"boxminsize: {least} per_nms_topn: {before} post_nms_topn: {after} nms_thresh: {threshold}"
    rows, scores = Rig(text(more), inputs, tops=2, device=device, dtype=np.float64).forward()
    wanted = np.array(regions(inputs[0], inputs[1], least, before, after, threshold))
    assert len(wanted) > 2
    assert rows.shape == (len(wanted), 5, 1, 1)
    assert scores.shape == (len(wanted), 1, 1, 1)
    close(scores.ravel(), wanted[:, 0])
    close(rows.reshape(-1, 5), np.column_stack([np.zeros(len(wanted)), wanted[:, 1:]]), rtol=1e-6, atol=1e-4)


def test_sides_are_measured_before_they_are_clipped(device):
    """Of an anchor of 32 pixels half lies outside: Proposal drops it, whose sides are those inside."""
    fields = "feat_stride: 16 basesize: 16 scale: 2 ratio: 1"
    inputs = [np.full((1, 2, 1, 1), 0.5), np.zeros((1, 4, 1, 1)), np.array([[20.0, 20, 1]])]
    row = Rig(text("boxminsize: 32 nms_thresh: 0.5", fields), inputs, device=device).forward()[0]
    assert row.ravel().tolist() == [0, 0, 0, 20, 20]
    none = Rig(text("boxminsize: 33 nms_thresh: 0.5", fields), inputs, device=device).forward()[0]
    assert none.shape == (0, 5, 1, 1)
    other = 'type: "Proposal" proposal_param { scale: 2 ratio: 1 min_size: 21 nms_thresh: 0.5 }'
    assert Rig(other, inputs, device=device).forward()[0].shape == (0, 5)


def test_missing_fields_and_wrong_shapes_are_refused():
    inputs = bottoms(np.random.default_rng(4))
    for field in ("feat_stride: 16", "basesize: 16"):
        with pytest.raises(LayerError, match=f"RPN layer 'layer': rpn_param: {field[:-4]} must be above 0, got 0"):
            Rig(text("", FIELDS.replace(field, "")), inputs)
    with pytest.raises(LayerError, match=r"scale must be numbers above 0, got \[\]"):
        Rig(text("", "feat_stride: 16 basesize: 16 ratio: 1"), inputs)
    with pytest.raises(LayerError, match=r"ratio must be numbers above 0, got \[-1"):
        Rig(text("", "feat_stride: 16 basesize: 16 scale: 1 ratio: -1"), inputs)
    with pytest.raises(LayerError, match=r"bottom 1 must be \(1, 24, 4, 5\) for 6 anchors"):
        Rig(text(""), [inputs[0], inputs[1][:, :20], inputs[2]])
    with pytest.raises(LayerError, match="channels"):
        Rig(text(""), [inputs[0][:, :8], inputs[1], inputs[2]])
