"""AssistedExcitation: features that are raised where the true boxes are, less and less while training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ...device.functions import sine_cosine
from ..core import Layer
from ..core.param_str import settings


class AssistedExcitation(Layer, type="AssistedExcitation", param="python_param", bottoms=3, tops=1):
    """top = bottom 0 + alpha * bottom 2 inside the true boxes, alpha = cos(pi / 2 * iteration / (0.75 * max_iter)).

    alpha falls from 1 to 0 and stays there. At TEST it is 0. Bottoms 0 and 2 get a gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), features.
    bottom 1
        (N, ..., 5), true boxes: label, centre x, centre y, width, height, as fractions of the image. Of each image only the
        boxes before the first one with x = 0 count.
    bottom 2
        (N, 1, H, W) or (N, H, W), such as the mean of the channels.
    python_param
        `param_str` may hold `max_iter` (120000), the iterations of the training, which that program asks its solver for.

    Returns
    -------
    top 0
        (N, C, H, W).

    Raises
    ------
    LayerError
        For bottoms that do not fit each other, or a `max_iter` that is not above 0.

    Source
    ------
    Derakhshani et al. 2019, and MobileNet-YOLO's Caffe, whose program excites the first image of a batch alone and takes
    bottom 2 for a constant.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "AssistedExcitation"'
    >>> run_layer(text, [[[[1, 1]]]], [[[0, 0.25, 0.5, 0.5, 1]]], [[[[2, 2]]]], phase="TRAIN").round(3).tolist()
    [[[[3.0, 1.0]]]]
    """

    kernels = Kernels("assisted_excitation.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.most = settings(self, {"max_iter": 120000})["max_iter"]
        self.need(isinstance(self.most, (int, float)) and self.most > 0, f"max_iter must be above 0, got {self.most!r}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, self.channels, *size = self.axes(bottom[0], 4, "bottom 0")
        self.need(
            bottom[1].shape[:1] == (images,) and bottom[1].count % (5 * max(1, images)) == 0,
            f"bottom 1, the true boxes, must be ({images}, ..., 5), got {bottom[1].shape}",
        )
        self.need(
            bottom[2].shape in ((images, 1, *size), (images, *size)),
            f"bottom 2 must be {(images, 1, *size)}, got {bottom[2].shape}",
        )
        self.mask_shape, self.area = (images, *size), size[0] * size[1]
        top[0].reshape(*bottom[0].shape)
        self.scratch("mask", (images * self.area,))

    def mask(self, truth: np.ndarray, alpha: float) -> np.ndarray:
        """alpha inside the true boxes, 0 outside, (N, H, W)."""
        mask = np.zeros(self.mask_shape)
        images, height, width = self.mask_shape
        for image in range(images if alpha and mask.size else 0):
            rows = truth.reshape(images, -1, 5)[image]
            end = np.flatnonzero(rows[:, 1] == 0)
            for x, y, w, h in np.nan_to_num(rows[: end[0]] if len(end) else rows)[:, 1:]:
                x0 = int(np.clip(int((x - w / 2) * width), 0, width - 1))
                y0 = int(np.clip(int((y - h / 2) * height), 0, height - 1))
                x1 = int(np.clip(int((x + w / 2) * width + 0.95), x0 + 1, width))
                y1 = int(np.clip(int((y + h / 2) * height + 0.95), y0 + 1, height))
                mask[image, y0:y1, x0:x1] = alpha
        return mask

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        train = self.phase == "TRAIN"
        turn = min(1.0, self.pass_number / (0.75 * self.most))
        alpha = float(sine_cosine(turn * np.pi / 2)[1]) if train and turn < 1 else 0.0
        self.pass_number += 1
        table = self.mask(np.asarray(bottom[1].data).astype(np.float64), alpha)
        mask = self.room("mask")
        mask[...] = table.reshape(-1)
        self.kernels.excite(top[0].count, bottom[0].data, bottom[2].data, mask, top[0].data, self.channels, self.area)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "true boxes have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff
        if propagate_down[2]:
            self.kernels.excite_backward(
                bottom[2].count, top[0].diff, self.room("mask"), bottom[2].diff, self.channels, self.area
            )

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
