"""Similarity and LinearTransform, of DeViSE, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(5)
A, B, W = RNG.standard_normal((3, 4, 1, 2)), RNG.standard_normal((5, 4, 2)), RNG.standard_normal((6, 8))
LINEAR = 'type: "LinearTransform" linear_transform_param { num_output: 6 weight_filler { type: "gaussian" } '


def test_products_of_rows(device):
    rig = Rig('type: "Similarity"', [A, B], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], A.reshape(3, 8) @ B.reshape(5, 8).T, rtol=1e-12)
    check_gradient(rig)


def test_other_lengths_are_refused():
    with pytest.raises(LayerError, match="as many numbers"):
        Rig('type: "Similarity"', [A, B[:, :3]])
    with pytest.raises(LayerError, match="rows of features"):
        Rig('type: "Similarity"', [A, np.zeros((0, 8))])


@pytest.mark.parametrize("back", ["true", "false"])
def test_a_product_without_a_bias(back, device):
    rig = Rig(f"{LINEAR} backprop: {back} }}", [A], device=device, dtype=np.float64)
    assert len(rig.layer.blobs) == 1
    rig.layer.blobs[0].data[...] = W
    np.testing.assert_allclose(rig.forward()[0], A.reshape(3, 8) @ W.T, rtol=1e-12)
    top = RNG.standard_normal((3, 6))
    diff = rig.backward([top], [True])[0]
    np.testing.assert_allclose(diff.reshape(3, 8), top @ W if back == "true" else np.zeros((3, 8)), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(rig.layer.blobs[0].diff) - 1, top.T @ A.reshape(3, 8), rtol=1e-12)
