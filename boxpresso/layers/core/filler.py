"""Fillers: the first values of learned blobs, by Caffe's formulas, drawn when somebody first looks at them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from math import ceil, inf, isfinite, prod, sqrt
from typing import Any, Union

import numpy as np

from ...device import Blob
from ...proto.errors import LayerError, nearest

Shape = tuple[int, ...]
Numpy = np.ndarray[Any, Any]
FAN_IN, FAN_OUT, AVERAGE = 0, 1, 2


PART = 1 << 16  # how many numbers are drawn at a time: they are doubles, whatever the blob's type

Draw = Callable[["np.random.Generator", Numpy], None]  # fills an array with random numbers
Seed = Union[int, Callable[[], int]]


def fill(
    shape: Sequence[int], filler: Any, rng: np.random.Generator, dtype: Any = np.float32, out: Numpy | None = None
) -> Numpy:
    """The first values of a parameter.

    Parameters
    ----------
    shape, dtype
        Of the array.
    filler
        A FillerParameter. Its type is constant, uniform, gaussian, xavier, msra, positive_unitball, bilinear, value,
        file or sequence; each is described at its function below.
    rng
        The random numbers, which are numpy's and not Caffe's.
    out
        A contiguous array of that shape to fill, in place of a new one.

    Returns
    -------
    numpy.ndarray
        The filled array.

    Raises
    ------
    LayerError
        For an unknown type, for numbers that the type cannot use, and for a shape without elements.

    Source
    ------
    Caffe's filler.hpp.

    Examples
    --------
    >>> from boxpresso.proto import FillerParameter
    >>> fill((3,), FillerParameter(type="constant", value=0.5), np.random.default_rng(0))
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    values = first_values(shape, filler)
    if out is None:
        out = np.empty(tuple(shape), dtype)
    if callable(values):
        values(rng, out)
    else:
        out[...] = values
    return out


def first_values(shape: Sequence[int], filler: Any) -> Numpy | Draw:
    """The values that a filler gives, or how they are drawn. Raises LayerError as `fill` does."""
    shape = tuple(int(size) for size in shape)
    make = FILLERS.get(filler.type)
    if make is None:
        known = ", ".join(sorted(FILLERS))
        raise LayerError(f"unknown filler type {filler.type!r}{nearest(filler.type, FILLERS)} (known are {known})")
    _need(prod(shape) > 0, filler, f"cannot fill a blob without elements, its shape is {shape}")
    _need(filler.sparse == -1 or make is gaussian, filler, f"has sparse: {filler.sparse}; only gaussian knows it")
    return make(shape, filler)


class Waiting:
    """A parameter whose random values are not drawn yet."""

    def __init__(self, fills: Fills, blob: Blob, draw: Draw) -> None:
        self.fills, self.blob, self.draw = fills, blob, draw

    def settle(self) -> None:
        """Draws them now."""
        self.fills.settle()


class Fills:
    """The random numbers of a layer, and its parameters that wait to be drawn from them.

    Values are drawn when a parameter or the random numbers are first asked for, in the order in which the layer asked, so
    that they are the same whoever asks; a file of weights that gives them all leaves nothing to draw.

    Parameters
    ----------
    seed
        As `numpy.random.default_rng` takes it, or a function that gives it.
    """

    def __init__(self, seed: Seed) -> None:
        self.seed = seed
        self.made: np.random.Generator | None = None
        self.waiting: list[Waiting] = []
        self.lock = threading.RLock()

    def add(self, blob: Blob, filler: Any) -> None:
        """Fills a parameter. Raises LayerError as `fill` does, and at once."""
        values = first_values(blob.shape, filler)
        if not callable(values):
            blob.data[...] = values
            return
        waiting = Waiting(self, blob, values)
        blob._wait(waiting)
        self.waiting.append(waiting)

    def settle(self) -> np.random.Generator:
        """The random numbers, after all that waits has been drawn from them."""
        with self.lock:
            if self.made is None:
                self.made = np.random.default_rng(self.seed() if callable(self.seed) else self.seed)
            while self.waiting:
                first = self.waiting.pop(0)
                first.blob._settle(first, functools.partial(first.draw, self.made))
            return self.made


def constant(shape: Shape, filler: Any) -> Numpy:
    """x = value."""
    return np.asarray(filler.value, np.float64)  # one for all


def in_parts(draw: Callable[[np.random.Generator, int], Numpy]) -> Draw:
    """Fills an array with so many numbers of a distribution after the other."""

    def whole(rng: np.random.Generator, out: Numpy) -> None:
        flat = out.reshape(-1)
        for start in range(0, flat.size, PART):
            flat[start : start + PART] = draw(rng, min(PART, flat.size - start))

    return whole


def uniform(shape: Shape, filler: Any) -> Draw:
    """x ~ U(min, max)."""
    _need(
        isfinite(filler.min) and isfinite(filler.max), filler, f"needs finite numbers, got {filler.min} to {filler.max}"
    )
    _need(filler.min <= filler.max, filler, f"needs min <= max, got min: {filler.min:g} max: {filler.max:g}")
    most = filler.max + 0.0  # numpy takes -0 for less than 0
    return in_parts(lambda rng, count: rng.uniform(filler.min, most, count))


