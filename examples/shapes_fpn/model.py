"""Writes train.prototxt and deploy.prototxt: a small feature pyramid (Lin et al. 2017) for drawn scenes, trained from nothing.

    python -m examples.shapes_fpn.model     # from the repository's root

Shapes are from 9 to 112 pixels wide in a picture of 160 x 160. Four levels, at 1/4 to 1/32 of the picture, each get what the
coarser ones know: a 1 x 1 convolution of the trunk's features, plus the next coarser level enlarged. One region proposal network
runs over all levels with the same weights; each level has anchors of its own size, and regions are chosen from all levels at
once. MultiScaleROIAlign pools a region from the level that its size chooses, and two fully connected layers, Faster R-CNN's, say
what it is and where.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxpresso import L, NetSpec
from boxpresso.recipes.regions import finish, said, two_small

from ..shapes_faster_rcnn.model import CLASSES, MSRA, read_scenes
from ..trunks import Writer

STRIDES = (4, 8, 16, 32)
TRUNK = {
    "1": (16, 2),
    "2": (32, 2),
    "2b": (32, 1),
    "3": (48, 2),
    "3b": (48, 1),
    "4": (64, 2),
    "4b": (64, 1),
    "5": (96, 2),
}
LEVELS = {2: "2b", 3: "3b", 4: "4b", 5: "5"}  # the convolution that each level begins with
WIDTH, ANCHORS = 48, 6
SCENES = "examples/shapes_fpn/work/scenes"  # where train.py puts them, seen from the repository's root

# What the layers are told: anchors of 3 and 4.5 strides, 12 to 144 pixels, three ratios; a region of 40 pixels is of level 3.
PYRAMID = f"'feat_strides': {list(STRIDES)}, 'scales': [3, 4.5], 'ratios': [0.5, 1, 2]"
DRAWN = "'rpn_batchsize': 128, 'allowed_border': 40, 'rpn_positive_overlap': 0.6"
PROPOSALS = {
    "train": "'rpn_min_size': 3, 'rpn_pre_nms_top_n': 600, 'rpn_post_nms_top_n': 100",
    "deploy": "'rpn_min_size': 3, 'rpn_pre_nms_top_n': 400, 'rpn_post_nms_top_n': 60",
}
REGIONS = (
    f"{{'num_classes': {len(CLASSES) + 1}, 'batch_size': 48, 'fg_fraction': 0.5, 'bg_thresh_lo': 0.0, "
    "'bbox_normalize_targets_precomputed': True}"
)
POOLED = f"'spatial_scales': {[1 / stride for stride in STRIDES]}, 'canonical_scale': 40, 'canonical_level': 3"


def net(kind: str, scenes: str = SCENES) -> NetSpec:
    """kind: train or deploy. scenes: the VOC folder to learn from."""
    w = Writer("shapes FPN", kind)
    n = w.n
    read_scenes(w, scenes)
    levels = pyramid(w)
    scores, offsets = heads(w, levels)
    if w.train:
        learn(w, scores, offsets)
    regions = choose(w, scores, offsets, PROPOSALS[kind])
    n.roi_align = L.MultiScaleROIAlign(
        *levels, regions, pooled_h=7, pooled_w=7, sampling_ratio=2, aligned=True, python_param=said(POOLED)
    )
    return finish(w, two_small(w, n.roi_align), len(CLASSES) + 1)


def pyramid(w: Writer) -> list[Any]:
    """The features of each level, the finest first."""
    n, features = w.n, {}
    n.small = top = L.Power(n.data, scale=1 / 64)
    for name, (channels, stride) in TRUNK.items():
        features[name] = top = w.conv(f"conv{name}", top, channels, stride=stride, relu=f"relu{name}", filler=MSRA)
    levels: list[Any] = []
    for level, name in reversed(LEVELS.items()):
        top = w.conv(f"lateral{level}", features[name], WIDTH, 1)
        if levels:
            n[f"up{level}"] = L.Upsample(levels[0], scale=2)
            n[f"sum{level}"] = top = L.Eltwise(top, n[f"up{level}"])
        levels.insert(0, top)
    return [w.conv(f"p{level}", top, WIDTH) for level, top in zip(LEVELS, levels)]


def heads(w: Writer, levels: list[Any]) -> tuple[list[Any], list[Any]]:
    """Scores (1, 2 A, H, W) and offsets (1, 4 A, H, W) of each level, by three convolutions that all levels share."""
    scores, offsets = [], []
    for level, feature in zip(LEVELS, levels):
        top = w.conv(f"rpn_conv/p{level}", feature, WIDTH, relu=f"rpn_relu/p{level}", filler=MSRA)
        small: dict[str, Any] = dict(filler=dict(type="gaussian", std=0.01))
        scores.append(w.conv(f"rpn_cls_score/p{level}", top, 2 * ANCHORS, 1, **small))
        offsets.append(w.conv(f"rpn_bbox_pred/p{level}", top, 4 * ANCHORS, 1, **small))
        for name in ("rpn_conv", "rpn_cls_score", "rpn_bbox_pred"):
            for rate, part in zip(w.n[f"{name}/p{level}"].fn.params.get("param", ()), ("weights", "bias")):
                rate["name"] = f"{name}_{part}"
    return scores, offsets


def learn(w: Writer, scores: list[Any], offsets: list[Any]) -> None:
    """The losses of the region proposal network, over the anchors of all levels."""
    n = w.n
    tops = ("rpn_labels", "rpn_bbox_targets", "rpn_bbox_inside_weights", "rpn_bbox_outside_weights")
    outputs = L.FPNAnchorTarget(
        *scores, n.gt_boxes, n.im_info, name="rpn-data", ntop=4, python_param=said(PYRAMID, DRAWN)
    )
    for name, top in zip(tops, outputs):
        n[name] = top
    flat: dict[str, list[Any]] = {"score": [], "offset": []}
    for role, heads, channels in (("score", scores, 2), ("offset", offsets, 4 * ANCHORS)):
        for level, head in zip(LEVELS, heads):
            n[f"{role}_rows/p{level}"] = L.Reshape(head, shape=dict(dim=[0, channels, -1]))
            flat[role].append(n[f"{role}_rows/p{level}"])
    n.rpn_scores = L.Concat(*flat["score"], axis=2)
    n.rpn_offsets = L.Concat(*flat["offset"], axis=2)
    n.rpn_loss_cls = L.SoftmaxWithLoss(
        n.rpn_scores, n.rpn_labels, propagate_down=[True, False], ignore_label=-1, normalize=True
    )
    n.rpn_loss_bbox = L.SmoothL1Loss(n.rpn_offsets, *(n[name] for name in tops[1:]), sigma=3)


def choose(w: Writer, scores: list[Any], offsets: list[Any], proposals: str) -> Any:
    """The regions of all levels; in training those drawn from them, and their targets."""
    n, bottoms = w.n, []
    for level, score, offset in zip(LEVELS, scores, offsets):
        n[f"two_classes/p{level}"] = L.Reshape(score, shape=dict(dim=[0, 2, -1, 0]))
        n[f"rpn_cls_prob/p{level}"] = L.Softmax(n[f"two_classes/p{level}"])
        n[f"rpn_prob/p{level}"] = L.Reshape(n[f"rpn_cls_prob/p{level}"], shape=dict(dim=[0, 2 * ANCHORS, -1, 0]))
        bottoms += [n[f"rpn_prob/p{level}"], offset]
    regions = L.FPNProposal(*bottoms, n.im_info, name="proposal", python_param=said(PYRAMID, proposals))
    if not w.train:
        n.rois = regions
        return n.rois
    n.rpn_rois = regions
    tops = ("rois", "labels", "bbox_targets", "bbox_inside_weights", "bbox_outside_weights")
    outputs = L.ProposalTarget(n.rpn_rois, n.gt_boxes, name="roi-data", ntop=5, python_param=said(REGIONS))
    for name, top in zip(tops, outputs):
        n[name] = top
    return n.rois


if __name__ == "__main__":
    for kind in PROPOSALS:
        Path(__file__).with_name(f"{kind}.prototxt").write_text(str(net(kind)), encoding="utf-8")
