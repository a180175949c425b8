"""MultiBoxLoss: matching and mining on cases small enough to follow, losses by hand, gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
import stand_in
from harness import Rig, check_gradient

from boxpresso.data.boxes import iou, match
from boxpresso.proto.errors import LayerError

DOWN = [True, True, False, False]
# Four squares in a row and one that is the half of square 1.
PRIORS = np.array(
    [[0, 0, 0.25, 0.25], [0.25, 0, 0.5, 0.25], [0.5, 0, 0.75, 0.25], [0.75, 0, 1, 0.25], [0.25, 0, 0.5, 0.125]]
)
BASE = "num_classes: 3 code_type: CENTER_SIZE "


def truth(*rows) -> np.ndarray:
    """Rows (item, label, xmin, ymin, xmax, ymax[, difficult])."""
    made = np.zeros((1, 1, len(rows), 8))
    for i, (item, label, *box) in enumerate(rows):
        made[0, 0, i] = [item, label, i, *box[:4], box[4] if len(box) > 4 else 0]
    return made


def rig(
    text: str, gt: np.ndarray, loc=None, conf=None, priors=PRIORS, batch: int = 1, extra: str = "", **options
) -> Rig:
    variance = np.tile([0.1, 0.1, 0.2, 0.2], (len(priors), 1))
    loc = np.zeros((batch, priors.size)) if loc is None else loc
    conf = np.zeros((batch, 3 * len(priors))) if conf is None else conf
    bottoms = [loc.reshape(batch, -1), conf.reshape(batch, -1), np.stack([priors, variance]).reshape(1, 2, -1), gt]
    return Rig(f'type: "MultiBoxLoss" {extra} multibox_loss_param {{ {text} }}', bottoms, **options)


def taken(r: Rig) -> np.ndarray:
    """The labels of the priors that take part, -1 for the others: (N, P)."""
    r.forward()
    return np.array(r.layer.label)


def two_steps(text: str, gt: np.ndarray, loc, conf, objectness, first, **options) -> Rig:
    """MultiBoxLoss of RefineDet's second step: objectness and locations of the first one behind the four bottoms."""
    batch = len(loc)
    variance = np.tile([0.1, 0.1, 0.2, 0.2], (len(PRIORS), 1))
    bottoms = [loc.reshape(batch, -1), conf.reshape(batch, -1), np.stack([PRIORS, variance]).reshape(1, 2, -1), gt]
    bottoms += [each.reshape(batch, -1) for each in (objectness, first) if each is not None]
    return Rig(f'type: "MultiBoxLoss" multibox_loss_param {{ {text} }}', bottoms, **options)


def centred(boxes: np.ndarray) -> np.ndarray:
    """Centres and sizes of corners."""
    return np.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], -1)


def test_a_second_step_matches_and_encodes_by_the_boxes_of_the_first(device):
    """Against the definition in numpy: Zhang et al. 2018, section 3.2; each image has priors of its own."""
    rng = np.random.default_rng(3)
    loc, first = rng.standard_normal((2, 2, 5, 4))
    conf = rng.standard_normal((2, 5, 3))
    objectness = np.full((2, 5, 2), 0.5)
    objectness[0, [0, 4], 1] = 0.001  # easy negatives, which are not mined
    boxes = centred(PRIORS) + 0 * first
    moved = np.concatenate(
        [boxes[..., :2] + 0.1 * first[..., :2] * boxes[..., 2:], boxes[..., 2:] * np.exp(0.2 * first[..., 2:])], -1
    )
    moved = np.concatenate([moved[..., :2] - moved[..., 2:] / 2, moved[..., :2] + moved[..., 2:] / 2], -1)
    gt = np.array([moved[0, 2] + [0.01, 0, 0.02, 0.01], moved[1, 3] + [0, 0.01, 0, 0.02]])
    r = two_steps(
        BASE + "neg_pos_ratio: 9 overlap_threshold: 0.9", truth([0, 1, *gt[0]], [1, 2, *gt[1]]), loc, conf, objectness,
        first, device=device, dtype=np.float64,
    )  # fmt: skip
    took = taken(r)
    overlaps = [iou(moved[i], gt[i]) for i in range(2)]
    wanted = np.array([np.where((objectness[i, :, 1] >= 0.01) & (overlaps[i] < 0.5), 0, -1) for i in range(2)])
    wanted[0, 2], wanted[1, 3] = 1, 2
    np.testing.assert_array_equal(took, wanted)
    total = 0.0
    for i, prior in ((0, 2), (1, 3)):
        box, own = centred(gt[i]), centred(moved[i, prior])
        target = np.concatenate([(box[:2] - own[:2]) / own[2:] / 0.1, np.log(box[2:] / own[2:]) / 0.2])
        error = np.abs(loc[i, prior] - target)
        total += np.where(error < 1, error**2 / 2, error - 0.5).sum()
    for image, prior in zip(*np.nonzero(wanted >= 0)):
        row = conf[image, prior]
        total += np.log(np.exp(row).sum()) - row[wanted[image, prior]]
    np.testing.assert_allclose(r.forward()[0], total / 2, rtol=1e-9)
    check_gradient(r, bottoms=(0, 1), samples=20)
    with pytest.raises(LayerError, match="only locations and scores have gradients"):
        r.backward([np.array(1.0)], [True, True, False, False, False, True])


