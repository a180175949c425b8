"""RONDetection: the boxes and scores of one scale of RON, before suppression."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Layer
from ..core.param_str import settings
from .anchors import RON_RATIOS, check_lists
from .rcnn import Upright

kernels = Kernels(Path(__file__).with_name("ron.cu"), UNFUSED)


class RONDetection(Layer, type="RONDetection", param="python_param", bottoms=3, tops=2):
    """The boxes and scores of one scale of RON: its anchors moved by offsets, and their objectness beside their class
    scores.

    This is the DetLayer of RON's ron_layer.det_layer. Each place has ten anchors, of five ratios and of two scales,
    around squares of `base_size` pixels. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), probabilities of A anchors at each place: first all backgrounds, then all objects.
    bottom 1
        (N, C, A H, W), probabilities of classes, the background's first.
    bottom 2
        (N, 4 A, H, W), offsets.
    python_param
        `param_str` holds `stride_scale_numcls` (required): pixels per place, the smaller scale, and C, such as 64,7,21;
        and `base_size` (32) and `ratios` (0.333, 0.5, 1, 2, 3), which RON keeps in its configuration.

    Returns
    -------
    top 0
        (N, H W A, 4), boxes in pixels, by row, column and anchor; neither clipped nor suppressed.
    top 1
        (N, H W A, C), the objectness, then the scores of the classes but the background.

    Raises
    ------
    LayerError
        For a `stride_scale_numcls` that is not three numbers above 0, or bottoms of the wrong shape.

    Source
    ------
    Kong et al. 2017 (RON) and its code.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> settings = "{stride_scale_numcls: [16, 1, 2], base_size: 16, ratios: [1]}"
    >>> text = f'type: "RONDetection" python_param {{ param_str: "{settings}" }}'
    >>> objects, classes = np.full((1, 4, 1, 1), 0.5), np.array([[[[0.75], [0.5]], [[0.25], [0.5]]]])
    >>> boxes, scores = run_layer(text, objects, classes, np.zeros((1, 8, 1, 1)), tops=2)
    >>> boxes.tolist(), scores.tolist()
    ([[[0.0, 0.0, 16.0, 16.0], [-8.0, -8.0, 24.0, 24.0]]], [[[0.5, 0.25], [0.5, 0.5]]])
    """

    replaces = ("ron_layer.det_layer.DetLayer",)
    kernels = kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        s = settings(self, {"stride_scale_numcls": (), "base_size": 32, "ratios": RON_RATIOS})
        listed = s["stride_scale_numcls"]
        numbers = listed.split(",") if isinstance(listed, str) else listed
        try:
            values = [float(number) for number in numbers]
        except (TypeError, ValueError):
            values = []
        self.need(
            len(values) == 3 and min(values) > 0 and values[2] >= 2,
            f"param_str must give stride_scale_numcls, three numbers such as 64,7,21; got {listed!r}",
        )
        self.stride, scale, self.classes = values[0], values[1], int(values[2])
        check_lists(self, s)
        self.need(s["base_size"] > 0, f"base_size must be above 0, got {s['base_size']}")
        self.anchors = Upright.anchors(s["base_size"], s["ratios"], (scale, scale + 1))
        self.table = self.device.table(self.anchors, np.float64)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, _, height, width = self.axes(bottom[0], 4, "bottom 0")
        count = len(self.anchors)
        for i, each in ((0, 2), (2, 4)):
            wanted = (images, each * count, height, width)
            self.need(
                bottom[i].shape == wanted, f"bottom {i} must be {wanted} for {count} anchors, got {bottom[i].shape}"
            )
        wanted = (images, self.classes, count * height, width)
        self.need(
            bottom[1].shape[:2] == wanted[:2] and bottom[1].count == int(np.prod(wanted)),
            f"bottom 1 must be {wanted}, got {bottom[1].shape}",
        )
        rows = height * width * count
        top[0].reshape(images, rows, 4)
        top[1].reshape(images, rows, self.classes)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, _, height, width = bottom[0].shape
        scale = kernels.struct(
            "Scale", images=images, anchors=len(self.anchors), height=height, width=width, classes=self.classes,
            stride=self.stride,
        )  # fmt: skip
        kernels.on(self.device).ron_boxes(
            images * top[0].shape[1], *(blob.data for blob in bottom), self.table, *(blob.data for blob in top), scale
        )

    def allow_force_backward(self, index: int) -> bool:
        return False
