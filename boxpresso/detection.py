"""From a picture to a list of detections.

    net = Net("deploy.prototxt", "weights.caffemodel")
    for detection in detect(net, "street.jpg", mean=(104, 117, 123)):
        print(detection.label, detection.score, detection.box)

Two kinds of nets are recognised. `Rows`: the last layer lists detections (SSD, YOLOv3). `Regions`: the net has scores of
regions, cls_prob, and offsets that move them, bbox_pred (Faster R-CNN, R-FCN, and RRPN's rotated regions).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from PIL.Image import Image as PillowImage

from .image import ImageLike, Mean, as_image, input_array
from .layers.core import Layer
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
SHORTEST, LONGEST = 600, 1000  # the sides of its pictures, in pixels
OVERLAP = 0.3  # from which on a better detection of the same class suppresses another


@dataclass(frozen=True)
class Detection:
    """One object.

    Attributes
    ----------
    label
        Its class, as the net numbers them.
    score
        From 0 to 1.
    box
        Left, top, right and bottom in pixels of the picture as it is shown (after its EXIF turn). It is not clipped: the box
        of an object that is partly outside the picture may be too; the R-CNN family clips its own.
    """

    label: int
    score: float
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class RotatedDetection(Detection):
    """One object of a net for rotated boxes; `box` is the upright box around `rotated`.

    Attributes
    ----------
    rotated
        Centre x, centre y, height, width, and the angle in degrees, anti-clockwise.
    """

    rotated: tuple[float, float, float, float, float]


Numpy = np.ndarray[Any, Any]
RawDetections = tuple[Numpy, Numpy, Numpy]  # labels (N,), scores (N,), boxes (N, 4) or rotated ones (N, 5)


@dataclass(frozen=True)
class Rows:
    """A net that lists its detections in the blob `top`, with corners as fractions of the picture."""

    top: str
    mean: Mean = None

    @property
    def blobs(self) -> tuple[str, ...]:
        return (self.top,)

    def inputs(self, net: Net, picture: PillowImage, size: tuple[int, int] | None, **options: Any) -> dict[str, Numpy]:
        """The net's input for a picture, stretched to the input's size or to (width, height)."""
        name, channels, width, height = picture_input(net, size)
        return {name: input_array(picture, channels, width, height, **options)}

    def read(self, net: Net, values: dict[str, Numpy], picture: PillowImage, threshold: float) -> RawDetections:
        rows = values[self.top].reshape(-1, 7).astype(np.float64)
        rows = rows[(rows[:, 1] >= 0) & (rows[:, 2] >= threshold)]
        return rows[:, 1].astype(int), rows[:, 2], rows[:, 3:] * np.tile(picture.size, 2)


@dataclass(frozen=True)
class Regions:
    """A net that moves regions: blobs of regions (R, 5 or 6), scores (R, C) and offsets (R, 4 or 5 for each class, or for
    background and object alone), and the input `info`, im_info, with the size of the picture."""

    regions: str
    scores: str
    offsets: str
    info: str
    mean: Mean = PIXEL_MEANS

    @property
    def blobs(self) -> tuple[str, ...]:
        return (self.regions, self.scores, self.offsets)

    def inputs(self, net: Net, picture: PillowImage, size: tuple[int, int] | None, **options: Any) -> dict[str, Numpy]:
        """Picture and im_info: the picture of `size`, or with a shortest side of 600 pixels and a longest of at most 1000."""
        name, channels = picture_input(net)[:2]
        (width, height), across = self.fit(net, picture, size)
        info = np.full((1, max(3, net.blobs[self.info].shape[-1])), across[0])  # some have a scale for each direction
        info[0, :2] = height, width
        info[0, 3:] = np.resize(across[::-1], len(info[0]) - 3)
        values = input_array(picture, channels, width, height, factors=across, **options)
        return {name: values, self.info: info}

    def fit(
        self, net: Net, picture: PillowImage, size: tuple[int, int] | None
    ) -> tuple[tuple[int, int], tuple[float, float]]:
        """Width and height of the net's input, and the enlargement of the picture across and down."""
        scale = SHORTEST / min(picture.size)
        if round(scale * max(picture.size)) > LONGEST:
            scale = LONGEST / max(picture.size)
        whole = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
        if size in (None, whole) and net.blobs[self.info].shape[-1] <= 3:
            return whole, (scale, scale)
        if size is None:  # PVANET: a scale for each direction, and sides of whole strides
            size = max(32, whole[0] // 32 * 32), max(32, whole[1] // 32 * 32)
        return size, (size[0] / picture.width, size[1] / picture.height)

    def read(self, net: Net, values: dict[str, Numpy], picture: PillowImage, threshold: float) -> RawDetections:
        """The detections of each class but the background, class 0, after suppression."""
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
        anchors = regions[:, 1:].astype(np.float64)
        anchors[:, :4] /= across[[0, 1, 1, 0]] if columns == 5 else across[[0, 1, 0, 1]]  # rotated: height, then width
        moved = boxes.decode(anchors, offsets.reshape(len(regions), -1).astype(np.float64))
        moved = boxes.clip(moved, picture.height, picture.width).reshape(len(regions), -1, columns)
        label, row = np.nonzero(((scores >= threshold) & (np.arange(classes) > 0)).T)
        order = np.lexsort((-scores[row, label], label))
        label, row = label[order], row[order]
        chosen = moved[row, label if offsets.shape[1] == classes else 1]
        whole = np.isfinite(chosen).all(1)  # the others do not suppress; `detect` reports them
        starts = np.searchsorted(label[whole], np.arange(classes + 1))
        flat = Rotated.radians(chosen[whole]) if columns == 5 else chosen[whole]
        remaining = np.flatnonzero(whole)[suppress_boxes(net.device, flat, OVERLAP, starts=starts)]
        remaining = np.concatenate([remaining, np.flatnonzero(~whole)])
        best = scores[row[remaining], label[remaining]].astype(np.float64)
        return label[remaining], best, chosen[remaining]


Reader = Union[Rows, Regions]


def recognise(net: Net) -> Reader | None:
    """What reads the net's outputs, or None for a net without detections."""
    tops = [tops[0] for layer, (_, tops) in zip(net.layers, net.names) if layer.type in ROWS]
    if tops:
        return Rows(tops[-1])
    scores, offsets = (next((n for n in net.outputs if word in n), None) for word in ("cls_prob", "bbox_pred"))
    info = next((name for name in net.inputs if "im_info" in name), None)
    proposals = [tops[0] for layer, (_, tops) in zip(net.layers, net.names) if proposes(layer)]
    regions = "rois" if "rois" in net.blobs else proposals[-1] if proposals else None
    if not (scores and offsets and info and regions) or "rois" in net.inputs:
        return None
    return Regions(regions, scores, offsets, info)


def proposes(layer: Layer) -> bool:
    """Whether the first top of a layer is regions that the net proposes."""
    return layer.type in PROPOSALS or (layer.type == "Python" and layer.param.python_param.layer == "ProposalLayer")


def detect(
    net: Net,
    image: ImageLike,
    *,
    mean: Mean = None,
    scale: float = 1.0,
    swap_rb: bool = False,
    size: tuple[int, int] | None = None,
    threshold: float = 0.5,
) -> list[Detection]:
    """Detects objects in a picture.

    Nets of the R-CNN family by default get 102.9801, 115.9465, 122.7717 as mean, and pictures whose shortest side is 600
    pixels, or less so that the longest is at most 1000; in each class a better detection suppresses those that it overlaps
    by 0.3.

    Parameters
    ----------
    net
        A Net of a deploy.prototxt, with weights.
    image
        A path, a Pillow image, or a uint8 array (H, W) or (H, W, 3) in RGB order (OpenCV's is BGR: pass
        `array[..., ::-1]`).
    mean, scale, swap_rb
        The input is (pixel - mean) * scale in Caffe's order, blue, green, red; see `image.input_array`.
    size
        (width, height) to which the picture, and the net, are resized; by default the net's input stays as it is.
    threshold
        The lowest score.

    Returns
    -------
    list of Detection
        Best first; RotatedDetection of a net for rotated boxes.

    Raises
    ------
    ModelError
        When the net has no detections, or its inputs are not a single picture.
    BoxpressoError
        When the picture cannot be read.

    Source
    ------
    The demos of SSD, py-faster-rcnn, R-FCN, PVANET and RRPN.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
    ...     layer { name: "box" type: "DummyData" top: "box" dummy_data_param { shape { dim: 1 dim: 4 } } }
    ...     layer { name: "score" type: "DummyData" top: "score" dummy_data_param { shape { dim: 1 dim: 2 }
    ...             data_filler { value: 0.75 } } }
    ...     layer { name: "prior" type: "DummyData" top: "prior" dummy_data_param { shape { dim: 1 dim: 2 dim: 4 }
    ...             data_filler { value: 0.5 } } }
    ...     layer { name: "out" type: "DetectionOutput" bottom: "box" bottom: "score" bottom: "prior" top: "out"
    ...             detection_output_param { num_classes: 2 keep_top_k: 1 nms_param { top_k: 1 } } }
    ...     layer { name: "end" type: "Silence" bottom: "data" }'''), device="cpu")
    >>> detect(net, np.zeros((20, 40, 3), np.uint8))
    [Detection(label=1, score=0.75, box=(20.0, 10.0, 20.0, 10.0))]
    """
    reader = recognise(net)
    if reader is None:
        raise ModelError(f"{no_detections(net)}; its outputs are: {', '.join(net.outputs) or 'none'}")
    picture = as_image(image)
    values = run(net, picture, mean=mean, scale=scale, swap_rb=swap_rb, size=size, blobs=reader.blobs)
    label, score, boxes = reader.read(net, values, picture, threshold)
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


def plain(values: Numpy) -> Any:
    """A tuple of Python's floats."""
    return tuple(map(float, values))


def run(
    net: Net,
    image: ImageLike,
    *,
    mean: Mean = None,
    scale: float = 1.0,
    swap_rb: bool = False,
    size: tuple[int, int] | None = None,
    blobs: tuple[str, ...] = (),
) -> dict[str, Numpy]:
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
    """The reason why `detect` cannot read the outputs of a net, for a message."""
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
        return int(layer.param.yolov3_detection_output_param.num_classes) + 1
    if layer.type == "YoloDetectionOutput":
        return int(layer.param.yolo_detection_output_param.num_classes) + 1
    return int(layer.param.detection_output_param.num_classes)
