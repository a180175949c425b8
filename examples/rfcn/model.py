"""Writes R-FCN (Dai et al. 2016) over ResNet-50, and its deformable form (Dai et al. 2017), for Pascal VOC's 20 classes.

    python -m examples.rfcn.model     # from the repository's root; writes resnet50/train.prototxt and so on

Inputs are those of ../faster_rcnn. Outputs: cls_prob (R, 21) and bbox_pred (R, 8), one box for all classes beside the background's,
for the regions `rois` (R, 5). In the deformable form the 3 x 3 convolutions of the last stage read where learned offsets say, and the bins of a region are moved.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from boxpresso import L, NetSpec

from ..faster_rcnn.model import CLASSES, STRIDE, inputs, propose
from ..trunks import Writer, resnet50_last, resnet50_stem, write

BINS = 7


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


def vote(
    w: Writer, what: str, feature: Any, regions: Any, outputs: int, deformable: bool = False, bins: int = BINS,
    stride: int = STRIDE,
) -> None:  # fmt: skip
    """`outputs` numbers for each region: the mean of its bins x bins bins, each of which has channels of its own.

    In the deformable form the bins are moved by what a first pooling says: for scores every class moves by itself.
    """
    n, name = w.n, {"cls": "cls_score", "bbox": "bbox_pred"}[what]
    top = w.conv(f"rfcn_{what}", feature, bins * bins * outputs, 1, filler=dict(type="gaussian", std=0.01))
    fields: dict[str, Any] = dict(group_size=bins, spatial_scale=1 / stride)
    if deformable:
        moves = 2 * outputs if what == "cls" else 2
        zero = dict(type="constant", value=0)
        w.conv(f"rfcn_{what}_offset_t", feature, bins * bins * moves, 1, filler=zero)
        fields |= dict(pooled_size=bins, part_size=bins, sample_per_part=4)
        n[f"rfcn_{what}_offset"] = L.DeformablePSROIPooling(
            n[f"rfcn_{what}_offset_t"], regions, output_dim=moves, no_trans=True, **fields
        )
        moved = n[f"rfcn_{what}_offset"]
        pooled = L.DeformablePSROIPooling(top, regions, moved, output_dim=outputs, trans_std=0.1, **fields)
    else:
        pooled = L.PSROIPooling(top, regions, output_dim=outputs, **fields)
    n[f"psroipooled_{what}_rois"] = pooled
    n[f"ave_{what}_rois"] = L.Pooling(pooled, pool="AVE", kernel_size=bins, stride=bins)
    n[name] = L.Reshape(n[f"ave_{what}_rois"], shape=dict(dim=[-1, outputs]))


NETS = {"resnet50": net, "resnet50_deformable": partial(net, deformable=True)}

if __name__ == "__main__":
    write(__file__, NETS)
