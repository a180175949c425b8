"""Where a detector suppresses boxes that overlap a better one, and how another overlap is had without another pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..data.inputs import Numpy
from ..decoders.base import Decoder, Settings
from ..decoders.ssd import RowsDecoder
from ..device import Blob
from ..layers.core import Layer, make_layer
from ..layers.core.boundary import Named
from ..net import Net


class Suppression:
    """What suppresses the boxes of a decoder: a layer of its net, or the decoder itself, or nothing.

    Attributes
    ----------
    layer
        The layer, None where it is the decoder or nothing.
    bottoms
        Names of the layer's bottoms.
    """

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.layer: Layer | None = None
        self.bottoms: list[str] = []
        if isinstance(decoder, RowsDecoder) and decoder.layer.overlap_field:
            self.layer = decoder.layer
            self.bottoms = list(decoder.net.bottom_names[decoder.layer.name])

    def overlap(self, settings: Settings) -> float | None:
        """The overlap in force without a word; None where nothing suppresses."""
        if settings.overlap is not None:
            return settings.overlap if self.layer or self.decoder.SETTINGS.overlap is not None else None
        if self.layer is None:
            return None
        value: Any = self.layer.param
        for field in self.layer.overlap_field.split("."):
            value = getattr(value, field)
        return round(float(value), 6)

    def where(self, settings: Settings) -> str:
        """In words, for the page."""
        if self.layer is not None:
            return (
                f"nms_threshold of layer {self.layer.name}, type {self.layer.type}: it alone is run again over what its "
                "bottoms held; its other parameters stay"
            )
        if self.overlap(settings) is None:
            return f"the decoder {self.decoder.NAME} suppresses nothing by overlap"
        inside = [layer.name for net in self.decoder.nets for layer in net.layers if layer.type.endswith("Proposal")]
        rest = f"; region proposals of layer {inside[0]} keep their own" if inside else ""
        return f"the decoder {self.decoder.NAME} reads the same outputs again{rest}"

    def change(self, settings: Settings) -> Callable[[dict[str, Numpy]], dict[str, Numpy]] | None:
        """What is to be done with the outputs of a pass, None for nothing: the layer with another overlap than its own."""
        if self.layer is None or not isinstance(self.decoder, RowsDecoder):
            return None
        overlap, own = settings.overlap, self.overlap(replace(settings, overlap=None))
        if overlap is None or overlap == own:
            return None
        return partial(self.again, self.decoder.net, top=self.decoder.blobs[0], overlap=overlap)

    def again(self, net: Net, values: dict[str, Numpy], top: str, overlap: float) -> dict[str, Numpy]:
        """The values with the layer's top as it is with another overlap, made of its bottoms' values alone."""
        if self.layer is None:
            return values
        message = type(self.layer.param)()
        message.CopyFrom(self.layer.param)
        param: Any = message
        *path, last = self.layer.overlap_field.split(".")
        for field in path:
            param = getattr(param, field)
        setattr(param, last, overlap)
        if message.detection_output_param.HasField("save_output_param"):
            message.detection_output_param.ClearField("save_output_param")  # files are not written again
        axes = [values[each].ndim for each in self.bottoms]
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
        return {**values, top: np.array(tops[0].data)}
