"""BoxAnnotatorOHEM: online hard example mining keeps the regions with the greatest loss."""

from __future__ import annotations

import numpy as np

from ...data.boxes import best
from ...device import Blob
from ..core import Layer


class BoxAnnotatorOHEM(Layer, type="BoxAnnotatorOHEM", param="box_annotator_ohem_param", bottoms=4, tops=2):
    """Bottoms: regions (R, 5) or (R, 5, H, W), the image first; the loss of each (R) or (R, 1, H, W); its label, of the same
    size; the weights of its box loss (R, C) or (R, C, H, W).

    Of each image the roi_per_img regions with the greatest loss keep their label, in top 0 (R, 1, H, W), and their weights,
    in top 1 (R, C, H, W); the others get ignore_label and 0. box_annotator_ohem_param { roi_per_img: 128 ignore_label: -1 }.
    Among equal losses the first wins. No gradient. Source: Shrivastava et al. 2016, R-FCN's Caffe.
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.box_annotator_ohem_param
        self.need(p.roi_per_img > 0, f"roi_per_img must be at least 1, got {p.roi_per_img}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        regions, losses, labels, weights = ((*blob.shape, 1, 1, 1)[: max(4, len(blob.shape))] for blob in bottom)
        count, columns, *places = regions
        self.need(columns == 5, f"bottom 0, the regions, must be (R, 5), got {bottom[0].shape}")
        for i, shape, channels in ((1, losses, 1), (2, labels, 1), (3, weights, weights[1])):
            wanted = (count, channels, *places)
            self.need(
                shape == wanted, f"bottom {i} must be {wanted} for regions {bottom[0].shape}, got {bottom[i].shape}"
            )
        top[0].reshape(*labels)
        top[1].reshape(*weights)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.box_annotator_ohem_param
        regions, losses, labels, weights = (np.asarray(blob.data) for blob in bottom)
        images = regions.reshape(len(regions), 5, -1)[:, 0].reshape(-1)
        losses = np.where(np.isnan(losses), -np.inf, losses).reshape(-1)
        keep = np.zeros(len(images), bool)
        for image in np.unique(images):
            mine = np.flatnonzero(images == image)
            keep[mine[best(losses[mine], p.roi_per_img)]] = True
        chosen = keep.reshape(top[0].shape)
        top[0].data[...] = np.where(chosen, labels.reshape(chosen.shape), p.ignore_label)
        top[1].data[...] = np.where(chosen, weights.reshape(top[1].shape), 0)

    def allow_force_backward(self, index: int) -> bool:
        return False
