"""SSD's batch samplers: random crops with a given overlap with the objects of a picture. Source: Liu et al. 2016."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .boxes import coverage, iou
from .errors import DataError


def check_samplers(samplers: Sequence[Any]) -> None:
    """Raises DataError for a BatchSampler with scales or ratios that no crop can have."""
    for number, batch in enumerate(samplers):
        s = batch.sampler
        if not 0 < s.min_scale <= s.max_scale <= 1:
            raise DataError(
                f"batch_sampler {number}: it must be 0 < min_scale <= max_scale <= 1, got {s.min_scale} and {s.max_scale}"
            )
        if not 0 < s.min_aspect_ratio <= s.max_aspect_ratio < np.inf:
            raise DataError(
                f"batch_sampler {number}: it must be 0 < min_aspect_ratio <= max_aspect_ratio, got {s.min_aspect_ratio} "
                f"and {s.max_aspect_ratio}"
            )


def draw(sampler: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    """Crops (count, 4) of xmin, ymin, xmax, ymax inside the picture, float64: the area is scale^2, the ratio width / height.

    The ratio is limited to scale^2 .. 1 / scale^2, so that neither side is longer than the picture's.
    """
    scale = rng.uniform(sampler.min_scale, sampler.max_scale, count)
    ratio = rng.uniform(sampler.min_aspect_ratio, sampler.max_aspect_ratio, count)
    ratio = np.sqrt(np.clip(ratio, scale**2, 1 / scale**2))
    size = np.minimum(np.stack([scale * ratio, scale / ratio], 1), 1)
    start = rng.random((count, 2)) * (1 - size)
    return np.concatenate([start, start + size], 1)


def satisfies(crops: np.ndarray, corners: np.ndarray, constraint: Any) -> np.ndarray:
    """Which crops (M, 4) meet a SampleConstraint with one object at least, of corners (N, 4); all without a constraint."""
    crops = crops[:, None]
    good = np.ones((len(crops), len(corners)), bool)
    asked = False
    measures: tuple[tuple[str, str, Callable[[], np.ndarray]], ...] = (
        ("min_jaccard_overlap", "max_jaccard_overlap", lambda: iou(crops, corners)),
        ("min_sample_coverage", "max_sample_coverage", lambda: coverage(crops, corners)),
        ("min_object_coverage", "max_object_coverage", lambda: coverage(corners, crops)),
    )
    for low, high, measure in measures:
        if not (constraint.HasField(low) or constraint.HasField(high)):
            continue
        value, asked = measure(), True
        if constraint.HasField(low):
            good &= value >= getattr(constraint, low)
        if constraint.HasField(high):
            good &= value <= getattr(constraint, high)
    return np.any(good, axis=1) if asked else np.ones(len(crops), bool)


def crops(samplers: Sequence[Any], corners: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The crops that BatchSamplers draw for the objects of a picture.

    Parameters
    ----------
    corners : (N, 4), of the objects, as fractions of the picture.

    Returns
    -------
    (M, 4), of each sampler at most max_sample of those of its max_trials crops that meet its constraint.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.proto import LayerParameter, parse_text
    >>> text = "annotated_data_param { batch_sampler { max_sample: 1 max_trials: 1 } }"
    >>> samplers = parse_text(text, LayerParameter()).annotated_data_param.batch_sampler
    >>> crops(samplers, np.zeros((0, 4)), np.random.default_rng(0)).tolist()
    [[0.0, 0.0, 1.0, 1.0]]
    """
    parts = [np.zeros((0, 4))]
    for batch in samplers:
        if batch.use_original_image:
            tried = draw(batch.sampler, batch.max_trials, rng)
            good = tried[satisfies(tried, corners, batch.sample_constraint)]
            parts.append(good[: batch.max_sample] if batch.HasField("max_sample") else good)
    return np.concatenate(parts)
