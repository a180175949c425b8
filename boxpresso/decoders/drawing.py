"""Boxes and their labels, drawn on a copy of a picture of any size."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as pillow
from PIL import ImageDraw, ImageFont

from ..data.image import eight_bits
from .rows import Boxed, Rows

if TYPE_CHECKING:
    from PIL.Image import Image

# Told apart with any colour vision: Okabe and Ito's (https://jfly.uni-koeln.de/color), then Paul Tol's "muted".
PALETTE = (
    "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7",
    "#88ccee", "#cc6677", "#117733", "#ddcc77", "#332288", "#44aa99", "#882255", "#999933", "#aa4499",
)  # fmt: skip
CROWD = 12  # boxes
# Of Linux, Windows and macOS: with accents, Greek and Cyrillic, then with Chinese, Japanese and Korean.
FONTS = (
    "DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "arial.ttf", "Arial.ttf", "NotoSansCJK-Regular.ttc",
    "wqy-microhei.ttc", "DroidSansFallbackFull.ttf", "msyh.ttc", "msgothic.ttc", "malgun.ttf", "PingFang.ttc",
    "Arial Unicode.ttf",
)  # fmt: skip
Corners = tuple[int, int, int, int]  # left, top, right, bottom; the last two are outside


def colour(label: int) -> tuple[int, int, int]:
    """The colour of a class; label 1 has the first, as 0 is the background."""
    code = PALETTE[(label - 1) % len(PALETTE)]
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def draw(image: Image, detections: Rows) -> Image:
    """A copy of a picture with its detections drawn; `boxpresso.drawing.draw_detections` says how."""
    if detections.picture is not None:
        return pillow.fromarray(detections.picture).convert("RGB")
    picture = (image if image.mode == "F" else eight_bits(image, "to draw on")).convert("RGB")
    if detections.masks is not None:
        picture = draw_masks(picture, detections)
    drawing = ImageDraw.Draw(picture)
    side = math.sqrt(picture.width * picture.height)
    line = max(1, round(side / 190))
    edge = max(1, line // 4)
    seen = [(i, frame) for i, box in enumerate(detections.boxes.tolist()) if (frame := inside(box, *picture.size))]
    crowd = len(seen) > CROWD and detections.kind == "boxes"
    font = font_for(map(detections.label, range(len(detections))), letters(side, [frame for _, frame in seen], crowd))
    if detections.kind == "classes":
        draw_classes(drawing, detections, font)
        return picture
    seen.sort(key=lambda pair: detections.scores[pair[0]])
    for i, frame in seen:
        fill = colour(int(detections.class_ids[i]))
        if detections.quadrilaterals is not None:
            draw_outline(drawing, detections.quadrilaterals[i].tolist(), fill, line, edge)
        elif detections.kind == "boxes":
            draw_frame(drawing, frame, fill, line, edge)
        if detections.landmarks is not None:
            draw_landmarks(drawing, detections.landmarks[i].tolist(), detections.links, fill, frame, line)
    alone = len(set(detections.class_ids.tolist())) == 1
    taken: list[Corners] = []
    for i, (left, top, right, bottom) in reversed(seen):  # the best detection chooses its place first
        outer = (left - edge, top - edge, right + edge, bottom + edge)
        text = f"{detections.label(i)} {detections.scores[i]:.0%}"
        if crowd and alone:
            text = f"{detections.scores[i]:.0%}"
        draw_tag(drawing, outer, text, font, colour(int(detections.class_ids[i])), taken)
    return picture


def letters(side: float, frames: list[Corners], crowd: bool) -> float:
    """The size of letters in pixels, for a picture of `side` pixels squared: less where many small boxes would be covered."""
    size = max(10.0, side / 32)
    if not crowd:
        return size
    middle = sorted(bottom - top for _, top, _, bottom in frames)[len(frames) // 2]
    return max(min(10.0, size), min(size, 0.4 * middle))


def font_for(texts: Iterable[str], size: float) -> ImageFont.FreeTypeFont:
    """Pillow's own font, which has the signs of ASCII; where texts have others, that of `FONTS` which has most of these."""
    own = ImageFont.load_default(size)
    signs = {sign for text in texts for sign in text if not sign.isascii()}
    if not signs or not isinstance(own, ImageFont.FreeTypeFont):
        return own

    def lacks(font: ImageFont.FreeTypeFont) -> int:
        absent = font.getmask("\uffff")  # what stands for a sign that a font lacks
        masks = (font.getmask(sign) for sign in signs)
        return sum(mask.size == absent.size and bytes(mask) == bytes(absent) for mask in masks)

    return min((own, *(ImageFont.truetype(name, size) for name in system_fonts())), key=lacks)


