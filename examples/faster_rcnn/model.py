"""Writes Faster R-CNN (Ren et al. 2015), trained end to end: ZF, VGG16, and ResNet-50 with ROIAlign, for Pascal VOC's 20 classes.

    python -m examples.faster_rcnn.model     # from the repository's root; writes zf/train.prototxt and so on

Inputs: data (1, 3, H, W), B, G, R less (102.9801, 115.9465, 122.7717), with a shortest side of 600 pixels; im_info (1, 3): H, W and
the scale. Outputs: cls_prob (R, 21) and bbox_pred (R, 84) for the regions `rois` (R, 5).
"""

from __future__ import annotations

from typing import Any

from boxpresso import L, NetSpec
from boxpresso.proto import TEST, TRAIN

from ..trunks import Writer, resnet50_last, resnet50_stem, vgg16, write, zf

CLASSES, STRIDE = 21, 16
ANCHORS = 9  # three scales, three ratios


def inputs(w: Writer, height: int = 600, width: int = 800) -> None:
    """data, im_info and, unless for deploy, gt_boxes (objects, 5): xmin, ymin, xmax, ymax, label."""
    n = w.n
    if w.kind == "deploy":
        n.data = L.Input(shape=dict(dim=[1, 3, height, width]))
        n.im_info = L.Input(shape=dict(dim=[1, 3]))
        return
    source = dict(module="roi_data_layer.layer", layer="RoIDataLayer", param_str=f"'num_classes': {CLASSES}")
    n.data, n.im_info, n.gt_boxes = L.Python(
        name="input-data", ntop=3, include=dict(phase=TRAIN if w.train else TEST), python_param=source
    )


def propose(
    w: Writer,
    feature: Any,
    channels: int,
    objects: str = "'num_classes': 21",
    offsets: str = "'bbox_normalize_targets_precomputed': True",
    anchors: str = f"'feat_stride': {STRIDE}",
    drawn: str = "",
    proposals: str = "",
    filler: dict[str, Any] | None = None,
    count: int = ANCHORS,
    rotated: bool = False,
) -> Any:
    """A region proposal network over a feature map: the regions, and in training its two losses and the regions' targets.

    Settings of layers: objects and offsets are those of ProposalTarget, anchors those of AnchorTarget and Proposal; drawn is for
    AnchorTarget alone, proposals for Proposal alone. filler: of the first convolution. count: the anchors of a place. rotated:
    whether boxes are (RRPN).
    """
    n = w.n
    kind, columns = ("Rotate", 5) if rotated else ("", 4)
    small: dict[str, Any] = dict(filler=dict(type="gaussian", std=0.01))
    top = w.conv("rpn_conv/3x3", feature, w.wide(channels), relu="rpn_relu/3x3", filler=filler or small["filler"])
    w.conv("rpn_cls_score", top, 2 * count, 1, **small)
    w.conv("rpn_bbox_pred", top, columns * count, 1, **small)
    # Two channels, background and object, so that a softmax runs over them.
    n.rpn_cls_score_reshape = L.Reshape(n.rpn_cls_score, shape=dict(dim=[0, 2, -1, 0]))
    if w.train:
        tops = ("rpn_labels", "rpn_bbox_targets", "rpn_bbox_inside_weights", "rpn_bbox_outside_weights")
        bottoms = n.rpn_cls_score, n.gt_boxes, n.im_info, n.data
        outputs = getattr(L, f"{kind}AnchorTarget")(
            *bottoms, name="rpn-data", ntop=4, python_param=said(anchors, drawn)
        )
        for name, top in zip(tops, outputs):
            n[name] = top
        n.rpn_loss_cls = L.SoftmaxWithLoss(
            n.rpn_cls_score_reshape, n.rpn_labels, propagate_down=[True, False], ignore_label=-1, normalize=True
        )
        n.rpn_loss_bbox = L.SmoothL1Loss(n.rpn_bbox_pred, *(n[name] for name in tops[1:]), sigma=3)
    n.rpn_cls_prob = L.Softmax(n.rpn_cls_score_reshape)
    n.rpn_cls_prob_reshape = L.Reshape(n.rpn_cls_prob, shape=dict(dim=[0, 2 * count, -1, 0]))
    regions = getattr(L, f"{kind}Proposal")(
        n.rpn_cls_prob_reshape, n.rpn_bbox_pred, n.im_info, name="proposal", python_param=said(anchors, proposals)
    )
    if not w.train:
        n.rois = regions
        return n.rois
    n.rpn_rois = regions
    settings = f"{{{objects}, 'bg_thresh_lo': 0.0, {offsets}}}"
    tops = ("rois", "labels", "bbox_targets", "bbox_inside_weights", "bbox_outside_weights")
    outputs = getattr(L, f"{kind}ProposalTarget")(
        n.rpn_rois, n.gt_boxes, name="roi-data", ntop=5, python_param=dict(param_str=settings)
    )
    for name, top in zip(tops, outputs):
        n[name] = top
    return n.rois


