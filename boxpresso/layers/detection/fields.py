"""Fields of multi-scale proposal networks (MS-CNN, Cascade R-CNN): boxes of one size around the places of a map.

A field of width w lies around ((x + 0.5) stride, (y + 0.5) stride). A prediction there is an offset: the centre moves
by parts of the field, its size grows by exp. Labels of a map are (label, centre x, centre y, width, height, overlap) in pixels.
Sources: Cai et al. 2016 (MS-CNN), Cai and Vasconcelos 2018 (Cascade R-CNN) and the code of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device.functions import exp, log, whole
from ..core import Layer
from ..core.numbers import COUNT_LIMIT


class Deviation:
    """The mean and standard deviation of offsets that `bbox_reg_param` gives; 0 and 1 without."""

    def __init__(self, layer: Layer) -> None:
        p = layer.param.bbox_reg_param
        self.mean, self.std = np.zeros(4), np.ones(4)
        if p.bbox_mean and p.bbox_std:
            layer.need(
                len(p.bbox_mean) == len(p.bbox_std) == 4 and min(p.bbox_std) > 0,
                f"bbox_mean and bbox_std must be four numbers each, std above 0; got {list(p.bbox_mean)}, {list(p.bbox_std)}",
            )
            self.mean, self.std = np.array(p.bbox_mean, np.float64), np.array(p.bbox_std, np.float64)

    def restore(self, offsets: np.ndarray, axis: int = -1) -> np.ndarray:
        """Normalised offsets as they were."""
        shape = [1] * offsets.ndim
        shape[axis] = 4
        return np.asarray(offsets * self.std.reshape(shape) + self.mean.reshape(shape))

    def bounds(self, centre: float, size: float) -> np.ndarray:
        """(2, 4): the least and largest normalised offsets, when centres move by 1 / `centre` of a field at most, and
        sizes
        grow `size` times at most. As in those programs, x and y share the mean of their means and the root of their
        stds."""
        m, s = self.mean, self.std
        mean = np.array([m[:2].mean()] * 2 + [m[2:].mean()] * 2)
        std = np.array([np.sqrt(s[0] * s[1])] * 2 + [np.sqrt(s[2] * s[3])] * 2)
        most = np.array([1 / centre] * 2 + [log(size)] * 2)
        return np.stack([(-most - mean) / std, (most - mean) / std])


def places(height: int, width: int, stride: float) -> np.ndarray:
    """(2, H, W): x and y in pixels of the middle of each place."""
    return np.asarray((np.mgrid[:height, :width][::-1] + 0.5) * stride)


def encode(truth: np.ndarray, sizes: np.ndarray, stride: float, deviation: Deviation) -> np.ndarray:
    """The normalised offsets (N, 4, H, W) of boxes (N, 4, H, W), centre and size, from fields (N, 2), width and
    height."""
    field = sizes[:, :, None, None]
    height, width = truth.shape[2:]
    centre = (truth[:, :2] - places(height, width, stride)) / field
    size = log(np.maximum(truth[:, 2:], 2) / field)
    m, s = deviation.mean[:, None, None], deviation.std[:, None, None]
    return np.asarray((np.concatenate([centre, size], 1) - m) / s)


def decode(offsets: np.ndarray, sizes: np.ndarray, stride: float, centre: float, size: float) -> np.ndarray:
    """Boxes (N, 4, H, W), x, y of the first corner and width, height, at plain offsets; `centre` and `size` bound
    them."""
    field = sizes[:, :, None, None]
    height, width = offsets.shape[2:]
    far, wide = 1 / centre, log(size)
    extent = field * exp(np.clip(offsets[:, 2:], -wide, wide))
    middle = np.clip(offsets[:, :2], -far, far) * field + places(height, width, stride)
    return np.concatenate([middle - extent / 2, extent], 1)


def overlap(a: np.ndarray, b: np.ndarray, last: int = 0) -> np.ndarray:
    """Intersection over union of boxes (..., 4) given by corner and size, each with its own; 0 where a side is not
    positive."""
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    shared = np.prod(np.maximum(high - low, 0), -1)
    whole = np.prod(a[..., 2:], -1) + np.prod(b[..., 2:], -1) - shared
    valid = (a[..., 2:] > 0).all(-1) & (b[..., 2:] > 0).all(-1) & (whole > 0)
    return np.where(valid, shared / np.where(whole > 0, whole, 1), 0.0)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Over axis 1."""
    raised = exp(scores - scores.max(1, keepdims=True))
    return np.asarray(raised / raised.sum(1, keepdims=True))


def classes_of(labels: np.ndarray, objectness: bool) -> np.ndarray:
    """Whole labels; with `objectness` every class is 1."""
    labels = whole(labels, -COUNT_LIMIT, COUNT_LIMIT)
    return np.asarray(np.minimum(labels, 1) if objectness else labels)


def check_fields(layer: Layer, p: Any, widths: list[int], heights: list[int], stride: int) -> np.ndarray:
    """(K, 2) widths and heights of the fields. Raises LayerError unless all are above 0 and the bounds make sense."""
    layer.need(
        len(widths) > 0 and len(widths) == len(heights), f"give as many field_w as field_h, got {widths} and {heights}"
    )
    layer.need(min(widths + heights) > 0 and stride > 0, "field_w, field_h and the stride must be above 0")
    layer.need(p.field_whr > 1 and p.field_xyr > 0, "field_whr must be above 1 and field_xyr above 0")
    return np.asarray(np.array([widths, heights], np.float64).T)
