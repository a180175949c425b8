"""PCN: three nets in cascade find faces at any angle, each turning them closer to upright."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.inputs import Numpy, channels_of, resize
from ..device.functions import sine_cosine
from ..net import Net
from ..proto.errors import ModelError
from .base import Decoder, Settings, in_roles, prepare_crops, shape_of
from .detections import Detections
from .mtcnn import forward, in_chunks

ROLES = ((24, 3, [2, 2, 3]), (24, 3, [2, 3, 3]), (48, 3, [1, 2, 3]))  # side, channels, widths of outputs
STRIDE = 8  # of the first net
PYRAMID, SMALLEST = 1.414, 40 * 1.4  # from a scale to the next; the smallest window in pixels
FIRST, SECOND = 0.37, 0.43  # the scores from which on the first two nets' windows go on; the third's is the threshold
LOCAL, RANGE = 0.8, 45  # overlap of windows of one scale; degrees that the third net finds


class Pcn(Decoder):
    """The cascade of PCN-1 (24 x 24, over the whole picture; upright or upside down), PCN-2 (24 x 24; a quarter turn to either
    side or none) and PCN-3 (48 x 48; the angle within 45 degrees of that).

    Windows are squares in whole pixels of the picture with a black border, in which it may lie half outside.

    Source
    ------
    Shi et al. 2018 (Real-time rotation-invariant face detection), and FaceKit's PCN.cpp, which turns pictures upside down by
    mirroring them, and by a quarter by transposing them.
    """

    NAME = "pcn"
    TITLE = "PCN: nets of 24, 24 and 48 pixels with rotate_cls_prob or rotate_reg, faces at any angle"
    SETTINGS = Settings(mean=(104.0, 117.0, 123.0), threshold=0.97, overlap=0.3)
    NAMES = {1: "face"}
    CASCADE = True

    def __init__(self, first: Net, second: Net, third: Net) -> None:
        self.first, self.second, self.third = first, second, third
        self.nets = [first, second, third]
        self.settings = self.SETTINGS

    @classmethod
    def roles(cls, nets: Sequence[Net]) -> list[Net | None]:
        """The first net for each of the three stages, by its input's size and its outputs."""
        return in_roles(nets, ROLES)

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        there = [net is not None for net in cls.roles(nets)]
        return {
            "a net of 24 x 24 pixels with 2 scores, 2 of upside down and 3 offsets": there[0],
            "a net of 24 x 24 pixels with 2 scores, 3 of quarter turns and 3 offsets": there[1],
            "a net of 48 x 48 pixels with 2 scores, an angle and 3 offsets": there[2],
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> Pcn:
        first, second, third = cls.roles(nets)
        if first is None or second is None or third is None:
            missing = [sign for sign, there in cls.signs(nets).items() if not there]
            raise ModelError(f"the cascade of PCN lacks {'; '.join(missing)}; give the folder with its nets")
        return cls(first, second, third)

    @property
    def classes(self) -> int | None:
        return 2

    def detect(self, pixels: Numpy, settings: Settings) -> Detections:
        image = channels_of(pixels, 3, settings.swap_rb)
        border = [min(int(0.2 * side), 100) for side in image.shape[:2]]
        padded = np.pad(image, ((border[0],) * 2, (border[1],) * 2, (0, 0)))
        views = {0: padded, 180: padded[::-1], 90: padded.transpose(1, 0, 2)}
        views[-90] = views[90][::-1]
        windows = self.propose(image, padded.shape, border, settings)
        windows = self.suppress(windows, LOCAL, local=True)
        for net, least in ((self.second, SECOND), (self.third, settings.threshold)):
            windows = self.calibrate(net, views, windows, least, settings)
            local = net is self.second
            overlap = LOCAL if local else 0.3 if settings.overlap is None else settings.overlap
            windows = self.suppress(windows, overlap, local=local)
        windows = windows[~inner(windows)]
        windows = windows[windows[:, 2] > 0]
        return detections(windows, border, self.NAMES)

    def propose(self, image: Numpy, padded: tuple[int, ...], border: list[int], settings: Settings) -> Numpy:
        """Rows (x, y, side, angle, scale, score) of PCN-1, over a pyramid of the picture; x and y are in the padded one."""
        parts = [np.zeros((0, 6))]
        scale = SMALLEST / 24
        level = shrunk(image, scale)
        while min(level.shape[:2]) >= 24:
            values = forward(self.first, prepared(level[None], settings))
            turned, scores = self.pair(values)
            offsets = values[by_name(values, 3, "reg")][0]
            row, column = np.nonzero(scores[0, 1] > FIRST)
            sides, across, down = offsets[:, row, column].astype(np.float64)
            width = 24 * scale
            size = np.trunc(width * sides)
            x = np.trunc(column * scale * STRIDE + width * (0.5 - 0.5 * sides + sides * across)) + border[1]
            y = np.trunc(row * scale * STRIDE + width * (0.5 - 0.5 * sides + sides * down)) + border[0]
            angle = np.where(turned[0, 1, row, column] > 0.5, 0, 180)
            rows = np.stack([x, y, size, angle, np.full(len(x), scale), scores[0, 1, row, column]], 1)
            parts.append(rows[legal(rows, padded)])
            level = shrunk(level, PYRAMID)
            scale = image.shape[0] / max(1, level.shape[0])
        return np.concatenate(parts)

    @staticmethod
    def pair(values: dict[str, Numpy]) -> tuple[Numpy, Numpy]:
        """PCN-1's probabilities of being upright, and its scores: both have 2 channels."""
        names = [name for name, value in values.items() if value.shape[1] == 2]
        turned = next((name for name in names if "rotate" in name), names[-1])
        return values[turned], values[next(name for name in names if name != turned)]

    def calibrate(self, net: Net, views: dict[int, Numpy], windows: Numpy, least: float, settings: Settings) -> Numpy:
        """The windows that PCN-2 or PCN-3 takes for faces, moved and turned as it says."""
        side = shape_of(net, net.inputs[0])[-1]
        height, width = views[0].shape[:2]
        windows = windows[windows[:, 2] > 0]
        crops = np.zeros((len(windows), side, side, 3), np.float32)
        corners = np.zeros((len(windows), 2))
        for i, row in enumerate(windows):
            corners[i] = x, y = seen_at(row[0], row[1], row[2], int(row[3]), height, width)
            part = views[int(row[3])][int(y) : int(y + row[2]), int(x) : int(x + row[2])]
            crops[i] = resize(part, side, side)
        values = in_chunks(net, prepared(crops, settings))
        scores = values[next(n for n, v in values.items() if v.shape[1] == 2)][:, 1]
        sides, across, down = values[by_name(values, 3, "reg")].astype(np.float64).T
        turn = values[by_name(values, 1 if net is self.third else 3, "rotate")]
        old = windows[:, 2]
        size = np.trunc(sides * old)
        moved = np.trunc(
            corners + (old * (0.5 - 0.5 * sides))[:, None] + (old * sides)[:, None] * np.stack([across, down], 1)
        )
        rows = []
        for i in np.flatnonzero(scores > least).tolist():
            angle, (x, y), wide = int(windows[i, 3]), moved[i], size[i]
            if not legal(np.array([[x, y, wide]]), views[angle].shape)[0]:
                continue
            if net is self.third:
                change = RANGE * float(turn[i, 0])
                final: Any = {0: change, 180: 180 - change, 90: 90 - change, -90: -90 + change}[angle]
            else:
                final = (90, angle, -90)[int(turn[i].argmax())]  # the middle one leaves it as it is
            x, y = back_at(x, y, wide, angle, height, width)
            rows.append([x, y, wide, final, windows[i, 4], scores[i]])
        return np.array(rows, np.float64).reshape(-1, 6)

    @staticmethod
    def suppress(windows: Numpy, threshold: float, local: bool) -> Numpy:
        """Best first, without windows that overlap a better one by more, of the same scale if `local`; as in the source, a
        window that is left out still suppresses none."""
        windows = windows[np.argsort(-windows[:, 5], kind="stable")]
        gone = np.zeros(len(windows), bool)
        for i in range(len(windows)):
            if gone[i]:
                continue
            later = windows[i + 1 :]
            start = np.maximum(windows[i, :2], later[:, :2])
            end = np.minimum(windows[i, :2] + windows[i, 2], later[:, :2] + later[:, 2:3])
            shared = np.prod(np.maximum(end - start, 0), axis=1)
            union = windows[i, 2] ** 2 + later[:, 2] ** 2 - shared
            over = shared > threshold * union
            if local:
                over &= np.abs(later[:, 4] - windows[i, 4]) <= 1e-5
            gone[i + 1 :] |= over
        return np.asarray(windows[~gone])


def by_name(values: dict[str, Numpy], width: int, word: str) -> str:
    """The output of so many channels, of several the one whose name has the word."""
    names = [name for name, value in values.items() if value.shape[1] == width]
    return next((name for name in names if word in name and ("rotate" in name) == (word == "rotate")), names[0])


def prepared(crops: Numpy, settings: Settings) -> Numpy:
    """Pictures (N, H, W, 3) as an input."""
    return np.ascontiguousarray(prepare_crops(crops, settings))


def shrunk(image: Numpy, factor: float) -> Numpy:
    """The picture smaller by a factor, its sides rounded down."""
    height, width = (int(side / factor) for side in image.shape[:2])
    if min(width, height) < 1:
        return np.zeros((height, width, 3), np.float32)
    return resize(image, width, height)


def legal(rows: Numpy, shape: tuple[int, ...]) -> Numpy:
    """Which squares (x, y, side ..) lie in a picture of (height, width ..)."""
    most = np.array([shape[1], shape[0]])
    start, end = rows[:, :2], rows[:, :2] + rows[:, 2:3] - 1
    return np.asarray((start >= 0).all(1) & (start < most).all(1) & (end >= 0).all(1) & (end < most).all(1))


def seen_at(x: float, y: float, side: float, angle: int, height: int, width: int) -> tuple[float, float]:
    """Where a window of the padded picture begins in the view of an angle."""
    if angle == 180:
        return x, height - y - side
    if angle == 90:
        return y, x
    return (y, width - x - side) if angle == -90 else (x, y)


def back_at(x: float, y: float, side: float, angle: int, height: int, width: int) -> tuple[float, float]:
    """Where a window of the view of an angle begins in the padded picture."""
    if angle == 180:
        return x, height - y - side
    if angle == 90:
        return y, x
    return (width - y - side, x) if angle == -90 else (x, y)


def inner(windows: Numpy) -> Numpy:
    """Which windows lie in a better one that stays; best first."""
    gone = np.zeros(len(windows), bool)
    for i in range(len(windows)):
        if not gone[i]:
            start, end = windows[i, :2], windows[i, :2] + windows[i, 2]
            later = windows[i + 1 :]
            first, last = later[:, :2], later[:, :2] + later[:, 2:3] - 1
            gone[i + 1 :] |= ((first >= start) & (last >= start) & (first < end) & (last < end)).all(1)
    return gone


def detections(windows: Numpy, border: list[int], names: Any) -> Detections:
    """Windows as rotated boxes: squares turned anti-clockwise around their centres."""
    corner, side = windows[:, :2] - [border[1], border[0]], windows[:, 2]
    angle = (windows[:, 3] + 180) % 360 - 180
    sine, cosine = sine_cosine(np.deg2rad(angle))
    along, across = np.stack([cosine, -sine], 1), np.stack([sine, cosine], 1)  # y goes down
    signs = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    centre = corner + side[:, None] / 2
    points = np.stack([centre + side[:, None] * (u * along + v * across) for u, v in signs], 1)
    boxes = np.concatenate([points.min(1), points.max(1)], 1) if len(windows) else np.zeros((0, 4))
    return Detections(boxes, windows[:, 5], np.ones(len(windows)), names, angles=angle, quadrilaterals=points)
