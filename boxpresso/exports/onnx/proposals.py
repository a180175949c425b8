"""From the output of a region proposal network to regions of interest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .graph import OnnxGraph, Work, lowering
from .rotated import rotated_rows, suppressed_rotated
from .suppress import LEAST, column, suppressed


@lowering("Proposal", "FrcnnProposal", "RotateProposal")
def proposal(g: OnnxGraph, w: Work) -> list[str]:
    """Decode, clip, leave out the small, the best, suppression; of every image."""
    layer = w.layer
    rows, best, _ = chosen(g, w, layer.boxes, layer.settings["feat_stride"], layer.settings, w.bottoms[2])
    tops = [rows, best][: len(w.step.outputs)]
    if layer.trailing:
        tops = [g.unsqueeze(top, *range(2, 2 + len(layer.trailing))) for top in tops]
    for top, wide in zip(tops, (layer.boxes.columns + 1, 1)):
        g.dims[top] = ["regions", wide, *layer.trailing]
    return tops


@lowering("SSHProposal", "MNCProposal")
def plain_proposal(g: OnnxGraph, w: Work) -> list[str]:
    """The same of one image; the second top is the scores of SSH's, and the numbers of MNC's anchors."""
    layer = w.layer
    info = g.reshape(w.bottoms[2], [1, -1])
    rows, best, which = chosen(g, w, layer.boxes, layer.stride, layer.limits, info)
    g.dims[rows] = ["regions", 5]
    if w.step.type == "SSHProposal":
        g.dims[best] = ["regions", 1]
        return [rows, best][: len(w.step.outputs)]
    numbers = g.transpose(g.cast(which, "float"), 1, 0)
    g.dims[numbers] = [1, "regions"]
    return [rows, numbers][: len(w.step.outputs)]


def chosen(
    g: OnnxGraph, w: Work, kind: Any, stride: float, limits: Mapping[str, Any], info: str
) -> tuple[str, str, str]:
    """Rows (R, 1 + columns), their scores (R, 1) and the numbers of their boxes in the image (R, 1).

    The choice of boxes that an image's scores and offsets, the first two bottoms, say.
    limits: by the names of py-faster-rcnn. info: (N, 3 or more).
    """
    layer = w.layer
    _, _, height, width = w.bottom_shapes[0]
    count, columns = len(layer.anchors), kind.columns
    anchors = kind.everywhere(layer.anchors, height, width, stride).astype(np.float32)
    scores = places_first(g, g.slice(w.bottoms[0], 1, count, None), 1)  # (N, K, 1)
    by = places_first(g, w.bottoms[1], columns)
    rotated = columns == 5
    boxes = rotated_rows(g, anchors, by) if rotated else moved(g, anchors, by)
    scale = g.unsqueeze(g.slice(info, 1, 2, 3), 1)
    if not rotated:
        boxes = clipped(g, boxes, info)
    least = g.mul(scale, float(limits["rpn_min_size"]))
    if rotated:
        side = g.slice(boxes, 2, 2, 4)
    else:
        side = g.add(g.sub(g.slice(boxes, 2, 2, 4), g.slice(boxes, 2, 0, 2)), 1.0)
    small = g.op("Less", g.reduce("ReduceMin", side, [2]), least)
    scores = g.squeeze(g.op("Where", small, g.const(-np.inf), scores), 2)  # (N, K)
    before, after = int(limits["rpn_pre_nms_top_n"]), int(limits["rpn_post_nms_top_n"])
    total = height * width * count
    best, which = g.top_k(scores, min(before, total) if before > 0 else total, 1)
    boxes = g.op("GatherND", boxes, g.unsqueeze(which, 2), batch_dims=1)  # (N, k, columns)
    limit = after if after > 0 else -1
    if limits["rpn_nms_thresh"] is None:
        w.need(limit < 0, f"post_nms_top_n {after} without suppression")
        both = g.transpose(g.op("NonZero", g.op("Greater", best, g.const(LEAST))), 1, 0)
        image = column(g, both, 0)
    else:
        if rotated:
            w.need(g.target.computed, f"{g.target.name} runs no loop over rotated regions")
            w.need(w.bottom_shapes[0][0] == 1, "rotated regions of more than one image")
            stay = suppressed_rotated(g, g.squeeze(boxes, 0), g.squeeze(best, 0), limits["rpn_nms_thresh"], limit)
            image = g.op("Mul", stay, g.const(0, "int64"))
        else:
            stay = suppressed(
                g, boxes, g.unsqueeze(best, 1), limits["rpn_nms_thresh"], limit, pixels=True, reached=True
            )
            image, stay = column(g, stay, 0), column(g, stay, 2)
        both = g.concat([g.unsqueeze(image, 1), g.unsqueeze(stay, 1)], 1)
    rows = g.concat([g.unsqueeze(g.cast(image, "float"), 1), g.op("GatherND", boxes, both)], 1)
    return rows, g.unsqueeze(g.op("GatherND", best, both), 1), g.unsqueeze(g.op("GatherND", which, both), 1)


def clipped(g: OnnxGraph, boxes: str, info: str) -> str:
    """Boxes (N, K, 4) with every corner on a pixel of the image of info (N, 2 or more): height, width."""
    turned = g.gather(g.slice(info, 1, 0, 2), g.ints(1, 0), 1)  # width, height
    most = g.unsqueeze(g.sub(turned, 1.0), 1)
    return g.larger(g.smaller(boxes, g.concat([most, most], 2)), 0.0)


@lowering("TextProposal")
def text_proposal(g: OnnxGraph, w: Work) -> list[str]:
    """CTPN's boxes at all places: height and centre move, the sides stay; neither sorted nor suppressed."""
    layer = w.layer
    _, _, height, width = w.bottom_shapes[0]
    count = len(layer.anchors)
    own = layer.boxes.everywhere(layer.anchors, height, width, layer.stride)
    tall = own[:, 3:] - own[:, 1:2] + 1
    by = places_first(g, w.bottoms[1], 2)
    size = g.mul(g.op("Exp", g.slice(by, 2, 1, 2)), g.const(tall.astype(np.float32)))
    centre = g.const(((own[:, 1:2] + own[:, 3:]) / 2).astype(np.float32))
    first = g.add(g.mul(g.slice(by, 2, 0, 1), g.const(tall.astype(np.float32))), centre)
    first = g.sub(first, g.mul(size, 0.5))
    sides = [g.const(own[None, :, k : k + 1].astype(np.float32)) for k in (0, 2)]
    boxes = g.concat([sides[0], first, sides[1], g.add(first, size)], 2)
    boxes = g.squeeze(clipped(g, boxes, g.reshape(w.bottoms[2], [1, -1])), 0)
    return [boxes, g.squeeze(places_first(g, g.slice(w.bottoms[0], 1, count, None), 1), 0)]


