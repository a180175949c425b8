"""Permute: reorder the axes of a blob. SSD brings its heads to (N, H, W, C) with it before they are flattened."""

from __future__ import annotations

from .core import Kernels, Layer, strides


class Permute(Layer, type="Permute", bottoms=1, tops=1):
    """top[i0, i1, ...] = bottom with axis `order[k]` as its axis k; axes that `order` leaves out follow in their own order.

    permute_param { order: 0 order: 2 order: 3 order: 1 } takes (N, C, H, W) to (N, H, W, C). An order that changes nothing
    shares the bottom's memory. Source: SSD's Caffe.
    """

    kernels = Kernels("permute.cu")

    def setup(self, bottom, top) -> None:
        order, axes = list(self.param.permute_param.order), len(bottom[0].shape)
        self.need(all(axis < axes for axis in order), f"order {order} does not fit a bottom of {axes} axes")
        self.need(len(set(order)) == len(order), f"order {order} names an axis twice")
        self.order = order + [axis for axis in range(axes) if axis not in order]
        self.identity = self.order == sorted(self.order)

    def reshape(self, bottom, top) -> None:
        shape = self.axes(bottom[0], len(self.order))
        self.new_shape = tuple(shape[axis] for axis in self.order)
        self.old_steps, self.new_steps = strides(shape), strides(self.new_shape)
        if self.identity:
            top[0].share(bottom[0])
            return
        top[0].reshape(*self.new_shape)
        sizes, steps = self.runs([(shape[axis], self.old_steps[axis]) for axis in self.order])
        self.plan = len(sizes), self.device.table(sizes), self.device.table(steps)

    @staticmethod
    def runs(axes: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
        """Sizes and bottom steps of the top's axes, with axes that stay together joined into one and ones dropped."""
        joined: list[tuple[int, int]] = []
        for size, step in axes:
            if size == 1:
                continue
            if joined and joined[-1][1] == size * step:
                joined[-1] = (joined[-1][0] * size, step)
            else:
                joined.append((size, step))
        return [size for size, _ in joined] or [1], [step for _, step in joined] or [1]

    def forward(self, bottom, top) -> None:
        if not self.identity:
            self.kernels.permute_forward(top[0].count, bottom[0].data, top[0].data, *self.plan)

    def backward(self, top, propagate_down, bottom) -> None:
        if propagate_down[0] and not self.identity:
            self.kernels.permute_backward(top[0].count, top[0].diff, bottom[0].diff, *self.plan)
