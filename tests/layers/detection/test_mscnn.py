"""Layers of MS-CNN and Cascade R-CNN against loops over places and boxes, written from their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

RNG = np.random.default_rng(5)
MEAN, STD = (0.1, -0.1, 0.05, 0), (0.1, 0.2, 0.3, 0.2)
NORM = (
    "bbox_reg_param { "
    + " ".join(f"bbox_mean: {m}" for m in MEAN)
    + " "
    + " ".join(f"bbox_std: {s}" for s in STD)
    + " }"
)


def overlap(a, b, last=0) -> float:
    """Of boxes x, y, width, height."""
    wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(wide, 0) * max(high, 0)
    return shared / (a[2] * a[3] + b[2] * b[3] - shared)


def labels(rows: int, height: int, width: int, classes: int) -> np.ndarray:
    """Labels of a map: every third place is an object."""
    truth = np.zeros((rows, 6, height, width))
    kind = RNG.integers(0, 3, (rows, height, width))
    truth[:, 0] = np.where(kind == 0, RNG.integers(1, classes, kind.shape), 0)
    truth[:, 1:3] = RNG.uniform(0, 8 * width, (rows, 2, height, width))
    truth[:, 3:5] = RNG.uniform(1, 20, (rows, 2, height, width))
    truth[:, 5] = np.where(kind == 1, 0.4, 0.1) + 0.5 * (kind == 0)
    return truth


def expected_loss(scores, offsets, truth, fields, stride, *, quadratic, factor, threshold, weighted=False, multiple=4):
    """The two numbers of a field loss that takes all background below the threshold, place by place."""
    cross, box, weights = [], [], []
    bound = np.array([0.5, 0.5, np.log(2), np.log(2)])
    m, s = np.array(MEAN), np.array(STD)
    mean, std = np.repeat([m[:2].mean(), m[2:].mean()], 2), np.repeat(np.sqrt([s[0] * s[1], s[2] * s[3]]), 2)
    low, high = (-bound - mean) / std, (bound - mean) / std
    for n, y, x in np.ndindex(len(scores), *scores.shape[2:]):
        label, shared, field = int(truth[n, 0, y, x]), truth[n, 5, y, x], fields[n % len(fields)]
        if label == 0 and shared >= threshold:
            continue
        raised = np.exp(scores[n, :, y, x])
        cross.append(-np.log(raised[label] / raised.sum()))
        weights.append(label != 0)
        if label:
            place = (np.array([x, y]) + 0.5) * stride
            wanted = np.concatenate(
                [(truth[n, 1:3, y, x] - place) / field, np.log(np.maximum(truth[n, 3:5, y, x], 2) / field)]
            )
            off = np.abs(np.clip(offsets[n, :, y, x], low, high) - (wanted - m) / s)
            box += list(off**2 / 2 if quadratic else np.where(off < 1, off**2 / 2, off - 0.5))
    cross, front = np.array(cross), np.array(weights)
    if weighted:
        share = 1 / (1 + multiple)
        cross = cross * np.where(front, share * len(front) / front.sum(), (1 - share) * len(front) / (~front).sum())
    boxes = factor * np.mean(box)
    return np.array([cross.mean() + boxes, boxes])


def slopes(rig: Rig, bottom: int, at: tuple, step: float = 1e-6) -> float:
    """The central difference of the first number of the top."""
    start = np.array(rig.bottom[bottom].data)
    values = []
    for sign in (1, -1):
        moved = start.copy()
        moved[at] += sign * step
        rig.set_bottom(bottom, moved)
        values.append(float(rig.forward()[0].ravel()[0]))
    rig.set_bottom(bottom, start)
    return (values[0] - values[1]) / (2 * step)


def check_slopes(rig: Rig, bottoms: tuple[int, ...]) -> None:
    """Backward against differences of the loss alone, at 25 places of each bottom; the second number has no gradient."""
    rig.forward()
    diffs = rig.backward([np.full((1, 1, 1, 2), 1.5)], [i in bottoms for i in range(len(rig.bottom))])
    for i in bottoms:
        assert np.abs(diffs[i]).max() > 0
        for flat in RNG.integers(0, diffs[i].size, 25):
            at = np.unravel_index(flat, diffs[i].shape)
            assert abs(1.5 * slopes(rig, i, at) - diffs[i][at]) < 2e-5 * np.abs(diffs[i]).max(), (i, at)


@pytest.mark.parametrize("smooth", ["true", "false"])
@pytest.mark.parametrize("weighted", ["true", "false"])
def test_detection_loss(smooth, weighted, device):
    maps, truth = RNG.standard_normal((2, 7, 3, 4)) * 0.4, labels(2, 3, 4, 3)
    text = f"""type: "DetectionLoss" {NORM} detection_loss_param {{ cls_num: 3 lambda: 0.5 field_w: 10 field_h: 14
        downsample_rate: 8 bb_smooth: {smooth} bg_threshold: 0.3 bg_multiple: 4 sample_mode: "all"
        pos_neg_weighted: {weighted} }}"""
    rig = Rig(text, [maps, truth], dtype=np.float64, device=device)
    wanted = expected_loss(
        maps[:, :3], maps[:, 3:], truth, [(10, 14)], 8, quadratic=smooth == "false", factor=0.5, threshold=0.3,
        weighted=weighted == "true",
    )  # fmt: skip
    close(rig.forward()[0], wanted.reshape(1, 1, 1, 2))
    check_slopes(rig, (0,))


def test_detection_loss_draws_background():
    """Of 400 background places, at most 4 (cls_num - 1) without an object, and bg_multiple for each object."""
    maps, truth = np.zeros((1, 6, 20, 20)), np.zeros((1, 6, 20, 20))
    text = 'type: "DetectionLoss" detection_loss_param { cls_num: 2 field_w: 8 field_h: 8 downsample_rate: 8 %s }'
    for mode, objects, least, most in (("random", 0, 1, 4), ("bootstrap", 0, 4, 4), ("random", 5, 15, 20 + 5)):
        truth[0, 0, 0, :objects] = 1
        truth[0, 1:5, 0, :objects] = 8
        rig = Rig(text % f'sample_mode: "{mode}"', [maps, truth], dtype=np.float64)
        rig.forward()
        sampled = (rig.backward([np.ones((1, 1, 1, 2))], [True, False])[0][0, 0] != 0).sum()
        assert least <= sampled <= most, (mode, objects, sampled)


@pytest.mark.parametrize("kind", ["Smooth_L1", "Euclidean_L2"])
def test_detection_group_loss(kind, device):
    scores, offsets, truth = (
        RNG.standard_normal((4, 3, 3, 4)),
        RNG.standard_normal((4, 4, 3, 4)) * 0.3,
        labels(4, 3, 4, 3),
    )
    text = f"""type: "DetectionGroupLoss" {NORM} detection_group_loss_param {{ cls_num: 3 lambda: 2 field_w: 10 field_w: 20
        field_h: 14 field_h: 9 stride: 8 field_whr: 2 field_xyr: 2 bg_threshold: 0.3 bg_multiple: 50
        bbox_loss_type: "{kind}" }}"""
    rig = Rig(text, [scores, offsets, truth], dtype=np.float64, device=device)
    wanted = expected_loss(
        scores, offsets, truth, [(10, 14), (20, 9)], 8, quadratic=kind == "Euclidean_L2", factor=2, threshold=0.3
    )
    close(rig.forward()[0], wanted.reshape(1, 1, 1, 2))
    check_slopes(rig, (0, 1))


def test_detection_group_loss_draws(device):
    """batch_size 12 with bg_multiple 3: three objects and nine places of background of each image."""
    truth = np.zeros((2, 6, 8, 8))
    truth[:, 0, 0], truth[:, 1:5] = 1, 8
    text = """type: "DetectionGroupLoss" detection_group_loss_param { cls_num: 2 field_w: 8 field_h: 8 stride: 8
        batch_size: 12 bg_multiple: 3 neg_mining_type: "%s" }"""
    for mode in ("random", "bootstrap", "mixture"):
        scores = RNG.standard_normal((2, 2, 8, 8))
        rig = Rig(text % mode, [scores, np.zeros((2, 4, 8, 8)), truth], dtype=np.float64, device=device)
        rig.forward()
        sampled = rig.backward([np.ones((1, 1, 1, 2))], [True, True, False])[0][:, 0] != 0
        assert sampled[:, 0].sum((1,)).tolist() == [3, 3]
        assert sampled[:, 1:].sum((1, 2)).tolist() == [9, 9]
        if mode == "bootstrap":  # the greatest cross entropy of background: the least score of class 0
            hard = (scores[:, 1] - scores[:, 0])[:, 1:].reshape(2, -1)
            for image in range(2):
                assert set(np.flatnonzero(sampled[image, 1:])) == set(np.argsort(-hard[image])[:9])


def test_detection_accuracy(device):
    maps, truth = RNG.standard_normal((2, 7, 3, 4)) * 0.3, labels(2, 3, 4, 3)
    text = f"""{NORM} %s_param {{ cls_num: 3 field_w: 10 field_h: 14 %s: 8 field_whr: 2 field_xyr: 2 bg_threshold: 0.3 }}"""
    right, front, shared = [], [], []
    for n, y, x in np.ndindex(2, 3, 4):
        label = int(truth[n, 0, y, x])
        if label == 0 and truth[n, 5, y, x] >= 0.3:
            continue
        hit = maps[n, :3, y, x].argmax() == label
        right.append(hit)
        if label:
            front.append(hit)
            by = maps[n, 3:, y, x] * STD + MEAN
            centre = np.clip(by[:2], -0.5, 0.5) * [10, 14] + (np.array([x, y]) + 0.5) * 8
            size = np.array([10, 14]) * np.exp(np.clip(by[2:], -np.log(2), np.log(2)))
            real = truth[n, 1:5, y, x]
            shared.append(overlap([*(centre - size / 2), *size], [*(real[:2] - real[2:] / 2), *real[2:]]))
    one = Rig('type: "DetectionAccuracy"' + text % ("detection_accuracy", "downsample_rate"), [maps, truth], tops=2,
              device=device)  # fmt: skip
    bottoms = [maps[:, :3], maps[:, 3:], truth]
    two = Rig(
        'type: "DetectionGroupAccuracy"' + text % ("detection_group_accuracy", "stride"), bottoms, tops=2, device=device
    )
    for rig in (one, two):
        accuracy, boxes = rig.forward()
        close(accuracy.ravel(), [np.mean(right), np.mean(front)])
        close(boxes.ravel(), [np.mean(shared)])


def test_box_output(device):
    maps = [RNG.standard_normal((2, 6, 4, 5)), RNG.standard_normal((2, 6, 2, 3))]
    fields, strides = [(20, 24), (40, 30)], [8, 16]
    text = f"""type: "BoxOutput" {NORM} box_output_param {{ fg_thr: -0.5 iou_thr: 0.4 field_w: 20 field_w: 40 field_h: 24
        field_h: 30 downsample_rate: 8 downsample_rate: 16 field_whr: 2 field_xyr: 2 max_nms_num: 15 max_post_nms_num: 6
        min_size: 9 }}"""
    wanted = []
    for image in range(2):
        candidates = []
        for values, field, stride in zip(maps, fields, strides):
            for y, x in np.ndindex(*values.shape[2:]):
                score = values[image, 1, y, x] - values[image, 0, y, x]
                by = values[image, 2:, y, x] * STD + MEAN
                centre = np.clip(by[:2], -0.5, 0.5) * field + (np.array([x, y]) + 0.5) * stride
                size = field * np.exp(np.clip(by[2:], -np.log(2), np.log(2)))
                first = np.maximum(centre - size / 2, 0)
                size = np.minimum(size, np.array([values.shape[3], values.shape[2]]) * stride - first)
                if score >= -0.5 and (size >= 9).all():
                    candidates.append([*first, *size, score])
        candidates = sorted(candidates, key=lambda row: -row[4])[:15]
        survivors = []
        for row in candidates:
            if all(overlap(row, other) < 0.4 for other in survivors):
                survivors.append(row)
        wanted += [[image, r[0], r[1], r[0] + r[2], r[1] + r[3], r[4]] for r in survivors[:6]]
    regions, scored = Rig(text, maps, tops=2, device=device).forward()
    close(scored[:, :, 0, 0], np.array(wanted), atol=1e-5)
    assert np.array_equal(regions, scored[:, :5])
    with pytest.raises(LayerError, match="one number above 0 for each of 1 bottoms"):
        Rig(text, maps[:1])


def test_bbox_accuracy(device):
    regions = np.array([[0, 0, 0, 9, 19], [0, 5, 5, 24, 24], [0, 0, 0, 9, 9], [0, 0, 0, 9, 9]])
    truth = np.array([[2, 0, 0, 9, 9, 0.5], [1, 5, 5, 14, 24, 0.5], [0] * 6, [1, 0, 0, 9, 9, 1]])
    offsets = RNG.standard_normal((4, 12)) * 0.2
    shared = []
    for n, label in ((0, 2), (1, 1)):
        size = regions[n, 3:] - regions[n, 1:3] + 1
        by = offsets[n, 4 * label : 4 * label + 4] * STD + MEAN
        grown = size * np.exp(by[2:])
        first = by[:2] * size + regions[n, 1:3] + size / 2 - grown / 2
        shared.append(overlap([*first, *grown], [*truth[n, 1:3], *(truth[n, 3:5] - truth[n, 1:3] + 1)]))
    after, before = Rig(f'type: "BboxAccuracy" {NORM}', [offsets, regions, truth], tops=2, device=device).forward()
    close(after.ravel(), [np.mean(shared)])
    close(before.ravel(), [0.5])


def test_scale_route(device):
    regions = np.array([[0, 0, 0, 9, 9], [1, 0, 0, 99, 24], [0, 0, 0, 199, 199], [0, 0, 0, 49, 49]])
    further = RNG.standard_normal((4, 3, 2))
    for text, rows in (
        ("low_scale: 50 high_scale: 200", [1, 3]), ("high_scale: 50", [0]), ("low_scale: 200", [2]),
        ("low_scale: 400", [2]), ("low_scale: 11 high_scale: 20", [0]), ("", [0, 1, 2, 3]),
    ):  # fmt: skip
        rig = Rig(f'type: "ScaleRoute" scale_route_param {{ {text} }}', [regions, further], tops=2, dtype=np.float64,
                  device=device)  # fmt: skip
        taken, with_them = rig.forward()
        close(taken, regions[rows])
        close(with_them, further[rows])
    rig = Rig('type: "ScaleRoute" scale_route_param { low_scale: 40 }', [regions, further], tops=2, dtype=np.float64)
    check_gradient(rig, bottoms=(1,))
    assert Rig('type: "ScaleRoute"', [regions[:0]]).forward()[0].shape == (0, 5)


def test_hard_mining(device):
    losses = np.array([3.0, 1, 2, 5, 4, 0])
    regions = np.array([[i // 4, 0, 0, 9, 9] for i in range(6)])
    rows = np.arange(6)[:, None]
    text = 'type: "HardMining" hard_mining_param { num_image: 2 num_roi_per_image: 2 }'
    tops = Rig(text, [losses, regions, rows], tops=2, device=device).forward()
    assert tops[1].ravel().tolist() == [0, 3, 4, 5]
    short = [losses[[0, 1, 2, 3, 4]], regions[:5], rows[:5]]
    assert Rig(text, short, tops=2).forward()[1].ravel().tolist() == [0, 2, 3, 4]  # filled up with the next best


def test_frcnn_output(device):
    regions = np.array([[0, 10, 10, 29, 29], [0, 12, 10, 31, 29], [0, 60, 60, 99, 79]])
    scores = np.array([[0.1, 0.9, 0], [0.2, 0.7, 0.1], [0.5, 0.1, 0.4]])
    offsets = np.zeros((3, 12))
    offsets[2, 8:] = [0.5, 0, 0, 0]
    text = 'type: "FrcnnOutput" frcnn_output_param { conf_thr: 0.3 iou_thr: 0.5 max_det_num: %d }'
    bottoms = [scores, offsets, regions, [[80, 100]]]
    detections = Rig(text % 0, bottoms, device=device).forward()[0][:, :, 0, 0]
    close(detections, [[0, *[-1] * 6], [0, 10, 10, 29, 29, 1, 0.9], [0, 80, 60, 100, 79, 2, 0.4]])
    assert len(Rig(text % 1, bottoms).forward()[0]) == 2


GROUP = """type: "ProposalTarget" %s proposal_target_param { cls_num: 4 batch_size: %d fg_fraction: 0.5 fg_thr: 0.5
    bg_thr_hg: 0.5 bg_thr_lw: 0.1 num_img_per_batch: 2 img_width: 200 img_height: 200 pickup_discard: %s }"""


def test_proposal_target_of_several_images(device):
    truth = np.array([[0, 10, 10, 29, 29, 2, 0, 0], [1, 50, 50, 89, 89, 3, 0, 0], [1, 0, 0, 9, 9, 1, 1, 0], [-1] * 8])
    regions = np.array(
        [[0, 10, 10, 29, 24], [0, 25, 25, 44, 44], [1, 50, 50, 89, 89], [1, 0, 0, 9, 9], [0, 150, 150, 160, 160]]
    )
    tops = Rig(GROUP % (NORM, -1, "false"), [regions, truth], tops=7, dtype=np.float64, device=device).forward()
    rois, labels_, targets, inside, outside, pairs, weights = (top.reshape(len(top), -1) for top in tops)
    front = labels_.ravel() > 0
    assert sorted(labels_.ravel()[front].tolist()) == [
        2,
        2,
        3,
        3,
    ]  # two regions and two true boxes; the ignored one is none
    assert not ((rois[:, 1] == 0) & (rois[:, 0] == 1)).any()
    for row in np.flatnonzero(front):
        box, real, label = rois[row, 1:], pairs[row, 1:5], int(labels_[row, 0])
        size, real_size = box[2:] - box[:2] + 1, real[2:] - real[:2] + 1
        wanted = np.concatenate([(real[:2] + real_size / 2 - box[:2] - size / 2) / size, np.log(real_size / size)])
        close(targets[row, 4 * label : 4 * label + 4], (wanted - MEAN) / STD, atol=1e-6)
        assert inside[row].reshape(4, 4).sum(1).tolist() == [4 * (c == label) for c in range(4)]
        close(pairs[row, 5], overlap([*box[:2], *size], [*real[:2], *real_size]))
    assert np.array_equal(inside, outside)
    close(weights[front].sum(), 0.5 * len(labels_))
    sampled = Rig(GROUP % ("bbox_reg_param { cls_aware: false }", 4, "true"), [regions, truth], tops=6).forward()
    assert len(sampled[0]) == 4
    assert sampled[2].shape == (4, 8, 1, 1)
    alone = Rig(GROUP % ("", 4, "false"), [regions[4:], np.full((1, 8), -1.0)], tops=6).forward()
    assert alone[0].shape == (1, 5, 1, 1)
    assert alone[1].item() == 0


def test_detection_evaluate_in_pixels(device):
    detections = np.array([[0, -1, -1, -1, -1, -1, -1], [0, 10, 10, 19, 19, 1, 0.9], [0, 10, 10, 19, 19, 1, 0.8]])
    truth = np.array([[0, 10, 10, 19, 19, 1, 0, 0]])
    text = 'type: "DetectionEvaluate" detection_evaluate_param { num_classes: 2 overlap_threshold: 0.5 }'
    rows = Rig(text, [detections, truth, [[100, 100]]], device=device).forward()[0]
    close(rows[:, :, 0, 0], [[-1, 1, 1, -1, -1], [0, 1, 0.9, 1, 0], [0, 1, 0.8, 0, 1]])


def test_empty_maps_and_batches():
    text = 'type: "DetectionLoss" detection_loss_param { cls_num: 2 field_w: 8 field_h: 8 downsample_rate: 8 }'
    group = 'type: "DetectionGroupLoss" detection_group_loss_param { cls_num: 2 field_w: 8 field_h: 8 stride: 8 }'
    for shape in ((0, 3, 3), (2, 0, 3)):
        rows, *size = shape
        one = Rig(text, [np.zeros((rows, 6, *size)), np.zeros((rows, 6, *size))])
        assert not one.forward()[0].any()
        many = Rig(group, [np.zeros((rows, k, *size)) for k in (2, 4, 6)])
        assert not many.forward()[0].any()
    output = 'type: "BoxOutput" box_output_param { field_w: 8 field_h: 8 downsample_rate: 8 }'
    assert Rig(output, [np.zeros((0, 6, 3, 3))]).forward()[0].shape == (0, 5, 1, 1)
    top = Rig('type: "FrcnnOutput"', [np.zeros((0, 3)), np.zeros((0, 12)), np.zeros((0, 5)), [[9, 9]]]).forward()[0]
    assert top.shape == (1, 7, 1, 1)
    empty = [np.zeros((0, 8)), np.zeros((0, 5)), np.zeros((0, 6))]
    assert Rig('type: "BboxAccuracy"', empty).forward()[0].item() == -1
