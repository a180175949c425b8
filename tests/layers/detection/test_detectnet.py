"""DetectNet: augmentation, maps of coverage, boxes grouped from a grid, and what is right of them; by loops and matrices."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from harness import Rig
from shared import need

from boxpresso import LayerError, Net
from boxpresso.data.detectnet import cubic, group_rectangles, recolor, turned, turned_size
from boxpresso.layers.core import run_layer

SIZES = "image_size_x: 64 image_size_y: 48 stride: 8"


def labels(*boxes: tuple[float, ...], rows: int = 6) -> np.ndarray:
    """(1, 1, rows, 16) of x, y, width, height, class."""
    table = np.zeros((1, 1, rows, 16), np.float32)
    table[0, 0, 0, :2] = len(boxes), 16
    for i, (x, y, w, h, kind) in enumerate(boxes, 1):
        table[0, 0, i, :6] = x, y, w, h, 0, kind
    return table


BOXES = [
    (10, 6, 20, 25, 1),
    (-6, 30, 15, 30, 2),
    (40, 2, 9, 7, 1),
    (70, 5, 20, 20, 1),
    (14, 8, 18, 18, 3),
    (12, 20, 0, 5, 1),
]


def maps_of(
    boxes, grid_min: bool, limit: float, scale: float, norm: bool, crop: bool, known: dict[int, int]
) -> np.ndarray:
    """The maps, cell by cell, of an image of 64 x 48 with cells of 8 pixels."""
    out = np.zeros((8 + max(known.values()) + 1, 6, 8))
    for x, y, w, h, kind in boxes:
        x2, y2 = x + w, y + h
        if crop:
            x, y, x2, y2 = max(x, 0), max(y, 0), min(x2, 64), min(y2, 48)
        if kind not in known or x2 - x <= 0 or y2 - y <= 0:
            continue
        wide, high = (x2 - x) * scale, (y2 - y) * scale
        wide, high = (
            (min(x2 - x, max(limit, wide)), min(y2 - y, max(limit, high)))
            if grid_min
            else (min(limit, wide), min(limit, high))
        )
        cx, cy = (x + x2) / 2, (y + y2) / 2
        for r, c in itertools.product(range(6), range(8)):
            across = min(c * 8 + 8, cx + wide / 2) - max(c * 8, cx - wide / 2)
            down = min(r * 8 + 8, cy + high / 2) - max(r * 8, cy - high / 2)
            if across <= 0 or down <= 0 or across * down / 64 <= 1.2e-7:
                continue
            value = 64 / (wide * high)
            out[:8, r, c] = [
                1,
                x - c * 8,
                y - r * 8,
                x2 - c * 8,
                y2 - r * 8,
                1 / (x2 - x),
                1 / (y2 - y),
                value if norm else max(1, value),
            ]
            out[8:, r, c] = 0
            out[8 + known[kind], r, c] = 1
    return out


@pytest.mark.parametrize(("grid_min", "norm", "crop"), [(True, True, True), (False, False, True), (True, False, False)])
def test_coverage(grid_min, norm, crop, device):
    text = f"""type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} scale_cvg: 0.5 obj_norm: {str(norm).lower()}
        gridbox_type: {"GRIDBOX_MIN" if grid_min else "GRIDBOX_MAX"} min_cvg_len: 12 max_cvg_len: 12 crop_bboxes: {str(crop).lower()}
        object_class: {{ src: 1 dst: 0 }} object_class: {{ src: 3 dst: 0 }} object_class: {{ src: 2 dst: 2 }} }}"""
    rig = Rig(text, [np.zeros((1, 3, 48, 64)), labels(*BOXES, rows=9)], tops=2, phase="TEST", device=device)
    wanted = maps_of(BOXES, grid_min, 12, 0.5, norm, crop, {1: 0, 3: 0, 2: 2})
    assert wanted[8].any()
    assert wanted[10].any()
    np.testing.assert_allclose(rig.forward()[1][0], wanted, rtol=1e-5, atol=1e-5)


def weights(count: int, size: int) -> np.ndarray:
    """The matrix of cubic convolution along one axis."""
    out = np.zeros((count, size))
    for i in range(count):
        at = (i + 0.5) * size / count - 0.5
        for k in range(math.floor(at) - 1, math.floor(at) + 3):
            d = abs(at - k)
            value = 1.25 * d**3 - 2.25 * d**2 + 1 if d <= 1 else -0.75 * (d**3 - 5 * d**2 + 8 * d - 4)
            out[i, min(max(k, 0), size - 1)] += value
    return out


def test_in_test_images_are_resized_and_boxes_too():
    image = np.random.default_rng(1).uniform(0, 255, (1, 3, 30, 50)).astype(np.float32)
    text = f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} }} transform_param {{ mean_value: 100 mean_value: 110 mean_value: 120 }}'
    shown, maps = run_layer(text, image, labels((10, 5, 20, 20, 1)), tops=2, phase="TEST")
    mean = np.array([100, 110, 120]).reshape(3, 1, 1)
    wanted = np.einsum("yh,chw,xw->cyx", weights(48, 30), image[0] - mean, weights(64, 50))
    np.testing.assert_allclose(shown[0], wanted, rtol=1e-4, atol=1e-3)
    moved = (10 * 64 / 50, 5 * 48 / 30, 20 * 64 / 50, 20 * 48 / 30, 1)
    np.testing.assert_allclose(maps[0], maps_of([moved], False, 50, 0.5, False, True, {1: 0}), rtol=1e-4, atol=1e-4)


def test_in_train_crops_and_mirrors_are_drawn_and_boxes_follow():
    """Of each pass: which crop of which side it is, found by its pixels; then its maps must be those of the moved box."""
    image = np.random.default_rng(2).integers(0, 256, (1, 3, 56, 70)).astype(np.float32)
    never = "hue_rotation_prob: 0 desaturation_prob: 0 scale_prob: 0 rotation_prob: 0"
    text = f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} }} detectnet_augmentation_param {{ {never} flip_prob: 0.5 crop_prob: 0.8 shift_x: 4 shift_y: 2 }}'
    rig, seen = Rig(text, [image, labels((20, 10, 21, 18, 1))], tops=2, phase="TRAIN"), set()
    padded = np.pad(image[0], ((0, 0), (4, 4), (4, 4)))
    for _ in range(30):
        shown, maps = rig.forward()
        crops = [
            (step, x, y)
            for step in (1, -1) for x in range(-4, 11) for y in range(-4, 13)
            if np.allclose(padded[:, :, ::step][:, y + 4 : y + 52, x + 4 : x + 68], shown[0], atol=1e-2)
        ]  # fmt: skip
        assert len(crops) == 1
        step, x, y = crops[0]
        box = (20 if step == 1 else 70 - 20 - 21 - 1, 10)
        wanted = maps_of([(box[0] - x, box[1] - y, 21, 18, 1)], False, 50, 0.5, False, True, {1: 0})
        np.testing.assert_allclose(maps[0], wanted, rtol=1e-4, atol=1e-4)
        seen.add(crops[0])
    assert {step for step, _, _ in seen} == {1, -1}
    assert len(seen) > 10
    again = Rig(text, [image, labels((20, 10, 21, 18, 1))], tops=2, phase="TRAIN")
    other = Rig(text, [image, labels((20, 10, 21, 18, 1))], tops=2, phase="TRAIN")
    np.testing.assert_array_equal(again.forward()[0], other.forward()[0])


def test_in_train_sizes_turns_and_colours_are_drawn():
    """An image of one colour keeps its colour where it is turned; the box's middle follows a bright spot."""
    image = np.zeros((1, 3, 60, 80), np.float32)
    image[:, :, 26:34, 36:44] = 200
    more = "flip_prob: 0 hue_rotation_prob: 0 desaturation_prob: 0 crop_prob: 0 scale_prob: 1 scale_min: 0.8 scale_max: 1.2 rotation_prob: 1 max_rotate_degree: 20"
    rig = Rig(
        f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} crop_bboxes: false }} detectnet_augmentation_param {{ {more} }}',
        [image, labels((36, 26, 8, 8, 1))], tops=2, phase="TRAIN",
    )  # fmt: skip
    sums = []
    for _ in range(12):
        shown, maps = rig.forward()
        bright = shown[0, 0] * (shown[0, 0] > 0)
        y, x = ((bright.sum(1 - axis) * np.arange(side)).sum() / bright.sum() for axis, side in ((0, 48), (1, 64)))
        r, c = np.argwhere(maps[0, 0] == 1)[0]
        middle = (maps[0, [1, 2], r, c] + maps[0, [3, 4], r, c]) / 2 + [c * 8, r * 8]
        np.testing.assert_allclose(middle, [x + 0.5, y + 0.5], atol=1.1)
        sums.append(bright.sum() / (64 * 200))
    assert 0.6 < min(sums) < 0.95
    assert 1.05 < max(sums) < 1.6


