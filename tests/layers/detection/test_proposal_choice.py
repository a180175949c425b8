"""RotateProposal, FPNProposal and PyramidRegions beside numpy; nets of them as graphs."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from by_numpy import chosen
from harness import Rig, close
from test_detection_choice import REGIONS, WILD, both, on_the_stand_in, pair

from boxpresso import LayerError
from boxpresso.device import open_device
from boxpresso.layers.detection import order, pyramid, suppress
from boxpresso.proto.errors import BoxpressoWarning

ROTATED = """type: "RotateProposal" python_param { param_str: "{scales: [2, 4], ratios: [0.5, 1], angles: [-30, 0, 60], "
    "feat_stride: 7.5, MORE}" }"""
PYRAMID = """type: "FPNProposal" python_param { param_str: "{feat_strides: [4, 8, 16], scales: [2, 4], ratios: [0.5, 1], "
    "rpn_min_size: 4, MORE}" }"""
INFO = np.array([[224, 320, 1], [100, 100, 1.5], [90, 70, 0.5]])


def turned(rng, images: int, sizes: float) -> list[np.ndarray]:
    """Few different scores, so that many are equal; `sizes`: how much the offsets change sizes."""
    offsets = rng.normal(0, 0.4, (images, 12, 5, 9, 10))
    offsets[:, :, 2:4] *= sizes
    scores = rng.integers(0, 20, (images, 24, 9, 10)) / 20
    return [scores, offsets.reshape(images, 60, 9, 10), INFO[:images]]


def levels(rng, sizes: float, wild: bool = False) -> list[np.ndarray]:
    """Of three levels, as unsky/FPN has them: im_info, offsets, scores."""
    offsets, scores = [], []
    for height, width in ((12, 14), (6, 7), (3, 4)):
        by = rng.normal(0, 0.4, (1, 4, 4, height, width))
        by[:, :, 2:] *= sizes
        score = rng.integers(0, 20, (1, 8, height, width)) / 20
        offsets.append(
            rng.choice(WILD, by.shape).reshape(1, 16, height, width) if wild else by.reshape(1, 16, height, width)
        )
        scores.append(rng.choice(WILD, score.shape) if wild else score)
    return [np.array([[48, 56, 1]]), *offsets, *scores]


def same(got: list, wanted: list, rtol: float = 0) -> None:
    for one, other in zip(got, wanted, strict=True):
        assert one.shape == other.shape
        if rtol:
            close(one, other, rtol=rtol, atol=1e-6)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.later(but=1)
@pytest.mark.parametrize("more", ["rpn_nms_thresh: 0.3", "rpn_pre_nms_top_n: 0, rpn_post_nms_top_n: -1", "rpn_min_size: 30, "
                                  "rpn_pre_nms_top_n: 150, rpn_post_nms_top_n: 9"])  # fmt: skip
def test_rotated_regions_are_numpys(more, device, monkeypatch):
    """By bits where no exp takes part, which numpy has of its own."""
    text, rng = ROTATED.replace("MORE", more), np.random.default_rng(1)
    for images, dtype in ((1, np.float32), (3, np.float32), (2, np.float64)):
        got, wanted = both(monkeypatch, device, text, turned(rng, images, 0), 2, dtype=dtype)
        same(got, wanted)
        assert len(got[0]) > images
        assert set(got[0][:, 0]) == set(range(images))
    got, wanted = both(monkeypatch, device, text, turned(rng, 2, 1), 1)
    same(got, wanted, 1e-5)
    wild = [rng.choice(WILD, each.shape) for each in turned(rng, 2, 1)[:2]] + [INFO[:2]]
    with np.errstate(all="ignore"):
        got, wanted = both(monkeypatch, device, text, wild, 2)
    same(got, wanted, 1e-5)


def test_rotated_boxes_go_by_bits_or_one_after_another(device, monkeypatch):
    """In groups of which one is empty, with boxes that are none, and a limit; and beside the overlaps themselves."""
    opened, rng = open_device(device), np.random.default_rng(2)
    boxes = np.concatenate(
        [rng.uniform(0, 50, (150, 2)), rng.uniform(1, 30, (150, 2)), rng.uniform(-3, 3, (150, 1))], 1
    )
    boxes[7], boxes[11, 2], boxes[20, 2], boxes[33, 0] = np.nan, np.inf, -4, np.inf
    indices = []
    for bits, words in ((True, 2**26), (True, 10), (False, 2**26)):
        monkeypatch.setitem(suppress.BITS, opened.kind, bits)
        monkeypatch.setattr(suppress, "MOST_WORDS", words)
        for limit, starts in ((-1, None), (5, None), (3, np.array([0, 40, 40, 77, 150])), (0, None)):
            indices.append(suppress.suppress_boxes(opened, boxes, 0.2, limit, starts).tolist())
    assert indices[:4] == indices[4:8] == indices[8:]
    overlap = suppress.overlaps_of_rotated(opened, boxes, boxes)
    survivors: list[int] = []
    for i in range(len(boxes)):
        if not (overlap[survivors, i] > 0.2).any():
            survivors.append(i)
    assert indices[0] == survivors
    assert len(survivors) < 120


@pytest.mark.later(but=2)
@pytest.mark.parametrize("tops", [1, 4])
@pytest.mark.parametrize("more", ["", "rpn_pre_nms_top_n: 0, rpn_post_nms_top_n: 0", "rpn_pre_nms_top_n: 90, "
                                  "rpn_post_nms_top_n: 7", "rpn_min_size: 900"])  # fmt: skip
def test_regions_of_a_pyramid_are_numpys(more, tops, device, monkeypatch):
    text, rng = PYRAMID.replace("MORE", more), np.random.default_rng(3)
    for sizes, dtype in ((0, np.float32), (1, np.float32), (1, np.float64)):
        bottoms = levels(rng, sizes)
        got, wanted = both(monkeypatch, device, text, bottoms, tops, dtype=dtype)
        same(got, wanted, 1e-5 * sizes)
        info, *rest = bottoms
        other = [blob for pair in zip(rest[3:], rest[:3]) for blob in pair]  # as makefile/frcnn has them
        same(both(monkeypatch, device, text, [*other, info], tops, dtype=dtype)[0], got)
    if "900" in more:
        assert [len(top) for top in got] == ([0] if tops == 1 else [3, 1, 1, 1])
    none = pytest.warns(BoxpressoWarning, match="bottom 1 holds NaN") if "900" in more else nullcontext()
    with np.errstate(all="ignore"), none:
        same(*both(monkeypatch, device, text, levels(rng, 1, wild=True), tops), 1e-5)


def test_modules_have_tops_of_four_axes(device, monkeypatch):
    text = """type: "Module" module_param { type: "FPNProposal" param_str: "{feat_strides: [4, 8, 16], anchor_scales: [2], "
        "anchor_ratios: [0.5, 1, 2, 3], rpn_min_size: 4}" }"""
    info, *rest = levels(np.random.default_rng(4), 0)
    bottoms = [*(blob for pair in zip(rest[3:], rest[:3]) for blob in pair), info]
    wanted = chosen(text, bottoms, 3)
    rig = Rig(text, bottoms, device=device, tops=3)
    assert rig.layer.forward_launch(rig.bottom, rig.top)
    rig.layer.forward_finish(rig.bottom, rig.top)
    same([np.array(top.data) for top in rig.top], wanted)
    assert wanted[0].shape[1:] == (5, 1, 1)


def test_regions_are_sorted_by_level_as_by_numpy(device, monkeypatch):
    """Sizes around the bounds, none, and wild ones; levels without a region."""
    rng, dtype = np.random.default_rng(5), np.float32
    side = np.concatenate([pyramid.bounds(4).astype(dtype), [0, 1, 50, 5000, np.inf, np.nan, -9]])
    side = np.concatenate([side, np.nextafter(side[:3], np.inf), np.nextafter(side[:3], -np.inf)]).astype(dtype)
    none = np.zeros_like(side)
    boxes = np.stack([none + 1, none, none, side, side], 1)
    text, most = 'type: "PyramidRegions"', 700
    many = rng.choice(boxes, most)
    for rows, count in ((boxes, 4), (many, 4), (many, 1), (many, 6), (boxes[3:5], 5)):
        with np.errstate(all="ignore"):
            wanted = chosen(text, [rows], 1 + count)
        rig = Rig(text, [rows], device=device, tops=1 + count)
        same(rig.forward(), wanted)
        assert rig.layer.by_level.rows == len(rows)
    assert pyramid.levels_of(boxes[:3, 1:], 4).tolist() == [1, 2, 3]


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_the_boxes_of_ssh_are_numpys(phase, device, monkeypatch):
    """In TEST the best, of which none is suppressed; several tiles of scores."""
    rng, scales = (
        np.random.default_rng(11),
        "scales: [1, 2], ratios: [1], n_dets_per_module: 150, anchor_n_pre_nms: 300",
    )
    text = f'type: "SSHProposal" python_param {{ param_str: "{{{scales}, anchor_n_post_nms: 40}}" }}'
    bottoms = [rng.integers(0, 50, (1, 4, 18, 20)) / 50, rng.normal(0, 0.4, (1, 8, 18, 20)), INFO[:1]]
    for sizes in (0, 1):
        bottoms[1].reshape(2, 4, 18, 20)[:, 2:] = sizes * rng.normal(0, 0.4, (2, 2, 18, 20))
        got, wanted = both(monkeypatch, device, text, bottoms, 2, phase=phase)
        same(got, wanted, 1e-5 * sizes)
        assert len(got[0]) == (40 if phase == "TRAIN" else 150)


@pytest.mark.parametrize("text", ["low_scale: 20 high_scale: 40", "low_scale: 3000", "high_scale: 25", "low_scale: 700 "
                                  "high_scale: 800"])  # fmt: skip
def test_routes_are_numpys(text, device, monkeypatch):
    """Regions of the range, or the closest one; the rows that go with them, and their gradient."""
    text, rng = f'type: "ScaleRoute" scale_route_param {{ {text} }}', np.random.default_rng(8)
    for count in (1, 700):
        low = rng.uniform(0, 50, (count, 2))
        regions = np.concatenate([np.ones((count, 1)), low, low + rng.uniform(-5, 60, (count, 2))], 1)
        regions[::7, 3:] = rng.choice(WILD, regions[::7, 3:].shape)
        bottoms = [regions, rng.random((count, 3, 2)), rng.random(count)]
        rig = Rig(text, bottoms, device=device, tops=3)
        tops = rig.forward()
        same(tops, chosen(text, bottoms, 3))
        diffs = [rng.random(top.shape) for top in tops]
        places = [np.flatnonzero(bottoms[2].astype(np.float32) == number) for number in tops[2]]
        for got, bottom, diff in zip(rig.backward(diffs, [False, True, True])[1:], bottoms[1:], diffs[1:]):
            spread = np.zeros(bottom.shape, np.float32)
            spread[np.concatenate(places)] = diff
            np.testing.assert_array_equal(got, spread)
    assert len(tops[0]) == 1 or len(tops[0]) < 600


def test_more_than_kernels_can_count_is_refused(device, monkeypatch):
    rng = np.random.default_rng(6)
    monkeypatch.setattr(order, "MOST_ITEMS", 1000)
    for text, bottoms in ((PYRAMID, levels(rng, 0)), (ROTATED, turned(rng, 2, 0))):
        with pytest.raises(LayerError, match="boxes are more than can be sorted"):
            Rig(text.replace("MORE", ""), bottoms, device=device)


# As graphs

FPN = """
    layer { name: "info" type: "Input" top: "info" input_param { shape { dim: 1 dim: 3 } } }
    layer { name: "s1" type: "Input" top: "s1" input_param { shape { dim: 1 dim: 2 dim: 6 dim: 6 } } }
    layer { name: "s2" type: "Input" top: "s2" input_param { shape { dim: 1 dim: 2 dim: 3 dim: 3 } } }
    layer { name: "o1" type: "Input" top: "o1" input_param { shape { dim: 1 dim: 4 dim: 6 dim: 6 } } }
    layer { name: "o2" type: "Input" top: "o2" input_param { shape { dim: 1 dim: 4 dim: 3 dim: 3 } } }
    layer { name: "maps" type: "Input" top: "maps" input_param { shape { dim: 1 dim: 3 dim: 6 dim: 6 } } }
    layer { name: "chances1" type: "Sigmoid" bottom: "s1" top: "c1" }
    layer { name: "rois" type: "Python" bottom: "info" bottom: "o1" bottom: "o2" bottom: "c1" bottom: "s2" top: "all" top: "l2" top: "l3"
        python_param { module: "rpn.proposal_layer" layer: "ProposalLayer"
        param_str: "{feat_strides: [8, 16], scales: [8], ratios: [1], rpn_min_size: 1, rpn_nms_thresh: 0.6, rpn_post_nms_top_n: 9}" } }
    layer { name: "bins2" type: "ROIPooling" bottom: "maps" bottom: "l2" top: "b2" roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.125 } }
    layer { name: "bins3" type: "ROIPooling" bottom: "maps" bottom: "l3" top: "b3" roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.125 } }
    layer { name: "bins" type: "Concat" bottom: "b2" bottom: "b3" top: "bins" concat_param { axis: 0 } }
    layer { name: "fc" type: "InnerProduct" bottom: "bins" top: "fc" inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.1 } } }
    layer { name: "end" type: "Softmax" bottom: "fc" top: "prob" }"""
RRPN = """
    layer { name: "s" type: "Input" top: "s" input_param { shape { dim: 1 dim: 4 dim: 5 dim: 6 } } }
    layer { name: "o" type: "Input" top: "o" input_param { shape { dim: 1 dim: 10 dim: 5 dim: 6 } } }
    layer { name: "info" type: "Input" top: "info" input_param { shape { dim: 1 dim: 3 } } }
    layer { name: "maps" type: "Input" top: "maps" input_param { shape { dim: 1 dim: 3 dim: 5 dim: 6 } } }
    layer { name: "chances" type: "Sigmoid" bottom: "s" top: "c" }
    layer { name: "rois" type: "Python" bottom: "c" bottom: "o" bottom: "info" top: "rois"
        python_param { module: "rotation.rproposal_layer" layer: "ProposalLayer"
        param_str: "{scales: [2], ratios: [0.5], angles: [0, 60], rpn_min_size: 1, rpn_nms_thresh: 0.3, rpn_post_nms_top_n: 5}" } }
    layer { name: "bins" type: "RotateROIPooling" bottom: "maps" bottom: "rois" bottom: "info" top: "bins"
        rotate_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.0625 } }
    layer { name: "fc" type: "InnerProduct" bottom: "bins" top: "fc" inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.1 } } }
    layer { name: "end" type: "Softmax" bottom: "fc" top: "prob" }"""
UPRIGHT = REGIONS.replace('type: "Proposal"', 'type: "Python"').replace(
    "python_param {", 'python_param { module: "rpn.proposal_layer" layer: "ProposalLayer"'
)


@on_the_stand_in
@pytest.mark.cuda
@pytest.mark.parametrize("text", [FPN, RRPN, UPRIGHT], ids=["FPN", "RRPN", "py-faster-rcnn"])
def test_a_net_of_regions_is_two_graphs(text, monkeypatch):
    """Layers of published Python classes too: the regions end the first graph, one wait tells their numbers."""
    import stand_in

    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    planned, layers_alone = pair(text)
    rng, read = np.random.default_rng(7), {FPN: "all", RRPN: "rois", UPRIGHT: "rois"}[text]
    for turn in range(12):
        feeds = {
            name: [[48, 48, 1]] if name == "info" else rng.normal(0, 1, planned.blobs[name].shape)
            for name in planned.inputs
        }
        for name in planned.inputs:
            if name.startswith("o"):
                feeds[name] = 0.3 * feeds[name]
        if turn == 4:
            feeds["info"] = [[48, 48, 900]]  # no region is large enough
        before = stand_in.counts()
        got = planned.forward((read,), **feeds)
        grown = stand_in.since(before)
        for name, values in layers_alone.forward((read,), **feeds).items():
            close(got[name], values, rtol=1e-6, title=name)
        if turn > 9 and grown["captures"] == 0:
            # The inputs; the numbers of regions, the two blobs that are read.
            wanted = {"replays": 2, "launches": 0, "to_device": len(planned.inputs), "to_host": 3}
            assert {name: grown[name] for name in wanted} == wanted
            break
    else:
        pytest.fail("every forward captured something")
    programs = [program.describe() for program in planned._runner.describe()]
    assert [program["by themselves"] for program in programs] == [{}, {}]
    assert [program["graphs"] for program in programs] == [1, 1]


@on_the_stand_in
@pytest.mark.cuda
def test_text_and_routes_are_captured(monkeypatch):
    """CTPN's boxes, as many as there are places, belong to the one graph; a route ends one."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    text = (
        FPN[: FPN.index('    layer { name: "rois"')]
        + """
        layer { name: "text" type: "Python" bottom: "c1" bottom: "c1" bottom: "info" top: "boxes" top: "chances"
            python_param { module: "layers.text_proposal_layer" layer: "ProposalLayer" param_str: "heights: [11]" } }
        layer { name: "abs" type: "AbsVal" bottom: "boxes" top: "abs" }
        layer { name: "rows" type: "Reshape" bottom: "maps" top: "rows" reshape_param { shape { dim: -1 dim: 6 } } }
        layer { name: "route" type: "ScaleRoute" bottom: "rows" top: "some" scale_route_param { low_scale: 1 } }
        layer { name: "twice" type: "Power" bottom: "some" top: "twice" power_param { scale: 2 } }"""
    )
    planned, layers_alone = pair(text)
    rng = np.random.default_rng(10)
    for _ in range(8):
        feeds = {name: rng.normal(0, 1, planned.blobs[name].shape) for name in planned.inputs} | {"info": [[48, 48, 1]]}
        got, wanted = planned.forward(**feeds), layers_alone.forward(**feeds)
        for name, values in wanted.items():
            np.testing.assert_array_equal(got[name], values, err_msg=name)
    programs = [program.describe() for program in planned._runner.describe()]
    assert [program["by themselves"] for program in programs] == [{}, {}]


@on_the_stand_in
@pytest.mark.cuda
def test_nan_is_told_of_under_the_name_of_the_input(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    planned, _ = pair(RRPN)
    feeds = {name: np.full(planned.blobs[name].shape, np.nan) for name in planned.inputs}
    with pytest.warns(BoxpressoWarning, match="no detections, and the net's input 's' holds NaN"):
        planned.forward(**feeds)
