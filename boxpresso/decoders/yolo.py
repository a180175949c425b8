"""YOLO v2 and v3 whose last layer decodes the maps itself; raw maps are read by `yolo_maps`."""

from __future__ import annotations

from .base import Settings
from .ssd import RowsDecoder


class Yolo(RowsDecoder):
    """YOLO v2 and v3 with a layer that lists detections, as MobileNet-YOLO's Caffe has them.

    Source
    ------
    Redmon and Farhadi 2017 and 2018; MobileNet-YOLO.
    """

    NAME = "yolo"
    TITLE = "YOLO v2 and v3 that end in a layer of type Yolov3DetectionOutput or YoloDetectionOutput"
    TYPES = ("Yolov3DetectionOutput", "YoloDetectionOutput")
    SETTINGS = Settings()

    @property
    def classes(self) -> int | None:
        param = self.layer.param
        if self.layer.type == "Yolov3DetectionOutput":
            return int(param.yolov3_detection_output_param.num_classes) + 1
        return int(param.yolo_detection_output_param.num_classes) + 1
