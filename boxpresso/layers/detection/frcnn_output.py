"""FrcnnOutput: the detections of a Faster R-CNN or Cascade R-CNN, from class probabilities, box offsets and regions."""

from __future__ import annotations

import numpy as np

from ...device import Blob
from ..core import Trait
from ..core.doubt import warn_of_nan
from . import fields, frcnn_choice
from .choosing import ChoosingBy
from .frcnn_choice import FrcnnChoice

NONE = 0, -1, -1, -1, -1, -1, -1  # the first row, which is no detection


class FrcnnOutput(
    ChoosingBy[FrcnnChoice],
    type="FrcnnOutput",
    param=("frcnn_output_param", "bbox_reg_param"),
    bottoms=4,
    tops=1,
    traits=Trait.CHOOSES_ROWS | Trait.RESTORES,
):
    """The detections of one image, from class probabilities, box offsets and regions.

    For each class but the background: of the regions with a probability of `conf_thr` or more, moved by their offsets
    and cut at the image, those that overlap no better one by `iou_thr` or more. Of all classes together the
    `max_det_num` best; 0 means all. The first row is no detection; it says that the image was there. There is no
    gradient.

    Parameters
    ----------
    bottom 0
        (R, C), probabilities, the background's first.
    bottom 1
        (R, 4 C), offsets; (R, 8) without `cls_aware`.
    bottom 2
        (R, 5 or 6), regions of one image: image, xmin, ymin, xmax, ymax, score.
    bottom 3
        (1, 2), height and width of the image.
    frcnn_output_param
        `conf_thr` (0), `iou_thr` (0.5), `nms_type` ("IOU", the only one), `max_det_num` (0). For
        `save_output_param` there is a warning: no files are written.
    bbox_reg_param
        `bbox_mean` (0, 0, 0, 0), `bbox_std` (1, 1, 1, 1), `cls_aware` (true).

    Returns
    -------
    top 0
        (1 + D, 7, 1, 1): image, xmin, ymin, xmax, ymax, label, score; the first row is (0, -1, -1, -1, -1, -1, -1).

    Raises
    ------
    LayerError
        For another `nms_type`, a `bbox_mean` or `bbox_std` that is not four numbers, bottoms of the wrong shape, a
        region of another image than 0, or more regions of more classes than can be sorted (2^30, or 2^24 detections).

    Source
    ------
    Cai and Vasconcelos 2018 (Cascade R-CNN) and its Caffe, which suppresses above the threshold and can write files.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "FrcnnOutput" bbox_reg_param { cls_aware: false }'
    >>> run_layer(text, [[0.25, 0.75]], [[0] * 8], [[0, 2, 2, 11, 11]], [[20, 20]])[1].ravel().tolist()
    [0.0, 2.0, 2.0, 11.0, 11.0, 1.0, 0.75]
    """

    files = frcnn_choice.FILES
    offsets_bottom = 1

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.deviation = fields.Deviation(self)
        kind = self.param.frcnn_output_param.nms_type
        self.need(kind == "IOU", f"nms_type must be IOU here, got {kind!r}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows, classes = (*bottom[0].shape, 1, 1)[:2]
        few = 4 * classes if self.param.bbox_reg_param.cls_aware else 8
        self.need(
            bottom[0].count == rows * classes, f"bottom 0, the probabilities, must be (R, C), got {bottom[0].shape}"
        )
        self.need(
            bottom[1].shape[:1] == (rows,) and bottom[1].count == rows * few,
            f"bottom 1, the offsets, must be {(rows, few)}, got {bottom[1].shape}",
        )
        columns = (*bottom[2].shape, 1, 1)[1]
        self.need(
            columns in (5, 6) and bottom[2].shape[:1] == (rows,),
            f"bottom 2, the regions, must be ({rows}, 5), got {bottom[2].shape}",
        )
        self.need(
            bottom[3].count == 2, f"bottom 3, height and width of one image, must be (1, 2), got {bottom[3].shape}"
        )
        self.columns = columns
        self.choice = self.choice or FrcnnChoice(self, self.param.frcnn_output_param, self.deviation)
        self.choice.reshape(rows, columns, classes, few // 4)
        top[0].reshape(1, 7, 1, 1)  # forward knows how many there are

    def launch(self, choice: FrcnnChoice, bottom: list[Blob], top: list[Blob]) -> None:
        choice.launch(bottom, top[0])

    def finish(self, choice: FrcnnChoice, bottom: list[Blob], top: list[Blob]) -> None:
        count, foreign = choice.finish(top[0])
        if foreign:
            self.check_images(bottom)
        if not count:
            warn_of_nan(self, bottom)

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Of no regions, or no class but the background."""
        self.check_images(bottom)
        warn_of_nan(self, bottom)
        top[0].reshape(1, 7, 1, 1)
        top[0].data[...] = np.reshape(NONE, top[0].shape)

    def check_images(self, bottom: list[Blob]) -> None:
        """Raises LayerError for a region of another image than 0."""
        images = np.asarray(bottom[2].data).reshape(-1, self.columns)[:, 0]
        if images.any():
            self.need(False, f"takes one image at a time, got regions of image {images.max():g}")
