"""The order of an array's axes."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ..proto.errors import BoxpressoError
from .operator import Plan, operator


@operator("x", constant=())
def permute(x: Any, dims: Sequence[int]) -> Plan:
    """A new contiguous array whose axis k is x's axis dims[k], as torch's permute and numpy's transpose have it.

    Raises
    ------
    BoxpressoError: dims that do not name each axis once.

    Examples
    --------
    >>> import numpy as np
    >>> permute(np.zeros((2, 3, 5), np.float32), (2, 0, -2)).shape
    (5, 2, 3)
    """
    try:
        dims = [index(axis) for axis in dims]
    except TypeError:
        raise BoxpressoError(f"dims must be the numbers of axes, got {dims!r}") from None
    order = [axis % len(x.shape) if -len(x.shape) <= axis < len(x.shape) else axis for axis in dims]
    if sorted(order) != list(range(len(x.shape))):
        raise BoxpressoError(f"dims must name each axis of shape {tuple(x.shape)} once, got {tuple(dims)}")
    return Plan("Permute", {"permute_param": {"order": order}}, {"sharing": False}, remembers=False)
