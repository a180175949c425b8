"""CTPN: lines of text from proposals of 16 pixels' width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.inputs import Numpy
from ..device.functions import exp
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, picture_input, prepare, shape_of, single
from .detections import Detections
from .rcnn import PIXEL_MEANS

HEIGHTS = (11, 16, 23, 33, 48, 68, 97, 139, 198, 283)  # of the anchors, 16 pixels wide, at each place
STRIDE, SHORTEST, LONGEST = 16, 600, 1000
OVERLAP, GAP, ALONG, ALIKE = (
    0.3,
    50,
    0.7,
    0.7,
)  # of proposals; pixels to the next of a line; overlap and likeness of heights
RATIO, PARTS = 1.2, 2  # a line's least width / height, and width in proposals


class Ctpn(OneNet):
    """Scores (1, 20, H, W) and vertical offsets (1, 20, H, W) of ten anchors at each place of a stride of 16.

    The picture has a shortest side of 600 pixels, or less so that the longest is at most 1000. The authors' prototxt ends in
    a layer in Python, which does the proposals; `Detector` leaves it out and does them itself. A line's score is the mean of
    its proposals' scores, which are stretched to 0 to 1 over the picture.

    Source
    ------
    Tian et al. 2016; tianzhi0549/CTPN.
    """

    NAME = "ctpn"
    TITLE = "CTPN: rpn_cls_prob_reshape and rpn_bbox_pred of 20 channels, lines of text"
    SETTINGS = Settings(mean=PIXEL_MEANS, threshold=0.7, overlap=0.3)
    NAMES = {1: "text"}

    def __init__(self, net: Net, scores: str, offsets: str) -> None:
        super().__init__(net, [scores, offsets])
        self.info = next((name for name in net.inputs if "im_info" in name), "")

    @staticmethod
    def find(net: Net) -> list[str]:
        """The blobs of scores and offsets."""
        tops = []
        for word in ("cls_prob_reshape", "bbox_pred"):
            names = [n for n in net.blobs if word in n and len(shape_of(net, n)) == 4 and shape_of(net, n)[1] == 20]
            tops += names[:1]
        return tops if len(tops) == 2 else []

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        blobs = cls.find(nets[0])
        return {
            "one net": len(nets) == 1,
            "rpn_cls_prob_reshape and rpn_bbox_pred of 20 channels": bool(blobs),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> Ctpn:
        net = single(nets, cls.NAME)
        blobs = cls.find(net)
        if not blobs:
            raise ModelError(
                f"net {net.name!r} has no rpn_cls_prob_reshape and rpn_bbox_pred of 20 channels, which CTPN gives"
            )
        return cls(net, *blobs)

    @property
    def classes(self) -> int | None:
        return 2

    def inputs(self, pixels: Numpy, settings: Settings) -> dict[str, Numpy]:
        name, channels = picture_input(self.net, (1, 1), [self.info])[:2]
        scale = SHORTEST / min(pixels.shape[:2])
        if scale * max(pixels.shape[:2]) > LONGEST:
            scale = LONGEST / max(pixels.shape[:2])
        width, height = settings.size or (
            max(1, round(pixels.shape[1] * scale)),
            max(1, round(pixels.shape[0] * scale)),
        )
        values: dict[str, Any] = {name: prepare(pixels, channels, width, height, settings)}
        if self.info:
            values[self.info] = np.resize(np.array([height, width, scale], np.float32), shape_of(self.net, self.info))
        return values

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        scores, offsets = (values[name][0].astype(np.float64) for name in self.blobs)
        _, _, width, height = picture_input(self.net, others=[self.info])
        score = scores[len(HEIGHTS) :].transpose(1, 2, 0).ravel()
        boxes = proposals(offsets, width, height)
        good = np.flatnonzero(score > settings.threshold)
        good = good[np.argsort(-score[good], kind="stable")]
        stay = good[suppress_boxes(self.net.device, boxes[good], OVERLAP)]
        boxes, score = boxes[stay], score[stay]
        spread = np.ptp(score) if len(score) else 0
        score = (score - score.min()) / spread if spread else score * 0
        lines = text_lines(boxes, score, width, height)
        size = lines[:, 2:4] - lines[:, :2] + 1
        good = (size[:, 0] / size[:, 1] > RATIO) & (lines[:, 4] > settings.threshold) & (size[:, 0] > STRIDE * PARTS)
        lines = lines[good]
        lines = lines[np.argsort(-lines[:, 4], kind="stable")]
        overlap = 0.3 if settings.overlap is None else settings.overlap
        lines = lines[suppress_boxes(self.net.device, lines[:, :4], overlap)]
        scale = np.array([shape[1] / width, shape[0] / height])
        return Detections(lines[:, :4] * np.tile(scale, 2), lines[:, 4], np.ones(len(lines)), self.NAMES)


def proposals(offsets: Numpy, width: int, height: int) -> Numpy:
    """The boxes (N, 4) of offsets (20, H, W), by row, column and anchor, in pixels of the input, clipped to it."""
    rows, columns = offsets.shape[1:]
    tall = np.array(HEIGHTS)
    top, bottom = np.trunc(7.5 - tall // 2), np.trunc(7.5 + tall // 2)
    y, x, at = (side.ravel() for side in np.indices((rows, columns, len(tall))))
    y, x = y * STRIDE, x * STRIDE
    move, grow = offsets.transpose(1, 2, 0).reshape(-1, 2).T
    size = bottom[at] - top[at] + 1
    with np.errstate(over="ignore"):
        high = exp(grow) * size
    start = move * size + y + (top[at] + bottom[at]) / 2 - high / 2
    boxes = np.stack([x, start, x + 15, start + high], 1)
    return np.asarray(np.clip(boxes, 0, np.array([width - 1, height - 1] * 2)))


def text_lines(boxes: Numpy, scores: Numpy, width: int, height: int) -> Numpy:
    """Rows (left, top, right, bottom, score): chains of proposals, each the best successor of the one before."""
    lines = []
    for chain in chains(boxes, scores, width):
        part = boxes[chain]
        left, right = part[:, 0].min(), part[:, 2].max()
        inset = (part[0, 2] - part[0, 0]) / 2
        ends = [fitted(part[:, 0], part[:, side], left + inset, right - inset) for side in (1, 3)]
        lines.append([left, min(ends[0]), right, max(ends[1]), scores[chain].mean()])
    table = np.array(lines, np.float64).reshape(-1, 5)
    table[:, :4] = np.clip(table[:, :4], 0, np.array([width - 1, height - 1] * 2))
    return table


def chains(boxes: Numpy, scores: Numpy, width: int) -> list[list[int]]:
    """Proposals from the first of each line on; a proposal alone is no line."""
    column = boxes[:, 0].astype(int)
    high = boxes[:, 3] - boxes[:, 1] + 1

    def beside(i: int, step: int) -> Numpy:
        """The proposals of the nearest column to one side that go with proposal i."""
        away = (column - column[i]) * step
        last = min(GAP, width - 1 - column[i]) if step > 0 else min(GAP, column[i])
        shared = np.minimum(boxes[i, 3], boxes[:, 3]) - np.maximum(boxes[i, 1], boxes[:, 1]) + 1
        low, tall = np.minimum(high[i], high), np.maximum(high[i], high)
        fits = (away > 0) & (away <= last) & (np.maximum(shared, 0) >= ALONG * low) & (low >= ALIKE * tall)
        return np.flatnonzero(fits & (away == away[fits].min())) if fits.any() else np.zeros(0, np.intp)

    after: dict[int, list[int]] = {}
    led: set[int] = set()
    for i in range(len(boxes)):
        following = beside(i, 1)
        if len(following):
            best = int(following[scores[following].argmax()])
            before = beside(best, -1)
            if scores[i] >= scores[before].max(initial=-np.inf):
                after.setdefault(i, []).append(best)
                led.add(best)
    result = []
    for i in sorted(after):
        if i not in led:
            chain = [i]
            while chain[-1] in after:
                chain.append(min(after[chain[-1]]))
            result.append(chain)
    return result


def fitted(x: Numpy, y: Numpy, first: float, last: float) -> tuple[float, float]:
    """The line of least squares through points (x, y), at two places."""
    if np.ptp(x) == 0:
        return float(y[0]), float(y[0])
    centre, height = x.mean(dtype=np.float64), y.mean(dtype=np.float64)
    along = x - centre
    slope = (along * (y - height)).sum() / (along * along).sum()
    return float(slope * (first - centre) + height), float(slope * (last - centre) + height)
