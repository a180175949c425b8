"""SSD, and every net whose last layer lists detections as rows (image, label, score, xmin, ymin, xmax, ymax)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..data.inputs import Numpy
from ..layers.core import Layer
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, single
from .detections import Detections


class RowsDecoder(OneNet):
    """Rows of detections, corners from 0 to 1; suppression is the layer's own."""

    TYPES: ClassVar[tuple[str, ...]]

    def __init__(self, net: Net, layer: Layer, top: str) -> None:
        super().__init__(net, [top])
        self.layer = layer

    @classmethod
    def last(cls, net: Net) -> tuple[Layer, str] | None:
        """The last layer of one of the types, and its top."""
        found = [(layer, tops[0]) for layer, (_, tops) in zip(net.layers, net.names) if layer.type in cls.TYPES]
        return found[-1] if found else None

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        return {
            "one net": len(nets) == 1,
            f"a layer of type {' or '.join(cls.TYPES)}": any(cls.last(net) for net in nets),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> RowsDecoder:
        net = single(nets, cls.NAME)
        if (found := cls.last(net)) is None:
            raise ModelError(
                f"net {net.name!r} has no layer of type {' or '.join(cls.TYPES)}, from which detections are read"
            )
        return cls(net, *found)

    def part(self, values: dict[str, Numpy], index: int, count: int) -> dict[str, Numpy] | None:
        top = self.blobs[0]
        rows = values[top].reshape(-1, 7)
        return {top: rows[rows[:, 0] == index]}

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        rows = values[self.blobs[0]].reshape(-1, 7).astype(np.float64)
        rows = rows[(rows[:, 1] >= 0) & (rows[:, 2] >= np.float32(settings.threshold))]
        return Detections(rows[:, 3:] * np.tile(shape[::-1], 2), rows[:, 2], rows[:, 1])


class Ssd(RowsDecoder):
    """SSD, RefineDet, FaceBoxes, TextBoxes: nets that end in DetectionOutput.

    Source
    ------
    Liu et al. 2016.
    """

    NAME = "ssd"
    TITLE = "SSD and others that end in a layer of type DetectionOutput"
    TYPES = ("DetectionOutput",)

    @property
    def classes(self) -> int | None:
        return int(self.layer.param.detection_output_param.num_classes)
