"""Targets and regions of published Python layers (RON, R2CNN, LSI, Mask R-CNN, SSH, CTPN, OHEM), by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

SEED = 33
RNG = np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Each test draws the same, whichever ran before it."""
    RNG.bit_generator.state = np.random.default_rng(SEED).bit_generator.state


def overlap(a, b) -> float:
    """Of two boxes whose last pixels count."""
    w = min(a[2], b[2]) - max(a[0], b[0]) + 1
    h = min(a[3], b[3]) - max(a[1], b[1]) + 1
    if w <= 0 or h <= 0:
        return 0.0
    areas = [(c[2] - c[0] + 1) * (c[3] - c[1] + 1) for c in (a, b)]
    return w * h / (sum(areas) - w * h)


def encoded(box, truth) -> list[float]:
    """Centre and size of truth from box, as R-CNN has them."""
    w, h, tw, th = box[2] - box[0] + 1, box[3] - box[1] + 1, truth[2] - truth[0] + 1, truth[3] - truth[1] + 1
    dx, dy = truth[0] + tw / 2 - box[0] - w / 2, truth[1] + th / 2 - box[1] - h / 2
    return [dx / w, dy / h, np.log(tw / w), np.log(th / h)]


def boxes(count: int, size: float) -> np.ndarray:
    start = RNG.uniform(0, size * 0.6, (count, 2))
    return np.concatenate([start, start + RNG.uniform(size * 0.1, size * 0.4, (count, 2))], 1)


def rig_of(kind: str, settings: str, bottoms, tops: int, device: str, **options) -> Rig:
    return Rig(
        f'type: "{kind}" python_param {{ param_str: "{{{settings}}}" }}', bottoms, tops=tops, device=device, **options
    )


# RON

RON = "base_size: 16, ratios: [1], fg_fraction: 0.001"  # so small that no background is drawn away


def ron_anchors(side: int) -> list[list[float]]:
    """Squares of 16 and 32 pixels around the middle of each place, by row, column and scale."""
    squares = [[0, 0, 15, 15], [-8, -8, 23, 23]]
    return [[x * 16 + s[0], y * 16 + s[1], x * 16 + s[2], y * 16 + s[3]]
            for y in range(side) for x in range(side) for s in squares]  # fmt: skip


def truth_of_two() -> np.ndarray:
    rows = np.concatenate([boxes(3, 64), boxes(2, 64)])
    return np.column_stack([rows, [1, 2, 3, 1, 2], [0, 0, 0, 1, 1]])


def test_ron_anchor_target(device):
    truth, side = truth_of_two(), 4
    text = f"stride_scale_border_batchsize: [16, 1, 4, 99], {RON}"
    rig = rig_of("RONAnchorTarget", text, [np.zeros((2, 4, side, side)), truth, [[64, 64]] * 2], 4, device)
    labels, targets, inside, outside = rig.forward()
    anchors = ron_anchors(side)
    within = [a[0] >= -4 and a[1] >= -4 and a[2] < 68 and a[3] < 68 for a in anchors]
    for image in range(2):
        mine = truth[truth[:, 5] == image]
        wanted = np.full(len(anchors), -1.0)
        for k, anchor in enumerate(anchors):
            most = max(overlap(anchor, t) for t in mine)
            if within[k] and 0.001 < most < 0.3:
                wanted[k] = 0
        for t in mine:
            of = [overlap(a, t) if ok else -1 for a, ok in zip(anchors, within)]
            if max(of) > 0.3 - 0.2:
                wanted[int(np.argmax(of))] = 1
        for k, anchor in enumerate(anchors):
            if within[k] and max(overlap(anchor, t) for t in mine) >= 0.5:
                wanted[k] = 1
        got = labels[image, 0].reshape(2, side, side).transpose(1, 2, 0).ravel()
        assert got.tolist() == wanted.tolist()
        assert {0.0, 1.0, -1.0} == set(wanted)
        flat = [
            v[image].reshape(2, 4, side, side).transpose(2, 3, 0, 1).reshape(-1, 4) for v in (targets, inside, outside)
        ]
        for k, anchor in enumerate(anchors):
            nearest = mine[int(np.argmax([overlap(anchor, t) for t in mine]))]
            close(flat[0][k], encoded(anchor, nearest) if within[k] else np.zeros(4))
            assert flat[1][k].tolist() == [float(wanted[k] == 1)] * 4
            close(flat[2][k], np.full(4, (wanted[k] >= 0) / max(1, (wanted >= 0).sum())))