def test_colours():
    import colorsys

    values = np.random.default_rng(3).random((4, 5, 3)).astype(np.float32)
    for hue, saturation in ((15.0, 1.0), (-170.0, 0.6)):
        wanted = np.zeros_like(values)
        for at in np.ndindex(4, 5):
            h, s, v = colorsys.rgb_to_hsv(*values[at][::-1].tolist())
            wanted[at] = colorsys.hsv_to_rgb((h + hue / 360) % 1, s * saturation, v)[::-1]
        np.testing.assert_allclose(recolor(values, hue, saturation), wanted, atol=1e-5)
    np.testing.assert_allclose(
        cubic(values, 9, 3), np.einsum("yh,hwc,xw->yxc", weights(3, 4), values, weights(9, 5)), atol=1e-5
    )
    assert turned_size(64, 48, 90.0)[0] in (49, 50)
    np.testing.assert_allclose(turned(np.full((48, 64, 3), 7, np.float32), 30.0)[30:34, 38:42], 7, rtol=1e-6)


# Boxes


def test_groups():
    """By hand: groups that hang together by a chain, a small one inside a larger one, too few, and threshold 0."""
    chain = [[10 + i, 10, 20, 20] for i in range(5)]
    assert group_rectangles(chain, 1, 0.1) == [([12, 10, 20, 20], 5)]
    assert group_rectangles(chain, 5, 0.1) == []
    assert group_rectangles(chain, 0, 0.1) == [(row, 1) for row in chain]
    assert group_rectangles([], 1, 0.1) == []
    inner = [[16, 16, 6, 6]] * 2
    assert group_rectangles([*chain, *inner], 1, 0.1) == [([12, 10, 20, 20], 5)]  # two are few inside five
    assert group_rectangles([*chain, *[[60, 60, 6, 6]] * 2], 1, 0.1) == [([12, 10, 20, 20], 5), ([60, 60, 6, 6], 2)]
    assert [group for group, _ in group_rectangles([*chain[:2], *inner, *inner], 1, 0.1)] == [
        [10, 10, 20, 20],
        [16, 16, 6, 6],
    ]


