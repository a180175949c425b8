"""Ultra-Light-Fast-Generic-Face-Detector: RFB-320, slim-320 and their kind, priors decoded outside the net."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..data.inputs import Numpy
from ..device.functions import exp
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, picture_input, shape_of, single, softmax
from .detections import Detections

SIDES = {8: (10, 16, 24), 16: (32, 48), 32: (64, 96), 64: (128, 192, 256)}  # of the priors in pixels, by stride


class UltraLight(OneNet):
    """Outputs (1, P, 4) of offsets and (1, P, 2) of scores, for the P priors of the strides 8, 16, 32 and 64.

    Source
    ------
    Linzaer's Ultra-Light-Fast-Generic-Face-Detector-1MB, the program of its caffe folder.
    """

    NAME = "ultralight"
    TITLE = "Ultra-Light face detectors RFB-320 and slim-320: outputs boxes (1, P, 4) and scores (1, P, 2)"
    SETTINGS = Settings(mean=127.0, scale=1 / 128, swap_rb=True, threshold=0.7, overlap=0.3)
    NAMES = {1: "face"}

    def __init__(self, net: Net, boxes: str, scores: str) -> None:
        super().__init__(net, [boxes, scores])
        last = next(layer for layer, (_, tops) in reversed(list(zip(net.layers, net.names))) if scores in tops)
        self.raw = last.type != "Softmax"

    @staticmethod
    def find(net: Net) -> tuple[str | None, str | None, int]:
        """The outputs of offsets and of scores, and how many priors the input's size has."""
        shapes = {name: shape_of(net, name) for name in net.outputs}
        boxes = next((name for name, shape in shapes.items() if len(shape) == 3 and shape[2] == 4), None)
        scores = next((name for name, shape in shapes.items() if len(shape) == 3 and shape[2] == 2), None)
        size = shape_of(net, net.inputs[0])[2:] if net.inputs and len(shape_of(net, net.inputs[0])) == 4 else (0, 0)
        return boxes, scores, len(priors(size[1], size[0]))

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        boxes, scores, count = cls.find(nets[0])
        return {
            "one net": len(nets) == 1,
            "an output (1, P, 4) of offsets": boxes is not None,
            "an output (1, P, 2) of scores": scores is not None,
            f"P = {count}, the number of priors for the input's size": boxes is not None
            and shape_of(nets[0], boxes)[1] == count,
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> UltraLight:
        net = single(nets, cls.NAME)
        boxes, scores, _ = cls.find(net)
        missing = [sign for sign, there in cls.signs(nets).items() if not there]
        if boxes is None or scores is None or missing:
            raise ModelError(f"net {net.name!r} lacks {'; '.join(missing)}, which the decoder {cls.NAME} reads")
        return cls(net, boxes, scores)

    @property
    def classes(self) -> int | None:
        return 2

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        offsets, scores = (values[name][0].astype(np.float64) for name in self.blobs)
        score = (softmax(scores) if self.raw else scores)[:, 1]
        _, _, width, height = picture_input(self.net)
        places = priors(width, height)
        if len(places) != len(offsets):
            raise ModelError(
                f"the net gives {len(offsets)} boxes, an input of {width} x {height} has {len(places)} priors"
            )
        good = score > settings.threshold
        places, offsets, score = places[good], offsets[good], score[good]
        centre = places[:, :2] + 0.1 * offsets[:, :2] * places[:, 2:]
        with np.errstate(over="ignore"):
            half = places[:, 2:] * exp(0.2 * offsets[:, 2:]) / 2
        boxes = np.concatenate([centre - half, centre + half], 1) * np.tile(shape[::-1], 2)
        order = np.argsort(-score, kind="stable")
        overlap = 0.3 if settings.overlap is None else settings.overlap
        stay = order[suppress_boxes(self.net.device, boxes[order], overlap, pixels=False, strict=True)]
        return Detections(boxes[stay], score[stay], np.ones(len(stay)), self.NAMES)


def priors(width: int, height: int) -> Numpy:
    """(P, 4): centres and sides, as parts of the picture, from 0 to 1, by stride, row, column and side."""
    parts = []
    for stride, sides in SIDES.items():
        rows, columns = math.ceil(height / stride), math.ceil(width / stride)
        y, x, side = np.meshgrid(np.arange(rows), np.arange(columns), np.array(sides, float), indexing="ij")
        across, down = width / stride, height / stride
        values = (
            (x + 0.5) / max(across, 1e-9),
            (y + 0.5) / max(down, 1e-9),
            side / max(width, 1),
            side / max(height, 1),
        )
        parts.append(np.stack(values, -1).reshape(-1, 4))
    return np.asarray(np.clip(np.concatenate(parts), 0, 1))
