"""ChannelNorm: how long the vector of the channels of each place is."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class ChannelNorm(Layer, type="ChannelNorm", bottoms=1, tops=1, traits=Trait.WRITES_ALL | Trait.KEEPS_PLACES):
    """top[n, 0, p] = the square root of the sum over c of bottom[n, c, p]^2.

    FlowNet 2.0 takes it of the difference between an image and a warped one. The gradient is bottom / top times the top's,
    and 0 where all channels are 0.

    Parameters
    ----------
    bottom 0
        (N, C, ...).

    Returns
    -------
    top 0
        (N, 1, ...).

    Raises
    ------
    LayerError
        For a bottom of fewer than two axes.

    Source
    ------
    lmb-freiburg/flownet2.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ChannelNorm"', [[[3, 0], [4, 2]]]).tolist()
    [[[5.0, 2.0]]]
    """

    kernels = Kernels("channel_norm.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 1, f"the bottom must be (N, C, ...), got shape {shape}")
        self.channels, self.inner = shape[1], prod(shape[2:])
        top[0].reshape(shape[0], 1, *shape[2:])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.channel_norm(top[0].count, bottom[0].data, top[0].data, self.channels, self.inner)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            x, y = bottom[0], top[0]
            self.kernels.channel_norm_diff(x.count, x.data, y.data, y.diff, x.diff, self.channels, self.inner)
