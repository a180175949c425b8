"""Arrays that go into a net: in batches of its size, and into its blobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..device import AnyArray, Blob
from ..proto.errors import ModelError


def batches(
    arrays: Mapping[str, ArrayLike], size: int, dtype: np.dtype[Any], like: Mapping[str, ArrayLike] | None = None
) -> Iterator[tuple[dict[str, Any], int]]:
    """Arrays in batches of `size` and how many rows of each count; the last batch is filled up with zeros.

    like: the arrays whose length is taken, if not these.

    >>> [(batch["x"].tolist(), count) for batch, count in batches({"x": [1, 2, 3]}, 2, np.dtype("float32"))]
    [([1.0, 2.0], 2), ([3.0, 0.0], 1)]
    """
    values = {name: np.asarray(value) for name, value in arrays.items()}
    counts = {len(np.asarray(value)) for value in (like or arrays).values()}
    if len(counts) != 1:
        raise ModelError(f"arrays for all inputs must have one length, got {sorted(counts)}")
    total = counts.pop()
    for at in range(0, total, size):
        count, batch = min(size, total - at), dict[str, Any]()
        for name, value in values.items():
            batch[name] = np.zeros((size, *value.shape[1:]), dtype)
            batch[name][:count] = value[at : at + count]
        yield batch, count


def assign(blob: Blob, array: AnyArray, value: ArrayLike, what: str) -> None:
    """array[...] = value. Raises ModelError that names what does not fit."""
    try:
        array[...] = value
    except ValueError:
        raise ModelError(f"{what} has the shape {blob.shape}, the array given {np.shape(value)}") from None


def set_inputs(blobs: Mapping[str, Blob], names: Sequence[str], inputs: Mapping[str, ArrayLike]) -> None:
    """Puts arrays into the inputs `names` of a net. Raises ModelError for another name, and what does not fit."""
    for name, value in inputs.items():
        if name not in names:
            raise ModelError(
                f"forward: {name!r} is not an input of the net; its inputs are: {', '.join(names) or 'none'}"
            )
        blob = blobs[name]
        if np.ndim(value) == len(blob.shape):
            blob.reshape(*np.shape(value))
        assign(blob, blob.data, value, f"input {name!r}")