def test_first_steps_that_change_nothing(device):
    """Locations of 0 and objectness of 1 leave the loss of four bottoms; objectness alone is allowed, too."""
    rng = np.random.default_rng(4)
    loc, conf, gt = rng.standard_normal((1, 5, 4)), rng.standard_normal((1, 5, 3)), truth([0, 1, *PRIORS[2]])
    plain = two_steps(BASE, gt, loc, conf, None, None, device=device).forward()[0]
    ones = np.ones((1, 5, 2))
    np.testing.assert_allclose(two_steps(BASE, gt, loc, conf, ones, None, device=device).forward()[0], plain, rtol=1e-6)
    both = two_steps(BASE, gt, loc, conf, ones, 0 * loc, device=device)
    np.testing.assert_allclose(both.forward()[0], plain, rtol=1e-5)
    none = two_steps(BASE + "objectness_score: 2", gt, loc, conf, ones, None, device=device)
    assert (taken(none) == 0).sum() == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mining_type: NONE share_location: false", "share_location and use_prior_for_matching"),
        ("use_prior_for_matching: false", "share_location and use_prior_for_matching"),
        ("mining_type: HARD_EXAMPLE", "takes no HARD_EXAMPLE"),
        ("nms_param { nms_threshold: 0.5 }", "takes no nms_param"),
    ],
)
def test_what_a_second_step_refuses(text, message):
    wide = 3 if "share_location: false" in text else 1
    with pytest.raises(LayerError, match=message):
        two_steps(BASE + text, truth([0, 1, *PRIORS[2]]), np.zeros((1, 5, 4 * wide)), np.zeros((1, 5, 3)), np.ones((1, 5, 2)),
                  np.zeros((1, 5, 4)))  # fmt: skip


def test_first_steps_of_other_sizes():
    sizes = np.zeros((1, 5, 4)), np.zeros((1, 5, 3))
    with pytest.raises(LayerError, match=r"the objectness must be \(N, 5 \* 2\)"):
        two_steps(BASE, truth(), *sizes, np.ones((1, 4, 2)), np.zeros((1, 5, 4)))
    with pytest.raises(LayerError, match=r"the first-step locations must be \(N, 5 \* 4\)"):
        two_steps(BASE, truth(), *sizes, np.ones((1, 5, 2)), np.zeros((1, 4, 4)))


def softplus(x):
    return np.log1p(np.exp(x))


def test_loss_by_hand(device):
    """Prior 2 is the true box of label 1; three negatives of equal loss are mined from the rest."""
    conf = np.zeros((5, 3))
    conf[2] = [0, 2, 0]
    loc = np.zeros((5, 4))
    loc[2] = [0.5, 0, -3, 0]
    r = rig(BASE, truth([0, 1, *PRIORS[2]]), loc, conf, device=device, dtype=np.float64)
    location, scores = 0.5 * 0.25 + 2.5, np.log(2 + np.exp(2)) - 2 + 3 * np.log(3)
    np.testing.assert_allclose(r.forward()[0], location + scores, rtol=1e-12)
    loc_diff, conf_diff, *_ = r.backward([np.array(2.0)], DOWN)
    wanted = np.zeros((5, 4))
    wanted[2] = [1, 0, -2, 0]
    np.testing.assert_allclose(loc_diff.reshape(5, 4), wanted, atol=1e-12)
    part = np.exp(2) / (2 + np.exp(2))
    np.testing.assert_allclose(conf_diff.reshape(5, 3)[2], [1 - part, 2 * (part - 1), 1 - part], rtol=1e-9)
    np.testing.assert_allclose(conf_diff.reshape(5, 3)[[0, 1, 3]], np.tile([-4 / 3, 2 / 3, 2 / 3], (3, 1)), rtol=1e-9)
    assert not conf_diff.reshape(5, 3)[4].any()


