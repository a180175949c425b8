"""YoloSeg: the loss of the maps of classes that MobileNet-YOLO learns beside its boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from .normalized_sum import KERNELS, Sum


class YoloSeg(
    Layer,
    type="YoloSeg",
    param="yolo_seg_param",
    bottoms=(2, 3),
    tops=1,
    loss=True,
    traits=Trait.COMPARES | Trait.BINARY,
):
    """The sum of (scale * (sigmoid(score) - label))^2 over all pixels and classes / N.

    The scale is `object_scale`. With bottom 2, that of a pixel with the label 1 is object_scale * (2 - pixels of its class /
    pixels of the others), counted over the batch. The gradient is that of darknet, not of this sum: scale *
    (sigmoid(score) - label) / N.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), scores.
    bottom 1
        (N, C, H, W), labels 0 or 1 of each class.
    bottom 2
        Optional: (N, C), how many pixels each class has in each image.
    yolo_seg_param
        `object_scale` (5). The other fields are not read.

    Returns
    -------
    top 0
        The loss, one number.

    Raises
    ------
    LayerError
        For bottoms that do not fit each other, an empty batch, or a gradient asked for the labels.

    Source
    ------
    MobileNet-YOLO's Caffe. A class that has all pixels, whose ratio is infinite there, has the ratio 0.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "YoloSeg" yolo_seg_param { object_scale: 2 }', [[[[0, 0]]]], [[[[1, 0]]]]).item()
    2.0
    """

    kernels, sum_kernels = Kernels("yolo_seg.cu"), KERNELS

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = self.axes(bottom[0], 4, "bottom 0")
        self.need(
            bottom[1].count == bottom[0].count and bottom[1].shape[:1] == shape[:1],
            f"needs a label for each score, got scores {shape} and labels {bottom[1].shape}",
        )
        self.need(bottom[0].count, f"a loss over an empty batch (shape {shape}) has no value")
        self.need(
            len(bottom) < 3 or bottom[2].count == shape[0] * shape[1],
            f"bottom 2 must be {shape[:2]}, the pixels of each class, got {bottom[-1].shape}",
        )
        top[0].reshape()
        self.channels, self.area = shape[1], shape[2] * shape[3]
        self.error = self.device.empty((bottom[0].count,), self.dtype)
        self.sum = Sum(self, bottom[0].count)
        self.images = shape[0]

    def scales(self, bottom: list[Blob]) -> np.ndarray:
        """The scale of a pixel with the label 1, for each class."""
        scale = self.param.yolo_seg_param.object_scale
        if len(bottom) < 3:
            return np.full(self.channels, scale)
        pixels = np.asarray(bottom[2].data).astype(np.float64).reshape(self.images, self.channels).sum(0)
        others = self.images * self.area - pixels
        ratio = np.divide(pixels, others, out=np.zeros(self.channels), where=others != 0)
        return np.asarray(scale * (2 - ratio))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        scales = self.device.table(self.scales(bottom), self.dtype)
        plain = self.param.yolo_seg_param.object_scale
        self.kernels.yolo_seg_errors(
            bottom[0].count, bottom[0].data, bottom[1].data, scales, self.error, plain, self.channels, self.area
        )
        self.kernels.yolo_seg_squares(self.sum.blocks, self.error, self.sum.partial, bottom[0].count)
        self.sum.join(top[0].data, float(self.images))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "labels have no gradient; set propagate_down: false for them")
        if propagate_down[0]:
            self.kernels.yolo_seg_backward(bottom[0].count, self.error, top[0].diff, bottom[0].diff, 1 / self.images)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
