"""From what to what the values of a net go, over some inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..device.functions import log
from ..graph.quantization import Range
from ..layers.core import Trait
from ..layers.core.lowering import Same
from ..net import Net
from ..proto.errors import ModelError

Numpy = np.ndarray[Any, np.dtype[Any]]
METHODS = ("minmax", "percentile", "entropy")
SHARE = 0.9999  # of the numbers on each side of 0, which a percentile keeps
BINS = 2048  # on each side of 0
LEVELS = 128  # of a side, as entropy counts them
NO_PICTURES = "no pictures are given: ranges are measured on some, twenty or more of those that the net will see"


@dataclass
class Histogram:
    """Counts of the numbers of a value by their size, those below 0 apart, in bins that grow twice as wide as numbers do.

    0 is not counted: 8 bits hold it exactly, whatever the range, and after ReLU it is half of all.

    Examples
    --------
    >>> histogram = Histogram()
    >>> histogram.add(np.arange(-100, 100_000, dtype=np.float32))
    True
    >>> [round(x) for x in histogram.range("minmax")]
    [-100, 99999]
    >>> histogram.add(np.array([1e6], np.float32)), histogram.add(np.array([np.nan], np.float32))
    (True, False)
    >>> [round(x) for x in histogram.range("minmax")], histogram.range("percentile")[1] < 2e5
    ([-100, 1000000], True)
    """

    low: float = 0.0
    high: float = 0.0
    width: float = 0.0
    below: Numpy = field(default_factory=lambda: np.zeros(BINS))
    above: Numpy = field(default_factory=lambda: np.zeros(BINS))

    def add(self, values: Numpy, counts: bool = True) -> bool:
        """Whether numbers are all finite; only then they count. counts: whether histograms are asked for."""
        flat = values.reshape(-1)
        if not flat.size:
            return True
        low, high = float(flat.min()), float(flat.max())  # NaN where one is
        if not np.isfinite([low, high]).all():
            return False
        self.low, self.high = min(self.low, low), max(self.high, high)
        most = max(-low, high)
        if not counts or most == 0:
            return True
        if self.width == 0:
            self.width = most / BINS
        while most > self.width * BINS:
            self.width *= 2
            for side in (self.below, self.above):
                side[:] = np.concatenate([side.reshape(-1, 2).sum(1), np.zeros(BINS // 2)])
        inverse = 1 / self.width
        wide = np.float64 if inverse > 1e38 else flat.dtype
        bins = np.minimum(np.multiply(np.abs(flat), inverse, dtype=wide).astype(np.int32), BINS - 1)
        if low < 0:
            self.below += np.bincount(bins[flat < 0], minlength=BINS)
        self.above += np.bincount(bins[flat > 0], minlength=BINS)
        return True

    def range(self, method: str) -> Range:
        """The range that 8 bits are to hold, which includes 0."""
        low, high = self.low, self.high
        if method == "minmax" or self.width == 0:
            return low, high
        cut = percentile if method == "percentile" else least_entropy
        return max(low, -cut(self.below) * self.width), min(high, cut(self.above) * self.width)


def percentile(counts: Numpy) -> int:
    """The bins that hold all numbers but a share of 1e-4."""
    total = counts.sum()
    return int(np.searchsorted(np.cumsum(counts), SHARE * total) + 1) if total else 0


def least_entropy(counts: Numpy) -> int:
    """The bins up to which numbers are best kept, half of them at least.

    The distribution in LEVELS steps diverges least from the true one there, with all beyond in the last bin (Kullback and
    Leibler's measure, by which NVIDIA's TensorRT chooses thresholds).

    >>> few_beyond = np.concatenate([1000 * np.exp(-np.linspace(0, 3, 512) ** 2), np.zeros(BINS - 513), [1]])
    >>> least_entropy(few_beyond) < BINS // 2
    True
    """
    if not counts.sum():
        return 0
    last = int(np.flatnonzero(counts)[-1]) + 1
    best, bins = last, np.inf
    for end in range(LEVELS, last + 1, LEVELS // 8):
        if 2 * counts[:end].sum() < counts.sum():  # what most numbers are is not to be cut, however alike the rest is
            continue
        true = counts[:end].copy()
        true[-1] += counts[end:].sum()
        steps = np.arange(end) * LEVELS // end
        filled = counts[:end] > 0
        sums = np.bincount(steps, counts[:end], LEVELS)
        sizes = np.bincount(steps, filled, LEVELS)
        spread = np.where(filled, sums[steps] / np.maximum(sizes[steps], 1), 0)
        held = true > 0
        p, q = true[held] / true.sum(), np.maximum(spread[held], 1e-9) / max(spread.sum(), 1e-9)
        divergence = float((p * log(p / q)).sum())
        if divergence < bins:
            best, bins = end, divergence
    return best


class Measured(NamedTuple):
    """What is known of the values of a net: {layer: of each of its tops}."""

    ranges: dict[str, list[Range]]
    means: dict[str, list[list[float]]]  # of each channel, to six digits
    maxima: dict[str, list[list[float]]]


def channel_means(values: Numpy) -> Numpy:
    """The mean of each channel of (images, channels, ...), float64; without channels, nothing.

    >>> channel_means(np.array([[[1.0, 3.0], [0.0, 0.5]]]))
    array([2.  , 0.25])
    """
    if values.ndim < 2 or not values.size:
        return np.zeros(0)
    sums: Numpy = values.reshape(*values.shape[:2], -1).sum(2, dtype=np.float64).sum(0)
    sums /= values.size // values.shape[1]
    return sums


def channel_maxima(values: Numpy) -> Numpy:
    """The largest number of each channel, float64; without channels, nothing."""
    if values.ndim < 2 or not values.size:
        return np.zeros(0)
    maxima: Numpy = values.reshape(*values.shape[:2], -1).max(2).max(0).astype(np.float64)
    return maxima


def joined(function: np.ufunc, one: Numpy, other: Numpy) -> Numpy:
    """A function of two pictures' numbers of channels; nothing, where one picture has more than the other."""
    return function(one, other) if one.shape == other.shape else np.zeros(0)


