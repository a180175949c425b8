"""What the tests of the region layers share: regions, and checks that each of these layers must pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from harness import Rig, close

# What a region may hold that is no region, but finite.
FINITE = np.array([0, 0.5, -0.5, 3, -3, 1e3, 1e9, -1e9, 2.2e9, 1e20, -1e30, 3e38, -3e38, 1e-40])
OUTSIDE = (2, -1, 1e9, -1e30, 7.5, 3e38)  # batch indices outside a batch of two
BAD = (np.nan, np.inf, -np.inf)


def regions(rng: np.random.Generator, count: int, batch: int, extent: float) -> np.ndarray:
    """Proper regions (batch index, x1, y1, x2, y2), some of them partly outside a map of extent x extent."""
    low = rng.uniform(-0.3, 0.8, (count, 2)) * extent
    high = low + rng.uniform(0.05, 0.9, (count, 2)) * extent
    return np.concatenate([rng.integers(0, batch, (count, 1)), low, high], axis=1)


def check_wild_regions(
    text: str,
    bottoms: Sequence[np.ndarray],
    down: list[bool],
    device: str,
    exact: bool = True,
    each: Sequence[int] = (1,),
) -> None:
    """Regions with NaN, infinity or a batch index outside the batch give 0, get no gradient and change nothing for the others.

    bottoms: features of two images, proper regions (as many at least as a region has numbers), and others. down: which of
    them get a gradient. exact: whether the features' gradient is bitwise the same without the wild ones. each: which bottoms
    have a row for each region.
    """
    among_bottoms = [np.repeat(b, 3, axis=0) if i in each else b for i, b in enumerate(bottoms)]
    wild, count, numbers = among_bottoms[1], *bottoms[1].shape
    assert count >= numbers, "every number of a region must be wild once"
    for k in range(count):
        wild[3 * k + 1, 0] = OUTSIDE[k % len(OUTSIDE)]
        wild[3 * k + 2, k % numbers] = BAD[k % len(BAD)]
    alone, among = Rig(text, bottoms, device=device), Rig(text, among_bottoms, device=device)
    wanted, got = alone.forward()[0], among.forward()[0]
    assert wanted.any()
    assert np.array_equal(got[::3], wanted)
    assert not got[1::3].any()
    assert not got[2::3].any()
    diff = np.random.default_rng(11).standard_normal(got.shape)
    all_wanted, all_got = alone.backward([diff[::3]], down), among.backward([diff], down)
    for i in [i for i, asked in enumerate(down) if asked]:
        wanted, got = all_wanted[i], all_got[i]
        assert wanted.any()
        if i in each:
            assert not got[1::3].any()
            assert not got[2::3].any()
            got = got[::3]
        if exact:
            assert np.array_equal(got, wanted)
        else:
            close(got, wanted, rtol=1e-6, atol=1e-6)


def check_any_workers(rig: Rig, down: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Top and gradients are bitwise identical for any number of workers."""
    diff, results = np.random.default_rng(12).standard_normal(rig.top[0].shape), []
    for workers in (1, 2, 5):
        monkeypatch.setattr(rig.device, "workers", workers)
        top, diffs = rig.forward()[0], rig.backward([diff], down)
        results.append([top, *(d for d, asked in zip(diffs, down) if asked)])
    assert all(np.isfinite(array).all() for array in results[0])
    for other in results[1:]:
        for one, same in zip(results[0], other, strict=True):
            assert np.array_equal(one, same)


def check_no_forward_no_order(text: str, features: np.ndarray, rows: np.ndarray, device: str) -> None:
    """Gradients need no forward before them, and regions may come in any order."""
    options: dict[str, Any] = {"device": device, "dtype": np.float64}
    rng, rig = np.random.default_rng(13), Rig(text, [features, rows], **options)
    top, diff = rig.forward()[0], rng.standard_normal(rig.top[0].shape)
    diffs = rig.backward([diff])
    alone = Rig(text, [features, rows], **options)
    assert all(np.array_equal(a, b) for a, b in zip(alone.backward([diff]), diffs))
    order = rng.permutation(len(rows))
    other = Rig(text, [features, rows[order]], **options)
    assert np.array_equal(other.forward()[0], top[order])
    for a, b in zip(other.backward([diff[order]]), (diffs[0], diffs[1][order])):
        close(a, b, rtol=1e-9, atol=1e-9)
