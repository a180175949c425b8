"""From a picture to a list of detections.

    net = Net("deploy.prototxt", "weights.caffemodel")
    for found in detect(net, "street.jpg", mean=(104, 117, 123)):
        print(found.label, found.score, found.box)

Two kinds of nets are recognised. `Rows`: the net's last layer lists what it found (SSD, YOLOv3). `Regions`: the net scores
regions, cls_prob, and says how to move them, bbox_pred (Faster R-CNN, R-FCN, and RRPN's rotated regions).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from .image import Mean, as_image, input_array
from .layers.detection.rcnn import Boxes, Rotated, Upright
from .layers.detection.suppress import suppress_boxes
from .net import Net
from .proto.errors import BoxpressoWarning, ModelError

ROWS = (
    "DetectionOutput",
    "Yolov3DetectionOutput",
    "YoloDetectionOutput",
)  # rows (image, label, score, xmin, ymin, xmax, ymax), from 0 to 1
PROPOSALS = ("Proposal", "FrcnnProposal", "RotateProposal")
PIXEL_MEANS = (102.9801, 115.9465, 122.7717)  # blue, green, red: what the R-CNN family subtracts
SHORTEST, LONGEST = 600, 1000  # its pictures' sides, in pixels
OVERLAP = 0.3  # from which on a better detection of the same class suppresses another


@dataclass(frozen=True)
class Detection:
    """One object: its label as the net numbers them, its score, its box (left, top, right, bottom).

    The box is in pixels of the picture as it is seen (after its EXIF turn), and not clipped to it: the box of an object
    that leaves the picture may leave it too; the R-CNN family clips its own.
    """

    label: int
    score: float
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class RotatedDetection(Detection):
    """One object of a net that finds rotated boxes: rotated is (centre x, centre y, height, width, angle in degrees,
    anti-clockwise); `box` goes around it."""

    rotated: tuple[float, float, float, float, float]


Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # labels (N,), scores (N,), boxes (N, 4) or rotated ones (N, 5)


@dataclass(frozen=True)
class Rows:
    """A net that lists its detections in the blob `top`, in parts of the picture."""

    top: str
    mean: Mean = None

    @property
    def blobs(self) -> tuple[str, ...]:
        return (self.top,)

    def inputs(self, net: Net, picture: Any, size: tuple[int, int] | None, **options: Any) -> dict[str, np.ndarray]:
        """The net's input for a picture, stretched to the input's size or to (width, height)."""
        name, channels, width, height = picture_input(net, size)
        return {name: input_array(picture, channels, width, height, **options)}

    def found(self, net: Net, values: dict[str, np.ndarray], picture: Any, threshold: float) -> Found:
        rows = values[self.top].reshape(-1, 7).astype(np.float64)
        rows = rows[(rows[:, 1] >= 0) & (rows[:, 2] >= threshold)]
        return rows[:, 1].astype(int), rows[:, 2], rows[:, 3:] * np.tile(picture.size, 2)


@dataclass(frozen=True)
class Regions:
    """A net that moves regions: blobs of regions (R, 5 or 6), probabilities (R, C), offsets (R, 4 or 5 of each class; or of
    background and object alone), and the input im_info that tells its regions the size of the picture."""

    regions: str
    scores: str
    offsets: str
    info: str
    mean: Mean = PIXEL_MEANS

    @property
    def blobs(self) -> tuple[str, ...]:
        return (self.regions, self.scores, self.offsets)

    def inputs(self, net: Net, picture: Any, size: tuple[int, int] | None, **options: Any) -> dict[str, np.ndarray]:
        """Picture and im_info; the picture with a shortest side of 600 pixels and a longest of 1000 at most, or of `size`."""
        name, channels = picture_input(net)[:2]
        (width, height), across = self.fit(net, picture, size)
        info = np.full((1, max(3, net.blobs[self.info].shape[-1])), across[0])  # some have a scale for each direction
        info[0, :2] = height, width
        info[0, 3:] = np.resize(across[::-1], len(info[0]) - 3)
        values = input_array(picture, channels, width, height, factors=across, **options)
        return {name: values, self.info: info}

    def fit(self, net: Net, picture: Any, size: tuple[int, int] | None) -> tuple[tuple[int, int], tuple[float, float]]:
        """Width and height of the net's picture, and how much larger that is across and down."""
        scale = SHORTEST / min(picture.size)
        if round(scale * max(picture.size)) > LONGEST:
            scale = LONGEST / max(picture.size)
        whole = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
        if size in (None, whole) and net.blobs[self.info].shape[-1] <= 3:
            return whole, (scale, scale)
        if size is None:  # PVANET: a scale for each direction, and sides of whole strides
            size = max(32, whole[0] // 32 * 32), max(32, whole[1] // 32 * 32)
        return size, (size[0] / picture.width, size[1] / picture.height)

    def found(self, net: Net, values: dict[str, np.ndarray], picture: Any, threshold: float) -> Found:
        """The detections of each class but the background, 0, that no better one of the class suppresses."""
        regions, scores, offsets = (values[name] for name in self.blobs)
        if not len(regions):
            return np.zeros(0, int), np.zeros(0), np.zeros((0, regions.shape[1] - 1))
        scores = scores.reshape(len(regions), -1)
        boxes: Boxes = Rotated if regions.shape[1] == 6 else Upright
        classes, columns = scores.shape[1], boxes.columns
        offsets = offsets.reshape(len(regions), -1, columns)
        if offsets.shape[1] not in (classes, 2):
            raise ModelError(
                f"{self.offsets!r} has offsets of {offsets.shape[1]} classes, {self.scores!r} scores of {classes}; they must "
                "be of the same, or the offsets of 2 (background and object)"
            )
        _, _, height, width = net.blobs[picture_input(net)[0]].shape
        across = np.array(self.fit(net, picture, (width, height))[1])
        there = regions[:, 1:].astype(np.float64)
        there[:, :4] /= across[[0, 1, 1, 0]] if columns == 5 else across[[0, 1, 0, 1]]  # rotated: height, then width
        moved = boxes.decode(there, offsets.reshape(len(regions), -1).astype(np.float64))
        moved = boxes.clip(moved, picture.height, picture.width).reshape(len(regions), -1, columns)
        label, row = np.nonzero(((scores >= threshold) & (np.arange(classes) > 0)).T)
        order = np.lexsort((-scores[row, label], label))
        label, row = label[order], row[order]
        chosen = moved[row, label if offsets.shape[1] == classes else 1]
        whole = np.isfinite(chosen).all(1)  # the others do not suppress; `detect` reports them
        starts = np.searchsorted(label[whole], np.arange(classes + 1))
        flat = Rotated.radians(chosen[whole]) if columns == 5 else chosen[whole]
        kept = np.flatnonzero(whole)[suppress_boxes(net.device, flat, OVERLAP, starts=starts)]
        kept = np.concatenate([kept, np.flatnonzero(~whole)])
        return label[kept], scores[row[kept], label[kept]].astype(np.float64), chosen[kept]


Reader = Union[Rows, Regions]


def recognise(net: Net) -> Reader | None:
    """How the net's outputs are read, or None for a net that gives no detections."""
    tops = [tops[0] for layer, (_, tops) in zip(net.layers, net.names) if layer.type in ROWS]
    if tops:
        return Rows(tops[-1])
    scores, offsets = (next((n for n in net.outputs if word in n), None) for word in ("cls_prob", "bbox_pred"))
    info = next((name for name in net.inputs if "im_info" in name), None)
    made = [names[1][0] for layer, names in zip(net.layers, net.names) if proposes(layer)]
    regions = "rois" if "rois" in net.blobs else made[-1] if made else None
    if not (scores and offsets and info and regions) or "rois" in net.inputs:
        return None
    return Regions(regions, scores, offsets, info)


def proposes(layer: Any) -> bool:
    return layer.type in PROPOSALS or (layer.type == "Python" and layer.param.python_param.layer == "ProposalLayer")


def detect(
    net: Net,
    image: Any,
    *,
    mean: Mean = None,
    scale: float = 1.0,
    swap_rb: bool = False,
    size: tuple[int, int] | None = None,
    threshold: float = 0.5,
) -> list[Detection]:
    """What the net finds in a picture with a score of at least `threshold`, best first.

    image: a path, a Pillow image, or a uint8 array (H, W) or (H, W, 3) in RGB order (OpenCV's is BGR: pass
    `array[..., ::-1]`). mean, scale, swap_rb: the input is (pixel - mean) * scale in Caffe's order, blue, green, red; see
    `image.input_array`. size: (width, height) to resize the picture, and the net, to; by default the net's input stays as it
    is. Nets of the R-CNN family by default get 102.9801, 115.9465, 122.7717 as mean, and pictures whose shortest side is 600
    pixels, or less so that the longest is 1000 at most; of one class a better detection suppresses those that it overlaps
    by 0.3.

    Raises ModelError when the net gives no detections or takes no single picture, BoxpressoError when the picture cannot be
    read.
    """
    reader = recognise(net)
    if reader is None:
        raise ModelError(f"{no_detections(net)}; its outputs are: {', '.join(net.outputs) or 'none'}")
    picture = as_image(image)
    values = run(net, picture, mean=mean, scale=scale, swap_rb=swap_rb, size=size, blobs=reader.blobs)
    label, score, boxes = reader.found(net, values, picture, threshold)
    whole = np.isfinite(boxes).all(axis=1) & np.isfinite(score)
    if not whole.all():
        message = (
            f"{(~whole).sum()} of {len(whole)} detections have no finite box and are left out: are the weights sound?"
        )
        warnings.warn(message, BoxpressoWarning, stacklevel=2)
    label, score, boxes = label[whole], score[whole], boxes[whole]
    best = np.argsort(-score, kind="stable")
    if boxes.shape[1] == 4:
        return [Detection(int(label[i]), float(score[i]), plain(boxes[i])) for i in best]
    corners = Rotated.corners(boxes)
    around = np.concatenate([corners.min(1), corners.max(1)], 1)
    return [RotatedDetection(int(label[i]), float(score[i]), plain(around[i]), plain(boxes[i])) for i in best]


def plain(values: np.ndarray) -> Any:
    return tuple(map(float, values))


def run(
    net: Net,
    image: Any,
    *,
    mean: Mean = None,
    scale: float = 1.0,
    swap_rb: bool = False,
    size: tuple[int, int] | None = None,
    blobs: tuple[str, ...] = (),
) -> dict[str, np.ndarray]:
    """The net's outputs (and the named blobs) for one picture; see `detect`."""
    reader = recognise(net) or Rows("")
    mean = reader.mean if mean is None else mean
    if swap_rb and mean is PIXEL_MEANS:
        mean = PIXEL_MEANS[::-1]
    inputs: dict[str, Any] = reader.inputs(net, as_image(image), size, mean=mean, scale=scale, swap_rb=swap_rb)
    return net.forward(blobs, **inputs)


def picture_input(net: Net, size: tuple[int, int] | None = None) -> tuple[str, int, int, int]:
    """The name, channels, width and height of the net's only picture."""
    if not net.inputs:
        raise ModelError(f"net {net.name!r} has no Input layer: give the deploy.prototxt, not the one for training")
    reader = recognise(net)
    others = {reader.info} if isinstance(reader, Regions) else set()
    shapes = {name: net.blobs[name].shape for name in net.inputs}
    pictures = [name for name in net.inputs if name not in others]
    if len(pictures) != 1 or len(shapes[pictures[0]]) != 4:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ModelError(
            "detection needs a net whose only input is a picture (N, C, H, W), or a picture and im_info; this one's are: "
            f"{listed}"
        )
    name = pictures[0]
    _, channels, height, width = shapes[name]
    width, height = size or (width, height)
    if min(width, height) < 1:
        raise ModelError(f"input {name!r} is {width} pixels wide and {height} high; give a size")
    return name, channels, width, height


def no_detections(net: Net) -> str:
    """Why `detect` cannot read this net's outputs."""
    offsets = [name for name in net.outputs if "bbox_pred" in name]
    if offsets:
        return (
            f"net {net.name!r} gives box offsets ({', '.join(offsets)}), but detections are read only where cls_prob, "
            "bbox_pred, regions that the net proposes itself, and the input im_info come together; its inputs are: "
            f"{', '.join(net.inputs) or 'none'}"
        )
    return f"net {net.name!r} has no layer of type {' or '.join(ROWS)}, from which detections are read"


def classes(net: Net) -> int | None:
    """How many classes the net's detections have, the background included; None when it has none."""
    reader = recognise(net)
    if isinstance(reader, Regions):
        return net.blobs[reader.scores].count // max(1, net.blobs[reader.scores].shape[0])
    layer = next((layer for layer in reversed(net.layers) if layer.type in ROWS), None)
    if layer is None:
        return None
    if layer.type == "Yolov3DetectionOutput":
        return layer.param.yolov3_detection_output_param.num_classes + 1
    if layer.type == "YoloDetectionOutput":
        return layer.param.yolo_detection_output_param.num_classes + 1
    return layer.param.detection_output_param.num_classes
