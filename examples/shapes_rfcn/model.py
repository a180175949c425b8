"""Writes train.prototxt and deploy.prototxt: a small R-FCN for the drawn scenes of ../shapes, trained from nothing.

    python -m examples.shapes_rfcn.model     # from the repository's root

The trunk and the region proposal network are those of ../shapes_faster_rcnn. Instead of layers that run over every region, the
classes and the boxes are convolutions over the whole picture, 3 x 3 maps for each number: PSROIPooling takes each of a region's
nine bins from its own map, and the bins vote. Boxes are class-agnostic. In training all regions are looked at, and the 48 with
the greatest loss are learned from (online hard example mining).
"""

from __future__ import annotations

from pathlib import Path

from boxpresso import L, NetSpec
from boxpresso.recipes.regions import mined, propose, vote

from ..shapes_faster_rcnn.model import ANCHORS, CLASSES, DRAWN, MSRA, PROPOSALS, STRIDE, trunk
from ..trunks import Writer

BINS = 3
SCENES = "examples/shapes_rfcn/work/scenes"  # where train.py puts them, seen from the repository's root

# What the layers are told: all regions, and one box for whatever the object is. Offsets are learned in parts of their
# deviations, 0.1 and 0.2; `boxpresso finish` multiplies the weights by them.
OBJECTS = "'num_classes': 2, 'batch_size': -1"
OFFSETS = "'bbox_normalize_targets_precomputed': True"


def net(kind: str, scenes: str = SCENES) -> NetSpec:
    """kind: train or deploy. scenes: the VOC folder to learn from."""
    w = Writer("shapes R-FCN", kind)
    top = trunk(w, scenes)
    settings = dict(objects=OBJECTS, offsets=OFFSETS, anchors=ANCHORS, drawn=DRAWN, proposals=PROPOSALS[kind])
    regions = propose(w, top, 96, filler=MSRA, **settings)
    top = w.conv("conv_new_1", top, 128, 1, relu="conv_new_1_relu", filler=MSRA)
    vote(w, "cls", top, regions, len(CLASSES) + 1, bins=BINS, stride=STRIDE)
    vote(w, "bbox", top, regions, 8, bins=BINS, stride=STRIDE)
    if w.train:
        mined(w)
    else:
        w.n.cls_prob = L.Softmax(w.n.cls_score)
    return w.n


if __name__ == "__main__":
    for kind in PROPOSALS:
        Path(__file__).with_name(f"{kind}.prototxt").write_text(str(net(kind)), encoding="utf-8")
