"""SigmoidCrossEntropyLoss, MultinomialLogisticLoss, HingeLoss, ContrastiveLoss and InfogainLoss, by formula in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def labels(*shape: int, channels: int = 5, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, channels, shape).astype(float)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def double(text: str, *bottoms: np.ndarray, **options) -> Rig:
    return Rig(text, bottoms, dtype=np.float64, phase="TRAIN", **options)


LAUNCHES = [  # for tests/device/test_threaded.py
    ('type: "SigmoidCrossEntropyLoss"', [random(40, 70), random(40, 70, seed=1)], [True, False]),
    ('type: "MultiLabelLoss"', [random(40, 70), random(40, 70, seed=1)], [True, False]),
    ('type: "EntropyLoss"', [random(40, 7, 9)]),
    ('type: "MultinomialLogisticLoss"', [softmax(random(1100, 5), 1), labels(1100)], [True, False]),
    ('type: "HingeLoss"', [random(1100, 5), labels(1100)], [True, False]),
    ('type: "ContrastiveLoss"', [random(20, 70), random(20, 70, seed=1), labels(20, channels=2)], [True, True, False]),
    ('type: "ContrastiveLoss"', [random(20, 70), random(20, 70, seed=1), labels(20, channels=2)], [], {"tops": 3}),
    (
        'type: "InfogainLoss" infogain_loss_param { axis: 1 }',
        [random(20, 5, 70), labels(20, 70), np.ones((5, 5))],
        [True, False, False],
    ),
]


# SigmoidCrossEntropyLoss

MODES = {"": "BATCH_SIZE", "normalize: true": "VALID", "normalize: false": "BATCH_SIZE", "normalization: FULL": "FULL",
         "normalization: VALID": "VALID", "normalization: NONE": "NONE", "normalize: true normalization: FULL": "FULL",
         "normalization: PRE_FIXED pre_fixed_normalizer: 2.5": "PRE_FIXED"}  # fmt: skip


@pytest.mark.parametrize("param", MODES)
@pytest.mark.parametrize("ignored", [None, -1, 0])
def test_sigmoid_cross_entropy(param, ignored, device):
    line = "" if ignored is None else f"ignore_label: {ignored}"
    text = f'type: "SigmoidCrossEntropyLoss" loss_param {{ {param} {line} }}'
    rig = double(text, random(3, 2, 4), random(3, 2, 4), device=device)
    for shape in ((3, 2, 4), (40, 7, 9), (2, 5)):
        x, t = 4 * random(*shape), np.random.default_rng(2).choice([0, 0.5, 1, -1], shape)
        rig.set_bottom(0, x)
        rig.set_bottom(1, t)
        counts = np.ones(shape, bool) if ignored is None else np.trunc(t) != ignored
        each = np.logaddexp(0, x) - x * t
        by = {"FULL": x.size, "VALID": counts.sum(), "BATCH_SIZE": shape[0], "NONE": 1, "PRE_FIXED": 2.5}[MODES[param]]
        close(rig.forward()[0], each[counts].sum() / by)
    check_gradient(rig)


def test_sigmoid_cross_entropy_edges(device):
    x, t = np.array([[-1e4, 1e4, 3]], np.float32), np.array([[0, 1, -1]], np.float32)
    rig = Rig('type: "SigmoidCrossEntropyLoss" loss_param { ignore_label: -1 }', [x, t], device=device)
    assert rig.forward()[0] == 0
    rig.set_bottom(1, np.array([[1, 0, -1]]))
    assert rig.forward()[0] == 20000
    np.testing.assert_array_equal(rig.backward([np.array(0.5)], [True, False])[0], [[-0.5, 0.5, 0]])
    for shape in ((1, 3), (0, 3)):  # nothing counts
        rig.set_bottom(0, np.zeros(shape))
        rig.set_bottom(1, np.full(shape, -1))
        assert rig.forward()[0] == 0
        assert not rig.backward([np.array(1)], [True, False])[0].any()
    with pytest.raises(LayerError, match="targets have no gradient"):
        rig.backward([np.array(1)], [True, True])
    with pytest.raises(LayerError, match="a target for each score"):
        Rig('type: "SigmoidCrossEntropyLoss"', [x, t[:, :2]])
    with pytest.raises(LayerError, match="label_smoothing"):
        Rig('type: "SigmoidCrossEntropyLoss" loss_param { label_smoothing: 0.1 }', [x, t])
    with pytest.raises(LayerError, match="pre_fixed_normalizer must be above 0, got 0"):
        Rig('type: "SigmoidCrossEntropyLoss" loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 0 }', [x, t])


# MultiLabelLoss, EntropyLoss


def test_labels_that_are_not_known_do_not_count(device):
    rig = double('type: "MultiLabelLoss"', random(3, 2, 4), random(3, 2, 4), device=device)
    for shape in ((3, 2, 4), (40, 7, 9), (2, 5)):
        x, t = 4 * random(*shape), np.random.default_rng(2).choice([0, 1, -1, 2], shape)
        rig.set_bottom(0, x)
        rig.set_bottom(1, t)
        close(rig.forward()[0], np.logaddexp(0, -np.sign(t) * x)[t != 0].sum() / shape[0])
    check_gradient(rig)
    with pytest.raises(LayerError, match="a label for each score"):
        Rig('type: "MultiLabelLoss"', [x, t[:, :2]])
    with pytest.raises(LayerError, match="labels have no gradient"):
        rig.backward([np.array(1)], [True, True])


@pytest.mark.parametrize(
    ("mode", "by"), [("", 24), ("normalization: FULL", 24), ("normalize: false", 3), ("normalization: NONE", 1)]
)
@pytest.mark.parametrize("axis", [1, -1])
def test_entropies(mode, by, axis, device):
    x = 3 * random(3, 5, 8)
    text = f'type: "EntropyLoss" loss_param {{ {mode} }} softmax_param {{ axis: {axis} }}'
    rig = Rig(text, [x], device=device, dtype=np.float64)
    e = np.exp(x - x.max(axis, keepdims=True))
    p = e / e.sum(axis, keepdims=True)
    by = by if axis == 1 else {24: 15, 3: 15, 1: 1}[by]
    np.testing.assert_allclose(rig.forward()[0], -(p * np.log(p)).sum() / by, rtol=1e-12)
    check_gradient(rig)


def test_the_entropy_of_the_decided_is_0(device):
    rig = Rig('type: "EntropyLoss"', [np.array([[1000, 0, -1000]])], device=device)
    assert rig.forward()[0] == 0
    np.testing.assert_array_equal(rig.backward([np.array(1)])[0], [[0, 0, 0]])


# MultinomialLogisticLoss and HingeLoss

HINGES = {"": (1, 1), "norm: L2": (2, 1), "norm: L1 margin: 0.5": (1, 0.5), "norm: L2 margin: 2": (2, 2)}


@pytest.mark.parametrize("shape", [(6, 5), (3, 5, 1, 1), (1100, 5)])
def test_multinomial(shape, device):
    p, t = softmax(random(*shape), 1), labels(shape[0])
    rig = double('type: "MultinomialLogisticLoss"', p, t, device=device)
    at = (np.arange(len(t)), t.astype(int))
    close(rig.forward()[0], -np.log(p.reshape(len(t), 5)[at]).mean())
    check_gradient(rig, step=1e-6)
    p.reshape(len(t), 5)[at] = 0  # of no probability: the cap holds
    rig.set_bottom(0, p)
    close(rig.forward()[0], -np.log(1e-20))


@pytest.mark.parametrize("param", HINGES)
@pytest.mark.parametrize("shape", [(6, 5), (4, 5, 1, 1), (3, 2, 2, 2)])
def test_hinge(param, shape, device):
    x, channels = 2 * random(*shape), int(np.prod(shape[1:]))
    t = labels(shape[0], channels=channels)
    rig = double(f'type: "HingeLoss" hinge_loss_param {{ {param} }}', x, t, device=device)
    power, margin = HINGES[param]
    sign = np.where(np.arange(channels) == t[:, None], 1, -1)
    wanted = (np.maximum(0, margin - sign * x.reshape(len(t), -1)) ** power).sum() / len(t)
    close(rig.forward()[0], wanted)
    check_gradient(rig)
    assert not rig.backward([np.array(1)], [True, True])[1].any()


@pytest.mark.parametrize("type", ["MultinomialLogisticLoss", "HingeLoss"])
def test_labels(type, device):
    for bad in (5, -1, np.nan):
        with pytest.raises(LayerError, match="at 1 is none of the 5 channels, 0 to 4"):
            Rig(f'type: "{type}"', [np.ones((2, 5)), np.array([0, bad])], device=device).forward()
    with pytest.raises(LayerError, match="a label for each of the 2 rows"):
        Rig(f'type: "{type}"', [np.ones((2, 5)), np.zeros(3)])
    with pytest.raises(LayerError, match="empty batch"):
        Rig(f'type: "{type}"', [np.ones((0, 5)), np.zeros(0)])


# ContrastiveLoss


@pytest.mark.parametrize("margin", [1, 3])
@pytest.mark.parametrize("legacy", [False, True])
def test_contrastive(margin, legacy, device):
    a, b, alike = random(20, 4), 0.5 * random(20, 4, seed=1), labels(20, channels=2)
    text = (
        f'type: "ContrastiveLoss" contrastive_loss_param {{ margin: {margin} legacy_version: {str(legacy).lower()} }}'
    )
    rig = double(text, a, b, alike, device=device)
    squares = ((a - b) ** 2).sum(1)
    unlike = np.maximum(margin - squares, 0) if legacy else np.maximum(margin - np.sqrt(squares), 0) ** 2
    close(rig.forward()[0], np.where(alike, squares, unlike).sum() / 40)
    nearest = np.sqrt(squares[alike == 0].min())
    tolerance = 2e-5 if legacy else 1.1e-4 / nearest  # Caffe's backward divides by the distance + 1e-4
    check_gradient(rig, bottoms=(0, 1), tolerance=tolerance)


def test_contrastive_edges(device):
    same = np.zeros((2, 3))
    rig = double('type: "ContrastiveLoss"', same, same, np.array([0, 1]), device=device)
    assert rig.forward()[0] == 0.25  # unlike, and no distance at all
    assert not rig.backward([np.array(1)], [True, True, False])[0].any()
    with pytest.raises(LayerError, match="set propagate_down: false for bottom 2"):
        rig.backward([np.array(1)], [True, True, True])
    for bottoms, match in (((same, same[:, :2], np.zeros(2)), "one shape"), ((same, same, np.zeros(3)), "each of the 2"),
                           ((same[:0], same[:0], np.zeros(0)), "empty batch")):  # fmt: skip
        with pytest.raises(LayerError, match=match):
            Rig('type: "ContrastiveLoss"', bottoms)


@pytest.mark.parametrize("like", [0, 7, 20])
def test_means_of_like_and_unlike_pairs(like, device):
    a, b, alike = random(20, 4), random(20, 4, seed=1), np.arange(20) < like
    text = 'type: "ContrastiveLoss" contrastive_loss_param { margin: 3 }'
    rig, alone = (Rig(text, [a, b, alike], tops=tops, device=device, dtype=np.float64) for tops in (3, 1))
    loss, near, far = rig.forward()
    squares = ((a - b) ** 2).sum(1)
    assert loss == alone.forward()[0]
    close(near, squares[:like].mean() if like else 0)
    close(far, squares[like:].mean() if like < 20 else 0)
    ones = [np.array(1.0)] * 3
    np.testing.assert_array_equal(
        *(each.backward(diffs, [True, True, False])[0] for each, diffs in ((rig, ones), (alone, ones[:1])))
    )
    with pytest.raises(LayerError, match="3 with the means"):
        Rig(text, [a, b, alike], tops=2)


# InfogainLoss

H = np.random.default_rng(3).uniform(0, 1, (5, 5))


@pytest.mark.parametrize("shape", [(6, 5), (4, 5, 1, 1)])
def test_infogain_of_probabilities(shape, device):
    p, t = softmax(random(*shape), 1), labels(shape[0])
    rig = double('type: "InfogainLoss"', p, t, H.reshape(1, 1, 5, 5), device=device)
    close(rig.forward()[0], -(H[t.astype(int)] * np.log(p.reshape(-1, 5))).sum() / len(t))
    check_gradient(rig, step=1e-6)


@pytest.mark.parametrize(("shape", "axis"), [((6, 5), 1), ((2, 5, 3, 4), 1), ((2, 3, 5), -1)])
@pytest.mark.parametrize("param", ["", "ignore_label: 2", "ignore_label: 2 normalization: FULL", "normalize: false"])
def test_infogain_of_scores(shape, axis, param, device):
    x, beside = random(*shape), tuple(np.delete(shape, axis))
    t = labels(*beside)
    text = f'type: "InfogainLoss" infogain_loss_param {{ axis: {axis} }} loss_param {{ {param} }}'
    rig = double(text, x, t, H, device=device, tops=2)
    p = softmax(x, axis)
    loss, probability = rig.forward()
    close(probability, p)
    counts = (t != 2) | ("ignore" not in param)
    each = -(H[t.astype(int)] * np.log(np.moveaxis(p, axis, -1))).sum(-1)
    outer = int(np.prod(shape[: axis % len(shape)]))
    by = t.size if "FULL" in param else outer if "false" in param else counts.sum()
    close(loss, each[counts].sum() / by)
    rig = double(text, x, t, H, device=device)
    check_gradient(rig)


def test_infogain_from_a_file(tmp_path, device):
    np.save(tmp_path / "gains.npy", H)
    p, t = softmax(random(6, 5), 1), labels(6)
    wanted = double('type: "InfogainLoss"', p, t, H, device=device).forward()[0]
    text = f'type: "InfogainLoss" infogain_loss_param {{ source: "{(tmp_path / "gains.npy").as_posix()}" }}'
    close(double(text, p, t, device=device).forward()[0], wanted)


def test_infogain_errors(device):
    p = np.full((2, 5), 0.2)
    for bottoms, match in (((p, np.zeros(2)), "needs the matrix H"), ((p, np.zeros(3), H), "needs 2 labels"),
                           ((p, np.zeros(2), H[:4]), "5 x 5"), ((p[:0], np.zeros(0), H), "empty batch")):  # fmt: skip
        with pytest.raises(LayerError, match=match):
            Rig('type: "InfogainLoss"', bottoms)
    rig = Rig('type: "InfogainLoss"', [p, np.array([0, 5]), H], device=device)
    with pytest.raises(LayerError, match="label 5 at 1 is none of the 5 channels"):
        rig.forward()


@pytest.mark.parametrize("type", ["SigmoidCrossEntropyLoss", "HingeLoss", "ContrastiveLoss"])
def test_the_top_may_be_left_out(type, device):
    """The Net makes the top of a loss that the prototxt does not name, and its weight is obeyed."""
    third = 'bottom: "c"' if type == "ContrastiveLoss" else ""
    second = "dim: 3" if type == "HingeLoss" else "dim: 3 dim: 4"
    text = f"""force_backward: true
    layer {{ name: "in" type: "Input" top: "a" top: "b" top: "c" input_param {{
             shape {{ dim: 3 dim: 4 }} shape {{ {second} }} shape {{ dim: 3 }} }} }}
    layer {{ name: "l" type: "{type}" bottom: "a" bottom: "b" {third} %s }}"""
    values = {"a": random(3, 4), "b": np.ones(3 if type == "HingeLoss" else (3, 4)), "c": np.ones(3)}
    diffs = []
    for more in ("", 'top: "loss" loss_weight: 2'):
        net = Net(parse_net(text % more), device=device, phase="TRAIN")
        net.forward(**values)
        net.backward()
        diffs.append((net.loss(), np.array(net.blobs["a"].diff)))
    close(2 * diffs[0][0], diffs[1][0])
    close(2 * diffs[0][1], diffs[1][1])
    assert diffs[0][1].any()
