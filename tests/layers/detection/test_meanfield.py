"""CRF-RNN's mean field, DeepLab's and their lattice: against a lattice of dictionaries, exact sums over all pixels, and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError
from boxpresso.device import open_device
from boxpresso.layers.detection.lattice import Lattice

RNG = np.random.default_rng(7)
TEXT = """type: "MultiStageMeanfield" multi_stage_meanfield_param {
    num_iterations: %d theta_alpha: 3 theta_beta: 20 theta_gamma: 1.7 spatial_filter_weight: 2 bilateral_filter_weight: 3 }"""
SCORES, PICTURE = RNG.standard_normal((1, 3, 4, 5)), RNG.uniform(0, 60, (1, 3, 4, 5))
UNARY, PICTURES = 2 * RNG.standard_normal((2, 3, 4, 5)), RNG.uniform(-60, 60, (2, 3, 4, 5))  # of DenseCRF
WHOLE = np.array([[4, 5], [9, 9]])
NEAR, ALIKE = "pos_w: 3 pos_xy_std: 1.5", "bi_w: 2 bi_xy_std: 6 bi_rgb_std: 20"
CRF = 'type: "DenseCRF" dense_crf_param { %s }'
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (TEXT % 2, [SCORES, SCORES, PICTURE], [True, True, False]),
    (CRF % f"max_iter: 2 {NEAR} {ALIKE}", [UNARY, WHOLE, PICTURES], []),
]


def by_dictionary(features: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Adams et al. 2010, one point and one corner after the other; values (P, C)."""
    d = features.shape[1]
    basis = np.zeros((d + 1, d))
    for j in range(d):  # the columns of their B: (1, .., 1, -(j + 1), 0, ..)
        basis[: j + 1, j], basis[j + 1, j] = 1, -(j + 1)
        basis[:, j] *= np.sqrt(2 / 3) * (d + 1) / np.sqrt((j + 1) * (j + 2))
    table: dict[tuple[int, ...], np.ndarray] = {}
    simplices = []
    for feature, value in zip(features, values):
        lifted = basis @ feature
        best = None
        start = np.rint(lifted / (d + 1)).astype(int)
        for shift in np.ndindex(*[3] * (d + 1)):  # the remainder-0 point of the plane that is nearest
            point = (start + np.array(shift) - 1) * (d + 1)
            if point.sum() == 0 and (best is None or ((lifted - point) ** 2).sum() < best[0]):
                best = ((lifted - point) ** 2).sum(), point
        point = best[1]
        order = np.argsort(-(lifted - point), kind="stable")
        delta = (lifted - point)[order]
        corners = []
        for k in range(d + 1):  # corner k: +k for the d + 1 - k largest remainders, k - (d + 1) for the others
            key = point.copy()
            key[order] += np.where(np.arange(d + 1) < d + 1 - k, k, k - (d + 1))
            weight = 1 - (delta[0] - delta[d]) / (d + 1) if k == 0 else (delta[d - k] - delta[d + 1 - k]) / (d + 1)
            corners.append((tuple(key), weight))
            table[tuple(key)] = table.get(tuple(key), 0) + weight * value
        simplices.append(corners)
    for axis in range(d + 1):
        step = np.ones(d + 1, int)
        step[axis] -= d + 1
        table = {
            key: own + sum(table.get(tuple(np.array(key) + s * step), 0 * own) for s in (-1, 1)) / 2
            for key, own in table.items()
        }
    return np.array([sum(w * table[key] for key, w in corners) for corners in simplices]) / (1 + 2.0**-d)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_lattice_is_that_of_the_paper(d, device):
    features, values = RNG.uniform(-3, 3, (40, d)), RNG.standard_normal((40, 4))
    on = open_device(device)
    lattice = Lattice(on, features, np.float64, 4)
    x, y = on.table(values.T, np.float64), on.empty((4, 40), np.float64)
    lattice.filter(x, y, 4)
    np.testing.assert_allclose(np.asarray(y).T, by_dictionary(features, values), rtol=1e-9, atol=1e-9)


