"""Losses, accuracies and recurrent layers by their definitions: the rest of reference.py, which they enter themselves into."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from reference import LAYERS, Array, Unknown, layer

TINY = float(np.finfo(np.float32).tiny)


# Losses


def rows_of(x: Array) -> Array:
    """(N, ...) as one row of channels for each of N."""
    return x.reshape(len(x), prod(x.shape[1:]))


def at_labels(x: Array, label: Array, axis: int, ignored: int | None) -> tuple[Array, Array]:
    """The value of each label's channel, of all positions in order, and which labels count."""
    values = np.moveaxis(x, axis, -1)
    values = values.reshape(prod(values.shape[:-1]), values.shape[-1])
    label = label.reshape(-1).astype(int)
    counts = np.ones(label.shape, bool) if ignored is None else label != ignored
    return values[np.arange(len(label)), np.where(counts, label, 0)], counts


def ignored_by(p) -> int | None:
    return p.ignore_label if p.HasField("ignore_label") else None


def divisor(p, counts: Array, batch: int, default: str = "VALID") -> float:
    """What a loss_param divides by."""
    mode = default
    if p.HasField("normalization"):
        mode = p.NormalizationMode.Name(p.normalization)
    elif p.HasField("normalize"):
        mode = "VALID" if p.normalize else "BATCH_SIZE"
    by = {
        "FULL": counts.size,
        "VALID": counts.sum(),
        "BATCH_SIZE": batch,
        "NONE": 1,
        "PRE_FIXED": p.pre_fixed_normalizer,
    }
    return max(1.0, float(by[mode]))


def softmax_of(x: Array, axis: int) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@layer("SoftmaxWithLoss", "SoftmaxWithLossOHEM")
def softmax_loss(layer, params, x, label, weights=None):
    axis = layer.softmax_param.axis % x.ndim
    p = softmax_of(x, axis)
    likely, counts = at_labels(p, label, axis, ignored_by(layer.loss_param))
    each = np.where(counts, -np.log(np.maximum(likely, TINY)), 0)
    each = each if weights is None else each * weights.reshape(-1)
    loss = each.sum() / divisor(layer.loss_param, counts, prod(x.shape[:axis]))
    return [loss, p, each.reshape(label.shape)]


@layer("FocalLoss")
def focal_loss(layer, params, x, label):
    p, axis = layer.focal_loss_param, layer.softmax_param.axis % x.ndim
    probability = softmax_of(x, axis)
    likely, counts = at_labels(probability, label, axis, ignored_by(layer.loss_param))
    each = np.where(counts, -p.alpha * (1 - likely) ** p.gamma * np.log(np.maximum(likely, TINY)), 0)
    return [each.sum() / divisor(layer.loss_param, counts, prod(x.shape[:axis])), probability]


@layer("SigmoidCrossEntropyLoss")
def sigmoid_cross_entropy_loss(layer, params, x, target, weights=None):
    p, target = layer.loss_param, target.reshape(x.shape)
    counts = np.trunc(target) != p.ignore_label if p.HasField("ignore_label") else np.ones(x.shape, bool)
    each = np.where(counts, np.logaddexp(0, x) - target * x, 0)
    if weights is None:
        return each.sum() / divisor(p, counts, len(x), "BATCH_SIZE")
    weights = weights.reshape(x.shape)
    total = weights[counts].sum()
    return (each * weights).sum() / total if total > 0 else np.zeros(())


@layer("MultinomialLogisticLoss")
def multinomial_logistic_loss(layer, params, x, label):
    likely, _ = at_labels(rows_of(x), label, 1, None)
    return -np.log(np.maximum(likely, 1e-20)).sum() / len(x)


@layer("InfogainLoss")
def infogain_loss(layer, params, x, label, matrix=None):
    if matrix is None:
        raise Unknown("a matrix from a file")
    p = layer.infogain_loss_param
    scores = p.HasField("axis") or layer.HasField("loss_param") or len(layer.top) > 1
    axis = p.axis % x.ndim if scores else 1
    x = softmax_of(x, axis) if scores else rows_of(x)
    logs = np.moveaxis(np.log(np.maximum(x, 1e-20)), axis, -1)
    logs, truth = logs.reshape(-1, logs.shape[-1]), label.reshape(-1).astype(int)
    ignored = ignored_by(layer.loss_param)
    counts = np.ones(truth.shape, bool) if ignored is None or not scores else truth != ignored
    each = -(matrix.reshape(logs.shape[1], -1)[np.where(counts, truth, 0)] * logs).sum(axis=1)
    by = divisor(layer.loss_param, counts, prod(x.shape[:axis])) if scores else len(x)
    return [each[counts].sum() / by, x]


