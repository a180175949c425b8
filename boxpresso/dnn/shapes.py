"""What layers read and make for inputs of other shapes, without a pass: getLayersShapes and getMemoryConsumption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from ..net import Net
from ..proto.errors import BoxpressoError

Shape = tuple[int, ...]
FLOAT = 4  # bytes of a number


def shapes_of_inputs(method: str, shapes: Any, names: Sequence[str]) -> list[Shape]:
    """The shape of each input, of one shape or a list of them. Raises BoxpressoError for another number of them."""
    rows = list(shapes)
    if not rows or not isinstance(rows[0], (list, tuple, np.ndarray)):
        rows = [rows]
    if len(rows) != len(names):
        raise BoxpressoError(f"{method}: the net has the inputs {list(names)}, and got {len(rows)} shapes: {shapes!r}")
    return [tuple(int(side) for side in shape) for shape in rows]


@contextmanager
def with_inputs(net: Net, shapes: Sequence[Shape]) -> Iterator[None]:
    """Gives the inputs of a net other shapes for the block, and all blobs what follows from them."""
    before = [net.blobs[name].shape for name in net.inputs]
    try:
        for name, shape in zip(net.inputs, shapes):
            net.blobs[name].reshape(*shape)
        net.reshape()
        yield
    finally:
        for name, shape in zip(net.inputs, before):
            net.blobs[name].reshape(*shape)
        net.reshape()


def size(shapes: Sequence[Shape]) -> int:
    """The bytes of some blobs."""
    return FLOAT * sum(prod(shape) for shape in shapes)
