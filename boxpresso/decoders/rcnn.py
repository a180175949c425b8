"""The R-CNN family with regions of the net's own: Faster R-CNN, R-FCN, PVANET, and RRPN's and R2CNN's rotated boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.inputs import Numpy
from ..layers.core import Layer, Trait
from ..layers.detection.rcnn import Boxes, Rotated, Upright
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, picture_input, prepare, single
from .detections import Detections

PIXEL_MEANS = (102.9801, 115.9465, 122.7717)  # blue, green, red: what the R-CNN family subtracts
SHORTEST, LONGEST = 600, 1000  # the sides of its pictures, in pixels
OVERLAP = 0.3  # from which on a better detection of the same class suppresses another


class FasterRcnn(OneNet):
    """A net that moves regions: blobs of regions (R, 5 or 6), scores (R, C) and offsets (R, 4 or 5 for each class, or for
    background and object alone), and the input `info`, im_info, with the size of the picture.

    Source
    ------
    The demos of py-faster-rcnn, R-FCN, PVANET and RRPN.
    """

    NAME = "faster_rcnn"
    TITLE = "Faster R-CNN, R-FCN, PVANET, RRPN: regions, cls_prob and bbox_pred, with the input im_info"
    SETTINGS = Settings(mean=PIXEL_MEANS, overlap=OVERLAP)

    def __init__(self, net: Net, regions: str, scores: str, offsets: str, info: str) -> None:
        super().__init__(net, (regions, scores, offsets))
        self.regions, self.scores, self.offsets, self.info = regions, scores, offsets, info

    @staticmethod
    def blobs_of(net: Net) -> dict[str, str | None]:
        """The blobs by what they are, None for one that the net lacks."""
        scores, offsets = (next((n for n in net.outputs if word in n), None) for word in ("cls_prob", "bbox_pred"))
        info = next((name for name in net.inputs if "im_info" in name), None)
        proposals = [tops[0] for layer, (_, tops) in zip(net.layers, net.names) if proposes(layer)]
        regions = "rois" if "rois" in net.blobs else proposals[-1] if proposals else None
        return {
            "regions that the net proposes itself": None if "rois" in net.inputs else regions,
            "an output cls_prob": scores,
            "an output bbox_pred": offsets,
            "an input im_info": info,
        }

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        blobs = cls.blobs_of(nets[0])
        return {"one net": len(nets) == 1, **{sign: name is not None for sign, name in blobs.items()}}

    @classmethod
    def build(cls, nets: Sequence[Net]) -> FasterRcnn:
        net = single(nets, cls.NAME)
        blobs = cls.blobs_of(net)
        missing = [sign for sign, name in blobs.items() if name is None]
        if missing:
            raise ModelError(f"net {net.name!r} lacks {', '.join(missing)}, which the decoder {cls.NAME} reads")
        regions, scores, offsets, info = (str(name) for name in blobs.values())
        return cls(net, regions, scores, offsets, info)

    @property
    def classes(self) -> int | None:
        return int(self.net.blobs[self.scores].count // max(1, self.net.blobs[self.scores].shape[0]))

    def inputs(self, pixels: Numpy, settings: Settings) -> dict[str, Numpy]:
        """Picture and im_info: the picture of `size`, or with a shortest side of 600 pixels and a longest of at most 1000."""
        name, channels = picture_input(self.net, others=[self.info])[:2]
        (width, height), across = self.fit(pixels.shape[1], pixels.shape[0], settings.size)
        info = np.full(
            (1, max(3, self.net.blobs[self.info].shape[-1])), across[0]
        )  # some have a scale for each direction
        info[0, :2] = height, width
        info[0, 3:] = np.resize(across[::-1], len(info[0]) - 3)
        return {name: prepare(pixels, channels, width, height, settings, across), self.info: info}

    def fit(self, wide: int, high: int, size: tuple[int, int] | None) -> tuple[tuple[int, int], tuple[float, float]]:
        """Width and height of the net's input, and the enlargement of the picture across and down."""
        scale = SHORTEST / min(wide, high)
        if round(scale * max(wide, high)) > LONGEST:
            scale = LONGEST / max(wide, high)
        whole = max(1, round(wide * scale)), max(1, round(high * scale))
        if size in (None, whole) and self.net.blobs[self.info].shape[-1] <= 3:
            return whole, (scale, scale)
        if size is None:  # PVANET: a scale for each direction, and sides of whole strides
            size = max(32, whole[0] // 32 * 32), max(32, whole[1] // 32 * 32)
        return size, (size[0] / wide, size[1] / high)

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        """The detections of each class but the background, class 0, after suppression."""
        regions, scores, offsets = (values[name] for name in self.blobs)
        boxes: Boxes = Rotated if regions.shape[1] == 6 else Upright
        columns = boxes.columns
        if not len(regions):
            return found_of(np.zeros(0, int), np.zeros(0), np.zeros((0, columns)))
        scores = scores.reshape(len(regions), -1)
        classes = scores.shape[1]
        offsets = offsets.reshape(len(regions), -1, columns)
        if offsets.shape[1] not in (classes, 2):
            raise ModelError(
                f"{self.offsets!r} has offsets of {offsets.shape[1]} classes, {self.scores!r} scores of {classes}; they must "
                "be of the same, or the offsets of 2 (background and object)"
            )
        _, _, height, width = self.net.blobs[picture_input(self.net, others=[self.info])[0]].shape
        across = np.array(self.fit(shape[1], shape[0], (width, height))[1])
        anchors = regions[:, 1:].astype(np.float64)
        anchors[:, :4] /= across[[0, 1, 1, 0]] if columns == 5 else across[[0, 1, 0, 1]]  # rotated: height, then width
        moved = boxes.decode(anchors, offsets.reshape(len(regions), -1).astype(np.float64))
        moved = boxes.clip(moved, *shape).reshape(len(regions), -1, columns)
        label, row = np.nonzero(((scores >= np.float32(settings.threshold)) & (np.arange(classes) > 0)).T)
        order = np.lexsort((-scores[row, label], label))
        label, row = label[order], row[order]
        chosen = moved[row, label if offsets.shape[1] == classes else 1]
        whole = np.isfinite(chosen).all(1)  # the others do not suppress; the Detector reports them
        starts = np.searchsorted(label[whole], np.arange(classes + 1))
        flat = Rotated.radians(chosen[whole]) if columns == 5 else chosen[whole]
        overlap = OVERLAP if settings.overlap is None else settings.overlap
        remaining = np.flatnonzero(whole)[suppress_boxes(self.net.device, flat, overlap, starts=starts)]
        remaining = np.concatenate([remaining, np.flatnonzero(~whole)])
        best = scores[row[remaining], label[remaining]]
        return found_of(label[remaining], best, chosen[remaining])


def found_of(labels: Numpy, scores: Numpy, boxes: Numpy) -> Detections:
    """Detections of upright boxes (N, 4) or of rotated ones (N, 5)."""
    more: dict[str, Any] = {}
    if boxes.shape[1] == 5:
        corners = Rotated.corners(boxes)
        more = {"angles": boxes[:, 4], "quadrilaterals": corners}
        boxes = np.concatenate([corners.min(1), corners.max(1)], 1) if len(boxes) else boxes[:, :4]
    return Detections(boxes, scores, labels, **more)


def proposes(layer: Layer) -> bool:
    """Whether the first top of a layer is regions that the net proposes."""
    users_own = layer.param.type == "Python" and layer.param.python_param.layer == "ProposalLayer"
    return users_own or Trait.PROPOSES in layer.traits
