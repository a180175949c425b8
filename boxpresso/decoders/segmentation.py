"""Semantic segmentation: a class for each pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..data.folders import VOC_CLASSES
from ..data.inputs import Numpy
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, producer, shape_of, single, softmax
from .detections import Detections


class Segmentation(OneNet):
    """One output (1, C, H, W) of scores of C classes, or (1, 1, H, W) of labels by ArgMax, as large as the input.

    Each class that some pixels have is a detection: its mask, the box around it, and as score the mean probability in it.
    With 2 or 21 classes class 0 is the background, which is left out; 21 classes have VOC's names. Nets of SegNet's kind, with
    layers of type Upsample (SegNet, ENet), get pixels as they are, others FCN's mean.

    Source
    ------
    Shelhamer et al. 2016 (FCN), infer.py; the test programs of SegNet and ENet.
    """

    NAME = "segmentation"
    TITLE = "semantic segmentation such as FCN, SegNet, ENet, ICNet: one output (1, C, H, W) as large as the input"
    SETTINGS = Settings(mean=(104.00699, 116.66877, 122.67892), threshold=0.0)
    KIND = "segments"

    def __init__(self, net: Net, top: str) -> None:
        super().__init__(net, [top])
        self.count = shape_of(net, top)[1]
        layer = producer(net, top)
        self.softmax = layer is None or layer.type != "Softmax"
        if any(each.type == "Upsample" for each in net.layers):
            self.settings = replace(self.settings, mean=None)

    @staticmethod
    def find(net: Net) -> str | None:
        """The output of scores or labels."""
        if len(net.inputs) != 1 or len(shape_of(net, net.inputs[0])) != 4:
            return None
        size = shape_of(net, net.inputs[0])[2:]
        for name in net.outputs:
            shape, layer = shape_of(net, name), producer(net, name)
            if len(shape) != 4 or layer is None or min(size) < 16:
                continue
            near = all(0 <= side - mine <= 1 or side == mine for side, mine in zip(size, shape[2:]))
            if near and (layer.type == "ArgMax" or shape[1] == 2 or shape[1] > 3):
                return name
        return None

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        return {
            "one net": len(nets) == 1,
            "one output": len(nets[0].outputs) == 1,
            "it is (1, C, H, W) as large as the input, with C = 2 or more than 3, or ArgMax's labels": cls.find(nets[0])
            is not None,
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> Segmentation:
        net = single(nets, cls.NAME)
        maps = [name for name in net.outputs if len(shape_of(net, name)) == 4 and max(shape_of(net, name)[2:]) > 1]
        top = cls.find(net) or (maps[0] if len(maps) == 1 else None)
        if top is None:
            raise ModelError(f"net {net.name!r} has no output (1, C, H, W) with a score of each class for each pixel")
        return cls(net, top)

    @property
    def names(self) -> Mapping[int, str]:
        return {0: "background", **dict(enumerate(VOC_CLASSES, 1))} if self.count == 21 else {}

    @property
    def classes(self) -> int | None:
        return self.count if self.count > 1 else None

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        scores = values[self.blobs[0]][0]
        if len(scores) == 1:
            labels, sure = scores[0].round().astype(int), np.ones(scores.shape[1:], np.float32)
        else:
            scores = softmax(scores, 0) if self.softmax else scores
            labels, sure = scores.argmax(0), scores.max(0)
        rows, columns = (
            np.minimum(((np.arange(side) + 0.5) * count / side).astype(int), count - 1)
            for side, count in zip(shape, labels.shape)
        )
        labels, sure = labels[rows[:, None], columns], sure[rows[:, None], columns]
        background = {0} if self.count in (2, 21) else set()
        present = [label for label in np.unique(labels).tolist() if label not in background]
        masks = np.array([labels == label for label in present], bool).reshape(-1, *shape)
        score = np.array([sure[mask].mean() for mask in masks])
        boxes = np.array([box_of(mask) for mask in masks], np.float64).reshape(-1, 4)
        good = score >= settings.threshold
        return Detections(
            boxes[good], score[good], np.array(present, np.int64)[good], self.names, masks=masks[good], kind="segments"
        )


def box_of(mask: Numpy) -> tuple[int, int, int, int]:
    """The box around the pixels of a mask."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