def gaussian(shape: Shape, filler: Any) -> Draw:
    """x ~ N(mean, std^2); with `sparse` >= 0 an element is set to 0 unless it is drawn with the probability sparse / shape[0].

    So each input feeds `sparse` of the shape[0] outputs on average.
    """
    _need(isfinite(filler.mean), filler, f"needs a finite mean, got {filler.mean}")
    _need(0 <= filler.std < inf, filler, f"needs std >= 0, got {filler.std:g}")
    deviation = filler.std + 0.0  # numpy takes -0 for less than 0
    if filler.sparse == -1:
        return in_parts(lambda rng, count: rng.normal(filler.mean, deviation, count))
    _need(
        shape and 0 <= filler.sparse <= shape[0],
        filler,
        f"needs sparse between 0 and the number of outputs, got sparse: {filler.sparse} for a blob of shape {shape}",
    )

    def sparse(rng: np.random.Generator, out: Numpy) -> None:
        values = rng.normal(filler.mean, deviation, shape)
        out[...] = values * (rng.random(shape) < filler.sparse / shape[0])

    return sparse


def xavier(shape: Shape, filler: Any) -> Draw:
    """x ~ U(-a, a), a = sqrt(3 / n), with the n of `fan`.

    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.
    """
    scale = sqrt(3 / fan(shape, filler))
    return in_parts(lambda rng, count: rng.uniform(-scale, scale, count))


def msra(shape: Shape, filler: Any) -> Draw:
    """x ~ N(0, 2 / n), with the n of `fan`.

    He, Zhang, Ren and Sun, "Delving Deep into Rectifiers", 2015.
    """
    deviation = sqrt(2 / fan(shape, filler))
    return in_parts(lambda rng, count: rng.normal(0, deviation, count))


def fan(shape: Shape, filler: Any) -> float:
    """The n of xavier and msra: fan in, fan out or their average, as variance_norm says.

    Fan in is count / shape[0]; fan out is count / shape[1], or the count if there is one axis only.
    """
    _need(shape, filler, "needs a blob with at least one axis")
    count = prod(shape)
    fan_in, fan_out = count / shape[0], count / shape[1] if len(shape) > 1 else count
    return {FAN_IN: fan_in, FAN_OUT: fan_out, AVERAGE: (fan_in + fan_out) / 2}[filler.variance_norm]


def positive_unitball(shape: Shape, filler: Any) -> Draw:
    """x ~ U(0, 1), then divided so that the elements of each shape[0] sum to 1."""
    _need(shape, filler, "needs a blob with at least one axis")

    def ball(rng: np.random.Generator, out: Numpy) -> None:
        values = 1 - rng.random((shape[0], prod(shape[1:])))  # in (0, 1]: a sum is never 0
        out[...] = (values / values.sum(1, keepdims=True)).reshape(shape)

    return ball


def bilinear(shape: Shape, filler: Any) -> Numpy:
    """The weights with which a Deconvolution interpolates: (1 - |x / f - c|) (1 - |y / f - c|) in every channel.

    For a square kernel of size K: f = ceil(K / 2), c = (K - 1) / (2 f). To enlarge by a factor s:
    kernel_size 2 s - s % 2, stride s, pad ceil((s - 1) / 2), group = num_output = channels.
    Long, Shelhamer and Darrell, "Fully Convolutional Networks for Semantic Segmentation", 2015.
    """
    _need(
        len(shape) == 4 and shape[2] == shape[3], filler, f"needs a 4-axis blob with a square kernel, got shape {shape}"
    )
    size = shape[3]
    factor = ceil(size / 2)
    line = 1 - np.abs(np.arange(size) / factor - (size - 1) / (2 * factor))
    return np.broadcast_to(np.outer(line, line), shape)


def value(shape: Shape, filler: Any) -> Numpy:
    """The numbers of `values`, as many as there are elements, in their order."""
    return listed(shape, filler, filler.values)


def file(shape: Shape, filler: Any) -> Numpy:
    """The numbers of the text file `file`, as many as there are elements, in their order."""
    try:
        with open(filler.file, encoding="utf-8") as lines:
            numbers = [float(word) for word in lines.read().split()]
    except (OSError, ValueError) as error:
        raise LayerError(f"file filler: cannot read {filler.file!r}: {error}") from None
    return listed(shape, filler, numbers)


def sequence(shape: Shape, filler: Any) -> Numpy:
    """The marks of sequences of `value` elements, one after another: 0 at the first of each, 1 at the others; what the nets of
    tmbo/caffe give an LSTM as its second bottom."""
    length = int(filler.value)
    _need(length >= 1, filler, f"needs a value from 1, the length of a sequence, got {filler.value:g}")
    return (np.arange(prod(shape)) % length > 0).reshape(shape)


def listed(shape: Shape, filler: Any, numbers: Sequence[float]) -> Numpy:
    """Numbers as an array of that shape."""
    _need(len(numbers) == prod(shape), filler, f"has {len(numbers)} numbers for the {prod(shape)} elements of {shape}")
    return np.asarray(numbers, np.float64).reshape(shape)


def _need(condition: object, filler: Any, message: str) -> None:
    if not condition:
        raise LayerError(f"{filler.type} filler: {message}")


FILLERS: dict[str, Callable[[Shape, Any], Numpy | Draw]] = {
    make.__name__: make
    for make in (constant, uniform, gaussian, xavier, msra, positive_unitball, bilinear, value, file, sequence)
}
