"""The layers of Multi-task Network Cascades: by plain loops, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from test_fork_targets import encoded, overlap

from boxpresso import LayerError

RNG = np.random.default_rng(61)
TRUTH = np.array([[4, 4, 23, 19, 1], [30, 8, 49, 39, 3], [8, 40, 39, 59, 2]], float)
INFO = [[70, 64, 2.0]]  # the net's input is twice as large as the picture


def rig_of(kind: str, settings: str, bottoms, tops: int, device: str, **options) -> Rig:
    return Rig(
        f'type: "{kind}" python_param {{ param_str: "{{{settings}}}" }}', bottoms, tops=tops, device=device, **options
    )


def near(count: int, spread: float) -> np.ndarray:
    rows = np.repeat(TRUTH[:, :4], count, 0) + RNG.uniform(-spread, spread, (3 * count, 4))
    return np.column_stack([np.zeros(len(rows)), rows])


def true_masks() -> tuple[np.ndarray, np.ndarray]:
    """Masks of the true boxes in the picture, and their heights and widths."""
    boxes = np.rint(TRUTH[:, :4] / 2).astype(int)
    sizes = np.stack([boxes[:, 3] - boxes[:, 1] + 1, boxes[:, 2] - boxes[:, 0] + 1], 1)
    masks = np.zeros((3, 20, 20))
    for mask, (h, w) in zip(masks, sizes):
        mask[:h, :w] = RNG.integers(0, 2, (h, w))
        mask[1 : h // 2, 1 : w // 2] = 1
    return masks, sizes


def smooth(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear, by loops."""
    out = np.zeros((height, width))
    for i, j in np.ndindex(height, width):
        y = min(max((i + 0.5) * mask.shape[0] / height - 0.5, 0), mask.shape[0] - 1)
        x = min(max((j + 0.5) * mask.shape[1] / width - 0.5, 0), mask.shape[1] - 1)
        y0, x0 = int(y), int(x)
        for a, b, weight in ((0, 0, (1 - y + y0) * (1 - x + x0)), (0, 1, (1 - y + y0) * (x - x0)),
                             (1, 0, (y - y0) * (1 - x + x0)), (1, 1, (y - y0) * (x - x0))):  # fmt: skip
            if weight:
                out[i, j] += weight * mask[y0 + a, x0 + b]
    return out


