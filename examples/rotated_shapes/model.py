"""Writes train.prototxt and deploy.prototxt: a small detector of rotated boxes in the manner of RRPN (Ma et al. 2018).

    python -m examples.rotated_shapes.model     # from the repository's root

Anchors, regions and targets are rotated boxes: at each of 20 x 20 places two sizes at six angles. ROIAlignRotated takes a region
out of the features and turns it upright, 5 x 9 bins, and two fully connected layers say what it is, and by how much its centre,
its size and its angle are off. RRPN pools with RotateROIPooling, for which the thin shapes here are too thin in the features:
most bins would have no pixel.

Inputs: data (1, 3, 160, 160), B, G, R less the means of `boxpresso.decoders.rcnn`; im_info (1, 3); in training gt_boxes (G, 6):
centre x and y, height, width, angle in degrees, label.
"""

from __future__ import annotations

from math import pi
from pathlib import Path
from typing import Any

from boxpresso import L, NetSpec
from boxpresso.recipes.regions import finish, propose, two_small

from ..shapes_faster_rcnn.model import MSRA, STRIDE, convolutions
from ..trunks import Writer
from .scenes import LABELS, SIZE

ANGLES = (-30, 0, 30, 60, 90, 120)
SCALES = (3, 5)
BINS = (5, 9)

# What the layers are told: anchors of 39 x 15 and 65 x 25 pixels. Offsets are learned in parts of their deviations.
ANCHORS = f"'feat_stride': {STRIDE}, 'base_size': {STRIDE}, 'scales': {list(SCALES)}, 'ratios': [0.4], 'angles': {list(ANGLES)}"
DRAWN = "'allowed_border': 40, 'rpn_batchsize': 128, 'rpn_positive_overlap': 0.6"
PROPOSALS = {
    "train": "'rpn_min_size': 4, 'rpn_pre_nms_top_n': 600, 'rpn_post_nms_top_n': 100",
    "deploy": "'rpn_min_size': 4, 'rpn_pre_nms_top_n': 300, 'rpn_post_nms_top_n': 50",
}
OBJECTS = f"'num_classes': {len(LABELS)}, 'batch_size': 48, 'fg_fraction': 0.5"
OFFSETS = "'bbox_normalize_targets_precomputed': True, 'bbox_normalize_stds': [0.1, 0.1, 0.2, 0.2, 0.1]"


def net(kind: str) -> NetSpec:
    """kind: train or deploy."""
    w = Writer("rotated shapes", kind)
    n = w.n
    n.data = L.Input(shape=dict(dim=[1, 3, SIZE, SIZE]))
    n.im_info = L.Input(shape=dict(dim=[1, 3]))
    if w.train:
        n.gt_boxes = L.Input(shape=dict(dim=[1, 6]))
    top = convolutions(w)
    settings = dict(objects=OBJECTS, offsets=OFFSETS, anchors=ANCHORS, drawn=DRAWN, proposals=PROPOSALS[kind])
    regions = propose(w, top, 96, filler=MSRA, count=len(SCALES) * len(ANGLES), rotated=True, **settings)
    n.upright = L.ROIAlignRotated(
        top,
        as_aligned(w, regions),
        pooled_h=BINS[0],
        pooled_w=BINS[1],
        spatial_scale=1 / STRIDE,
        sampling_ratio=2,
        aligned=True,
    )
    return finish(w, two_small(w, n.upright), len(LABELS), columns=5)


def as_aligned(w: Writer, regions: Any) -> Any:
    """Regions as ROIAlignRotated takes them: width before height, and the angle in radians."""
    n = w.n
    names = ("image", "x", "y", "high", "wide", "degrees")
    for name, column in zip(names, L.Slice(regions, name="columns", ntop=6, axis=1, slice_point=[1, 2, 3, 4, 5])):
        n[name] = column
    n.radians = L.Power(n.degrees, scale=pi / 180)
    n.aligned_rois = L.Concat(n.image, n.x, n.y, n.wide, n.high, n.radians, axis=1)
    return n.aligned_rois


if __name__ == "__main__":
    for kind in PROPOSALS:
        Path(__file__).with_name(f"{kind}.prototxt").write_text(str(net(kind)), encoding="utf-8")