WEIGHTS = "loss_param { weight_by_label_freqs: true class_weighting: 0.5 class_weighting: 3 class_weighting: 1 }"


def test_labels_have_weights(device):
    """As by hand above, with the match of label 1 three times and negatives half as much; gradients too."""
    conf = np.zeros((5, 3))
    conf[2] = [0, 2, 0]
    r = rig(BASE, truth([0, 1, *PRIORS[2]]), None, conf, extra=WEIGHTS, device=device, dtype=np.float64)
    scores = 3 * (np.log(2 + np.exp(2)) - 2) + 0.5 * 3 * np.log(3)
    np.testing.assert_allclose(r.forward()[0], scores, rtol=1e-12)
    conf = np.random.default_rng(1).standard_normal((5, 3))
    every = rig(
        BASE + "mining_type: NONE",
        truth([0, 1, *PRIORS[2]]),
        None,
        conf,
        extra=WEIGHTS,
        device=device,
        dtype=np.float64,
    )
    check_gradient(every, bottoms=(1,), samples=15)
    wrong = {
        "class_weighting for each of 3 classes, got 2": WEIGHTS.replace("class_weighting: 1 ", ""),
        "label_smoothing of a fork": "loss_param { label_smoothing: 0.1 }",
    }
    for message, extra in wrong.items():
        with pytest.raises(LayerError, match=message):
            rig(BASE, truth([0, 1, *PRIORS[2]]), extra=extra)
    with pytest.raises(LayerError, match="weight_by_label_freqs of a fork"):
        rig(BASE + "conf_loss_type: LOGISTIC", truth([0, 1, *PRIORS[2]]), extra=WEIGHTS)


def test_true_boxes_take_the_best_pair_first_and_ties_the_first_prior():
    boxes = np.array([[0, 0, 2, 1], [0, 0, 2, 1], [0, 0, 1, 1.0]])
    gt = np.array([[0, 0, 1, 1.0], [0, 0, 1.5, 1]])
    matches, most = match(boxes, gt, None)
    assert matches.tolist() == [1, -1, 0]  # (2, 0) overlaps wholly; then 0 and 1 tie for the other
    np.testing.assert_allclose(most, [0.75, 0.75, 1])
    assert match(boxes, gt, 0.75)[0].tolist() == [1, 1, 0]
    assert match(boxes, gt, 0.76)[0].tolist() == [1, -1, 0]
    assert match(boxes, gt[:1], 0.5)[0].tolist() == [0, 0, 0]
    assert match(boxes[:1], gt, 0.1)[0].tolist() == [1]  # more true boxes than priors
    assert match(boxes + 5, gt, 0.0)[0].tolist() == [-1, -1, -1]
    assert match(boxes, gt[:0], 0.5)[0].tolist() == [-1, -1, -1]


def plain_match(shared: np.ndarray, threshold: float) -> list[int]:
    """Bipartite and then per-prediction matching as nested loops."""
    matches, open_truth = [-1] * len(shared), list(range(shared.shape[1]))
    while True:
        pairs = [(shared[i, j], -i, -j) for i in range(len(shared)) for j in open_truth if matches[i] < 0]
        pairs = [p for p in pairs if p[0] > 1e-6]
        if not pairs:
            break
        _, i, j = max(pairs)
        matches[-i] = -j
        open_truth.remove(-j)
    for i, row in enumerate(shared):
        if matches[i] < 0 and row.max() >= threshold and row.max() > 1e-6:
            matches[i] = int(row.argmax())
    return matches


def test_matching_against_plain_loops():
    rng = np.random.default_rng(1)
    for _ in range(40):
        low = rng.integers(0, 6, (30, 2)) / 8  # a grid, so that overlaps tie
        boxes = np.concatenate([low, low + rng.integers(1, 4, (30, 2)) / 8], axis=1)
        split = rng.integers(1, 12)
        matches = match(boxes[split:], boxes[:split], 0.3)[0]
        assert matches.tolist() == plain_match(iou(boxes[split:, None], boxes[:split]), 0.3)


def test_per_prediction_and_bipartite():
    gt = truth([0, 2, *PRIORS[1]])  # prior 4 overlaps it by a half
    assert taken(rig(BASE + "mining_type: NONE", gt)).tolist() == [[0, 2, 0, 0, 2]]
    assert taken(rig(BASE + "mining_type: NONE match_type: BIPARTITE", gt)).tolist() == [[0, 2, 0, 0, 0]]
    assert taken(rig(BASE + "mining_type: NONE overlap_threshold: 0.51", gt)).tolist() == [[0, 2, 0, 0, 0]]