def cut(box: np.ndarray, true: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The true mask as the pixels of a box, by loops."""
    out = np.zeros((box[3] - box[1] + 1, box[2] - box[0] + 1))
    for i, j in np.ndindex(*out.shape):
        y, x = i + box[1] - true[1], j + box[0] - true[0]
        if 0 <= y < mask.shape[0] and 0 <= x < mask.shape[1]:
            out[i, j] = mask[y, x]
    return out


def check_targets(regions, labels, masks, info, gt_masks, sizes, side: int, least: float) -> int:
    """Labels, masks and info of regions against the loops; how many are objects."""
    objects = 0
    for row, region in enumerate(regions[:, 1:]):
        of = [overlap(region, t) for t in TRUTH]
        mine = int(np.argmax(of))
        if of[mine] < least:
            assert labels[row] == 0
            assert set(info[row]) == {-1.0}
            assert not masks[row].any()
            continue
        objects += 1
        assert labels[row] == TRUTH[mine, 4]
        box, true = np.rint(region / 2).astype(int), np.rint(TRUTH[mine, :4] / 2).astype(int)
        mask = gt_masks[mine][: sizes[mine, 0], : sizes[mine, 1]]
        wanted = smooth(cut(box, true, mask), side, side)
        clear = abs(wanted - 0.4) > 1e-6
        assert (masks[row, 0] == (wanted >= 0.4))[clear].all()
        assert info[row].tolist() == [mine, *sizes[mine], labels[row], *box, *true]
    return objects


def test_mnc_proposal_target(device):
    gt_masks, sizes = true_masks()
    regions = near(6, 5)
    numbers = np.arange(len(regions))[None] + 100
    settings = "num_classes: 4, batch_size: 15, mask_size: 7, fg_fraction: [0.6], bg_fraction: [1, 1]"
    bottoms = [regions, TRUTH, INFO, gt_masks, sizes, numbers]
    rig = rig_of("MNCProposalTarget", settings, bottoms, 10, device, dtype=np.float64)
    drawn, labels, targets, inside, _, masks, weights, info, objects, others = rig.forward()
    count = check_targets(drawn, labels, masks, info, gt_masks, sizes, 7, 0.5)
    assert count == 9 == weights[:, 0, 0, 0].sum()
    assert len(drawn) <= 15
    every = [*regions.tolist(), *[[0, *t[:4]] for t in TRUTH]]
    rows = [every.index(row.tolist()) for row in drawn]
    assert sorted(objects.ravel()) == sorted(100 + k for k in rows[:count] if k < len(regions))
    assert sorted(others.ravel()) == sorted(100 + k for k in rows[count:])
    for row, (region, label) in enumerate(zip(drawn[:, 1:], labels.astype(int))):
        wanted = np.zeros((4, 4))
        if label:
            wanted[label] = encoded(region, TRUTH[[1, 3, 2].index(label)])
        close(targets[row].reshape(4, 4), wanted)
        assert (inside[row].reshape(4, 4)[:, 0] > 0).tolist() == (
            np.arange(4) == label * (label > 0)
        ).tolist() or not label
    diff = RNG.standard_normal(drawn.shape)
    back = rig.backward([diff, *[np.zeros(t.shape) for t in rig.top[1:]]], [True, *[False] * 5])[0]
    wanted = np.zeros(regions.shape)
    for k, g in zip(rows, diff):
        if k < len(regions):
            wanted[k] = g
    close(back, wanted)
    few = rig_of("MNCProposalTarget", "num_classes: 4", [regions, TRUTH, INFO], 5, device).forward()
    assert len(few) == 5
    with pytest.raises(LayerError, match="it takes 3 and 5"):
        rig_of("MNCProposalTarget", settings, bottoms[:4], 8, device)


def test_mnc_proposal(device):
    """The regions are Proposal's; the gradient is that of decoding them."""
    scores = RNG.permutation(np.linspace(0.01, 0.99, 64)).reshape(1, 4, 4, 4)
    offsets = RNG.standard_normal((1, 8, 4, 4)) * 0.05
    settings = "scales: [1, 2], ratios: [1], rpn_nms_thresh: 1.1, rpn_min_size: 4"
    bottoms = [scores, offsets, [[64, 64, 1]]]
    rig = rig_of("MNCProposal", settings, bottoms, 2, device, dtype=np.float64)
    regions, numbers = rig.forward()
    plain = rig_of("Proposal", settings, bottoms, 1, device, dtype=np.float64).forward()[0]
    close(regions, plain)
    chance = scores[0, 2:].transpose(1, 2, 0).ravel()
    close(chance[numbers.ravel().astype(int)], np.sort(chance)[::-1])
    one = rig_of("MNCProposal", settings, bottoms, 1, device, dtype=np.float64)
    check_gradient(one, bottoms=(1,))
    cut_off = rig_of("MNCProposal", settings + ", use_clip: 1, clip_base: 8", bottoms, 1, device, dtype=np.float64)
    cut_off.forward()
    diff = RNG.standard_normal(regions.shape)
    one.forward()
    free = one.backward([diff], [False, True, False])[1]
    close(cut_off.backward([diff], [False, True, False])[1], np.clip(free, -0.125, 0.125))


def test_mnc_anchor_target(device):
    settings = "scales: [1], ratios: [1], allowed_border: 99, rpn_batchsize: 4"
    bottoms = [np.zeros((1, 2, 3, 4)), TRUTH[:1], [[48, 64, 1]], [[5, 7]], [[0, 7, 6]]]
    labels = rig_of("MNCAnchorTarget", settings, bottoms, 4, device).forward()[0].ravel()
    assert labels[[5, 7]].tolist() == [1, 1]
    assert labels[[0, 6]].tolist() == [0, 0]


def test_mnc_mask(device):
    gt_masks, sizes = true_masks()
    boxes = np.rint(TRUTH[:, :4] / 2)
    moved = boxes + np.array([[0, 0, 0, 0], [1, -1, 2, 0], [0, 2, 0, 2]])
    info = np.column_stack([[0, 1, 2], sizes, TRUTH[:, 4], moved, boxes])
    info = np.concatenate([info, np.full((1, 12), -1.0)])
    predicted = np.stack(
        [smooth(gt_masks[k][: sizes[k, 0], : sizes[k, 1]], 9, 9).ravel() for k in range(3)] + [np.ones(81)]
    )
    rig = rig_of("MNCMask", "fg_seg_thresh: 0.6", [predicted, gt_masks, info], 2, device, dtype=np.float64)
    images, labels = rig.forward()
    close(images, predicted.reshape(4, 1, 9, 9))
    for k in range(3):
        box, true = moved[k].astype(int), boxes[k].astype(int)
        seen = smooth(predicted[k].reshape(9, 9), box[3] - box[1] + 1, box[2] - box[0] + 1) >= 0.4
        mask = gt_masks[k][: sizes[k, 0], : sizes[k, 1]]
        both = (seen & (cut(box, true, mask) > 0)).sum()
        share = both / (seen.sum() + mask.sum() - both)
        assert labels[k, 0] == (TRUTH[k, 4] if share >= 0.6 else 0)
    assert labels[0, 0] > 0 == labels[3, 0]
    diff = RNG.standard_normal((4, 1, 9, 9))
    back = rig.backward([diff, np.zeros((4, 1))], [True, False, False])[0]
    close(back, (diff * (labels > 0)[..., None, None]).reshape(4, 81))
    check_gradient(rig_of("MNCMask", "fg_seg_thresh: 0.6", [predicted], 1, device, dtype=np.float64))
    info[0, 0] = 7
    rig.set_bottom(2, info)
    with pytest.raises(LayerError, match="not there"):
        rig.forward()


def bridge(device: str, train: bool, settings: str = "") -> tuple[Rig, list[np.ndarray]]:
    gt_masks, sizes = true_masks()
    regions = near(4, 3)
    offsets, scores = RNG.standard_normal((12, 16)) * 0.05, RNG.uniform(0, 1, (12, 4))
    bottoms = [regions, offsets, scores, *([TRUTH, gt_masks, INFO, sizes] if train else [INFO])]
    text = "num_classes: 4, mask_size: 7" + settings
    return rig_of("MNCStageBridge", text, bottoms, 8 if train else 1, device, dtype=np.float64), bottoms


def moved_by_loops(bottoms, first: int) -> list[np.ndarray]:
    rows = []
    for region, by, score in zip(*bottoms[:3]):
        of = first + int(np.argmax(score[first:]))
        d = by[4 * of : 4 * of + 4]
        w, h = region[3] - region[1] + 1, region[4] - region[2] + 1
        cx, cy = region[1] + w / 2 + d[0] * w, region[2] + h / 2 + d[1] * h
        w, h = w * np.exp(d[2]), h * np.exp(d[3])
        rows.append(np.clip([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 0, [63, 69, 63, 69]))
    return rows


def test_mnc_stage_bridge(device):
    rig, bottoms = bridge(device, False)
    close(rig.forward()[0][:, 1:], moved_by_loops(bottoms, 0))
    check_gradient(rig, bottoms=(0, 1))
    rig, bottoms = bridge(device, True)
    regions, labels, masks, weights, info, *_ = rig.forward()
    every = [*moved_by_loops(bottoms, 1), *TRUTH[:, :4]]
    order = sorted(range(15), key=lambda k: max(overlap(every[k], t) for t in TRUTH) < 0.5)
    close(regions[:, 1:], [every[k] for k in order])
    assert check_targets(regions, labels, masks, info, bottoms[4], bottoms[6], 7, 0.5) == weights[:, 0, 0, 0].sum() > 3
    diff = RNG.standard_normal(regions.shape)
    back = rig.backward([diff, *[np.zeros(t.shape) for t in rig.top[1:]]], [True, True, *[False] * 5])
    other = rig_of("MNCStageBridge", "num_classes: 4", [*bottoms[:2], np.column_stack([np.full(12, -1), bottoms[2][:, 1:]]), INFO],
                   1, device, dtype=np.float64)  # fmt: skip
    other.forward()
    mine = np.zeros((12, 5))
    for g, k in zip(diff, order):
        if k < 12:
            mine[k] = g
    for got, wanted in zip(back[:2], other.backward([mine], [True, True, False, False])):
        close(got, wanted)


def test_mnc_without_true_boxes(device):
    gt_masks, sizes = true_masks()
    bottoms = [near(2, 3), TRUTH[:0], INFO, gt_masks[:0], sizes[:0], np.zeros((1, 6))]
    tops = rig_of("MNCProposalTarget", "num_classes: 4", bottoms, 10, device).forward()
    assert not tops[1].any()
    rig, bottoms = bridge(device, True)
    for at, empty in ((3, TRUTH[:0]), (4, gt_masks[:0]), (6, sizes[:0])):
        rig.set_bottom(at, empty)
    assert len(rig.forward()[0]) == 12
