"""Writes train.prototxt and deploy.prototxt: a small R-FCN for the drawn scenes of ../shapes, trained from nothing.

    python -m examples.shapes_rfcn.model     # from the repository's root

The trunk and the region proposal network are those of ../shapes_faster_rcnn. Instead of layers that run over every region, the
classes and the boxes are convolutions over the whole picture, 3 x 3 maps for each number: PSROIPooling takes each of a region's
nine bins from its own map, and the bins vote. Boxes are class-agnostic. In training all regions are looked at, and the 48 with
the greatest loss are learned from (online hard example mining).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxpresso import L, NetSpec

from ..faster_rcnn.model import propose
from ..rfcn.model import vote
from ..shapes_faster_rcnn.model import ANCHORS, CLASSES, DRAWN, MSRA, PROPOSALS, STRIDE, trunk
from ..trunks import Writer

BINS, HARD = 3, 48
SCENES = "examples/shapes_rfcn/work/scenes"  # where train.py puts them, seen from the repository's root

# What the layers are told: all regions, and one box for whatever the object is. Offsets are learned in parts of their
# deviations, 0.1 and 0.2; `boxpresso finish` multiplies the weights by them.
OBJECTS = "'num_classes': 2, 'batch_size': -1"
OFFSETS = "'bbox_normalize_targets_precomputed': True"


def net(kind: str, scenes: str = SCENES) -> NetSpec:
    """kind: train or deploy. scenes: the VOC folder to learn from."""
    w = Writer("shapes R-FCN", kind)
    top = trunk(w, scenes)
    told = dict(objects=OBJECTS, offsets=OFFSETS, anchors=ANCHORS, drawn=DRAWN, proposals=PROPOSALS[kind])
    regions = propose(w, top, 96, filler=MSRA, **told)
    top = w.conv("conv_new_1", top, 128, 1, relu="conv_new_1_relu", filler=MSRA)
    vote(w, "cls", top, regions, len(CLASSES) + 1, bins=BINS, stride=STRIDE)
    vote(w, "bbox", top, regions, 8, bins=BINS, stride=STRIDE)
    if w.train:
        mined(w)
    else:
        w.n.cls_prob = L.Softmax(w.n.cls_score)
    return w.n


def mined(w: Writer, hard: int = HARD) -> None:
    """The losses of the `hard` regions that have the greatest, as R-FCN's own train nets write them."""
    n = w.n

    def still(count: int) -> dict[str, Any]:
        return dict(propagate_down=[False] * count)

    n.temp_loss_cls, n.temp_prob_cls, n.per_roi_loss_cls = L.SoftmaxWithLossOHEM(
        n.cls_score, n.labels, name="per_roi_loss_cls", ntop=3, loss_weight=[0, 0, 0], **still(2)
    )
    n.temp_loss_bbox, n.per_roi_loss_bbox = L.SmoothL1LossOHEM(
        n.bbox_pred,
        n.bbox_targets,
        n.bbox_inside_weights,
        name="per_roi_loss_bbox",
        ntop=2,
        loss_weight=[0, 0],
        **still(3),
    )
    n.per_roi_loss = L.Eltwise(n.per_roi_loss_cls, n.per_roi_loss_bbox, **still(2))
    n.labels_ohem, n.bbox_loss_weights_ohem = L.BoxAnnotatorOHEM(
        n.rois,
        n.per_roi_loss,
        n.labels,
        n.bbox_inside_weights,
        name="annotator_detector",
        ntop=2,
        roi_per_img=hard,
        **still(4),
    )
    n.silence = L.Silence(n.bbox_outside_weights, n.temp_loss_cls, n.temp_prob_cls, n.temp_loss_bbox, ntop=0)
    n.loss_cls = L.SoftmaxWithLoss(
        n.cls_score, n.labels_ohem, propagate_down=[True, False], loss_weight=1, loss_param=dict(ignore_label=-1)
    )
    n.loss_bbox = L.SmoothL1LossOHEM(
        n.bbox_pred, n.bbox_targets, n.bbox_loss_weights_ohem, propagate_down=[True, False, False], loss_weight=1,
        loss_param=dict(normalization="PRE_FIXED", pre_fixed_normalizer=hard),
    )  # fmt: skip


if __name__ == "__main__":
    for kind in PROPOSALS:
        Path(__file__).with_name(f"{kind}.prototxt").write_text(str(net(kind)), encoding="utf-8")
