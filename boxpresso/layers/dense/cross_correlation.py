"""CrossCorrelation: a convolution whose weights are another blob, as trackers find a target in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Trait
from .convolution_base import WindowLayer


class CrossCorrelation(
    WindowLayer, type="CrossCorrelation", param="convolution_param", bottoms=2, tops=1, traits=Trait.WRITES_ALL
):
    """top[n, m, y] = sum over c, k of bottom 1[m, c, k] * bottom 0[n, c, stride * y - pad + dilation * k], plus bias[m].

    `Convolution` with bottom 1 for weights: of a siamese tracker bottom 0 are the features of where the target is looked for,
    and bottom 1 those of the target. Both bottoms have a gradient.

    Learned parameters: that of `Convolution`'s weights, which nothing reads, as in the program; bias (num_output,) unless
    bias_term is false.

    Parameters
    ----------
    bottom 0
        (N, C, *size), the channels at `axis`.
    bottom 1
        (num_output, C / group, *kernel), or as many numbers in another shape.
    convolution_param
        As for `Convolution`.

    Returns
    -------
    top 0
        (N, num_output, *places).

    Raises
    ------
    LayerError
        What `Convolution` raises; a bottom 1 of another number of elements.

    Source
    ------
    NicoleWang/caffe; Bertinetto et al. 2016.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "CrossCorrelation" convolution_param { num_output: 1 kernel_size: 2 }'
    >>> run_layer(text, [[[1, 2, 3, 4]]], [[[1, 10]]]).tolist()
    [[[21.0, 32.0, 43.0]]]
    """

    def weights_shape(self) -> tuple[int, ...]:
        return (self.outputs, self.channels // self.group, *self.kernel)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        image, wanted = self.spatial(bottom[:1], top), self.weights_shape()
        self.need(
            bottom[1].count == prod(wanted),
            f"bottom 1 must hold the weights {wanted}, its shape is {bottom[1].shape}: give num_output, group and kernel_size "
            "that it has",
        )
        places = self.map_of(image)
        before = self.plan(bottom, self.channels, image, self.outputs, places)
        top[0].reshape(*before, self.outputs, *places)

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        """Asked for before setup: the parameters tell it."""
        p, window = self.param.convolution_param, self.window_of(self.param)
        axes = len(first) - 1 - p.axis
        if window is None or axes < 1 or p.axis < 0 or not p.group or len(window.kernel) not in (1, axes):
            return None
        kernel = [int(side) for side in window.kernel] * (axes if len(window.kernel) == 1 else 1)
        return (p.num_output, first[p.axis] // p.group, *kernel)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.convolution.correlate(bottom[0].data, bottom[1].data, self.bias, top[0].data, False)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.bias_backward(top[0])
        if propagate_down[0]:
            self.convolution.spread(top[0].diff, bottom[1].data, None, bottom[0].diff)
        if propagate_down[1]:
            bottom[1].diff.fill(0)  # the product is added
            self.convolution.gradient(bottom[0].data, top[0].diff, bottom[1].diff)

    def shared_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        if self.sizes is None or not min(bottom[0].count, top[0].count):
            return 0
        sums = self.outputs * self.bias_parts(top[0]) if backward and self.bias_term else 0
        return int(max(self.convolution.room(self.dtype, backward, backward), sums) * self.dtype.itemsize)
