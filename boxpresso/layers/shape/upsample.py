"""Upsample: enlarge planes, by repeating each element or by undoing a max pooling."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Upsample(
    Layer,
    type=("Upsample", "UpsampleNearest", "UpsampleDarknet"),
    param=("upsample_param", "upsample_nearest_param", "upsample_darknet_param"),
    bottoms=(1, 2),
    tops=1,
    traits=Trait.BY_CHANNEL | Trait.WRITES_ALL,
):
    """Enlarges planes: by nearest neighbours with one bottom, by undoing a max pooling with two.

    One bottom, as in YOLO: each element is repeated over a block of scale_h x scale_w pixels. Its gradient is the sum
    over the block.

    Two bottoms, data and a pooling's mask, as in SegNet: each element goes where the mask says. The top is 0 where no
    element goes. Where several elements go to one place, the last one wins, and it alone gets the gradient. An element
    whose mask lies outside of the plane goes nowhere. The mask itself has no gradient.

    UpsampleNearest and UpsampleDarknet are forks' names for the form with one bottom.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), the data.
    bottom 1
        The mask, of the same shape; optional. An element is an index into the top's plane, y * width + x.
    upsample_param
        `scale` (1 for one bottom, 2 for two), or both `scale_h` and `scale_w`: the factors of height and width.

        For two bottoms also: `upsample_h` and `upsample_w` instead of a scale, the top's size in pixels, such as 45 and
        60; `pad_out_h` (false) and `pad_out_w` (false), which make a top of scale 2 one pixel shorter. A `pad_out_W`
        above 0 means the same as `pad_out_w`.
    upsample_nearest_param
        `scale` (must be given): of UpsampleNearest.
    upsample_darknet_param
        `stride` (1): the scale, of UpsampleDarknet.

    Returns
    -------
    top 0
        (N, C, H scale_h, W scale_w), one shorter with `pad_out_h` or `pad_out_w`; or (N, C, upsample_h, upsample_w).

    Raises
    ------
    LayerError
        For a bottom without four axes, a mask of another shape, a scale below 1, `scale` together with `scale_h` or
        `scale_w`, one of `upsample_h` and `upsample_w` alone, either pad with another scale than 2, or size or pads
        without a mask.

    Source
    ------
    MobileNet-YOLO's Caffe, SegNet's Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Upsample" upsample_param { scale: 2 }', [[[[1, 2]]]]).tolist()
    [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    >>> run_layer('type: "Upsample" upsample_param { scale: 2 }', [[[[5, 7]]]], [[[[1, 6]]]]).tolist()  # with a mask
    [[[[0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 7.0, 0.0]]]]
    """

    kernels = Kernels("upsample.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.upsample_param
        self.unpools = len(bottom) == 2
        self.size = param.upsample_h, param.upsample_w
        self.need(
            self.unpools or self.size == (0, 0), "upsample_h and upsample_w need a mask as second bottom; give scale"
        )
        self.need(all(self.size) or not any(self.size), f"give both upsample_h and upsample_w, got {self.size}")
        if param.HasField("scale_h") or param.HasField("scale_w"):
            self.need(not param.HasField("scale"), "give scale, or scale_h and scale_w, not both")
            self.scale = param.scale_h, param.scale_w
        else:
            self.scale = (self.one_scale(),) * 2
        self.need(min(self.scale) >= 1, f"scales must be from 1, got {self.scale} for height and width")
        self.pad = int(param.pad_out_h), int(param.pad_out_w or param.pad_out_W > 0)
        self.need(
            all(scale == 2 or not pad for scale, pad in zip(self.scale, self.pad, strict=True)),
            f"pad_out_h and pad_out_w are for scale 2, got scales {self.scale}",
        )
        self.need(self.unpools or not any(self.pad), "pad_out_h and pad_out_w need a mask as second bottom")
        self.source = Blob((), np.int32, self.device)

    def one_scale(self) -> int:
        """The scale of both axes, from whichever message holds it."""
        if self.param.HasField("upsample_nearest_param"):
            return int(self.param.upsample_nearest_param.scale)
        if self.param.HasField("upsample_darknet_param"):
            return int(self.param.upsample_darknet_param.stride)
        param = self.param.upsample_param
        return int(param.scale) if param.HasField("scale") or not self.unpools else 2

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        *outer, height, width = self.axes(bottom[0], 4)
        large = tuple(n * s - p for n, s, p in zip((height, width), self.scale, self.pad, strict=True))
        if self.unpools:
            self.need(
                bottom[1].shape == bottom[0].shape,
                f"the mask must have the shape of the data, {bottom[0].shape}, got {bottom[1].shape}",
            )
            large = self.size if all(self.size) else large
            self.source.reshape(*outer, *large)
        top[0].reshape(*outer, *large)
        self.planes, self.areas = prod(outer), (height * width, prod(large))
        self.rows = self.planes * height, width

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.unpools:
            source = self.source.data
            self.kernels.unpool_sources(self.planes, bottom[1].data, source, *self.areas)
            self.kernels.unpool_forward(self.planes, bottom[0].data, source, top[0].data, *self.areas)
        else:
            rows, width = self.rows
            self.kernels.nearest_forward(rows, bottom[0].data, top[0].data, width, *self.scale)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if self.unpools and propagate_down[1]:
            bottom[1].diff.fill(0)
        if not propagate_down[0]:
            return
        if self.unpools:
            mask, source = bottom[1].data, self.source.data
            self.kernels.unpool_backward(self.planes, top[0].diff, mask, source, bottom[0].diff, *self.areas)
        else:
            rows, width = self.rows
            self.kernels.nearest_backward(rows, top[0].diff, bottom[0].diff, width, *self.scale)

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return first if index == 1 else None

    def allow_force_backward(self, index: int) -> bool:
        """The mask holds places, which have no gradient."""
        return index == 0
