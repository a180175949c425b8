"""MIL: the largest and noisy or, over places and over rows, in numpy; gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError, ModelError

RNG = np.random.default_rng(4)
X, ROWS = RNG.uniform(0.02, 0.9, (2, 3, 4, 5)), RNG.standard_normal((12, 7))
MAX, NOR, CONTEXT = (
    'type: "MIL"',
    'type: "MIL" mil_param { type: NOR }',
    'type: "MIL" mil_param { context_per_roi: %d }',
)
LAUNCHES: list[tuple] = [(NOR, [X]), (CONTEXT % 4, [ROWS])]  # for tests/device/test_threaded.py


@pytest.mark.parametrize(
    ("text", "x", "wanted"),
    [
        (MAX, X, X.max((2, 3))),
        (NOR, X, 1 - np.prod(1 - X, (2, 3))),
        (CONTEXT % 4, ROWS, ROWS.reshape(3, 4, 7).max(1)),
        (CONTEXT % 4, ROWS[:, :, None, None], ROWS.reshape(3, 4, 7).max(1)),
    ],
)
def test_scores(text, x, wanted, device):
    rig = Rig(text, [x], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], wanted[:, :, None, None], rtol=1e-13)
    check_gradient(rig, samples=40)


def test_equal_scores_and_certain_ones(device):
    """All elements that are the largest have its gradient; one that is true for certain has the whole of NOR's."""
    x, diff = np.array([[[[0.25, 1.0, 1.0, 0.5]]]]), np.full((1, 1, 1, 1), 3.0)
    rig = Rig(MAX, [x], device=device, dtype=np.float64)
    assert rig.forward()[0].item() == 1
    np.testing.assert_array_equal(rig.backward([diff])[0].ravel(), [0, 3, 3, 0])
    rig = Rig(NOR, [x], device=device, dtype=np.float64)
    assert rig.forward()[0].item() == 1
    np.testing.assert_array_equal(rig.backward([diff])[0].ravel(), [0, 3, 3, 0])


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        (MAX, (3,), r"must be \(N, C, ...\)"),
        (MAX, (2, 3, 0, 5), "has no elements"),
        (CONTEXT % 5, (12, 7), "12 rows are no multiple of context_per_roi: 5"),
        (CONTEXT % 2, (12, 7, 2, 1), r"must be \(rows, C\)"),
        ('type: "MIL" mil_param { context_per_roi: 2 type: NOR }', (12, 7), "goes with type: MAX alone"),
    ],
)
def test_what_it_refuses(text, shape, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros(shape)])


RCNN = """layer { name: "d" type: "Python" top: "data" top: "rois" top: "secondary_rois" python_param { module: "own" layer: "Own" } }
    layer { name: "p" type: "ROIPooling" bottom: "data" bottom: "rois" top: "p" roi_pooling_param { pooled_h: 1 pooled_w: 1 } }
    layer { name: "q" type: "ROIPooling" bottom: "data" bottom: "secondary_rois" top: "q" roi_pooling_param { pooled_h: 1 pooled_w: 1 } }
    layer { name: "m" type: "MIL" bottom: "q" top: "m" mil_param { context_per_roi: 10 } }
    layer { name: "s" type: "Sum" bottom: "p" bottom: "m" top: "s" %s }"""


def test_regions_and_what_is_around_them():
    """R*CNN's data without its files, and its Sum, which adds bottoms; a Sum with fields is another program's."""
    net = Net(parse_net(RCNN % ""), data="shapes", device="cpu")
    assert net.blobs["secondary_rois"].shape[0] == 10 * net.blobs["rois"].shape[0]
    net.forward()
    np.testing.assert_allclose(net.blobs["s"].data, net.blobs["p"].data + net.blobs["m"].data, rtol=1e-6)
    with pytest.raises(ModelError, match="unknown type 'Sum'"):
        Net(parse_net(RCNN % "sum_param { num_output: 3 }"), data="shapes", device="cpu")


@pytest.mark.parametrize("mil", [MAX, NOR])
def test_a_layer_in_place_behind_it_leaves_its_gradient(mil, device):
    text = """force_backward: true
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 5 } } }
    layer { name: "mil" %s bottom: "x" top: "y" }
    layer { name: "power" type: "Power" bottom: "y" top: "%s" power_param { scale: 0.5 } }"""
    diffs = []
    for top in ("y", "z"):
        net = Net(parse_net(text % (mil, top)), device=device, dtype=np.float64)
        net.forward(x=X)
        net.backward(**{top: np.ones((2, 3, 1, 1))})
        diffs.append(np.array(net.blobs["x"].diff))
    assert diffs[1].any()
    np.testing.assert_array_equal(*diffs)