def measure_values(
    net: Net, inputs: Iterable[Mapping[str, Numpy]], method: str, tell: Callable[[], None] = lambda: None
) -> Measured:
    """Ranges and means of what each layer writes, over some inputs.

    Parameters
    ----------
    net
        One that runs its layers one by one (optimize=False).
    inputs
        {name: array} of each forward.
    method
        Of METHODS.
    tell
        Called after each forward.

    Raises
    ------
    ModelError
        For a value that is not finite, by the name of the layer that makes it; where nothing was given.
    """
    histograms: dict[str, list[Histogram]] = {}
    sums: dict[str, list[Numpy]] = {}
    most: dict[str, list[Numpy]] = {}
    count = 0
    for count, values in enumerate(inputs, 1):
        if any(net.blobs[name].shape != value.shape for name, value in values.items()):
            for name, value in values.items():
                net.blobs[name].reshape(*value.shape)
            net.reshape()
        for name, value in values.items():
            net.blobs[name].data[...] = value
        for i, layer in enumerate(net.layers):
            net.forward_layer(i)  # one without bottoms too: a Parameter's top has nothing before
            if Trait.CHOOSES_ROWS in layer.traits or isinstance(layer.lower(net.bottoms[i], net.tops[i]), Same):
                continue  # rows of detections or regions are never in 8 bits
            tops = histograms.setdefault(layer.name, [Histogram() for _ in net.tops[i]])
            arrays = [np.asarray(blob.data) for blob in net.tops[i]]
            for name, array, histogram in zip(net.names[i][1], arrays, tops):
                if not histogram.add(array, counts=method != "minmax"):
                    raise ModelError(
                        f"{layer.type} layer {layer.name!r}: its top {name!r} has NaN or infinity for picture {count}, and no "
                        "range in 8 bits holds that; look at the weights and at how pictures are prepared (--mean, --scale)"
                    )
            name, means, maxima = layer.name, list(map(channel_means, arrays)), list(map(channel_maxima, arrays))
            sums[name] = list(map(partial(joined, np.add), sums[name], means)) if name in sums else means
            most[name] = list(map(partial(joined, np.maximum), most[name], maxima)) if name in most else maxima
        tell()
    if not count:
        raise ModelError(NO_PICTURES)
    shown = {name: [[float(f"{m:.6g}") for m in total / count] for total in each] for name, each in sums.items()}
    largest = {name: [each.tolist() for each in tops] for name, tops in most.items()}
    ranges = {name: [histogram.range(method) for histogram in tops] for name, tops in histograms.items()}
    return Measured(ranges, shown, largest)
