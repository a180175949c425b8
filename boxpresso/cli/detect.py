"""The verb detect: finds objects in pictures, prints and draws them."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..proto.errors import BoxpressoError, ModelError
from ..tables import table
from . import arguments
from .model import load
from .output import complain

if TYPE_CHECKING:
    from PIL.Image import Image

    from ..detection import Detection
    from ..net import Net


NAME = "detect"
SHORT = "find objects in pictures, print and draw them"
TEXT = """\
Find objects in pictures with a model of the SSD kind (it ends in a layer of
type DetectionOutput) or of the R-CNN kind (cls_prob, bbox_pred and im_info:
Faster R-CNN, R-FCN, RRPN).

For each picture a table is printed, and a copy with the boxes drawn is written
beside it, as NAME.detections.png. Pictures must be prepared as in training; the
model's page says how. The input is (pixel - mean) * scale, with pixels from 0
to 255 in the order blue, green, red, resized to the size that MODEL says; for
the R-CNN kind to a shortest side of 600 pixels and a longest of 1000 at most,
and with 102.9801,115.9465,122.7717 as mean, unless --size and --mean say other.
"""
EPILOG = """\
examples:
  boxpresso detect deploy.prototxt ssd300.caffemodel street.jpg \\
      --mean 104,117,123 --labels labelmap_voc.prototxt
  boxpresso detect deploy.prototxt mobilenet_ssd.caffemodel *.jpg \\
      --mean 127.5 --scale 0.007843 --out drawn
  boxpresso detect detect.prototxt detect.caffemodel code.png --scale 1/255 --json
"""


PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")  # endings that make --out a file


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    arguments.model(parser, weights=True)
    add = parser.add_argument
    add("images", metavar="IMAGE", nargs="+", help="pictures: JPEG, PNG, BMP, WebP, TIFF ..")
    arguments.preparation(parser)
    text = "leave out what scores less, 0 to 1 (default: 0.5)"
    add("--threshold", metavar="T", type=arguments.share, default=0.5, help=text)
    add("--labels", metavar="FILE", help="names of the classes: one per line, background first, or a labelmap.prototxt")
    add("--out", metavar="PATH", help="folder for the drawn copies, or, for one picture, the file (.png, .jpg ..)")
    add("--no-drawing", action="store_true", help="write no pictures")
    add("--json", action="store_true", help="print one JSON list in place of tables; boxes are in pixels")
    arguments.device(parser)


def run(args: Namespace) -> int:
    """Finds objects in pictures, prints and draws them. 1 when a picture could not be read or written."""
    from ..detection import classes, no_detections, picture_input, recognise
    from ..image import mean_array
    from ..labels import read_labels

    net = load(args.model, args.weights, device=args.device, **arguments.of_net(args))
    names = read_labels(args.labels, classes(net)) if args.labels else {}
    detects = recognise(net) is not None
    if not detects and any("bbox_pred" in name for name in net.outputs):
        raise ModelError(no_detections(net))
    channels, width, height = picture_input(net, args.size)[1:]
    if args.mean is not None:
        mean_array(args.mean, channels, width, height)  # a wrong one is one error, not one for each picture
    paths: Sequence[Path | None] = [None] * len(args.images)
    if detects and not args.no_drawing:
        paths = pictures_to_write(args.images, args.out)
    results = []
    for image, path in zip(args.images, paths):
        result = examine(net, image, path, names, args, detects)
        results.append(result)
        if "width" in result and not args.json:
            print("\n".join(describe(result)), flush=True)
    if not detects:
        print(f"{no_detections(net)}: these are its outputs", file=sys.stderr)
    if args.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    return 1 if any("error" in result for result in results) else 0


def examine(
    net: Net, path: str, drawing: Path | None, names: Mapping[int, str], args: Namespace, detects: bool
) -> dict[str, Any]:
    """What is printed of one picture: its detections, or the shapes of the net's outputs; or why it cannot be read."""
    from ..detection import detect, run
    from ..drawing import draw_detections
    from ..image import read_image

    inputs = {"mean": args.mean, "scale": args.scale, "swap_rb": args.swap_rb, "size": args.size}
    try:
        image = read_image(path)
    except BoxpressoError as error:
        complain(error)
        return {"file": path, "error": str(error)}
    result: dict[str, Any] = {"file": path, "width": image.width, "height": image.height}
    if not detects:
        result["outputs"] = {name: list(array.shape) for name, array in run(net, image, **inputs).items()}
        return result
    detections = detect(net, image, threshold=args.threshold, **inputs)
    result["detections"] = [as_json(detection, names) for detection in detections]
    if drawing is not None:
        result.update(save(draw_detections(image, detections, names), drawing))
    return result


def as_json(detection: Detection, names: Mapping[int, str]) -> dict[str, Any]:
    """A detection as --json prints it."""
    result = {
        "label": detection.label,
        "name": names.get(detection.label),
        "score": round(detection.score, 6),
        "box": [round(value, 2) for value in detection.box],
    }
    if (rotated := getattr(detection, "rotated", None)) is not None:  # of a RotatedDetection
        result["rotated"] = [round(value, 2) for value in rotated]
    return result


def save(picture: Image, path: Path) -> dict[str, str]:
    """Writes a drawing; what to add to the result: where it is, or why it is not."""
    try:
        picture.save(path)
    except (OSError, ValueError) as error:
        why = f"cannot write {path}: {getattr(error, 'strerror', None) or error}; choose another place with --out"
        complain(why)
        return {"error": why}
    return {"drawn": str(path)}


def describe(result: dict[str, Any]) -> list[str]:
    """The lines for one picture."""
    head = f"{result['file']} ({result['width']} x {result['height']})"
    if "outputs" in result:
        return [f"{head}:", *(f"  {name} {tuple(shape)}" for name, shape in result["outputs"].items())]
    detections = result["detections"]
    lines = [f"{head}: {len(detections) or 'no'} detection{'s' * (len(detections) != 1)}"]
    if detections:
        cells = [
            (d["name"] or str(d["label"]), f"{d['score']:.3f}", *(f"{v:.1f}" for v in d["box"])) for d in detections
        ]
        lines += ["  " + line for line in table(("label", "score", "left", "top", "right", "bottom"), cells, "<>>>>>")]
    if "drawn" in result:
        lines.append(f"  drawn in {result['drawn']}")
    return lines


def pictures_to_write(images: Sequence[str], out: str | None) -> list[Path]:
    """Where the drawing of each picture goes: beside it, into the folder --out, or to the file --out. No two go to
    one place, and none to a picture that is read.

    Raises BoxpressoError when --out is a file and there are several pictures, or when the folder cannot be made.
    """
    inputs = [Path(image) for image in images]
    if out is not None and Path(out).suffix.lower() in PICTURES and not os.path.isdir(out):
        if len(images) > 1:
            raise BoxpressoError(f"--out {out} is one file, but there are {len(images)} pictures; name a folder")
        if inputs[0].resolve() == Path(out).resolve():
            raise BoxpressoError(f"--out {out} is the picture itself; choose another name")
        return [Path(out)]
    if out is not None:
        try:
            os.makedirs(out, exist_ok=True)
        except OSError as error:
            raise BoxpressoError(f"cannot make the folder {out}: {error.strerror or error}") from error
    places: list[Path] = []
    for image in inputs:
        folder = image.parent if out is None else Path(out)
        stems = [image.stem, image.name, *(f"{image.stem}-{i}" for i in range(2, 2 * len(images) + 2))]
        wanted = (folder / f"{stem}.detections.png" for stem in stems)
        places.append(next(place for place in wanted if place not in places and place not in inputs))
    return places
