"""HardRegions: the regions of Fast R-CNN with the greatest loss, and what belongs to them."""

from __future__ import annotations

from math import prod
from typing import ClassVar

import numpy as np

from ...data.boxes import best
from ...device import Blob, Kernels
from ...device.functions import log
from ..core import Layer, Trait
from ..core.param_str import settings
from . import suppress

LEAST = float(np.finfo(np.float64).eps)  # of a probability


class HardRegions(
    Layer, type="HardRegions", param="python_param", bottoms=(4, 7), tops=(2, 5), traits=Trait.CHOOSES_ROWS
):
    """Online hard example mining of Fast R-CNN: the regions with the greatest loss, of which none lies on another.

    This is the OHEMDataLayer of ohem's roi_data_layer.layer. The loss of a region is -log of the probability of its label, and
    for an object the smooth L1 loss of its offsets: the sum of w_out * s(w_in (b - t)) with s(d) = d^2 / 2 for |d| < 1 and
    |d| - 1 / 2 otherwise. Of the regions of one image and one label, those are left out that overlap one with a greater loss by
    `ohem_nms_thresh` or more. Of the rest the `batch_size` regions with the greatest loss stay, greatest first. There is no
    gradient.

    Parameters
    ----------
    bottom 0
        (R, C), probabilities.
    bottom 1
        (R, 4 C), offsets.
    bottom 2
        (R, 5), regions: image, xmin, ymin, xmax, ymax.
    bottom 3
        (R,), labels.
    bottom 4, bottom 5, bottom 6
        Optional: (R, 4 C) each, target offsets, weights inside and outside the loss.
    python_param
        `param_str` holds `num_classes`, which is not needed, and of ohem's configuration `batch_size` (128),
        `ohem_use_nms` (True) and `ohem_nms_thresh` (0.7).

    Returns
    -------
    top 0, top 1
        The rows of bottoms 2 and 3 that stay.
    top 2, top 3, top 4
        Those of bottoms 4, 5 and 6, where there are these.

    Raises
    ------
    LayerError
        For bottoms with different numbers of rows, another number of tops than of bottoms after the second, or a label that is
        no class.

    Source
    ------
    Shrivastava et al. 2016 (OHEM) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "HardRegions" python_param { param_str: "batch_size: 1" }'
    >>> probabilities, offsets = [[0.9, 0.1], [0.5, 0.5]], [[0] * 8] * 2
    >>> regions, labels = run_layer(text, probabilities, offsets, [[0, 0, 0, 9, 9], [0, 50, 0, 59, 9]], [0, 0], tops=2)
    >>> regions.tolist()
    [[0.0, 50.0, 0.0, 59.0, 9.0]]
    """

    replaces = ("roi_data_layer.layer.OHEMDataLayer",)
    kernels: ClassVar[Kernels] = suppress.kernels

    array_copies = 2

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.settings = settings(
            self, {"num_classes": 0, "batch_size": 128, "ohem_use_nms": True, "ohem_nms_thresh": 0.7}
        )
        self.need(
            len(bottom) in (4, 7) and len(top) == len(bottom) - 2,
            f"has {len(bottom)} bottoms and {len(top)} tops; it takes 4 and 2, or 7 and 5",
        )
        size = self.settings["batch_size"]
        self.need(float(size).is_integer() and size > 0, f"batch_size must be a whole number above 0, got {size}")
        self.settings["batch_size"] = int(size)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = bottom[0].shape[:1]
        for i, blob in enumerate(bottom):
            self.need(blob.shape[:1] == rows, f"bottom {i} has the shape {blob.shape}, bottom 0 has {rows[0]} rows")
        self.need(bottom[2].count == 5 * rows[0], f"bottom 2, the regions, must be (R, 5), got {bottom[2].shape}")
        self.need(bottom[3].count == rows[0], f"bottom 3, the labels, must be (R,), got {bottom[3].shape}")
        for i in range(4, len(bottom)):
            self.need(
                bottom[i].count == bottom[1].count, f"bottom {i} must be {bottom[1].shape}, got {bottom[i].shape}"
            )
        for blob, source in zip(top, bottom[2:]):
            blob.reshape(min(rows[0], self.settings["batch_size"]), *source.shape[1:])

    def losses(self, bottom: list[Blob]) -> np.ndarray:
        """The loss of each region; NaN is the greatest."""
        rows = bottom[0].shape[0]
        chances, *values = (
            np.asarray(bottom[i].data).astype(np.float64).reshape(rows, prod(bottom[i].shape[1:]))
            for i in (0, 1, *range(4, len(bottom)))
        )
        labels = np.asarray(bottom[3].data).reshape(-1)
        wrong = np.flatnonzero(~((labels >= 0) & (labels < chances.shape[1])))
        if len(wrong):
            self.need(
                False,
                f"region {wrong[0]} has the label {labels[wrong[0]]:g}, of {chances.shape[1]} classes in bottom 0",
            )
        loss = -log(np.maximum(chances[np.arange(rows), labels.astype(int)], LEAST))
        if len(bottom) > 4:
            predicted, wanted, inside, outside = values
            with np.errstate(invalid="ignore", over="ignore"):
                apart = np.abs(np.where(inside != 0, inside * (predicted - wanted), 0))
                each = np.where(apart < 1, apart * apart / 2, apart - 0.5)
                loss = loss + np.where(labels > 0, (outside * each * (inside != 0)).sum(1), 0)
        return np.where(np.isnan(loss), np.inf, loss)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows, s = bottom[0].shape[0], self.settings
        loss = self.losses(bottom)
        stay = np.arange(rows)
        if s["ohem_use_nms"]:
            regions = np.asarray(bottom[2].data).reshape(rows, 5)
            groups = np.column_stack([regions[:, 0], np.asarray(bottom[3].data).reshape(-1)])
            chosen = [np.zeros(0, int)]
            for group in np.unique(groups, axis=0):
                mine = np.flatnonzero((groups == group).all(1))
                order = mine[best(loss[mine])]
                chosen.append(order[suppress.suppress_boxes(self.device, regions[order, 1:], s["ohem_nms_thresh"])])
            stay = np.sort(np.concatenate(chosen))
        hard = stay[best(loss[stay], s["batch_size"])]
        for blob, source in zip(top, bottom[2:]):
            blob.reshape(len(hard), *source.shape[1:])
            blob.data[...] = np.asarray(source.data)[hard]

    def allow_force_backward(self, index: int) -> bool:
        return False