def test_negatives_are_the_hardest_that_overlap_little():
    gt = truth([0, 2, *PRIORS[1]])
    conf = np.zeros((5, 3))
    conf[:, 0] = [1, 0, 3, 2, -5]  # the higher, the easier as background
    text = BASE + "match_type: BIPARTITE neg_pos_ratio: "
    assert taken(rig(text + "2.9", gt, conf=conf)).tolist() == [
        [0, 2, -1, 0, -1]
    ]  # 4 overlaps by a half: not below 0.5
    assert taken(rig(text + "2 neg_overlap: 0.6", gt, conf=conf)).tolist() == [[0, 2, -1, -1, 0]]
    assert taken(rig(text + "9", gt, conf=conf)).tolist() == [[0, 2, 0, 0, -1]]
    assert taken(rig(text + "2", gt)).tolist() == [[0, 2, 0, -1, -1]]  # equals: the first priors


def test_images_without_truth_and_rows_passed_over():
    gt = truth([0, 1, *PRIORS[0]], [-1, 0, 0, 0, 1, 1], [2, 2, *PRIORS[3], 1], [7, 1, *PRIORS[3]])
    nothing, all_background = [-1] * 5, [0] * 5
    got = taken(rig(BASE, gt, batch=3))
    assert got.tolist() == [[1, 0, 0, 0, -1], nothing, [0, 0, 0, 2, -1]]
    got = taken(rig(BASE + "use_difficult_gt: false", gt, batch=3))
    assert got.tolist() == [[1, 0, 0, 0, -1], nothing, nothing]
    r = rig(BASE + "mining_type: NONE use_difficult_gt: false", gt, batch=3)
    assert taken(r).tolist() == [[1, 0, 0, 0, 0], all_background, all_background]
    np.testing.assert_allclose(r.forward()[0], 15 * np.log(3), rtol=1e-5)
    assert rig(BASE, gt[:, :, 1:2]).forward()[0] == 0  # no matches: no loss, and no division by 0
    assert rig(BASE, gt[:, :, :0]).forward()[0] == 0


def test_each_forward_matches_afresh(device):
    r = rig(BASE, truth([0, 1, *PRIORS[0]]), device=device)
    first = taken(r)
    assert np.array_equal(taken(r), first)
    r.set_bottom(3, truth([0, 2, *PRIORS[3]], [0, 2, *PRIORS[2]]))
    assert taken(r).tolist() == [[0, 0, 2, 2, 0]]


def test_hard_examples_take_matches_away():
    gt = truth([0, 1, *PRIORS[0]], [0, 2, *PRIORS[3]])
    conf = np.zeros((5, 3))
    conf[3] = [0, 0, 9]  # an easy match
    conf[2] = [-9, 0, 0]  # a hard negative
    text = BASE + "mining_type: HARD_EXAMPLE sample_size: "
    r = rig(text + "2", gt, conf=conf)
    assert taken(r).tolist() == [[1, -1, 0, -1, -1]]
    assert r.layer.match_count == 1
    loc = np.zeros((5, 4))
    loc[3] = 50  # its location is far off: it counts too
    assert taken(rig(text + "2", gt, loc, conf)).tolist() == [[-1, -1, 0, 2, -1]]
    assert taken(rig(text + "99", gt, conf=np.stack([conf, conf]), batch=2)).tolist() == [[1, 0, 0, 2, 0], [-1] * 5]


def test_mining_with_suppression():
    gt = truth([0, 1, *PRIORS[0]])
    conf = np.zeros((5, 3))
    conf[:, 0] = [0, -3, -1, 0, -2]  # 1 is hardest, then 4, which lies in it, then 2
    text = BASE + "neg_pos_ratio: 2 nms_param { nms_threshold: 0.4 %s } use_prior_for_nms: %s"
    assert taken(rig(text % ("top_k: 9", "true"), gt, conf=conf)).tolist() == [[1, 0, 0, -1, -1]]
    loc = np.zeros((5, 4))
    loc[4, 0] = 100  # the predicted box 4 is ten widths away
    assert taken(rig(text % ("top_k: 9", "false"), gt, loc, conf)).tolist() == [[1, 0, -1, -1, 0]]
    assert taken(rig(text % ("top_k: 2", "true"), gt, conf=conf)).tolist() == [[1, 0, -1, -1, -1]]
    assert taken(rig(text % ("", "true"), gt, conf=conf)).tolist() == [[1, -1, -1, -1, -1]]


