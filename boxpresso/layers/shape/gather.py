"""Gather, Scatter: what every rank of a training has, for one rank: its own part."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Layer


class Gather(Layer, type=("Gather", "Scatter"), param="gather_param", bottoms=(1, None), tops=(1, None)):
    """Each bottom as it is. yjxiong's Caffe joins here the batches of all ranks; gradients are summed over ranks without that.

    Parameters
    ----------
    bottom 0, ...
        Any shape.

    Returns
    -------
    top 0, ...
        The same.

    Raises
    ------
    LayerError
        For different numbers of bottoms and tops, or a `gather_param`, which is synopsys-caffe's layer of this name.

    Source
    ------
    yjxiong's Caffe, on one rank.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Gather"', [1, 2]).tolist()
    [1.0, 2.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(not self.param.HasField("gather_param"), "gather_param is another program's, which is not supported")
        self.need(len(bottom) == len(top), f"takes as many bottoms as tops, got {len(bottom)} and {len(top)}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob, out in zip(bottom, top):
            out.reshape(*blob.shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for blob, out in zip(bottom, top):
            out.data[...] = blob.data

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for blob, out, asked in zip(bottom, top, propagate_down):
            if asked:
                blob.diff[...] = out.diff
