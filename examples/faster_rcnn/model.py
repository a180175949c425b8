"""Writes Faster R-CNN (Ren et al. 2015), trained end to end: ZF, VGG16, and ResNet-50 with ROIAlign, for Pascal VOC's 20 classes.

    python -m examples.faster_rcnn.model     # from the repository's root; writes zf/train.prototxt and so on

Inputs: data (1, 3, H, W), B, G, R less (102.9801, 115.9465, 122.7717), with a shortest side of 600 pixels; im_info (1, 3): H, W and
the scale. Outputs: cls_prob (R, 21) and bbox_pred (R, 84) for the regions `rois` (R, 5).
"""

from __future__ import annotations

from boxpresso import L, NetSpec
from boxpresso.proto import TEST, TRAIN
from boxpresso.recipes.regions import finish, propose, two_dense

from ..trunks import Writer, resnet50_last, resnet50_stem, vgg16, write, zf

CLASSES, STRIDE = 21, 16


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
