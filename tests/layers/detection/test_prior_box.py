"""PriorBox: sizes, order and place of the boxes, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso.proto.errors import LayerError

MAP, IMAGE = np.zeros((1, 1, 2, 3)), np.zeros((1, 3, 40, 60))


def rig(text: str, shapes=(MAP, IMAGE), **options) -> Rig:
    return Rig(f'type: "PriorBox" prior_box_param {{ {text} }}', shapes, **options)


def boxes(text: str, **options) -> np.ndarray:
    """The boxes of each cell in pixels of the 60 x 40 image: (H, W, P, 4)."""
    top = rig(text, **options).forward()[0]
    return top[0, 0].reshape(2, 3, -1, 4) * [60, 40, 60, 40]


def test_boxes_by_hand(device):
    got = boxes("min_size: 10.9 max_size: 40 aspect_ratio: 4", device=device)
    centre = np.array([30.0, 10, 30, 10])  # of row 0, column 1, with steps of 20
    half = np.array([[5, 5], [10, 10], [10, 2.5], [2.5, 10]])  # 10; sqrt(10 * 40); 10 * 2 x 10 / 2, and flipped
    wanted = centre + np.concatenate([-half, half], axis=1)
    np.testing.assert_allclose(got[0, 1], wanted, rtol=1e-5)
    np.testing.assert_allclose(got[1, 1], wanted + np.array([0, 20, 0, 20]), rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("min_size: 5", 1),
        ("min_size: 5 min_size: 9", 2),
        ("min_size: 5 max_size: 9 aspect_ratio: 2 flip: false", 3),
        ("min_size: 5 aspect_ratio: 1 aspect_ratio: 2 aspect_ratio: 2", 3),
        ("min_size: 5 aspect_ratio: 2 aspect_ratio: 0.5", 3),  # 0.5 is known: it came with the flip of 2
        ("min_size: 5 min_size: 6 max_size: 7 max_size: 8 aspect_ratio: 2 aspect_ratio: 3", 12),
    ],
)
def test_number_of_boxes(text, count):
    assert boxes(text).shape == (2, 3, count, 4)


def test_several_places_in_a_cell(device):
    """julimueller/tl_ssd: a loop over the places, sizes and ratios of a cell, in numbers of the 60 x 40 image."""
    text = """min_size: 7.5 min_size: 12 aspect_ratio: 0.25 aspect_ratio: 4 max_size: 13 max_size: 14
        flip: false offset_w: 0.25 offset_w: 1 offset_h: 0.5 offset_h: 0 offset_h: 0.75"""
    got = boxes(text, device=device)
    for row in range(2):
        for column in range(3):
            wanted = []
            for right in (0.25, 1):
                for down in (0.5, 0, 0.75):
                    x, y = (column + right) * 20, (row + down) * 20
                    for size in (7, 12):
                        for width, height in ((size / 2, size * 2), (size * 2, size / 2)):
                            wanted.append([x - width / 2, y - height / 2, x + width / 2, y + height / 2])
            np.testing.assert_allclose(got[row, column], wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min_size: 5 aspect_ratio: 2 offset_w: 0.5", "offset_h must be from 0 to 1, got"),
        ("min_size: 5 aspect_ratio: 2 offset_w: 1.5 offset_h: 0", "offset_w must be from 0 to 1"),
        ("min_size: 5 offset_w: 0.5 offset_h: 0.5", "none of 1, got"),
        ("min_size: 5 aspect_ratio: 1 aspect_ratio: 2 offset_w: 0.5 offset_h: 0.5", "none of 1, got"),
        ("min_size: 5 aspect_ratio: 2 offset: 0.5 offset_w: 0.5 offset_h: 0.5", "do not go with offset_w"),
        ("fixed_size: 5 density: 1 offset_w: 0.5 offset_h: 0.5", "do not go with fixed_size"),
    ],
)
def test_what_places_refuse(text, message):
    with pytest.raises(LayerError, match=message):
        rig(text)


def test_fixed_sizes_are_as_dense_as_they_say(device):
    """zihaozhang9/FaceBoxes: a loop over the boxes of a cell, in numbers of the 60 x 40 image."""
    got = boxes("fixed_size: 9.5 fixed_size: 30 density: 3 density: 1.9 aspect_ratio: 4 flip: false", device=device)
    for row in range(2):
        for column in range(3):
            wanted = []
            for size, sides in ((9.5, 3), (30, 1)):
                for width, height in ((int(size), int(size)), (2 * size, size / 2)):
                    for down in range(sides):
                        for right in range(sides):
                            apart = int(size / sides)
                            x = (column + 0.5) * 20 - int(size) // 2 + apart / 2 + right * apart
                            y = (row + 0.5) * 20 - int(size) // 2 + apart / 2 + down * apart
                            low = max(0, x - width / 2), max(0, y - height / 2)
                            wanted.append([*low, min(60, x + width / 2), min(40, y + height / 2)])
            np.testing.assert_allclose(got[row, column], wanted, rtol=1e-5, atol=1e-4)


def test_fixed_ratios_stand_for_all_shapes():
    got = boxes("fixed_size: 8 density: 2 fixed_ratio: 0.25 fixed_ratio: 1")[1, 1]
    centres = np.array([[28.0, 28], [32, 28], [28, 32], [32, 32]])
    halves = np.repeat([[2.0, 8.0], [4.0, 4.0]], 4, 0)
    centres = np.tile(centres, (2, 1))
    wanted = np.concatenate([centres - halves, np.minimum(centres + halves, [60, 40])], 1)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fixed_size: 8", "a density for each fixed_size, got 0 for 1"),
        ("density: 2", "a density for each fixed_size, got 1 for 0"),
        ("fixed_size: 8 density: 0.5", "density must be 1 or more"),
        ("fixed_size: -8 density: 1", "every fixed_size must be positive"),
        ("fixed_size: 8 density: 1 min_size: 4", "do not go with fixed_size"),
        ("fixed_size: 8 density: 1 fixed_ratio: 1 aspect_ratio: 2", "either fixed_ratio or aspect_ratio"),
        ("fixed_size: 8 density: 5000", "boxes in a cell"),
    ],
)
def test_wrong_fixed_sizes(text, message):
    with pytest.raises(LayerError, match=message):
        rig(text)


def test_steps_offsets_and_image_size():
    np.testing.assert_allclose(boxes("min_size: 4 step: 8 offset: 0")[1, 2, 0], [14, 6, 18, 10], rtol=1e-5)
    np.testing.assert_allclose(boxes("min_size: 4 step_h: 10 step_w: 4 offset: 1")[0, 0, 0], [2, 8, 6, 12], rtol=1e-5)
    top = rig("min_size: 4 img_h: 8 img_w: 16 step: 4").forward()[0]
    np.testing.assert_allclose(top[0, 0, :4], [0, 0, 4 / 16, 4 / 8], atol=1e-7)
    top = rig("min_size: 4 img_size: 8").forward()[0]  # steps follow from that size: 8 / 3 and 8 / 2
    np.testing.assert_allclose(top[0, 0, :4], [(4 / 3 - 2) / 8, 0, (4 / 3 + 2) / 8, 0.5], rtol=1e-6)


def test_clip_and_variance():
    top = rig("min_size: 50 clip: true variance: 0.1 variance: 0.2 variance: 0.3 variance: 0.4").forward()[0]
    assert (top[0, 0].min(), top[0, 0].max()) == (0, 1)
    np.testing.assert_allclose(top[0, 1].reshape(-1, 4), np.tile([0.1, 0.2, 0.3, 0.4], (6, 1)), rtol=1e-6)
    assert np.unique(rig("min_size: 5").forward()[0][0, 1]) == np.float32(0.1)
    assert np.unique(rig("min_size: 5 variance: 0.3").forward()[0][0, 1]) == np.float32(0.3)


def test_new_shapes_make_new_boxes(device):
    r = rig("min_size: 10", device=device)
    first = r.forward()[0]
    r.top[0].data[...] = 7  # whoever wrote there, forward gives the boxes again
    assert np.array_equal(r.forward()[0], first)
    r.set_bottom(1, np.zeros((1, 3, 80, 60)))
    other = r.forward()[0]
    np.testing.assert_allclose(other[0, 0, :4], [5 / 60, 15 / 80, 15 / 60, 25 / 80], rtol=1e-5)
    r.set_bottom(0, np.zeros((4, 1, 1, 1)))
    assert r.forward()[0].shape == (1, 2, 4)


def test_double_is_double():
    got = rig("min_size: 10 aspect_ratio: 3", dtype=np.float64).forward()[0]
    assert got.dtype == np.float64
    np.testing.assert_allclose(got[0, 0, 4], (10 - 10 * 3**0.5 / 2) / 60, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "min_size is missing"),
        ("min_size: -1", "positive"),
        ("min_size: 5 max_size: 4", "above its min_size"),
        ("min_size: 5 min_size: 6 max_size: 9", "once for each min_size"),
        ("min_size: 5 variance: 1 variance: 1", "1 or 4"),
        ("min_size: 5 variance: 0", "positive"),
        ("min_size: 5 aspect_ratio: 0", "positive"),
        ("min_size: 5 img_size: 5 img_h: 5", "either img_size"),
        ("min_size: 5 img_h: 5", "both be positive"),
        ("min_size: 5 step: 5 step_w: 5", "either step"),
        ("min_size: 5 keras: true", "keras"),
    ],
)
def test_errors(text, message):
    with pytest.raises(LayerError, match=message):
        rig(text)


def test_empty_map_is_an_error():
    with pytest.raises(LayerError, match="no cells"):
        rig("min_size: 5", (np.zeros((1, 1, 0, 3)), IMAGE))


def test_clustered_boxes(device):
    text = 'type: "PriorBoxClustered" prior_box_param { width: 10.5 height: 4.25 width: 3 height: 30 step: 16 variance: 0.3 }'
    top = Rig(text, (MAP, IMAGE), device=device).forward()[0]
    half = np.array([[10.5, 4.25], [3, 30]]) / 2  # not truncated
    for y, x in np.ndindex(2, 3):
        centre = np.array([16 * x + 8, 16 * y + 8])
        wanted = np.concatenate([centre - half, centre + half], 1) / [60, 40, 60, 40]
        np.testing.assert_allclose(top[0, 0].reshape(2, 3, 2, 4)[y, x], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(top[0, 1], 0.3, rtol=1e-6)
    for fields, words in (
        ("width: 3", "as many height"),
        ("width: 3 height: 0", "positive"),
        ("width: 3 height: 3 min_size: 5", "of PriorBox"),
    ):
        with pytest.raises(LayerError, match=words):
            Rig(f'type: "PriorBoxClustered" prior_box_param {{ {fields} }}', (MAP, IMAGE))
