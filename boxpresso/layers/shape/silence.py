"""Silence: read blobs that nobody else reads, so that they are not printed as the net's outputs."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Layer
from ..core.lowering import Lowering, Same


class Silence(Layer, type="Silence", bottoms=(1, None), tops=0):
    """Reads its bottoms and computes nothing.

    A blob that no layer reads is an output of the net; one that Silence reads is not. The gradient of every bottom is
    zero.

    Parameters
    ----------
    bottom 0, 1, ...
        One or more blobs of any shape.

    Returns
    -------
    No top.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Silence"', [1, 2], [3], tops=0)
    []
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """There is no top to shape."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        """There is nothing to compute."""

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Same()

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for blob, down in zip(bottom, propagate_down, strict=True):
            if down:
                blob.diff.fill(0)
