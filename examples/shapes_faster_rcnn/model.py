"""Writes train.prototxt and deploy.prototxt: a small Faster R-CNN for the drawn scenes of ../shapes, trained from nothing.

    python -m examples.shapes_faster_rcnn.model     # from the repository's root

Six convolutions bring a picture of 160 x 160 pixels to 20 x 20 places, a region proposal network looks at nine anchors of
about 24, 40 and 72 pixels at each, and two fully connected layers over ROIAlign's 7 x 7 bins say what a region is and where.
There is no BatchNorm: a batch is one picture, so that weights start by He's rule and Adam does the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxpresso import L, NetSpec
from boxpresso.recipes.regions import finish, propose, two_small

from ..trunks import Writer

CLASSES = ("circle", "box", "triangle")
SIZE, STRIDE = 160, 8
TRUNK = [(16, 2), (32, 2), (32, 1), (64, 2), (64, 1), (96, 1)]  # channels, stride
MSRA = dict(type="msra")
SCENES = "examples/shapes_faster_rcnn/work/scenes"  # where draw.py puts them, seen from the repository's root

# What the layers are told.
ANCHORS = f"'feat_stride': {STRIDE}, 'base_size': {STRIDE}, 'scales': [3, 5, 9]"
DRAWN = "'allowed_border': 40, 'rpn_batchsize': 128"
PROPOSALS = {
    "train": "'rpn_min_size': 4, 'rpn_pre_nms_top_n': 600, 'rpn_post_nms_top_n': 100",
    "deploy": "'rpn_min_size': 4, 'rpn_pre_nms_top_n': 300, 'rpn_post_nms_top_n': 50",
}
OBJECTS = f"'num_classes': {len(CLASSES) + 1}, 'batch_size': 48, 'fg_fraction': 0.5"
# The loss weighs offsets in parts of 0.1 and 0.2, as Faster R-CNN's does; but the net says them whole, ready for deploy.
OFFSETS = "'bbox_inside_weights': [10, 10, 5, 5]"


def trunk(w: Writer, scenes: str) -> Any:
    """Data, im_info and, in training, gt_boxes of the VOC folder `scenes`; and the features of the picture at 1 / STRIDE."""
    read_scenes(w, scenes)
    return convolutions(w)


def convolutions(w: Writer) -> Any:
    """The features of the picture at 1 / STRIDE."""
    w.n.small = top = L.Power(w.n.data, scale=1 / 64)
    for i, (channels, stride) in enumerate(TRUNK, 1):
        top = w.conv(f"conv{i}", top, channels, stride=stride, relu=f"relu{i}", filler=MSRA)
    return top


def read_scenes(w: Writer, scenes: str) -> None:
    """Data, im_info and, in training, gt_boxes of the VOC folder `scenes`."""
    n = w.n
    if w.train:
        reads = dict(source=scenes, split="train", classes=list(CLASSES), scales=[SIZE], max_size=SIZE)
        n.data, n.im_info, n.gt_boxes = L.RoIData(name="scenes", ntop=3, python_param=dict(param_str=str(reads)))
    else:
        n.data = L.Input(shape=dict(dim=[1, 3, SIZE, SIZE]))
        n.im_info = L.Input(shape=dict(dim=[1, 3]))


def net(kind: str, scenes: str = SCENES) -> NetSpec:
    """kind: train or deploy. scenes: the VOC folder to learn from."""
    w = Writer("shapes Faster R-CNN", kind)
    n, top = w.n, trunk(w, scenes)
    settings = dict(objects=OBJECTS, offsets=OFFSETS, anchors=ANCHORS, drawn=DRAWN, proposals=PROPOSALS[kind])
    regions = propose(w, top, 96, filler=MSRA, **settings)
    n.roi_align = L.ROIAlign(
        top, regions, pooled_h=7, pooled_w=7, spatial_scale=1 / STRIDE, sampling_ratio=2, aligned=True
    )
    return finish(w, two_small(w, n.roi_align), len(CLASSES) + 1)


if __name__ == "__main__":
    for kind in PROPOSALS:
        Path(__file__).with_name(f"{kind}.prototxt").write_text(str(net(kind)), encoding="utf-8")
