"""MTCNN: three nets in cascade find faces and five landmarks; a fourth, where it is there, moves the landmarks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.inputs import Numpy, channels_of, resize
from ..device.functions import log
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import BoxpressoWarning, ModelError
from .base import Decoder, Settings, in_roles, prepare_crops, shape_of
from .detections import Detections

FACTOR, SMALLEST = 0.709, 20  # of the pyramid: from a scale to the next, and the smallest face in pixels
FIRST, SECOND = 0.6, 0.7  # the scores from which on the first two nets' windows go on; the third's is the threshold
CHUNK = 64  # windows in a pass
WIDEST = 16  # times the picture's longer side: a window that is larger is of weights that are no good


class Mtcnn(Decoder):
    """The cascade of P-Net (12 x 12, over the whole picture), R-Net (24 x 24) and O-Net (48 x 48, with landmarks).

    The authors' nets were trained from MATLAB, whose pictures lie by columns: they get each picture with rows and columns
    swapped, other nets do not; `probed` finds out. Boxes are in MATLAB's pixels, counted from 1, the last one included,
    until the end.

    Source
    ------
    Zhang et al. 2016 (Joint face detection and alignment), and their MATLAB program, detect_face.m of MTCNNv1 and v2.
    """

    NAME = "mtcnn"
    TITLE = "MTCNN: nets of 12, 24 and 48 pixels with prob1, faces with five landmarks"
    SETTINGS = Settings(mean=127.5, scale=0.0078125, swap_rb=True, threshold=0.7, overlap=0.7)
    NAMES = {1: "face"}
    CASCADE = True

    def __init__(self, first: Net, second: Net, third: Net, fourth: Net | None = None) -> None:
        self.first, self.second, self.third, self.fourth = first, second, third, fourth
        self.nets = [net for net in (first, second, third, fourth) if net is not None]
        self.settings = self.SETTINGS
        shapes = [probed(net) for net in (first, second, third)]
        self.columns = sum(along for along, _ in shapes) <= 0
        if not self.columns:  # trained from OpenCV, which reads blue first; MATLAB reads red first
            self.settings = self.settings.given(swap_rb=False)
        self.face = [channel for _, channel in shapes]  # of each net's two scores

    @classmethod
    def roles(cls, nets: Sequence[Net]) -> list[Net | None]:
        """The first net for each role, by its input's size and its outputs."""
        return in_roles(nets, ROLES)

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        there = [net is not None for net in cls.roles(nets)]
        return {
            "a net of 12 x 12 pixels with 2 scores and 4 offsets": there[0],
            "a net of 24 x 24 pixels with 2 scores and 4 offsets": there[1],
            "a net of 48 x 48 pixels with 2 scores, 4 offsets and 10 coordinates of landmarks": there[2],
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> Mtcnn:
        first, second, third, fourth = cls.roles(nets)
        if first is None or second is None or third is None:
            missing = [sign for sign, there in cls.signs(nets).items() if not there]
            raise ModelError(f"the cascade of MTCNN lacks {'; '.join(missing)}; give the folder with its nets")
        return cls(first, second, third, fourth)

    @property
    def classes(self) -> int | None:
        return 2

    def detect(self, pixels: Numpy, settings: Settings) -> Detections:
        image = channels_of(pixels, 3, settings.swap_rb)
        boxes = self.propose(image, settings)
        boxes = np.trunc(squares(boxes))
        values, windows = self.look(self.second, image, boxes, settings)
        score = values[by_width(values, 2)][:, self.face[1]]
        good = score > SECOND
        boxes, score = windows[good], score[good]
        offsets = values[by_width(values, 4)][good]
        stay = self.suppress(boxes, score, 0.7)
        boxes = np.trunc(squares(moved(boxes[stay], offsets[stay])))
        values, windows = self.look(self.third, image, boxes, settings)
        score = values[by_width(values, 2)][:, self.face[2]]
        good = score > settings.threshold
        boxes, score = windows[good], score[good]
        size = boxes[:, 2:] - boxes[:, :2] + 1
        points = landmarks(values[by_width(values, 10)][good])
        points = boxes[:, None, :2] - 1 + points * size[:, None]
        boxes = moved(boxes, values[by_width(values, 4)][good])
        fine = sound(boxes, image, points)
        boxes, score, points = boxes[fine], score[fine], points[fine]
        stay = suppress_inner(boxes, score, 0.7 if settings.overlap is None else settings.overlap)
        boxes, score, points = boxes[stay], score[stay], points[stay]
        if self.fourth is not None and len(boxes):
            points = self.refine(image, boxes, points, settings)
        boxes[:, :2] -= 1  # from pixels counted from 1 to edges
        return Detections(boxes, score, np.ones(len(boxes)), self.NAMES, landmarks=points)

    def propose(self, image: Numpy, settings: Settings) -> Numpy:
        """The windows (N, 4) of P-Net, over a pyramid of the picture."""
        height, width = image.shape[:2]
        parts, scores, moves = [np.zeros((0, 4))], [np.zeros(0)], [np.zeros((0, 4))]
        scale = 12 / SMALLEST
        while min(height, width) * scale >= 12:
            high, wide = math.ceil(height * scale), math.ceil(width * scale)
            values = forward(self.first, prepared(resize(image, wide, high)[None], settings, self.columns))
            score = values[by_width(values, 2)][0, self.face[0]]
            offsets = values[by_width(values, 4)][0]
            if not self.columns:
                score, offsets = score.T, offsets.transpose(0, 2, 1)
            column, row = np.nonzero(score >= FIRST)
            start = np.stack([column, row], 1) * 2.0
            boxes = np.trunc(np.concatenate([start + 1, start + 12], 1) / scale)
            score, offsets = score[column, row], offsets[:, column, row].T
            stay = self.suppress(boxes, score, 0.5)
            parts.append(boxes[stay])
            scores.append(score[stay])
            moves.append(offsets[stay])
            scale *= FACTOR
        boxes, score, offsets = np.concatenate(parts), np.concatenate(scores), np.concatenate(moves)
        stay = self.suppress(boxes, score, 0.7)
        boxes = boxes[stay]
        size = boxes[:, 2:] - boxes[:, :2]
        return np.asarray(boxes + offsets[stay] * np.tile(size, 2))

    def look(self, net: Net, image: Numpy, boxes: Numpy, settings: Settings) -> tuple[dict[str, Numpy], Numpy]:
        """The outputs of R-Net or O-Net for the windows, and these."""
        side = shape_of(net, net.inputs[0])[-1]
        boxes = boxes[sound(boxes, image)]
        boxes = boxes[(boxes[:, 2:] >= boxes[:, :2]).all(1)]
        crops = np.zeros((len(boxes), side, side, 3), np.float32)
        for crop, box in zip(crops, boxes):
            crop[...] = resize(window(image, box), side, side)
        return in_chunks(net, prepared(crops, settings, self.columns)), boxes

    def refine(self, image: Numpy, boxes: Numpy, points: Numpy, settings: Settings) -> Numpy:
        """The landmarks as the fourth net moves them, each by what it sees around it; large moves are left out."""
        side = np.trunc(0.25 * (boxes[:, 2:] - boxes[:, :2] + 1).max(1))
        side += side % 2
        crops = np.zeros((len(boxes), 24, 24, 15), np.float32)
        for k in range(5):
            start = np.trunc(points[:, k] - 0.5 * side[:, None])
            for crop, corner, length in zip(crops, start, side):
                box = np.concatenate([corner, corner + length])
                crop[..., 3 * k : 3 * k + 3] = resize(window(image, box), 24, 24)
        fourth = self.fourth or self.third
        values = in_chunks(fourth, prepared(crops, settings, self.columns))
        result = np.array(points)
        for k, name in enumerate(sorted(values)):  # fc5_1 .. fc5_5
            seen = np.where((np.abs(values[name] - 0.5) > 0.35).any(1, keepdims=True), 0.5, values[name])
            result[:, k] = points[:, k] + (seen - 0.5) * side[:, None]
        return result

    def suppress(self, boxes: Numpy, scores: Numpy, threshold: float) -> Numpy:
        """The indices of windows that stay, best first; sides include the last pixel."""
        order = np.argsort(-scores, kind="stable")
        return np.asarray(order[suppress_boxes(self.first.device, boxes[order], threshold, strict=True)])


ROLES = ((12, 3, [2, 4]), (24, 3, [2, 4]), (48, 3, [2, 4, 10]), (24, 15, [2] * 5))  # side, channels, widths of outputs


def prepared(crops: Numpy, settings: Settings, columns: bool = True) -> Numpy:
    """Pictures (N, H, W, C) as an input (N, C, W, H), or (N, C, H, W) of nets that do not want `columns`."""
    values = prepare_crops(crops, settings)
    return np.ascontiguousarray(values.swapaxes(2, 3) if columns else values)


def probed(net: Net) -> tuple[float, int]:
    """Whether a net wants pictures with rows and columns swapped (below 0) or not (above 0), and the channel of faces.

    Both show in the scores of 128 pictures of coarse noise. A face and its mirror image are as likely, so that the scores of
    pictures that are mirrored left to right go with those of the pictures themselves, more than those of pictures that are
    turned upside down. And noise is no face.
    """
    side = shape_of(net, net.inputs[0])[-1]
    noise = np.random.default_rng(side).normal(size=(128, 3, side // 4, side // 4)) * 0.5
    pictures = np.clip(noise.repeat(4, 2).repeat(4, 3), -1, 1).astype(np.float32)
    scores, means = [], []
    for values in (pictures, pictures[..., ::-1], pictures[..., ::-1, :]):
        outputs = in_chunks(net, np.ascontiguousarray(values))
        pair = outputs[by_width(outputs, 2)]
        means.append(pair.mean(0))
        pair = log(np.maximum(pair, 1e-12))
        scores.append(pair[:, 1] - pair[:, 0])
    face = int(np.mean(means, 0).argmin())
    if any(np.ptp(score) == 0 for score in scores):
        return 0.0, face
    return correlation(scores[0], scores[1]) - correlation(scores[0], scores[2]), face


def correlation(a: Numpy, b: Numpy) -> float:
    """Pearson's coefficient of two rows, by sums that are the same everywhere: np.corrcoef multiplies matrices."""
    a, b = (each - each.mean(dtype=np.float64) for each in (a, b))
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def forward(net: Net, values: Numpy) -> dict[str, Numpy]:
    """The outputs of a net with one input."""
    inputs: dict[str, Any] = {net.inputs[0]: values}
    return net.forward(**inputs)


def in_chunks(net: Net, values: Numpy) -> dict[str, Numpy]:
    """The outputs (N, K) of a net for many windows: in passes of one size, so that the net is planned once."""
    parts: dict[str, list[Numpy]] = {name: [] for name in net.outputs}
    size = min(CHUNK, 1 << max(0, len(values) - 1).bit_length())
    for at in range(0, len(values), size):
        chunk = values[at : at + size]
        count = len(chunk)
        if count < size:
            chunk = np.concatenate([chunk, np.zeros((size - count, *chunk.shape[1:]), np.float32)])
        for name, value in forward(net, chunk).items():
            parts[name].append(value[:count].reshape(count, -1))
    widths = {name: math.prod(shape_of(net, name)[1:]) for name in net.outputs}
    return {name: np.concatenate([*chunks, np.zeros((0, widths[name]))]) for name, chunks in parts.items()}


def landmarks(values: Numpy) -> Numpy:
    """(N, 5, 2): eyes, nose and corners of the mouth, as parts of the window, of the ten numbers of each.

    The authors' nets give five x, then five y, others x, y, x, y ..: it is the order in which more faces have their eyes above
    the nose, and this above the mouth, and left where it belongs.
    """
    orders = values.reshape(-1, 2, 5).transpose(0, 2, 1), values.reshape(-1, 5, 2)

    def faces(points: Numpy) -> int:
        x, y = points[..., 0], points[..., 1]
        above = (y[:, :2].mean(1) < y[:, 2]) & (y[:, 2] < y[:, 3:].mean(1))
        return int((above & (x[:, 0] < x[:, 1]) & (x[:, 3] < x[:, 4])).sum())

    return max(orders, key=faces)


def by_width(values: dict[str, Numpy], width: int) -> str:
    """The name of the output with so many channels."""
    return next(name for name, value in values.items() if value.shape[1] == width)


def sound(boxes: Numpy, image: Numpy, points: Numpy | None = None) -> Numpy:
    """Which windows, and points in them, are numbers and no larger than faces are; a warning says how many are not."""
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.abs(boxes[:, 2:] - boxes[:, :2]).max(1, initial=0)
    fine = np.isfinite(boxes).all(1) & (far <= WIDEST * max(image.shape[:2]))
    if points is not None:
        fine &= np.isfinite(points).all((1, 2))
    if not fine.all():
        many = f"{(~fine).sum()} of {len(fine)} windows are far larger than the picture and are left out"
        warnings.warn(f"{many}: are the weights sound?", BoxpressoWarning, stacklevel=2)
    return np.asarray(fine)


def window(image: Numpy, box: Numpy) -> Numpy:
    """The pixels of a box in pixels counted from 1, the last included; black outside the picture."""
    left, top, right, bottom = (int(v) for v in box)
    result = np.zeros((bottom - top + 1, right - left + 1, image.shape[2]), image.dtype)
    height, width = image.shape[:2]
    x1, y1, x2, y2 = max(left, 1), max(top, 1), min(right, width), min(bottom, height)
    if x1 <= x2 and y1 <= y2:
        result[y1 - top : y2 - top + 1, x1 - left : x2 - left + 1] = image[y1 - 1 : y2, x1 - 1 : x2]
    return result


def squares(boxes: Numpy) -> Numpy:
    """Squares around the centres of boxes, of their longer sides."""
    size = boxes[:, 2:] - boxes[:, :2]
    side = size.max(1, initial=0, keepdims=True)
    start = boxes[:, :2] + 0.5 * size - 0.5 * side
    return np.concatenate([start, start + side], 1)


def moved(boxes: Numpy, offsets: Numpy) -> Numpy:
    """Boxes whose corners are moved by parts of their sides."""
    size = boxes[:, 2:] - boxes[:, :2] + 1
    return np.asarray(boxes + offsets * np.tile(size, 2))


def suppress_inner(boxes: Numpy, scores: Numpy, threshold: float) -> Numpy:
    """The indices that stay, best first, when each goes whose intersection with a better one is more than the threshold of
    the smaller of the two."""
    order = np.argsort(-scores, kind="stable")
    area = np.prod(boxes[:, 2:] - boxes[:, :2] + 1, axis=1)
    stay = []
    while len(order):
        first, order = order[0], order[1:]
        stay.append(first)
        start = np.maximum(boxes[first, :2], boxes[order, :2])
        end = np.minimum(boxes[first, 2:], boxes[order, 2:])
        shared = np.prod(np.maximum(end - start + 1, 0), axis=1)
        order = order[shared <= threshold * np.minimum(area[first], area[order])]
    return np.array(stay, np.intp)
