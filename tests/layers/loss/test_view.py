"""SoftmaxWithViewLoss and AccuracyView against their definitions in numpy, float64."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError

FORM = "period: 6 bandwidth: 2 sigma: 1.5 pos_weight: 0.5 neg_weight: 2"
SCORES = np.random.default_rng(0).standard_normal((7, 13))  # two classes of six views, and background
LABELS = np.array([0, 5, 6, 12, 11, 10003, 10012.0])
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (f'type: "SoftmaxWithViewLoss" softmax_with_view_loss_param {{ {FORM} }}', [SCORES, LABELS], [True, False]),
    ('type: "AccuracyView" accuracy_view_param { period: 6 tol_angle: 1 }', [SCORES, LABELS], []),
]


def view_loss(x: np.ndarray, labels: np.ndarray) -> float:
    total = 0.0
    for row, label in zip(x, labels.astype(int)):
        weight, plain = (2, label - 10000) if label >= 10000 else (0.5, label)
        if plain == 12:
            continue
        own = row[plain // 6 * 6 :][:6]
        likely = own - np.log(np.exp(own).sum())
        total -= weight * sum(np.exp(-abs(k) / 1.5) * likely[(plain % 6 + k) % 6] for k in range(-2, 3))
    return total / len(x)


def test_view_loss(device):
    text = f'type: "SoftmaxWithViewLoss" softmax_with_view_loss_param {{ {FORM} }}'
    rig = Rig(text, [SCORES, LABELS], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], view_loss(SCORES, LABELS), rtol=1e-12)
    check_gradient(rig, bottoms=(0,), samples=91)
    diff = rig.backward([np.array(1.0)], [True, False])[0]
    assert not diff[3].any()  # background
    assert not diff[0, 6:].any()  # another class
    single = Rig(text, [SCORES.astype(np.float32), LABELS], device=device)
    np.testing.assert_allclose(single.forward()[0], view_loss(SCORES, LABELS), rtol=1e-5)


def test_a_view_that_is_all_but_impossible_costs_what_the_least_float_does(device):
    rig = Rig(
        'type: "SoftmaxWithViewLoss" softmax_with_view_loss_param { period: 2 }', [[[0, 1000.0]], [0]], device=device
    )
    np.testing.assert_allclose(rig.forward()[0], 87.33654, rtol=1e-5)


def test_accuracy_of_views(device):
    x = np.zeros((5, 13))
    for row, best in enumerate([5, 4, 6, 0, 9]):
        x[row, best] = 1
    labels = np.array([0, 0, 8, 12, 10009])  # one off round the end, two off, two off, background, a real image
    for tolerance, wanted in ((0, 1 / 4), (1, 2 / 4), (2, 1)):
        text = f'type: "AccuracyView" accuracy_view_param {{ period: 6 tol_angle: {tolerance} }}'
        assert Rig(text, [x, labels], device=device).forward()[0] == np.float32(wanted)
    assert Rig(text, [x[:1], [12]], device=device).forward()[0] == 0


@pytest.mark.parametrize(
    ("text", "length", "label", "message"),
    [
        ("period: 6 bandwidth: 3", 12, 0, "bandwidth must be from 0 to less than half of the 6 views, got 3"),
        ("period: 6 sigma: 0", 12, 0, "sigma must be positive"),
        ("period: 6", 14, 0, "needs 6 scores for each class, and at most one for background, got 14"),
        ("period: 6", 5, 0, "needs 6 scores for each class"),
        ("period: 0", 5, 0, "bandwidth must be"),
        ("period: 6", 12, 13, "label 13 at 0 is none of the 13 channels"),
        ("period: 6", 12, -1, "label -1 at 0 is none"),
        ("period: 6", 12, np.nan, "label nan at 0 is none"),
    ],
)
def test_what_views_refuse(text, length, label, message):
    with pytest.raises(LayerError, match=message):
        Rig(
            f'type: "SoftmaxWithViewLoss" softmax_with_view_loss_param {{ {text} }}', [np.ones((1, length)), [label]]
        ).forward()


def test_old_types_of_view_layers():
    text = """layers { name: "l" type: SOFTMAX_WITH_VIEW_LOSS bottom: "x" bottom: "y" top: "l"
            softmax_with_view_loss_param { bandwidth: 3 } }
        layers { name: "a" type: ACCURACY_VIEW bottom: "x" bottom: "y" top: "a" accuracy_view_param { tol_angle: 5 } }"""
    loss, accuracy = parse_net(text).layer
    assert (loss.type, loss.softmax_with_view_loss_param.bandwidth) == ("SoftmaxWithViewLoss", 3)
    assert (accuracy.type, accuracy.accuracy_view_param.tol_angle) == ("AccuracyView", 5)
