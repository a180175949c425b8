"""MNC's, MS-CNN's, Cascade R-CNN's and RON's boxes and the NMS layer beside numpy; as graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import stand_in
from by_numpy import chosen
from harness import Rig, close
from test_detection_choice import WILD, both, on_the_stand_in, pair
from test_proposal_choice import same

from boxpresso import LayerError
from boxpresso.device import open_device
from boxpresso.layers.core import places
from boxpresso.layers.detection import order, suppress
from boxpresso.layers.detection.rcnn import Upright
from boxpresso.proto.errors import BoxpressoWarning

INFO = np.array([[112, 144, 1.5]])
MNC = 'type: "MNCProposal" python_param { param_str: "{scales: [2, 4], ratios: [0.5, 1], rpn_min_size: 10, MORE}" }'


def maps(rng, images: int, channels: int, height: int, width: int, sizes: float = 1) -> np.ndarray:
    """Offsets, four after one another, of which the last two change sizes."""
    by = rng.normal(0, 0.4, (images, channels // 4, 4, height, width))
    by[:, :, 2:] *= sizes
    return by.reshape(images, channels, height, width)


# MNC


@pytest.mark.parametrize("more", ["rpn_nms_thresh: 0.5", "rpn_pre_nms_top_n: 0, rpn_post_nms_top_n: 0",
                                  "rpn_pre_nms_top_n: 90, rpn_post_nms_top_n: 7"])  # fmt: skip
def test_the_regions_of_mnc_are_numpys(more, device, monkeypatch):
    """With the numbers of their anchors; scores of several tiles, many of them equal."""
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 30, (1, 8, 13, 14)) / 30
    for sizes, dtype in ((0, np.float32), (1, np.float32), (1, np.float64)):
        bottoms = [scores, maps(rng, 1, 16, 13, 14, sizes), INFO]
        got, wanted = both(monkeypatch, device, MNC.replace("MORE", more), bottoms, 2, dtype=dtype)
        same(got[1:], wanted[1:])
        same(got[:1], wanted[:1], 1e-5 * sizes)
        assert got[1].shape == (1, len(got[0]))
    wild = [rng.choice(WILD, each.shape) for each in bottoms[:2]] + [INFO]
    with np.errstate(all="ignore"):
        same(*both(monkeypatch, device, MNC.replace("MORE", more), wild, 2), 1e-5)
    assert Rig(MNC.replace("MORE", more), [scores, maps(rng, 1, 16, 13, 14), [[9, 9, 9]]], device=device).forward()[
        0
    ].shape == (0, 5)


def test_the_gradient_of_mnc_goes_to_the_regions_that_were_chosen(device):
    """Some of them are clipped: their corners have none. Beside central differences of numpy's regions; the same twice."""
    rng = np.random.default_rng(2)
    bottoms = [rng.integers(0, 30, (1, 8, 6, 7)) / 30, maps(rng, 1, 16, 6, 7, 0), INFO]
    text = MNC.replace("MORE", "rpn_post_nms_top_n: 30, use_clip: 1, clip_base: 4")
    rig = Rig(text, bottoms, device=device, phase="TRAIN", tops=2)
    regions, numbers = rig.forward()
    diff = rng.normal(0, 0.02, regions.shape)
    got = [rig.backward([diff, 0 * numbers], [False, True, False])[1] for _ in range(2)]
    taken = numbers[0].astype(int)
    every = Upright.everywhere(rig.layer.anchors, 6, 7, rig.layer.stride)[taken]
    by = bottoms[1][0].transpose(1, 2, 0).reshape(-1, 4)

    def loss(moved: np.ndarray) -> np.ndarray:
        return (Upright.clip(Upright.decode(every, moved), *INFO[0, :2]) * diff[:, 1:]).sum(1)

    wanted = np.zeros(by.shape)
    for k, step in enumerate(1e-6 * np.eye(4)):
        wanted[taken, k] = (loss(by[taken] + step) - loss(by[taken] - step)) / 2e-6
    wanted = np.clip(wanted, -0.25, 0.25).reshape(6, 7, 16).transpose(2, 0, 1)[None]
    close(got[0], wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(*got)
    cut = abs(wanted) == 0.25
    assert np.count_nonzero(cut) > 5
    assert np.count_nonzero(wanted[~cut]) > 40


STAGE = 'type: "MNCStageBridge"'


def test_the_next_stage_of_mnc_is_numpys(device):
    """The greatest score, the first of equal ones, the first NaN of all; and what the gradient then is."""
    rng = np.random.default_rng(3)
    low = rng.uniform(-10, 90, (200, 2))
    regions = np.concatenate([np.zeros((200, 1)), low, low + rng.uniform(-5, 60, (200, 2))], 1)
    plain = [regions, rng.normal(0, 0.4, (200, 12)), rng.integers(0, 4, (200, 3)) / 4, INFO]
    wild = [rng.choice(WILD, each.shape) for each in plain[:3]] + [INFO]
    wild[0][:, 0] = 0
    for bottoms in (plain, wild):
        for dtype in (np.float32, np.float64):
            with np.errstate(all="ignore"):
                rig = Rig(STAGE, bottoms, device=device, dtype=dtype)
                computed = [rig.forward(), chosen(STAGE, bottoms, dtype=dtype)]
            if dtype == np.float32 and bottoms is wild:
                computed = [[np.nan_to_num(each[0], posinf=9, neginf=9)] for each in computed]
            same(*computed, 1e-5)
    rig = Rig(STAGE, plain, device=device, dtype=np.float64)
    (tops,) = rig.forward()
    diff, of = rng.normal(0, 1, tops.shape), plain[2].argmax(1)
    got = rig.backward([diff], [True, True, False, False])[:2]

    def loss(boxes: np.ndarray, by: np.ndarray) -> np.ndarray:
        return (Upright.clip(Upright.decode(boxes, by), *INFO[0, :2]) * diff[:, 1:]).sum(1)

    boxes, by, row = regions[:, 1:], plain[1].reshape(200, 3, 4)[np.arange(200), of], np.arange(200)
    wanted = np.zeros((200, 5)), np.zeros((200, 3, 4))
    for k, step in enumerate(1e-6 * np.eye(4)):
        wanted[0][:, 1 + k] = (loss(boxes + step, by) - loss(boxes - step, by)) / 2e-6
        wanted[1][row, of, k] = (loss(boxes, by + step) - loss(boxes, by - step)) / 2e-6
    close(got[0], wanted[0], rtol=1e-4, atol=1e-5)
    close(got[1], wanted[1].reshape(200, 12), rtol=1e-4, atol=1e-5)
    assert Rig(STAGE, [each[:0] for each in plain[:3]] + [INFO], device=device).forward()[0].shape == (0, 5)


# MS-CNN and Cascade R-CNN

FIELDS = """type: "BoxOutput" bbox_reg_param { bbox_mean: 0.1 bbox_mean: 0 bbox_mean: -0.1 bbox_mean: 0.05
    bbox_std: 0.5 bbox_std: 0.3 bbox_std: 0.7 bbox_std: 0.2 } box_output_param { field_w: 40 field_w: 61 field_h: 30 field_h: 50
    downsample_rate: 8 downsample_rate: 16 MORE }"""
GROUPS = """type: "BoxGroupOutput" bbox_reg_param { bbox_mean: 0.1 bbox_mean: 0 bbox_mean: -0.1 bbox_mean: 0.05
    bbox_std: 0.5 bbox_std: 0.3 bbox_std: 0.7 bbox_std: 0.2 } box_group_output_param { MORE
    box_group_param { field_w: 40 field_w: 20 field_w: 33 field_h: 30 field_h: 20 field_h: 50 stride: 8 }
    box_group_param { field_w: 80 field_h: 61 stride: 16 } }"""
KINDS = {"BoxOutput": FIELDS, "BoxGroupOutput": GROUPS}


def of_fields(rng, kind: str, images: int, wild: bool = False) -> list[np.ndarray]:
    """Few different scores; both classes of BoxOutput's are better than the background somewhere."""
    bottoms = []
    for height, width, fields in ((13, 15, 3), (6, 8, 1)):
        if kind == "BoxOutput":
            scores = rng.integers(0, 20, (images, 3, height, width)) / 20
            bottoms.append(np.concatenate([scores, 2 * maps(rng, images, 4, height, width)], 1))
        else:
            bottoms.append(rng.integers(0, 20, (images * fields, 2, height, width)) / 20)
            bottoms.append(2 * maps(rng, images * fields, 4, height, width))
    return [rng.choice(WILD, each.shape) if wild else each for each in bottoms]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", ["", "fg_thr: 0.4 max_nms_num: 60 max_post_nms_num: 9 iou_thr: 0.3", "min_size: 90"])
def test_regions_of_fields_are_numpys(kind, more, device, monkeypatch):
    rng, text = np.random.default_rng(4), KINDS[kind].replace("MORE", more)
    for images, dtype in ((1, np.float32), (3, np.float32), (2, np.float64)):
        got, wanted = both(monkeypatch, device, text, of_fields(rng, kind, images), 2, dtype=dtype)
        same(got, wanted, 1e-5)
        np.testing.assert_array_equal(got[1][:, 5], wanted[1][:, 5])
        np.testing.assert_array_equal(got[1][:, :5], got[0])
        assert "90" in more or set(got[0][:, 0].ravel()) == set(range(images))
    with np.errstate(all="ignore"):
        same(*both(monkeypatch, device, text, of_fields(rng, kind, 2, wild=True), 1), 1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_fields_without_offsets_have_numpys_bits(kind, device, monkeypatch):
    """Where no exp takes part: offsets of 0, and a mean of 0."""
    start, rest = KINDS[kind].replace("MORE", "iou_thr: 0.4").split("bbox_reg_param")
    text = start + rest.partition("}")[2]
    bottoms = of_fields(np.random.default_rng(5), kind, 2)
    for each in bottoms if kind == "BoxOutput" else bottoms[1::2]:
        each[:, -4:] = 0
    same(*both(monkeypatch, device, text, bottoms, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_no_regions_of_fields_warn_of_nan(kind, device, monkeypatch):
    bottoms = [each + np.nan for each in of_fields(np.random.default_rng(6), kind, 1)]
    with pytest.warns(BoxpressoWarning, match="bottom 0 holds NaN"):
        tops = Rig(KINDS[kind].replace("MORE", ""), bottoms, device=device, tops=2).forward()
    assert [top.shape for top in tops] == [(0, 5, 1, 1), (0, 6, 1, 1)]


FRCNN = """type: "FrcnnOutput" frcnn_output_param { MORE } bbox_reg_param { cls_aware: AWARE bbox_mean: 0 bbox_mean: 0.1
    bbox_mean: 0 bbox_mean: 0 bbox_std: 0.1 bbox_std: 0.1 bbox_std: 0.2 bbox_std: 0.2 }"""


def of_regions(rng, count: int, classes: int, aware: bool, columns: int = 5) -> list[np.ndarray]:
    low = rng.uniform(-5, 90, (count, 2))
    regions = np.concatenate([np.zeros((count, 1)), low, low + rng.uniform(0, 60, (count, 2))], 1)
    return [
        rng.integers(0, 30, (count, classes)) / 30, rng.normal(0, 1, (count, 4 * classes if aware else 8)),
        np.pad(regions, ((0, 0), (0, columns - 5))), np.array([[100, 140]]),
    ]  # fmt: skip


def detections(bottoms: list, sure: float, least: float, keep: int, dtype: type) -> np.ndarray:
    """FrcnnOutput with the deviations of FRCNN, by its definition."""
    scores, offsets, regions, size = (np.asarray(each, dtype).astype(np.float64) for each in bottoms)
    count, classes = scores.shape
    mean, deviation = (np.float32(each).astype(np.float64) for each in ((0, 0.1, 0, 0), (0.1, 0.1, 0.2, 0.2)))
    rows = []
    with np.errstate(all="ignore"):
        for label in range(1, classes):
            at = np.flatnonzero(scores[:, label] >= np.float32(sure))
            left = list(at[np.argsort(-scores[at, label], kind="stable")])
            by = offsets.reshape(count, -1, 4)[:, label if offsets.shape[1] > 8 or classes == 2 else 1]
            by = by * deviation + mean
            extent = regions[:, 3:5] - regions[:, 1:3] + 1
            grown = extent * np.exp(by[:, 2:])
            first = by[:, :2] * extent + (regions[:, 1:3] + regions[:, 3:5]) / 2 - (grown - 1) / 2
            boxes = np.concatenate([np.maximum(first, 0), np.minimum(first + grown - 1, size[0, ::-1])], 1)
            areas = np.prod(boxes[:, 2:] - boxes[:, :2] + 1, 1)
            while left:
                best = left.pop(0)
                rows.append([0, *boxes[best], label, scores[best, label]])
                inner = np.minimum(boxes[best, 2:], boxes[left, 2:]) - np.maximum(boxes[best, :2], boxes[left, :2]) + 1
                shared = np.prod(np.maximum(inner, 0), 1)
                overlap = shared / (areas[best] + areas[left] - shared)
                left = [i for i, by_best in zip(left, overlap) if not by_best >= np.float32(least)]
    order = np.argsort([-row[6] for row in rows], kind="stable")[: keep or None]
    return np.array([[0, *[-1] * 6], *(rows[i] for i in sorted(order))])


@pytest.mark.parametrize("aware", [True, False])
@pytest.mark.parametrize(
    ("more", "settings"), [("conf_thr: 0.2", (0.2, 0.5, 0)), ("max_det_num: 25", (0, 0.5, 25)), ("conf_thr: 2", (2, 0.5, 0)),
                       ("iou_thr: 0.9", (0, 0.9, 0))]
)  # fmt: skip
def test_detections_of_regions_are_those_of_numpy(more, settings, aware, device, monkeypatch):
    """Of several tiles of regions too; compared by the bits of all pairs, and with those that stay."""
    rng = np.random.default_rng(7)
    text = FRCNN.replace("MORE", more).replace("AWARE", str(aware).lower())
    for bits in (True, False):
        monkeypatch.setitem(suppress.BITS, open_device(device).kind, bits)
        for count, classes, columns, dtype in ((600, 4, 5, np.float32), (90, 2, 6, np.float32), (90, 5, 5, np.float64)):
            bottoms = of_regions(rng, count, classes, aware, columns)
            wanted = detections(bottoms, *settings, dtype)
            rig = Rig(text, bottoms, device=device, dtype=dtype)
            (got,) = rig.forward()
            same([got.reshape(len(got), 7)], [wanted], 1e-5)
            np.testing.assert_array_equal(got.reshape(len(got), 7)[:, 5:], wanted[:, 5:].astype(dtype))
            np.testing.assert_array_equal(rig.forward()[0], got)
            assert (len(got) == 26) == ("25" in more)


def test_detections_of_wild_regions_are_the_same_both_ways(device, monkeypatch):
    """Compared by the bits of all pairs, and with those that stay, on the device and on the CPU."""
    rng = np.random.default_rng(7)
    wild = of_regions(rng, 90, 4, True)
    wild[:3] = [rng.choice(WILD, each.shape) for each in wild[:3]]
    wild[2][:, 0] = 0
    text, rows = FRCNN.replace("MORE", "").replace("AWARE", "true"), []
    for name in dict.fromkeys((device, "cpu")):
        for bits in (True, False):
            monkeypatch.setitem(suppress.BITS, open_device(name).kind, bits)
            with np.errstate(all="ignore"):
                rows.append(Rig(text, wild, device=name).forward())
    for other in rows[1:]:
        same(rows[0], other, 1e-6)


def test_more_regions_than_can_be_sorted_are_refused(monkeypatch):
    monkeypatch.setattr(order, "MOST_ITEMS", 500)
    text = FRCNN.replace("MORE", "").replace("AWARE", "true")
    with pytest.raises(LayerError, match="3 lists of 90 boxes are more than can be sorted"):
        Rig(text, of_regions(np.random.default_rng(8), 90, 3, True))


def test_a_region_of_another_image_is_seen_on_the_device(device, monkeypatch):
    text = FRCNN.replace("MORE", "").replace("AWARE", "true")
    for foreign, said in ((3, "3"), (np.nan, "nan")):
        bottoms = of_regions(np.random.default_rng(8), 700, 3, True)
        bottoms[2][640, 0] = foreign
        rig = Rig(text, bottoms, device=device)
        with pytest.raises(LayerError, match=f"one image at a time, got regions of image {said}"):
            rig.forward()
        assert rig.layer.choice.rows


# NMS


@pytest.mark.parametrize("kind", ["upright", "rotated"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("limit", ["", "top_k: 20"])
def test_boxes_that_stay_are_numpys(kind, axis, limit, device, monkeypatch):
    """Boxes whose score is NaN come last, in their order, behind those of minus infinity."""
    rng = np.random.default_rng(9)
    text = f'type: "NMS" nms_param {{ iou_threshold: 0.3 axis: {axis} {limit} }}'
    for count, dtype in ((1, np.float32), (700, np.float32), (90, np.float64)):
        low = rng.uniform(0, 400, (count, 2))
        boxes = np.concatenate([low, (low if kind == "upright" else 0) + rng.uniform(5, 60, (count, 2))], 1)
        if kind == "rotated":
            boxes = np.concatenate([boxes, rng.uniform(-3, 3, (count, 1))], 1)
        scores = rng.integers(0, 40, count) / 40
        scores[count // 2 :: 9] = rng.choice([np.nan, -np.inf, np.inf], len(scores[count // 2 :: 9]))
        wild = boxes.copy()
        wild[::5] = rng.choice(WILD, wild[::5].shape)
        for rows in (boxes, wild):
            for bottoms in ([rows.T if axis else rows, scores], [rows.T if axis else rows]):
                with np.errstate(all="ignore"):
                    same(*both(monkeypatch, device, text, bottoms, dtype=dtype))


def test_more_than_kernels_can_count_is_refused(device, monkeypatch):
    rng = np.random.default_rng(10)
    cases = [
        (MNC.replace("MORE", ""), [rng.random((1, 8, 13, 14)), maps(rng, 1, 16, 13, 14, 0), INFO]),
        (FIELDS.replace("MORE", ""), of_fields(rng, "BoxOutput", 1)),
        ('type: "NMS" nms_param { iou_threshold: 0.5 }', [rng.random((600, 4)), rng.random(600)]),
    ]
    for text, bottoms in cases:
        with monkeypatch.context() as patched:
            patched.setattr(order, "MOST_ITEMS", 500)
            with pytest.raises(LayerError, match="boxes are more than can be sorted"):
                Rig(text, bottoms, device=device)
    assert Rig(cases[2][0].replace("0.5", "0.5 top_k: 0"), cases[2][1], device=device).forward()[0].shape == (0,)


def test_too_many_pairs_are_compared_in_chunks(device, monkeypatch):
    """Of boxes in double precision too, as FrcnnOutput has them."""
    monkeypatch.setattr(suppress, "KEPT_WORDS", 10)
    monkeypatch.setitem(suppress.BITS, open_device(device).kind, True)
    bottoms = of_regions(np.random.default_rng(11), 300, 3, True)
    text = FRCNN.replace("MORE", "conf_thr: 0.2").replace("AWARE", "true")
    (got,) = Rig(text, bottoms, device=device).forward()
    same([got.reshape(len(got), 7)], [detections(bottoms, 0.2, 0.5, 0, np.float32)], 1e-5)


# RON


def test_the_boxes_of_ron_are_numpys(device):
    rng = np.random.default_rng(12)
    text = 'type: "RONDetection" python_param { param_str: "{stride_scale_numcls: [16, 1.5, 5], ratios: [0.5, 1, 2]}" }'
    for images, sizes, dtype in ((2, 0, np.float32), (1, 1, np.float32), (2, 1, np.float64)):
        plain = [rng.random((images, 12, 4, 5)), rng.random((images, 5, 24, 5)), maps(rng, images, 24, 4, 5, sizes)]
        wild = [rng.choice(WILD, each.shape) for each in plain]
        for bottoms in (plain, wild):
            with np.errstate(all="ignore"):
                got = Rig(text, bottoms, device=device, tops=2, dtype=dtype).forward()
                wanted = chosen(text, bottoms, 2, dtype=dtype)
            same(got, wanted, 0 if bottoms is plain and not sizes else 1e-5)
            np.testing.assert_array_equal(got[1], wanted[1])


# What a selector or a mask lets pass


def test_places_that_are_set_are_numpys(device, monkeypatch):
    """Of NaN a selector lets pass, a mask does not; none, all, and several shares of a block; with the gradient."""
    rng = np.random.default_rng(16)
    for height, width, flags in ((3, 700, WILD), (5, 4, [0, 1]), (9, 9, [0]), (9, 9, [1, 2])):
        mask = rng.choice(flags, (1, 1, height, width))
        cases = [
            ('type: "Mask"', [rng.normal(size=(1, 3, height, width)), mask], 1),
            ('type: "Filter"', [rng.normal(size=(width, 2, 3)), rng.normal(size=width), mask[0, 0, 0]], 2),
        ]
        for text, bottoms, tops in cases:
            runs: list = []
            for on, where in ((False, "cpu"), (True, device)):
                monkeypatch.setitem(places.BY_KERNEL, open_device(where).kind, on)
                rig = Rig(text, bottoms, device=where, tops=tops)
                values = rig.forward()
                diffs = [np.random.default_rng(1).normal(size=value.shape) for value in values]
                down = rig.backward(diffs, [i < tops for i in range(len(bottoms))])
                runs.append([*values, *down[:tops]])
                assert bool(rig.layer.set_places.items) == on
            same(*runs)


def choose_regions(run: Callable) -> None:
    """A launch of every kernel, for tests/device/test_threaded.py: `run` a layer on bottoms, for which bottoms a gradient, with options."""
    rng, info = np.random.default_rng(15), [[112, 144, 1]]
    scores, offsets = rng.random((1, 18, 7, 9)), 0.1 * rng.standard_normal((1, 36, 7, 9))
    text = 'param_str: "{scales: [1, 2, 4], rpn_min_size: 1, rpn_post_nms_top_n: 30}"'
    run(f'type: "MNCProposal" python_param {{ {text} }}', [scores, offsets, info], [], {"tops": 2})
    low = 30 * rng.random((300, 2))
    regions, by = np.column_stack([0 * low[:, :1], low, low + 9]), rng.standard_normal((300, 12))
    run('type: "MNCStageBridge"', [regions, by, by[:, :3], info], [])
    run(
        'type: "FrcnnOutput" frcnn_output_param { max_det_num: 40 iou_thr: 0.3 }',
        [rng.random((300, 3)), by, regions, [[40, 40]]],
        [],
    )
    run(
        'type: "NMS" nms_param { iou_threshold: 0.2 axis: 1 }',
        [regions[:, 1:].T, np.where(by[:, 0] < -1, np.nan, by[:, 0])],
        [],
    )
    places.BY_KERNEL["cpu"] = True
    try:
        run('type: "Filter"', [by, by[:, 1], by[:, 0] > 0], [], {"tops": 2})
        run('type: "Mask"', [offsets, scores[:, :1] + 0.5], [])
    finally:
        places.BY_KERNEL["cpu"] = False
    ron = 'type: "RONDetection" python_param { param_str: "{stride_scale_numcls: [16, 1, 3], ratios: [1, 2, 3, 4.5]}" }'
    run(ron, [scores[:, :16], rng.random((1, 3, 56, 9)), offsets[:, :32]], [], {"tops": 2})
    sizes = "max_post_nms_num: 30 min_size: 2 field_w: 16 field_h: 20"
    run(f'type: "BoxOutput" box_output_param {{ downsample_rate: 16 {sizes} }}', [scores[:, :7]], [], {"tops": 2})
    head = 'type: "BoxGroupOutput" box_group_output_param { min_size: 2 box_group_param { field_w: 16 field_w: 40 field_h: 20'
    run(
        head + " field_h: 30 stride: 16 } }",
        [scores.reshape(2, 9, 7, 9), offsets[:, :8].reshape(2, 4, 7, 9)],
        [],
        {"tops": 2},
    )


# As graphs


def inputs(**shapes: tuple[int, ...]) -> str:
    text = ""
    for name, shape in shapes.items():
        dims = " ".join(f"dim: {size}" for size in shape)
        text += f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {dims} }} }} }}\n'
    return text


def layer(names: str, bottoms: str, text: str) -> str:
    """names: its tops, of which the first is its own name too."""
    tops, needed = (
        " ".join(f'{field}: "{name}"' for name in of.split()) for field, of in (("top", names), ("bottom", bottoms))
    )
    return f'layer {{ name: "{names.split()[0]}" {needed} {tops} {text} }}\n'


def published(module: str, name: str, settings: str = "") -> str:
    param_str = f'param_str: "{{{settings}}}"' if settings else ""
    return f'type: "Python" python_param {{ module: "{module}" layer: "{name}" {param_str} }}'


BINS = 'type: "ROIPooling" roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.125 }'
DENSE = 'type: "InnerProduct" inner_product_param { num_output: 12 weight_filler { type: "gaussian" std: 0.3 } }'
SCORES, MASKS = DENSE.replace("12", "3"), DENSE.replace("12", "4")
CHOICE = "scales: [2, 4], ratios: [0.5, 1], rpn_min_size: 4, rpn_post_nms_top_n: 9"
MNC_NET = (
    inputs(maps=(1, 3, 6, 7), scores=(1, 8, 6, 7), offsets=(1, 16, 6, 7), info=(1, 3))
    + layer("rois", "scores offsets info", published("pylayer.proposal_layer", "ProposalLayer", CHOICE))
    + layer("bins", "maps rois", BINS)
    + layer("by", "bins", DENSE)
    + layer("chances", "bins", SCORES)
    + layer("next", "rois by chances info", published("pylayer.stage_bridge_layer", "StageBridgeLayer"))
    + layer("bins2", "maps next", BINS)
    + layer("flat", "bins2", MASKS)
    + layer("sure", "flat", 'type: "Sigmoid"')
    + layer("masks", "sure", published("pylayer.mask_layer", "MaskLayer"))
)
FIELD_NET = (
    inputs(maps=(1, 3, 6, 7), one=(1, 6, 6, 7), two=(1, 6, 3, 4), size=(1, 2))
    + layer("rois", "one two", FIELDS.replace("MORE", "max_post_nms_num: 12"))
    + layer("bins", "maps rois", BINS)
    + layer("by", "bins", DENSE)
    + layer("chances", "bins", SCORES)
    + layer("prob", "chances", 'type: "Softmax"')
    + layer("found", "prob by rois size", FRCNN.replace("MORE", "conf_thr: 0.1").replace("AWARE", "true"))
)
NETS = {"MNC": (MNC_NET, "rois"), "fields": (FIELD_NET, "rois")}


@on_the_stand_in
@pytest.mark.cuda
@pytest.mark.parametrize("name", NETS)
def test_a_net_of_such_regions_is_two_graphs(name, monkeypatch):
    """The regions end the first graph, for only then is their number known; detections are in the second."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    text, read = NETS[name]
    planned, layers_alone = pair(text)
    counts, ready = set(), 0
    for turn in range(12):
        rng = np.random.default_rng(20 + turn % 2)
        arrays = {each: rng.normal(0, 1, planned.blobs[each].shape) for each in planned.inputs}
        arrays |= {each: value for each, value in (("info", INFO), ("size", [[50, 60]])) if each in planned.inputs}
        before = stand_in.counts()
        got = planned.forward((read,), **arrays)
        grown = stand_in.since(before)
        for top, values in layers_alone.forward((read,), **arrays).items():
            close(got[top], values, rtol=1e-5, title=top)
        if not grown["captures"] and grown["replays"] == 2:
            # What is read: the regions, the outputs; and how many regions there are. Detections come with their number.
            outputs = len(planned.outputs)
            wanted = {"launches": 0, "to_device": len(planned.inputs), "to_host": 2 + outputs}
            assert {key: grown[key] for key in wanted} == wanted
            ready += 1
        counts.add(len(got[read]))
    assert ready > 2
    assert (len(counts) == 2) == (name == "fields")
    programs = [program.describe() for program in planned._runner.describe()]
    assert all(program["by themselves"] == {} for program in programs)


@on_the_stand_in
@pytest.mark.cuda
def test_suppression_alone_and_rons_boxes_are_one_graph_and_a_filter_another(monkeypatch):
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    text = (
        inputs(boxes=(40, 4), scores=(40,), objects=(1, 20, 4, 5), classes=(1, 3, 40, 5), by=(1, 40, 4, 5))
        + layer("ron ron_scores", "objects classes by",
                'type: "RONDetection" python_param { param_str: "stride_scale_numcls: [16, 1, 3]" }')
        + layer("chances", "scores", 'type: "Sigmoid"')
        + layer("stay", "boxes chances", 'type: "NMS" nms_param { iou_threshold: 0.2 }')
        + layer("kept", "boxes scores", 'type: "Filter"')
    )  # fmt: skip
    planned, layers_alone = pair(text)
    rng = np.random.default_rng(14)
    for turn in range(8):
        low = rng.uniform(0, 50, (40, 2))
        arrays = {each: rng.normal(0, 0.3, planned.blobs[each].shape) for each in planned.inputs}
        arrays["boxes"] = np.concatenate([low, low + rng.uniform(0, 30, (40, 2))], 1)
        before = stand_in.counts()
        got = planned.forward(**arrays)
        grown = stand_in.since(before)
        for top, values in layers_alone.forward(**arrays).items():
            np.testing.assert_array_equal(got[top], values)
        if turn > 4:  # four outputs, of which the filter's has another number of rows than could be
            wanted = {"captures": 0, "replays": 2, "launches": 0, "to_host": 5}
            assert {key: grown[key] for key in wanted} == wanted
    (program,) = planned._runner.describe()
    assert program.describe()["by themselves"] == {}
