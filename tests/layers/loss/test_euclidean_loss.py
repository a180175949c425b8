"""EuclideanLossHeatmap, of poses: its formula in numpy, its program's gradient, and nets of it without their data."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError, Net
from boxpresso.proto import parse_net

RNG = np.random.default_rng(21)
MAPS, TRUTH, IMAGES = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((2, 3, 4, 5)), np.zeros((2, 3, 8, 10))
HEATMAP = 'type: "EuclideanLossHeatmap"'
ROOMS, TRUE_ROOMS = RNG.standard_normal((3, 48, 4, 5)), np.maximum(RNG.uniform(-0.3, 0.3, (3, 48, 4, 5)), 0)
TYPES = np.array([0, 10, 4])
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (HEATMAP, [MAPS, TRUTH], [True, False]),
    (HEATMAP, [ROOMS, TRUE_ROOMS, TYPES], [True, False, False]),
]


@pytest.mark.parametrize("bottoms", [[MAPS, TRUTH], [MAPS, TRUTH, IMAGES]], ids=["maps", "images"])
def test_the_mean_of_squares(device, bottoms):
    rig = Rig(HEATMAP, bottoms, device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], ((MAPS - TRUTH) ** 2).mean(), rtol=1e-12)
    diff = rig.backward([np.array(3.0)], [True, *[False] * (len(bottoms) - 1)])[0]
    np.testing.assert_allclose(diff, MAPS - TRUTH, rtol=1e-12)  # whatever the weight


@pytest.mark.parametrize(
    ("bottoms", "message"),
    [
        ([MAPS, TRUTH[:, :2]], "maps of one size"),
        ([MAPS, TRUTH, np.zeros(5)], "bottom 2 must be images"),
        ([MAPS, TRUTH, np.zeros(2)], "rooms have 48 corners"),
    ],
)
def test_refused(bottoms, message):
    with pytest.raises(LayerError, match=message):
        Rig(HEATMAP, bottoms)


def test_rooms_have_the_corners_of_their_type(device):
    rig = Rig(HEATMAP, [ROOMS, TRUE_ROOMS, TYPES], device=device, dtype=np.float64)
    off = (ROOMS - TRUE_ROOMS) * np.where(TRUE_ROOMS <= 0.01, 0.2, 1)
    wanted = np.zeros_like(off)
    for n, (first, last) in enumerate([(0, 8), (46, 48), (24, 28)]):  # box rooms have 8 corners, the last type 2
        wanted[n, first:last] = off[n, first:last]
    np.testing.assert_allclose(rig.forward()[0], (wanted**2).mean(), rtol=1e-7)
    np.testing.assert_allclose(rig.backward([np.array(0.5)], [True, False, False])[0], 0.5 * wanted, rtol=1e-7)
    unknown = Rig(HEATMAP, [ROOMS, TRUE_ROOMS, TYPES + 20], device=device, dtype=np.float64)
    assert not unknown.forward()[0].any()


@pytest.mark.parametrize("old", [False, True], ids=["today", "V1"])
def test_a_net_of_poses_builds_without_its_data(old):
    """As many maps of joints as the net has, in the size that the data layer's fields give."""
    text = """layer { name: "d" type: "DataHeatmap" top: "data" top: "label"
          heatmap_data_param { batchsize: 2 outsize: 16 label_width: 8 label_height: 8 source: "list.txt" } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c"
          convolution_param { num_output: 7 kernel_size: 3 pad: 1 stride: 2 } }
        layer { name: "loss" type: "EuclideanLossHeatmap" bottom: "c" bottom: "label" bottom: "data" top: "loss" }"""
    if old:
        for today, before in (("DataHeatmap", "DATA_HEATMAP"), ("EuclideanLossHeatmap", "EUCLIDEAN_LOSS_HEATMAP")):
            text = text.replace(f'"{today}"', before)
        text = text.replace("layer {", "layers {").replace('"Convolution"', "CONVOLUTION")
    net = Net(parse_net(text), data="shapes", device="cpu", phase="TRAIN")
    assert net.blobs["data"].shape == (2, 3, 16, 16)
    assert net.blobs["label"].shape == (2, 7, 8, 8)
    assert np.isfinite(net.forward()["loss"])
