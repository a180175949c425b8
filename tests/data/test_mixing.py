"""Mosaic and mixup: boxes stay on their objects, looked for in the pixels."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso.data.errors import DataError
from boxpresso.data.mixing import mixup, mosaic
from boxpresso.proto import TransformationParameter, parse_text

CENTER = parse_text("emit_constraint { emit_type: CENTER }", TransformationParameter()).emit_constraint


def sample(label: int, rows: int, columns: int, box: tuple[int, int, int, int], channels: int = 3):
    """A black picture with one object (xmin, ymin, xmax, ymax in pixels) whose brightness is 50 times its label."""
    picture = np.zeros((rows, columns, channels), np.uint8)
    left, top, right, bottom = box
    picture[top:bottom, left:right] = 50 * label
    corners = [left / columns, top / rows, right / columns, bottom / rows]
    return picture, np.array([[label, 0, *corners, 0]], np.float32)


SAMPLES = [
    sample(1, 90, 120, (20, 20, 70, 60)), sample(2, 90, 120, (10, 30, 100, 80)), sample(3, 180, 240, (60, 40, 200, 120)),
    sample(4, 60, 60, (5, 5, 50, 50)),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_mosaic_has_its_boxes_where_its_objects_are(seed):
    picture, boxes = mosaic(SAMPLES, np.random.default_rng(seed))
    assert picture.shape == SAMPLES[0][0].shape
    seen = np.zeros(picture.shape[:2], bool)
    for label, _, left, top, right, bottom, _ in boxes:
        y, x = (slice(round(a * side), round(b * side)) for a, b, side in ((top, bottom, 90), (left, right, 120)))
        inner = picture[y.start + 2 : y.stop - 2, x.start + 2 : x.stop - 2]
        assert (inner == 50 * label).all()
        seen[max(y.start - 2, 0) : y.stop + 2, max(x.start - 2, 0) : x.stop + 2] = True
    assert not picture[~seen].any()  # nothing without a box


@pytest.mark.parametrize("most", [(40, 30), (1000, 30), (40, 1000), (1000, 1000)])
def test_a_mosaic_is_no_larger_than_asked_for(most):
    whole, own = mosaic(SAMPLES, np.random.default_rng(3))
    small, boxes = mosaic(SAMPLES, np.random.default_rng(3), None, most)
    rows, columns = SAMPLES[0][0].shape[:2]
    assert small.shape[:2] == (min(rows, most[1]), min(columns, most[0]))
    assert len(boxes) == len(own)
    np.testing.assert_allclose(boxes, own, atol=0.05)  # places are whole pixels
    assert abs(small.mean() - whole.mean()) < 10


def test_objects_of_a_mosaic_keep_their_sizes():
    """An object that lies whole in its part has the part of the picture's sides that it had before."""
    whole = 0
    for seed in range(40):
        _, boxes = mosaic([sample(1, 200, 200, (90, 90, 110, 120))] * 4, np.random.default_rng(seed))
        sizes = (boxes[:, 4:6] - boxes[:, 2:4]) * 200
        assert (sizes < [20.5, 30.5]).all()
        whole += int((sizes > [19.5, 29.5]).all(1).sum())
    assert whole > 40


def test_an_object_whose_centre_a_mosaic_leaves_out():
    """By CENTER of an emit_constraint it has no box there, as in a patch."""
    counts = [
        [len(mosaic(SAMPLES, np.random.default_rng(seed), emit)[1]) for seed in range(40)] for emit in (None, CENTER)
    ]
    assert all(kept <= all_ for all_, kept in zip(*counts))
    assert sum(counts[1]) < sum(counts[0])


def test_a_mosaic_of_small_pictures_and_of_none_with_objects():
    rng, empty = np.random.default_rng(0), np.zeros((0, 7), np.float32)
    for sides in ((1, 1), (1, 7), (2, 2)):
        picture, boxes = mosaic([(np.full((*sides, 1), 9, np.uint8), empty)] * 4, rng)
        assert picture.shape == (*sides, 1)
        assert (picture == 9).all()
        assert boxes.shape == (0, 7)


def test_mixup_is_a_sum_of_both_and_has_the_objects_of_both():
    shares = []
    for seed in range(20):
        picture, boxes = mixup(SAMPLES[:2], np.random.default_rng(seed))
        share = picture[25, 21, 0] / 50  # of the first alone
        shares.append(share)
        np.testing.assert_allclose(picture, SAMPLES[0][0] * share + SAMPLES[1][0] * (1 - share), atol=1.6)
        np.testing.assert_array_equal(boxes, np.concatenate([SAMPLES[0][1], SAMPLES[1][1]]))
    assert min(shares) > 0.2
    assert max(shares) < 0.8
    assert len(set(shares)) > 5


def test_mixup_of_another_size():
    picture, _ = mixup([SAMPLES[0], SAMPLES[3]], np.random.default_rng(1))
    assert picture.shape == SAMPLES[0][0].shape
    assert picture[85, 118, 0] == 0  # black in both


@pytest.mark.parametrize("mix", [lambda a, rng: mosaic([*a, *a], rng), mixup])
def test_pictures_of_other_channels(mix):
    with pytest.raises(DataError, match=r"of 1 and 3 channels do not go into one; give .* force_color: true"):
        mix([SAMPLES[0], sample(1, 9, 9, (0, 0, 5, 5), channels=1)], np.random.default_rng(0))
