"""The plan of a net whose number of regions only a forward tells."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import Layer, Net
from boxpresso.layers.core import REGISTRY
from boxpresso.layers.detection import yolo_choice
from boxpresso.proto import parse_net
from boxpresso.run.cpu import Finish


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
        inputs = dict(scores=rng.random((1, 2, 4, 4)), offsets=rng.normal(0, 1, (1, 4, 4, 4)), info=[[64, 64, 1]],
                     maps=rng.normal(size=(1, 8, 4, 4)))  # fmt: skip
        expected, made = plain.forward(("rois",), **inputs), planned.forward(("rois",), **inputs)
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
            inputs = dict(maps=np.random.default_rng(i).normal(size=(1, 8, 8, 8)),
                         rois=np.stack([0 * sides, 0 * sides, 0 * sides, extent - 1, extent - 1], 1))  # fmt: skip
            expected, before = plain.forward(**inputs)["all"], Counting.times
            made = planned.forward(**inputs)["all"]
            assert Counting.times == before + 1
            np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)
            assert len(expected) > len(sides)
    finally:
        del REGISTRY["countingfortest"]


HEADS = {
    "yolo": """type: "YoloDetectionOutput" bottom: "y" yolo_detection_output_param { num_classes: 3 num_box: 2 biases: 1.5
        biases: 2 biases: 3 biases: 0.7 confidence_threshold: 0.55 }""",
    "regions": """type: "Proposal" bottom: "s" bottom: "o" bottom: "info" python_param {
        param_str: "scales: [1], ratios: [1], rpn_min_size: 4, rpn_nms_thresh: 0.3" }""",
}
HEADED = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 6 dim: 6 } } }
    layer { name: "info" type: "Input" top: "info" input_param { shape { dim: 1 dim: 3 } } }
    layer { name: "y" type: "Convolution" bottom: "x" top: "y"
        convolution_param { num_output: 16 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" std: 0.4 } } }
    layer { name: "s" type: "Convolution" bottom: "y" top: "s"
        convolution_param { num_output: 2 kernel_size: 1 weight_filler { type: "gaussian" std: 0.4 } } }
    layer { name: "o" type: "Convolution" bottom: "y" top: "o"
        convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: "gaussian" std: 0.1 } } }
    layer { name: "found" top: "found" HEAD }
    layer { name: "twice" type: "Power" bottom: "found" top: "twice" power_param { scale: 2 } }"""


@pytest.mark.parametrize("head", HEADS)
def test_what_chooses_is_launched_in_the_chain(head, monkeypatch):
    """And finished behind it: of some rows, of others, of none; of other shapes and back; of more scores than were listed."""
    monkeypatch.setattr(yolo_choice, "MOST_LISTED", 4)
    text = HEADED.replace("HEAD", HEADS[head])
    plain, planned = (Net(parse_net(text), device="cpu", optimize=optimize, seed=1) for optimize in (False, True))
    rng, counts = np.random.default_rng(3), []
    for turn, size in enumerate([6, 6, 6, 6, 9, 9, 6, 6, 9, 12, 6]):
        inputs = dict(x=rng.normal(0, 2 * (turn % 3), (1, 3, size, size)), info=[[16 * size, 16 * size, 1]])
        if head == "yolo":
            inputs.pop("info")
        for net in (plain, planned):
            net.blobs["x"].reshape(1, 3, size, size)
            net.reshape()
        expected, made = plain.forward(("found",), **inputs), planned.forward(("found",), **inputs)
        counts.append(len(expected["twice"].reshape(-1, expected["twice"].shape[-1])))
        for name, values in expected.items():
            np.testing.assert_allclose(made[name], values, rtol=1e-5, atol=1e-5)
    assert len(set(counts)) > 3
    items = [item for part in planned._runner.parts for program in part.programs.values() for item in program.items]
    names = [layer.name for layer in planned.layers]
    assert {names[item.layer] for item in items if isinstance(item, Finish)} == {"found"}


def test_what_a_chain_cannot_compute_runs_by_itself():
    """FrcnnOutput's boxes are in double precision."""
    text = "".join(
        f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ dim: {rows} dim: {wide} }} }} }}'
        for name, rows, wide in (("p", 20, 3), ("o", 20, 12), ("r", 20, 5), ("i", 1, 2))
    )
    text += 'layer { name: "found" type: "FrcnnOutput" bottom: "p" bottom: "o" bottom: "r" bottom: "i" top: "found" }'
    rng = np.random.default_rng(4)
    low = rng.uniform(0, 60, (20, 2))
    inputs = dict(
        p=rng.random((20, 3)), o=rng.normal(0, 0.1, (20, 12)), r=np.c_[0 * low[:, :1], low, low + 20], i=[[90, 90]]
    )
    plain, planned = (Net(parse_net(text), device="cpu", optimize=optimize) for optimize in (False, True))
    for _ in range(2):
        np.testing.assert_array_equal(planned.forward(**inputs)["found"], plain.forward(**inputs)["found"])


@pytest.mark.parametrize("keep_top_k", ["", "keep_top_k: 2"])
def test_what_chooses_forgets_the_shapes_between(keep_top_k):
    """A program of earlier shapes comes again after one of others that can have as many rows; without a detection each image
    has one row."""
    text = """layer { name: "x" type: "Input" top: "loc" top: "conf" top: "prior"
            input_param { shape { dim: 2 dim: 12 } shape { dim: 2 dim: 6 } shape { dim: 1 dim: 2 dim: 12 } } }
        layer { name: "r" type: "ReLU" bottom: "conf" top: "scores" }
        layer { name: "found" type: "DetectionOutput" bottom: "loc" bottom: "scores" bottom: "prior" top: "found"
            detection_output_param { num_classes: 2 confidence_threshold: 0.5 KEPT } }""".replace("KEPT", keep_top_k)
    rng, net = np.random.default_rng(0), Net(parse_net(text), device="cpu")
    for images, priors, least in (
        (2, 3, 0),
        (3, 2, 0),
        (2, 3, 0),
        (6, 1, 0.5),
        (2, 3, 0.5),
        (1, 6, 0),
        (6, 1, 0),
        (2, 3, 0),
    ):
        inputs = {
            "loc": rng.normal(size=(images, 4 * priors)),
            "conf": least + rng.random((images, 2 * priors)) / 2,
            "prior": np.stack([np.tile([0.1, 0.2, 0.5, 0.7], priors), np.full(4 * priors, 0.1)])[None],
        }
        plain = Net(parse_net(text), device="cpu", optimize=False)
        np.testing.assert_array_equal(net.forward(**inputs)["found"], plain.forward(**inputs)["found"])
