"""CenterFace: faces as peaks of a heat map, with sizes, offsets and five landmarks beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.inputs import Numpy
from ..device.functions import exp
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, picture_input, prepare, producer, shape_of, sigmoid, single
from .detections import Detections

STRIDE = 4


class CenterFace(OneNet):
    """Four maps at a stride of 4: scores (1, 1, H, W), heights and widths (1, 2, H, W), offsets of centres (1, 2, H, W) and
    landmarks (1, 10, H, W), all with the vertical number first.

    The picture is stretched to whole multiples of 32 pixels.

    Source
    ------
    Xu et al. 2019; Star-Clouds/CenterFace, prj-python/centerface.py.
    """

    NAME = "centerface"
    TITLE = "CenterFace: maps of 1, 2, 2 and 10 channels at a stride of 4"
    SETTINGS = Settings(swap_rb=True, threshold=0.5, overlap=0.3)
    NAMES = {1: "face"}

    def __init__(self, net: Net, heat: str, sizes: str, offsets: str, points: str) -> None:
        super().__init__(net, [heat, sizes, offsets, points])
        layer = producer(net, heat)
        self.raw = layer is None or layer.type != "Sigmoid"

    @staticmethod
    def find(net: Net) -> list[str]:
        """The blobs of scores, sizes, offsets and landmarks."""
        shapes = {name: shape_of(net, name) for name in net.outputs}
        by = {c: [n for n, s in shapes.items() if len(s) == 4 and s[1] == c] for c in (1, 2, 10)}
        if [len(by[c]) for c in (1, 2, 10)] != [1, 2, 1] or len({s[2:] for s in shapes.values()}) != 1:
            return []
        sizes, offsets = by[2]
        if any(word in sizes for word in ("offset", "off", "reg")) or "scale" in offsets or "wh" in offsets:
            sizes, offsets = offsets, sizes
        return [*by[1], sizes, offsets, *by[10]]

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        net = nets[0]
        blobs = cls.find(net)
        source = shape_of(net, net.inputs[0]) if net.inputs else ()
        return {
            "one net": len(nets) == 1,
            "outputs of 1, 2, 2 and 10 channels and one size": bool(blobs),
            "that size is a quarter of the input's": bool(blobs)
            and len(source) == 4
            and all(abs(a - STRIDE * b) < 2 * STRIDE for a, b in zip(source[2:], shape_of(net, blobs[0])[2:])),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> CenterFace:
        net = single(nets, cls.NAME)
        blobs = cls.find(net)
        if not blobs:
            raise ModelError(f"net {net.name!r} has no four outputs of 1, 2, 2 and 10 channels and one size")
        return cls(net, *blobs)

    @property
    def classes(self) -> int | None:
        return 2

    def inputs(self, pixels: Numpy, settings: Settings) -> dict[str, Numpy]:
        whole = tuple(-(-side // 32) * 32 for side in (pixels.shape[1], pixels.shape[0]))
        name, channels, width, height = picture_input(self.net, settings.size or (whole[0], whole[1]))
        return {name: prepare(pixels, channels, width, height, settings)}

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        heat, sizes, offsets, points = (values[name][0].astype(np.float64) for name in self.blobs)
        heat = sigmoid(heat[0]) if self.raw else heat[0]
        row, column = np.nonzero(heat > settings.threshold)
        score = heat[row, column]
        _, _, width, height = picture_input(self.net)
        with np.errstate(over="ignore"):
            size = exp(sizes[:, row, column]).T[:, ::-1] * STRIDE  # width, then height
        centre = (np.stack([column, row], 1) + offsets[:, row, column].T[:, ::-1] + 0.5) * STRIDE
        most = np.array([width, height])
        start = np.clip(centre - size / 2, 0, most)
        boxes = np.concatenate([start, np.minimum(start + size, most)], 1)
        landmarks = start[:, None] + points[:, row, column].T.reshape(-1, 5, 2)[..., ::-1] * size[:, None]
        order = np.argsort(-score, kind="stable")
        overlap = 0.3 if settings.overlap is None else settings.overlap
        stay = order[suppress_boxes(self.net.device, boxes[order], overlap)]
        scale = np.array([shape[1], shape[0]]) / most
        return Detections(
            boxes[stay] * np.tile(scale, 2),
            score[stay],
            np.ones(len(stay)),
            self.NAMES,
            landmarks=landmarks[stay] * scale,
        )
