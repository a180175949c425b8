"""Super-resolution: a net that makes a picture of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from ..data.inputs import Numpy, mean_array
from ..layers.core import Trait
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, picture_input, prepare, producer, shape_of, single
from .detections import Detections

ENLARGED = 2  # how much a picture is enlarged before a net that does not do so itself


class SuperResolution(OneNet):
    """One output with the input's channels, as large as the input or larger.

    A net with one channel gets the brightness (Y of YCbCr), from 0 to 1; the two colours are enlarged bicubically. One whose
    output is as large as its input, such as VDSR, gets the picture enlarged twice bicubically, or to `size`. The net takes
    the size of the picture.

    Source
    ------
    Kim et al. 2016 (VDSR); OpenCV's WeChatQRCode, super_scale.cpp.
    """

    NAME = "superresolution"
    TITLE = "super-resolution such as VDSR and WeChat's sr: one output with the input's channels, as large or larger"
    SETTINGS = Settings(scale=1 / 255)
    KIND = "picture"

    def __init__(self, net: Net, top: str) -> None:
        super().__init__(net, [top])
        source, result = shape_of(net, net.inputs[0]), shape_of(net, top)
        self.channels = source[1]
        self.enlarges = result[2] > source[2]

    @staticmethod
    def find(net: Net) -> str | None:
        """The output that is a picture."""
        if len(net.inputs) != 1 or len(net.outputs) != 1:
            return None
        source, result = shape_of(net, net.inputs[0]), shape_of(net, net.outputs[0])
        layer = producer(net, net.outputs[0])
        if len(source) != 4 or len(result) != 4 or layer is None or Trait.WRITES_ALL not in layer.traits:
            return None
        fits = source[1] == result[1] and source[1] in (1, 3) and min(source[2:]) > 8
        larger = result[2] >= source[2] and result[3] >= source[3]
        return net.outputs[0] if fits and larger else None

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        return {
            "one net": len(nets) == 1,
            "one input, a picture, and one output": len(nets[0].inputs) == 1 and len(nets[0].outputs) == 1,
            "the output has the input's 1 or 3 channels and is as large or larger": cls.find(nets[0]) is not None,
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> SuperResolution:
        net = single(nets, cls.NAME)
        if (top := cls.find(net)) is None:
            raise ModelError(
                f"net {net.name!r} has no single output with its input's 1 or 3 channels, as large or larger"
            )
        return cls(net, top)

    def detect(self, pixels: Numpy, settings: Settings) -> Detections:
        image = Image.fromarray(np.ascontiguousarray(pixels))
        size = settings.size or (image.size if self.enlarges else (ENLARGED * image.width, ENLARGED * image.height))
        if size != image.size:
            image = image.resize(size, Image.Resampling.BICUBIC)
        name = picture_input(self.net)[0]
        if self.channels == 3:
            result = self.made(name, np.asarray(image.convert("RGB")), settings).transpose(1, 2, 0)
            result = result if settings.swap_rb else result[:, :, ::-1]
            return Detections.none(kind="picture", picture=np.ascontiguousarray(result))
        bands = image.convert("YCbCr").split() if image.mode == "RGB" else (image,)
        bright = Image.fromarray(self.made(name, np.asarray(bands[0]), settings)[0])
        if len(bands) == 1:
            return Detections.none(kind="picture", picture=np.asarray(bright))
        colours = [band.resize(bright.size, Image.Resampling.BICUBIC) for band in bands[1:]]
        return Detections.none(
            kind="picture", picture=np.asarray(Image.merge("YCbCr", [bright, *colours]).convert("RGB"))
        )

    def made(self, name: str, pixels: Numpy, settings: Settings) -> Numpy:
        """What the net makes of pixels, uint8 (C, H, W), its means and scale undone."""
        height, width = pixels.shape[:2]
        inputs: dict[str, Any] = {name: prepare(pixels, self.channels, width, height, settings)}
        values = self.net.forward(**inputs)[self.blobs[0]][0]
        mean = 0 if settings.mean is None else mean_array(settings.mean, self.channels, *values.shape[:0:-1])
        return np.asarray((values / settings.scale + mean).round().clip(0, 255).astype(np.uint8))

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        raise ModelError("the picture of a super-resolution net is not read by itself; call detect")

    def batch(self, pictures: Sequence[Numpy], settings: Settings) -> list[Detections]:
        return [self.detect(pixels, settings) for pixels in pictures]
