"""YOLO's detections beside numpy; and nets of YOLO as one graph."""

from __future__ import annotations

import numpy as np
import pytest
import stand_in
from by_numpy import chosen
from harness import Rig, close
from test_detection_choice import WILD, on_the_stand_in, pair

from boxpresso import LayerError
from boxpresso.device import open_device
from boxpresso.layers.detection import order, suppress, yolo_choice

V3 = """type: "Yolov3DetectionOutput" yolov3_detection_output_param { num_classes: 3 num_box: 2 mask_group_num: 2
    anchors_scale: 32 anchors_scale: 16 mask: 0 mask: 1 mask: 2 mask: 0 biases: 16 biases: 24 biases: 33 biases: 30 biases: 62
    biases: 45 nms_threshold: 0.4321 MORE }"""
V2 = """type: "YoloDetectionOutput" yolo_detection_output_param { num_classes: 3 num_box: 2 biases: 1.5 biases: 2 biases: 3
    biases: 0.7 nms_threshold: 0.4321 MORE }"""


def both(monkeypatch, device: str, text: str, bottoms: list, **options) -> tuple[np.ndarray, np.ndarray]:
    """What kernels choose, twice the same, and numpy."""
    opened = open_device(device)
    (wanted,) = chosen(text, bottoms, **options)
    monkeypatch.setitem(suppress.BITS, opened.kind, True)
    rig = Rig(text, bottoms, device=device, **options)
    got = rig.forward()[0]
    assert rig.layer.choice.rows > 0
    np.testing.assert_array_equal(got, rig.forward()[0])
    return got, wanted


def same(device: str, got: np.ndarray, wanted: np.ndarray) -> None:
    close(got, wanted, rtol=1e-5, atol=1e-6)


def maps(rng, images: int, *sizes: tuple[int, int]) -> list[np.ndarray]:
    """Of few different numbers, so that many scores are equal."""
    return [rng.integers(-8, 5, (images, 16, *size)) / 4 for size in sizes]


@pytest.mark.parametrize("text", [V3, V2])
@pytest.mark.parametrize("more", ["", "confidence_threshold: 0.3", "confidence_threshold: 0.99"])
def test_detections_are_numpys(text, more, device, monkeypatch):
    rng, text = np.random.default_rng(1), text.replace("MORE", more)
    for images, dtype in ((1, np.float32), (3, np.float32), (2, np.float64)):
        bottoms = maps(rng, images, (3, 5), (6, 9))
        if text.startswith('type: "YoloD'):  # rounding would decide which of equal scores is better
            bottoms = [each + rng.normal(0, 0.1, each.shape) for each in bottoms]
        got, wanted = both(monkeypatch, device, text, bottoms, dtype=dtype)
        same(device, got, wanted)
        assert (got[0, 0, :, 1] == -1).all() if "0.99" in more else len(got[0, 0]) > images
    if text.startswith('type: "YoloD'):
        same(device, *both(monkeypatch, device, text, [rng.normal(0, 1, (2, 16, 4, 3))]))
        same(device, *both(monkeypatch, device, text, [np.zeros((2, 16, 4, 3))]))
    wild = [rng.choice(WILD, each.shape) for each in maps(rng, 2, (3, 5), (6, 9))]
    with np.errstate(all="ignore"):
        same(device, *both(monkeypatch, device, text, wild))


def test_more_than_are_listed_are_listed_next(device, monkeypatch):
    """With room for so many from there on; and what kernels cannot count is refused."""
    bottoms = maps(np.random.default_rng(2), 2, (3, 5), (6, 9))
    text = V3.replace("MORE", "confidence_threshold: 0.2")
    (wanted,) = chosen(text, bottoms)
    monkeypatch.setattr(yolo_choice, "MOST_LISTED", 20)
    rig = Rig(text, bottoms, device=device)
    assert rig.layer.choice.rows == 40
    for _ in range(2):
        close(rig.forward()[0], wanted, rtol=1e-5)
        assert rig.layer.choice.rows == 2 * 320
    monkeypatch.setattr(order, "MOST_ITEMS", 700)
    with pytest.raises(LayerError, match="2 lists of 414 boxes are more than can be sorted, 700"):
        Rig(text, bottoms, device=device)


def test_chunks_choose_as_words_and_the_loop_do(device, monkeypatch):
    """Of several chunks, in groups, with a limit in the middle of one, and boxes that are none."""
    opened, rng = open_device(device), np.random.default_rng(3)
    corner = rng.uniform(0, 200, (900, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(0, 40, (900, 2))], 1).astype(np.float32)
    boxes[7], boxes[300, 0], boxes[31], boxes[40] = np.nan, np.inf, [-np.inf, 0, np.inf, 5], [9, 9, 2, 2]
    indices = []
    with np.errstate(all="ignore"):
        for bits, words in ((True, 2**26), (True, 10), (False, 2**26)):
            monkeypatch.setitem(suppress.BITS, opened.kind, bits)
            monkeypatch.setattr(suppress, "MOST_WORDS", words)
            for limit, starts in ((-1, None), (270, None), (0, None), (90, np.array([0, 0, 600, 601, 900]))):
                for above in (False, True):
                    args = opened.table(boxes, np.float32), 0.3, limit, starts
                    indices.append(suppress.suppress_rows(opened, *args, above=above).tolist())
    assert indices[:8] == indices[8:16] == indices[16:]
    assert 300 < len(indices[0]) < 880
    assert len(indices[2]) == 270


NET = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 6 dim: 6 } } }
    layer { name: "one" type: "Convolution" bottom: "x" top: "one"
        convolution_param { num_output: 16 kernel_size: 3 pad: 1 stride: 2 weight_filler { type: "gaussian" std: 0.4 } } }
    layer { name: "two" type: "Convolution" bottom: "x" top: "two"
        convolution_param { num_output: 16 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" std: 0.4 } } }
    layer { name: "found" bottom: "one" bottom: "two" top: "found" KIND }"""


@on_the_stand_in
@pytest.mark.cuda
@pytest.mark.parametrize("text", [V3, V2])
def test_a_detector_is_one_graph(text, monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    planned, layers = pair(NET.replace("KIND", text.replace("MORE", "confidence_threshold: 0.6")))
    rng, counts = np.random.default_rng(4), set()
    for turn in range(9):
        x = rng.normal(0, 1.5 * (turn % 3), (1, 3, 6, 6))  # the first of three has no detections
        before = stand_in.counts()
        got = planned.forward(x=x)["found"]
        grown = stand_in.since(before)
        np.testing.assert_array_equal(got, layers.forward(x=x)["found"])
        counts.add(len(got[0, 0]) if got[0, 0, 0, 1] >= 0 else 0)
        if turn > 2:
            wanted = {"captures": 0, "replays": 1, "to_device": 1}
            if turn % 3:
                wanted |= {"launches": 0, "to_host": 1, "allocated": 0}
            assert {name: grown[name] for name in wanted} == wanted
    assert 0 in counts
    assert len(counts) > 3
    (program,) = planned._runner.describe()
    assert program.describe()["by themselves"] == {}
