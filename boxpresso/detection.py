"""From a picture to a list of detections.

    net = Net("deploy.prototxt", "weights.caffemodel")
    for found in detect(net, "street.jpg", mean=(104, 117, 123)):
        print(found.label, found.score, found.box)
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .image import Mean, as_image, input_array
from .net import Net
from .proto.errors import BoxpressoWarning, ModelError

KINDS = ("DetectionOutput",)  # layer types whose rows are (image, label, score, xmin, ymin, xmax, ymax), from 0 to 1


@dataclass(frozen=True)
class Detection:
    """One object: its label as the net numbers them, its score, its box (left, top, right, bottom).

    The box is in pixels of the picture as it is seen (after its EXIF turn), and not clipped to it: the box of an object
    that leaves the picture may leave it too.
    """

    label: int
    score: float
    box: tuple[float, float, float, float]


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
    `image.input_array`. size: (width, height) to resize the picture, and the net,
    to; by default the net's input stays as it is.

    Raises ModelError when the net has no DetectionOutput layer or no single picture as input, BoxpressoError when the
    picture cannot be read.
    """
    top = detections_top(net)
    if top is None:
        raise ModelError(f"{no_detections(net)}; its outputs are: {', '.join(net.outputs) or 'none'}")
    picture = as_image(image)
    rows = run(net, picture, mean=mean, scale=scale, swap_rb=swap_rb, size=size, blobs=(top,))[top].reshape(-1, 7)
    rows = rows[(rows[:, 1] >= 0) & (rows[:, 2] >= threshold)].astype(np.float64)
    whole = np.isfinite(rows).all(axis=1)
    if not whole.all():
        message = f"{(~whole).sum()} of {len(rows)} detections have no finite box and are left out: are the weights sound?"
        warnings.warn(message, BoxpressoWarning, stacklevel=2)
    rows = rows[whole]
    boxes = rows[:, 3:] * np.tile(picture.size, 2)
    best = np.argsort(-rows[:, 2], kind="stable")
    return [Detection(int(rows[i, 1]), float(rows[i, 2]), tuple(map(float, boxes[i]))) for i in best]  # type: ignore[arg-type]


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
    name, channels, width, height = picture_input(net, size)
    values = input_array(image, channels, width, height, mean=mean, scale=scale, swap_rb=swap_rb)
    net.blobs[name].reshape(*values.shape)
    net.blobs[name].data[...] = values
    return net.forward(blobs)


def picture_input(net: Net, size: tuple[int, int] | None = None) -> tuple[str, int, int, int]:
    """The name, channels, width and height of the net's only input."""
    if not net.inputs:
        raise ModelError(f"net {net.name!r} has no Input layer: give the deploy.prototxt, not the one for training")
    shapes = {name: net.blobs[name].shape for name in net.inputs}
    if len(shapes) > 1 or len(shapes[net.inputs[0]]) != 4:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ModelError(f"detection needs a net whose only input is a picture (N, C, H, W); this one's are: {listed}")
    name = net.inputs[0]
    _, channels, height, width = shapes[name]
    width, height = size or (width, height)
    if min(width, height) < 1:
        raise ModelError(f"input {name!r} is {width} pixels wide and {height} high; give a size")
    return name, channels, width, height


def detections_top(net: Net) -> str | None:
    """The name of the blob that holds the net's detections, or None."""
    found = [tops[0] for layer, (_, tops) in zip(net.layers, net.names) if layer.type in KINDS]
    return found[-1] if found else None


def no_detections(net: Net) -> str:
    """Why `detect` cannot read this net's outputs."""
    offsets = [name for name in net.outputs if "bbox_pred" in name]
    if offsets:
        return (
            f"net {net.name!r} gives class scores and box offsets ({', '.join(offsets)}), and decoding those comes in a "
            "later release; so far detections are read from DetectionOutput (SSD)"
        )
    return f"net {net.name!r} has no layer of type {' or '.join(KINDS)}, from which detections are read"


def classes(net: Net) -> int | None:
    """How many classes the net's detections have, the background included; None when it has none."""
    layer = next((layer for layer in reversed(net.layers) if layer.type in KINDS), None)
    return layer.param.detection_output_param.num_classes if layer else None
