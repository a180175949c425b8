"""The regions that a detector learns from as MS-CNN and Cascade R-CNN choose them: several images, true boxes to be ignored."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...data.boxes import iou
from ...device.functions import log
from ..core import Layer
from . import fields
from .rcnn import blocks

COLUMNS = 6  # of a matched true box: label, xmin, ymin, xmax, ymax, overlap


def round_up(value: float) -> int:
    """As C rounds a number that is not below 0."""
    return int(np.floor(value + 0.5))


class Chosen(NamedTuple):
    """The regions that were chosen.

    Attributes
    ----------
    boxes, labels, pairs, weights
        Regions (D, 5), labels (D), matched true boxes (D, 6), sample weights (D).
    rows, at
        (N,), the rows of objects and the places of their offsets.
    offsets, inside
        (N, 4) and (N, 1), the offsets and their weights.
    """

    boxes: np.ndarray
    labels: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    at: np.ndarray
    offsets: np.ndarray
    inside: np.ndarray


def choose(
    layer: Layer, p: Any, deviation: fields.Deviation, aware: bool, regions: np.ndarray, truth: np.ndarray
) -> Chosen:
    """The regions that a batch is made of, with what is to be learned of them.

    Parameters
    ----------
    p
        A proposal_target_param. Regions with an overlap of fg_thr or more are objects, unless their true box is to be ignored;
        those from bg_thr_lw and below bg_thr_hg are background. Of objects fg_fraction * batch_size are drawn, of background as
        many as the batch leaves; if that is too few and pickup_discard says so, those that are neither fill it up.
    aware
        Whether each class has offsets of its own; else they are at place 1.
    regions
        (R, 5): image, xmin, ymin, xmax, ymax.
    truth
        (G, 7 or more): image (-1 for none), xmin, ymin, xmax, ymax, label, whether to ignore it.

    Without any region to draw from, a random box of an image that is no object is background.
    """
    draws = layer.draws()
    truth = truth[truth[:, 0] >= 0]
    if p.append_gtbox:
        regions = np.concatenate([regions, truth[:, :5]])
    layer.need_pairs("overlaps of regions and true boxes", len(regions) * len(truth))
    matched, most = np.zeros(len(regions), int), np.zeros(len(regions))
    for block in blocks(len(regions), len(truth)) if len(truth) else ():
        shared = iou(regions[block, None, 1:5], truth[:, 1:5], last=1)
        shared = np.where(regions[block, None, 0] == truth[:, 0], shared, -1)
        matched[block], most[block] = shared.argmax(1), np.maximum(shared.max(1), 0)
    front = most >= np.float32(p.fg_thr) if len(truth) else np.zeros(len(regions), bool)
    ignored = truth[matched, 6] != 0 if len(truth) else np.zeros(len(regions), bool)
    back = ~front & (most >= np.float32(p.bg_thr_lw)) & (most < np.float32(p.bg_thr_hg))
    objects, others = np.flatnonzero(front & ~ignored), np.flatnonzero(back)
    rest = np.flatnonzero(~front & ~back)
    size = len(objects) + len(others) if p.batch_size == -1 else p.batch_size
    few = len(objects) if p.batch_size == -1 else min(round_up(p.fg_fraction * p.batch_size), len(objects))
    if len(objects) > few:
        objects = draws.choice(objects, size=few, replace=False)
    if len(others) > size - few:
        others = draws.choice(others, size=size - few, replace=False)
    elif p.pickup_discard:
        others = np.concatenate([others, rest[: size - few - len(others)]])
    chosen = np.concatenate([objects, others])
    if not len(chosen):
        regions = np.concatenate([regions, [backup(p, truth, draws)]])
        matched, most, chosen = np.append(matched, 0), np.append(most, 0), np.array([len(regions) - 1])
    labels = np.zeros(len(chosen))
    labels[: len(objects)] = truth[matched[objects], 5] if len(objects) else 0
    rows, boxes = np.arange(len(objects)), regions[chosen]
    pairs = np.zeros((len(chosen), COLUMNS))
    if len(rows):
        pairs[rows] = np.column_stack([labels[rows], truth[matched[objects], 1:5], most[objects]])
    placed = place(p, deviation, aware, boxes, pairs, labels)
    return Chosen(boxes, labels, pairs, sample_weights(p, labels, pairs[:, 5]), *placed)


def place(
    p: Any, deviation: fields.Deviation, aware: bool, boxes: np.ndarray, pairs: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows of objects, the places of their labels, their offsets and the weights of these."""
    rows = np.flatnonzero(labels > 0)
    at = labels[rows].astype(int) if aware else np.ones(len(rows), int)
    size, real = boxes[rows, 3:5] - boxes[rows, 1:3] + 1, pairs[rows, 3:5] - pairs[rows, 1:3] + 1
    centre = pairs[rows, 1:3] + real / 2 - boxes[rows, 1:3] - size / 2
    offsets = np.concatenate([centre / size, log(real / size)], 1)
    inside = (pairs[rows, 5] >= np.float32(p.bbox_thr_lw)) & (pairs[rows, 5] <= np.float32(p.bbox_thr_hg))
    return rows, at, (offsets - deviation.mean) / deviation.std, inside[:, None]


def sample_weights(p: Any, labels: np.ndarray, overlaps: np.ndarray) -> np.ndarray:
    """The weight of each region in the loss of classes: objects together have fg_fraction of the whole."""
    front = labels > 0
    weight = np.where(front & p.iou_weighted, overlaps, 1.0)
    if front.any():
        for mine, part in ((front, p.fg_fraction), (~front, 1 - p.fg_fraction)):
            total = weight[mine].sum()
            weight = np.where(mine & (total > 0), weight * (part * len(labels) / total if total else 1), weight)
    return weight


def backup(p: Any, truth: np.ndarray, draws: np.random.Generator) -> np.ndarray:
    """A random box of 32 pixels or more of an image, that is no object if some tries find one."""
    box = np.zeros(5)
    for _ in range(100):
        image = draws.integers(max(1, p.num_img_per_batch))
        start = [draws.integers(max(1, side - 32)) for side in (p.img_width, p.img_height)]
        size = [max(32, draws.integers(max(1, side - at))) for side, at in zip((p.img_width, p.img_height), start)]
        box = np.array([image, *start, start[0] + size[0] - 1, start[1] + size[1] - 1], np.float64)
        mine = truth[truth[:, 0] == image, 1:5]
        if not len(mine) or iou(box[None, 1:5], mine, last=1).max() < p.fg_thr:
            break
    return box
