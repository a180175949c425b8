"""Softmax, SoftmaxWithLoss and SmoothL1Loss against their formulas in numpy, and their gradients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from shared import golden

from boxpresso import LayerError

RNG = np.random.default_rng(21)
CUDA_ONLY = golden("caffe_cuda_only/SmoothL1Loss")


def softmax(x, axis=1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


# Softmax


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((3, 10), 1),
        ((2, 50, 21), 2),
        ((2, 6, 5), 1),
        ((4, 3), 0),
        ((2, 5, 13, 31), 1),
        ((2, 3, 1000), -1),
        ((2, 130), 1),
        ((1, 1, 7), 1),
    ],
)
def test_softmax(shape, axis, in_place, device):
    x, grad = RNG.standard_normal(shape) * 5, RNG.standard_normal(shape)
    rig = Rig(
        f'type: "Softmax" softmax_param {{ axis: {axis} }}', [x], in_place=in_place, dtype=np.float64, device=device
    )
    wanted = softmax(x, axis)
    close(rig.forward()[0], wanted, rtol=1e-9)
    diff = wanted * (grad - (grad * wanted).sum(axis, keepdims=True))
    close(rig.backward([grad])[0], diff, rtol=1e-9, atol=1e-9)


def test_softmax_of_large_scores(device):
    x = np.array([[1000, 1000, -1000], [-1e30, 0, 0]], np.float32)
    close(Rig('type: "Softmax"', [x], device=device).forward()[0], np.array([[0.5, 0.5, 0], [0, 0.5, 0.5]]))


def test_softmax_reshaped_and_empty(device):
    rig = Rig('type: "Softmax"', [np.zeros((2, 4, 3, 3))], device=device)
    for shape in ((1, 4, 2, 5), (0, 4, 3, 3), (3, 200), (2, 4, 30, 30)):
        x = RNG.standard_normal(shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], softmax(x))
        assert rig.backward([np.ones(shape)])[0].shape == shape


# SoftmaxWithLoss


def loss_and_diff(x, label, axis=1, mode="VALID", ignored=None, fixed=1.0):
    p = np.moveaxis(softmax(x, axis), axis, -1)
    flat = label.reshape(p.shape[:-1]).astype(int)
    valid = np.ones(flat.shape, bool) if ignored is None else flat != ignored
    truth = np.eye(p.shape[-1])[np.where(valid, flat, 0)]
    outer = int(np.prod(x.shape[:axis]))
    by = {"FULL": flat.size, "VALID": valid.sum(), "BATCH_SIZE": outer, "NONE": 1, "PRE_FIXED": fixed}[mode]
    by = max(by, 1)
    tiny = np.finfo(np.float32).tiny
    loss = -np.log(np.maximum((p * truth).sum(-1), tiny))[valid].sum() / by
    return loss, np.moveaxis((p - truth) * valid[..., None] / by, -1, axis)


@pytest.mark.parametrize("ignored", [None, 0, -1, 255])
@pytest.mark.parametrize("mode", ["FULL", "VALID", "BATCH_SIZE", "NONE", "PRE_FIXED"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((6, 5), 1), ((3, 4, 7, 5), 1), ((2, 900, 3), 2), ((4, 3, 2), 0), ((2, 3, 50, 60), 1)]
)
def test_softmax_loss(shape, axis, mode, ignored, device):
    x = RNG.standard_normal(shape)
    label = RNG.integers(0, shape[axis], [s for i, s in enumerate(shape) if i != axis]).astype(float)
    if ignored is not None:
        label[RNG.random(label.shape) < 0.3] = ignored
    skip = "" if ignored is None else f"ignore_label: {ignored}"
    param = f"softmax_param {{ axis: {axis} }} loss_param {{ normalization: {mode} pre_fixed_normalizer: 2.5 {skip} }}"
    rig = Rig(f'type: "SoftmaxWithLoss" {param}', [x, label], dtype=np.float64, device=device)
    loss, diff = loss_and_diff(x, label, axis, mode, ignored, 2.5)
    close(rig.forward()[0], np.array(loss), rtol=1e-9)
    close(rig.backward([np.array(0.25)], [True, False])[0], 0.25 * diff, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("param", "mode"),
    [
        ("", "VALID"),
        ("normalize: true", "VALID"),
        ("normalize: false", "BATCH_SIZE"),
        ("normalize: false normalization: NONE", "NONE"),
    ],
)
def test_the_older_normalize(param, mode, device):
    x, label = RNG.standard_normal((2, 3, 4, 5)), RNG.integers(0, 3, (2, 1, 4, 5)).astype(float)
    rig = Rig(f'type: "SoftmaxWithLoss" loss_param {{ ignore_label: 1 {param} }}', [x, label], device=device)
    close(rig.forward()[0], np.array(loss_and_diff(x, label, 1, mode, 1)[0]))


def test_a_loss_worked_by_hand(device):
    """Equal scores of four channels: the loss is log 4, the gradient 1/4 and 1/4 - 1."""
    rig = Rig('type: "SoftmaxWithLoss"', [np.zeros((1, 4)), np.array([2])], device=device)
    close(rig.forward()[0], np.log(4.0))
    close(rig.backward([np.array(1)], [True, False])[0], np.array([[0.25, 0.25, -0.75, 0.25]]))


def test_a_hopeless_label_has_a_finite_loss(device):
    x = np.array([[0, 1000]], np.float32)
    top = Rig('type: "SoftmaxWithLoss"', [x, np.array([0])], device=device).forward()[0]
    close(top, -np.log(np.finfo(np.float32).tiny))


def test_all_ignored(device):
    param = 'type: "SoftmaxWithLoss" loss_param { ignore_label: 9 }'
    rig = Rig(param, [RNG.standard_normal((3, 4)), np.full(3, 9)], device=device)
    assert rig.forward()[0] == 0
    assert (rig.backward([np.array(1)], [True, False])[0] == 0).all()


def test_the_second_top_is_the_probabilities(device):
    x, label = RNG.standard_normal((2, 3, 4, 5)), RNG.integers(0, 3, (2, 4, 5)).astype(float)
    rig = Rig('type: "SoftmaxWithLoss"', [x, label], tops=2, device=device)
    loss, probability = rig.forward()
    close(loss, np.array(loss_and_diff(x, label)[0]))
    close(probability, softmax(x))
    x = RNG.standard_normal((5, 3, 7, 1))
    rig.set_bottom(0, x)
    rig.set_bottom(1, np.zeros((5, 7)))
    close(rig.forward()[1], softmax(x))


def test_many_terms_keep_their_digits(device):
    """A million equal losses: a running sum in float would have lost the third digit."""
    x = np.zeros((1, 2, 1000, 1000), np.float32)
    rig = Rig('type: "SoftmaxWithLoss"', [x, np.zeros((1, 1000, 1000))], device=device)
    np.testing.assert_allclose(rig.forward()[0], np.log(2), rtol=2e-7)


def test_softmax_loss_gradient(device):
    x, label = RNG.standard_normal((4, 3, 5)), RNG.integers(0, 3, (4, 5))
    check_gradient(Rig('type: "SoftmaxWithLoss"', [x, label], dtype=np.float64, device=device))


@pytest.mark.parametrize("wrong", [4, -1, 255, np.nan])
def test_a_label_that_is_no_channel(wrong, device):
    label = np.zeros((3, 2, 2))
    label[1, 0, 1] = wrong
    rig = Rig('type: "SoftmaxWithLoss"', [np.zeros((3, 4, 2, 2)), label], device=device)
    with pytest.raises(LayerError, match=rf"'layer': label {wrong:g} at 5 is none of the 4 channels"):
        rig.forward()
    rig.set_bottom(1, np.zeros((3, 2, 2)))
    close(rig.forward()[0], np.log(4.0))


def test_no_images(device):
    rig = Rig('type: "SoftmaxWithLoss"', [np.zeros((0, 4)), np.zeros(0)], device=device)
    assert rig.forward()[0] == 0
    assert rig.backward([np.array(1)], [True, False])[0].shape == (0, 4)
    rig = Rig('type: "SmoothL1Loss"', [np.zeros((0, 4)), np.zeros((0, 4))], device=device)
    assert rig.forward()[0] == 0
    assert rig.backward([np.array(1)])[0].shape == (0, 4)


# SmoothL1Loss


def smooth_l1(a, b, inside, outside, sigma):
    d = inside * (a - b)
    line = np.abs(d) >= 1 / sigma**2
    value = np.where(line, np.abs(d) - 0.5 / sigma**2, 0.5 * (sigma * d) ** 2)
    return (outside * value).sum() / len(a)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("sigma", [1, 3, 0.5])
@pytest.mark.parametrize("shape", [(3, 8), (2, 12, 5, 4), (5, 4000)])
def test_smooth_l1(shape, sigma, count, device):
    bottoms = [RNG.standard_normal(shape) for _ in range(2)] + [RNG.random(shape) * 2 for _ in range(count - 2)]
    param = f'type: "SmoothL1Loss" smooth_l1_loss_param {{ sigma: {sigma} }}'
    rig = Rig(param, bottoms, dtype=np.float64, device=device)
    weights = [*bottoms[2:], 1.0, 1.0][:2]
    close(rig.forward()[0], np.array(smooth_l1(*bottoms[:2], *weights, sigma)), rtol=1e-9)
    check_gradient(rig, bottoms=(0, 1), samples=20)


def test_smooth_l1_worked_by_hand(device):
    """Distances 0.5, 1 and -3 in one image: 1/8 + 1/2 + 5/2; slopes 0.5, 1 and -1, times the loss weight 2."""
    rig = Rig('type: "SmoothL1Loss"', [np.array([[0.5, 1, -3]]), np.zeros((1, 3))], device=device)
    close(rig.forward()[0], np.array(3.125))
    a, b = rig.backward([np.array(2)])
    close(a, np.array([[1, 2, -2]]))
    close(b, np.array([[-1, -2, 2]]))
    a, b = rig.backward([np.array(2)], [False, True])
    assert np.isnan(a).all()
    close(b, np.array([[-1, -2, 2]]))


def test_smooth_l1_weights_are_constants(device):
    """In py-faster-rcnn's end-to-end nets the weights come from a layer over something that learns, which asks for theirs."""
    ones = np.ones((2, 3))
    rig = Rig('type: "SmoothL1Loss"', [3 * ones, ones, ones, ones], device=device)
    rig.forward()
    diffs = rig.backward([np.array(2.0)], [True] * 4)
    for diff, wanted in zip(diffs, (1, -1, 0, 0)):
        np.testing.assert_array_equal(diff, wanted * ones)


