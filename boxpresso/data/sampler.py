"""SSD's batch samplers: random crops that must meet the objects of a picture in a given way. Source: Liu et al. 2016."""

from __future__ import annotations

from collections.abc import Sequence
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
    """For which crops (M, 4) one object at least, of corners (N, 4), meets all that a SampleConstraint asks, if it asks."""
    crops = crops[:, None]
    good = np.ones((len(crops), len(corners)), bool)
    asked = False
    for low, high, measure in (
        ("min_jaccard_overlap", "max_jaccard_overlap", lambda: iou(crops, corners)),
        ("min_sample_coverage", "max_sample_coverage", lambda: coverage(crops, corners)),
        ("min_object_coverage", "max_object_coverage", lambda: coverage(corners, crops)),
    ):
        if not (constraint.HasField(low) or constraint.HasField(high)):
            continue
        value, asked = measure(), True
        if constraint.HasField(low):
            good &= value >= getattr(constraint, low)
        if constraint.HasField(high):
            good &= value <= getattr(constraint, high)
    return np.any(good, axis=1) if asked else np.ones(len(crops), bool)


def crops(samplers: Sequence[Any], corners: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The crops (M, 4) that the BatchSamplers find for objects at corners (N, 4): each max_sample at most, in max_trials."""
    found = [np.zeros((0, 4))]
    for batch in samplers:
        if batch.use_original_image:
            tried = draw(batch.sampler, batch.max_trials, rng)
            kept = tried[satisfies(tried, corners, batch.sample_constraint)]
            found.append(kept[: batch.max_sample] if batch.HasField("max_sample") else kept)
    return np.concatenate(found)
