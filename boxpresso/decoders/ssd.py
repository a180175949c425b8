"""SSD, and every net whose last layer lists detections as rows (image, label, score, xmin, ymin, xmax, ymax)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..data.inputs import Numpy
from ..device import Blob
from ..layers.core import Layer, make_layer
from ..layers.core.boundary import Named
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, single
from .detections import Detections


class RowsDecoder(OneNet):
    """Rows of detections, corners from 0 to 1; the layer suppresses."""

    TYPES: ClassVar[tuple[str, ...]]

    def __init__(self, net: Net, layer: Layer, top: str) -> None:
        super().__init__(net, [top])
        self.layer = layer

    @classmethod
    def last(cls, net: Net) -> tuple[Layer, str] | None:
        """The last layer of one of the types, and its top."""
        outputs = [(layer, tops[0]) for layer, (_, tops) in zip(net.layers, net.names) if layer.type in cls.TYPES]
        return outputs[-1] if outputs else None

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        return {
            "one net": len(nets) == 1,
            f"a layer of type {' or '.join(cls.TYPES)}": any(cls.last(net) for net in nets),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> RowsDecoder:
        net = single(nets, cls.NAME)
        if (last := cls.last(net)) is None:
            raise ModelError(
                f"net {net.name!r} has no layer of type {' or '.join(cls.TYPES)}, from which detections are read"
            )
        return cls(net, *last)

    @property
    def suppresses(self) -> bool:
        return bool(self.layer.overlap_field)

    @property
    def bottoms(self) -> tuple[str, ...]:
        """The blobs that the layer reads."""
        return tuple(self.net.bottom_names[self.layer.name])

    def own_overlap(self) -> float:
        """The overlap that the layer's parameters say; they must say one."""
        value: Any = self.layer.param
        for field in self.layer.overlap_field.split("."):
            value = getattr(value, field)
        return round(float(value), 6)

    def run(self, inputs: dict[str, Any], settings: Settings) -> dict[str, Numpy]:
        """A pass of the net; with another overlap than the layer's own, the layer alone is run again over its bottoms."""
        if settings.overlap is None or not self.suppresses or settings.overlap == self.own_overlap():
            return super().run(inputs, settings)
        values = self.net.forward((*self.blobs, *self.bottoms), **inputs)
        return {self.blobs[0]: self.again(values, settings.overlap)}

    def again(self, values: dict[str, Numpy], overlap: float) -> Numpy:
        """The layer's top as it is with another overlap, made of its bottoms' values alone."""
        message = type(self.layer.param)()
        message.CopyFrom(self.layer.param)
        param: Any = message
        *path, last = self.layer.overlap_field.split(".")
        for field in path:
            param = getattr(param, field)
        setattr(param, last, overlap)
        if message.detection_output_param.HasField("save_output_param"):
            message.detection_output_param.ClearField("save_output_param")  # files are not written again
        net, axes = self.net, [values[each].ndim for each in self.bottoms]
        layer = make_layer(message, device=net.device, dtype=net.dtype, axes=axes)
        bottom = []
        for each in self.bottoms:
            blob = Blob(values[each].shape, net.dtype, net.device)
            blob.data[...] = values[each]
            bottom.append(blob)
        tops = [Blob((), net.dtype, net.device)]
        with Named(layer):
            layer.setup(bottom, tops)
            layer.reshape(bottom, tops)
            layer.forward(bottom, tops)
        return np.array(tops[0].data)

    def part(self, values: dict[str, Numpy], index: int, count: int) -> dict[str, Numpy] | None:
        rows = self.rows(values)
        return {self.blobs[0]: rows[rows[:, 0] == index]}

    def rows(self, values: dict[str, Numpy]) -> Numpy:
        """The rows of seven numbers, without the states that may stand behind a score."""
        rows = values[self.blobs[0]]
        states = getattr(self.layer, "states", 0) if rows.shape[-1] > 7 else 0
        return np.delete(rows.reshape(-1, 7 + states), np.s_[3 : 3 + states], 1)

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        rows = self.rows(values).astype(np.float64)
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