def test_groups_as_opencv_has_them():
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    if not hasattr(cv2, "groupRectangles"):
        pytest.skip(f"OpenCV {cv2.__version__} has no groupRectangles")
    rng = np.random.default_rng(4)
    for _ in range(60):
        base = rng.integers(0, 60, (6, 4)) + np.array([0, 0, 15, 15])
        rows = (base[rng.integers(0, 6, 40)] + rng.integers(-3, 4, (40, 4))).tolist()
        threshold, eps = int(rng.integers(0, 4)), float(rng.choice([0.02, 0.1, 0.2, 0.5]))
        boxes, counts = cv2.groupRectangles(rows, threshold, eps)
        wanted = [(list(map(int, box)), int(count)) for box, count in zip(boxes, np.ravel(counts))]
        assert group_rectangles(rows, threshold, eps) == wanted


def python(module: str, layer: str, param: str = "") -> str:
    return f'type: "Python" python_param {{ module: "caffe.layers.detectnet.{module}" layer: "{layer}" param_str: "{param}" }}'


def test_boxes_of_a_grid_and_what_is_right(device):
    """Labels made by the transformation come back as boxes; detections near them are judged."""
    boxes = [(8, 8, 24, 20, 1), (40, 20, 16, 24, 2)]
    text = f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} scale_cvg: 1 object_class: {{ src: 1 dst: 0 }} object_class: {{ src: 2 dst: 1 }} }}'
    _, maps = run_layer(text, np.zeros((1, 3, 48, 64)), labels(*boxes), tops=2, phase="TEST", device=device)
    cover, corners = maps[:, 8:], maps[:, 1:5]
    truth = run_layer(python("clustering", "ClusterGroundtruth", "64, 48, 8, 2"), cover, corners, tops=2, device=device)
    assert [v.shape for v in truth] == [(1, 50, 5)] * 2
    for kind, (x, y, w, h, _) in enumerate(boxes):
        assert truth[kind][0, :2].tolist() == [[x, y, x + w, y + h, 0], [0] * 5]
    noisy = corners.copy()
    noisy[:, 0] += 0.75  # whole pixels are cut: 8.75 is 8, its width 23.25 is 23
    clusters = run_layer(
        python("clustering", "ClusterDetections", "64,48,8,0.5,1,0.1,10,2"), cover, noisy, tops=2, device=device
    )
    cells = [int((cover[0, kind] > 0).sum()) for kind in (0, 1)]
    for kind, (x, y, w, h, _) in enumerate(boxes):
        np.testing.assert_allclose(clusters[kind][0, 0], [x, y, x + w - 1, y + h, np.float16(math.log(cells[kind]))])
    none = run_layer(
        python("clustering", "ClusterDetections", "64,48,8,0.5,1,0.1,30,2"), cover, noisy, tops=2, device=device
    )
    assert not any(v.any() for v in none)  # all are lower than 30
    extra = clusters[0].copy()
    extra[0, 1] = [0, 30, 20, 46, 1]
    judged = run_layer(python("mean_ap", "ScoreDetections"), truth[0], extra, device=device)
    assert judged[0, :3].tolist() == [[8, 8, 31, 28, 1], [0, 30, 20, 46, 2], [0] * 5]
    missed = run_layer(python("mean_ap", "ScoreDetections"), truth[0], none[0], device=device)
    assert missed[0, :2].tolist() == [[8, 8, 32, 28, 3], [0] * 5]
    both = np.concatenate([judged, missed])
    precision = [v.item() for v in run_layer(python("mean_ap", "mAP", "64,48,8"), both, tops=3, device=device)]
    assert precision == [25.0, 50.0, 50.0]
    assert [v.item() for v in run_layer(python("mean_ap", "mAP"), np.zeros((1, 50, 5)), tops=3, device=device)] == [
        0,
        0,
        0,
    ]


