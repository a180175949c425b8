"""Drawn scenes with words on textured ground, at any angle, from a seed.

    python -m examples.words.scenes 3 scene.png     # from the repository's root

A word is four letters in cells of equal width, as on a number plate. Its region (cx, cy, w, h, theta) is in pixels and
radians, as ROIAlignRotated reads it: theta turns counter-clockwise, and the text reads from left to right before it is turned.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFont

from examples.shapes.scenes import ground

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LENGTH = 4  # letters of a word
SIZE, WORDS = 160, 5  # pixels of a scene, words in it
CELL = (12.0, 20.0)  # the smallest and the largest width of a letter's cell, in pixels
TALL = 1.2  # the height of a region, in cells
HELD_OUT = 5  # words whose number divides by it are never learned from
Word = tuple[str, np.ndarray]  # the text, and its region (5,)


def spell(rng: np.random.Generator, held_out: bool) -> str:
    """Four letters; one word of HELD_OUT is for testing only."""
    while True:
        number = int(rng.integers(26**LENGTH))
        if (number % HELD_OUT == 0) == held_out:
            return "".join(LETTERS[number // 26**i % 26] for i in range(LENGTH))


@cache
def glyph(letter: str, size: int, bold: int) -> np.ndarray:
    """The letter in a cell of `size` x TALL * size pixels, white on black, capitals in the middle."""
    font = ImageFont.load_default(1.05 * size)
    image = Image.new("L", (size, round(TALL * size)))
    foot = (image.width / 2, image.height / 2 + 0.37 * size)
    ImageDraw.Draw(image).text(foot, letter, fill=255, font=font, anchor="ms", stroke_width=bold)
    return np.asarray(image)


def corners(region: np.ndarray) -> np.ndarray:
    """The corners (4, 2) of a region, from where its text begins: top left, top right, bottom right, bottom left."""
    cx, cy, w, h, theta = region
    x, y = np.array([-w, w, w, -w]) / 2, np.array([-h, -h, h, h]) / 2
    sin, cos = np.sin(theta), np.cos(theta)
    return np.stack([cx + x * cos + y * sin, cy + y * cos - x * sin], 1)


def written(text: str, region: np.ndarray, bold: int) -> tuple[np.ndarray, int, int]:
    """How much the letters cover of each pixel around a word (height, width), 0..1, and where that is: left and top."""
    cx, cy, w, h, theta = region
    size = round(2 * w / LENGTH)
    letters = Image.fromarray(np.concatenate([glyph(letter, size, bold) for letter in text], 1))
    points = corners(region)
    left, top = (int(low) for low in np.floor(points.min(0)))
    right, bottom = (int(high) for high in np.ceil(points.max(0)))
    wide, high = letters.width / w, letters.height / h  # pixels of the letters in one of the scene
    sin, cos = np.sin(theta), np.cos(theta)
    to_x = (cos * wide / 2, -sin * wide / 2, (((left - cx) * cos - (top - cy) * sin) + w / 2) * wide)
    to_y = (sin * high / 2, cos * high / 2, (((left - cx) * sin + (top - cy) * cos) + h / 2) * high)
    fine = (2 * (right - left), 2 * (bottom - top))
    turned = letters.transform(fine, Image.Transform.AFFINE, (*to_x, *to_y), Image.Resampling.BILINEAR)
    return np.asarray(turned.reduce(2), np.float32)[..., None] / 255, left, top


def ink(rng: np.random.Generator, under: np.ndarray) -> np.ndarray:
    """A colour that is clearly lighter or darker than what lies under the word."""
    weights = np.array([0.299, 0.587, 0.114])
    while True:
        candidate = rng.uniform(0, 255, 3)
        if abs((candidate - under) @ weights) > 60:
            return candidate


def place(rng: np.random.Generator, taken: Image.Image) -> np.ndarray | None:
    """A region that lies inside the scene and touches none of those in `taken`, which gets it; None if none is found."""
    for _ in range(200):
        cell = np.exp(rng.uniform(*np.log(CELL)))
        region = np.array([*rng.uniform(0, taken.width, 2), LENGTH * cell, TALL * cell, rng.uniform(-np.pi, np.pi)])
        points = corners(region)
        if points.min() < 1 or points.max() > taken.width - 1:
            continue
        mine = Image.new("1", taken.size)
        ImageDraw.Draw(mine).polygon([tuple(p) for p in points], fill=1)
        if not ImageChops.logical_and(mine, taken).getbbox():
            taken.paste(1, mask=mine)
            return region
    return None


def layout(rng: np.random.Generator, size: int, words: int) -> list[np.ndarray]:
    """So many regions, none over another."""
    while True:
        taken = Image.new("1", (size, size))
        regions = [region for _ in range(words) if (region := place(rng, taken)) is not None]
        if len(regions) == words:
            return regions


def scene(
    seed: int | list[int], size: int = SIZE, words: int = WORDS, held_out: bool = False
) -> tuple[Image.Image, list[Word]]:
    """An RGB image of size x size pixels and the words in it. The same seed, the same scene."""
    rng = np.random.default_rng(seed)
    regions, placed = layout(rng, size, words), []
    image = np.array(ground(rng, size), np.float32)
    for region in regions:
        text = spell(rng, held_out)
        cover, left, top = written(text, region, int(rng.integers(0, 2)))
        patch = image[top : top + cover.shape[0], left : left + cover.shape[1]]
        under = (patch * cover).sum((0, 1)) / cover.sum()
        patch += cover * (ink(rng, under) - patch)
        placed.append((text, region))
    return Image.fromarray(image.astype(np.uint8)), placed


def jittered(rng: np.random.Generator, region: np.ndarray, share: float = 1.0) -> np.ndarray:
    """The region as a detector might find it: up to a fifth of its height beside, 10 % larger or smaller, 4 degrees turned, or
    a share of that."""
    cx, cy, w, h, theta = region
    beside = rng.uniform(-0.2, 0.2, 2) * h * share
    larger = np.exp(rng.uniform(-0.1, 0.1, 2) * share)
    return np.array([cx + beside[0], cy + beside[1], *(larger * (w, h)), theta + rng.uniform(-0.07, 0.07) * share])


if __name__ == "__main__":
    image, words = scene(int(sys.argv[1]))
    image.save(sys.argv[2])
    for text, region in words:
        print(text, *(f"{value:.2f}" for value in region))