@pytest.mark.parametrize("path", CUDA_ONLY, ids=lambda p: p.stem)
def test_smooth_l1_of_caffe_on_cuda(path: Path, device):
    """Fast R-CNN's layer has sigma and weights; Caffe's own numbers."""
    case = np.load(path)
    bottoms = [case[f"bottom_{i}"] for i in range(int(case["n_bottom"]))]
    rig = Rig(str(case["layer"]), bottoms, device=device)
    close(rig.forward()[0], case["top_0"])
    diffs = rig.backward([case["top_diff_0"]], [True, True, False, False][: len(bottoms)])
    for i in (0, 1):
        close(diffs[i], case[f"bottom_diff_{i}"])


@pytest.mark.parametrize(
    ("text", "bottoms", "words"),
    [
        ('type: "Softmax" softmax_param { axis: 2 }', [(2, 3)], "axis 2"),
        ('type: "SoftmaxWithLoss"', [(2, 3, 4), (2, 3)], "have 8 labels beside axis 1"),
        ('type: "SoftmaxWithLoss" loss_param { label_smoothing: 0.1 }', [(2, 3), (2,)], "label_smoothing"),
        (
            'type: "SoftmaxWithLoss" loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 0 }',
            [(2, 3), (2,)],
            "above 0",
        ),
        ('type: "SmoothL1Loss"', [(2, 3), (3, 2)], "bottom 1 must have"),
        ('type: "SmoothL1Loss"', [(2, 3), (2, 3), (2, 3), (2, 4)], "bottom 3 must have"),
        ('type: "SmoothL1Loss" smooth_l1_loss_param { sigma: 0 }', [(2, 3), (2, 3)], "sigma must be above 0"),
    ],
)
def test_errors(text, bottoms, words):
    with pytest.raises(LayerError, match=words):
        Rig(text, [np.zeros(b) for b in bottoms])


