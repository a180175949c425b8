"""The plan of a net whose number of regions only a forward tells."""

from __future__ import annotations

import numpy as np

from boxpresso import Net
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
