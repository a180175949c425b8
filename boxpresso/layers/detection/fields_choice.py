"""BoxOutput and BoxGroupOutput by kernels alone: fields at all places, their order and suppression on the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Layer
from . import choice
from .choice import RegionChoice

kernels = Kernels(Path(__file__).with_name("fields_choice.cu"), UNFUSED)
FILES = kernels, *choice.FILES


class FieldsChoice(RegionChoice):
    """The choice of regions from the maps of a multi-scale proposal network.

    Parameters
    ----------
    layer
        The layer.
    sizes
        Of each group of fields (2, K), widths and heights.
    strides
        Of each group, the pixels from one place to the next.
    limits
        How many boxes are taken before suppression and after; 0: all.
    threshold
        Of suppression.
    bounds
        By how much of a field a centre may move, and by how much the logarithm of a size.
    deviation
        The mean and the standard deviation of the four offsets.
    least
        The least score, and the least side of a box.
    pixels
        Whether a box has its last pixel, as those of BoxGroupOutput.
    """

    def __init__(
        self, layer: Layer, sizes: Sequence[np.ndarray], strides: Sequence[float], limits: tuple[int, int], threshold: float,
        *, bounds: tuple[float, float], deviation: tuple[np.ndarray, np.ndarray], least: tuple[float, float], pixels: bool,
    ) -> None:  # fmt: skip
        super().__init__(layer, 4, *limits, float(np.float32(threshold)), int(pixels))
        self.fields = [each.shape[1] for each in sizes]
        self.sizes = [layer.device.table(each, np.float64) for each in sizes]
        self.strides, self.bounds, self.deviation = [float(stride) for stride in strides], bounds, deviation
        self.sure, self.side = least

    def reshape(self, images: int, shapes: Sequence[tuple[int, ...]]) -> None:
        """Takes the number of images and the shapes of the maps of scores, and counts the rows that there can be."""
        counts = [fields * shape[2] * shape[3] for fields, shape in zip(self.fields, shapes)]
        if self.resize(images, sum(counts)):
            self.counts, self.shapes = [images * count for count in counts], shapes
            self.firsts = np.cumsum([0, *counts]).tolist()

    def launch(self, scores: Sequence[Blob], offsets: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Launches all. offsets: one for each map of scores, or none where these have them in their last channels."""
        (far, wide), (mean, std) = self.bounds, self.deviation

        def decode() -> None:
            bound, best = kernels.on(self.device), self.best
            kernel = bound.group_boxes if offsets else bound.field_boxes
            for i, (_, channels, height, width) in enumerate(self.shapes):
                maps = [blobs[i].data for blobs in (scores, offsets) if blobs]
                fields = kernels.struct(
                    "Fields", images=self.images, fields=self.fields[i], channels=channels, height=height, width=width,
                    first=self.firsts[i], items=self.items, room=best.room, stride=self.strides[i], far=far, wide=wide,
                    mean=mean.tolist(), std=std.tolist(),
                )  # fmt: skip
                kernel(self.counts[i], *maps, self.sizes[i], self.boxes, best.values, fields, self.sure, self.side)

        self.choose(decode, top[0].data, top[1].data if len(top) > 1 else None, 6)
