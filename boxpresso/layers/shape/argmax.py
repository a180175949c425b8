"""ArgMax: where the largest values are."""

from __future__ import annotations

from math import prod

from ...device import Blob, Kernels
from ..core import Layer


class ArgMax(Layer, type="ArgMax", param="argmax_param", bottoms=1, tops=1):
    """The places of the top_k largest values, largest first; of equal ones the later place first.

    argmax_param { out_max_val: false top_k: 1 axis }. With `axis` the places (with out_max_val the values instead) lie
    along that axis, which has the length top_k in the top. Without it the best of each whole image are sought: the top
    is (N, 1, top_k, 1 ...), as many axes as the bottom and at least three; with out_max_val it is (N, 2, top_k, 1 ...),
    places, then values. A NaN is never among the largest unless nothing else is left. No gradient. Source: Caffe.
    """

    kernels = Kernels("argmax.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.argmax_param
        self.need(not p.min_first, "argmax_param: min_first of a fork is not supported; remove it")
        self.need(p.top_k > 0, f"top_k must be at least 1, got {p.top_k}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.argmax_param, bottom[0].shape
        if p.HasField("axis"):
            axis = self.axis(bottom[0], p.axis)
            self.sizes = shape[axis], prod(shape[axis + 1 :])
            top[0].reshape(*shape[:axis], p.top_k, *shape[axis + 1 :])
            self.outputs = int(not p.out_max_val), int(p.out_max_val)  # whether it has places, whether values
        else:
            self.need(shape, "needs a bottom with at least one axis, or an axis of its own")
            self.sizes = prod(shape[1:]), 1
            wanted = [shape[0], 2 if p.out_max_val else 1, p.top_k] + [1] * (len(shape) - 3)
            top[0].reshape(*wanted)
            self.outputs = 1, int(p.out_max_val)
        self.need(p.top_k <= self.sizes[0], f"top_k {p.top_k} is more than the {self.sizes[0]} elements, shape {shape}")
        self.rows = bottom[0].count // self.sizes[0]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        top_k = self.param.argmax_param.top_k
        self.kernels.argmax(self.rows, bottom[0].data, top[0].data, *self.sizes, top_k, *self.outputs)
