"""Convex polygons as points (K, 2): what two have in common, areas and hulls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def clipped(polygon: np.ndarray, by: np.ndarray) -> list[np.ndarray]:
    """The part of a convex polygon that lies in another (Sutherland and Hodgman 1974)."""
    points = list(polygon)
    for start, end in zip(by, np.roll(by, -1, axis=0)):
        edge = end - start
        sides = [float(edge[0] * (p[1] - start[1]) - edge[1] * (p[0] - start[0])) for p in points]
        result: list[np.ndarray] = []
        for i, (point, side) in enumerate(zip(points, sides)):
            before, other = points[i - 1], sides[i - 1]
            if (side >= 0) != (other >= 0):
                result.append(before + (point - before) * (other / (other - side)))
            if side >= 0:
                result.append(point)
        points = result
    return points


def polygon_area(points: Sequence[np.ndarray] | np.ndarray) -> float:
    """The area of a polygon.

    >>> polygon_area(np.array([[0, 0], [2, 0], [2, 1], [0, 1]]))
    2.0
    """
    if len(points) < 3:
        return 0.0
    x, y = np.array(points, np.float64).T
    return float(abs((x * np.roll(y, -1)).sum() - (y * np.roll(x, -1)).sum()) / 2)


def hull(points: np.ndarray) -> np.ndarray:
    """The convex hull of points, clockwise as pictures are seen (Andrew 1979), for `clipped`.

    >>> hull(np.array([[0, 0], [2, 0], [1, 0.5], [2, 2], [0, 2]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]
    """
    rows = sorted(map(tuple, np.asarray(points, np.float64).tolist()))

    def half(order: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        chain: list[tuple[float, ...]] = []
        for p in order:
            while len(chain) > 1 and cross(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    chain = half(rows) + half(rows[::-1])
    return np.array(chain or rows[:1], np.float64).reshape(-1, 2)


def cross(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    """Above 0 where c lies to the right of the way from a to b, y pointing down."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
