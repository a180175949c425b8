"""ConsistencyLoss: how far joints of two frames are from where the optical flow would carry them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer


class ConsistencyLoss(Layer, type="ConsistencyLoss", bottoms=2, tops=(0, 1), loss=True):
    """top = sum over images and joints of |x + u - x'| + |y + v - y'|, divided by the images.

    (x, y) and (x', y') are a joint in both frames, u the mean of the flow's first channel at the two, and v that of its second
    channel at the first and at (x', y), as in its program. Places are cut to whole pixels inside the flow. The gradient is
    that of the joints beside the flow, which is taken as fixed.

    Parameters
    ----------
    bottom 0
        (N, 4 J, ...): x, y, x', y' of each joint, in pixels of the flow.
    bottom 1
        (N, 2, H, W), the flow, without a gradient.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        For channels that are no multiple of 4, a flow of other channels or images or without pixels, no images; a gradient of
        the flow is asked for.

    Source
    ------
    qxcv's Caffe, of joint-regressor.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> flow = [[[[1, 1]], [[0, 0]]]]
    >>> run_layer('type: "ConsistencyLoss"', [[0, 0, 3, 0]], flow).item()  # carried to x = 1
    2.0
    """

    kernels = Kernels("consistency_loss.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, flow = bottom[0].shape, bottom[1].shape
        self.need(
            len(shape) > 1 and shape[1] % 4 == 0 and bottom[0].count,
            f"bottom 0 must be (N, 4 joints, ...): x and y of each in both frames; its shape is {shape}",
        )
        self.need(
            len(flow) == 4 and flow[:2] == (shape[0], 2) and bottom[1].count,
            f"bottom 1 must be ({shape[0]}, 2, H, W), the flow of each image; its shape is {flow}",
        )
        self.inner = prod(shape[2:])
        self.joints = bottom[0].count // 4
        self.each = self.joints // shape[0]  # of an image, in all places
        self.sizes = self.inner, self.each, *flow[2:]
        top[0].reshape()
        self.costs = self.device.empty((self.joints,), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.consistency(self.joints, bottom[0].data, bottom[1].data, self.costs, *self.sizes)
        self.kernels.consistency_sum(1, self.costs, top[0].data, self.joints, bottom[0].shape[0])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "the flow has no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            x, flow, diff = bottom[0].data, bottom[1].data, bottom[0].diff
            self.kernels.consistency_diff(self.joints, x, flow, top[0].diff, diff, *self.sizes, bottom[0].shape[0])

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
