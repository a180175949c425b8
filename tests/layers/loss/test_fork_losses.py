"""Losses and poolings that forks add: by plain numpy, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

RNG = np.random.default_rng(41)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


RCM = 'type: "Pooling" pooling_param { pool: RCM kernel_size: %d stride: %d pad: %d }'
SIGMOID = 'type: "SigmoidCrossEntropyLoss"'
WEIGHTED = [random(5, 700), RNG.integers(0, 2, (5, 700)), RNG.uniform(0, 1, (5, 700))]
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (RCM % (3, 2, 1), [random(2, 3, 9, 8)]),
    (SIGMOID, WEIGHTED, [True, False, False]),
    ('type: "SmoothL1Loss"', [random(4, 6, 3, 5)] * 2, None, {"tops": 2}),
]


def largest(values: np.ndarray) -> float:
    return float(values.max())


@pytest.mark.parametrize(("kernel", "stride", "pad"), [(7, 7, 0), (3, 2, 1)], ids=["whole", "overlapping"])
def test_row_column_pooling(kernel, stride, pad, device):
    x = RNG.permutation(2 * 3 * 49).reshape(2, 3, 7, 7).astype(float)
    rig = Rig(RCM % (kernel, stride, pad), [x], dtype=np.float64, device=device)
    top = rig.forward()[0]
    for n, c, i, j in np.ndindex(*top.shape):
        rows = slice(max(0, i * stride - pad), min(7, i * stride - pad + kernel))
        columns = slice(max(0, j * stride - pad), min(7, j * stride - pad + kernel))
        window = x[n, c, rows, columns]
        of_rows = [largest(row) for row in window]
        of_columns = [largest(column) for column in window.T]
        close(top[n, c, i, j], sum(of_rows) / len(of_rows) + sum(of_columns) / len(of_columns))
    check_gradient(rig)
    with pytest.raises(LayerError, match="second top"):
        Rig(RCM % (3, 2, 1), [x], tops=2)


def test_row_column_pooling_of_nan_and_empty(device):
    x = random(1, 1, 4, 4)
    x[0, 0, 1, 1] = np.nan
    rig = Rig(RCM % (4, 4, 0), [x], device=device)
    clean = np.where(np.isnan(x), -np.inf, x)[0, 0]
    close(rig.forward()[0].ravel(), [clean.max(1).mean() + clean.max(0).mean()])
    assert np.isfinite(rig.backward([1.0])[0]).all()
    rig.set_bottom(0, x[:0])
    assert rig.forward()[0].shape == (0, 1, 1, 1)


def test_sigmoid_cross_entropy_with_weights(device):
    score, target, weight = (np.asarray(v, np.float64) for v in WEIGHTED)
    rig = Rig(SIGMOID, [score, target, weight], dtype=np.float64, device=device)
    p = 1 / (1 + np.exp(-score))
    losses = -target * np.log(p) - (1 - target) * np.log(1 - p)
    close(rig.forward()[0], (losses * weight).sum() / weight.sum())
    check_gradient(rig)
    text = SIGMOID + " loss_param { ignore_label: 1 }"
    close(Rig(text, [score, target, weight], dtype=np.float64, device=device).forward()[0],
          (losses * weight * (target == 0)).sum() / (weight * (target == 0)).sum())  # fmt: skip
    rig.set_bottom(2, np.zeros_like(weight))
    assert rig.forward()[0].item() == 0
    assert not rig.backward([1.0], [True, False, False])[0].any()
    with pytest.raises(LayerError, match="a weight for each score"):
        Rig(SIGMOID, [score, target, weight[:2]])


def test_smooth_l1_of_each_region(device):
    a, b, inside, outside = random(4, 6, 3, 5), random(4, 6, 3, 5), random(4, 6, 3, 5), random(4, 6, 3, 5)
    text = 'type: "SmoothL1Loss" smooth_l1_loss_param { sigma: 2 }'
    whole, each = Rig(text, [a, b, inside, outside], tops=2, device=device).forward()
    d = inside * (a - b)
    terms = outside * np.where(abs(d) < 0.25, 2 * d * d, abs(d) - 0.125)
    close(each, terms.sum(1, keepdims=True))
    close(whole, terms.sum() / 4)
    regions = Rig(text, [random(3, 8)] * 2, tops=2, device=device)
    assert regions.forward()[1].shape == (3, 1)
    with pytest.raises(LayerError, match="second top"):
        Rig(text, [random(3)] * 2, tops=2)