def test_ron_draws_background_over_the_whole_batch(device):
    truth = truth_of_two()
    text = "stride_scale_border_batchsize: [16, 1, 99, 6], base_size: 16, ratios: [1]"
    rig = rig_of("RONAnchorTarget", text, [np.zeros((2, 4, 4, 4)), truth, [[64, 64]] * 2], 4, device)
    labels = rig.forward()[0]
    assert (labels == 0).sum() == 3 * (labels == 1).sum() > 0  # a quarter are objects
    rig.set_bottom(1, truth[:0])
    assert rig.forward()[0].max() == -1  # nothing overlaps anything
    labels = rig_of("RONTarget", "stride_scale_border_batchsize_numcls: [16, 1, 99, 6, 4], base_size: 16, ratios: [1]",
                    [np.ones((2, 4, 4, 4)), truth[:0], [[64, 64]] * 2], 1, device).forward()[0]  # fmt: skip
    assert (labels == 0).sum() == 6
    with pytest.raises(LayerError, match="4 numbers"):
        rig_of("RONAnchorTarget", "base_size: 16", [np.zeros((2, 4, 4, 4)), truth, [[64, 64]]], 4, device)
    rig.set_bottom(1, np.full((1, 6), np.nan))
    with pytest.raises(LayerError, match="true box 0 holds NaN"):
        rig.forward()


def test_ron_target(device):
    truth, side = truth_of_two(), 4
    chances = RNG.uniform(0, 0.1, (2, 4, side, side)).astype(np.float32)
    text = f"stride_scale_border_batchsize_numcls: [16, 1, 4, 99, 4], {RON}"
    labels = rig_of("RONTarget", text, [chances, truth, [[64, 64]] * 2], 1, device).forward()[0]
    anchors = ron_anchors(side)
    for image in range(2):
        mine = truth[truth[:, 5] == image]
        of = np.array([[overlap(a, t) for t in mine] for a in anchors])
        within = np.array([a[0] >= -4 and a[1] >= -4 and a[2] < 68 and a[3] < 68 for a in anchors])
        wanted = np.where(of.max(1) < 0.3, 0.0, -1.0)
        for g, t in enumerate(mine):
            k = int(np.argmax(np.where(within, of[:, g], -1)))
            if of[k, g] > 0.3:
                wanted[k] = t[4]
        sure = of.max(1) >= 0.6
        wanted[sure] = mine[of.argmax(1)[sure], 4]
        wanted[chances[image, 2:].transpose(1, 2, 0).ravel() < np.float32(0.03)] = -1
        wanted[~within] = -1
        assert labels[image, 0].reshape(2, side, side).transpose(1, 2, 0).ravel().tolist() == wanted.tolist()
        assert wanted.max() > 0


# AnchorTarget's true boxes that nothing is to be learned of


def test_ignored_true_boxes(device):
    """As LSI-Faster R-CNN has it: objects win, then what is ignored, then background."""
    truth = np.array([[2, 3, 20, 18, 1], [30, 30, 52, 50, -1], [14, 14, 30, 33, -1]], float)
    settings = "scales: [1, 2], ratios: [1], allowed_border: 99, rpn_batchsize: 999"
    bottoms = [np.zeros((1, 4, 4, 4)), np.column_stack([truth, [0.5] * 3]), [[64, 64, 1]]]
    labels, targets, *_ = rig_of("AnchorTarget", settings, bottoms, 4, device).forward()
    anchors = ron_anchors(4)
    of = np.array([[overlap(a, t) for t in truth] for a in anchors])
    wanted = np.where(of.max(1) < 0.3, 0.0, -1.0)
    for g in (1, 2):
        wanted[of[:, g] == of[:, g].max()] = -1
        wanted[of[:, g] > 0.1] = -1
    wanted[of[:, 0] == of[:, 0].max()] = 1
    wanted[(of.argmax(1) == 0) & (of.max(1) >= 0.7)] = 1
    assert labels.reshape(2, 4, 4).transpose(1, 2, 0).ravel().tolist() == wanted.tolist()
    assert {0.0, 1.0, -1.0} == set(wanted)
    for k, by in enumerate(targets.reshape(2, 4, 4, 4).transpose(2, 3, 0, 1).reshape(-1, 4)):
        close(by, encoded(anchors[k], truth[0]), rtol=1e-4)
    rig = rig_of("AnchorTarget", settings, [bottoms[0], truth[1:], bottoms[2]], 4, device)
    assert rig.forward()[0].max() == 0  # without one that is learned there are no objects


