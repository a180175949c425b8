"""Concat: put blobs one after another along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, strides
from ..core import Layer
from . import strided


class Concat(Layer, type="Concat", param="concat_param", bottoms=(1, None), tops=1):
    """The top's axis `axis` is as long as those of all bottoms together; the other axes are the same in all of them.

    concat_param { axis: 1 }, where a negative axis counts from the end; `concat_dim` is its old name. One bottom shares
    its memory with the top. Source: Caffe.
    """

    kernels = strided.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.concat_param
        self.need(
            not (param.HasField("axis") and param.HasField("concat_dim")),
            f"axis {param.axis} and concat_dim {param.concat_dim} mean the same; give one of them",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.concat_param
        old = param.HasField("concat_dim")
        axis = self.axis(bottom[0], *((param.concat_dim, "concat_dim") if old else (param.axis,)))
        first = bottom[0].shape
        for i, blob in enumerate(bottom):
            fits = len(blob.shape) == len(first) and all(
                a == b or k == axis for k, (a, b) in enumerate(zip(first, blob.shape, strict=True))
            )
            self.need(fits, f"bottom {i} of shape {blob.shape} may differ from bottom 0, {first}, on axis {axis} alone")
        if len(bottom) == 1:
            top[0].share(bottom[0])
            return
        lengths = [blob.shape[axis] for blob in bottom]
        top[0].reshape(*first[:axis], sum(lengths), *first[axis + 1 :])
        self.steps = strides(top[0].shape)
        self.starts = [sum(lengths[:i]) * self.steps[axis] for i in range(len(bottom))]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if len(bottom) == 1:
            return
        for blob, start in zip(bottom, self.starts, strict=True):
            strided.copy(
                self.device, blob.shape, blob.data, strides(blob.shape), top[0].data, self.steps, target_at=start
            )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if len(bottom) == 1:
            return
        for blob, start, down in zip(bottom, self.starts, propagate_down, strict=True):
            if down:
                strided.copy(
                    self.device, blob.shape, top[0].diff, self.steps, blob.diff, strides(blob.shape), source_at=start
                )
