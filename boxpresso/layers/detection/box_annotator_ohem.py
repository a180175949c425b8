"""BoxAnnotatorOHEM, ClsAnnotatorOHEM: online hard example mining keeps the regions with the greatest loss."""

from __future__ import annotations

import numpy as np

from ...data.boxes import best
from ...device import Blob
from ..core import Layer


class BoxAnnotatorOHEM(Layer, type="BoxAnnotatorOHEM", param="box_annotator_ohem_param", bottoms=4, tops=2):
    """Online hard example mining: keeps the labels of the `roi_per_img` regions of each image with the greatest loss.

    The regions that are chosen keep their label and their weights. The others get `ignore_label` and weights of 0.
    Among equal losses the first wins. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R, 5) or (R, 5, H, W), regions; the first number is the image.
    bottom 1
        (R,) or (R, 1, H, W), the loss of each region.
    bottom 2
        The label of each region, of the same size as bottom 1.
    bottom 3
        (R, C) or (R, C, H, W), the weights of the box loss of each region.
    box_annotator_ohem_param
        `roi_per_img` (required, for example 128): how many regions of each image are kept. `ignore_label` (-1): the
        label of the others.

    Returns
    -------
    top 0
        (R, 1, H, W), labels.
    top 1
        (R, C, H, W), weights.

    Raises
    ------
    LayerError
        For a `roi_per_img` that is missing or 0, regions that do not have five numbers, or bottoms whose shapes do
        not fit the regions.

    Source
    ------
    Shrivastava et al. 2016, and R-FCN's Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "BoxAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 1 }'
    >>> regions, loss, label, weights = [[0, 0, 0, 9, 9], [0, 0, 0, 5, 5]], [2, 3], [4, 7], [[1, 1], [1, 1]]
    >>> labels, weights = run_layer(text, regions, loss, label, weights, tops=2)
    >>> labels.ravel().tolist(), weights[:, :, 0, 0].tolist()
    ([-1.0, 7.0], [[0.0, 0.0], [1.0, 1.0]])
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.box_annotator_ohem_param
        self.need(p.roi_per_img > 0, f"roi_per_img must be at least 1, got {p.roi_per_img}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        regions, losses, labels, *weights = ((*blob.shape, 1, 1, 1)[: max(4, len(blob.shape))] for blob in bottom)
        count, columns, *places = regions
        self.need(columns == 5, f"bottom 0, the regions, must be (R, 5), got {bottom[0].shape}")
        for i, shape, channels in ((1, losses, 1), (2, labels, 1), *((3, w, w[1]) for w in weights)):
            wanted = (count, channels, *places)
            self.need(
                shape == wanted, f"bottom {i} must be {wanted} for regions {bottom[0].shape}, got {bottom[i].shape}"
            )
        for blob, shape in zip(top, (labels, *weights)):
            blob.reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.box_annotator_ohem_param
        regions, losses, labels, *weights = (np.asarray(blob.data) for blob in bottom)
        images = regions.reshape(*regions.shape[:2], -1 if regions.size else 0)[:, 0].reshape(-1)
        losses = np.where(np.isnan(losses), -np.inf, losses).reshape(-1)
        keep = np.zeros(len(images), bool)
        for image in np.unique(images):
            mine = np.flatnonzero(images == image)
            keep[mine[best(losses[mine], p.roi_per_img)]] = True
        chosen = keep.reshape(top[0].shape)
        top[0].data[...] = np.where(chosen, labels.reshape(chosen.shape), p.ignore_label)
        for blob, values in zip(top[1:], weights):
            blob.data[...] = np.where(chosen, values.reshape(blob.shape), 0)

    def allow_force_backward(self, index: int) -> bool:
        return False


class ClsAnnotatorOHEM(BoxAnnotatorOHEM, type="ClsAnnotatorOHEM", bottoms=3, tops=1):
    """BoxAnnotatorOHEM of classes alone: keeps the labels of the regions of each image with the greatest loss.

    Parameters
    ----------
    bottom 0, bottom 1, bottom 2
        As of BoxAnnotatorOHEM: regions, losses and labels.
    box_annotator_ohem_param
        As of BoxAnnotatorOHEM.

    Returns
    -------
    top 0
        (R, 1, H, W), labels.

    Raises
    ------
    LayerError
        As BoxAnnotatorOHEM.

    Source
    ------
    D-X-Y/DXY-Projects.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "ClsAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 1 }'
    >>> run_layer(text, [[0, 0, 0, 9, 9], [0, 0, 0, 5, 5]], [2, 3], [4, 7]).ravel().tolist()
    [-1.0, 7.0]
    """