def test_the_adjoint_is_the_transposed_matrix(device):
    on, features = open_device(device), RNG.uniform(-2, 2, (15, 5))
    lattice = Lattice(on, features, np.float64, 15)
    one = on.table(np.eye(15), np.float64)
    there, back = on.empty((15, 15), np.float64), on.empty((15, 15), np.float64)
    lattice.filter(one, there, 15)
    lattice.filter(one, back, 15, adjoint=True)
    np.testing.assert_allclose(np.asarray(there), np.asarray(back).T, rtol=1e-12, atol=1e-12)


def test_the_lattice_is_near_the_gaussian(device):
    """On the plane, where many points lie between its corners: within some per cent of the exact means."""
    rows, columns = np.mgrid[:20, :20].reshape(2, -1) / 3.0
    features = np.stack([columns, rows], 1)
    values = np.stack([np.ones(400), (columns > 3).astype(float), np.sin(rows)])
    exact = np.exp(-((features[:, None] - features[None]) ** 2).sum(2) / 2) @ values.T
    on = open_device(device)
    y = on.empty((3, 400), np.float64)
    Lattice(on, features, np.float64, 3).filter(on.table(values, np.float64), y, 3)
    ours = np.asarray(y)
    np.testing.assert_allclose(ours[1:] / ours[0], (exact[:, 1:] / exact[:, :1]).T, atol=0.08)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(0))
    return e / e.sum(0)


def mean_of(features: np.ndarray) -> np.ndarray:
    """(P, P): the matrix of a lattice's means; the lattice itself is checked above."""
    on, count = open_device("cpu"), len(features)
    y = on.empty((count, count), np.float64)
    Lattice(on, features, np.float64, count).filter(on.table(np.eye(count), np.float64), y, count)
    whole = np.asarray(y).T
    return whole / whole.sum(1, keepdims=True)


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_iterations(iterations, device):
    params = [RNG.standard_normal((1, 1, 3, 3)) for _ in range(3)]
    bottoms = [np.concatenate([x, x[::-1] + 1]) for x in (SCORES, SCORES - 0.5, PICTURE)]  # two images
    rig = Rig(TEXT % iterations, bottoms, device=device, dtype=np.float64, params=params)
    got = rig.forward()[0]
    a, b, c = (p[0, 0] for p in params)
    rows, columns = np.mgrid[:4, :5].reshape(2, -1)
    places = np.stack([columns, rows], 1).astype(float)
    for unary, start, picture, top in zip(*bottoms, got):
        colours = picture.reshape(3, -1).T
        means = []
        for features in (places / np.float32(1.7), np.concatenate([places / 3, colours / 20], 1)):
            means.append(mean_of(features))
        q = start.reshape(3, -1)
        for _ in range(iterations):
            soft = softmax(q)
            q = unary.reshape(3, -1) - c @ (a @ (means[0] @ soft.T).T + b @ (means[1] @ soft.T).T)
        np.testing.assert_allclose(top.reshape(3, -1), q, rtol=1e-9, atol=1e-9)


def test_gradient(device):
    params = [0.7 * RNG.standard_normal((1, 1, 3, 3)) for _ in range(3)]
    rig = Rig(TEXT % 3, [SCORES, SCORES - 0.3, PICTURE], device=device, dtype=np.float64, params=params)
    check_gradient(rig)


