"""What losses of two bottoms of one size share."""

from __future__ import annotations

from ...device import Blob
from ..core import Layer


def batch_of_pair(layer: Layer, bottom: list[Blob]) -> int:
    """The length of the first axis of the first two bottoms, 1 without axes.

    Raises
    ------
    LayerError
        The bottoms differ in their first axis or in their number of elements.
    """
    a, b = bottom[:2]
    layer.need(
        a.shape[:1] == b.shape[:1] and a.count == b.count,
        f"its bottoms must agree in their first axis and in size, got {a.shape} and {b.shape}",
    )
    return a.shape[0] if a.shape else 1