@layer("HingeLoss")
def hinge_loss(layer, params, x, label):
    p, rows = layer.hinge_loss_param, rows_of(x)
    signs = np.where(np.arange(rows.shape[1]) == label.reshape(-1, 1).astype(int), 1, -1)
    short = np.maximum(0, p.margin - signs * rows)
    return (short if p.norm == p.L1 else short**2).sum() / len(x)


@layer("EuclideanLoss")
def euclidean_loss(layer, params, a, b):
    return ((a - b.reshape(a.shape)) ** 2).sum() / (2 * len(a))


@layer("L1Loss")
def l1_loss(layer, params, a, b):
    return np.abs(a - b.reshape(a.shape)).sum() / len(a)


@layer("CosLoss")
def cos_loss(layer, params, a, b):
    return 1 - (a * b.reshape(a.shape)).sum() / len(a)


@layer("SmoothL1Loss")
def smooth_l1_loss(layer, params, a, b, inside=None, outside=None):
    square = layer.smooth_l1_loss_param.sigma**2
    d = a - b.reshape(a.shape)
    d = np.abs(d if inside is None else d * inside.reshape(a.shape))
    each = np.where(d < 1 / square, square * d**2 / 2, d - 0.5 / square)
    each = each if outside is None else each * outside.reshape(a.shape)
    return [each.sum() / max(1, len(a)), each.sum(axis=1, keepdims=True) if a.ndim > 1 else each]


@layer("ContrastiveLoss")
def contrastive_loss(layer, params, a, b, alike):
    p, square, alike = layer.contrastive_loss_param, ((rows_of(a) - rows_of(b)) ** 2).sum(axis=1), alike.reshape(-1)
    apart = np.maximum(p.margin - square, 0) if p.legacy_version else np.maximum(p.margin - np.sqrt(square), 0) ** 2
    return np.where(alike != 0, square, apart).sum() / (2 * len(a))


@layer("Accuracy")
def accuracy(layer, params, x, label):
    p = layer.accuracy_param
    axis = p.axis % x.ndim
    own, counts = at_labels(x, label, axis, None)
    label, channels = label.reshape(-1).astype(int), x.shape[axis]
    counts = ~np.isin(label, list(p.ignore_label))
    rows = np.moveaxis(x, axis, -1).reshape(-1, channels)
    ahead = (rows > own[:, None]) | ((rows == own[:, None]) & (np.arange(channels) > label[:, None]))
    right = (ahead.sum(axis=1) < p.top_k) & counts
    of_class = [right[label == k].sum() / max(1, (counts & (label == k)).sum()) for k in range(channels)]
    return [np.float64(right.sum()) / counts.sum(), np.array(of_class)]


# Recurrent layers


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def unit(cell: Array, gates: Array) -> tuple[Array, Array]:
    """The cell and the output after a step of an LSTM."""
    i, f, o, g = np.split(gates, 4, axis=-1)
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return cell, sigmoid(o) * np.tanh(cell)


@layer("LSTMUnit")
def lstm_unit(layer, params, cell, gates, going_on):
    return list(unit(cell * going_on.reshape(*cell.shape[:2], 1), gates))


def recurrent(layer, params: Sequence[Array], bottoms: Sequence[Array], states: int) -> list[Array]:
    """What LSTM (two states) and RNN (one) share: the states after all steps, one axis more in front."""
    x, going_on, *more = bottoms
    exposed = more[len(more) - states :] if layer.recurrent_param.expose_hidden else []
    fixed = more[: len(more) - len(exposed)]
    into, shift, *rest = params
    size = layer.recurrent_param.num_output
    now = [v[0] for v in exposed] or [np.zeros((x.shape[1], size))] * states
    always = rows_of(fixed[0]) @ rest.pop(0).T if fixed else 0
    hidden, *last = rest
    series = []
    for at, on in zip(x.reshape(*x.shape[:2], prod(x.shape[2:])), going_on):
        now = [v * on[:, None] for v in now]
        gates = at @ into.T + shift + always + now[0] @ hidden.T
        now = list(unit(now[1], gates))[::-1] if states == 2 else [np.tanh(gates)]
        series.append(now[0] if states == 2 else np.tanh(now[0] @ last[0].T + last[1]))
    return [np.array(series).reshape(*x.shape[:2], size), *(v[None] for v in now)]


LAYERS["LSTM"] = lambda layer, params, *bottoms: recurrent(layer, params, bottoms, 2)
LAYERS["RNN"] = lambda layer, params, *bottoms: recurrent(layer, params, bottoms, 1)