def test_more_than_fifty_boxes_and_large_numbers():
    cover, corners = np.ones((1, 1, 8, 8)), np.zeros((1, 4, 8, 8))
    corners[0, 2:] = 8
    truth = run_layer(python("clustering", "ClusterGroundtruth", "64, 64, 8"), cover, corners)
    assert (truth != 0).any(2).sum() == 50
    judged = run_layer(python("mean_ap", "ScoreDetections"), truth, truth + np.array([100, 100, 100, 100, 0]))
    assert judged.shape == (1, 100, 5)
    assert (judged[0, :, 4] == 2).sum() == 50
    corners[0, :, 0, 0], corners[0, :, 0, 1] = [1200.3, 3, 2047, 900.3], np.nan
    wide = run_layer(python("clustering", "ClusterGroundtruth", "64, 64, 8"), cover[:, :, :, :], corners)
    assert wide[0, 0].tolist() == [1200, 3, 2047, 900.5, 0]  # as float16
    safe = run_layer(python("clustering", "ClusterDetections", "64,64,8,0.5,0,0.1,0"), cover, corners * 1e30)
    assert np.isfinite(safe).all()


@pytest.mark.parametrize(
    ("text", "bottoms", "match"),
    [
        (f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} }}', [np.zeros((1, 1, 4, 4)), labels()], "must have 3 channels"),
        (f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} }}', [np.zeros((2, 3, 4, 4)), labels()], "has 2 images"),
        (f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} }}', [np.zeros((1, 3, 4, 4)), np.zeros((1, 1, 2, 15))], "must have rows of 16"),
        (f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} }}', [np.zeros((1, 3, 4, 4)), np.ones((1, 1, 2, 16))], "say that a row has 1 numbers"),
        (f'type: "DetectNetTransformation" detectnet_groundtruth_param {{ {SIZES} }}', [np.zeros((1, 3, 4, 4)), labels(*BOXES * 2, rows=20)[:, :, :9]], "say 12 boxes, there are 8 rows"),
        ('type: "DetectNetTransformation" transform_param { mean_file: "gone.binaryproto" }', [np.zeros((1, 3, 4, 4)), labels()], "gone.binaryproto"),
        (python("clustering", "ClusterDetections", "64,48"), [np.zeros((1, 1, 6, 8)), np.zeros((1, 4, 6, 8))], "param_str must be 'image_size_x, image_size_y, stride"),
        (python("clustering", "ClusterGroundtruth", "64,48,8,2"), [np.zeros((1, 2, 6, 8)), np.zeros((1, 4, 6, 8))], "needs a top for each, got 1"),
        (python("clustering", "ClusterGroundtruth", "64,48,8"), [np.zeros((1, 1, 5, 8)), np.zeros((1, 4, 5, 8))], "has 6 x 8 cells, got a grid of"),
        (python("mean_ap", "mAP"), [np.zeros((1, 50, 4))], "must have rows of 5"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(text, bottoms, match):
    tops = 2 if "Transformation" in text else 3 if "mAP" in text else 1
    with pytest.raises(LayerError, match=match):
        Rig(text, bottoms, tops=tops, phase="TEST").forward()


@pytest.mark.parametrize("name", ["detectnet_network", "detectnet_network-2classes"])
@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_the_published_nets_build(name, phase):
    path = need(f"corpus/NVIDIA+caffe/examples/kitti/{name}.prototxt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = Net(path, device="cpu", phase=phase, stages=["val"], data="shapes", lazy=True)
    assert net.blobs["transformed_label"].shape[1] == (10 if "2" in name else 9)