def test_no_gradient_of_labels():
    rig = Rig('type: "SoftmaxWithLoss"', [np.zeros((2, 3)), np.zeros(2)])
    rig.forward()
    with pytest.raises(LayerError, match="labels have no gradient"):
        rig.backward([np.array(1)])


EUCLIDEAN = 'type: "EuclideanLoss"'


def test_euclidean_loss_is_half_the_mean_squared_distance(device):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((4, 3, 2)), rng.standard_normal((4, 3, 2))
    rig = Rig(EUCLIDEAN, [a, b], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], ((a - b) ** 2).sum() / 8)
    left, right = rig.backward([np.array(3.0)])
    np.testing.assert_allclose(left, 3 * (a - b) / 4)
    np.testing.assert_allclose(right, -left)


def test_euclidean_loss_gradient():
    rng = np.random.default_rng(4)
    rig = Rig(EUCLIDEAN, [rng.standard_normal((3, 5)), rng.standard_normal((3, 5, 1))], dtype=np.float64)
    check_gradient(rig, bottoms=(0, 1))


def test_euclidean_loss_refuses_blobs_that_differ():
    with pytest.raises(LayerError, match=r"EuclideanLoss layer 'layer': its bottoms must agree.*\(3, 5\) and \(5, 3\)"):
        Rig(EUCLIDEAN, [np.zeros((3, 5)), np.zeros((5, 3))])
    with pytest.raises(LayerError, match="an empty batch"):
        Rig(EUCLIDEAN, [np.zeros((0, 5)), np.zeros((0, 5))])


