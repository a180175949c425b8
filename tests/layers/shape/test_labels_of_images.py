"""BiasChannel, AdaptiveBiasChannel and UniqueLabel of DeepLab, and BatchReduction, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(47)
SCORES = RNG.standard_normal((2, 4, 3, 5))
LISTS = np.array([[0, 2, -1, 7], [3, 3, 1, 7]]).reshape(2, 4, 1, 1)
MAP = RNG.integers(0, 4, (2, 1, 3, 5)).astype(float)
MAP[0, 0, 0, :2] = 255, -1
BIAS = 'type: "BiasChannel" bias_channel_param { bg_bias: 0.5 fg_bias: 4 %s }'
ADAPT = 'type: "AdaptiveBiasChannel" adaptive_bias_channel_param { %s }'
UNIQUE, PARTS = 'type: "UniqueLabel" unique_label_param { %s }', 'type: "BatchReduction" batch_reduction_param { %s }'
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (BIAS % "label_type: PIXEL ignore_label: 255", [RNG.standard_normal((2, 4, 30, 50)), np.ones((2, 1, 30, 50))], [True, False]),
    (PARTS % "level: 1 level: 3 reduction_param { operation: MEAN axis: 1 }", [RNG.standard_normal((20, 10, 30))]),
]  # fmt: skip


def test_channels_of_an_image_are_raised(device):
    rig = Rig(BIAS % "ignore_label: 7", [SCORES, LISTS], device=device, dtype=np.float64)
    wanted = SCORES.copy()
    wanted[0, 0] += 0.5
    wanted[0, 2] += 4
    wanted[1, 1] += 4
    wanted[1, 3] += 8  # it is named twice
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)
    check_gradient(rig, (0,))
    rig.set_bottom(1, LISTS.reshape(2, 4))
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)


@pytest.mark.parametrize("background", [None, 0, 2])
def test_channels_of_pixels_are_raised(background, device):
    more = "" if background is None else f"background_label: {background}"
    text = BIAS % f"label_type: PIXEL ignore_label: 255 {more}"
    text = text.replace("bg_bias: 0.5", "") if background is None else text
    wanted = SCORES.copy()
    for n, y, x in np.ndindex(2, 3, 5):
        label = int(MAP[n, 0, y, x])
        if label in (255, -1):
            continue
        if background is not None:
            wanted[n, background, y, x] += 0.5
        if label != background:
            wanted[n, label, y, x] += 4
    rig = Rig(text, [SCORES, MAP], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)


def test_a_label_that_is_no_channel(device):
    for text, labels in ((BIAS % "", LISTS), (ADAPT % "", LISTS)):
        with pytest.raises(LayerError, match="label 7 at 3 is none of the 4 channels"):
            Rig(text, [SCORES, labels], device=device).forward()


def adapted(scores: np.ndarray, labels: list[int], bg: float, fg: float, margin: float) -> np.ndarray:
    """Of one image whose labels are the background and one other, so that no order is drawn."""
    y, places = scores.reshape(len(scores), -1).copy(), scores[0].size
    lowest = np.min([y[label] for label in labels], 0)
    for c in range(len(y)):
        if c not in labels:
            y[c] = [low - margin if value > low else value for value, low in zip(y[c], lowest)]
    top = np.max([y[label] for label in labels], 0)
    mean = top.mean()
    for _ in range(2):
        for label in labels:
            off = sorted(top - y[label])
            y[label] += off[min(int((bg if label == 0 else fg) * places), places - 1)]
            top = np.maximum(top, y[label])
    return (y + mean - top.mean()).reshape(scores.shape)


def test_shares_of_the_places(device):
    text = ADAPT % "num_iter: 2 bg_portion: 0.4 fg_portion: 0.7 margin_others: 0.125"
    labels = np.array([[2, -1, 0], [3, 0, 3]])
    rig = Rig(text, [SCORES, labels], device=device, dtype=np.float64)
    wanted = [adapted(x, own, np.float32(0.4), np.float32(0.7), 0.125) for x, own in zip(SCORES, ([0, 2], [0, 3]))]
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)
    rig.set_bottom(1, np.full((2, 3), -1))
    np.testing.assert_array_equal(rig.forward()[0], SCORES)  # no labels, no change
    whole = ADAPT % "suppress_others: false fg_portion: 1"
    rig = Rig(whole, [SCORES, [[1, 2, 3], [1, 1, 1]]], device=device, dtype=np.float64)
    for image, own in zip(rig.forward()[0], (slice(1, 4), slice(1, 2))):  # the mean of the highest is as before
        before = SCORES[0] if own.stop == 4 else SCORES[1]
        np.testing.assert_allclose(image[own].max(0).mean(), before[own].max(0).mean(), rtol=1e-9)


def test_lists_of_labels(device):
    rig = Rig(UNIQUE % "max_labels: 6 ignore_label: 255 ignore_label: -1 force_label: 9", [MAP], device=device)
    wanted = [sorted({*map(int, of_image.ravel())} - {255, -1} | {9}) for of_image in MAP]
    got = rig.forward()[0]
    assert got.shape == (2, 6, 1, 1)
    assert [row.ravel().tolist() for row in got] == [own + [-1] * (6 - len(own)) for own in wanted]
    with pytest.raises(LayerError, match="max_labels allows 2"):
        Rig(UNIQUE % "max_labels: 2", [MAP], device=device).forward()


@pytest.mark.parametrize("mean", [False, True])
def test_parts_of_an_axis(mean, device):
    x, name = RNG.standard_normal((3, 14, 2)), "MEAN" if mean else "SUM"
    rig = Rig(
        PARTS % f"level: 1 level: 2 level: 3 reduction_param {{ operation: {name} axis: 1 }}",
        [x],
        device=device,
        dtype=np.float64,
    )
    parts = [x[:, :1], x[:, 1:5], x[:, 5:]]
    wanted = np.stack([part.mean(1) if mean else part.sum(1) for part in parts], 1)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)
    check_gradient(rig)
    whole = Rig(PARTS % f"reduction_param {{ operation: {name} axis: 1 }}", [x], device=device, dtype=np.float64)
    np.testing.assert_allclose(whole.forward()[0], x.mean(1) if mean else x.sum(1), rtol=1e-12)
    check_gradient(whole)


@pytest.mark.parametrize(
    ("text", "bottoms", "match"),
    [
        (BIAS % "", [SCORES, MAP], r"must be \(2, labels\)"),
        (BIAS % "label_type: PIXEL", [SCORES, LISTS], r"must be \(2, 1, 3, 5\)"),
        (ADAPT % "fg_portion: 2", [SCORES, LISTS], "must be from 0 to 1"),
        (UNIQUE % "max_labels: 1 force_label: 0", [MAP], "above the 1 labels"),
        (UNIQUE % "max_labels: 3", [SCORES], r"must be \(N, 1"),
        (PARTS % "level: 2", [SCORES], "do not make up axis 0"),
        (PARTS % "reduction_param { operation: ASUM }", [SCORES], "must be SUM or MEAN"),
    ],
)
def test_errors(text, bottoms, match):
    with pytest.raises(LayerError, match=match):
        Rig(text, bottoms)
