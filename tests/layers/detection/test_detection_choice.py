"""DetectionOutput and Proposal beside numpy; and nets on a GPU that need no host between layers."""

from __future__ import annotations

import numpy as np
import pytest
import stand_in
from by_numpy import chosen
from harness import Rig, close

from boxpresso import LayerError, Net
from boxpresso.device import UNFUSED, Kernels, open_device
from boxpresso.layers.core.doubt import nan_in
from boxpresso.layers.core.layer import REGISTRY
from boxpresso.layers.core.scratch import Scratch
from boxpresso.layers.detection import order, suppress
from boxpresso.layers.detection.detection_output import DetectionOutput
from boxpresso.layers.detection.order import Order, starts_of
from boxpresso.proto import parse_net
from boxpresso.proto.errors import BoxpressoWarning

CODED = "num_classes: 4 code_type: CENTER_SIZE"
WILD = np.array([np.nan, np.inf, -np.inf, 1e38, -1e38, 0, 0.5])


def both(monkeypatch, device: str, text: str, bottoms: list, tops: int = 1, **options) -> list:
    """What kernels choose on the device, twice the same, and what numpy does. A GPU's forms of order and suppression run on the
    CPU too."""
    opened = open_device(device)
    wanted = chosen(text, bottoms, tops, **options)
    monkeypatch.setitem(suppress.BITS, opened.kind, True)
    rig = Rig(text, bottoms, device=device, tops=tops, **options)
    got = rig.forward()
    assert rig.layer.choice.rows > 0
    for one, other in zip(got, rig.forward()):
        np.testing.assert_array_equal(one, other)
    if opened.kind == "cpu":
        with monkeypatch.context() as patched:
            patched.setitem(suppress.BITS, "cpu", False)
            alone = Rig(text, bottoms, device=device, tops=tops, **options).forward()
            patched.setitem(order.IN_TILES, "cpu", True)
            in_tiles = Rig(text, bottoms, device=device, tops=tops, **options).forward()
        for one, *others in zip(got, alone, in_tiles):
            for other in others:
                np.testing.assert_array_equal(one, other)
    return [got, wanted]


def same_bits(device: str, text: str, got: list, wanted: list) -> None:
    """Bitwise, but where there is an exp, of which numpy has its own: within rounding."""
    for one, other in zip(got, wanted, strict=True):
        if "CENTER_SIZE" not in text:
            np.testing.assert_array_equal(one, other)
        else:
            close(one, other, rtol=1e-5, atol=1e-6)


def predictions(rng, images: int, priors: int, labels: int, levels: int, numbers: int = 4, loc_labels: int = 1) -> list:
    """Locations, scores of so many levels, and priors that overlap."""
    low = rng.uniform(0, 0.6, (priors, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.05, 0.4, (priors, 2))], 1)
    return [
        rng.normal(0, 1, (images, priors * numbers * loc_labels)),
        rng.integers(0, levels, (images, priors * labels)) / levels,
        np.stack([boxes, np.tile([0.1, 0.1, 0.2, 0.2], (priors, 1))]).reshape(1, 2, -1),
    ]


@pytest.mark.parametrize(
    "text",
    [
        CODED,
        "num_classes: 4 confidence_threshold: 0.5 background_label_id: 2 code_type: CORNER_SIZE",
        CODED + " nms_param { nms_threshold: 0.45 top_k: 40 } keep_top_k: 20",
        "num_classes: 4 keep_top_k: 7 clip: true variance_encoded_in_target: true",
        CODED + " nms_param { nms_threshold: 0.8 eta: 0.9 top_k: 90 } keep_top_k: 3 background_label_id: -1",
        CODED + " share_location: false keep_top_k: 50",
        CODED + " confidence_threshold: 2",
    ],
)
def test_detections_are_numpys(text, device, monkeypatch):
    rng = np.random.default_rng(3)
    layer = f'type: "DetectionOutput" detection_output_param {{ {text} }}'
    for images, priors, levels in ((2, 700, 10), (1, 130, 10**6), (3, 4, 3)):
        bottoms = predictions(rng, images, priors, 4, levels, loc_labels=4 if "share" in text else 1)
        for dtype in (np.float32, np.float64) if priors == 130 else (np.float32,):
            got, wanted = both(monkeypatch, device, layer, bottoms, dtype=dtype)
            same_bits(device, text, got, wanted)


