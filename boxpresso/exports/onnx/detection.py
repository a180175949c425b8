"""The last layers of SSD and YOLO: decode, choose by score, suppress, choose again."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import OnnxGraph, Work, lowering
from .suppress import LEAST, column, suppressed

CORNER, CENTER_SIZE = 1, 2  # PriorBoxParameter.CodeType
OUT = -np.inf  # the score of a box that is out


@lowering("DetectionOutput")
def detection_output(g: OnnxGraph, w: Work) -> str:
    layer = w.layer
    p, classes = layer.param.detection_output_param, layer.classes
    images, priors = (1, -1) if w.free else (-1, layer.priors)  # regions as priors: of one image, as many as there are
    w.need(not w.free or w.bottom_shapes[1][0] == 1, "priors that are regions must be of one image")
    w.need(not w.free or layer.top_k > 0, "of regions as priors nms_param must say a top_k")
    w.need(not layer.corners, "polygons (TextBoxes++) have no counterpart")
    w.need(not layer.states, "states (do_state_prediction) have no counterpart")
    w.need(p.nms_param.eta == 1, f"eta {p.nms_param.eta:g}, a threshold that changes, has no counterpart; set eta to 1")
    w.need(p.nms_param.nms_threshold <= 1, f"nms_threshold {p.nms_param.nms_threshold:g} is above 1")
    scores = g.op("Reshape", w.bottoms[1], g.ints(images, priors, classes))
    boxes = decoded(g, w, images, priors)
    if len(w.bottoms) == 5:
        objectness = g.slice(g.op("Reshape", w.bottoms[3], g.ints(images, priors, 2)), 2, 1, 2)
        scores = g.op("Where", g.op("Less", objectness, g.const(p.objectness_score)), g.const(0.0), scores)
    labels = [c for c in range(classes) if c != layer.background]
    w.need(labels, f"of num_classes {classes} none is left beside background_label_id {layer.background}")
    by_class = g.transpose(scores, 0, 2, 1)  # (N, C, P)
    if len(labels) < classes:
        by_class = g.gather(by_class, g.ints(*labels), 1)
    above = g.op("Greater", by_class, g.const(max(layer.threshold, LEAST)))
    by_class = g.op("Where", above, by_class, g.const(OUT))
    if w.free:  # so that there are top_k of them
        count = layer.top_k
        by_class = g.concat([by_class, g.const(np.full((1, len(labels), count), OUT, np.float32))], 2)
        boxes = g.concat([boxes, g.const(np.zeros((1, count, layer.loc_classes, 4), np.float32))], 1)
    else:
        count = priors if layer.top_k < 0 else min(layer.top_k, priors)
    best, which = g.top_k(by_class, max(count, 1), 2)  # (N, L, k)
    boxes = boxes_of(g, boxes, which, layer.loc_classes, labels)  # (N * L, k, 4)
    flat = g.op("Reshape", best, g.ints(-1, 1, max(count, 1)))
    stay = suppressed(g, boxes, flat, p.nms_param.nms_threshold, never_empty=True)
    both = g.concat([g.unsqueeze(column(g, stay, k), 1) for k in (0, 2)], 1)
    score = g.op("GatherND", g.squeeze(flat, 1), both)
    chosen, none = dense(g, flat, both, score, len(labels) * max(count, 1), p.keep_top_k)
    image, place = (g.gather(chosen, g.const(k, "int64")) for k in (0, 1))
    label = g.gather(g.ints(*labels), g.op("Div", place, g.const(max(count, 1), "int64")))
    at = g.add(g.op("Mul", image, g.const(len(labels) * max(count, 1), "int64")), place)
    corners = g.gather(g.op("Reshape", boxes, g.ints(-1, 4)), at)
    columns = [g.cast(image, "float"), g.cast(label, "float"), g.gather(g.op("Reshape", flat, g.ints(-1)), at)]
    rows = g.concat([*(g.unsqueeze(v, 1) for v in columns), corners], 1)
    return finished(g, rows, none)


def dense(g: OnnxGraph, like: str, where: str, score: str, each: int, keep: int) -> tuple[str, str]:
    """(2, D): image and place in it, of `each` places, of the `keep` best of the image, by image and place; and a 1 where
    there are none at all, and so the first place of each image stands there.

    where: (M, 2), group of places and place in the group of what stays; like: (groups, 1, places), of scores.
    """
    shape = g.op("Shape", g.squeeze(like, 1))
    scores = g.op("ScatterND", g.op("Expand", g.const(OUT), shape), where, score)
    scores = g.op("Reshape", scores, g.ints(-1, each))
    if 0 <= keep < each:
        best, which = g.top_k(scores, max(keep, 1), 1)
        best = best if keep else g.op("Expand", g.const(OUT), g.op("Shape", best))
        nothing = g.op("Expand", g.const(OUT), g.op("Shape", scores))
        scores = g.op("ScatterElements", nothing, which, best, axis=1)
    there = g.cast(g.op("Greater", scores, g.const(LEAST)), "float")
    none = g.sub(1.0, g.reduce("ReduceMax", there, [0, 1]))
    first = g.const(np.eye(1, each, dtype=np.float32))
    return g.op("NonZero", g.larger(there, g.mul(none, first))), none


def decoded(g: OnnxGraph, w: Work, images: int, priors: int) -> str:
    """(N, P, L, 4): the boxes that the locations say, relative to the priors; -1 in the place of N or P is what is left."""
    layer = w.layer
    p, classes = layer.param.detection_output_param, layer.loc_classes
    both = g.op("Reshape", w.bottoms[2], g.ints(2, priors, 4))
    prior, variance = (g.unsqueeze(g.gather(both, g.const(k, "int64")), 1) for k in (0, 1))  # (P, 1, 4)
    if len(w.bottoms) == 5:
        first = g.op("Reshape", w.bottoms[4], g.ints(images, priors, 1, 4))
        prior = decode(g, p, prior, variance, first)
    offsets = g.op("Reshape", w.bottoms[0], g.ints(images, priors, classes, 4))
    boxes = decode(g, p, prior, variance, offsets)
    return g.clamp(boxes, 0.0, 1.0) if p.clip else boxes


def decode(g: OnnxGraph, p: Any, prior: str, variance: str, offsets: str) -> str:
    """Boxes from offsets relative to priors, last axis 4; as `decode` of boxes.h."""
    moved = offsets if p.variance_encoded_in_target else g.mul(offsets, variance)
    start, end = (g.slice(prior, -1, k, k + 2) for k in (0, 2))
    size = g.sub(end, start)
    if p.code_type == CENTER_SIZE:
        middle = g.mul(g.add(start, end), 0.5)
        centre = g.add(g.mul(g.slice(moved, -1, 0, 2), size), middle)
        half = g.mul(g.mul(g.op("Exp", g.slice(moved, -1, 2, 4)), size), 0.5)
        return g.concat([g.sub(centre, half), g.add(centre, half)], -1)
    if p.code_type == CORNER:
        return g.add(prior, moved)
    return g.add(prior, g.mul(moved, g.concat([size, size], -1)))


def boxes_of(g: OnnxGraph, boxes: str, which: str, loc_classes: int, labels: list[int]) -> str:
    """(N * L, k, 4): of boxes (N, P, 1 or C, 4) those that which (N, L, k) names."""
    if loc_classes == 1:
        shared = g.squeeze(boxes, 2)  # (N, P, 4)
        chosen = g.op("GatherND", shared, g.unsqueeze(which, 3), batch_dims=1)
    else:
        own = g.transpose(boxes, 0, 2, 1, 3)
        own = own if len(labels) == loc_classes else g.gather(own, g.ints(*labels), 1)
        chosen = g.op("GatherND", own, g.unsqueeze(which, 3), batch_dims=2)
    return g.op("Reshape", chosen, g.concat([g.ints(-1), g.size(which, 2), g.ints(4)], 0))


def finished(g: OnnxGraph, rows: str, none: str) -> str:
    """(1, 1, D, 7); where `none` is 1 a row (image, -1, ..) of each."""
    nothing = g.op("Greater", none, g.const(0.5))
    rest = g.op("Where", nothing, g.const(-1.0), g.slice(rows, 1, 1, None))
    result = g.unsqueeze(g.concat([g.slice(rows, 1, 0, 1), rest], 1), 0, 1)
    g.dims[result] = [1, 1, "detections", 7]
    return result


@lowering("Yolov3DetectionOutput")
def yolo_v3(g: OnnxGraph, w: Work) -> str:
    """Boxes and scores of all maps; of each image suppression over all classes together."""
    layer, p = w.layer, w.layer.p
    boxes, scores = [], []
    for i, (x, shape) in enumerate(zip(w.bottoms, w.bottom_shapes)):
        height, width = shape[2:]
        mine = layer.anchors[list(p.mask[i * p.num_box : (i + 1) * p.num_box])].astype(np.float32)
        cells, scale = np.array([width, height], np.float32), np.float32(p.anchors_scale[i])
        values = places_first(g, x, shape, p)
        boxes.append(yolo_boxes(g, values, shape, mine / (cells * scale)))
        sure = g.op("Sigmoid", g.slice(values, 4, 4, 5))
        scores.append(flat(g, g.mul(sure, g.op("Sigmoid", g.slice(values, 4, 5, None))), p.num_classes))
    threshold = g.const(np.float32(p.confidence_threshold))
    all_scores = g.concat(scores, 1)
    return yolo_rows(g, w, g.concat(boxes, 1), all_scores, g.op("Greater", all_scores, threshold))


@lowering("YoloDetectionOutput")
def yolo_v2(g: OnnxGraph, w: Work) -> str:
    layer, p = w.layer, w.layer.p
    boxes, scores = [], []
    for x, shape in zip(w.bottoms, w.bottom_shapes):
        cells = np.array([shape[3], shape[2]], np.float32)
        values = places_first(g, x, shape, p)
        boxes.append(yolo_boxes(g, values, shape, layer.anchors.astype(np.float32) / cells))
        sure = g.op("Sigmoid", g.slice(values, 4, 4, 5))
        scores.append(flat(g, g.mul(sure, g.op("Softmax", g.slice(values, 4, 5, None), axis=4)), p.num_classes))
    all_scores = g.concat(scores, 1)
    likeliest = g.op("ArgMax", all_scores, axis=2, keepdims=1)
    first = g.op("Equal", g.const(np.arange(p.num_classes), "int64"), likeliest)
    sure = g.op("GreaterOrEqual", all_scores, g.const(np.float32(p.confidence_threshold)))
    return yolo_rows(g, w, g.concat(boxes, 1), all_scores, g.op("And", first, sure))


def places_first(g: OnnxGraph, x: str, shape: tuple[int, ...], p: Any) -> str:
    """(N, H, W, B, 5 + classes) of a map (N, B (5 + classes), H, W)."""
    split = g.op("Reshape", x, g.ints(-1, p.num_box, 5 + p.num_classes, *shape[2:]))
    return g.transpose(split, 0, 3, 4, 1, 2)


def flat(g: OnnxGraph, x: str, columns: int) -> str:
    """(N, P, columns) of (N, H, W, B, columns)."""
    return g.op("Reshape", x, g.concat([g.size(x, 0), g.ints(-1, columns)], 0))


def yolo_boxes(g: OnnxGraph, values: str, shape: tuple[int, ...], anchors: np.ndarray) -> str:
    """(N, P, 4): corners as fractions of the image; anchors: (B, 2), as fractions of it too."""
    height, width = shape[2:]
    cells = np.array([width, height], np.float32)
    place = np.stack(np.meshgrid(np.arange(width), np.arange(height)), 2).astype(np.float32)[:, :, None]
    centre = g.op("Div", g.op("Add", g.op("Sigmoid", g.slice(values, 4, 0, 2)), g.const(place)), g.const(cells))
    half = g.op("Mul", g.op("Exp", g.slice(values, 4, 2, 4)), g.const(anchors / 2))
    return flat(g, g.concat([g.sub(centre, half), g.add(centre, half)], 4), 4)


def yolo_rows(g: OnnxGraph, w: Work, boxes: str, scores: str, chosen: str) -> str:
    """Rows by image and falling score; a box has a row for each of its classes, and all suppress each other."""
    p = w.layer.p
    classes = p.num_classes
    masked = g.op("Where", chosen, scores, g.const(0.0))
    together = g.op("Reshape", masked, g.concat([g.size(masked, 0), g.ints(1, -1)], 0))  # (N, 1, P * C)
    number = g.count_up(g.size(together, 2), "int64")
    of_box = g.gather(boxes, g.op("Div", number, g.const(classes, "int64")), 1)  # (N, P * C, 4)
    stay = suppressed(
        g, of_box, together, float(np.float32(p.nms_threshold)), reached=True, ranked=False, never_empty=True
    )
    image, at = column(g, stay, 0), column(g, stay, 2)
    both = g.concat([g.unsqueeze(image, 1), g.unsqueeze(at, 1)], 1)
    label = g.add(g.cast(g.op("Mod", at, g.const(classes, "int64")), "float"), 1.0)
    score = g.op("GatherND", g.squeeze(together, 1), both)
    parts = [g.unsqueeze(v, 1) for v in (g.cast(image, "float"), label, score)]
    none = g.cast(g.op("LessOrEqual", g.reduce("ReduceMax", score, [0]), g.const(0.0)), "float")
    return finished(g, g.concat([*parts, g.op("GatherND", of_box, both)], 1), g.unsqueeze(none, 1))


@lowering("DecodeBBox")
def decode_bbox(g: OnnxGraph, w: Work) -> str:
    layer, count = w.layer, w.bottom_shapes[0][0]
    offsets, rest = w.bottoms[0], w.bottoms[1:]
    regions = rest[1] if layer.by_score else rest[0]
    region_shape = w.bottom_shapes[2 if layer.by_score else 1]
    regions = regions if len(region_shape) == 2 else g.op("Reshape", regions, g.ints(-1, 5))
    by = g.op("Reshape", offsets, g.concat([g.size(offsets, 0), g.ints(-1, 4)], 0))
    if layer.by_score:
        scores = rest[0] if len(w.bottom_shapes[1]) == 2 else g.reshape(rest[0], (count, w.bottom_shapes[1][1]), True)
        best = g.op("ArgMax", g.slice(scores, 1, 1, None), axis=1, keepdims=1)
        by = g.op("GatherND", by, g.op("Add", best, g.const(1, "int64")), batch_dims=1)
    else:
        by = g.gather(by, g.const(1, "int64"), 1)
    by = g.add(g.op("Mul", by, g.const(layer.std)), g.const(layer.mean))
    start, end = g.slice(regions, 1, 1, 3), g.slice(regions, 1, 3, 5)
    size = g.add(g.sub(end, start), 1.0)
    grown = g.mul(size, g.op("Exp", g.slice(by, 1, 2, 4)))
    less = g.sub(grown, 1.0)
    first = g.sub(g.add(g.mul(g.slice(by, 1, 0, 2), size), g.mul(g.add(start, end), 0.5)), g.mul(less, 0.5))
    rows = g.concat([g.slice(regions, 1, 0, 1), first, g.add(first, less)], 1)
    return rows if len(region_shape) == 2 else g.reshape(rows, w.top_shapes[0], True)
