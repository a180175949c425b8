"""Layers with empty bottoms, NaN, and parameters that are no numbers: a result, or an error that names the layer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness import Rig

from boxpresso import Net
from boxpresso.layers.core import REGISTRY, discover, run_layer
from boxpresso.layers.core.boundary import Named
from boxpresso.proto import (
    BoxpressoError,
    BoxpressoWarning,
    DeviceError,
    KernelError,
    LayerError,
    ModelError,
    parse_net,
)

TARGET = 'type: "ProposalTarget" python_param { param_str: "num_classes: 3" }'
ROTATED = 'type: "RotateProposalTarget" python_param { param_str: "num_classes: 3" }'
OHEM = 'type: "BoxAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 1 }'
GROUP = 'type: "BoxGroupOutput" box_group_output_param { box_group_param { field_w: 20 field_h: 20 stride: 32 } }'
YOLO3 = """type: "Yolov3DetectionOutput" yolov3_detection_output_param {
    num_classes: 1 num_box: 1 mask_group_num: 1 biases: 32 biases: 32 mask: 0 anchors_scale: 32 }"""
YOLO2 = 'type: "YoloDetectionOutput" yolo_detection_output_param { num_classes: 1 num_box: 1 biases: 1 biases: 1 }'


def zeros(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.zeros(shape, np.float32) for shape in shapes]


EMPTY = [
    (TARGET, [(0, 5), (0, 5)], [(0, 5), (0,), (0, 12), (0, 12), (0, 12)]),
    (TARGET, [(1, 5), (0, 5)], [(0, 5), (0,), (0, 12), (0, 12), (0, 12)]),
    (ROTATED, [(0, 6), (0, 6)], [(0, 6), (0,), (0, 15), (0, 15), (0, 15)]),
    (OHEM, [(0, 5), (0,), (0,), (0, 4)], [(0, 1, 1, 1), (0, 4, 1, 1)]),
    (OHEM, [(2, 5, 0, 1), (2, 1, 0, 1), (2, 1, 0, 1), (2, 4, 0, 1)], [(2, 1, 0, 1), (2, 4, 0, 1)]),
    (GROUP, [(0, 2, 1, 1), (0, 4, 1, 1)], [(0, 5, 1, 1), (0, 6, 1, 1)]),
    (GROUP, [(1, 2, 0, 1), (1, 4, 0, 1)], [(0, 5, 1, 1), (0, 6, 1, 1)]),
    ('type: "DecodeBBox"', [(0, 8), (0, 5)], [(0, 5)]),
    ('type: "DecodeBBox"', [(0, 8), (0, 5), (0, 1)], [(0, 5)]),
    ('type: "DecodeBBox"', [(0, 8), (0, 2), (0, 5)], [(0, 5)]),
    (YOLO3, [(0, 6, 1, 1)], [(1, 1, 0, 7)]),
    (YOLO3, [(2, 6, 0, 3)], [(1, 1, 2, 7)]),
    (YOLO2, [(0, 6, 0, 0)], [(1, 1, 0, 7)]),
    (YOLO2, [(1, 6, 1, 0)], [(1, 1, 1, 7)]),
]


@pytest.mark.parametrize(("text", "bottoms", "tops"), EMPTY)
def test_empty_bottoms_give_empty_tops(text, bottoms, tops, device):
    rig = Rig(text, zeros(*bottoms), tops=len(tops), device=device, phase="TRAIN")
    assert [top.shape for top in rig.forward()] == tops


def test_a_proposal_target_without_regions_takes_the_true_boxes(device):
    regions, labels, *_ = Rig(TARGET, [*zeros((0, 5)), np.array([[1, 2, 8, 9, 2]])], tops=5, device=device).forward()
    assert (regions.tolist(), labels.tolist()) == ([[0, 1, 2, 8, 9]], [2])


TRUTH = {TARGET: [1.0, 1, 9, 9, 1], ROTATED: [5.0, 5, 8, 8, 0, 1]}


@pytest.mark.parametrize("text", TRUTH)
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (-1, np.nan, "true box 0 holds NaN or infinity"), (-1, np.inf, "true box 0 holds NaN or infinity"),
        (-1, -1, "true box 0 has the label -1; labels are whole numbers from 0"), (-1, 1.5, "true box 0 has the label 1.5"),
        (0, np.nan, "true box 0 holds NaN or infinity"), (2, -np.inf, "true box 0 holds NaN or infinity"),
    ],
)  # fmt: skip
def test_a_true_box_that_is_none_is_named(text, binary, column, value, message):
    truth = list(TRUTH[text])
    truth[column] = value
    rig = Rig(
        text.replace("3", "2") if binary else text, [np.array([[0.0, *TRUTH[text][:-1]]]), np.array([truth])], tops=5
    )
    with pytest.raises(LayerError, match=f"ProposalTarget layer 'layer': {message}"):
        rig.forward()


@pytest.mark.parametrize("text", TRUTH)
def test_regions_with_nan_are_background_or_left_out(text, device):
    boxes = np.array([[0.0, *TRUTH[text][:-1]], [0.0, *TRUTH[text][:-1]]])
    boxes[1, 1] = np.nan
    regions, labels, offsets, *_ = Rig(text, [boxes, np.array([TRUTH[text]])], tops=5, device=device).forward()
    assert np.isfinite(offsets).all()
    assert (labels[np.isnan(regions).any(1)] == 0).all()
    assert labels[0] == 1


@pytest.mark.parametrize(
    ("text", "bottoms", "message"),
    [
        (GROUP, [(1, 0, 1, 1), (1, 4, 1, 1)], "the probabilities have no channel"),
        ('type: "DecodeBBox"', [(2, 8), (2, 5), (2, 0)], "bottoms must have columns"),
        (YOLO2.replace("num_box: 1 biases: 1 biases: 1", "num_box: 0"), [(1, 0, 1, 1)], "num_box must be at least 1"),
        (YOLO3.replace("anchors_scale: 32", "anchors_scale: 0"), [(1, 6, 1, 1)], "anchors_scale must be above 0"),
        *((f'type: "PriorBox" prior_box_param {{ min_size: 4 {field} }}', [(1, 1, 2, 2), (1, 1, 8, 8)], "must be finite")
          for field in ("min_size: inf", "max_size: inf", "aspect_ratio: inf", "aspect_ratio: nan", "variance: inf",
                        "step: inf", "step: nan", "offset: inf")),
        *((f'type: "InnerProduct" inner_product_param {{ num_output: 2 weight_filler {{ {filler} }} }}', [(1, 3)], "filler")
          for filler in ('type: "uniform" min: -inf max: inf', 'type: "uniform" min: nan', 'type: "gaussian" std: inf',
                         'type: "gaussian" mean: nan', 'type: "gaussian" std: nan')),
        ('type: "Reshape" reshape_param { shape { ' + "dim: 1 " * 33 + "} }", [(1,)], "33 axes"),
        ('type: "Reshape" reshape_param { shape { ' + "dim: 1 " * 1000 + "} }", [(1,)], "1000 axes"),
        ('type: "Python" python_param { module: "rpn.proposal_layer" layer: "ProposalLayer" param_str: "'
         + "[" * 1000 + '" }', [(1, 18, 1, 1), (1, 36, 1, 1), (1, 3)], "nested too deep"),
    ],
)  # fmt: skip
def test_parameters_that_cannot_be_are_refused_by_name(text, bottoms, message):
    with pytest.raises(LayerError, match=message) as caught:
        run_layer(text, *zeros(*bottoms), phase="TRAIN")
    assert "layer 'layer'" in str(caught.value)


def test_32_axes_are_a_blob(device):
    shape = "dim: 1 " * 32
    (top,) = Rig(f'type: "Reshape" reshape_param {{ shape {{ {shape} }} }}', zeros((1,)), device=device).forward()
    assert top.shape == (1,) * 32


@pytest.mark.parametrize(
    "text",
    [
        "axis: " + "9" * 10**6, "axis: -" + "9" * 10**6, "axis: 0x" + "f" * 10**6, "axis: 0" + "7" * 10**6,
        "axis: 9e99999999", "axis: " + "9" * 300 + "." + "9" * 10**6,
    ],
)  # fmt: skip
def test_an_axis_with_a_million_digits(text):
    with pytest.raises(ModelError) as caught:
        parse_net(f'layer {{ name: "s" type: "Softmax" softmax_param {{ {text} }} }}')
    assert len(str(caught.value)) < 700
    assert "'axis' takes" in str(caught.value)


@pytest.mark.parametrize("digits", ["9" * 10**6, "0x" + "f" * 300, "0x" + "f" * 10**6, "1e999999", "9" * 390])
def test_a_float_with_many_digits(digits):
    text = f'layer {{ name: "s" type: "ReLU" relu_param {{ negative_slope: {digits} }} }}'
    if len(digits) > 400:
        with pytest.raises(ModelError, match="a number of at most 400 digits"):
            parse_net(text)
    else:
        assert parse_net(text).layer[0].relu_param.negative_slope == np.inf


# The boundary


class Fails:
    """A stand-in for a layer of Boxpresso."""

    net_blobs: dict[str, object] = {}

    def __str__(self) -> str:
        return "Some layer 'x'"


Fails.__module__ = "boxpresso.layers.some"


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (LayerError("too small"), LayerError, "Some layer 'x': too small"),
        (LayerError("Some layer 'x': too small"), LayerError, "Some layer 'x': too small"),
        (KernelError("no such kernel"), KernelError, "Some layer 'x': no such kernel"),
        (DeviceError("out of memory"), DeviceError, "Some layer 'x': out of memory"),
        (ModelError("a file"), ModelError, "a file"),
        (ValueError("cannot reshape"), LayerError, "Some layer 'x': ValueError: cannot reshape"),
        (ZeroDivisionError(), LayerError, "Some layer 'x': ZeroDivisionError"),
        (RecursionError("deep"), LayerError, "Some layer 'x': RecursionError: deep"),
    ],
)
def test_what_leaves_a_layer_is_ours_and_names_it(error, kind, message):
    with pytest.raises(kind) as caught, Named(Fails()):
        raise error
    assert type(caught.value) is kind
    assert str(caught.value) == message


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), BoxpressoWarning("as an error")])
def test_interrupts_and_warnings_pass(error):
    with pytest.raises(type(error)) as caught, Named(Fails()):
        raise error
    assert caught.value is error


# NaN

SSD = """
    layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
    layer { name: "pool" type: "Pooling" bottom: "data" top: "pool" pooling_param { pool: MAX kernel_size: 8 } }
    layer { name: "loc" type: "InnerProduct" bottom: "pool" top: "loc" inner_product_param { num_output: 4 } }
    layer { name: "conf" type: "InnerProduct" bottom: "pool" top: "conf" inner_product_param { num_output: 2 } }
    layer { name: "prior" type: "PriorBox" bottom: "pool" bottom: "data" top: "prior" prior_box_param { min_size: 4 } }
    layer { name: "out" type: "DetectionOutput" bottom: "loc" bottom: "conf" bottom: "prior" top: "out"
            detection_output_param { num_classes: 2 background_label_id: 0 confidence_threshold: 0.5
                                     nms_param { nms_threshold: 0.5 } } }"""


def test_nan_in_the_input_is_said_once_where_nothing_is_detected():
    """The pooling layer drops the NaN, so that the detections' own bottoms are finite."""
    net = Net(parse_net(SSD), device="cpu", seed=0)
    image = np.zeros((1, 3, 8, 8), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert net.forward(data=image)["out"][0, 0, 0, 1] == -1
    image[0, 1, 2, 3] = np.nan
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            net.forward(data=image)
    (said,) = seen
    assert issubclass(said.category, BoxpressoWarning)
    assert "'out': there are no detections, and the net's input 'data' holds NaN" in str(said.message)


@pytest.mark.parametrize(
    ("text", "bottoms", "tops"),
    [
        (YOLO3, [(1, 6, 2, 2)], 1), (YOLO2, [(1, 6, 2, 2)], 1), (GROUP, [(1, 2, 1, 1), (1, 4, 1, 1)], 2),
        ('type: "Proposal" python_param { param_str: "{scales: [1], ratios: [1]}" }', [(1, 2, 1, 1), (1, 4, 1, 1), (1, 3)], 2),
    ],
)  # fmt: skip
def test_nan_in_the_bottoms_of_what_detects(text, bottoms, tops, device):
    rig = Rig(text, [np.full(shape, np.nan) for shape in bottoms], tops=tops, device=device)
    with pytest.warns(BoxpressoWarning, match="no detections, and bottom 0 holds NaN"):
        rig.forward()


def test_layers_without_bottoms_and_tops():
    """A net of one layer of each type, alone and before others: an error that is ours, whoever looks at its first bottom."""
    discover()
    after = """layer { name: "o" type: "DetectionOutput" bottom: "t" bottom: "t" bottom: "t" top: "d"
        detection_output_param { num_classes: 2 } } layer { name: "l" type: "SmoothL1Loss" bottom: "t" bottom: "t" top: "z" }"""
    for kind in sorted({c.type for c in REGISTRY.values() if c.__module__.startswith("boxpresso.")}):
        for text in ("", f'top: "t" }} {after[:-1]}'):
            for options in ({"phase": "TEST"}, {"phase": "TRAIN", "data": "shapes"}):
                with pytest.raises(BoxpressoError):
                    Net(parse_net(f'layer {{ name: "x" type: "{kind}" {text} }}'), device="cpu", **options)
