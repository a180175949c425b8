"""Regions and detections: our operators."""

from __future__ import annotations

from typing import Any

from .table import Run, Work, factory, import_torch


def operators() -> Any:
    """boxpresso.ops.torch."""
    import_torch()
    from ...ops import torch as ops

    return ops


@factory("ROIPooling")
def roi_pooling(w: Work) -> Run:
    layer, ops = w.layer, operators()
    w.need(len(w.step.outputs) == 1, "its second top, where the maxima lie, has no counterpart")
    w.need(layer.numbered is None, "regions (B, 4), one of each image without its number, have no counterpart")
    pooled, scale, pad = list(layer.pooled), float(layer.scale), float(layer.pad_ratio)

    def run(p: Any, x: Any, rois: Any) -> Any:
        rows = rois.reshape(-1, 5)
        if pad:
            margin = (rows[:, 3:] - rows[:, 1:3] + 1) * pad
            rows = import_torch().cat([rows[:, :1], rows[:, 1:3] - margin, rows[:, 3:] + margin], 1)
        return ops.roi_pool(x, rows, pooled, scale)

    return run


@factory("ROIAlign")
def roi_align(w: Work) -> Run:
    layer, ops = w.layer, operators()
    w.need(len(w.step.outputs) == 1, "its further tops, where the maxima lie, have no counterpart")
    w.need(not layer.corners, "Cascade R-CNN's form of it has no counterpart")
    pooled, scale, mode = list(layer.pooled), float(layer.scale), "max" if layer.max else "avg"
    ratio, aligned = int(layer.ratio), bool(layer.aligned)
    return lambda p, x, rois: ops.roi_align(x, rois.reshape(-1, 5), pooled, scale, ratio, aligned, mode)


@factory("ROIAlignRotated")
def roi_align_rotated(w: Work) -> Run:
    layer, ops = w.layer, operators()
    how = list(layer.pooled), float(layer.scale), int(layer.ratio), bool(layer.aligned), bool(layer.clockwise)
    return lambda p, x, rois: ops.roi_align_rotated(x, rois.reshape(-1, 6), *how)


@factory("RiROIAlignRotated")
def riroi_align_rotated(w: Work) -> Run:
    layer, ops = w.layer, operators()
    how = list(layer.pooled), float(layer.scale), int(layer.ratio), int(layer.orientations), bool(layer.clockwise)
    return lambda p, x, rois: ops.riroi_align_rotated(x, rois.reshape(-1, 6), *how)


@factory("RotateROIPooling")
def rotate_roi_pooling(w: Work) -> Run:
    layer, ops = w.layer, operators()
    w.need(len(w.step.outputs) == 1, "its second top, where the maxima lie, has no counterpart")
    pooled, scale = list(layer.pooled), float(layer.scale)
    return lambda p, x, rois, info: ops.rotate_roi_pool(x, rois.reshape(-1, 6), info.reshape(-1, 3), pooled, scale)


@factory("PSROIAlign")
def psroi_align(w: Work) -> Run:
    layer, ops = w.layer, operators()
    w.need(len(w.step.outputs) == 1, "its second top has no counterpart")
    bins, scale, ratio = int(layer.group), float(layer.scale), int(layer.ratio)
    return lambda p, x, rois: ops.ps_roi_align(x, rois.reshape(-1, 5), bins, scale, ratio)


@factory("DeformablePSROIPooling")
def deformable_psroi_pooling(w: Work) -> Run:
    layer, ops = w.layer, operators()
    w.need(len(w.step.outputs) == 1, "its second top has no counterpart")
    how = float(layer.scale), int(layer.output_dim), int(layer.group), int(layer.pooled[0]), int(layer.part)
    more, moves = (int(layer.samples), float(layer.trans_std)), bool(layer.moved)
    pool = ops.deformable_psroi_pool
    return lambda p, x, rois, *trans: pool(x, rois.reshape(-1, 5), trans[0] if moves else None, *how, *more)


@factory("DeformROIPooling", "ModulatedDeformROIPooling")
def deform_roi_pooling(w: Work) -> Run:
    layer, ops = w.layer, operators()
    pooled, how = [int(n) for n in layer.pooled], (float(layer.scale), int(layer.ratio), float(layer.gamma))

    def run(p: Any, x: Any, rois: Any, *moves: Any) -> Any:
        rows = rois.reshape(-1, 5)
        offset = moves[0].reshape(-1, 2, *pooled) if moves else None
        if len(moves) > 1:
            return ops.modulated_deform_roi_pool(x, rows, offset, moves[1].reshape(-1, 1, *pooled), pooled, *how)
        return ops.deform_roi_pool(x, rows, offset, pooled, *how)

    return run


@factory("PrROIPooling")
def prroi_pooling(w: Work) -> Run:
    pooled, scale, ops = list(w.layer.pooled), float(w.layer.scale), operators()
    return lambda p, x, rois: ops.prroi_pool(x, rois.reshape(-1, 5), pooled, scale)


@factory("PSROIPooling", "ROIWarping", "DecodeBBox")
def whole_layer(w: Work) -> Run:
    """The layer itself as one operator: it chooses, or has no function of its own in boxpresso.ops."""
    w.need(not w.params, "it has learned numbers")
    operators()
    torch = import_torch()
    message = w.layer.param.SerializeToString(deterministic=True).hex()
    kind, count = w.step.type, len(w.step.outputs)
    run_layer = torch.ops.boxpresso.layer
    tail = list(w.top_shapes[0][1:])
    return lambda p, *xs: run_layer(list(xs), message, kind, count, tail)
