"""The R-CNN family: proposals, targets, suppression, hard example mining, cascades, YOLOv3's detections."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from shared import golden, recorded

from boxpresso import LayerError, Net
from boxpresso.device import open_device
from boxpresso.layers.detection.rcnn import Rotated, Upright
from boxpresso.layers.detection.suppress import overlaps_of_rotated, suppress_boxes
from boxpresso.proto import parse_net

RNG = np.random.default_rng(11)
PROPOSAL = 'type: "Proposal" proposal_param { ratio: 1 scale: 1 min_size: 4 pre_nms_topn: 6 post_nms_topn: 3 }'


@pytest.mark.parametrize("path", golden("caffe/PythonRPN"), ids=lambda p: p.stem)
def test_as_py_faster_rcnn(path, device):
    """What py-faster-rcnn's Python layers computed under Caffe; they drew with numpy's old generator."""
    case = recorded(path)
    net = Net(parse_net(str(case["prototxt"])), phase=str(case["phase"]), device=device)
    net.layer_dict["L"].inner.rng = np.random.RandomState(int(case["seed"]))
    inputs = {name: case[f"in_{name}"] for name in net.inputs}
    tops = list(net.param.layer[-1].top)
    assert [key[4:] for key in case if key.startswith("top_")] == tops
    out = net.forward(blobs=tops, **inputs)
    for name in tops:
        close(out[name], case[f"top_{name}"], rtol=1e-5, atol=1e-6, what=name)


def test_the_nine_anchors_of_the_paper():
    wanted = [(-84, -40, 99, 55), (-176, -88, 191, 103), (-360, -184, 375, 199), (-56, -56, 71, 71), (-120, -120, 135, 135),
              (-248, -248, 263, 263), (-36, -80, 51, 95), (-80, -168, 95, 183), (-168, -344, 183, 359)]  # fmt: skip
    assert np.array_equal(Upright.anchors(16, (0.5, 1, 2), (8, 16, 32)), wanted)


@pytest.mark.parametrize("boxes", [Upright, Rotated])
def test_decode_undoes_encode(boxes):
    size = RNG.uniform(8, 90, (20, 2))
    start = RNG.uniform(0, 60, (20, 2))
    first = np.concatenate(
        [start, start + size] if boxes is Upright else [start, size, RNG.uniform(-29, 119, (20, 1))], 1
    )
    second = np.roll(first, 3, 0)
    back = boxes.decode(first, boxes.encode(first, second))
    if boxes is Upright:
        back[:, 2:] -= 1  # as in Fast R-CNN: encoded with the last pixel, decoded without
    close(back, second, rtol=1e-9)


def one_place(scores, offsets, info=(40, 40, 1)):
    """A feature map of one row, an anchor at each place."""
    count = len(scores)
    both = np.stack([1 - np.array(scores), scores])[None, :, None].astype(np.float32)
    return [both, np.array(offsets, np.float32).reshape(count, 4).T[None, :, None], np.array([info], np.float32)]


def test_proposal_by_hand(device):
    """Anchors are 16 pixels wide, at 0, 16, 32; the third is clipped to 8."""
    rig = Rig(PROPOSAL, one_place([0.2, 0.9, 0.5], np.zeros((3, 4))), device=device, tops=2)
    regions, scores = rig.forward()
    close(regions, [[0, 15.5 + 0.5 - 0, 0, 31 + 1, 16], [0, 32, 0, 39, 16], [0, 0, 0, 16, 16]])
    close(scores, [[0.9], [0.5], [0.2]])


def test_proposal_drops_the_small_and_what_overlaps_and_may_find_nothing(device):
    bottoms = one_place([0.9, 0.8, 0.7], [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, -2, 0]])
    rig = Rig(PROPOSAL, bottoms, device=device)
    assert len(rig.forward()[0]) == 1  # the first lies on the second, the third is 16 exp(-2) wide
    rig.set_bottom(2, np.array([[40, 40, 10]]))  # now boxes must have 40 pixels
    assert rig.forward()[0].shape == (0, 5)
    rig.set_bottom(2, np.array([[40, 40, 1]]))
    assert rig.forward()[0].shape == (1, 5)


def test_proposal_of_several_images_and_equal_scores(device):
    one = one_place([0.5, 0.5, 0.5], np.zeros((3, 4)))
    bottoms = [np.concatenate([a, a]) for a in one[:2]] + [np.array([[40, 40, 1], [40, 20, 1]], np.float32)]
    regions = Rig(PROPOSAL, bottoms, device=device).forward()[0]
    assert regions[:, 0].tolist() == [0, 0, 0, 1, 1]
    assert regions[:3, 1].tolist() == [0, 16, 32]  # the first place first


def test_proposal_survives_infinity_and_nan(device):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bottoms = one_place([0.5, np.nan, 0.6], [[0, 0, 900, 900], [0, 0, 0, 0], [np.nan, 0, 0, 0]])
        regions = Rig(PROPOSAL, bottoms, device=device).forward()[0]
    assert np.array_equal(regions, [[0, 0, 0, 39, 39]])


@pytest.mark.parametrize(
    ("param", "shapes", "message"),
    [
        ("proposal_param { ratio: 0 }", None, "ratios must be"),
        ("proposal_param { nms_num: 3 }", None, "another program's"),
        ("python_param { param_str: \"'feat_stride': 'x'\" }", None, "feat_stride must be above 0"),
        ("", [(1, 18, 2, 2), (1, 32, 2, 2), (1, 3)], r"bottom 1 must be \(1, 36, 2, 2\)"),
        ("", [(1, 18, 2, 2), (1, 36, 2, 2), (2, 3)], "im_info"),
    ],
)
def test_proposal_says_what_is_wrong(param, shapes, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "Proposal" {param}', [np.zeros(s) for s in shapes or [(1, 18, 2, 2), (1, 36, 2, 2), (1, 3)]])


def greedy(boxes, threshold, shared, strict):
    kept = []
    for i in range(len(boxes)):
        if all(shared[i, j] <= threshold if strict else shared[i, j] < threshold for j in kept):
            kept.append(i)
    return kept


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


def rotate(text=""):
    return (
        f'type: "RotateProposal" python_param {{ param_str: "scales: [2]\\nratios: [0.5]\\nangles: [0, 90]\\n{text}" }}'
    )


def test_rotate_proposal_by_hand(device):
    """Anchors at (7, 7): 23 by 12 at scale 2 is height 24, width 46."""
    assert Rotated.anchors(16, [0.5], [2], [0, 90]).tolist() == [[7, 7, 24, 46, 0], [7, 7, 24, 46, 90]]
    scores = np.array([0, 0, 0.6, 0.7], np.float32).reshape(1, 4, 1, 1)
    offsets = np.zeros((1, 10, 1, 1), np.float32)
    offsets[0, 4] = np.pi  # a half turn: the same box
    rig = Rig(rotate(), [scores, offsets, np.array([[100, 100, 1]])], device=device, tops=2)
    regions, found = rig.forward()
    close(regions, [[0, 7, 7, 24, 46, 90], [0, 7, 7, 24, 46, 0]], atol=1e-5)
    close(found, [[0.7], [0.6]])
    assert (
        len(Rig(rotate("rpn_nms_thresh: 0.2"), [scores, offsets, np.array([[9, 9, 1]])], device=device).forward()[0])
        == 1
    )


def targets(truth, kind="AnchorTarget", settings="", device="cpu", seed=0, size=(4, 5), info=(64, 80, 1)):
    columns, extra = (4, "") if kind == "AnchorTarget" else (5, "\\nangles: [0]")
    text = f'type: "{kind}" python_param {{ param_str: "scales: [1]\\nratios: [1]{extra}{settings}" }}'
    bottoms = [
        np.zeros((1, 2, *size)),
        np.array(truth, np.float64).reshape(-1, columns + 1),
        np.array([info]),
        np.zeros((1, 3, 64, 80)),
    ]
    return Rig(text, bottoms, device=device, tops=4, phase="TRAIN", seed=seed)


def test_anchor_target_by_hand(device):
    """Anchors are the squares of a board of 16 pixels; the true box is one of them, moved by 2."""
    labels, offsets, inside, outside = targets([[18, 16, 33, 31, 5]], device=device).forward()
    assert labels.shape == (1, 1, 4, 5)
    assert labels[0, 0, 1].tolist() == [0, 1, 0, 0, 0]
    assert (labels == 0).sum() == 19
    close(offsets[0, :, 1, 1], [2 / 16, 0, 0, 0])
    assert inside[0, :, 1, 1].tolist() == [1] * 4
    assert inside.sum() == 4
    close(outside, np.full((1, 4, 4, 5), 1 / 20))


def test_anchor_target_draws_at_random_with_the_seed(device):
    settings = "\\nrpn_batchsize: 8\\nrpn_positive_overlap: 0.05\\nrpn_negative_overlap: 0.01"
    first = targets([[0, 0, 47, 47, 1]], settings=settings, device=device)
    labels = first.forward()[0]
    assert ((labels == 1).sum(), (labels == 0).sum()) == (4, 4)
    same = targets([[0, 0, 47, 47, 1]], settings=settings, device=device).forward()[0]
    other = targets([[0, 0, 47, 47, 1]], settings=settings, device=device, seed=5).forward()[0]
    assert np.array_equal(labels, same)
    assert not np.array_equal(labels, other)


def test_anchor_target_border_weights_and_no_true_boxes(device):
    labels = targets(np.zeros((0, 5)), device=device).forward()[0]
    assert (labels == 0).all()
    assert (targets([[0, 0, 15, 15, 1]], info=(63, 80, 1)).forward()[0][0, 0, 3] == -1).all()
    settings = "\\nallowed_border: 1\\nrpn_positive_weight: 0.25"
    labels, _, _, outside = targets([[0, 0, 15, 15, 1]], info=(63, 80, 1), settings=settings).forward()
    assert (labels[0, 0, 3] == 0).all()
    close(outside[0, 0], np.where(labels[0, 0] == 1, 0.25, 0.75 / 19))


def test_rotate_anchor_target_by_hand(device):
    labels, offsets, *_ = targets(
        [[25, 23, 16, 16, 10, 3]], "RotateAnchorTarget", device=device, info=(65, 81, 1)
    ).forward()
    assert offsets.shape == (1, 5, 4, 5)
    assert np.argwhere(labels[0, 0] == 1).tolist() == [[1, 1]]
    close(offsets[0, :, 1, 1], [2 / 16, 0, 0, 0, np.pi / 18])
    for turn, found in (
        (10, 1),
        (20, 0),
    ):  # the best anchor of a small box, unless it is turned by more than 15 degrees
        small = targets([[25, 23, 16, 9, turn, 3]], "RotateAnchorTarget", device=device, info=(65, 81, 1))
        assert (small.forward()[0] == 1).sum() == found


def regions_for_targets(
    device="cpu", settings="num_classes: 4", truth=((0, 0, 9, 9, 2), (50, 50, 69, 69, 3)), **options
):
    boxes = [[0, 0, 0, 9, 9], [0, 1, 0, 10, 9], [0, 0, 0, 3, 9], [0, 0, 0, 0, 9], [0, 48, 50, 67, 69]]
    text = f'type: "ProposalTarget" python_param {{ param_str: "{settings}" }}'
    return Rig(text, [np.array(boxes), np.array(truth).reshape(-1, 5)], device=device, tops=5, phase="TRAIN", **options)


def test_proposal_target_by_hand(device):
    regions, labels, offsets, inside, outside = regions_for_targets(device).forward()
    assert labels.tolist()[-2:] == [0, 0]  # overlaps of 0.4 and, at the lower end, 0.1
    assert sorted(labels.tolist()) == [0, 0, 2, 2, 2, 3, 3]  # three regions, two of the true boxes themselves
    at = np.flatnonzero((regions == [0, 48, 50, 67, 69]).all(1))[0]
    assert labels[at] == 3
    close(offsets[at].reshape(4, 4), [[0] * 4, [0] * 4, [0] * 4, [2 / 20, 0, 0, 0]])
    assert inside[at].tolist() == outside[at].tolist() == [0] * 12 + [1] * 4
    assert not inside[labels == 0].any()


def test_proposal_target_settings(device):
    few = regions_for_targets(device, "num_classes: 4\\nbatch_size: 4\\nfg_fraction: 0.5").forward()
    assert (few[1] > 0).tolist() == [True, True, False, False]
    every = regions_for_targets(device, "num_classes: 4\\nbatch_size: -1\\nbg_thresh_lo: 0").forward()
    assert len(every[0]) == 7
    agnostic = regions_for_targets(device, "num_classes: 2").forward()
    assert agnostic[2].shape == (7, 8)
    assert set(agnostic[1]) == {0, 2, 3}
    assert (agnostic[3][agnostic[1] > 0] == [0, 0, 0, 0, 1, 1, 1, 1]).all()
    scaled = regions_for_targets(device, "num_classes: 4\\nbbox_normalize_targets_precomputed: true").forward()
    at = np.flatnonzero((scaled[0] == [0, 48, 50, 67, 69]).all(1))[0]
    close(scaled[2][at, 12:], [1, 0, 0, 0])
    assert not regions_for_targets(device, "num_classes: 4\\nbg_thresh_lo: 0", truth=()).forward()[1].any()


def test_proposal_target_says_what_is_wrong():
    with pytest.raises(LayerError, match="num_classes"):
        regions_for_targets(settings="")
    with pytest.raises(LayerError, match="label 3, num_classes is 3"):
        regions_for_targets(settings="num_classes: 3").forward()
    with pytest.warns(UserWarning, match=r"fg_tresh.*fg_thresh"):
        regions_for_targets(settings="num_classes: 4\\nfg_tresh: 1")


def test_rotate_proposal_target(device):
    boxes = np.array([[0, 20, 20, 10, 30, 5], [0, 20, 20, 10, 30, 40], [0, 90, 90, 10, 30, 0]])
    text = 'type: "RotateProposalTarget" python_param { param_str: "num_classes: 2\\nbg_thresh_lo: 0" }'
    rig = Rig(text, [boxes, np.array([[20, 20, 10, 30, 0, 1]])], device=device, tops=5, phase="TRAIN")
    regions, labels, offsets, *_ = rig.forward()
    assert sorted(zip(regions[:, 5].tolist(), labels.tolist())) == [(0, 0), (0, 1), (5, 1), (40, 0)]
    at = np.flatnonzero(regions[:, 5] == 5)[0]
    close(offsets[at], [0] * 9 + [-np.pi / 36])


def test_box_annotator_ohem(device):
    regions = np.zeros((5, 5))
    regions[3:, 0] = 1
    losses, labels = np.array([1, 3, 3, 0.5, 2]), np.arange(1, 6)
    text = 'type: "BoxAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 1 ignore_label: -1 }'
    rig = Rig(text, [regions, losses, labels, np.ones((5, 8))], device=device, tops=2)
    kept, weights = rig.forward()
    assert kept.shape == (5, 1, 1, 1)
    assert kept.ravel().tolist() == [-1, 2, -1, -1, 5]
    assert weights.shape == (5, 8, 1, 1)
    assert weights.sum((1, 2, 3)).tolist() == [0, 8, 0, 0, 8]
    with pytest.raises(LayerError, match="roi_per_img"):
        Rig('type: "BoxAnnotatorOHEM"', [regions, losses, labels, np.ones((5, 8))], tops=2)
    with pytest.raises(LayerError, match="bottom 1"):
        Rig(text, [regions, np.ones(4), labels, np.ones((5, 8))], tops=2)


@pytest.mark.parametrize(
    ("param", "divisor"),
    [("", 12), ("normalization: BATCH_SIZE", 3), ("normalization: NONE", 1), ("normalize: false", 3),
     ("normalization: PRE_FIXED pre_fixed_normalizer: 128", 128)],
)  # fmt: skip
def test_smooth_l1_loss_ohem(param, divisor, device):
    a, b = RNG.normal(0, 1.5, (2, 3, 5, 2, 2))
    weights = RNG.integers(0, 3, a.shape).astype(float)
    d = np.abs((a - b) * weights)
    each = np.where(d < 1, d * d / 2, d - 0.5)
    text = f'type: "SmoothL1LossOHEM" loss_param {{ {param} }}'
    rig = Rig(text, [a, b, weights], device=device, tops=2)
    total, regions = rig.forward()
    close(total, each.sum() / divisor)
    close(regions, each.sum(1, keepdims=True))
    one = Rig(text, [a, b, weights], device=device, dtype=np.float64)
    check_gradient(one, bottoms=(0, 1))
    two = Rig(text, [a[:0], b[:0]], device=device)
    assert two.forward()[0] == 0


@pytest.mark.parametrize("param", ["", "ignore_label: 1", "normalization: FULL ignore_label: 1", "normalization: NONE"])
def test_softmax_loss_ohem(param, device):
    scores = RNG.normal(0, 2, (4, 3, 2, 2))
    labels = RNG.integers(0, 3, (4, 1, 2, 2)).astype(float)
    plain = Rig(f'type: "SoftmaxWithLoss" loss_param {{ {param} }}', [scores, labels], device=device, tops=2)
    rig = Rig(f'type: "SoftmaxWithLossOHEM" loss_param {{ {param} }}', [scores, labels], device=device, tops=3)
    wanted, (total, probability, each) = plain.forward(), rig.forward()
    close(total, wanted[0])
    close(probability, wanted[1])
    logs = -np.log(np.take_along_axis(wanted[1], labels.astype(int), 1))
    close(each, np.where((labels == 1) & ("ignore" in param), 0, logs))
    up = [np.float32(1.7), np.zeros_like(scores), np.zeros_like(labels)]
    close(rig.backward(up, [True, False])[0], plain.backward(up[:2], [True, False])[0])
    check_gradient(
        Rig(f'type: "SoftmaxWithLossOHEM" loss_param {{ {param} }}', [scores, labels], device=device, dtype=np.float64)
    )
    rig.set_bottom(1, labels + 2)
    with pytest.raises(LayerError, match="none of the 3 channels"):
        rig.forward()


def test_decode_bbox(device):
    regions = np.array([[0, 10, 10, 19, 29], [1, 0, 0, 9, 9], [0, 0, 0, 9, 9]])
    offsets = np.zeros((3, 8))
    offsets[:, :4] = np.nan  # the background's are not read
    offsets[0, 4:] = [1, -1, 0, np.log(2) / 0.2]
    zeros, stds = "bbox_mean: 0 " * 4, "bbox_std: 0.1 bbox_std: 0.1 bbox_std: 0.2 bbox_std: 0.2"
    text = f'type: "DecodeBBox" bbox_reg_param {{ {zeros} {stds} }}'
    moved = Rig(text, [offsets, regions], device=device).forward()[0]
    close(moved, [[0, 11, -2, 20, 37], [1, 0, 0, 9, 9], [0, 0, 0, 9, 9]])
    overlaps = np.array([[0, 0.95], [0, 0.94], [0, 0.1]])
    offsets[2, 6] = -50  # a width of 0: its end is 1 before its start
    train = Rig(text, [offsets, regions, overlaps], device=device, phase="TRAIN").forward()[0]
    close(train, [[1, 0, 0, 9, 9]])
    with pytest.raises(LayerError, match="TRAIN alone"):
        Rig(text, [offsets, regions, overlaps])


def test_decode_bbox_of_the_best_class(device):
    offsets = np.zeros((2, 12))
    offsets[0, 4], offsets[1, 8] = 0.5, 0.5
    scores = np.array([[0.8, 0.15, 0.05], [0.1, 0.2, 0.7]])
    regions = np.array([[0, 0, 0, 9, 9], [0, 0, 0, 9, 9]])
    moved = Rig('type: "DecodeBBox"', [offsets, scores, regions], device=device).forward()[0]
    close(moved, [[0, 5, 0, 14, 9], [0, 5, 0, 14, 9]])


GROUPS = """type: "BoxGroupOutput" box_group_output_param { fg_thr: 0.3 iou_thr: 0.5 min_size: 2 %s
    box_group_param { field_w: 8 field_h: 8 stride: 8 } box_group_param { field_w: 16 field_h: 16 stride: 16 } }"""


def test_box_group_output(device):
    background = np.full((2, 2, 2, 2), 0.9)
    background[0, 0, 0, 0], background[0, 0, 0, 1], background[1, 0, 1, 1] = 0.2, 0.4, 0.5
    offsets = np.zeros((2, 4, 2, 2))
    offsets[0, :, 0, 0] = [9, 0, 0, -9]  # bounded: half a field, half its size
    coarse = np.full((2, 1, 1, 1), 0.95)
    coarse[0] = 0.65
    bottoms = [background, offsets, coarse, np.zeros((2, 4, 1, 1))]
    regions, scored = Rig(GROUPS % "", bottoms, device=device, tops=2).forward()
    close(regions[:, :, 0, 0], [[0, 4, 2, 11, 5], [0, 8, 0, 15, 7], [0, 0, 0, 15, 15], [1, 8, 8, 15, 15]])
    close(scored[:, 5, 0, 0], [0.8, 0.6, 0.35, 0.5])
    assert len(Rig(GROUPS % "max_nms_num: 1", bottoms, device=device).forward()[0]) == 2
    bottoms[0] = np.ones_like(background)
    bottoms[2] = np.ones_like(coarse)
    assert Rig(GROUPS % "", bottoms, device=device).forward()[0].shape == (0, 5, 1, 1)
    with pytest.raises(LayerError, match="2 box_group_param"):
        Rig(GROUPS.replace("box_group_param { field_w: 8 field_h: 8 stride: 8 }", "") % "", bottoms)


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
LAUNCHES = [(YOLO_LOSS % "", [RNG.standard_normal((2, 14, 4, 4)), np.full((2, 1, 1, 5), 0.4)], [True, False])]


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


TRAIN = """
layer { name: "data" type: "Input" top: "data" top: "im_info" top: "gt_boxes" input_param {
  shape { dim: 1 dim: 3 dim: 48 dim: 64 } shape { dim: 1 dim: 3 } shape { dim: 2 dim: 5 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 4 stride: 4 weight_filler { type: "gaussian" std: 0.05 } } }
layer { name: "rpn_cls_score" type: "Convolution" bottom: "conv" top: "rpn_cls_score"
  convolution_param { num_output: 6 kernel_size: 1 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "rpn_bbox_pred" type: "Convolution" bottom: "conv" top: "rpn_bbox_pred"
  convolution_param { num_output: 12 kernel_size: 1 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "reshape" type: "Reshape" bottom: "rpn_cls_score" top: "two" reshape_param { shape { dim: 0 dim: 2 dim: -1 dim: 0 } } }
layer { name: "rpn-data" type: "Python" bottom: "rpn_cls_score" bottom: "gt_boxes" bottom: "im_info" bottom: "data"
  top: "rpn_labels" top: "rpn_bbox_targets" top: "rpn_in" top: "rpn_out"
  python_param { module: "rpn.anchor_target_layer" layer: "AnchorTargetLayer" param_str: "'feat_stride': 4\\n'scales': !!python/tuple [1]" } }
layer { name: "rpn_loss_cls" type: "SoftmaxWithLoss" bottom: "two" bottom: "rpn_labels" top: "rpn_cls_loss"
  propagate_down: true propagate_down: false loss_param { ignore_label: -1 normalize: true } }
layer { name: "rpn_loss_bbox" type: "SmoothL1Loss" bottom: "rpn_bbox_pred" bottom: "rpn_bbox_targets" bottom: "rpn_in"
  bottom: "rpn_out" top: "rpn_loss_bbox" smooth_l1_loss_param { sigma: 3 } }
layer { name: "prob" type: "Softmax" bottom: "two" top: "prob" }
layer { name: "back" type: "Reshape" bottom: "prob" top: "scores" reshape_param { shape { dim: 0 dim: 6 dim: -1 dim: 0 } } }
layer { name: "proposal" type: "Python" bottom: "scores" bottom: "rpn_bbox_pred" bottom: "im_info" top: "rpn_rois"
  python_param { module: "rpn.proposal_layer" layer: "ProposalLayer" param_str: "{'feat_stride': 4, 'scales': [1], 'rpn_min_size': 2}" } }
layer { name: "roi-data" type: "Python" bottom: "rpn_rois" bottom: "gt_boxes" top: "rois" top: "labels" top: "bbox_targets"
  top: "in" top: "out" python_param { module: "rpn.proposal_target_layer" layer: "ProposalTargetLayer" param_str: "'num_classes': 3" } }
layer { name: "pool" type: "ROIPooling" bottom: "conv" bottom: "rois" top: "pool"
  roi_pooling_param { pooled_w: 2 pooled_h: 2 spatial_scale: 0.25 } }
layer { name: "cls_score" type: "InnerProduct" bottom: "pool" top: "cls_score"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "bbox_pred" type: "InnerProduct" bottom: "pool" top: "bbox_pred"
  inner_product_param { num_output: 12 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "loss_cls" type: "SoftmaxWithLoss" bottom: "cls_score" bottom: "labels" top: "loss_cls"
  propagate_down: true propagate_down: false }
layer { name: "loss_bbox" type: "SmoothL1Loss" bottom: "bbox_pred" bottom: "bbox_targets" bottom: "in" bottom: "out" top: "loss_bbox" }
"""


def test_faster_rcnn_learns(device):
    """A small net of py-faster-rcnn's end-to-end form, with its Python layers by name: its four losses fall."""
    net = Net(parse_net(TRAIN), phase="TRAIN", device=device, seed=1)
    image = np.full((1, 3, 48, 64), -1.0)
    image[:, :, 8:24, 16:32] = 1
    image[:, 1:, 30:44, 40:60] = 2
    inputs = {"data": image, "im_info": [[48, 64, 1]], "gt_boxes": [[16, 8, 31, 23, 1], [40, 30, 59, 43, 2]]}
    losses = []
    for _ in range(40):
        out = net.forward(**inputs)
        losses.append(sum(map(float, out.values())))
        net.clear_param_diffs()
        net.backward()
        for blobs in net.params.values():
            for blob in blobs:
                assert np.isfinite(np.asarray(blob.diff)).all()
                blob.data[...] = np.asarray(blob.data) - 0.05 * np.asarray(blob.diff)
    assert set(out) == {"loss_cls", "loss_bbox", "rpn_cls_loss", "rpn_loss_bbox"}
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:5])
