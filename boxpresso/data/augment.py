"""SSD's augmentation of pictures for training: colours, expansion, noise and resizing. Source: Liu et al. 2016, and its code.

Each takes a picture uint8 (H, W, C), the parameter message and a random generator, and returns a picture of the same kind.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from .errors import DataError
from .picture import decode, encode, from_pillow, pad, resize, to_pillow

Change = Callable[[np.ndarray], np.ndarray]


def rounded(values: np.ndarray) -> np.ndarray:
    """To uint8 as OpenCV does: to the nearest, halves to even, clipped to 0 and 255."""
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def levels(factor: float, offset: float) -> np.ndarray:
    """A table (256,) of each value times a factor plus an offset."""
    return rounded(np.arange(256, dtype=np.float32) * np.float32(factor) + np.float32(offset))


def hsv(picture: np.ndarray, turn: float = 0, saturation: float = 1) -> np.ndarray:
    """The hue turned by degrees of 0 to 360, and the saturation multiplied."""
    size = picture.shape[1], picture.shape[0]
    bands = Image.frombuffer("RGB", size, np.ascontiguousarray(picture), "raw", "RGB", 0, 1).convert("HSV")
    hues = (np.arange(256) - round(turn * 256 / 360)) % 256  # minus: red and blue have changed places
    output = bands.point([*hues.tolist(), *levels(saturation, 0).tolist(), *range(256)]).convert("RGB")
    return np.asarray(output)


def distortion(channels: int, param: Any, rng: np.random.Generator) -> Change:
    """A change of pictures of so many channels: of brightness, contrast, saturation and hue, and of the order of channels, each
    with its probability. It is the same for each pixel, wherever that lies.

    Contrast comes second or, as often, last. hue_delta counts as in OpenCV, two degrees to one, and the hue goes round;
    saturation and hue leave a grey picture as it is. param: a DistortionParameter.
    """
    p, changes = param, list[Change]()
    table: np.ndarray | None = None  # of all changes of single values since the last of another kind

    def chosen(probability: float) -> bool:
        return bool(rng.random() < probability)

    def look_up() -> None:
        nonlocal table
        if table is not None:
            changes.append(table.__getitem__)
        table = None

    def linear(factor: float, offset: float) -> None:
        nonlocal table
        new = levels(factor, offset)
        table = new if table is None else new[table]

    def brightness() -> None:
        if chosen(p.brightness_prob):
            linear(1, rng.uniform(-p.brightness_delta, p.brightness_delta))

    def contrast() -> None:
        if chosen(p.contrast_prob):
            linear(rng.uniform(p.contrast_lower, p.contrast_upper), 0)

    def saturation_hue() -> None:
        factor = rng.uniform(p.saturation_lower, p.saturation_upper) if chosen(p.saturation_prob) else 1
        turn = 2 * rng.uniform(-p.hue_delta, p.hue_delta) if chosen(p.hue_prob) else 0
        if channels == 3 and (turn or factor != 1):
            look_up()
            changes.append(lambda picture: hsv(picture, turn, factor))

    early = (brightness, contrast, saturation_hue)
    late = (brightness, saturation_hue, contrast)
    for step in early if rng.random() > 0.5 else late:
        step()
    look_up()
    if chosen(p.random_order_prob):
        order = rng.permutation(channels)
        changes.append(lambda picture: np.ascontiguousarray(picture[..., order]))
    return lambda picture: functools.reduce(lambda result, change: change(result), changes, picture)


def distort(picture: np.ndarray, param: Any, rng: np.random.Generator) -> np.ndarray:
    """A picture with a `distortion`."""
    return distortion(picture.shape[2], param, rng)(picture)


def check_distort(param: Any) -> None:
    """Raises DataError for a lower bound above its upper bound."""
    p = param
    for option, low, high in (
        ("contrast", p.contrast_lower, p.contrast_upper), ("saturation", p.saturation_lower, p.saturation_upper)
    ):  # fmt: skip
        if not 0 <= low <= high:
            raise DataError(f"distort_param: it must be 0 <= {option}_lower <= {option}_upper, got {low} and {high}")
    if p.brightness_delta < 0 or p.hue_delta < 0:
        raise DataError("distort_param: brightness_delta and hue_delta must not be negative")


@dataclass
class Canvas:
    """A picture (H, W, C) on a canvas of one colour (C,), and a change of its pixels that is still to be made.

    shape: of the canvas, rows and columns. top, left: where the picture lies.
    """

    picture: np.ndarray
    shape: tuple[int, int]
    colour: np.ndarray
    change: Change | None = None
    top: int = 0
    left: int = 0

    @classmethod
    def of(cls, picture: np.ndarray) -> Canvas:
        """A picture alone."""
        return cls(picture, (picture.shape[0], picture.shape[1]), np.zeros(1, np.float32))

    def part(self, top: int, left: int, rows: int, columns: int) -> Canvas:
        """A rectangle of it."""
        height, width = self.picture.shape[:2]
        y0, y1 = (min(max(at - self.top, 0), height) for at in (top, top + rows))
        x0, x1 = (min(max(at - self.left, 0), width) for at in (left, left + columns))
        above, before = min(max(self.top - top, 0), rows), min(max(self.left - left, 0), columns)
        return Canvas(self.picture[y0:y1, x0:x1], (rows, columns), self.colour, self.change, above, before)

    def resized(self, width: int, height: int, mode: str) -> tuple[Canvas, np.ndarray]:
        """All of it in another size, by a mode of `picture.resize`, and its frame as fractions of the old one, for the boxes.

        The picture's edges come to lie between pixels, the nearest ones, and its objects move with them. Colours are changed
        before where pixels become more, else they are still to be changed.
        """
        place = self.top, self.left
        old = np.array([*place, *np.add(place, self.picture.shape[:2])]) / np.array(2 * self.shape)
        sides = np.array([height, width] * 2)
        edges = np.rint(old * sides).astype(int)
        top, left, bottom, right = edges.tolist()
        picture, change = self.picture, self.change
        if top == bottom or left == right:
            return Canvas(picture[:0, :0], (height, width), self.colour), np.array([0, 0, 1, 1], np.float32)
        if change is not None and width * height >= math.prod(self.shape):
            picture, change = change(picture), None
        inside = resize(picture, right - left, bottom - top, mode)
        new = edges / sides
        grown = (old[2:] - old[:2]) / (new[2:] - new[:2])
        start = old[:2] - new[:2] * grown
        frame = np.array([*start[::-1], *(start + grown)[::-1]], np.float32)
        return Canvas(inside, (height, width), self.colour, change, top, left), frame

    def pixels(self) -> np.ndarray:
        """All of it (rows, columns, C), in its colours."""
        picture = self.picture
        if self.change is not None and picture.size:
            picture = self.change(picture)
        rows, columns = (long - short for long, short in zip(self.shape, picture.shape))
        if not (rows or columns):
            return picture
        return pad(picture, self.top, rows - self.top, self.left, columns - self.left, "CONSTANT", self.colour)


def expand(canvas: Canvas, param: Any, rng: np.random.Generator) -> np.ndarray:
    """Places a picture at random on a larger canvas; the canvas as fractions of the picture, the crop (xmin, ymin, xmax, ymax)
    for the boxes.

    The canvas becomes up to max_expand_ratio times as wide and high.
    """
    if rng.random() >= param.prob or param.max_expand_ratio - 1 < 0.01:
        return np.array([0, 0, 1, 1], np.float32)
    ratio = rng.uniform(1, param.max_expand_ratio)
    rows, columns = canvas.picture.shape[:2]
    height, width = int(rows * ratio), int(columns * ratio)
    top, left = (int(rng.uniform(0, room)) if room else 0 for room in (height - rows, width - columns))
    canvas.shape, canvas.top, canvas.left = (height, width), top, left
    return np.array([-left / columns, -top / rows, (width - left) / columns, (height - top) / rows], np.float32)


def fitted_size(param: Any, width: int, height: int) -> tuple[int, int]:
    """The width and height that a ResizeParameter gives the picture itself, without what is padded."""
    wide, high = np.float32(width) / np.float32(height), np.float32(param.width) / np.float32(param.height)
    if param.resize_mode == param.WARP:
        return param.width, param.height
    if wide > high if param.resize_mode == param.FIT_LARGE_SIZE_AND_PAD else wide < high:
        return param.width, max(1, math.floor(np.float32(param.width) / wide))
    return max(1, math.floor(wide * np.float32(param.height))), param.height


def fit(canvas: Canvas, param: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A canvas resized as a ResizeParameter says, and the new frame as fractions of the old one, for the boxes.

    WARP gives width x height whatever the ratio; FIT_SMALL_SIZE the smallest that covers it, FIT_LARGE_SIZE_AND_PAD the
    largest inside it, padded to it. One interp_mode of those listed is drawn.
    """
    modes = list(param.interp_mode) or [param.LINEAR]
    mode = param.Interp_mode.Name(modes[rng.integers(len(modes))] if len(modes) > 1 else modes[0])
    rows, columns = canvas.shape
    width, height = fitted_size(param, columns, rows)
    canvas, frame = canvas.resized(width, height, mode)
    output = canvas.pixels()
    if param.resize_mode != param.FIT_LARGE_SIZE_AND_PAD:
        return output, frame
    channels = output.shape[2]
    values = np.array(list(param.pad_value) or [0], np.float32)
    if len(values) not in (1, channels):
        raise DataError(f"resize_param: give pad_value once, or for each of the {channels} channels; got {len(values)}")
    down, across = param.height - height, param.width - width
    top, left = down // 2, across // 2
    output = pad(output, top, down - top, left, across - left, param.Pad_mode.Name(param.pad_mode), values)
    padded = [-left / width, -top / height, (param.width - left) / width, (param.height - top) / height]
    corner, sides = np.tile(frame[:2], 2), np.tile(frame[2:] - frame[:2], 2)
    return output, corner + sides * np.array(padded, np.float32)


