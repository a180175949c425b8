"""What layers that choose boxes do, by numpy: the oracle of their kernels. `chosen` finds the form of a layer by its type.

Boxes are decoded by numpy, whose exp is not that of the kernels: results are alike within rounding. Suppression is the CPU's kernel,
which has tests of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from typing import Any

import numpy as np
from harness import Rig

from boxpresso.data.boxes import best
from boxpresso.device.functions import exp
from boxpresso.layers.detection import pyramid, suppress
from boxpresso.layers.detection.fields import decode as decode_fields
from boxpresso.layers.detection.rcnn import Rotated, Upright

FORMS: dict[str, Callable[..., list[np.ndarray]]] = {}


def form(*types: str) -> Callable[..., Any]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FORMS.update(dict.fromkeys(types, function))
        return function

    return register


def chosen(text: str, bottoms: list, tops: int = 1, **options: Any) -> list[np.ndarray]:
    """The tops of the layer of this text."""
    layer = Rig(text, bottoms, tops=tops, **options).layer
    arrays = [np.asarray(each, layer.dtype) for each in bottoms]
    return [np.asarray(top).astype(layer.dtype) for top in FORMS[layer.type](layer, arrays, tops)]


# SSD


@form("DetectionOutput")
def detections(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    p, (images, priors) = layer.param.detection_output_param, (len(bottoms[0]), bottoms[2].shape[2] // 4)
    scores, each = bottoms[1].reshape(images, priors, -1), 4 + layer.corners
    locations = bottoms[0].reshape(images, priors, layer.loc_classes, each)
    boxes, variances = bottoms[2].reshape(2, priors, 4)
    if len(bottoms) == 5:
        scores = np.where(bottoms[3].reshape(images, priors, 2)[..., 1:] < p.objectness_score, 0, scores)
    top_k = p.nms_param.top_k if p.nms_param.HasField("top_k") else -1
    least = layer.dtype.type(layer.threshold)
    rows = []
    for image in range(images):
        anchors = (
            boxes if len(bottoms) < 5 else of_ssd(p, boxes, variances, bottoms[4].reshape(images, priors, 4)[image])
        )
        mine = []
        for label in range(p.num_classes):
            by, score = locations[image, :, label if layer.loc_classes > 1 else 0], scores[image, :, label]
            if label == p.background_label_id:
                continue
            at = np.flatnonzero(score > least)
            at = at[best(score[at], top_k)]
            decoded = of_ssd(p, anchors[at], variances[at], by[at, :4])
            decoded = np.where(decoded < 0, 0, np.where(decoded > 1, 1, decoded)) if p.clip else decoded
            stay = suppress.suppress_rows(
                layer.device, decoded, p.nms_param.nms_threshold, eta=p.nms_param.eta, above=True
            )
            numbers = [np.full(len(stay), image), np.full(len(stay), label), score[at[stay]], decoded[stay]]
            if layer.corners:
                size, own = boxes[:, None, 2:] - boxes[:, None, :2], at[stay]
                corners = variances[:, None, :2] * by[:, 4:].reshape(-1, 4, 2) * size
                corners = (corners + boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)).reshape(-1, 8)
                numbers.append(corners[own])
            mine.append(np.column_stack(numbers))
        every = np.concatenate(mine)
        rows.append(every[np.sort(best(every[:, 2], p.keep_top_k))])
    whole = np.concatenate(rows)
    if not len(whole):
        whole = np.full((images, 7 + layer.corners), -1.0)
        whole[:, 0] = np.arange(images)
    return [whole[None, None]]


def of_ssd(p: Any, priors: np.ndarray, variances: np.ndarray, by: np.ndarray) -> np.ndarray:
    by = by if p.variance_encoded_in_target else variances * by
    size = priors[:, 2:] - priors[:, :2]
    if p.code_type == p.DESCRIPTOR.fields_by_name["code_type"].enum_type.values_by_name["CENTER_SIZE"].number:
        centre, half = by[:, :2] * size + (priors[:, :2] + priors[:, 2:]) / 2, np.exp(by[:, 2:]) * size / 2
        return np.concatenate([centre - half, centre + half], 1)
    corner = p.code_type == p.DESCRIPTOR.fields_by_name["code_type"].enum_type.values_by_name["CORNER"].number
    return priors + by * (1 if corner else np.tile(size, 2))


# Region proposal networks


def regions_of(
    layer: Any, kind: Any, boxes: np.ndarray, scores: np.ndarray, settings: Mapping[str, Any], scale: float
) -> np.ndarray:
    """The indices of the boxes that become regions, best first."""
    least = settings["rpn_min_size"] * scale
    size = boxes[:, 2:4] if kind is Rotated else boxes[:, 2:] - boxes[:, :2] + 1
    large = np.flatnonzero((size >= least).all(1) & ~np.isnan(scores))
    before, after = (int(settings[f"rpn_{name}_nms_top_n"]) for name in ("pre", "post"))
    order = large[best(scores[large], before if before > 0 else -1)]
    if settings["rpn_nms_thresh"] is None:
        return order
    rows = Rotated.radians(boxes[order]) if kind is Rotated else boxes[order]
    return order[suppress.suppress_boxes(layer.device, rows, settings["rpn_nms_thresh"], after if after > 0 else -1)]


def by_place(maps: np.ndarray, columns: int) -> np.ndarray:
    return maps.transpose(1, 2, 0).reshape(-1, columns)


@form("Proposal", "FrcnnProposal", "RotateProposal", "SSHProposal", "MNCProposal")
def proposals(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    scores, offsets, info = bottoms
    plain = layer.type in ("SSHProposal", "MNCProposal")
    settings, stride = (layer.limits, layer.stride) if plain else (layer.settings, layer.settings["feat_stride"])
    kind, count = layer.boxes, len(layer.anchors)
    anchors = kind.everywhere(layer.anchors, *scores.shape[2:], stride)
    rows, numbers, images = [], [], info.reshape(len(info), -1)
    for image in range(len(scores)):
        height, width, scale = images[image % len(images)][:3]
        boxes = kind.clip(kind.decode(anchors, by_place(offsets[image], kind.columns)), height, width)
        chances = by_place(scores[image, count:], 1)[:, 0]
        stay = regions_of(layer, kind, boxes, chances, settings, scale)
        rows.append(np.column_stack([np.full(len(stay), image), boxes[stay]]))
        numbers.append(stay if layer.type == "MNCProposal" else chances[stay])
    whole, beside = np.concatenate(rows), np.concatenate(numbers)
    axes = getattr(layer, "trailing", ())
    second = beside[None] if layer.type == "MNCProposal" else beside.reshape(-1, 1, *axes)
    return [whole.reshape(*whole.shape, *axes), second][:tops]


@form("FPNProposal")
def pyramids(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    first = bottoms[0].size < 16 and bottoms[-1].ndim == 4 and len(bottoms[0]) == 1
    info = (bottoms[0] if first else bottoms[-1]).reshape(-1)
    scores = bottoms[layer.levels + 1 :] if first else bottoms[0:-1:2]
    offsets = bottoms[1 : layer.levels + 1] if first else bottoms[1:-1:2]
    boxes, chances = [], []
    for score, by, anchors, stride in zip(scores, offsets, layer.anchors, layer.strides):
        every = Upright.everywhere(anchors, *score.shape[2:], stride)
        boxes.append(Upright.clip(Upright.decode(every, by_place(by[0], 4)), info[0], info[1]))
        chances.append(by_place(score[0, len(anchors) :], 1)[:, 0])
    whole = np.concatenate(boxes)
    stay = regions_of(layer, Upright, whole, np.concatenate(chances), layer.settings, info[2])
    parts = by_levels(np.column_stack([np.zeros(len(stay), layer.dtype), whole[stay]]), tops - 1)
    return [part.reshape(*part.shape, *layer.trailing) for part in parts]


@form("PyramidRegions")
def levels(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    return by_levels(bottoms[0], tops - 1)


def by_levels(regions: np.ndarray, count: int) -> list[np.ndarray]:
    """All regions, by level, then those of each; a level without any has a row of zeros."""
    if not count:
        return [regions]
    padded = np.concatenate([regions, np.zeros((1, 5), regions.dtype)])
    parts = [padded[mine] for mine in pyramid.by_level(regions[:, 1:5], count)]
    return [np.concatenate(parts), *parts]


@form("ScaleRoute")
def routes(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    regions = bottoms[0].astype(np.float64)
    with np.errstate(all="ignore"):
        extent = regions[:, 3:5] - regions[:, 1:3] + 1
        size = np.sqrt(np.where((extent > 0).all(1), extent.prod(1), 0))
        taken = np.flatnonzero((size >= layer.low) & (size < layer.high))
        if not len(taken):
            taken = np.array([np.maximum(size / layer.middle, layer.middle / size).argmin()])
    layer.taken = taken
    return [each[taken] for each in bottoms]


# MNC, RON


@form("MNCStageBridge")
def stage(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    regions, offsets, scores, info = bottoms
    of = scores.argmax(1)
    by = offsets.astype(np.float64).reshape(len(regions), -1, 4)[np.arange(len(regions)), of]
    boxes = Upright.clip(Upright.decode(regions[:, 1:].astype(np.float64), by), *info.reshape(-1)[:2])
    return [np.column_stack([np.zeros(len(boxes)), boxes])]


@form("RONDetection")
def ron(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    objects, classes, offsets = bottoms
    (images, _, height, width), count = objects.shape, len(layer.anchors)
    every = Upright.everywhere(layer.anchors, height, width, layer.stride)
    boxes = [Upright.decode(every, by_place(by, 4)) for by in offsets]
    score = objects[:, count:].transpose(0, 2, 3, 1).reshape(images, -1, 1)
    rest = classes[:, 1:].reshape(images, layer.classes - 1, count, height, width)
    rest = rest.transpose(0, 3, 4, 2, 1).reshape(images, -1, layer.classes - 1)
    return [np.stack(boxes), np.concatenate([score, rest], 2)]


# MS-CNN and Cascade R-CNN


@form("BoxOutput", "BoxGroupOutput")
def fields(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    every = (of_maps if layer.type == "BoxOutput" else of_groups)(layer, bottoms)
    (sure, side), limits = layer.least, [limit if limit > 0 else -1 for limit in layer.limits]
    rows = []
    for image, boxes in enumerate(every):
        wide = boxes[:, 2:4] - boxes[:, :2] + layer.dtype.type(layer.pixels)
        boxes = boxes[(boxes[:, 4] >= np.float32(sure)) & (wide >= np.float32(side)).all(1)]
        boxes = boxes[best(boxes[:, 4], limits[0])]
        threshold = float(np.float32(layer.threshold))
        stay = suppress.suppress_boxes(layer.device, boxes[:, :4], threshold, limits[1], pixels=layer.pixels)
        rows.append(np.column_stack([np.full(len(stay), image), boxes[stay]]))
    whole = np.concatenate(rows)
    return [whole[:, :columns, None, None] for columns in (5, 6)][:tops]


def of_maps(layer: Any, bottoms: list[np.ndarray]) -> np.ndarray:
    """(images, K, 5): corners and scores of all fields of BoxOutput."""
    s, parts = layer.settings, []
    for index, maps in enumerate(bottoms):
        stride, (images, channels, height, width) = s["downsample_rate"][index], maps.shape
        scores, by = maps[:, : channels - 4], layer.restored.restore(maps[:, channels - 4 :], 1)
        field = np.resize([s["field_w"][index], s["field_h"][index]], (images, 2)).astype(np.float64)
        boxes = decode_fields(by, field, stride, s["field_xyr"], s["field_whr"])
        first = np.maximum(boxes[:, :2], 0)
        size = np.minimum(boxes[:, 2:], np.array([width * stride, height * stride])[:, None, None] - first)
        score = scores[:, 1:].max(1, keepdims=True) - scores[:, :1]
        rows = np.concatenate([first, first + size, score], 1).transpose(0, 2, 3, 1)
        parts.append(rows.reshape(images, height * width, 5).astype(layer.dtype))
    return np.concatenate(parts, 1)


def of_groups(layer: Any, bottoms: list[np.ndarray]) -> np.ndarray:
    """Those of BoxGroupOutput."""
    p, real, parts = layer.param.box_group_output_param, layer.dtype.type, []
    for group, scores, offsets in zip(p.box_group_param, bottoms[::2], bottoms[1::2]):
        sizes = np.array([group.field_w, group.field_h], layer.dtype).T[None, :, :, None, None]
        (height, width), count = scores.shape[2:], len(group.field_w)
        by = offsets.reshape(layer.images, count, 4, height, width)
        by = by * layer.std.astype(layer.dtype)[:, None, None] + layer.mean.astype(layer.dtype)[:, None, None]
        place = (np.mgrid[:height, :width][::-1] + 0.5).astype(layer.dtype) * group.stride
        far, wide = real(1 / p.field_xyr), real(log(p.field_whr))
        size = sizes * exp(np.clip(by[:, :, 2:], -wide, wide))
        start = np.clip(by[:, :, :2], -far, far) * sizes + place - size / 2
        most = np.array([width * group.stride, height * group.stride], layer.dtype)[:, None, None]
        boxes = np.concatenate([np.maximum(start, 0), np.minimum(start + size - 1, most)], 2)
        score = 1 - scores[:, :1].reshape(layer.images, count, 1, height, width)
        rows = np.concatenate([boxes, score], 2).transpose(0, 1, 3, 4, 2)
        parts.append(rows.reshape(layer.images, count * height * width, 5))
    return np.concatenate(parts, 1)


# NMS and YOLO


@form("NMS")
def nms(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    boxes = bottoms[0].T if layer.turned else bottoms[0]
    order = best(bottoms[1]) if len(bottoms) > 1 else np.arange(len(boxes))
    return [order[suppress.suppress_boxes(layer.device, boxes[order], layer.threshold, layer.limit)]]


@form("Yolov3DetectionOutput", "YoloDetectionOutput")
def yolo(layer: Any, bottoms: list[np.ndarray], tops: int) -> list[np.ndarray]:
    p, choice, images = layer.p, layer.choice, len(bottoms[0])
    sure, parts = np.float32(p.confidence_threshold).astype(layer.dtype), []
    for maps, anchors, scale in zip(bottoms, choice.anchors, choice.scales):
        height, width = maps.shape[2:]
        x = maps.reshape(images, p.num_box, -1, height, width).transpose(0, 3, 4, 1, 2)
        place, cells = np.mgrid[:height, :width][::-1].transpose(1, 2, 0)[:, :, None], np.array([width, height])
        with np.errstate(all="ignore"):
            centre = (place + logistic(x[..., :2])) / cells.astype(layer.dtype)
            half = np.exp(x[..., 2:4]) * anchors / (cells * scale).astype(layer.dtype) / 2
            boxes = np.concatenate([centre - half, centre + half], -1).reshape(images, -1, 4)
            if choice.exclusive:
                raised = np.exp(x[..., 5:] - x[..., 5:].max(-1, keepdims=True))
                scores = logistic(x[..., 4]) * (raised.max(-1) / raised.sum(-1))
                scores = np.where(scores >= sure, scores, np.nan).reshape(images, -1)
                labels = raised.argmax(-1).reshape(images, -1)
            else:
                scores = logistic(x[..., 4:5]) * logistic(x[..., 5:])
                scores = np.where(scores > sure, scores, np.nan).reshape(images, -1)
                labels = np.broadcast_to(np.arange(p.num_classes), x[..., 5:].shape).reshape(images, -1)
                boxes = boxes.repeat(p.num_classes, 1)
        parts.append((boxes, scores, labels))
    boxes, scores, labels = (np.concatenate(each, 1) for each in zip(*parts))
    rows = []
    for image in range(images):
        at = np.flatnonzero(~np.isnan(scores[image]))
        at = at[best(scores[image, at])]
        stay = at[
            suppress.suppress_boxes(
                layer.device, boxes[image, at].astype(layer.dtype), float(np.float32(p.nms_threshold)), pixels=False
            )
        ]
        rows.append(
            np.column_stack(
                [np.full(len(stay), image), labels[image, stay] + 1, scores[image, stay], boxes[image, stay]]
            )
        )
    whole = np.concatenate(rows)
    if not len(whole):
        whole = np.full((images, 7), -1.0)
        whole[:, 0] = np.arange(images)
    return [whole[None, None]]


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