@lowering("MNCStageBridge")
def mnc_stage_bridge(g: OnnxGraph, w: Work) -> list[str]:
    """The regions moved by the offsets of the class with the greatest score, and clipped."""
    w.need(len(w.step.outputs) == 1, "it is one that trains")
    regions, by, scores = w.bottoms[:3]
    best = g.op("ArgMax", g.reshape(scores, [-1, w.layer.columns]), axis=1, keepdims=1)
    by = g.op("GatherND", g.reshape(by, [-1, w.layer.columns, 4]), best, batch_dims=1)
    boxes = g.slice(g.reshape(regions, [-1, 5]), 1, 1, 5)
    size = g.add(g.sub(g.slice(boxes, 1, 2, 4), g.slice(boxes, 1, 0, 2)), 1.0)
    centre = g.add(g.slice(boxes, 1, 0, 2), g.mul(size, 0.5))
    place = g.add(g.mul(g.slice(by, 1, 0, 2), size), centre)
    half = g.mul(g.mul(g.op("Exp", g.slice(by, 1, 2, 4)), size), 0.5)
    corners = g.unsqueeze(g.concat([g.sub(place, half), g.add(place, half)], 1), 0)
    rows = g.squeeze(clipped(g, corners, g.reshape(w.bottoms[3], [1, -1])), 0)
    return [g.concat([g.mul(g.slice(rows, 1, 0, 1), 0.0), rows], 1)]


@lowering("MNCMask")
def mnc_mask(g: OnnxGraph, w: Work) -> list[str]:
    w.need(len(w.step.outputs) == 1, "it is one that trains")
    return [g.reshape(w.bottoms[0], [-1, *w.top_shapes[0][1:]])]


def places_first(g: OnnxGraph, x: str, columns: int) -> str:
    """(N, H * W * A, columns) of a map (N, A * columns, H, W): by place, then anchor."""
    turned = g.transpose(x, 0, 2, 3, 1)
    return g.op("Reshape", turned, g.concat([g.size(x, 0), g.ints(-1, columns)], 0))


