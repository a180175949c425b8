"""Boxes and tags on pictures of any size."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from boxpresso.detection import Detection
from boxpresso.drawing import PALETTE, colour, draw_detections, draw_tag, overlap, shorten, visible


def changed(before: Image.Image, after: Image.Image) -> np.ndarray:
    return (np.asarray(before.convert("RGB")) != np.asarray(after)).any(axis=2)


def test_a_box_is_where_the_detection_is():
    image = Image.new("RGB", (200, 100), "white")
    made = draw_detections(image, [Detection(1, 0.9, (50, 60, 150, 90))], {1: "cat"})
    pixels = np.asarray(made)
    for x, y in ((50, 75), (149, 75), (100, 60), (100, 89)):
        assert tuple(pixels[y, x]) == colour(1), (x, y)
    assert tuple(pixels[75, 100]) == (255, 255, 255)  # inside
    assert tuple(pixels[95, 180]) == (255, 255, 255)  # outside
    assert np.asarray(image).min() == 255  # the picture itself is as it was


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (20, 15), (300, 7), (640, 480), (4000, 3000)])
def test_any_size_of_picture(size):
    image = Image.new("L", size, 128)
    boxes = [(0, 0, *size), (-5, -9, size[0] * 2, size[1] * 2), (size[0] * 0.9, size[1] * 0.9, *size)]
    made = draw_detections(
        image, [Detection(i, 0.9, box) for i, box in enumerate(boxes)], {0: "a long name of a class"}
    )
    assert made.size == size
    assert made.mode == "RGB"
    assert changed(image, made).any()


def test_lines_and_letters_grow_with_the_picture():
    shares = []
    for scale in (3, 12):  # below that, lines are thicker by the rounding to whole pixels
        image = Image.new("RGB", (400 * scale, 300 * scale), "white")
        box = tuple(scale * v for v in (100, 100, 300, 250))
        shares.append(changed(image, draw_detections(image, [Detection(1, 0.9, box)])).mean())
    assert shares[1] == pytest.approx(shares[0], rel=0.25)


def test_what_is_outside_is_not_drawn():
    image = Image.new("RGB", (100, 100), "white")
    outside = [
        Detection(1, 1.0, box) for box in ((-50, 0, -10, 50), (100, 10, 150, 50), (10, 200, 20, 300), (5, 5, 5, 5))
    ]
    assert not changed(image, draw_detections(image, outside)).any()
    assert visible(Detection(1, 1.0, (-5, 90.5, 20.2, 130)), 100, 100) == (0, 90, 21, 100)


def test_the_best_detection_lies_on_top():
    image = Image.new("RGB", (300, 300), "white")
    box = (100.0, 100.0, 200.0, 200.0)
    for labels in ((1, 2), (2, 1)):
        detections = [Detection(label, 0.9 if label == 2 else 0.4, box) for label in labels]
        assert np.asarray(draw_detections(image, detections))[150, 100].tolist() == list(colour(2))


def test_tags_stay_inside_and_apart():
    image = Image.new("RGB", (300, 200), "white")
    drawing, font = ImageDraw.Draw(image), ImageFont.load_default(12)
    taken: list[tuple[int, int, int, int]] = []
    for x, y in ((0, 0), (280, 0), (0, 180), (280, 180), (100, 90), (100, 92), (105, 90), (-20, 50)):
        draw_tag(drawing, (x, y, x + 40, y + 30), "aeroplane 100%", font, colour(1), taken)
    assert len(taken) == 8
    for i, tag in enumerate(taken):
        assert 0 <= tag[0] < tag[2] <= 300
        assert 0 <= tag[1] < tag[3] <= 200
        assert not any(overlap(tag, other) for other in taken[:i])


def test_a_text_too_wide_is_shortened():
    font = ImageFont.load_default(12)
    for width in (200, 60, 30, 5):
        text = shorten("a very long name of a class 99%", font, width)
        assert font.getlength(text) <= width
    assert shorten("short", font, 100) == "short"
    assert shorten("a very long name", font, 60).endswith("..")


def test_each_class_has_its_colour():
    assert len({colour(label) for label in range(1, len(PALETTE) + 1)}) == len(PALETTE)
    assert colour(1) == colour(1 + len(PALETTE)) == (0xE6, 0x9F, 0x00)
