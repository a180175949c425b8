"""YOLO whose last layers are the raw maps: yoloface, dog-qiuqiu's nets and darknet's after conversion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..data.inputs import Numpy
from ..layers.core import run_layer
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, picture_input, producer, shape_of, single
from .detections import Detections

VERSION_3 = (  # (maps, classes, from a width of the input on, anchors in pixels, those of the finest map first)
    (3, 80, 0, "10,13 16,30 33,23 30,61 62,45 59,119 116,90 156,198 373,326"),  # darknet's yolov3
    (2, 80, 321, "10,14 23,27 37,58 81,82 135,169 344,319"),  # yolov3-tiny
    (2, 80, 0, "12,18 37,49 52,132 115,74 119,199 243,238"),  # from here on dog-qiuqiu's: MobileNetV2-YOLOv3
    (2, 20, 0, "26,48 67,84 72,175 189,126 137,236 265,259"),
    (4, 1, 0, "4,6 6,9 8,13 12,10 13,19 19,25 26,42 38,28 42,60 71,76 101,122 162,163"),  # yoloface-500k with four maps
    (3, 1, 0, "4,6 7,10 11,15 16,24 33,25 26,41 47,60 83,97 141,149"),  # yoloface-500k
    (1, 1, 65, "21,28 34,49 61,77"),  # yoloface-100k
    (1, 1, 0, "7,12 12,19 22,29"),  # yoloface-50k
)
VERSION_2 = {  # anchors in places of the map, by classes
    20: "1.3221,1.73145 3.19275,4.00944 5.05587,8.09892 9.47112,4.84053 11.2364,10.0071",
    80: "0.57273,0.677385 1.87446,2.06253 3.33843,5.47434 7.88282,3.52778 9.77052,9.16828",
}
OVERLAP = 0.45


class YoloMaps(OneNet):
    """Outputs (1, A (5 + C), H, W) of convolutions, one for each stride: A = 3 anchors of version 3, or one map with A = 5 of
    version 2.

    The anchors are not in the net: they are darknet's for 80 classes, dog-qiuqiu's for 20 (MobileNetV2-YOLOv3-Nano), yoloface's
    for 1; others are given as `anchors`. The maps are decoded by the layers Yolov3DetectionOutput and YoloDetectionOutput.
    Labels count from 1.

    Source
    ------
    Redmon and Farhadi 2017 and 2018; dog-qiuqiu/MobileNet-Yolo (its configurations, and darknet2caffe/sample).
    """

    NAME = "yolo_maps"
    TITLE = "YOLO v2 and v3 that end in raw maps of 3 (5 + C) or 5 (5 + C) channels: yoloface, dog-qiuqiu's"
    SETTINGS = Settings(scale=1 / 255, swap_rb=True, threshold=0.5, overlap=OVERLAP)

    def __init__(self, net: Net, maps: Sequence[str], boxes: int, count: int) -> None:
        super().__init__(net, maps)
        self.boxes, self.count = boxes, count

    @staticmethod
    def find(net: Net) -> tuple[list[str], int, int]:
        """The maps, finest first, the number of boxes at a place and of classes; no maps where they do not fit."""
        none: tuple[list[str], int, int] = ([], 0, 0)
        if len(net.inputs) != 1 or len(shape_of(net, net.inputs[0])) != 4 or not net.outputs:
            return none
        shapes = {name: shape_of(net, name) for name in net.outputs}
        size = shape_of(net, net.inputs[0])[2:]
        maps = sorted(net.outputs, key=lambda name: -math.prod(shapes[name][2:]))
        last = [producer(net, name) for name in maps]
        if any(len(shape) != 4 for shape in shapes.values()) or any(
            each is None or each.type != "Convolution" for each in last
        ):
            return none
        strides = {tuple(round(a / b) for a, b in zip(size, shapes[name][2:])) for name in maps}
        channels = {shapes[name][1] for name in maps}
        if len(channels) != 1 or len(strides) != len(maps) or any(s not in STRIDES for s in strides):
            return none
        count = channels.pop()
        for boxes in (3, 5) if len(maps) == 1 else (3,):
            if count % boxes == 0 and count // boxes > 5:
                return maps, boxes, count // boxes - 5
        return none

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        net = nets[0]
        shapes = [shape_of(net, name) for name in net.outputs]
        return {
            "one net": len(nets) == 1,
            "outputs (1, A (5 + C), H, W) alone": bool(shapes) and all(len(shape) == 4 for shape in shapes),
            "each by a Convolution, at a stride of 4, 8, 16, 32 or 64, with the same multiple of 3 or 5 as channels": bool(
                cls.find(net)[0]
            ),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> YoloMaps:
        net = single(nets, cls.NAME)
        maps, boxes, count = cls.find(net)
        if not maps:
            missing = [sign for sign, there in cls.signs(nets).items() if not there]
            raise ModelError(f"net {net.name!r} lacks {'; '.join(missing)}, which the decoder {cls.NAME} reads")
        return cls(net, maps, boxes, count)

    @property
    def names(self) -> Mapping[int, str]:
        return {1: "face"} if self.count == 1 else {}

    @property
    def classes(self) -> int | None:
        return self.count + 1

    def anchors(self, settings: Settings) -> list[float]:
        """Widths and heights in turn, of all maps, the finest first."""
        wanted = 2 * self.boxes * len(self.blobs)
        if settings.anchors is not None:
            if len(settings.anchors) != wanted:
                raise ModelError(
                    f"{len(self.blobs)} maps with {self.boxes} boxes at a place need {wanted} numbers as anchors, got "
                    f"{len(settings.anchors)}"
                )
            return list(settings.anchors)
        heads, width = len(self.blobs), picture_input(self.net)[2]
        text = VERSION_2.get(self.count, VERSION_2[20]) if self.boxes == 5 else known(heads, self.count, width)
        if text is None:
            raise ModelError(
                f"the anchors of a YOLO with {heads} maps and {self.count} classes are not known; give {wanted} numbers as "
                "anchors (--anchors W,H,W,H.. of the finest map first), as the configuration of the model has them"
            )
        return [float(part) for part in text.replace(",", " ").split()]

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        maps = [values[name] for name in self.blobs]
        overlap = OVERLAP if settings.overlap is None else settings.overlap
        common = (
            f"num_classes: {self.count} num_box: {self.boxes} confidence_threshold: {settings.threshold!r} "
            f"nms_threshold: {overlap!r} " + " ".join(f"biases: {value!r}" for value in self.anchors(settings))
        )
        if self.boxes == 5:
            rows = run_layer(
                f'type: "YoloDetectionOutput" yolo_detection_output_param {{ {common} }}', *maps, device=self.net.device
            )
        else:
            width = picture_input(self.net)[2]
            masks = " ".join(f"mask: {i}" for i in range(self.boxes * len(maps)))
            scales = " ".join(f"anchors_scale: {round(width / each.shape[3])}" for each in maps)
            rows = run_layer(
                f'type: "Yolov3DetectionOutput" yolov3_detection_output_param {{ {common} mask_group_num: {len(maps)} '
                f"{masks} {scales} }}",
                *maps,
                device=self.net.device,
            )
        rows = np.asarray(rows).reshape(-1, 7).astype(np.float64)
        rows = rows[rows[:, 1] >= 0]
        return Detections(rows[:, 3:] * np.tile(shape[::-1], 2), rows[:, 2], rows[:, 1], self.names)


def known(maps: int, count: int, width: int) -> str | None:
    """The anchors of a well-known configuration; of three maps, or of two, with other numbers of classes darknet's."""
    for heads, classes, least, text in VERSION_3:
        if (heads, classes) == (maps, count) and width >= least:
            return text
    return {3: VERSION_3[0][3], 2: VERSION_3[1][3]}.get(maps)


STRIDES = {(stride, stride) for stride in (4, 8, 16, 32, 64)}