def test_matching_by_predictions():
    loc = np.zeros((5, 4))
    loc[0, 0] = 20  # prior 0 says: two widths to the right, where prior 2 is
    r = rig(
        BASE + "use_prior_for_matching: false match_type: BIPARTITE mining_type: NONE", truth([0, 1, *PRIORS[2]]), loc
    )
    assert taken(r).tolist() == [[1, 0, 0, 0, 0]]


def test_locations_of_each_class():
    gt = truth([0, 2, *PRIORS[1]])
    loc = np.zeros((5, 3, 4))
    loc[1] = [[5, 5, 5, 5], [7, 7, 7, 7], [0.5, 0, 0, 0]]
    r = rig(BASE + "share_location: false mining_type: NONE match_type: BIPARTITE", gt, loc)
    np.testing.assert_allclose(r.forward()[0], 0.125 + 5 * np.log(3), rtol=1e-6)
    diff = r.backward([np.array(1.0)], DOWN)[0].reshape(5, 3, 4)
    assert diff[1, 2].tolist() == [0.5, 0, 0, 0]
    assert np.count_nonzero(diff) == 1


def test_boxes_past_the_image():
    priors = PRIORS - [0.1, 0, 0.1, 0]  # of 0 the left edge is outside
    gt = truth([0, 1, 0, 0, 0.15, 0.25])
    text = BASE + "mining_type: NONE overlap_threshold: 0.1 "
    assert taken(rig(text, gt, priors=priors)).tolist() == [[1, 0, 0, 0, 0]]
    r = rig(text + "ignore_cross_boundary_bbox: true", gt, priors=priors)
    assert taken(r).tolist() == [[0, 0, 0, 0, 0]]
    r = rig(BASE + "bp_inside: true", gt, np.ones((5, 4)), priors=priors)
    r.forward()
    diff = r.backward([np.array(1.0)], DOWN)[0].reshape(5, 4)
    assert diff[0, 0] == 0
    assert diff[0, 1:].all()


def test_object_or_background():
    conf = np.zeros((5, 2))
    r = rig("num_classes: 2 code_type: CENTER_SIZE map_object_to_agnostic: true", truth([0, 17, *PRIORS[3]]), conf=conf)
    assert taken(r).tolist() == [[0, 0, 0, 1, -1]]


def test_logistic_by_hand(device):
    gt = truth([0, 2, *PRIORS[0]], [1, 1, *PRIORS[3]])
    rng = np.random.default_rng(0)
    conf = rng.standard_normal((2, 5, 3)) * 3
    r = rig(BASE + "conf_loss_type: LOGISTIC", gt, conf=conf, batch=2, device=device, dtype=np.float64)
    label = taken(r)
    target = (label[..., None] == np.arange(3)).astype(float)
    each = softplus(conf) - conf * target
    np.testing.assert_allclose(r.forward()[0], each[label >= 0].sum() / 2, rtol=1e-12)
    r = rig(
        BASE + "conf_loss_type: LOGISTIC mining_type: NONE", gt, conf=conf, batch=2, device=device, dtype=np.float64
    )
    target = np.zeros((2, 5, 3))
    target[0, 0, 2] = target[1, 3, 1] = 1  # without mining background is no class
    np.testing.assert_allclose(r.forward()[0], (softplus(conf) - conf * target).sum() / 2, rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "divisor"),
    [
        ("", 1),
        ("loss_param { normalization: FULL }", 15),
        ("loss_param { normalization: VALID }", 1),
        ("loss_param { normalization: BATCH_SIZE }", 3),
        ("loss_param { normalization: NONE }", 1),
        ("loss_param { normalize: false }", 3),
        ("loss_param { normalize: true }", 1),
        ("loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 4 }", 4),
    ],
)
def test_normalization(loss, divisor):
    r = rig(BASE, truth([0, 1, *PRIORS[0]]), batch=3, extra=loss)
    np.testing.assert_allclose(r.forward()[0], 4 * np.log(3) / divisor, rtol=1e-6)


