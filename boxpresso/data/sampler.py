"""SSD's batch samplers: random crops that must meet the objects of a picture in a given way. Source: Liu et al. 2016."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .boxes import coverage, jaccard
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


def draw(sampler: Any, rng: np.random.Generator) -> np.ndarray:
    """One crop (xmin, ymin, xmax, ymax) inside the picture, float64: its area is scale^2, its ratio width / height.

    The ratio is limited to scale^2 .. 1 / scale^2, so that neither side is longer than the picture's.
    """
    scale = rng.uniform(sampler.min_scale, sampler.max_scale)
    ratio = rng.uniform(sampler.min_aspect_ratio, sampler.max_aspect_ratio)
    ratio = min(max(ratio, scale**2), 1 / scale**2)
    size = np.minimum([scale * np.sqrt(ratio), scale / np.sqrt(ratio)], 1)
    start = rng.uniform(0, 1 - size)
    return np.concatenate([start, start + size])


def satisfies(crop: np.ndarray, corners: np.ndarray, constraint: Any) -> bool:
    """Whether one object at least (corners, (N, 4)) meets all that a SampleConstraint asks. True when it asks nothing."""
    asked = [
        (low, high, measure)
        for low, high, measure in (
            ("min_jaccard_overlap", "max_jaccard_overlap", lambda: jaccard(crop, corners)),
            ("min_sample_coverage", "max_sample_coverage", lambda: coverage(crop, corners)),
            ("min_object_coverage", "max_object_coverage", lambda: coverage(corners, crop)),
        )
        if constraint.HasField(low) or constraint.HasField(high)
    ]
    if not asked:
        return True
    good = np.ones(len(corners), bool)
    for low, high, measure in asked:
        value = measure()
        if constraint.HasField(low):
            good &= value >= getattr(constraint, low)
        if constraint.HasField(high):
            good &= value <= getattr(constraint, high)
    return bool(good.any())


def crops(samplers: Sequence[Any], corners: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """The crops that the BatchSamplers find for objects at corners (N, 4): each max_sample at most, in max_trials."""
    found = []
    for batch in samplers:
        if not batch.use_original_image:
            continue
        left = batch.max_sample if batch.HasField("max_sample") else batch.max_trials
        for _ in range(batch.max_trials):
            if left <= 0:
                break
            crop = draw(batch.sampler, rng)
            if satisfies(crop, corners, batch.sample_constraint):
                found.append(crop)
                left -= 1
    return found
