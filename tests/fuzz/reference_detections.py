"""Losses and proposals of detectors by their definitions: a part of reference.py, which they enter themselves into."""

from __future__ import annotations

import ast

import numpy as np
from reference import Array, Unknown, layer, overlap
from reference_losses import TINY, softmax_of


def encoded(truth: Array, prior: Array, variance: Array, p) -> Array:
    """What a net should say of a prior's true box."""
    sides, middle = prior[2:] - prior[:2], (prior[2:] + prior[:2]) / 2
    if p.code_type == 1:  # CORNER
        out = truth - prior
    elif p.code_type == 3:  # CORNER_SIZE
        out = (truth - prior) / np.concatenate([sides, sides])
    else:
        out = np.concatenate([((truth[2:] + truth[:2]) / 2 - middle) / sides, np.log((truth[2:] - truth[:2]) / sides)])
    return out if p.encode_variance_in_target else out / variance


def matched(priors: Array, boxes: Array, p) -> tuple[list[int], list[float]]:
    """Of each prior the true box that it is matched with, -1 for none, and its largest overlap."""
    overlaps = np.array([[overlap(prior, box) for box in boxes] for prior in priors]).reshape(len(priors), len(boxes))
    overlaps[overlaps <= 1e-6] = 0
    of, free = [-1] * len(priors), set(range(len(boxes)))
    while free:
        best = max(((overlaps[i, j], -i, -j) for i in range(len(priors)) if of[i] < 0 for j in free), default=(0, 0, 0))
        if best[0] <= 0:
            break
        of[-best[1]] = -best[2]
        free.remove(-best[2])
    if p.match_type == p.PER_PREDICTION:
        for i, row in enumerate(overlaps):
            if of[i] < 0 and row.size and row.max() > 0 and row.max() >= p.overlap_threshold:
                of[i] = int(row.argmax())
    return of, [float(row.max(initial=0)) for row in overlaps]


@layer("MultiBoxLoss")
def multibox_loss(layer, params, location, confidence, prior, truth):
    p = layer.multibox_loss_param
    if not p.share_location or not p.use_prior_for_matching or p.conf_loss_type != p.SOFTMAX or p.HasField("nms_param"):
        raise Unknown("MultiBoxLoss of another form")
    priors, variances = (part.reshape(-1, 4) for part in prior[0])
    rows = truth.reshape(-1, 8)
    loc_loss = conf_loss = 0.0
    matches = 0
    for image, (loc, conf) in enumerate(zip(location, confidence)):
        own = rows[(rows[:, 0] == image) & ((rows[:, 7] == 0) | p.use_difficult_gt)]
        of, most = matched(priors, own[:, 3:7], p)
        scores = conf.reshape(len(priors), p.num_classes)
        labels = [p.background_label_id if k < 0 else int(own[k, 1]) for k in of]
        likely = softmax_of(scores, 1)[np.arange(len(priors)), labels]
        positive = [i for i, k in enumerate(of) if k >= 0]
        chosen = [i for i, k in enumerate(of) if k < 0]
        if p.mining_type == p.MAX_NEGATIVE:
            chosen = [i for i in chosen if most[i] < p.neg_overlap]
            chosen.sort(key=lambda i: likely[i])
            chosen = chosen[: int(len(positive) * p.neg_pos_ratio)]
        elif p.mining_type != p.NONE:
            raise Unknown("HARD_EXAMPLE")
        for i in positive:
            d = loc.reshape(-1, 4)[i] - encoded(own[of[i], 3:7], priors[i], variances[i], p)
            each = d**2 / 2 if p.loc_loss_type == p.L2 else np.where(np.abs(d) < 1, d**2 / 2, np.abs(d) - 0.5)
            loc_loss += each.sum()
        conf_loss -= np.log(np.maximum(likely[positive + chosen], TINY)).sum()
        matches += len(positive)
    mode = layer.loss_param.NormalizationMode.Name(layer.loss_param.normalization)
    by = {"VALID": matches, "FULL": len(location) * len(priors), "BATCH_SIZE": len(location), "NONE": 1}[mode]
    return (p.loc_weight * loc_loss + conf_loss) / max(1, by)


def anchors(base: float, ratios, scales) -> Array:
    """py-faster-rcnn's boxes around the first place, ratio by ratio."""
    boxes, middle = [], (base - 1) / 2
    for ratio in ratios:
        w = np.round(np.sqrt(base * base / ratio))
        h = np.round(w * ratio)
        for scale in scales:
            half = np.array([w * scale - 1, h * scale - 1]) / 2
            boxes.append([middle - half[0], middle - half[1], middle + half[0], middle + half[1]])
    return np.array(boxes)


@layer("Proposal")
def proposal(layer, params, scores, offsets, info):
    fields = ast.literal_eval(layer.python_param.param_str)
    stride, base = fields["feat_stride"], anchors(fields.get("base_size", 16), fields["ratios"], fields["scales"])
    n, _, h, w = scores.shape
    info, rows, values = np.resize(info, (n, info.shape[-1])), [], []
    for image in range(n):
        own = scores[image, len(base) :].transpose(1, 2, 0).reshape(-1)
        d = offsets[image].reshape(len(base), 4, h, w).transpose(2, 3, 0, 1).reshape(-1, 4)
        ys, xs = np.mgrid[:h, :w]
        start = np.stack([xs, ys, xs, ys], axis=-1).reshape(-1, 1, 4) * stride
        boxes = (start + base).reshape(-1, 4)
        sides = boxes[:, 2:] - boxes[:, :2] + 1
        middle = d[:, :2] * sides + boxes[:, :2] + sides / 2
        half = np.exp(d[:, 2:]) * sides / 2
        high, wide, scale = info[image, :3]
        boxes = np.clip(
            np.concatenate([middle - half, middle + half], axis=1), 0, [wide - 1, high - 1, wide - 1, high - 1]
        )
        sides = boxes[:, 2:] - boxes[:, :2] + 1
        order = [i for i in np.argsort(-own, kind="stable") if (sides[i] >= fields["rpn_min_size"] * scale).all()]
        taken: list[int] = []
        for i in order[: fields["rpn_pre_nms_top_n"]]:
            inner = [
                np.maximum(
                    0, np.minimum(boxes[i, 2:], boxes[j, 2:]) - np.maximum(boxes[i, :2], boxes[j, :2]) + 1
                ).prod()
                for j in taken
            ]
            if all(
                both / (sides[i].prod() + sides[j].prod() - both) < fields["rpn_nms_thresh"]
                for both, j in zip(inner, taken)
            ):
                taken.append(i)
        taken = taken[: fields["rpn_post_nms_top_n"]]
        rows += [(image, *boxes[i]) for i in taken]
        values += [own[i] for i in taken]
    return [np.array(rows, float).reshape(-1, 5), np.array(values).reshape(-1, 1)]
