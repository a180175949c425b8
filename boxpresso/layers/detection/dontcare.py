"""What targets leave out beside hard objects, and in areas where nobody marked any (KITTI)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.boxes import coverage
from ...device import Blob
from ..core import Layer
from .anchor_base import AnchorTargets
from .target_base import RegionTargets

SETTINGS: dict[str, Any] = {"preclude_hard_samples": True, "dontcare_area_intersection_hi": 0.5}
JITTER = 0.05  # of a side: by how much a true box is moved at most, there and back


def check_marks(layer: Layer, truth: Blob, hard: Blob, areas: Blob, number: int) -> None:
    """Raises LayerError for a bottom `number`, a mark for each true box, or one behind it, areas, of another shape."""
    rows = truth.shape[0]
    layer.need(
        hard.count == rows,
        f"bottom {number} must say for each of the {rows} true boxes whether it is hard, its shape is {hard.shape}",
    )
    shape = areas.shape
    layer.need(
        shape[1:2] == (4,) and areas.count == 4 * shape[0],
        f"bottom {number + 1}, the areas where nothing is marked, must be (D, 4), got {shape}",
    )


def hard_of(layer: AnchorTargets | RegionTargets, marks: Blob) -> np.ndarray:
    """Which true boxes are hard, and to be left out (G,)."""
    on = np.bool_(layer.settings["preclude_hard_samples"])
    return np.asarray(on & (np.asarray(marks.data).reshape(-1).astype(int) == 1))


def in_areas(layer: AnchorTargets | RegionTargets, boxes: np.ndarray, areas: Blob) -> np.ndarray:
    """Which boxes (N, 4) lie in the areas by more than dontcare_area_intersection_hi of their own area, summed over these."""
    of = np.asarray(areas.data).astype(np.float64).reshape(-1, 4)
    part = np.zeros(len(boxes))
    for each in of:
        part += coverage(boxes, each, 1)
    return np.asarray(part > layer.settings["dontcare_area_intersection_hi"])