NOISE = {  # in the order in which they are applied
    "decolorize", "gauss_blur", "hist_eq", "jpeg", "erode", "posterize", "inverse", "saltpepper",
}  # fmt: skip


def check_noise(param: Any) -> None:
    """Raises DataError for noise that is not supported."""
    for name in ("clahe", "convert_to_hsv", "convert_to_lab"):
        if getattr(param, name):
            raise DataError(f"noise_param: {name} is not supported; there are {', '.join(sorted(NOISE))}")


def noise(picture: np.ndarray, param: Any, rng: np.random.Generator) -> np.ndarray:
    """What a NoiseParameter asks for, with its probability."""
    if rng.random() >= param.prob:
        return picture
    channels = picture.shape[2]
    if param.decolorize and channels == 3:
        picture = np.repeat(from_pillow(to_pillow(picture).convert("L")), 3, axis=2)
    if param.gauss_blur:
        picture = blur(picture, size=7, sigma=1.5)
    if param.hist_eq:
        picture = equalize(picture)
    if param.jpeg > 0:
        picture = decode(encode(picture, "JPEG", int(param.jpeg)), channels == 3)
    if param.erode:
        wide = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
        cross = (wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:], picture)
        picture = np.minimum.reduce(cross)
    if param.posterize:
        picture = (picture // 64 * 64 + 32).astype(np.uint8)
    if param.inverse:
        picture = 255 - picture
    if param.saltpepper:
        salt = param.saltpepper_param
        values = np.array(list(salt.value) or [0], np.float32)
        if len(values) not in (1, channels):
            raise DataError(
                f"saltpepper_param: give value once, or for each of the {channels} channels; got {len(values)}"
            )
        count = int(salt.fraction * picture.shape[0] * picture.shape[1])
        picture = picture.copy()
        picture[rng.integers(picture.shape[0], size=count), rng.integers(picture.shape[1], size=count)] = rounded(
            values
        )
    return picture


def blur(picture: np.ndarray, size: int, sigma: float) -> np.ndarray:
    """Gaussian of `size` pixels, mirrored at the border without the edge twice."""
    half = size // 2
    weights = np.exp(-(np.arange(-half, half + 1) ** 2) / (2 * sigma**2))
    weights /= weights.sum()
    values = picture.astype(np.float32)
    for axis in (0, 1):
        around = [(half, half) if i == axis else (0, 0) for i in range(3)]
        wide = np.pad(values, around, mode="reflect" if values.shape[axis] > half else "edge")
        length = values.shape[axis]
        values = sum(w * wide.take(range(i, i + length), axis) for i, w in enumerate(weights.astype(np.float32)))
    return rounded(values)


def equalize(picture: np.ndarray) -> np.ndarray:
    """Equalizes the histogram of the brightness."""
    image = to_pillow(picture)
    if picture.shape[2] == 1:
        return from_pillow(ImageOps.equalize(image))
    y, cb, cr = image.convert("YCbCr").split()
    return from_pillow(Image.merge("YCbCr", (ImageOps.equalize(y), cb, cr)).convert("RGB"))