def test_first_weights_and_what_is_refused():
    rig = Rig(TEXT % 2, [SCORES, SCORES, PICTURE])
    for blob, value in zip(rig.layer.blobs, (2, 3, -1)):
        np.testing.assert_array_equal(np.asarray(blob.data)[0, 0], value * np.eye(3))
    for bottoms, message in (
        ([SCORES, SCORES[:, :2], PICTURE], "bottom 1 must have the shape of bottom 0"),
        ([SCORES, SCORES, PICTURE[:, :1]], "the picture, must be"),
        ([SCORES, SCORES, np.full_like(PICTURE, np.inf)], "not finite"),
        ([SCORES, SCORES, 1e9 * PICTURE], "too small for this picture"),
        ([SCORES, SCORES, 1e35 * PICTURE], "too small for this picture"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(TEXT % 1, bottoms).forward()


# DenseCRF


def inferred(scores, picture, near, alike, iterations) -> np.ndarray:
    """One image (C, H, W), by whole matrices; near: (weight, deviation) each, alike: (weight, deviations of places and colours)."""
    channels, *size = scores.shape
    y, x = np.mgrid[: size[0], : size[1]].reshape(2, -1)
    places = np.stack([x, y], 1).astype(float)
    features = [(w, places / by) for w, by in near]
    features += [(w, np.concatenate([places / by, picture.reshape(3, -1).T / of], 1)) for w, by, of in alike]
    matrices = [(w, mean_of(f)) for w, f in features]
    unary = scores.reshape(channels, -1)
    q = softmax(unary)
    for _ in range(iterations):
        q = softmax(unary + sum(w * (q @ matrix.T) for w, matrix in matrices))
    return q.reshape(scores.shape)


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_crf_of_near_pixels(iterations, device):
    text = CRF % f"max_iter: {iterations} {NEAR} pos_w: 0.5 pos_xy_std: 4"
    result = Rig(text, [UNARY, WHOLE], device=device, dtype=np.float64).forward()[0]
    for scores, seen in zip(UNARY, result):
        wanted = inferred(scores, None, [(3, 1.5), (0.5, 4)], [], iterations)
        np.testing.assert_allclose(seen, wanted, rtol=1e-8, atol=1e-9)


def test_crf_of_near_and_alike_pixels(device):
    text = CRF % f"max_iter: 3 {NEAR} {ALIKE}"
    result = Rig(text, [UNARY, WHOLE, PICTURES], device=device, dtype=np.float64).forward()[0]
    for scores, picture, seen in zip(UNARY, PICTURES, result):
        np.testing.assert_allclose(seen, inferred(scores, picture, [(3, 1.5)], [(2, 6, 20)], 3), rtol=1e-8, atol=1e-9)


def test_crf_padding_is_left_out_and_logarithms(device):
    sizes = np.array([[3, 4], [4, 2]])
    text = CRF % f"max_iter: 2 {NEAR} {ALIKE} output_probability: %s"
    plain = Rig(text % "true", [UNARY, sizes, PICTURES], device=device, dtype=np.float64).forward()[0]
    for i, (high, wide) in enumerate(sizes):
        part = [array[i : i + 1, :, :high, :wide] for array in (UNARY, PICTURES)]
        own = Rig(text % "true", [part[0], sizes[i : i + 1], part[1]], device=device, dtype=np.float64).forward()[0]
        np.testing.assert_allclose(plain[i, :, :high, :wide], own[0], rtol=1e-12)
        np.testing.assert_allclose(own.sum(1), 1, rtol=1e-12)
        assert not plain[i, :, high:].any()
        assert not plain[i, :, :, wide:].any()
    logs = Rig(text % "false", [UNARY, sizes, PICTURES], device=device, dtype=np.float64).forward()[0]
    inside = plain > 0
    np.testing.assert_allclose(logs[inside], np.log(plain[inside]), rtol=1e-12)
    assert not logs[~inside].any()
    nothing = np.array([[0, 5], [4, np.nan]])
    assert not Rig(text % "true", [UNARY, nothing, PICTURES], device=device).forward()[0].any()
    steep = Rig(text % "false", [500 * UNARY, WHOLE, PICTURES], device=device, dtype=np.float64).forward()[0]
    assert steep.min() == pytest.approx(np.log(np.finfo(np.float32).tiny))


@pytest.mark.parametrize(
    ("param", "bottoms", "message"),
    [
        ("pos_w: 1", [UNARY, WHOLE], r"as many of each, got \{'pos_w': 1, 'pos_xy_std': 0\}"),
        ("pos_w: 1 pos_xy_std: 0", [UNARY, WHOLE], "pos_xy_std must be above 0"),
        ("max_iter: -1", [UNARY, WHOLE], "max_iter must be from 0 to 1000"),
        (NEAR, [UNARY, WHOLE, PICTURES], "has a picture, but no bi_w"),
        (NEAR, [UNARY, WHOLE[:1]], "for each of 2 images, got 2 numbers"),
        (ALIKE, [UNARY, WHOLE, PICTURES[:, :1]], "the pictures, must be"),
        (ALIKE, [UNARY, WHOLE, np.full_like(PICTURES, np.inf)], "not finite"),
        (ALIKE, [UNARY, WHOLE, 1e35 * PICTURES], "too small for this picture"),
    ],
)
def test_crf_refused(param, bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(CRF % param, bottoms).forward()
