"""What the numbers of a parameter are like: extremes, mean, deviation, zeros, and a histogram as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .page import escape, shape_text

BINS = 32
CHUNK = 1 << 22  # numbers that are looked at together, so that a large array is not copied
WIDTH, HEIGHT = 160, 40  # of a histogram


@dataclass(frozen=True)
class Statistics:
    """What the numbers of an array are like.

    Attributes
    ----------
    shape
        Of the array.
    low, high, mean, deviation
        Of its finite numbers; NaN where there is none.
    zeros, nans, infinite
        How many.
    bins
        How many finite numbers lie in each of 32 equal parts from `low` to `high`.
    """

    shape: tuple[int, ...]
    low: float
    high: float
    mean: float
    deviation: float
    zeros: int
    nans: int
    infinite: int
    bins: tuple[int, ...]


def statistics(array: np.ndarray[Any, Any]) -> Statistics:
    """Looks at the numbers of an array.

    Examples
    --------
    >>> import numpy as np
    >>> made = statistics(np.array([0, 1, 2, 3, np.nan, np.inf]))
    >>> made.low, made.high, made.mean, made.zeros, made.nans, made.infinite, made.bins[0], made.bins[31]
    (0.0, 3.0, 1.5, 1, 1, 1, 1, 1)
    """
    flat = np.asarray(array).reshape(-1)
    parts = [flat[i : i + CHUNK] for i in range(0, flat.size, CHUNK)]
    finite = zeros = nans = 0
    low, high, total = math.inf, -math.inf, 0.0
    for part in parts:
        good = part[np.isfinite(part)]
        finite, zeros = finite + good.size, zeros + part.size - int(np.count_nonzero(part))
        nans += int(np.isnan(part).sum())
        if good.size:
            low, high = min(low, float(good.min())), max(high, float(good.max()))
            total += float(good.sum(dtype=np.float64))
    infinite = flat.size - finite - nans
    if not finite:
        return Statistics(array.shape, math.nan, math.nan, math.nan, math.nan, zeros, nans, infinite, (0,) * BINS)
    mean, squares = total / finite, 0.0
    bins = np.zeros(BINS, np.int64)
    for part in parts:
        good = part[np.isfinite(part)].astype(np.float64)
        squares += float(np.square(good - mean).sum())
        bins += counts(good, low, high)
    deviation = math.sqrt(squares / finite)
    return Statistics(array.shape, low, high, mean, deviation, zeros, nans, infinite, tuple(map(int, bins)))


def counts(values: np.ndarray[Any, Any], low: float, high: float) -> np.ndarray[Any, Any]:
    """How many of some numbers are in each of the bins from `low` to `high`, however near or far these are."""
    if not high > low:
        return np.bincount([0], [len(values)], BINS).astype(np.int64)
    places = (
        (values / 4 - low / 4) / (high / 4 - low / 4) if high > 1e300 or low < -1e300 else (values - low) / (high - low)
    )
    return np.bincount(np.clip((places * BINS).astype(np.int64), 0, BINS - 1), minlength=BINS)


def histogram(stats: Statistics) -> str:
    """The histogram as SVG, with a line at 0 where that is inside."""
    most = max(stats.bins) or 1
    step = WIDTH // BINS
    parts = [f"M0 {HEIGHT}"]
    level = 0
    for number in stats.bins:
        height = max(1, round((HEIGHT - 2) * number / most)) if number else 0
        parts.append(f"v{level - height}h{step}" if height != level else f"h{step}")
        level = height
    line = ""
    if stats.low < 0 < stats.high:
        at = WIDTH * -stats.low / (stats.high - stats.low)
        line = f'<path class="zero" d="M{at:.1f} 0v{HEIGHT}"/>'
    about = f"{most} numbers in the highest of {BINS} bars from {stats.low:.4g} to {stats.high:.4g}"
    return (
        f'<svg class="hist" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"><title>{about}</title>'
        f'<path d="{"".join(parts)}v{level}z"/>{line}</svg>'
    )


def weights_table(stats: list[tuple[str, Statistics]]) -> str:
    """The parameters of a layer: (what each is, its numbers)."""
    rows = []
    for name, each in stats:
        count = math.prod(each.shape)
        odd = [f"{n:,} {kind}" for n, kind in ((each.nans, "NaN"), (each.infinite, "infinite")) if n]
        wrong = f' <b class="bad">{", ".join(odd)}</b>' if odd else ""
        share = f"{each.zeros / count:.1%}" if count and each.zeros else "none"
        low, mean, high, deviation = (f"{value:.4g}" for value in (each.low, each.mean, each.high, each.deviation))
        rows.append(
            f"<tr><td>{escape(name)}<br>{shape_text(each.shape)}</td><td>{histogram(each)}</td>"
            f"<td>{low} to {high}<br>mean {mean}, std {deviation}<br>zeros: {share}{wrong}</td></tr>"
        )
    return f'<table class="weights">{"".join(rows)}</table>'
