"""Similarity and LinearTransform, of DeViSE, against numpy, and a net of both."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError, Net
from boxpresso.proto import parse_net

RNG = np.random.default_rng(5)
A, B = RNG.standard_normal((3, 4, 1, 2)), RNG.standard_normal((5, 4, 2))
DEVISE = """force_backward: true layer { name: "x" type: "Input" top: "x" top: "words" top: "label"
        input_param { shape { dim: 3 dim: 8 } shape { dim: 5 dim: 6 dim: 1 dim: 1 } shape { dim: 3 } } }
    layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 8 weight_filler { type: "xavier" } } }
    layer { name: "t" type: "LinearTransform" bottom: "ip" top: "t" linear_transform_param {
        num_output: 6 weight_filler { type: "gaussian" } backprop: BACK } }
    layer { name: "s" type: "Similarity" bottom: "t" bottom: "words" top: "s" }
    layer { name: "loss" type: "RankingLoss" bottom: "s" bottom: "label" top: "loss" ranking_loss_param { margin: 2 } }"""


def test_products_of_rows(device):
    rig = Rig('type: "Similarity"', [A, B], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], A.reshape(3, 8) @ B.reshape(5, 8).T, rtol=1e-12)
    check_gradient(rig)


def test_other_lengths_are_refused():
    with pytest.raises(LayerError, match="as many numbers"):
        Rig('type: "Similarity"', [A, B[:, :3]])
    with pytest.raises(LayerError, match="rows of features"):
        Rig('type: "Similarity"', [A, np.zeros((0, 8))])


@pytest.mark.parametrize("back", [True, False])
def test_a_net_of_devise_learns_as_its_formula_says(back):
    net = Net(parse_net(DEVISE.replace("BACK", str(back).lower())), device="cpu", phase="TRAIN")
    words, labels = B[:, :3].reshape(5, 6, 1, 1), np.array([4, 0, 2])
    net.blobs["x"].data[...], net.blobs["words"].data[...], net.blobs["label"].data[...] = (
        A.reshape(3, 8),
        words,
        labels,
    )
    assert len(net.params["t"]) == 1
    w = np.array(net.params["t"][0].data, np.float64)
    net.forward()
    net.backward()
    rows = np.array(net.blobs["ip"].data, np.float64)
    scores = rows @ w.T @ words.reshape(5, 6).T
    np.testing.assert_allclose(net.blobs["s"].data, scores, rtol=1e-4, atol=1e-5)
    over = 2 + scores - scores[np.arange(3), labels][:, None] > 0
    over[np.arange(3), labels] = False
    slope = over.astype(float)
    slope[np.arange(3), labels] = -over.sum(1)
    of_t = slope / 3 @ words.reshape(5, 6)
    np.testing.assert_allclose(net.params["t"][0].diff, of_t.T @ rows, rtol=1e-4, atol=1e-5)
    moved = np.abs(np.asarray(net.params["ip"][0].diff)).max()
    assert (moved > 0) == back
    if back:
        np.testing.assert_allclose(net.blobs["ip"].diff, of_t @ w, rtol=1e-4, atol=1e-5)


def test_rows_of_data_are_as_long_as_what_they_are_compared_with():
    text = """layer { name: "d" type: "Data" top: "data" data_param { batch_size: 2 } transform_param { crop_size: 9 } }
        layer { name: "w" type: "Data" top: "words" data_param { batch_size: 7 } }
        layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 5 } }
        layer { name: "s" type: "Similarity" bottom: "ip" bottom: "words" top: "s" }"""
    net = Net(parse_net(text), data="shapes", device="cpu", lazy=True)
    assert (net.blobs["words"].shape, net.blobs["s"].shape) == ((7, 5), (2, 7))
