"""Landmarks of a face: a net that gives 68, 106 or another number of points, alone or after a face detector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.inputs import Numpy
from ..layers.core import Trait
from ..net import Net
from ..proto.errors import ModelError
from .base import Decoder, OneNet, Settings, picture_input, prepare, producer, shape_of
from .detections import Detections

COUNTS = (5, 14, 19, 21, 29, 51, 68, 72, 98, 106, 194)  # of points, as data sets have them


class Landmarks(OneNet):
    """One output (N, 2 K) of K points x, y, x, y ..: from 0 to 1 across the face, from -0.5 to 0.5 around its centre, or in
    pixels of the input, whichever the numbers are.

    Alone the net takes the whole picture for the face. With a face detector before it, as a folder or a list of nets, it gets
    each box that this finds; a threshold above 0 is the detector's, mean and scale are those of the landmarks' net.

    Source
    ------
    dog-qiuqiu's landmark106; yinguobing and lsy17096535's nets of 68 points.
    """

    NAME = "landmarks"
    TITLE = "landmarks of a face: one output of 2 K numbers, K = 68, 106 ..; alone or after a face detector"
    SETTINGS = Settings(mean=127.5, scale=1 / 127.5, threshold=0.0)
    NAMES = {1: "face"}
    CASCADE = True

    def __init__(self, net: Net, top: str, faces: Decoder | None = None) -> None:
        super().__init__(net, [top])
        self.faces = faces
        if faces is not None:
            self.nets = [*faces.nets, net]
        _, _, height, width = shape_of(net, net.inputs[0])
        self.side = (width, height)

    @staticmethod
    def find(net: Net) -> str | None:
        """The output of points."""
        if len(net.inputs) != 1 or len(net.outputs) != 1 or len(shape_of(net, net.inputs[0])) != 4:
            return None
        shape, layer = shape_of(net, net.outputs[0]), producer(net, net.outputs[0])
        flat = len(shape) >= 2 and all(side == 1 for side in shape[2:]) and shape[1] % 2 == 0
        known = layer is not None and Trait.WRITES_ALL in layer.traits and Trait.PROBABILITIES not in layer.traits
        return net.outputs[0] if flat and known else None

    @classmethod
    def split(cls, nets: Sequence[Net]) -> tuple[Net | None, list[Net]]:
        """The net of landmarks, and the others."""
        points = [net for net in nets if (top := cls.find(net)) and shape_of(net, top)[1] // 2 in COUNTS]
        chosen = points[-1] if points else None
        return chosen, [net for net in nets if net is not chosen]

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        net, others = cls.split(nets)
        return {
            f"one output of 2 K numbers, K one of {', '.join(map(str, COUNTS))}": net is not None,
            "no other net, or a face detector": net is not None and (not others or cls.detector(others) is not None),
        }

    @classmethod
    def detector(cls, nets: Sequence[Net]) -> Decoder | None:
        """The decoder of boxes of the other nets."""
        from . import decoders

        for decoder in decoders():
            if decoder is not cls and decoder.KIND == "boxes" and decoder.recognises(nets):
                return decoder.build(nets)
        return None

    @classmethod
    def build(cls, nets: Sequence[Net]) -> Landmarks:
        net, others = cls.split(nets)
        if net is None and len(nets) == 1 and cls.find(nets[0]):
            net, others = nets[0], []
        top = cls.find(net) if net is not None else None
        if net is None or top is None:
            raise ModelError("landmarks are read of a net with one picture as its input and one output of 2 K numbers")
        faces = cls.detector(others) if others else None
        if others and faces is None:
            raise ModelError("beside the net of landmarks there must be a face detector whose outputs are recognised")
        return cls(net, top, faces)

    def detect(self, pixels: Numpy, settings: Settings) -> Detections:
        high, wide = pixels.shape[:2]
        if self.faces is None:
            faces = Detections(np.array([[0, 0, wide, high]]), np.ones(1), np.ones(1), self.NAMES)
        else:
            faces = self.faces.detect(pixels, self.faces.settings.given(threshold=settings.threshold or None))
        points = []
        count = shape_of(self.net, self.blobs[0])[1] // 2
        for box in faces.boxes.astype(np.float64):
            if np.isnan(box).any():  # the Detector says so
                points.append(np.full((count, 2), np.nan))
                continue
            left, top = np.clip(np.floor(box[:2]), 0, (wide - 1, high - 1)).astype(int)
            right, bottom = np.clip(np.ceil(box[2:]), (left + 1, top + 1), (wide, high)).astype(int)
            name, channels, width, height = picture_input(self.net, settings.size or self.side)
            values = {name: prepare(pixels[top:bottom, left:right], channels, width, height, settings)}
            parts = shares(self.forward(values), width, height)
            points.append(parts * (right - left, bottom - top) + (left, top))
        marks = np.array(points, np.float64).reshape(len(faces), count, 2)
        if self.faces is not None:
            return Detections(faces.boxes, faces.scores, faces.class_ids, faces.names, landmarks=marks)
        boxes = np.concatenate([marks.min(1), marks.max(1)], 1)
        return Detections(boxes, faces.scores, faces.class_ids, self.NAMES, landmarks=marks)

    def batch(self, pictures: Sequence[Numpy], settings: Settings) -> list[Detections]:
        return [self.detect(pixels, settings) for pixels in pictures]  # each has faces of its own

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        _, _, width, height = picture_input(self.net, settings.size or self.side)
        marks = shares(values[self.blobs[0]], width, height) * (shape[1], shape[0])
        boxes = np.concatenate([marks.min(0), marks.max(0)])[None]
        return Detections(boxes, np.ones(1), np.ones(1), self.NAMES, landmarks=marks[None])

    def forward(self, values: dict[str, Numpy]) -> Numpy:
        """The net's points."""
        inputs: dict[str, Any] = values
        points: Numpy = self.net.forward(**inputs)[self.blobs[0]]
        return points


def shares(values: Numpy, width: int, height: int) -> Numpy:
    """(K, 2): points as parts of the face, of numbers in whichever of the three units they are."""
    points = values.astype(np.float64).reshape(-1, 2)
    if np.abs(points).max(initial=0) > 2:
        return points / (width, height)
    if (points < -0.1).mean() > 0.1:  # around the centre: about half of the numbers are negative
        return points + 0.5
    return points
