"""The plan of a net whose number of regions only a forward tells."""

from __future__ import annotations

import numpy as np

from boxpresso import Layer, Net
from boxpresso.layers.core import REGISTRY
from boxpresso.proto import parse_net


def test_regions_that_two_layers_read(device):
    """R-FCN: how many regions there are is seen in a forward; those that follow, by plan, have as many rows for both readers."""
    text = """
        layer { name: "scores" type: "Input" top: "scores" input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } }
        layer { name: "offsets" type: "Input" top: "offsets" input_param { shape { dim: 1 dim: 4 dim: 4 dim: 4 } } }
        layer { name: "info" type: "Input" top: "info" input_param { shape { dim: 1 dim: 3 } } }
        layer { name: "maps" type: "Input" top: "maps" input_param { shape { dim: 1 dim: 8 dim: 4 dim: 4 } } }
        layer { name: "rois" type: "Proposal" bottom: "scores" bottom: "offsets" bottom: "info" top: "rois"
            python_param { param_str: "scales: [1], ratios: [1], rpn_min_size: 1, rpn_nms_thresh: 0.2" } }
        layer { name: "one" type: "PSROIPooling" bottom: "maps" bottom: "rois" top: "one"
            psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.0625 } }
        layer { name: "two" type: "PSROIPooling" bottom: "maps" bottom: "rois" top: "two"
            psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.0625 } }
        layer { name: "mean" type: "Pooling" bottom: "one" top: "mean" pooling_param { pool: AVE kernel_size: 2 stride: 2 } }"""
    rng = np.random.default_rng(2)
    plain, planned = (Net(parse_net(text), device=device, optimize=optimize) for optimize in (False, True))
    counts = []
    for _ in range(4):
        given = dict(scores=rng.random((1, 2, 4, 4)), offsets=rng.normal(0, 1, (1, 4, 4, 4)), info=[[64, 64, 1]],
                     maps=rng.normal(size=(1, 8, 4, 4)))  # fmt: skip
        expected, made = plain.forward(("rois",), **given), planned.forward(("rois",), **given)
        counts.append(len(expected["rois"]))
        for name, values in expected.items():
            np.testing.assert_allclose(made[name], values, rtol=1e-5, atol=1e-6)
    assert len(set(counts)) > 1


def test_layers_that_choose_rows_do_not_run_what_is_before_them_again(device):
    """Cascade R-CNN: each of its routes by size gives another number of regions; the first forward runs each layer once."""

    class Counting(Layer, type="CountingForTest", bottoms=1, tops=1):
        times = 0

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            type(self).times += 1
            top[0].data[...] = np.asarray(bottom[0].data)

    route = """
        layer {{ name: "of {0}" type: "ScaleRoute" bottom: "{1}" top: "of {0}" scale_route_param {{ {2} }} }}
        layer {{ name: "bins {0}" type: "ROIAlign" bottom: "m" bottom: "of {0}" top: "bins {0}"
            roi_align_param {{ pooled_w: 2 pooled_h: 2 spatial_scale: 0.25 }} }}"""
    text = """
        layer { name: "maps" type: "Input" top: "maps" input_param { shape { dim: 1 dim: 8 dim: 8 dim: 8 } } }
        layer { name: "rois" type: "Input" top: "rois" input_param { shape { dim: 9 dim: 5 } } }
        layer { name: "m" type: "CountingForTest" bottom: "maps" top: "m" }""" + "".join((
        route.format("small", "rois", "high_scale: 12"), route.format("large", "rois", "low_scale: 12"),
        route.format("least", "of small", "high_scale: 6"),
    )) + """
        layer { name: "all" type: "Concat" bottom: "bins small" bottom: "bins large" bottom: "bins least" top: "all"
            concat_param { axis: 0 } }"""  # fmt: skip
    try:
        plain, planned = (Net(parse_net(text), device=device, optimize=optimize) for optimize in (False, True))
        sides = np.array([2, 4, 8, 10, 12, 14, 16, 18, 20.0])
        for i in range(4):
            extent = np.roll(sides, i) + 2 * i
            given = dict(maps=np.random.default_rng(i).normal(size=(1, 8, 8, 8)),
                         rois=np.stack([0 * sides, 0 * sides, 0 * sides, extent - 1, extent - 1], 1))  # fmt: skip
            expected, before = plain.forward(**given)["all"], Counting.times
            made = planned.forward(**given)["all"]
            assert Counting.times == before + 1
            np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)
            assert len(expected) > len(sides)
    finally:
        del REGISTRY["countingfortest"]
