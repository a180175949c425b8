"""The R-CNN family: anchors, proposals, targets, and a Faster R-CNN that learns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness import Rig, close
from shared import golden, recorded

from boxpresso import LayerError, Net
from boxpresso.layers.detection.rcnn import Rotated, Upright
from boxpresso.proto import parse_net

RNG = np.random.default_rng(11)
PROPOSAL = 'type: "Proposal" proposal_param { ratio: 1 scale: 1 min_size: 4 pre_nms_topn: 6 post_nms_topn: 3 }'


@pytest.mark.parametrize("path", golden("caffe/PythonRPN"), ids=lambda p: p.stem)
def test_as_py_faster_rcnn(path, device):
    """What py-faster-rcnn's Python layers computed under Caffe; they drew with numpy's old generator."""
    case = recorded(path)
    net = Net(parse_net(str(case["prototxt"])), phase=str(case["phase"]), device=device)
    net.layer_dict["L"].rng = np.random.RandomState(int(case["seed"]))
    inputs = {name: case[f"in_{name}"] for name in net.inputs}
    tops = list(net.param.layer[-1].top)
    assert [key[4:] for key in case if key.startswith("top_")] == tops
    out = net.forward(blobs=tops, **inputs)
    for name in tops:
        close(out[name], case[f"top_{name}"], rtol=1e-5, atol=1e-6, title=name)


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
        ("python_param { param_str: \"'feat_stride': 'x'\" }", None, "feat_stride must be a number, got 'x'"),
        ('python_param { param_str: "feat_stride: 0" }', None, "feat_stride must be above 0, got 0"),
        ('python_param { param_str: "rpn_post_nms_top_n: .inf" }', None, r"suppression: \[6000, inf\]"),
        ("", [(1, 18, 2, 2), (1, 32, 2, 2), (1, 3)], r"bottom 1 must be \(1, 36, 2, 2\)"),
        ("", [(1, 18, 2, 2), (1, 36, 2, 2), (2, 3)], "im_info"),
    ],
)
def test_proposal_says_what_is_wrong(param, shapes, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "Proposal" {param}', [np.zeros(s) for s in shapes or [(1, 18, 2, 2), (1, 36, 2, 2), (1, 3)]])


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
    regions, top_scores = rig.forward()
    close(regions, [[0, 7, 7, 24, 46, 90], [0, 7, 7, 24, 46, 0]], atol=1e-5)
    close(top_scores, [[0.7], [0.6]])
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
    for wrong in ("rpn_fg_fraction: 1.5", "rpn_fg_fraction: -1", "rpn_batchsize: 2.5", "rpn_batchsize: many"):
        name, value = wrong.split(": ")
        with pytest.raises(LayerError, match=f"{name} must be .*, got '?{value}"):
            targets([[0, 0, 15, 15, 1]], settings=f"\\n{wrong}")


def test_rotate_anchor_target_by_hand(device):
    labels, offsets, *_ = targets(
        [[25, 23, 16, 16, 10, 3]], "RotateAnchorTarget", device=device, info=(65, 81, 1)
    ).forward()
    assert offsets.shape == (1, 5, 4, 5)
    assert np.argwhere(labels[0, 0] == 1).tolist() == [[1, 1]]
    close(offsets[0, :, 1, 1], [2 / 16, 0, 0, 0, np.pi / 18])
    for turn, count in (
        (10, 1),
        (20, 0),
    ):  # the best anchor of a small box, unless it is turned by more than 15 degrees
        small = targets([[25, 23, 16, 9, turn, 3]], "RotateAnchorTarget", device=device, info=(65, 81, 1))
        assert (small.forward()[0] == 1).sum() == count


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
    for wrong in ("fg_fraction: 2", "fg_fraction: -1", "fg_fraction: nan", "batch_size: 2.5", "batch_size: many"):
        name, value = wrong.split(": ")
        with pytest.raises(LayerError, match=f"{name} must be .*, got '?{value}"):
            regions_for_targets(settings=f"num_classes: 4\\n{wrong}")


def test_proposal_target_of_background_alone():
    every = "num_classes: 4\\nbatch_size: -1\\nbg_thresh_lo: 0"
    whole, rest = (regions_for_targets(settings=each).forward()[1] for each in (every, f"{every}\\nfg_fraction: 0"))
    assert not rest.any()
    assert 0 < len(rest) == (whole == 0).sum() < len(whole)


def test_rotate_proposal_target(device):
    boxes = np.array([[0, 20, 20, 10, 30, 5], [0, 20, 20, 10, 30, 40], [0, 90, 90, 10, 30, 0]])
    text = 'type: "RotateProposalTarget" python_param { param_str: "num_classes: 2\\nbg_thresh_lo: 0" }'
    rig = Rig(text, [boxes, np.array([[20, 20, 10, 30, 0, 1]])], device=device, tops=5, phase="TRAIN")
    regions, labels, offsets, *_ = rig.forward()
    assert sorted(zip(regions[:, 5].tolist(), labels.tolist())) == [(0, 0), (0, 1), (5, 1), (40, 0)]
    at = np.flatnonzero(regions[:, 5] == 5)[0]
    close(offsets[at], [0] * 9 + [-np.pi / 36])


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
