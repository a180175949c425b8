"""Unpooling: a pooling the other way round; each element goes back to its place, or over its window (DeconvNet)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Unpooling(
    Layer,
    type=("Unpooling", "UnPooling"),
    param="unpooling_param",
    bottoms=(1, 2),
    tops=1,
    traits=Trait.BY_CHANNEL | Trait.WRITES_ALL,
):
    """MAX: each element goes where the mask says, all else is 0. AVE: over its window, divided by its size. TILE: over
    its window.

    MAX without a mask puts each element at the first place of its window. Where windows overlap, AVE and TILE add up;
    with MAX the last element of a place counts, and it alone gets the gradient (DeconvNet's gives it to all of them).
    An element whose place lies outside of the top goes nowhere.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    bottom 1
        Optional, for MAX: the mask that a Pooling has as its second top, of the same shape: places y * width + x. For one
        image it may have further channels, which nobody reads (DeconvNet's does not look).
    unpooling_param
        `unpool` (MAX): MAX, AVE or TILE. `kernel_size`, or `kernel_h` and `kernel_w`; `stride` (1), or `stride_h` and
        `stride_w`. `unpool_size`, or `unpool_h` and `unpool_w`: the size of the top.

    Returns
    -------
    top 0
        (N, C, h, w): the size that is given, else h = max((H - 1) stride + kernel, H stride + 1) and w likewise.

    Raises
    ------
    LayerError
        No kernel, a pad, a kernel or stride of 0, a mask with another method or of another shape, a bottom that is not of
        four axes, fields of another fork (out_pad, out_kernel_size, out_stride).

    Source
    ------
    HyeonwooNoh/caffe; Noh et al. 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Unpooling" unpooling_param { kernel_size: 2 stride: 2 unpool_size: 2 }'
    >>> run_layer(text, [[[[7]]]], [[[[2]]]]).tolist()
    [[[[0.0, 0.0], [7.0, 0.0]]]]
    >>> run_layer(text.replace("kernel", "unpool: AVE kernel"), [[[[8]]]]).tolist()
    [[[[2.0, 2.0], [2.0, 2.0]]]]
    """

    kernels, placing = Kernels("unpooling.cu"), Kernels("upsample.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.unpooling_param
        self.method = p.UnpoolMethod.Name(p.unpool)
        for name in ("pad", "pad_h", "pad_w"):
            self.need(not getattr(p, name), f"unpooling_param: {name} must be 0, as in DeconvNet's Caffe")
        for field, _ in p.ListFields():
            self.need(not field.name.startswith("out_"), f"unpooling_param: {field.name} of a fork is not supported")
        self.kernel, self.stride = self.pair("kernel", "kernel_size"), self.pair("stride", "stride")
        self.size = self.pair("unpool", "unpool_size")
        self.need(min(self.kernel) > 0, f"give kernel_size, or kernel_h and kernel_w, above 0; got {self.kernel}")
        self.need(min(self.stride) > 0, f"the stride must be 1 or more, got {self.stride}")
        self.need(all(self.size) or not any(self.size), f"give both unpool_h and unpool_w, got {self.size}")
        self.need(len(bottom) == 1 or self.method == "MAX", f"a mask is for MAX, not {self.method}")
        self.source = Blob((), np.int32, self.device)

    def pair(self, name: str, both: str) -> tuple[int, int]:
        p = self.param.unpooling_param
        one = p.HasField(f"{name}_h") or p.HasField(f"{name}_w")
        self.need(not (one and p.HasField(both)), f"give {both}, or {name}_h and {name}_w, not both")
        return (getattr(p, f"{name}_h"), getattr(p, f"{name}_w")) if one else (getattr(p, both),) * 2

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        *outer, height, width = self.axes(bottom[0], 4)
        grown = [max((n - 1) * s + k, n * s + 1) for n, s, k in zip((height, width), self.stride, self.kernel)]
        large = self.size if all(self.size) else tuple(grown)
        if len(bottom) > 1:
            mask = self.axes(bottom[1], 4)
            first = (*mask[:1], *bottom[0].shape[1:2], *mask[2:]) if mask[0] == 1 and mask[1] > outer[1] else mask
            self.need(
                tuple(first) == bottom[0].shape,
                f"the mask must have the shape of the data, {bottom[0].shape}, got {bottom[1].shape}",
            )
            self.source.reshape(*outer, *large)
        top[0].reshape(*outer, *large)
        self.planes, self.areas = prod(outer), (height * width, prod(large))
        self.spread = self.kernels.struct(
            "Spread", height=height, width=width, out_height=large[0], out_width=large[1], kernel_h=self.kernel[0],
            kernel_w=self.kernel[1], stride_h=self.stride[0], stride_w=self.stride[1],
            method=("MAX", "AVE", "TILE").index(self.method),
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if len(bottom) > 1:
            source = self.source.data
            self.placing.unpool_sources(self.planes, bottom[1].data, source, *self.areas)
            self.placing.unpool_forward(self.planes, bottom[0].data, source, top[0].data, *self.areas)
        else:
            self.kernels.spread_forward(top[0].count, bottom[0].data, top[0].data, self.spread)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if any(propagate_down[1:]):
            bottom[1].diff.fill(0)
        if not propagate_down[0]:
            return
        if len(bottom) > 1:
            mask, source = bottom[1].data, self.source.data
            self.placing.unpool_backward(self.planes, top[0].diff, mask, source, bottom[0].diff, *self.areas)
        else:
            self.kernels.spread_backward(bottom[0].count, top[0].diff, bottom[0].diff, self.spread)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