def moved(g: OnnxGraph, anchors: np.ndarray, by: str) -> str:
    """(N, K, 4): the anchors (K, 4) moved by offsets; as Upright.decode."""
    size = anchors[:, 2:] - anchors[:, :2] + 1
    centre = anchors[:, :2] + np.float32(0.5) * size
    place = g.op("Add", g.op("Mul", g.slice(by, 2, 0, 2), g.const(size)), g.const(centre))
    half = g.mul(g.op("Mul", g.op("Exp", g.slice(by, 2, 2, 4)), g.const(size)), 0.5)
    return g.concat([g.sub(place, half), g.add(place, half)], 2)


@lowering("BoxGroupOutput")
def box_group_output(g: OnnxGraph, w: Work) -> list[str]:
    layer, p = w.layer, w.layer.param.box_group_output_param
    boxes, scores = [], []
    for k, group in enumerate(p.box_group_param):
        box, score = field_boxes(g, w, k, group)
        boxes.append(box)
        scores.append(score)
    all_boxes, all_scores = g.concat(boxes, 1), g.squeeze(g.concat(scores, 1), 2)
    side = g.add(g.sub(g.slice(all_boxes, 2, 2, 4), g.slice(all_boxes, 2, 0, 2)), 1.0)
    large = g.op("GreaterOrEqual", g.reduce("ReduceMin", side, [2], keep=False), g.const(float(p.min_size)))
    sure = g.op("GreaterOrEqual", all_scores, g.const(np.float32(p.fg_thr)))
    masked = g.op("Where", g.op("And", large, sure), all_scores, g.const(-np.inf))
    total = sum(n * h * wide // layer.images for n, _, h, wide in w.bottom_shapes[::2])
    best, which = g.top_k(masked, min(p.max_nms_num or total, total), 1)
    chosen = g.op("GatherND", all_boxes, g.unsqueeze(which, 2), batch_dims=1)
    stay = suppressed(
        g,
        chosen,
        g.unsqueeze(best, 1),
        float(np.float32(p.iou_thr)),
        p.max_post_nms_num or -1,
        pixels=True,
        reached=True,
    )
    image = column(g, stay, 0)
    both = g.concat([g.unsqueeze(image, 1), g.unsqueeze(column(g, stay, 2), 1)], 1)
    rows = g.concat([g.unsqueeze(g.cast(image, "float"), 1), g.op("GatherND", chosen, both)], 1)
    scored = g.concat([rows, g.unsqueeze(g.op("GatherND", best, both), 1)], 1)
    return [g.unsqueeze(top, 2, 3) for top in (rows, scored)[: len(w.step.outputs)]]


def field_boxes(g: OnnxGraph, w: Work, index: int, group: object) -> tuple[str, str]:
    """Boxes (N, G * H * W, 4) and scores (N, G * H * W, 1) of one group of fields."""
    layer, p = w.layer, w.layer.param.box_group_output_param
    height, width = w.bottom_shapes[2 * index][2:]
    fields = np.array([group.field_w, group.field_h], np.float32).T[None, :, :, None, None]  # type: ignore[attr-defined]
    count, stride = fields.shape[1], group.stride  # type: ignore[attr-defined]
    by = g.op("Reshape", w.bottoms[2 * index + 1], g.ints(-1, count, 4, height, width))
    std, mean = (np.asarray(v, np.float32).reshape(4, 1, 1) for v in (layer.std, layer.mean))
    by = g.op("Add", g.op("Mul", by, g.const(std)), g.const(mean))
    place = (np.mgrid[:height, :width][::-1] + 0.5).astype(np.float32) * stride
    far, wide = float(np.float32(1 / p.field_xyr)), float(np.float32(np.log(p.field_whr)))
    size = g.op("Mul", g.op("Exp", g.clamp(g.slice(by, 2, 2, 4), -wide, wide)), g.const(fields))
    start = g.op("Mul", g.clamp(g.slice(by, 2, 0, 2), -far, far), g.const(fields))
    start = g.sub(g.op("Add", start, g.const(place)), g.mul(size, 0.5))
    most = np.array([width * stride, height * stride], np.float32)[:, None, None]
    end = g.op("Min", g.sub(g.add(start, size), 1.0), g.const(most))
    boxes = g.concat([g.larger(start, 0.0), end], 2)  # (N, G, 4, H, W)
    boxes = g.op("Reshape", g.transpose(boxes, 0, 1, 3, 4, 2), g.ints(-1, count * height * width, 4))
    back = g.slice(w.bottoms[2 * index], 1, 0, 1)
    score = g.sub(1.0, g.op("Reshape", back, g.ints(-1, count * height * width, 1)))
    return boxes, score