def test_polygons_and_refined_priors(device, monkeypatch):
    rng = np.random.default_rng(4)
    layer = f'type: "DetectionOutput" detection_output_param {{ {CODED} objectness_score: 0.3 keep_top_k: 30 MORE }}'
    refined = [*predictions(rng, 2, 60, 4, 50), rng.random((2, 120)), rng.normal(0, 1, (2, 240))]
    for more, bottoms, columns in (
        ("", predictions(rng, 2, 60, 4, 50, 12), 15),
        ("share_location: false", predictions(rng, 2, 60, 4, 50, 12, 4), 15),
        ("", refined, 7),
    ):
        got, wanted = both(monkeypatch, device, layer.replace("MORE", more), bottoms)
        assert got[0].shape == (1, 1, 60, columns)
        same_bits(device, layer, got, wanted)


def test_wild_numbers_are_chosen_alike(device, monkeypatch):
    layer = 'type: "DetectionOutput" detection_output_param { num_classes: 4 MORE }'
    for seed in range(6):
        rng = np.random.default_rng(seed)
        bottoms = [rng.choice(WILD, each.shape) for each in predictions(rng, 2, 70, 4, 2)]
        for more in (
            "clip: true",
            "keep_top_k: 5 nms_param { top_k: 9 }",
            "code_type: CORNER_SIZE nms_param { eta: 0.5 }",
        ):
            with np.errstate(all="ignore"):
                got, wanted = both(monkeypatch, device, layer.replace("MORE", more), bottoms)
            same_bits(device, "", got, wanted)


