"""TextBoxes++: words as quadrilaterals, of locations with twelve numbers for each prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.boxes import best
from ..data.inputs import Numpy
from ..data.polygons import clipped, hull, polygon_area
from ..device.functions import exp
from ..layers.detection.suppress import suppress_boxes
from ..net import Net
from ..proto.errors import ModelError
from .base import OneNet, Settings, shape_of, single
from .detections import Detections

LEAST, OVERLAP, CONSIDERED, MOST = 0.01, 0.45, 400, 200  # of its DetectionOutput: on boxes, before that of polygons


class TextBoxes(OneNet):
    """Outputs of SSD with locations (1, 12 P), scores (1, 2 P) and priors (1, 2, 4 P): of each prior the offsets of a box, and
    those of four corners from the prior's.

    The authors' prototxt ends in a DetectionOutput with `use_polygon`, which `Detector` leaves out: the decoder does its work.
    Boxes suppress each other from an overlap of 0.45 on, then polygons from 0.2 on, where the overlap is what two have in
    common over the hull of both. The picture gets 768 x 768 pixels.

    Source
    ------
    Liao et al. 2018; MhLiao/TextBoxes_plusplus, bbox_util.cpp and examples/text/demo_det.py.
    """

    NAME = "textboxes"
    TITLE = "TextBoxes++: SSD's outputs with 12 locations for each prior, quadrilaterals of text"
    SETTINGS = Settings(mean=(104.0, 117.0, 123.0), size=(768, 768), threshold=0.2, overlap=0.2)
    NAMES = {1: "text"}

    @staticmethod
    def find(net: Net) -> list[str]:
        """The blobs of locations, scores and priors."""
        priors = [n for n in net.outputs if len(shape_of(net, n)) == 3 and shape_of(net, n)[1] == 2]
        if len(priors) != 1:
            return []
        count = shape_of(net, priors[0])[2] // 4
        by = {
            each: [n for n in net.outputs if n not in priors and net.blobs[n].count == each * count] for each in (12, 2)
        }
        return [*by[12], *by[2], *priors] if len(by[12]) == len(by[2]) == 1 else []

    @classmethod
    def signs(cls, nets: Sequence[Net]) -> dict[str, bool]:
        return {
            "one net": len(nets) == 1,
            "outputs of P priors (1, 2, 4 P), of 12 P locations and of 2 P scores": bool(cls.find(nets[0])),
        }

    @classmethod
    def build(cls, nets: Sequence[Net]) -> TextBoxes:
        net = single(nets, cls.NAME)
        blobs = cls.find(net)
        if not blobs:
            raise ModelError(
                f"net {net.name!r} has no outputs of P priors, 12 P locations and 2 P scores, as TextBoxes++ has"
            )
        return cls(net, blobs)

    @property
    def classes(self) -> int | None:
        return 2

    def read(self, values: dict[str, Numpy], shape: tuple[int, int], settings: Settings) -> Detections:
        locations, scores, priors = (values[name].astype(np.float64) for name in self.blobs)
        locations, score = locations.reshape(-1, 12), scores.reshape(-1, 2)[:, 1]
        places, variances = priors.reshape(2, -1, 4)
        order = np.flatnonzero(score > LEAST)
        order = order[best(score[order], CONSIDERED)]
        locations, score, places, variances = locations[order], score[order], places[order], variances[order]
        size = places[:, 2:] - places[:, :2]
        centre = (places[:, :2] + places[:, 2:]) / 2 + variances[:, :2] * locations[:, :2] * size
        with np.errstate(over="ignore"):
            half = exp(variances[:, 2:] * locations[:, 2:4]) * size / 2
        boxes = np.concatenate([centre - half, centre + half], 1)
        stay = suppress_boxes(self.net.device, boxes, OVERLAP, pixels=False, strict=True)[:MOST]
        corners = places[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
        moves = locations[:, 4:].reshape(-1, 4, 2) * variances[:, None, :2] * size[:, None]
        quads = (corners + moves)[stay] * (shape[1], shape[0])
        score = score[stay]
        good = (score >= settings.threshold) & np.isfinite(quads).all((1, 2))
        quads = np.clip(np.round(quads[good]), 1, np.array([shape[1] - 1, shape[0] - 1]))
        score = score[good]
        overlap = 0.2 if settings.overlap is None else settings.overlap
        stay = suppress_polygons(quads, score, overlap)
        quads = quads[stay]
        boxes = np.concatenate([quads.min(1), quads.max(1)], 1) if len(quads) else np.zeros((0, 4))
        return Detections(boxes, score[stay], np.ones(len(stay)), self.NAMES, quadrilaterals=quads)


def suppress_polygons(quads: Numpy, scores: Numpy, threshold: float) -> Numpy:
    """The indices that stay, best first, when each goes that has more in common with a better one than the threshold, as a
    share of the hull of both."""
    shapes = [hull(quad) for quad in quads]
    stay: list[int] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        for j in stay:
            whole = polygon_area(hull(np.concatenate([quads[i], quads[j]])))
            if whole and polygon_area(clipped(shapes[i], shapes[j])) / whole > threshold:
                break
        else:
            stay.append(i)
    return np.array(stay, np.intp)
