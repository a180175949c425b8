"""Lattice: sums of points weighted by how near their features are, in linear time (Adams et al. 2010)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Device, Kernels
from ..core import Layer

kernels = Kernels(Path(__file__).with_name("lattice.cu"))
Numpy = np.ndarray[Any, Any]
MOST_CELLS = (
    2.0**40
)  # from the lattice's middle: there a weight has still four digits, and keys are far from int64's end


class Lattice:
    """The permutohedral lattice of a set of points.

    `filter` gives each point about the sum over all points of e^(-|f - f'|^2 / 2) times their values, f being features. Each
    point is a weighted mean of the d + 1 corners of the simplex that it lies in: values go to the corners, are blurred along
    the lattice's d + 1 directions by [1/2, 1, 1/2], and come back with the same weights.

    Parameters
    ----------
    device
        Where values are filtered; the lattice itself is built by numpy on the host.
    features
        (P, d), finite.
    dtype
        Of the values.
    channels
        How many values a point has, at most.
    """

    def __init__(self, device: Device, features: Numpy, dtype: Any, channels: int) -> None:
        weights, keys = simplices(features)
        self.device, self.points, self.corners = device, len(features), features.shape[1] + 1
        numbers, steps = packed(keys)
        vertices, offsets = np.unique(numbers, return_inverse=True)
        offsets = offsets.reshape(-1)
        self.vertices = len(vertices)
        neighbours = np.empty((self.corners, self.vertices, 2), np.int32)
        for axis in range(self.corners):  # one step along an axis of the lattice changes all coordinates
            step = int(steps.sum()) - (self.corners * int(steps[axis]) if axis < len(steps) else 0)
            for side, sign in enumerate((-1, 1)):
                wanted = vertices + sign * step
                at = np.searchsorted(vertices, wanted).clip(max=self.vertices - 1)
                neighbours[axis, :, side] = np.where(vertices[at] == wanted, at, -1)
        order = np.argsort(offsets, kind="stable")
        starts = np.searchsorted(offsets[order], np.arange(self.vertices + 1))
        own = device.table
        self.offsets, self.neighbours = own(offsets.astype(np.int32)), own(neighbours.reshape(-1))
        self.weights = own(weights.reshape(-1), dtype)
        self.entries, self.starts = own(order.astype(np.int32)), own(starts.astype(np.int32))
        self.values = [device.empty((max(1, self.vertices * channels),), dtype) for _ in range(2)]

    def filter(self, x: AnyArray, y: AnyArray, channels: int, adjoint: bool = False) -> None:
        """y = the filtered x, both (channels, P); adjoint: by the transposed matrix, as a gradient goes."""
        run, (now, other) = kernels.on(self.device), self.values
        run.splat(self.vertices, x, self.entries, self.starts, self.weights, now, channels, self.points, self.corners)
        for axis in reversed(range(self.corners)) if adjoint else range(self.corners):
            run.blur(self.vertices, now, self.neighbours, other, channels, axis * self.vertices)
            now, other = other, now
        scale = 1 / (1 + 2.0 ** (1 - self.corners))
        run.slice_points(self.points, now, self.offsets, self.weights, y, channels, self.corners, scale)

    def norm(self) -> AnyArray:
        """(P,): 1 / what the filter makes of ones, by which it gives means."""
        norm: AnyArray = self.device.empty((self.points,), self.weights.dtype)
        norm.fill(1)
        self.filter(norm, norm, 1)
        kernels.on(self.device).inverse(self.points, norm)
        return norm


def lattice_of(layer: Layer, features: Numpy, channels: int, bottom: str, deviations: str) -> tuple[Lattice, AnyArray]:
    """The lattice of a layer's features, and its norm. Raises LayerError by the names of the bottom and of the deviations."""
    layer.need(np.isfinite(features).all(), f"{bottom} has values that are not finite")
    try:
        made = Lattice(layer.device, features, layer.dtype, channels)
    except OverflowError as error:
        layer.need(False, f"{deviations} is too small for this picture: {error}")
    return made, made.norm()


def simplices(features: Numpy) -> tuple[Numpy, Numpy]:
    """Of each point its weights for the d + 1 corners of its simplex, and their keys.

    Returns
    -------
    weights : (P, d + 1), which sum to 1.
    keys : (P (d + 1), d), whole numbers: the corners' first d coordinates.

    Raises OverflowError for features that are so large that float64 does not tell neighbouring cells apart.

    >>> weights, keys = simplices(np.array([[0.0, 0.0], [0.3, -0.2]]))
    >>> weights.round(3).tolist()[0], keys[:3].tolist()  # the origin is a corner of the lattice
    ([1.0, 0.0, 0.0], [[0, 0], [1, 1], [2, -1]])
    """
    count, d = features.shape
    scales = np.sqrt(2 / 3) * (d + 1) / np.sqrt(np.arange(1, d + 1) * np.arange(2, d + 2))
    scaled = np.asarray(features, np.float64) * scales
    if (most := np.abs(scaled).max(initial=0)) > MOST_CELLS:
        raise OverflowError(f"features that are {most:.3g} cells of the lattice from its middle")
    beyond = np.concatenate([np.cumsum(scaled[:, ::-1], 1)[:, ::-1], np.zeros((count, 1))], 1)  # sums from here on
    lifted = beyond.copy()  # the points in the plane of d + 1 coordinates whose sum is 0
    lifted[:, 1:] -= np.arange(1, d + 1) * scaled
    nearest = np.rint(lifted / (d + 1)).astype(np.int64)
    excess, base = nearest.sum(1, keepdims=True), nearest * (d + 1)
    # of each coordinate its place among the remainders, the largest first
    ranks = np.argsort(np.argsort(base - lifted, 1, kind="stable"), 1, kind="stable") + excess
    moved = np.where(ranks < 0, d + 1, np.where(ranks > d, -d - 1, 0))  # back to the plane
    ranks, base = ranks + moved, base + moved
    rest = (lifted - base) / (d + 1)
    by_rank = np.take_along_axis(rest, np.argsort(ranks, 1), 1)  # the largest first
    weights = np.empty((count, d + 1))
    weights[:, 1:] = (by_rank[:, :-1] - by_rank[:, 1:])[:, ::-1]
    weights[:, 0] = 1 - weights[:, 1:].sum(1)
    corner = np.arange(d + 1)[:, None]
    canonical = np.where(np.arange(d + 1) <= d - corner, corner, corner - d - 1)
    keys = base[:, None, :d] + canonical[np.arange(d + 1)[None, :, None], ranks[:, None, :d]]
    return weights, keys.reshape(-1, d)


def packed(keys: Numpy) -> tuple[Numpy, Numpy]:
    """Keys as single whole numbers, and how much one of each coordinate adds. Neighbours of keys are never confused.

    Raises OverflowError for features so far apart that the numbers have no room.
    """
    d = keys.shape[1]
    low, high = keys.min(0, initial=0) - d - 1, keys.max(0, initial=0) + d + 1
    spans = [int(b - a + 1) for a, b in zip(low, high)]
    steps, total = [], 1
    for span in spans:
        steps.append(total)
        total *= span
    if total >= 2**62:
        raise OverflowError(f"features that are {spans} cells of the lattice apart")
    table = np.array(steps, np.int64)
    return (keys - low) @ table, table
