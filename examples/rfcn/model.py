"""Writes R-FCN (Dai et al. 2016) over ResNet-50, and its deformable form (Dai et al. 2017), for Pascal VOC's 20 classes.

    python -m examples.rfcn.model     # from the repository's root; writes resnet50/train.prototxt and so on

Inputs are those of ../faster_rcnn. Outputs: cls_prob (R, 21) and bbox_pred (R, 8), one box for all classes beside the background's,
for the regions `rois` (R, 5). In the deformable form the 3 x 3 convolutions of the last stage read where learned offsets say, and the bins of a region are moved.
"""

from __future__ import annotations

from functools import partial

from boxpresso import L, NetSpec
from boxpresso.recipes.regions import propose, vote

from ..faster_rcnn.model import CLASSES, inputs
from ..trunks import Writer, resnet50_last, resnet50_stem, write


def net(kind: str, width: float = 1.0, size: tuple[int, int] = (600, 800), deformable: bool = False) -> NetSpec:
    w = Writer("ResNet-50-deformable" if deformable else "ResNet-50", kind, width)
    n = w.n
    inputs(w, *size)
    feature = resnet50_stem(w, n.data)
    regions = propose(w, feature, 512, objects="'num_classes': 2")
    top = resnet50_last(w, feature, stride=1, dilation=2, deformable=deformable)
    top = w.conv("conv_new_1", top, w.wide(1024), 1, relu="conv_new_1_relu", filler=dict(type="gaussian", std=0.01))
    vote(w, "cls", top, regions, CLASSES, deformable)
    vote(w, "bbox", top, regions, 8, deformable)
    if w.train:
        n.loss_cls = L.SoftmaxWithLoss(n.cls_score, n.labels, propagate_down=[True, False], loss_weight=1)
        n.loss_bbox = L.SmoothL1Loss(
            n.bbox_pred, n.bbox_targets, n.bbox_inside_weights, n.bbox_outside_weights, loss_weight=1
        )
    else:
        n.cls_prob = L.Softmax(n.cls_score)
    return n


NETS = {"resnet50": net, "resnet50_deformable": partial(net, deformable=True)}

if __name__ == "__main__":
    write(__file__, NETS)
