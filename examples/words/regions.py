"""Regions of words as maps for a net to learn, and back from the maps that it makes.

A map has one place for each STRIDE x STRIDE pixels of the scene. `score` is 1 in the middle of a word, 0 outside words and -1
between. `geometry` has five numbers: from the place to the word's centre, x and y, in units of 8 pixels; the logarithm of the
word's width in units of 56; cosine and sine of twice its angle, which are the same for a word that stands on its head.
"""

from __future__ import annotations

import numpy as np

from .scenes import LENGTH, TALL, Word

STRIDE = 4
NEAR, WIDE = 8.0, 56.0


def places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y (size, size) of the middles of a map's places, in pixels."""
    steps = (np.arange(size) + 0.5) * STRIDE
    x, y = np.meshgrid(steps, steps)
    return x, y


def encode(words: list[Word], size: int) -> tuple[np.ndarray, np.ndarray]:
    """score (1, size, size) and geometry (5, size, size) of a scene with these words."""
    x, y = places(size)
    score, geometry = np.zeros((1, size, size), np.float32), np.zeros((5, size, size), np.float32)
    for _, (cx, cy, w, h, theta) in words:
        away = np.stack([x - cx, y - cy], -1)
        along, across = away @ (np.cos(theta), -np.sin(theta)), away @ (np.sin(theta), np.cos(theta))
        inside = (np.abs(along) < w / 2) & (np.abs(across) < h / 2)
        middle = (np.abs(along) < w / 4) & (np.abs(across) < h / 3)
        score[0, inside] = -1
        score[0, middle] = 1
        flat = (
            np.full((size, size), np.log(w / WIDE)),
            np.full((size, size), np.cos(2 * theta)),
            np.full((size, size), np.sin(2 * theta)),
        )
        geometry[:, middle] = np.stack([(cx - x) / NEAR, (cy - y) / NEAR, *flat])[:, middle]
    return score, geometry


def beside(away: np.ndarray, w: float, theta: float) -> np.ndarray:
    """Whether points so far (N, 2) from a word's centre are inside it, where no other word's centre can be."""
    along = away @ (np.cos(theta), -np.sin(theta))
    across = away @ (np.sin(theta), np.cos(theta))
    return (np.abs(along) < w / 2) & (np.abs(across) < w / LENGTH * TALL / 2)


def decode(score: np.ndarray, geometry: np.ndarray, threshold: float = 0.5) -> np.ndarray:
    """Regions (K, 5) from a scene's score (1, size, size) and geometry (5, size, size), the best first.

    The best place gives a region together with those that mean the same word, weighed by their score, and so on. A region reads
    from left to right or, as likely, stands on its head.
    """
    x, y = places(score.shape[-1])
    likely = score[0] > threshold
    weights, (dx, dy, wide, cos, sin) = score[0][likely], geometry[:, likely]
    rows = np.stack([x[likely] + dx * NEAR, y[likely] + dy * NEAR, wide, cos, sin], 1)
    regions = []
    while len(rows):
        best = rows[weights.argmax()]
        same = beside(rows[:, :2] - best[:2], WIDE * np.exp(best[2]), np.arctan2(best[4], best[3]) / 2)
        cx, cy, wide, cos, sin = np.average(rows[same], 0, weights[same])
        w = WIDE * np.exp(wide)
        if same.sum() > 5:  # a small word has a dozen
            regions.append((cx, cy, w, w / LENGTH * TALL, np.arctan2(sin, cos) / 2))
        rows, weights = rows[~same], weights[~same]
    return np.array(regions).reshape(-1, 5)