def test_more_than_kernels_can_count_is_refused(device, monkeypatch):
    layer = f'type: "DetectionOutput" detection_output_param {{ {CODED} }}'
    bottoms = predictions(np.random.default_rng(5), 1, 40, 4, 9)
    for most, name, said in (
        (1000, "MOST_ITEMS", "4 lists of 40 boxes are more than can be sorted, 1000: give fewer images"),
        (100, "MOST_ROWS", "up to 120 rows are more than can be counted, 100: give fewer images at a time, or limit"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(order, name, most)
            with pytest.raises(LayerError, match=said):
                Rig(layer, bottoms, device=device)
    for none in ("nms_param { top_k: 0 }", "keep_top_k: 0"):
        text = layer.replace("code_type", f"{none} code_type")
        assert Rig(text, bottoms, device=device).forward()[0].tolist() == [[[[0, *[-1] * 6]]]]


def test_too_many_pairs_are_compared_one_after_another(device, monkeypatch):
    bottoms = predictions(np.random.default_rng(5), 2, 90, 4, 9)
    layer = f'type: "DetectionOutput" detection_output_param {{ {CODED} keep_top_k: 30 }}'
    by_bits, _ = both(monkeypatch, device, layer, bottoms)
    monkeypatch.setattr(suppress, "KEPT_WORDS", 10)
    got, wanted = both(monkeypatch, device, layer, bottoms)
    same_bits(device, layer, got, wanted)
    np.testing.assert_array_equal(by_bits[0], got[0])


def test_detections_are_saved(device, monkeypatch, tmp_path):
    (tmp_path / "labels").write_text('item { name: "none" label: 0 } item { name: "7" label: 1 }')
    (tmp_path / "names").write_text("a 100 200\n12 50 50\n")
    bottoms = predictions(np.random.default_rng(5), 2, 4, 2, 10)
    bottoms[1] = np.array([[0, 0.875, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 1, 0]])  # nothing in the second image
    bottoms[0] *= 0
    text = f"""num_classes: 2 confidence_threshold: 0.5 save_output_param {{ output_directory: "{tmp_path.as_posix()}/out"
        output_name_prefix: "x_" output_format: "VOC" label_map_file: "{tmp_path.as_posix()}/labels"
        name_size_file: "{tmp_path.as_posix()}/names" }}"""
    Rig(f'type: "DetectionOutput" detection_output_param {{ {text} }}', bottoms, device=device).forward()
    assert (tmp_path / "out/x_7.txt").read_text().startswith("a 0.875 ")
    assert len((tmp_path / "out/x_7.txt").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "tops"),
    [
        ('type: "Proposal"', 1),
        ('type: "Proposal" proposal_param { pre_nms_topn: 300 post_nms_topn: 20 min_size: 40 }', 2),
        ('type: "FrcnnProposal" proposal_param { feat_stride: 8 }', 2),
        (
            'type: "Proposal" python_param { param_str: "{scales: [2.5, 4.3, 7], feat_stride: 7.5, '
            'rpn_pre_nms_top_n: 0, rpn_post_nms_top_n: -1}" }',
            2,
        ),
    ],
)
def test_regions_are_numpys(text, tops, device, monkeypatch):
    """Boxes within the rounding of exp, which numpy has of its own; the same ones, in the same order."""
    rng = np.random.default_rng(6)
    for images, height, width in ((1, 14, 20), (3, 5, 7)):
        shapes = (images, 18, height, width), (images, 36, height, width)
        info = np.array([[224, 320, 1], [100, 100, 1.5], [90, 70, 0.5]][:images])
        bottoms = [rng.integers(0, 50, shapes[0]) / 50, rng.normal(0, 0.4, shapes[1]), info]
        for dtype in (np.float32, np.float64):
            got, wanted = both(monkeypatch, device, text, bottoms, tops, dtype=dtype)
            close(got[0], wanted[0], rtol=1e-5, atol=1e-6)
            for one, other in zip(got[1:], wanted[1:]):
                np.testing.assert_array_equal(one, other)
        wild = [rng.choice(WILD, each.shape) for each in bottoms[:2]] + [info]
        with np.errstate(all="ignore"):
            got, wanted = both(monkeypatch, device, text, wild, tops)
        for one, other in zip(got, wanted):
            close(one, other, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("in_tiles", [False, True])
def test_order_is_that_of_a_stable_sort(dtype, in_tiles, device, monkeypatch):
    """Over several tiles, with equal values, two zeros, infinity, and NaN, which is no item."""
    rng = np.random.default_rng(7)
    opened = open_device(device)
    if opened.kind != "cpu" and not in_tiles:
        pytest.skip("a thread sorts on the CPU alone")
    monkeypatch.setitem(order.IN_TILES, opened.kind, in_tiles)
    for groups, items, limit in ((3, 1100, 700), (2, 1100, -1), (300, 3, 2), (1, 1, 5), (700, 1, 1)):
        values = rng.choice([*np.linspace(-1, 1, 21), -0.0, np.nan, np.inf, -np.inf], (groups, items)).astype(dtype)
        best = Order(Scratch(opened), groups, items, limit, dtype, counted=groups < 300)
        best.values[:, :items] = values
        best.sort(opened)
        start, order_, value = (np.asarray(a) for a in (best.start, best.order, best.best))
        if best.sums is not None:
            assert np.asarray(best.sums).ravel().tolist() == (~np.isnan(values)).sum(1).tolist()
        for g, row in enumerate(values):
            wanted = [i for i in np.argsort(-row, kind="stable") if not np.isnan(row[i])][: best.most]
            assert order_[start[g] : start[g + 1]].tolist() == wanted
            np.testing.assert_array_equal(value[start[g] : start[g + 1]], row[wanted])


def test_starts_are_sums(device):
    opened = open_device(device)
    for count in (1, 255, 256, 257, 1000):
        sizes = np.random.default_rng(count).integers(0, 9, count)
        start = opened.empty((count + 1,), np.int32)
        starts_of(opened, opened.table(sizes), start, 5)
        assert np.asarray(start).tolist() == [0, *np.cumsum(np.minimum(sizes, 5))]


def test_nan_is_seen(device):
    opened = open_device(device)
    clean, last = np.zeros(40000), np.zeros(40000)
    last[-1] = np.nan
    for dtype in (np.float32, np.float64):
        arrays = [opened.table(a, dtype) for a in (clean, last, clean[:0], last[-1:])]
        for array in arrays:
            if device != "cpu" and array.size:
                array.address(False)
        assert nan_in(opened, [*arrays, arrays[1]]) == [False, True, False, True, True]


def test_no_product_is_fused_with_a_sum(device, tmp_path):
    """Of all devices the same bits: what numpy has, which rounds the product first."""
    (tmp_path / "sum.cu").write_text(
        '#include "kernel.h"\nKERNEL sum(int n, const Real* a, const Real* b, const Real* c, Real* y) '
        "{ GRID_LOOP(i, n) y[i] = a[i] * b[i] + c[i]; }\n"
    )
    opened, rng = open_device(device), np.random.default_rng(2)
    for dtype in (np.float32, np.float64):
        a, b, c = (rng.standard_normal(1000).astype(dtype) for _ in range(3))
        y = opened.empty((1000,), dtype)
        Kernels(tmp_path / "sum.cu", UNFUSED).on(opened).sum(1000, *(opened.table(x, dtype) for x in (a, b, c)), y)
        np.testing.assert_array_equal(np.asarray(y), a * b + c)


# As graphs

on_the_stand_in = pytest.mark.skipif(
    not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"
)
SSD = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 6 dim: 6 } } }
    layer { name: "loc" type: "Convolution" bottom: "x" top: "loc"
        convolution_param { num_output: 16 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" std: 0.1 } } }
    layer { name: "conf" type: "Convolution" bottom: "x" top: "conf"
        convolution_param { num_output: 12 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" std: 0.5 } } }
    layer { name: "locs" type: "Permute" bottom: "loc" top: "locs" permute_param { order: 0 order: 2 order: 3 order: 1 } }
    layer { name: "flat" type: "Flatten" bottom: "locs" top: "flat" }
    layer { name: "confs" type: "Permute" bottom: "conf" top: "confs" permute_param { order: 0 order: 2 order: 3 order: 1 } }
    layer { name: "each" type: "Reshape" bottom: "confs" top: "each" reshape_param { shape { dim: 0 dim: -1 dim: 3 } } }
    layer { name: "prob" type: "Softmax" bottom: "each" top: "prob" softmax_param { axis: 2 } }
    layer { name: "probs" type: "Flatten" bottom: "prob" top: "probs" }
    layer { name: "priors" type: "PriorBox" bottom: "x" bottom: "x" top: "priors"
        prior_box_param { min_size: 2 max_size: 3 aspect_ratio: 2 } }
    layer { name: "found" type: "DetectionOutput" bottom: "flat" bottom: "probs" bottom: "priors" top: "found"
        detection_output_param { num_classes: 3 code_type: CENTER_SIZE confidence_threshold: 0.9 keep_top_k: 100
            nms_param { nms_threshold: 0.45 top_k: 60 } } }"""
REGIONS = """
    layer { name: "scores" type: "Input" top: "scores" input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } }
    layer { name: "offsets" type: "Input" top: "offsets" input_param { shape { dim: 1 dim: 4 dim: 4 dim: 4 } } }
    layer { name: "info" type: "Input" top: "info" input_param { shape { dim: 1 dim: 3 } } }
    layer { name: "maps" type: "Input" top: "maps" input_param { shape { dim: 1 dim: 8 dim: 4 dim: 4 } } }
    layer { name: "rois" type: "Proposal" bottom: "scores" bottom: "offsets" bottom: "info" top: "rois"
        python_param { param_str: "scales: [1], ratios: [1], rpn_min_size: 1, rpn_nms_thresh: 0.2, rpn_post_nms_top_n: 4" } }
    layer { name: "bins" type: "PSROIPooling" bottom: "maps" bottom: "rois" top: "bins"
        psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.0625 } }
    layer { name: "votes" type: "Pooling" bottom: "bins" top: "votes" pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
    layer { name: "prob" type: "Softmax" bottom: "votes" top: "prob" }"""


def pair(text: str) -> tuple[Net, Net]:
    """By its plan, and layer by layer with the same parameters."""
    planned, layers = (Net(parse_net(text), device="cuda", optimize=on, seed=3) for on in (True, False))
    for name, blobs in planned.params.items():
        for mine, blob in zip(blobs, layers.params[name]):
            blob.data[...] = np.array(mine.data)
    return planned, layers


@on_the_stand_in
@pytest.mark.cuda
def test_a_detector_is_one_graph(monkeypatch):
    """The number of detections is another each time; it comes with them in the one copy that a forward waits for."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    planned, layers = pair(SSD)
    rng, counts = np.random.default_rng(8), set()
    for turn in range(9):
        x = rng.normal(0, 1.5 * (turn % 3), (2, 3, 6, 6))  # the first of three has no detections
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
    for batch in (1, 2, 1, 2, 1, 2, 1, 2):  # programs of several shapes, whose layers share what they work in
        x = rng.normal(0, 2, (batch, 3, 6, 6))
        np.testing.assert_array_equal(planned.forward(x=x)["found"], layers.forward(x=x)["found"])


@on_the_stand_in
@pytest.mark.cuda
def test_a_net_of_regions_is_two_graphs(monkeypatch):
    """Proposal ends the first, for only then is it known how many regions there are; R-FCN's votes are in the second."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    planned, layers = pair(REGIONS)
    rng = np.random.default_rng(9)
    for turn in range(8):
        inputs = dict(scores=rng.random((1, 2, 4, 4)), offsets=rng.normal(0, 0.1, (1, 4, 4, 4)), info=[[64, 64, 1]],
                     maps=rng.normal(size=(1, 8, 4, 4)))  # fmt: skip
        before = stand_in.counts()
        got = planned.forward(("rois",), **inputs)
        grown = stand_in.since(before)
        for name, values in layers.forward(("rois",), **inputs).items():
            close(got[name], values, rtol=1e-6, title=name)
        if turn > 4:
            # Four inputs; the number of regions, the two blobs that are read.
            wanted = {"captures": 0, "replays": 2, "launches": 0, "to_device": 4, "to_host": 3}
            assert {name: grown[name] for name in wanted} == wanted
    assert [program.describe()["by themselves"] for program in planned._runner.describe()] == [{}, {}]


class Loud(DetectionOutput, type="LoudDetectionOutput", bottoms=3, tops=1):
    """A user's layer, made of ours."""

    def forward(self, bottom, top):
        super().forward(bottom, top)
        top[0].data[...] = 2 * np.asarray(top[0].data)


@on_the_stand_in
@pytest.mark.cuda
def test_a_forward_that_a_user_has_written_is_run(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    planned, layers = pair(SSD.replace('"DetectionOutput"', '"LoudDetectionOutput"'))
    for _ in range(5):
        x = np.random.default_rng(1).normal(0, 3, (2, 3, 6, 6))
        got = planned.forward(x=x)["found"]
        np.testing.assert_array_equal(got, layers.forward(x=x)["found"])
        assert got[..., 1].max() > 2
    (program,) = planned._runner.describe()
    assert program.describe()["by themselves"] == {"found": "runs a user's code"}
    del REGISTRY["louddetectionoutput"]


@on_the_stand_in
@pytest.mark.cuda
def test_nothing_is_copied_back_to_look_for_nan(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    planned, _ = pair(SSD)
    for _ in range(4):
        planned.forward(x=np.zeros((2, 3, 6, 6)))
    before = stand_in.counts()
    planned.forward(x=np.zeros((2, 3, 6, 6)))
    grown = stand_in.since(before)
    assert grown["to_host_bytes"] < 4 * 200 * 7 + 100
    assert grown["to_host"] == 2
    with pytest.warns(BoxpressoWarning, match="there are no detections, and the net's input 'x' holds NaN"):
        planned.forward(x=np.full((2, 3, 6, 6), np.nan))