# ProposalTarget with further targets

ALL = "num_classes: 4, batch_size: -1, fg_fraction: 0.5"


def regions_and_truth() -> tuple[np.ndarray, np.ndarray]:
    truth = np.column_stack([[[5, 5, 24, 19], [30, 8, 49, 39], [10, 40, 39, 59]], [1, 3, 2]])
    near = np.repeat(truth[:, :4], 8, 0) + RNG.uniform(-6, 6, (24, 4))
    return np.column_stack([np.zeros(24), near]), truth.astype(float)


def test_inclined_proposal_target(device):
    regions, truth = regions_and_truth()
    quads = RNG.uniform(0, 60, (3, 8))
    rig = rig_of("InclinedProposalTarget", ALL, [regions, truth, np.column_stack([quads, [1, 3, 2]])], 8, device)
    drawn, labels, upright, inclined, *weights = rig.forward()
    assert len(drawn) > 20
    assert 0 in labels
    for row, (region, label) in enumerate(zip(drawn[:, 1:, 0, 0], labels.ravel())):
        of = [overlap(region, t) for t in truth]
        nearest = int(np.argmax(of))
        assert label == (truth[nearest, 4] if of[nearest] >= 0.5 else 0)
        targets, slanted = np.zeros((4, 4)), np.zeros((4, 5))
        if label:
            targets[int(label)] = encoded(region, truth[nearest])
            w, h = region[2] - region[0] + 1, region[3] - region[1] + 1
            cx, cy, q = region[0] + w / 2, region[1] + h / 2, quads[nearest]
            height = np.hypot(q[2] - q[4], q[3] - q[5])
            slanted[1] = [(q[0] - cx) / w, (q[1] - cy) / h, (q[2] - cx) / w, (q[3] - cy) / h, np.log(height / h)]
        close(upright[row].ravel(), targets.ravel(), rtol=1e-4)
        close(inclined[row].ravel(), slanted.ravel(), rtol=1e-4)
        for at, columns, place in ((0, 4, label), (1, 5, 1), (2, 4, label), (3, 5, 1)):
            ones = np.zeros((4, columns))
            ones[int(place)] = label > 0
            assert weights[at][row].reshape(4, columns).tolist() == ones.tolist()
    normal = ALL + ", bbox_normalize_targets_precomputed: True, bbox_normalize_stds: [1, 1, 1, 1]"
    again = rig_of("InclinedProposalTarget", normal, [regions, truth, quads], 8, device).forward()[3]
    close(again.reshape(-1, 4, 5), inclined.reshape(-1, 4, 5) / [0.1, 0.1, 0.1, 0.1, 0.2], rtol=1e-4)
    with pytest.raises(LayerError, match="one for each true box"):
        rig_of("InclinedProposalTarget", ALL, [regions, truth, quads[:2]], 8, device)


def test_viewpoint_proposal_target(device):
    regions, truth = regions_and_truth()
    truth[1, 4] = -1  # nothing is learned of this one
    views = np.array([-0.5, 1.0, -10.0])
    settings = ALL + ", viewp_bins: 4, viewp_offset: 0.2"
    rig = rig_of("ViewpointProposalTarget", settings, [regions, np.column_stack([truth, views])], 7, device)
    drawn, labels, *_, angles, weights = rig.forward()
    seen = set()
    for row, (region, label) in enumerate(zip(drawn[:, 1:, 0, 0], labels.ravel())):
        of = [overlap(region, t) for t in truth]
        nearest = int(np.argmax(of))
        assert of[1] <= 0.1  # neither an object nor background
        assert label == (truth[nearest, 4] if of[nearest] >= 0.5 else 0)
        known = label == 1
        turn = (2 * np.pi - 0.5 + 0.2) / (np.pi / 2)
        assert angles[row].item() == (int(turn) if known else -10)
        wanted = np.zeros((4, 4))
        wanted[1 if known else 0] = 1
        assert weights[row].reshape(4, 4).tolist() == wanted.tolist()
        seen.add(float(label))
    assert seen == {0.0, 1.0, 2.0}


def test_crop_angles(device):
    scores, weights = RNG.standard_normal((3, 8)), np.zeros((3, 8, 1, 1))
    weights[0, :4] = weights[1, 4:] = weights[2, 2:6] = 1
    rig = rig_of("CropAngles", "viewp_bins: 4", [scores, weights], 1, device, dtype=np.float64)
    close(rig.forward()[0].reshape(3, 4), [scores[0, :4], scores[1, 4:], scores[2, 2:6]])
    check_gradient(rig)
    rig.set_bottom(1, np.zeros((3, 8, 1, 1)))
    with pytest.raises(LayerError, match="row 0 has 0 weights"):
        rig.forward()