SEGNETS = (
    'type: "SoftmaxWithLoss" loss_param { weight_by_label_freqs: true ignore_label: 9 class_weighting: [0.5, 2, 1.25] }'
)
PAIRS = 'type: "WeightedSoftmaxWithLoss" loss_param { ignore_label: 9 } softmax_param { %s }'


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("inner", [1, 6])
@pytest.mark.parametrize(
    ("text", "weights"),
    [
        (SEGNETS, [0.5, 2, 1.25]),
        (PAIRS % "pos_cid: 2 pos_mult: 0.5", [1, 1, 0.5]),
        (PAIRS % "pos_mult: 3", [1, 3, 1]),
        (PAIRS % "pos_cid: 1 pos_mult: 2 pos_cid: 0 pos_mult: 0.25", [0.25, 2, 1]),
        (PAIRS % "axis: 1", [1, 1, 1]),
    ],
)
def test_weights_of_classes(text, weights, weighted, inner, device):
    rng, weights = np.random.default_rng(3), np.array(weights)
    scores, labels = rng.standard_normal((4, 3, inner)), rng.integers(0, 3, (4, inner))
    labels[0, 0] = 9
    own = rng.uniform(0.5, 2, (4, inner)) if weighted else np.ones((4, inner))
    bottoms = [scores, labels, own][: 2 + weighted]
    rig = Rig(text, bottoms, tops=3, device=device, dtype=np.float64)
    logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    counts, safe = labels != 9, np.where(labels == 9, 0, labels)
    losses = -np.take_along_axis(logs, safe[:, None], 1)[:, 0] * weights[safe] * own * counts
    top, _, each = rig.forward()
    np.testing.assert_allclose(top, losses.sum() / counts.sum(), rtol=1e-10)  # the divisor does not know the weights
    np.testing.assert_allclose(each, losses, rtol=1e-10)
    two = Rig(text, bottoms, device=device, dtype=np.float64)
    two.forward()
    diff = two.backward([np.array(2.0)], [True, *[False] * (1 + weighted)])[0]
    off = np.exp(logs) - (np.arange(3)[None, :, None] == safe[:, None])
    wanted = 2 * off * (weights[safe] * own * counts)[:, None] / counts.sum()
    np.testing.assert_allclose(diff, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SEGNETS.replace(", 1.25", ""), "a class_weighting for each of 3 channels, got 2"),
        (PAIRS % "pos_cid: 3 pos_mult: 2", "pos_cid 3 is none of the 3 channels"),
        (PAIRS % "pos_cid: -1 pos_mult: 2", "pos_cid -1 is none of the 3 channels"),
        (PAIRS % "pos_cid: 1 pos_cid: 1 pos_mult: 2 pos_mult: 3", "pos_cid 1 is there twice"),
        (PAIRS % "pos_cid: 1 pos_cid: 2 pos_mult: 2", "each pos_cid has a pos_mult, got 2 and 1"),
        (SEGNETS.replace('"Soft', '"WeightedSoft'), "weight_by_label_freqs of a fork is not supported"),
    ],
)
def test_weights_of_classes_that_do_not_fit(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros((4, 3)), np.zeros(4)])


def test_weights_of_classes_after_a_reshape(device):
    rig = Rig(PAIRS % "pos_cid: 1 pos_mult: 3", [np.zeros((2, 2)), np.ones(2)], device=device)
    close(rig.forward()[0], 3 * np.log(2), rtol=1e-6)
    rig.set_bottom(0, np.zeros((2, 50)))
    rig.set_bottom(1, np.array([1, 49]))
    close(rig.forward()[0], 2 * np.log(50), rtol=1e-6)
