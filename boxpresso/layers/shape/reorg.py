"""Reorg: YOLOv2's passthrough, space to depth."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer, Trait, strided


class Reorg(Layer, type="Reorg", param="reorg_param", bottoms=1, tops=1, traits=Trait.REARRANGES | Trait.WRITES_ALL):
    """(N, C, H, W) to (N, C s^2, H / s, W / s), s = stride: blocks of s x s pixels become channels.

    `reverse: true` goes back in shape, from (N, C, H, W) to (N, C / s^2, H s, W s).

    As in darknet, whose weights expect it, the elements do not stay in their blocks. The bottom's memory is read as
    (N, C / s^2, H s, W s). The pixels of its s x s blocks become channels, which makes (N, C, H, W). That memory is
    the top's. `reverse` moves the elements the other way: the channels of (N, C, H, W) become the pixels of s x s
    blocks. Both use the shape of their own bottom, so the one does not undo the other. C must be divisible by s^2 in
    both directions.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    reorg_param
        `stride` (must be given): the side s of a block. `reverse` (false): channels become pixels.

    Returns
    -------
    top 0
        (N, C s^2, H / s, W / s), or with `reverse` (N, C / s^2, H s, W s).

    Raises
    ------
    LayerError
        For a missing stride, a bottom without four axes, channels that are not divisible by s^2, or, without `reverse`,
        a height or width that is not divisible by s.

    Source
    ------
    darknet; MobileNet-YOLO's Caffe.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> top = run_layer('type: "Reorg" reorg_param { stride: 2 }', np.arange(16).reshape(1, 4, 2, 2))
    >>> top.shape
    (1, 16, 1, 1)
    >>> top.ravel().astype(int).tolist()
    [0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15]
    >>> run_layer('type: "Reorg" reorg_param { stride: 2 reverse: true }', np.arange(4).reshape(1, 4, 1, 1)).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """

    kernels = strided.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        stride = self.param.reorg_param.stride
        self.need(stride > 0, f"reorg_param: stride must be given and at least 1, got {stride}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.reorg_param, self.axes(bottom[0], 4)
        images, channels, height, width = shape
        s, square = p.stride, p.stride**2
        self.need(channels % square == 0, f"{channels} channels do not divide by stride {s} squared")
        if p.reverse:
            top[0].reshape(images, channels // square, height * s, width * s)
        else:
            fits = height % s == 0 and width % s == 0
            self.need(fits, f"height {height} and width {width} do not divide by stride {s}")
            top[0].reshape(images, channels * square, height // s, width // s)
        few = channels // square
        self.shape = images, s, s, few, height, width
        fine = strides((images, few, height, s, width, s))
        self.split = fine[0], fine[3], fine[5], fine[1], fine[2], fine[4]
        self.joined = strides(self.shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        ways = (self.joined, self.split) if self.param.reorg_param.reverse else (self.split, self.joined)
        strided.copy(self.device, self.shape, bottom[0].data, ways[0], top[0].data, ways[1])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            ways = (self.split, self.joined) if self.param.reorg_param.reverse else (self.joined, self.split)
            strided.copy(self.device, self.shape, top[0].diff, ways[0], bottom[0].diff, ways[1])