def test_mask_proposal_target(device):
    regions, truth = regions_and_truth()
    instances = np.zeros((1, 1, 60, 60))
    for number, (x0, y0, x1, y1) in enumerate(truth[:2, :4].astype(int), 7):
        instances[0, 0, y0 : y1 + 1, x0 : x1 + 1] = number
        instances[0, 0, y0, x0 : x1 + 1 : 2] = 0
    settings = "num_classes: 4, batch_size: 32, out_size: 5"
    rig = rig_of("MaskProposalTarget", settings, [regions, truth, instances], 7, device)
    drawn, labels, *_, chosen, masks = rig.forward()
    assert drawn.shape == (32, 5, 1, 1)
    assert labels.ravel()[:8].min() > 0 == labels.ravel()[8:].max()
    assert chosen[:, :, 0, 0].tolist() == drawn[:8, :, 0, 0].tolist()
    for region, mask in zip(chosen[:, 1:, 0, 0], masks[:, 0]):
        number = 7 + int(np.argmax([overlap(region, t) for t in truth[:2]]))
        x0, y0 = max(0, int(np.floor(region[0]))), max(0, int(np.floor(region[1])))
        x1, y1 = min(60, int(np.ceil(region[2]))), min(60, int(np.ceil(region[3])))
        for i in range(5):
            for j in range(5):
                pixel = instances[0, 0, y0 + i * (y1 - y0) // 5, x0 + j * (x1 - x0) // 5]
                assert mask[i, j] == (pixel == number)
    rig.set_bottom(2, np.zeros((1, 1, 60, 60)))
    assert set(rig.forward()[6].ravel()) == {-1.0}  # no instance is known
    rig.set_bottom(0, np.array([[0.0, 50, 50, 59, 59]]))
    rig.set_bottom(1, truth[:0])
    assert rig.forward()[5].shape == (1, 5, 1, 1)


# SSH

SSH = "scales: [1, 2], ratios: [1], feat_stride: 16"


def test_ssh_anchor_target(device):
    """The hardest of each kind stay; without probabilities they are drawn."""
    side, anchors = 4, ron_anchors(4)
    truth = np.column_stack([[[2, 3, 15, 15], [20, 17, 47, 45], [40, 2, 62, 20]], [1, 1, 1]])
    chances = RNG.permutation(np.linspace(0.01, 0.99, 4 * side * side)).reshape(1, 4, side, side)
    settings = SSH + ", allowed_border: 9, rpn_batchsize: 12"
    bottoms = [np.zeros((1, 4, side, side)), truth, [[64, 64, 1]], np.zeros(1), chances]
    labels = rig_of("SSHAnchorTarget", settings, bottoms, 4, device).forward()[0]
    most = np.array([max(overlap(a, t) for t in truth) for a in anchors])
    chance = chances[0, 2:].transpose(1, 2, 0).ravel()
    objects = [k for k in range(len(anchors)) if most[k] >= 0.5]
    others = [k for k in range(len(anchors)) if most[k] < 0.3]
    wanted = np.full(len(anchors), -1.0)
    hard = sorted(objects, key=lambda k: chance[k])[:3]
    wanted[hard] = 1
    wanted[sorted(others, key=lambda k: -chance[k])[: 12 - len(hard)]] = 0
    assert labels.reshape(2, side, side).transpose(1, 2, 0).ravel().tolist() == wanted.tolist()
    drawn = rig_of("SSHAnchorTarget", settings, bottoms[:4], 4, device).forward()[0]
    assert (drawn == 0).sum() == (labels == 0).sum()
    assert (drawn == 1).sum() == (labels == 1).sum()
    tiny = rig_of("SSHAnchorTarget", SSH, [*bottoms[:2], [[8, 8, 1]]], 4, device).forward()[0]
    assert tiny.max() == 1  # no anchor is inside, so all count


def test_ssh_proposal(device):
    scores = RNG.permutation(np.linspace(0.01, 0.99, 64)).reshape(1, 4, 4, 4)
    offsets = RNG.standard_normal((1, 8, 4, 4)) * 0.1
    bottoms = [scores, offsets, [[64, 64, 1]]]
    boxes_, values = rig_of("SSHProposal", SSH + ", n_dets_per_module: 7", bottoms, 2, device).forward()
    by = offsets[0].reshape(2, 4, 4, 4).transpose(2, 3, 0, 1).reshape(-1, 4)
    chance = scores[0, 2:].transpose(1, 2, 0).ravel()
    order = np.argsort(-chance)[:7]
    close(values.ravel(), chance[order])
    for row, k in zip(boxes_, order):
        a = ron_anchors(4)[k]
        w, h = a[2] - a[0] + 1, a[3] - a[1] + 1
        cx, cy = a[0] + w / 2 + by[k][0] * w, a[1] + h / 2 + by[k][1] * h
        w, h = w * np.exp(by[k][2]), h * np.exp(by[k][3])
        close(row[1:], np.clip([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 0, 63), rtol=1e-3, atol=1e-4)
    trained = rig_of("SSHProposal", SSH, bottoms, 2, device, phase="TRAIN").forward()[0]
    assert 0 < len(trained) < 32
    assert all(overlap(a[1:], b[1:]) < 0.3 for i, a in enumerate(trained) for b in trained[:i])
    wild = rig_of("SSHProposal", SSH, [np.full_like(scores, np.nan), offsets, [[64, 64, 1]]], 2, device).forward()
    assert wild[0].shape == (0, 5)


# CTPN


def test_text_proposal(device):
    scores, offsets = RNG.uniform(0, 1, (1, 6, 2, 3)), RNG.standard_normal((1, 6, 2, 3)) * 0.3
    settings = "feat_stride: 16, heights: [11, 16, 40]"
    boxes_, values = rig_of("TextProposal", settings, [scores, offsets, [[30, 40]]], 2, device).forward()
    row = 0
    for y in range(2):
        for x in range(3):
            for a, height in enumerate((11, 16, 40)):
                top, bottom = int(7.5 - height // 2) + 16 * y, int(7.5 + height // 2) + 16 * y
                d0, d1 = offsets[0, 2 * a : 2 * a + 2, y, x]
                tall = (bottom - top + 1) * np.exp(d1)
                first = d0 * (bottom - top + 1) + (top + bottom) / 2 - tall / 2
                wanted = [16 * x, first, 16 * x + 15, first + tall]
                close(boxes_[row], np.clip(wanted, 0, [39, 29, 39, 29]), rtol=1e-4, atol=1e-5)
                close(values[row], [scores[0, 3 + a, y, x]])
                row += 1
    with pytest.raises(LayerError, match="heights"):
        rig_of("TextProposal", "heights: []", [scores, offsets, [[30, 40]]], 2, device)


# OHEM


def test_hard_regions(device):
    count = 30
    regions = np.column_stack([RNG.integers(0, 2, count), boxes(count, 40)]).astype(np.float32)
    labels = RNG.integers(0, 3, count).astype(float)
    chances = RNG.dirichlet(np.ones(3), count).astype(np.float32)
    predicted, wanted = RNG.standard_normal((2, count, 12)).astype(np.float32)
    inside = np.zeros((count, 12), np.float32)
    for i, label in enumerate(labels.astype(int)):
        if label:
            inside[i, 4 * label : 4 * label + 4] = 1
    settings = "batch_size: 6, ohem_nms_thresh: 0.3"
    bottoms = [chances, predicted, regions, labels, wanted, inside, 2 * inside]
    tops = rig_of("HardRegions", settings, bottoms, 5, device).forward()
    loss = []
    for i, label in enumerate(labels.astype(int)):
        value = -np.log(float(chances[i, label]))
        for k in range(12):
            if label and inside[i, k]:
                d = abs(float(predicted[i, k]) - float(wanted[i, k]))
                value += 2 * (d * d / 2 if d < 1 else d - 0.5)
        loss.append(value)
    stay: list[int] = []
    for i in sorted(range(count), key=lambda i: -loss[i]):
        same = [k for k in stay if labels[k] == labels[i] and regions[k, 0] == regions[i, 0]]
        if all(overlap(regions[i, 1:], regions[k, 1:]) < 0.3 for k in same):
            stay.append(i)
    assert len(stay) < count
    for top, bottom in zip(tops, bottoms[2:]):
        close(top, bottom[stay[:6]])
    few = rig_of("HardRegions", settings, bottoms[:4], 2, device).forward()
    assert few[0].shape == (6, 5)
    labels[3] = 5
    with pytest.raises(LayerError, match="region 3 has the label 5"):
        rig_of("HardRegions", settings, [*bottoms[:3], labels], 2, device).forward()
