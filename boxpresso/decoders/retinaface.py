"""RetinaFace: faces and five landmarks from anchors at several strides."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..data.inputs import Numpy
from ..device.functions import exp
from ..layers.detection.rcnn import Upright
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, letterbox, picture_input, prepare, single, softmax
from .detections import Detections

SCALES = {32: (32, 16), 16: (8, 4), 8: (2, 1)}  # of anchors of 16 pixels, by stride: faces of 512 to 16 pixels
BASE = 16


class RetinaFace(OneNet):
    """InsightFace's RetinaFace with two square anchors at each place of the strides 8, 16 and 32.

    At each stride there are scores (1, 4, H, W), background of both anchors first, offsets of boxes (1, 8, H, W) and of
    landmarks (1, 20, H, W). The picture keeps its shape: it fills the net's input from the top left corner, the rest is black.

    Source
    ------
    Deng et al. 2019; InsightFace's retinaface.py with the network "net3".
    """

    NAME = "retinaface"
    TITLE = "RetinaFace: cls_prob, bbox_pred and landmark_pred at strides 8, 16 and 32"
    SETTINGS = Settings(swap_rb=True, threshold=0.5, overlap=0.4)
    NAMES = {1: "face"}

    def __init__(self, net: Net, heads: dict[int, tuple[str, str, str]]) -> None:
        super().__init__(net, [name for head in heads.values() for name in head])
        self.heads = heads

    @staticmethod
    def find(net: Net) -> dict[int, tuple[str, str, str]]:
        """The blobs of scores, offsets and landmarks at each stride."""
        heads = {}
        for stride in SCALES:
            names = [name for name in net.blobs if re.search(rf"stride_?{stride}$", name) and net.blobs[name].shape]
            scores = [name for name in names if "cls_prob" in name or "cls_score" in name]
            boxes = [name for name in names if "bbox_pred" in name]
            points = [name for name in names if "landmark_pred" in name]
            if scores and boxes and points:
                heads[stride] = (scores[-1], boxes[-1], points[-1])
        return heads

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        heads = cls.find(nets[0])
        shapes = [[nets[0].blobs[name].shape for name in head] for head in heads.values()]
        return {
            "one net": len(nets) == 1,
            "blobs cls_prob, bbox_pred and landmark_pred at a stride of 8, 16 or 32": bool(heads),
            "two anchors with 4, 8 and 20 channels": bool(heads)
            and all([s[1] for s in each] == [4, 8, 20] for each in shapes),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> RetinaFace:
        net = single(nets, cls.NAME)
        missing = [sign for sign, there in cls.signs(nets).items() if not there]
        if missing:
            raise ModelError(f"net {net.name!r} lacks {'; '.join(missing)}, which the decoder {cls.NAME} reads")
        return cls(net, cls.find(net))

    @property
    def classes(self) -> int | None:
        return 2

    def inputs(self, pixels: Numpy, settings: Settings) -> dict[str, Numpy]:
        name, channels, width, height = picture_input(self.net, settings.size)
        boxed, _ = letterbox(pixels, width, height)
        return {name: prepare(boxed, channels, width, height, settings)}

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        boxes, scores, points = [np.zeros((0, 4))], [np.zeros(0)], [np.zeros((0, 5, 2))]
        for stride, names in self.heads.items():
            score, offset, point = (values[name][0] for name in names)
            height, width = score.shape[1:]
            if "cls_score" in names[0]:
                score = softmax(score.reshape(2, -1), 0).reshape(score.shape)
            anchors = Upright.everywhere(
                Upright.anchors(BASE, (1,), SCALES[stride]), height, width, stride
            )  # by row, column, anchor
            score = score[2:].transpose(1, 2, 0).ravel()
            good = score >= np.float32(settings.threshold)
            anchors, size = anchors[good], anchors[good, 2:3] - anchors[good, :1] + 1
            offset = offset.transpose(1, 2, 0).reshape(-1, 4)[good].astype(np.float64)
            point = point.transpose(1, 2, 0).reshape(-1, 5, 2)[good].astype(np.float64)
            centre = (anchors[:, :2] + anchors[:, 2:]) / 2
            middle = centre + offset[:, :2] * size
            with np.errstate(over="ignore"):
                half = 0.5 * (exp(offset[:, 2:]) * size - 1)
            boxes.append(np.concatenate([middle - half, middle + half], 1))
            scores.append(score[good])
            points.append(centre[:, None] + point * size[:, None])
        corners, score, landmarks = np.concatenate(boxes), np.concatenate(scores), np.concatenate(points)
        order = np.argsort(-score, kind="stable")
        overlap = 0.4 if settings.overlap is None else settings.overlap
        stay = order[suppress_boxes(self.net.device, corners[order], overlap, strict=True)]
        _, _, width, height = picture_input(self.net)
        scale = min(width / shape[1], height / shape[0])
        return Detections(
            corners[stay] / scale, score[stay], np.ones(len(stay)), self.NAMES, landmarks=landmarks[stay] / scale
        )
