"""Classification: the likeliest classes of the whole picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.inputs import Numpy
from ..layers.core import Trait
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, producer, shape_of, single, softmax
from .detections import Detections

TOP = 5  # how many classes are given


class Classification(OneNet):
    """One output (N, C), or (N, C, 1, 1), of probabilities; of scores where the last layer is no Softmax.

    Each of the five likeliest classes has the whole picture as its box. Labels count from 0 and there is no background. A
    net of ImageNet's 1000 classes gets the mean 104, 117, 123, one of 28 x 28 grey pixels the scale 1/256.

    Source
    ------
    Caffe's classification example, and LeNet's.
    """

    NAME = "classification"
    TITLE = "classification: one output of C probabilities"
    SETTINGS = Settings(threshold=0.0)
    KIND = "classes"

    def __init__(self, net: Net, top: str) -> None:
        super().__init__(net, [top])
        layer = producer(net, top)
        self.raw = layer is None or Trait.PROBABILITIES not in layer.traits
        _, channels, height, _ = shape_of(net, net.inputs[0])
        if channels == 3 and height >= 200:
            self.settings = self.settings.given(mean=(104.0, 117.0, 123.0))
        elif channels == 1 and height <= 32:
            self.settings = self.settings.given(scale=1 / 256)

    @staticmethod
    def find(net: Net) -> str | None:
        """The only output, where it is a row of scores."""
        if len(net.outputs) != 1:
            return None
        shape = shape_of(net, net.outputs[0])
        flat = len(shape) >= 2 and shape[1] >= 2 and all(side == 1 for side in shape[2:])
        layer = producer(net, net.outputs[0])
        return net.outputs[0] if flat and layer is not None and Trait.WRITES_ALL in layer.traits else None

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        net = nets[0]
        top = cls.find(net)
        layer = producer(net, top) if top else None
        return {
            "one net": len(nets) == 1,
            "one input, a picture": len(net.inputs) == 1 and len(shape_of(net, net.inputs[0])) == 4,
            "one output (N, C) of scores": top is not None,
            "a Softmax at its end, or ImageNet's 1000 classes": layer is not None
            and (layer.type == "Softmax" or pooled(net, top) or shape_of(net, str(top))[1] == 1000),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> Classification:
        net = single(nets, cls.NAME)
        top = cls.find(net)
        if top is None or len(net.inputs) != 1 or len(shape_of(net, net.inputs[0])) != 4:
            raise ModelError(
                f"net {net.name!r} has no single picture as its input and no single output (N, C) of scores"
            )
        return cls(net, top)

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        scores = values[self.blobs[0]].reshape(-1).astype(np.float64)
        scores = softmax(scores) if self.raw else scores
        best = np.argsort(-scores, kind="stable")[:TOP]
        best = best[scores[best] >= settings.threshold]
        boxes = np.tile(np.array([0, 0, shape[1], shape[0]], np.float64), (len(best), 1))
        return Detections(boxes, scores[best], best, kind="classes")


def pooled(net: Net, top: str | None) -> bool:
    """Whether an output is a Softmax that was reshaped or pooled."""
    layer = producer(net, top) if top else None
    if layer is None or not layer.traits & (Trait.VIEW | Trait.POOLS):
        return False
    bottoms = next(bottoms for each, (bottoms, _) in zip(net.layers, net.names) if each is layer)
    before = producer(net, bottoms[0])
    return before is not None and before.type == "Softmax"