@cache
def system_fonts() -> tuple[str, ...]:
    """Those of `FONTS` that this system has, where Pillow finds them."""
    there = []
    for name in FONTS:
        with suppress(OSError):
            there.append(str(ImageFont.truetype(name, 10).path))
    return tuple(there)


def visible(detection: Boxed, width: int, height: int) -> Corners | None:
    """The pixels of a detection's box that are in the picture, or None."""
    return inside(detection.box, width, height)


def inside(box: Sequence[float], width: int, height: int) -> Corners | None:
    """The pixels of a box that are in the picture, or None."""
    if any(map(math.isnan, box)):
        return None
    x1, y1, x2, y2 = (
        min(max(-1.0, at), most) for at, most in zip(box, (width + 1, height + 1) * 2)
    )  # it may be infinite
    left, top = max(0, math.floor(min(x1, x2))), max(0, math.floor(min(y1, y2)))
    right, bottom = min(width, math.ceil(max(x1, x2))), min(height, math.ceil(max(y1, y2)))
    return (left, top, right, bottom) if left < right and top < bottom else None


def draw_masks(picture: Image, detections: Rows) -> Image:
    """The picture with the pixels of each mask mixed with the colour of its class, the best on top."""
    pixels = np.asarray(picture, np.float32).copy()
    masks = np.zeros((0, 1, 1), bool) if detections.masks is None else detections.masks
    for i in np.argsort(detections.scores, kind="stable"):
        pixels[masks[i]] = 0.45 * pixels[masks[i]] + 0.55 * np.array(colour(int(detections.class_ids[i])))
    return pillow.fromarray(pixels.round().astype(np.uint8))