def test_weight_of_locations_and_sides_that_do_not_learn():
    loc, gt = np.full((5, 4), 2.0), truth([0, 1, *PRIORS[0]])
    scores, location = 4 * np.log(3), 4 * 1.5
    np.testing.assert_allclose(rig(BASE + "loc_weight: 3", gt, loc).forward()[0], scores + 3 * location, rtol=1e-6)
    for flags, wanted in (("true false", location), ("false true", scores), ("true true", scores + location)):
        extra = "".join(f"propagate_down: {f} " for f in flags.split()) + "propagate_down: false propagate_down: false"
        np.testing.assert_allclose(rig(BASE, gt, loc, extra=extra).forward()[0], wanted, rtol=1e-6)


def test_do_neg_mining_is_an_older_name():
    gt = truth([0, 1, *PRIORS[0]])
    assert taken(rig(BASE + "do_neg_mining: true", gt)).tolist() == [[1, 0, 0, 0, -1]]
    assert taken(rig(BASE + "do_neg_mining: false", gt)).tolist() == [[1, 0, 0, 0, 0]]
    with pytest.raises(LayerError, match="contradict"):
        rig(BASE + "do_neg_mining: true mining_type: NONE", gt)


GRADIENTS = [
    "",
    "code_type: CORNER loc_loss_type: L2",
    "code_type: CORNER_SIZE conf_loss_type: LOGISTIC loc_weight: 2",
    "mining_type: NONE bp_inside: true",
    "mining_type: NONE share_location: false conf_loss_type: LOGISTIC",
    "mining_type: HARD_EXAMPLE sample_size: 20",
]


@pytest.mark.later(but=2)
@pytest.mark.parametrize("text", GRADIENTS)
def test_gradient(text, device):
    rng = np.random.default_rng(4)
    low = rng.uniform(-0.1, 0.7, (30, 2))
    priors = np.concatenate([low, low + rng.uniform(0.1, 0.4, (30, 2))], axis=1)
    low = rng.uniform(0, 0.6, (6, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.2, 0.4, (6, 2))], axis=1)
    gt = truth(*[[i % 2, 1 + i % 2, *box] for i, box in enumerate(boxes)])
    sides = 3 if "share_location" in text else 1
    loc, conf = rng.standard_normal((2, 30 * 4 * sides)), rng.standard_normal((2, 90))
    r = rig(f"num_classes: 3 overlap_threshold: 0.4 {text}", gt, loc, conf, priors, 2, device=device, dtype=np.float64)
    check_gradient(r, bottoms=(0, 1), samples=40 if stand_in.active() else 200)


def test_only_what_is_asked_for_and_no_images():
    r = rig(BASE, truth([0, 1, *PRIORS[0]]))
    r.forward()
    loc, conf, *_ = r.backward([np.array(1.0)], [False, True, False, False])
    assert np.isnan(loc).all()
    assert np.isfinite(conf).all()
    with pytest.raises(LayerError, match="only locations and scores have gradients"):
        r.backward([np.array(1.0)], [True, True, True, False])
    assert [r.layer.allow_force_backward(i) for i in range(4)] == DOWN
    r.set_bottom(0, np.zeros((0, 20)))
    r.set_bottom(1, np.zeros((0, 15)))
    assert r.forward()[0] == 0
    r.backward([np.array(1.0)], DOWN)


@pytest.mark.parametrize(
    ("text", "gt", "message"),
    [
        ("", truth([0, 1, 0, 0, 1, 1]), "num_classes"),
        (BASE, truth([0, 0, 0, 0, 1, 1]), "not the background"),
        (BASE, truth([0, 3, 0, 0, 1, 1]), "below num_classes 3"),
        (BASE, truth([0, 1, 0, 0, np.nan, 1]), "NaN"),
        ("num_classes: 4", truth([0, 1, 0, 0, 1, 1]), r"scores must be \(N, 5 \* 4\)"),
        (BASE + "share_location: false", truth([0, 1, 0, 0, 1, 1]), "mining needs share_location"),
        (
            BASE + "share_location: false mining_type: NONE",
            truth([0, 1, 0, 0, 1, 1]),
            r"locations must be \(N, 5 \* 12\)",
        ),
        (BASE + "neg_pos_ratio: 0", truth([0, 1, 0, 0, 1, 1]), "neg_pos_ratio"),
        (BASE + "map_object_to_agnostic: true", truth([0, 1, 0, 0, 1, 1]), "num_classes: 2"),
        (BASE + "background_label_id: 3", truth([0, 1, 0, 0, 1, 1]), "background_label_id 3"),
        (BASE, np.zeros((1, 1, 2, 7)), r"\(1, 1, G, 8\)"),
    ],
)
def test_errors(text, gt, message):
    with pytest.raises(LayerError, match=message):
        rig(text, gt).forward()
