"""Masks of MNC: cut out at regions, resized and compared; a shared base for the layers that draw regions with masks.

A true mask has the size of its box in the picture, which im_info's scale leads to; sizes are given beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...device import Blob
from ...device.functions import product
from .target_base import Drawn, RegionTargets

BINARIZE = 0.4  # from here on a resized mask is 1
INFO = 12  # numbers of a region: its true box, height and width of its mask, its label, its box, the true box


def bilinear(old: int, new: int) -> np.ndarray:
    """(new, old): the weights of bilinear interpolation between the middles of pixels.

    >>> bilinear(2, 4).tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    at = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    low = np.minimum(np.floor(at).astype(int), old - 1)
    high = np.minimum(low + 1, old - 1)
    result = np.zeros((new, old))
    rows = np.arange(new)
    np.add.at(result, (rows, low), 1 - (at - low))
    np.add.at(result, (rows, high), at - low)
    return result


def resized(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """A mask (H, W) of another size: Wy X Wx^T."""
    return product(product(bilinear(mask.shape[0], height), mask), bilinear(mask.shape[1], width).T)


def pasted(box: np.ndarray, other: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The mask of a box `other` (last pixels count) as the pixels of a box; 0 outside of the mask."""
    height, width = box[3] - box[1] + 1, box[2] - box[0] + 1
    result = np.zeros((height, width))
    y0, x0 = max(box[1], other[1]), max(box[0], other[0])
    y1 = min(box[3], other[3], other[1] + mask.shape[0] - 1) + 1
    x1 = min(box[2], other[2], other[0] + mask.shape[1] - 1) + 1
    if y1 > y0 and x1 > x0:
        cut = mask[y0 - other[1] : y1 - other[1], x0 - other[0] : x1 - other[0]]
        result[y0 - box[1] : y1 - box[1], x0 - box[0] : x1 - box[0]] = cut
    return result


def sane(boxes: np.ndarray, layer: RegionTargets) -> np.ndarray:
    """Boxes (N, 4) as whole pixels, none of more than 2^14 a side, each of one at least. Raises LayerError otherwise."""
    whole: np.ndarray = np.rint(np.nan_to_num(boxes)).astype(np.int64)
    layer.need(
        (np.abs(whole) < 2**14).all(), "a region or true box is farther than 16384 pixels away; is it in pixels?"
    )
    whole[:, 2:] = np.maximum(whole[:, 2:], whole[:, :2])
    return whole


class MaskedTargets(RegionTargets):
    """Regions with targets of boxes and masks; `extra` gives mask_size."""

    def check_masks(self, masks: Blob, sizes: Blob, rows: int) -> None:
        """Raises LayerError unless there are a mask (G, H, W) and a size (G, 2 or more) for each true box."""
        self.need(
            len(masks.shape) >= 3 and masks.shape[0] == rows and masks.count == int(np.prod([rows, *masks.shape[-2:]])),
            f"the true masks must be ({rows}, H, W), one for each true box; got {masks.shape}",
        )
        self.need(
            sizes.shape[:1] == (rows,) and sizes.count >= 2 * rows,
            f"the sizes of the true masks must be ({rows}, 2), got {sizes.shape}",
        )

    def give_masks(self, drawn: Drawn, masks: Blob, sizes: Blob, scale: float, top: Sequence[Blob]) -> None:
        """Masks and weights (D, 1, M, M) and what MaskLayer needs to know (D, 12) of regions, in three tops."""
        side: int = self.settings["mask_size"]
        regions, truth, matched, objects, labels = drawn
        for blob, shape in zip(top, ((1, side, side), (1, side, side), (INFO,))):
            blob.reshape(len(regions), *shape)
        values, weights, info = (blob.data for blob in top)
        values[...], weights[...], info[...] = 0, 0, -1
        weights[:objects] = 1
        if not objects:
            return
        self.need(scale > 0, f"im_info gives the scale {scale:g}; it must be above 0")
        pixels = np.asarray(masks.data).reshape(prod(masks.shape[:-2]), *masks.shape[-2:])
        shapes = np.asarray(sizes.data).reshape(len(pixels), -1)[:, :2].astype(int)
        boxes = sane(regions[:objects, 1:5].astype(np.float64) / scale, self)
        true = sane(truth[matched[:objects], :4].astype(np.float64) / scale, self)
        for i in range(objects):
            mine = int(matched[i])
            mask = pixels[mine][: shapes[mine, 0], : shapes[mine, 1]]
            values[i, 0] = resized(pasted(boxes[i], true[i], mask), side, side) >= BINARIZE
            info[i] = [mine, *shapes[mine], labels[i], *boxes[i], *true[i]]


def overlap_of(prediction: np.ndarray, info: np.ndarray, masks: np.ndarray) -> float:
    """The intersection over union of a predicted mask (M, M) at its box and of the true mask, of a row of info."""
    number, height, width = (int(v) for v in info[:3])
    box, true = info[4:8].astype(int), info[8:12].astype(int)
    mask = masks[number][:height, :width] != 0
    seen = resized(prediction, box[3] - box[1] + 1, box[2] - box[0] + 1) >= BINARIZE
    both = int((seen & (pasted(box, true, mask) > 0)).sum())
    either: Any = seen.sum() + mask.sum() - both
    return both / float(either) if either >= 1 else 0.0
