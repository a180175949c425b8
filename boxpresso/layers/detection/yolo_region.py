"""Region: the boxes of YOLOv2 as its program for Caffe hands them on, cell by cell and not yet in pixels."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Region(Layer, type="Region", param="region_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """The numbers of each box together: 4 coordinates, 1 / (1 + exp(-objectness)), and its classes or their softmax.

    The top has the shape of the bottom, but its elements lie as (N, H, W, boxes, 4 + 1 + classes) in it. The coordinates stay
    as they are: scripts read them from there, and make boxes of them with their anchors. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, boxes (5 + classes), H, W).
    region_param
        `classes`: required. `boxes_of_each_grid` (5). `coords`: 4. `softmax` (false).

    Returns
    -------
    top 0
        (N, boxes (5 + classes), H, W).

    Raises
    ------
    LayerError
        No classes, another number of channels or of coords, a gradient is asked for; num, anchors, ratio, iou_thresh,
        box_thresh, bias_match and output_square, of a layer of this name that chooses boxes.

    Source
    ------
    hustzxd/yolo2_in_caffe; its softmax on a GPU is right for 80 classes alone.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Region" region_param { classes: 1 coords: 4 boxes_of_each_grid: 1 softmax: true }'
    >>> run_layer(text, [[[[x, -x]] for x in (1, 2, 3, 4, 0, 9)]]).ravel().tolist()
    [1.0, 2.0, 3.0, 4.0, 0.5, 1.0, -1.0, -2.0, -3.0, -4.0, 0.5, 1.0]
    """

    kernels = Kernels("yolo_region.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.region_param
        for name in ("num", "anchors", "ratio", "iou_thresh", "box_thresh", "bias_match", "output_square"):
            is_set = len(p.anchors) if name == "anchors" else p.HasField(name)
            self.need(not is_set, f"region_param: {name} is of a layer that chooses boxes, which is not supported")
        self.need(p.classes > 0, f"region_param: classes must be at least 1, got {p.classes}")
        self.need(not p.HasField("coords") or p.coords == 4, f"region_param: coords must be 4, got {p.coords}")
        self.boxes, self.classes, self.softmax = p.boxes_of_each_grid, p.classes, int(p.softmax)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        _, channels, height, width = shape = self.axes(bottom[0], 4)
        wanted = self.boxes * (5 + self.classes)
        self.need(
            channels == wanted,
            f"the bottom must have {wanted} channels for {self.boxes} boxes of 5 + {self.classes} numbers, got shape {shape}",
        )
        self.cells = height * width
        top[0].reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = top[0].count // (5 + self.classes)
        self.kernels.region_boxes(rows, bottom[0].data, top[0].data, self.boxes, self.classes, self.cells, self.softmax)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down), "has no gradient; set propagate_down: false for its bottom")

    def allow_force_backward(self, index: int) -> bool:
        return False
