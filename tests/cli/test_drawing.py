"""Boxes and tags on pictures of any size."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from boxpresso.decoders import drawing
from boxpresso.decoders.detections import Detections
from boxpresso.decoders.drawing import draw
from boxpresso.detection import Detection
from boxpresso.drawing import PALETTE, colour, draw_detections, draw_tag, font_for, overlap, shorten, visible


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


def test_boxes_without_an_end():
    """Of weights that are no good, or written by a script: infinite sides end with the picture, NaN is nowhere."""
    image, inf = Image.new("RGB", (100, 100), "white"), float("inf")
    wide = draw_detections(image, [Detection(1, 1.0, (-inf, 20, inf, 60))])
    assert changed(wide, draw_detections(image, [Detection(1, 1.0, (-50, 20, 150, 60))])).sum() == 0
    assert not changed(image, draw_detections(image, [Detection(1, 1.0, (float("nan"), 20, 40, 60))])).any()
    assert visible(Detection(1, 0.9, (1e30, 0, inf, 9)), 100, 100) is None


def test_grey_of_16_bits_is_drawn_on_as_it_is_read():
    values = np.linspace(0, 65535, 200 * 50).astype(np.uint16).reshape(50, 200)
    made = np.asarray(draw_detections(Image.fromarray(values), []))
    np.testing.assert_array_equal(made, np.repeat((values >> 8)[:, :, None], 3, 2))
    assert draw_detections(Image.new("F", (4, 4)), []).mode == "RGB"


def test_a_text_of_any_length_is_shortened_in_few_steps():
    font = ImageFont.load_default(14)
    steps = []

    class Counted:
        def getlength(self, text: str) -> float:
            steps.append(text)
            return font.getlength(text)

    short = shorten("name " * 2000, Counted(), 90)
    assert 80 < font.getlength(short) <= 90
    assert len(steps) < 20
    for width in range(0, 90, 7):  # the longest that fits
        text = shorten("abcdefghijkl", font, width)
        fits = [i for i in range(1, 13) if font.getlength("abcdefghijkl"[:i] + ".." * (i < 12)) <= width]
        assert text == ("abcdefghijkl"[: fits[-1]] + ".." * (fits[-1] < 12) if fits else "")


@pytest.mark.parametrize("far", [1e12, float("inf")])
def test_points_far_away_take_no_time(far):
    """Of weights that are no good; a line to 1e9 took minutes."""
    image = Image.new("RGB", (100, 100), "white")
    box, score, label = np.array([[10, 10, 60, 60]], np.float32), np.ones(1, np.float32), np.array([1])
    points = np.array([[[10, 10], [far, 10], [60, 60], [10, 60]]], np.float32)
    outlined = draw(image, Detections(box, score, label, quadrilaterals=points))
    assert tuple(np.asarray(outlined)[10, 90]) == colour(1)  # along the upper side, to the right
    dotted = draw(image, Detections(box, score, label, landmarks=points, links=((2, 3),)))
    assert tuple(np.asarray(dotted)[60, 35]) == colour(1)


def test_names_with_signs_that_the_small_font_lacks(monkeypatch):
    """Pillow's own font has the signs of ASCII alone: "ü" was an empty frame."""
    assert font_for(["cat"], 20).getname() == ImageFont.load_default(20).getname()  # so are all tags without such names
    monkeypatch.setattr(drawing, "system_fonts", tuple)
    assert font_for(["Tür"], 20).getname() == ImageFont.load_default(20).getname()  # nothing better on this system


def test_names_in_a_font_of_the_system():
    drawing.system_fonts.cache_clear()
    if not drawing.system_fonts():
        pytest.skip("none of the fonts of drawing.FONTS is installed")
    font = font_for(["Tür", "ñandú", "Łódź"], 20)
    absent = bytes(font.getmask("\uffff"))
    assert all(bytes(font.getmask(sign)) != absent for sign in "ürñúŁóź")
    image = Image.new("RGB", (100, 100), "white")
    one, two = (draw_detections(image, [Detection(1, 0.9, (10, 40, 60, 60))], {1: name}) for name in ("Tür", "Tér"))
    assert changed(one, two).any()
