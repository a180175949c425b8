"""Targets beside hard objects and unmarked areas, as py-faster-rcnn for KITTI: loops over boxes in Python."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError, Net
from boxpresso.proto import parse_net

RNG = np.random.default_rng(5)
ANCHORS = (
    'type: "DontcareAnchorTarget" python_param { param_str: "{scales: [1, 2], ratios: [1], rpn_batchsize: %d%s}" }'
)
REGIONS = (
    'type: "DontcareProposalTarget" python_param { param_str: "{num_classes: 3, bg_thresh_lo: 0, batch_size: %d%s}" }'
)
TRUTH = np.float64([[4, 4, 30, 27, 1], [40, 10, 70, 41, 2], [0, 40, 12, 60, 1], [60, 44, 79, 63, 2]])
HARD, AREAS = np.float64([0, 1, 0, 1]), np.float64([[14, 40, 33, 63], [34, 40, 50, 60]])
SCORES, INFO, IMAGE = np.zeros((1, 4, 4, 5)), np.float64([[64, 80, 1]]), np.zeros(1)


def share(a, b) -> tuple[float, float]:
    """Of two boxes: intersection over union, and the part of the first in the second."""
    wide = min(a[2], b[2]) - max(a[0], b[0]) + 1
    high = min(a[3], b[3]) - max(a[1], b[1]) + 1
    both = wide * high if wide > 0 and high > 0 else 0
    sizes = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)]
    return both / (sum(sizes) - both), both / sizes[0]


def anchors() -> list[list[float]]:
    """By row, column and scale; of stride 16."""
    places = [(16 * column, 16 * row) for row in range(4) for column in range(5)]
    shapes = [[0, 0, 15, 15], [-8, -8, 23, 23]]
    return [[x + left, y + top, x + right, y + low] for x, y in places for left, top, right, low in shapes]


def labels(hard, areas, high=0.5) -> list[int]:
    """The label of each anchor, where all are drawn."""
    every, result = anchors(), []
    shared = [[share(box, true)[0] for true in TRUTH] for box in every]
    best = [max(row[i] for row in shared) for i in range(len(TRUTH))]
    for row in shared:
        label = 0 if max(row) < 0.3 else -1
        if any(row[i] == best[i] for i in range(len(TRUTH))) or max(row) >= 0.7:
            label = 1
        result.append(label)
    for number, (box, row) in enumerate(zip(every, shared)):
        if sum(share(box, area)[1] for area in areas) > high:
            result[number] = -1
        for i in np.flatnonzero(hard):
            first = next(k for k in range(len(every)) if shared[k][i] == best[i])
            if row[i] >= 0.7 or number == first:
                result[number] = -1
    return result


@pytest.mark.parametrize(
    ("text", "hard", "areas", "high"),
    [
        ("", HARD, AREAS, 0.5),
        (", preclude_hard_samples: False", 0 * HARD, AREAS, 0.5),
        ("", HARD, AREAS[:0], 0.5),
        (", dontcare_area_intersection_hi: 0.2", 0 * HARD, AREAS, 0.2),
    ],
)
def test_labels_of_anchors(text, hard, areas, high, device):
    marks = HARD if "preclude" in text else hard
    rig = Rig(ANCHORS % (1000, text), [SCORES, TRUTH, INFO, IMAGE, marks, areas], device=device, tops=4)
    seen = rig.forward()[0].reshape(2, 4, 5).transpose(1, 2, 0).ravel()
    wanted = labels(hard, areas, high)
    assert seen.tolist() == wanted
    assert set(wanted) == {-1, 0, 1}  # anchors outside the image count, too


def test_drawn_anchors_leave_these_out(device):
    rig = Rig(ANCHORS % (6, ""), [SCORES, TRUTH, INFO, IMAGE, HARD, AREAS], device=device, tops=4)
    seen = rig.forward()[0].reshape(2, 4, 5).transpose(1, 2, 0).ravel()
    wanted = np.array(labels(HARD, AREAS))
    assert (seen >= 0).sum() == 6
    assert ((seen == wanted) | (seen == -1)).all()


def regions() -> np.ndarray:
    start = RNG.uniform(0, 50, (60, 2))
    return np.concatenate([np.zeros((60, 1)), start, start + RNG.uniform(6, 30, (60, 2))], 1)


def test_regions_to_learn_from(device):
    candidates = np.concatenate([regions(), np.column_stack([np.zeros(4), TRUTH[:, :4] + 1])])
    rig = Rig(REGIONS % (-1, ""), [candidates, TRUTH, HARD, AREAS], device=device, tops=5, dtype=np.float64)
    drawn, of_drawn, *_ = rig.forward()
    easy = TRUTH[HARD == 0, :4]
    own = [row for row in drawn[:, 1:] if not (np.abs(candidates[:, 1:] - row).max(1) < 1e-9).any()]
    assert len(own) == 4  # each easy box, and each moved by a fortieth at most
    for row in own:
        size = easy[:, 2:] - easy[:, :2] + 1
        assert (np.abs(row - easy).reshape(2, 2, 2) <= size[:, None] / 40 + 1e-9).all((1, 2)).any()
    assert sum((row == easy).all(1).any() for row in own) == 2
    wanted = []
    for row in np.concatenate([candidates[:, 1:], own]):
        shared = [share(row, true)[0] for true in TRUTH]
        left_out = sum(share(row, area)[1] for area in AREAS) > 0.5
        left_out |= any(part >= 0.5 for part, mark in zip(shared, HARD) if mark)
        if not left_out:
            wanted.append((*row.round(6), TRUTH[np.argmax(shared), 4] if max(shared) >= 0.5 else 0))
    assert sorted(zip(*drawn[:, 1:].round(6).T, of_drawn)) == sorted(wanted)
    assert {label for *_, label in wanted} == {0, 1}  # class 2 is hard


def test_hard_boxes_are_learned_where_the_setting_says_so(device):
    rig = Rig(
        REGIONS % (-1, ", preclude_hard_samples: False"), [regions(), TRUTH, HARD, AREAS[:0]], device=device, tops=5
    )
    assert set(rig.forward()[1]) == {0, 1, 2}


def test_the_draw_follows_the_seed(device):
    def drawn(seed: int) -> np.ndarray:
        return Rig(REGIONS % (9, ""), [candidates, TRUTH, HARD, AREAS], device=device, tops=5, seed=seed).forward()[0]

    candidates = regions()
    assert (drawn(1) == drawn(1)).all()
    assert not np.array_equal(drawn(1), drawn(2))


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        (ANCHORS % (9, ""), [SCORES, TRUTH, INFO, IMAGE, HARD[:3], AREAS], "bottom 4 must say for each of the 4 true boxes"),
        (ANCHORS % (9, ""), [SCORES, TRUTH, INFO, IMAGE, HARD, TRUTH], r"bottom 5, the areas .* got \(4, 5\)"),
        (REGIONS % (9, ""), [np.zeros((2, 5)), TRUTH, HARD, TRUTH], r"bottom 3, the areas .* got \(4, 5\)"),
    ],
)  # fmt: skip
def test_refused(text, bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, bottoms, tops=4 if "Anchor" in text else 5)


NET = """
    layer { name: "proposals" type: "DummyData" top: "proposals" dummy_data_param { shape { dim: 8 dim: 5 } } }
    layer { name: "input" type: "Python" top: "data" top: "im_info" top: "gt_boxes" top: "gt_ishard" top: "dontcare_areas"
        python_param { module: "roi_data_layer.layer" layer: "RoIDataLayer" param_str: "'num_classes': 4" } }
    layer { name: "conv" type: "Convolution" bottom: "data" top: "scores"
        convolution_param { num_output: 18 kernel_size: 16 stride: 16 weight_filler { type: "xavier" } } }
    layer { name: "rpn" type: "Python" bottom: "scores" bottom: "gt_boxes" bottom: "im_info" bottom: "data"
        bottom: "gt_ishard" bottom: "dontcare_areas" top: "labels" top: "targets" top: "in" top: "out"
        python_param { module: "rpn.anchor_target_layer" layer: "AnchorTargetLayer" param_str: "'feat_stride': 16" } }
    layer { name: "rois" type: "Python" bottom: "proposals" bottom: "gt_boxes" bottom: "gt_ishard" bottom: "dontcare_areas"
        top: "rois" top: "classes" top: "offsets" top: "inside" top: "outside"
        python_param { module: "rpn.proposal_target_layer" layer: "ProposalTargetLayer" param_str: "'num_classes': 4" } }"""


def test_a_net_of_python_layers_takes_them_without_its_data():
    net = Net(parse_net(NET), phase="TRAIN", device="cpu", data="shapes")
    assert [net.layer_dict[name].type for name in ("rpn", "rois")] == ["DontcareAnchorTarget", "DontcareProposalTarget"]
    assert net.blobs["dontcare_areas"].shape[1:] == (4,)
    assert net.blobs["gt_ishard"].shape == net.blobs["gt_boxes"].shape[:1]
    net.forward()
    assert net.blobs["offsets"].shape[1] == 16