def said(*settings: str) -> dict[str, str]:
    """python_param of these settings; those that are empty say nothing."""
    return dict(param_str=", ".join(filter(None, settings)))


def finish(w: Writer, top: Any, classes: int = CLASSES, columns: int = 4) -> NetSpec:
    """Scores and offsets of each region, `columns` for a box; their losses, or the probabilities."""
    n = w.n
    w.dense("cls_score", top, classes)
    w.dense("bbox_pred", top, columns * classes, std=0.001)
    if not w.train:
        n.cls_prob = L.Softmax(n.cls_score)
        return n
    n.loss_cls = L.SoftmaxWithLoss(n.cls_score, n.labels, propagate_down=[True, False], loss_weight=1)
    n.loss_bbox = L.SmoothL1Loss(
        n.bbox_pred, n.bbox_targets, n.bbox_inside_weights, n.bbox_outside_weights, loss_weight=1
    )  # fmt: skip
    return n


def two_dense(w: Writer, top: Any, outputs: int = 4096) -> Any:
    """Fc6 and fc7 with Dropout, as ZF and VGG16 end."""
    for i in (6, 7):
        w.dense(f"fc{i}", top, w.wide(outputs), std=0.005, relu=f"relu{i}")
        w.n[f"drop{i}"] = top = L.Dropout(w.n[f"relu{i}"], in_place=True, dropout_ratio=0.5)
    return top


def zf_net(kind: str, width: float = 1.0, size: tuple[int, int] = (600, 800)) -> NetSpec:
    w = Writer("ZF", kind, width)
    inputs(w, *size)
    feature = zf(w, w.n.data)
    regions = propose(w, feature, 256)
    w.n.roi_pool_conv5 = L.ROIPooling(feature, regions, pooled_h=6, pooled_w=6, spatial_scale=1 / STRIDE)
    return finish(w, two_dense(w, w.n.roi_pool_conv5))


def vgg_net(kind: str, width: float = 1.0, size: tuple[int, int] = (600, 800)) -> NetSpec:
    w = Writer("VGG_ILSVRC_16_layers", kind, width)
    inputs(w, *size)
    feature = vgg16(w, w.n.data, frozen=2)
    regions = propose(w, feature, 512)
    w.n.roi_pool5 = L.ROIPooling(feature, regions, name="roi_pool5", pooled_h=7, pooled_w=7, spatial_scale=1 / STRIDE)
    return finish(w, two_dense(w, w.n.roi_pool5))


def resnet_net(kind: str, width: float = 1.0, size: tuple[int, int] = (600, 800)) -> NetSpec:
    """The regions' features, 14 x 14 from res4f, go through the last stage of ResNet-50."""
    w = Writer("ResNet-50", kind, width)
    inputs(w, *size)
    feature = resnet50_stem(w, w.n.data)
    regions = propose(w, feature, 512)
    w.n.roi_align = L.ROIAlign(
        feature, regions, pooled_h=14, pooled_w=14, spatial_scale=1 / STRIDE, sampling_ratio=2, aligned=True
    )
    top = resnet50_last(w, w.n.roi_align)
    w.n.pool5 = L.Pooling(top, pool="AVE", global_pooling=True)
    return finish(w, w.n.pool5)


NETS = {"zf": zf_net, "vgg16": vgg_net, "resnet50": resnet_net}

if __name__ == "__main__":
    write(__file__, NETS)
