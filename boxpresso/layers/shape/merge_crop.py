"""MergeCrop: the middle of a larger map beside a smaller one, or added to it; the bridges of U-Nets without padding."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels, strides
from ..core import Layer, Trait, strided


class MergeCrop(Layer, type="MergeCrop", param="mergecrop_param", bottoms=2, tops=1, traits=Trait.WRITES_ALL):
    """The middle of bottom 1, as large as bottom 0, beside bottom 0 along the channels, or added to it.

    The window starts at (size of bottom 1 - size of bottom 0) / 2, rounded down, on each axis behind the channels. What
    `forward` leaves out counts as zeros. By default bottom 0 alone has a gradient, as in the program that the layer is
    from; `backward: true backward: true` gives bottom 1 one, which is 0 outside of the window.

    Parameters
    ----------
    bottom 0
        (N, C, ...), the smaller one.
    bottom 1
        (N, D, ...), no smaller than bottom 0 on any axis behind the channels; ADD needs D = C.
    mergecrop_param
        `operation` (STACK): STACK or ADD. `forward` (true true): for each bottom whether its values count. `backward`
        (true false): for each bottom whether it has a gradient.

    Returns
    -------
    top 0
        (N, C + D, ...) with STACK, (N, C, ...) with ADD, of bottom 0's size.

    Raises
    ------
    LayerError
        Bottoms that differ in their number of axes or images, a bottom 1 that is smaller, ADD of another number of
        channels, more than two values of `forward` or `backward`.

    Source
    ------
    BVLC Caffe's branch opencl (naibaf7).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MergeCrop"', [[[[9]]]], [[[[1, 2, 3], [4, 5, 6], [7, 8, 0]]]]).tolist()
    [[[[9.0]], [[5.0]]]]
    >>> text = 'type: "MergeCrop" mergecrop_param { operation: ADD }'
    >>> run_layer(text, [[[[9]]]], [[[[1, 2, 3], [4, 5, 6], [7, 8, 0]]]]).tolist()
    [[[[14.0]]]]
    """

    kernels, copying = Kernels("merge_crop.cu"), strided.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mergecrop_param
        self.adds = p.operation == p.ADD
        self.counts, self.learns = ([*values_given, *default[len(values_given) :]] for values_given, default in (
            (p.forward, [True, True]), (p.backward, [True, False])
        ))  # fmt: skip
        for name, values in (("forward", self.counts), ("backward", self.learns)):
            self.need(len(values) == 2, f"{name} takes a value for each of its two bottoms, got {len(values)}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        small, large = bottom[0].shape, bottom[1].shape
        same = len(small) == len(large) > 1 and small[0] == large[0] and (not self.adds or small[1] == large[1])
        self.need(
            same and all(s <= t for s, t in zip(small[2:], large[2:])),
            f"needs a bottom 1 of as many images{' and channels' * self.adds} as bottom 0, {small}, that is no smaller "
            f"on any other axis, got {large}",
        )
        channels = small[1] if self.adds else small[1] + large[1]
        top[0].reshape(small[0], channels, *small[2:])
        self.window = (*large[:2], *small[2:])
        self.steps = strides(large)
        self.start = sum((t - s) // 2 * step for s, t, step in zip(small[2:], large[2:], self.steps[2:]))
        self.cut = self.device.empty(small if self.adds else (0,), self.dtype)

    def parts(self, bottom: list[Blob], top: list[Blob]) -> list[tuple[tuple[int, ...], Sequence[int], int, int]]:
        """For each bottom: how much of it there is, its steps, and where that begins in it and in the top."""
        first = 0 if self.adds or not top[0].count else bottom[0].count // bottom[0].shape[0]
        return [(bottom[0].shape, strides(bottom[0].shape), 0, 0), (self.window, self.steps, self.start, first)]

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        steps = strides(top[0].shape)
        if not all(self.counts):
            top[0].data.fill(0)
        if self.adds and all(self.counts):
            strided.copy(self.device, self.window, bottom[1].data, self.steps, self.cut, steps, source_at=self.start)
            self.kernels.merge_sum(top[0].count, bottom[0].data, self.cut, top[0].data)
            return
        for blob, counts, part in zip(bottom, self.counts, self.parts(bottom, top)):
            if counts:
                shape, own, start, at = part
                strided.copy(self.device, shape, blob.data, own, top[0].data, steps, start, at)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        steps = strides(top[0].shape)
        for i, (shape, own, start, at) in enumerate(self.parts(bottom, top)):
            if propagate_down[i]:
                bottom[i].diff.fill(0)
                if self.learns[i] and self.counts[i]:
                    strided.copy(self.device, shape, top[0].diff, steps, bottom[i].diff, own, at, start)
