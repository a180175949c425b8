"""Arrays that go into a net: in batches of its size, and into its blobs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from ..device import AnyArray, Array, Blob
from ..device.cast import convert
from ..device.cuda import Cuda
from ..device.dlpack import CUDA
from ..device.foreign import let_go, place, take
from ..device.pictures import Pictures, is_bytes
from ..proto.errors import ModelError

Numpy = np.ndarray[Any, Any]


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


def assign(blob: Blob, array: AnyArray, value: Any, label: str) -> None:
    """array[...] = value, which may lie on the array's GPU. Raises ModelError that names what does not fit."""
    try:
        if isinstance(array, Array) and is_bytes(value) and tuple(value.shape) == array.shape:
            value = Pictures(value, last=False)
        there = isinstance(value, Pictures) or (type(value) is not np.ndarray and place(value)[0] == CUDA)
        if not there or isinstance(value, Array):
            array[...] = value
            return
        if tuple(value.shape) != array.shape:
            raise ValueError
        if isinstance(value, Pictures):
            value.fill(array)
        else:
            fill(array, value, label)
    except ValueError:
        raise refused(blob, value, label) from None


def refused(blob: Blob, value: Any, label: str) -> ModelError:
    """The error for an array that does not fit a blob."""
    return ModelError(f"{label} has the shape {blob.shape}, the array given {shape_of(value)}")


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array of any library, or of numbers in lists."""
    shape = getattr(value, "shape", None)
    return tuple(np.shape(value) if shape is None else shape)


def fill(array: AnyArray, value: Any, label: str) -> None:
    """array[...] = value, another library's of the same shape on a GPU."""
    if not isinstance(array, Array):
        raise ModelError(f"{label} is on the CPU, the array given on a GPU: copy it to the host first")
    gpu = cast(Cuda, array.device)
    convert(gpu, take(value, gpu), array)
    let_go(value, gpu)


def set_inputs(blobs: Mapping[str, Blob], names: Sequence[str], inputs: Mapping[str, ArrayLike]) -> None:
    """Puts arrays into the inputs `names` of a net.

    Raises ModelError for another name, and for a shape that does not fit, before any of them is changed.
    """
    for name, value in inputs.items():
        if name not in names:
            raise ModelError(
                f"forward: {name!r} is not an input of the net; its inputs are: {', '.join(names) or 'none'}"
            )
        shape = shape_of(value)
        if len(shape) != len(blobs[name].shape) and not broadcasts(shape, blobs[name].shape):
            raise refused(blobs[name], value, f"input {name!r}")
    for name, value in inputs.items():
        blob = blobs[name]
        shape = shape_of(value)
        if len(shape) == len(blob.shape):
            blob.reshape(*shape)
        assign(blob, blob.data, value, f"input {name!r}")


def broadcasts(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Whether an array of that shape can be assigned to all of one of the shape `target`."""
    more = max(0, len(shape) - len(target))
    pairs = zip(reversed(shape), reversed(target))
    return all(size == 1 for size in shape[:more]) and all(size in (1, wanted) for size, wanted in pairs)


class Runs(Protocol):
    """What `Batched` asks of a Net."""

    name: str
    dtype: np.dtype[Any]
    inputs: list[str]
    outputs: list[str]
    blobs: OrderedDict[str, Blob]

    def forward(self, blobs: Any = None, **inputs: Any) -> dict[str, Numpy]: ...
    def backward(self, diffs: Any = None, **outputs: Any) -> dict[str, Numpy]: ...


class Batched:
    """What a Net does with more than a batch, as pycaffe does."""

    def forward_all(self: Runs, blobs: Iterable[str] | None = None, **inputs: ArrayLike) -> dict[str, Numpy]:
        """Runs forward over arrays longer than the batch, batch by batch, as pycaffe does.

        Parameters
        ----------
        blobs
            As for `forward`.
        inputs
            An array for each of the net's inputs, all of one length.

        Returns
        -------
        dict
            {name: the outputs of all batches joined}.
        """
        parts: dict[str, list[Numpy]] = {}
        for batch, count in batches_of(self, inputs):
            for name, value in self.forward(blobs=blobs, **batch).items():
                parts.setdefault(name, []).append(value[:count])
        return {name: np.concatenate(values) for name, values in parts.items()}

    def forward_backward_all(
        self: Runs, blobs: Iterable[str] | None = None, diffs: Iterable[str] | None = None, **arrays: ArrayLike
    ) -> tuple[dict[str, Numpy], dict[str, Numpy]]:
        """`forward_all`, and `backward` over the same batches; arrays named after outputs are their diffs.

        Returns
        -------
        tuple of dict
            The outputs, and the diffs, each joined over all batches.
        """
        upstreams = {name: arrays.pop(name) for name in list(arrays) if name in self.outputs}
        outputs: dict[str, list[Numpy]] = {}
        gradients: dict[str, list[Numpy]] = {}
        for (batch, count), (upstream, _) in zip(batches_of(self, arrays), batches_of(self, upstreams, arrays)):
            for name, value in self.forward(blobs=blobs, **batch).items():
                outputs.setdefault(name, []).append(value[:count])
            for name, value in self.backward(diffs=diffs, **upstream).items():
                gradients.setdefault(name, []).append(value[:count])
        joined = [{name: np.concatenate(parts[name]) for name in parts} for parts in (outputs, gradients)]
        return joined[0], joined[1]


def batches_of(
    net: Runs, arrays: Mapping[str, ArrayLike], like: Mapping[str, ArrayLike] | None = None
) -> Iterator[tuple[dict[str, Any], int]]:
    """The arrays in batches of the size of the first input."""
    if not net.inputs:
        raise ModelError(f"net {net.name!r} has no inputs to give arrays to")
    return batches(arrays, net.blobs[net.inputs[0]].shape[0], net.dtype, like)
