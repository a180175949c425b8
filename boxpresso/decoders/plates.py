"""License plates: HyperLPR's net that reads a plate without cutting it into letters, alone or after a detector of plates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.inputs import Numpy, input_values
from ..net import Net
from ..proto.errors import ModelError
from .base import Decoder, Settings, producer, shape_of
from .detections import Detections

LETTERS = (
    "京沪津渝冀晋蒙辽吉黑苏浙皖闽赣鲁豫鄂湘粤桂琼川贵云藏陕甘青宁新0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
    "港学使警澳挂军北南广沈兰成济海民航空"
)  # the class after the last is "no letter"


class Plates(Decoder):
    """One output (1, 84, T, 1) of probabilities of 83 letters, and none, at T places along the plate.

    The text is the likeliest class at each place, where it is a letter and differs from the place before; its score is the
    mean of its letters'. The net gets the plate with rows and columns swapped. Alone it takes the picture for a plate; with a
    detector of plates before it, as a folder or a list of nets, it gets each box that this finds, and a threshold above 0 is
    the detector's. The name of a detection is the text.

    Source
    ------
    HyperLPR, SegmentationFreeRecognizer.cpp; Graves et al. 2006.
    """

    NAME = "plates"
    TITLE = "license plates: HyperLPR's SegmentationFree net, one output (1, 84, T, 1); alone or after a detector"
    SETTINGS = Settings(scale=1 / 255, threshold=0.0)
    CASCADE = True

    def __init__(self, net: Net, detector: Decoder | None = None) -> None:
        self.net, self.detector = net, detector
        self.nets = [*(detector.nets if detector else ()), net]
        self.settings = self.SETTINGS

    @staticmethod
    def reads(net: Net) -> bool:
        """Whether a net has the output."""
        if len(net.inputs) != 1 or len(net.outputs) != 1 or shape_of(net, net.inputs[0])[1:2] != (3,):
            return False
        shape, layer = shape_of(net, net.outputs[0]), producer(net, net.outputs[0])
        return (
            len(shape) == 4
            and shape[1] == len(LETTERS) + 1
            and (shape[2] == 1) != (shape[3] == 1)
            and layer is not None
            and layer.type == "Softmax"
        )

    @classmethod
    def split(cls, nets: Sequence[Net]) -> tuple[Net | None, list[Net]]:
        """The net that reads, and the others."""
        chosen = next((net for net in nets if cls.reads(net)), None)
        return chosen, [net for net in nets if net is not chosen]

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        net, others = cls.split(nets)
        return {
            "one output (1, 84, T, 1) of a Softmax": net is not None,
            "no other net, or a detector of boxes": net is not None and (not others or cls.boxes(others) is not None),
        }

    @classmethod
    def boxes(cls, nets: Sequence[Net]) -> Decoder | None:
        """The decoder of the boxes of the other nets."""
        from . import decoders

        for decoder in decoders():
            if decoder is not cls and decoder.KIND == "boxes" and decoder.recognises(nets):
                return decoder.build(nets)
        return None

    @classmethod
    def build(cls, nets: Sequence[Net]) -> Plates:
        net, others = cls.split(nets)
        if net is None:
            raise ModelError("no net has one output (1, 84, T, 1) of a Softmax, from which plates are read")
        detector = cls.boxes(others) if others else None
        if others and detector is None:
            raise ModelError("beside the net that reads plates there must be a detector whose outputs are recognised")
        return cls(net, detector)

    def detect(self, pixels: Numpy, settings: Settings) -> Detections:
        high, wide = pixels.shape[:2]
        if self.detector is None:
            boxes = np.array([[0, 0, wide, high]], np.float64)
        else:
            chosen = self.detector.settings.given(threshold=settings.threshold or None)
            boxes = self.detector.detect(pixels, chosen).sorted().boxes.astype(np.float64)
        texts, scores = [], []
        for box in boxes:
            if np.isnan(box).any():  # the Detector says so
                texts.append("")
                scores.append(0.0)
                continue
            left, top = np.clip(np.floor(box[:2]), 0, (wide - 1, high - 1)).astype(int)
            right, bottom = np.clip(np.ceil(box[2:]), (left + 1, top + 1), (wide, high)).astype(int)
            text, score = self.text(pixels[top:bottom, left:right], settings)
            texts.append(text)
            scores.append(score)
        if self.detector is None and scores[0] < settings.threshold:
            return Detections.none()
        names = {i: text or "(no letters)" for i, text in enumerate(texts, 1)}
        return Detections(boxes.reshape(-1, 4), np.array(scores), np.arange(1, len(texts) + 1), names)

    def text(self, plate: Numpy, settings: Settings) -> tuple[str, float]:
        """The text of a plate's pixels, and its score."""
        _, channels, height, width = shape_of(self.net, self.net.inputs[0])
        values = input_values(
            plate.swapaxes(0, 1), channels, width, height, mean=settings.mean, scale=settings.scale,
            swap_rb=settings.swap_rb,
        )  # fmt: skip
        inputs: dict[str, Any] = {self.net.inputs[0]: values}
        return read_text(self.net.forward(**inputs)[self.net.outputs[0]][0].reshape(len(LETTERS) + 1, -1))


def read_text(scores: Numpy) -> tuple[str, float]:
    """The text of probabilities (84, T), and the mean of its letters' probabilities; 0 where there are none."""
    best = scores.argmax(0)
    new = (best != np.concatenate([[-1], best[:-1]])) & (best < len(LETTERS))
    at = np.flatnonzero(new)
    return "".join(LETTERS[i] for i in best[at]), float(scores[best[at], at].mean()) if len(at) else 0.0