def draw_outline(
    drawing: ImageDraw.ImageDraw, corners: list[list[float]], fill: tuple[int, int, int], line: int, edge: int
) -> None:
    """A coloured line around four corners between two dark ones; the side from the first to the second, the top, is thicker."""
    points = near(drawing, corners)
    dark = tuple(value // 4 for value in fill)
    for shade, more in ((dark, 2 * edge), (fill, 0)):
        drawing.line([*points, points[0], points[1]], fill=shade, width=line + more, joint="curve")
        drawing.line(points[:2], fill=shade, width=2 * line + more)


def near(drawing: ImageDraw.ImageDraw, points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Points brought to within ten pictures of the picture: Pillow walks along a line pixel by pixel, to 1e9 for minutes."""
    far = 10 * max(drawing.im.size)
    return [(min(max(-far, x), far), min(max(-far, y), far)) for x, y in points]


def draw_landmarks(
    drawing: ImageDraw.ImageDraw,
    points: list[list[float]],
    links: Sequence[tuple[int, int]],
    fill: tuple[int, int, int],
    frame: Corners,
    line: int,
) -> None:
    """Dots at the landmarks, and lines along the links; many points in a small box have small dots."""
    known = [math.isfinite(x) and math.isfinite(y) for x, y in points]
    places = near(drawing, points)
    for at, (a, b) in enumerate(links):
        if known[a] and known[b]:
            drawing.line([places[a], places[b]], fill=colour(at + 1), width=max(1, line))
    side = math.sqrt((frame[2] - frame[0]) * (frame[3] - frame[1]))
    radius = max(1.0, min(1.2 * line, side / (6 * math.sqrt(max(1, len(points))))))
    for (x, y), there in zip(places, known):
        if there:
            drawing.ellipse((x - radius, y - radius, x + radius, y + radius), fill="white", outline=fill, width=1)


def draw_classes(drawing: ImageDraw.ImageDraw, detections: Rows, font: ImageFont.FreeTypeFont) -> None:
    """The classes of the whole picture, one below the other in its corner."""
    taken: list[Corners] = []
    for i in range(len(detections)):
        top = taken[-1][3] if taken else 0
        text = f"{detections.scores[i]:.1%} {detections.label(i)}"
        draw_tag(drawing, (0, top, 0, top), text, font, colour(int(detections.class_ids[i])), taken)


def draw_frame(drawing: ImageDraw.ImageDraw, frame: Corners, fill: tuple[int, int, int], line: int, edge: int) -> None:
    """A coloured line along the inside of the frame, between two thin dark ones, which set it off from any background."""
    left, top, right, bottom = frame
    dark = tuple(value // 4 for value in fill)
    outer = (left - edge, top - edge, right - 1 + edge, bottom - 1 + edge)
    drawing.rectangle(outer, outline=dark, width=line + 2 * edge)
    drawing.rectangle((left, top, right - 1, bottom - 1), outline=fill, width=line)


def draw_tag(
    drawing: ImageDraw.ImageDraw,
    frame: Corners,
    text: str,
    font: ImageFont.FreeTypeFont,
    fill: tuple[int, int, int],
    taken: list[Corners],
) -> None:
    """The text on a filled tag at the frame, in black or white, whichever is easier to read; its place is added to `taken`."""
    width, height = drawing.im.size
    pad = max(2, round(font.size / 4))
    text = shorten(text, font, width - 2 * pad)
    ascent, descent = font.getmetrics()
    wide, high = math.ceil(font.getlength(text)) + 2 * pad, ascent + descent + pad
    if not text or high > height:
        return
    place = find_place(frame, (wide, high), (width, height), taken)
    taken.append(place)
    drawing.rectangle((place[0], place[1], place[2] - 1, place[3] - 1), fill=fill)
    bright = 0.299 * fill[0] + 0.587 * fill[1] + 0.114 * fill[2] > 128
    drawing.text((place[0] + pad, place[1] + pad // 2), text, font=font, fill="black" if bright else "white")


def find_place(frame: Corners, tag: tuple[int, int], picture: tuple[int, int], taken: list[Corners]) -> Corners:
    """Where a tag (width, height) goes: above the frame, else below, beside or inside it, where no other tag is."""
    (left, top, right, bottom), (wide, high) = frame, tag
    most_x, most_y = picture[0] - wide, picture[1] - high
    starts, ends = (min(max(0, x), most_x) for x in (left, right - wide))
    steps = sorted(range(-4 * high, 5 * high, max(1, high // 2)), key=abs)
    corners = [(x, y) for x in (starts, ends) for y in (top - high, bottom)]
    corners += [(right, top), (left - wide, top), (starts, top), (ends, bottom - high)]
    corners += [(x, top + step) for step in steps for x in (starts, ends, right, left - wide)]
    corners.append((starts, min(max(0, top), most_y)))
    places = [(x, y, x + wide, y + high) for x, y in corners if 0 <= x <= most_x and 0 <= y <= most_y]
    return next((place for place in places if not any(overlap(place, other) for other in taken)), places[0])


def shorten(text: str, font: ImageFont.FreeTypeFont, width: float) -> str:
    """The text, or its beginning and ".." where it is wider than `width` pixels; "" where that does not fit either."""
    if font.getlength(text) <= width:
        return text
    longest = bisect_right(range(1, len(text)), width, key=lambda end: font.getlength(text[:end] + ".."))
    return text[:longest].rstrip() + ".." if longest else ""


def overlap(a: Corners, b: Corners) -> bool:
    """Whether two rectangles have a pixel in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
