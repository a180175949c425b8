"""ShuffleChannel: channels of groups interleaved, so that the next grouped convolution sees all groups."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Layer, Trait, strided


class ShuffleChannel(
    Layer,
    type="ShuffleChannel",
    param="shuffle_channel_param",
    bottoms=1,
    tops=1,
    traits=Trait.REARRANGES | Trait.WRITES_ALL,
):
    """Channel j * group + i of the top is channel i * (C / group) + j of the bottom.

    The channels of all groups are interleaved. Backward is the same with C / group groups.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    shuffle_channel_param
        `group` (1): the number of groups, which must divide C.

    Returns
    -------
    top 0
        The shape of the bottom.

    Raises
    ------
    LayerError
        For a bottom with fewer than two axes, a group of 0, or one that does not divide C.

    Source
    ------
    farmingyard's Caffe layer; ShuffleNet, Zhang et al. 2018.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ShuffleChannel" shuffle_channel_param { group: 2 }', [[0, 1, 2, 3, 4, 5]]).tolist()
    [[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]]
    """

    kernels = strided.kernels

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, group = bottom[0].shape, self.param.shuffle_channel_param.group
        self.need(len(shape) > 1, f"the bottom must be (N, C, ...), got shape {shape}")
        self.need(group > 0, f"group must be at least 1, got {group}")
        self.need(shape[1] % group == 0, f"{shape[1]} channels do not divide into {group} groups")
        each, size = shape[1] // group, prod(shape[2:])
        image = shape[1] * size
        self.shape = shape[0], group, each, size
        self.grouped, self.mixed = (image, each * size, size, 1), (image, size, group * size, 1)
        top[0].reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        strided.copy(self.device, self.shape, bottom[0].data, self.grouped, top[0].data, self.mixed)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            strided.copy(self.device, self.shape, top[0].diff, self.mixed, bottom[0].diff, self.grouped)
