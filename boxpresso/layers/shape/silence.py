"""Silence: read blobs that nobody else reads, so that they are not printed as the net's outputs."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from ..core import Layer


class Silence(Layer, type="Silence", bottoms=(1, None), tops=0):
    """No top; the gradient of every bottom is zero. Source: Caffe."""

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """There is no top to shape."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        """There is nothing to compute."""

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for blob, down in zip(bottom, propagate_down, strict=True):
            if down:
                blob.diff.fill(0)
