"""The verb detect: finds objects in pictures, prints and draws them."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..proto.errors import BoxpressoError, ModelError
from ..tables import table
from . import arguments
from .output import complain

if TYPE_CHECKING:
    from PIL.Image import Image

    from ..detection import Detector


NAME = "detect"
SHORT = "find objects in pictures, print and draw them"
TEXT = """\
Find objects in pictures with a model of any kind that a decoder reads: SSD,
YOLO, Faster R-CNN, faces, text, poses, segmentation, classification .. The
decoder is recognised by the model's layers and outputs; --as names another
(docs/detectors.md describes each). For a cascade such as MTCNN or PCN, MODEL is
the folder with its files, and there are no WEIGHTS; or both are lists, with
commas between the files.

For each picture a table is printed, and a copy with the boxes drawn is written
beside it, as NAME.detections.png. Pictures must be prepared as in training: a
decoder has its kind's usual mean, scale and order of colours, which --mean,
--scale and --swap-rb replace; the model's page says how. The input is (pixel -
mean) * scale, with pixels from 0 to 255 in the order blue, green, red, resized
to the size that MODEL says.

The exit status is 2 for a model that no decoder reads; its outputs' shapes and
the nearest decoders are printed.
"""
EPILOG = """\
examples:
  boxpresso detect deploy.prototxt ssd300.caffemodel street.jpg \\
      --mean 104,117,123 --labels labelmap_voc.prototxt
  boxpresso detect deploy.prototxt mobilenet_ssd.caffemodel *.jpg \\
      --mean 127.5 --scale 0.007843 --out drawn
  boxpresso detect models/mtcnn people.jpg --coco people.json
  boxpresso detect detect.prototxt detect.caffemodel code.png --scale 1/255 --json
"""


PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")  # endings that make --out a file
WEIGHTS = (".caffemodel", ".h5", ".hdf5")  # endings of the second argument


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="the net, a .prototxt; of a cascade the folder, or A.prototxt,B.prototxt,..")
    add("weights", metavar="WEIGHTS", nargs="?", help="its weights, a .caffemodel or .h5; none for a folder")
    arguments.python_layers(parser)
    arguments.memory(parser)
    add("images", metavar="IMAGE", nargs="+", help="pictures: JPEG, PNG, BMP, WebP, TIFF ..")
    add("--as", metavar="NAME", dest="decoder", help="the decoder that reads the outputs (default: recognised)")
    arguments.preparation(parser)
    text = "leave out what scores less, 0 to 1 (default: the decoder's, mostly 0.5)"
    add("--threshold", metavar="T", type=arguments.share, help=text)
    text = "the overlap from which on a better detection suppresses another (default: the decoder's)"
    add("--overlap", metavar="T", type=arguments.share, help=text)
    add("--labels", metavar="FILE", help="names of the classes: one per line, background first, or a labelmap.prototxt")
    add("--out", metavar="PATH", help="folder for the drawn copies, or, for one picture, the file (.png, .jpg ..)")
    add("--no-drawing", action="store_true", help="write no pictures")
    add("--json", action="store_true", help="print one JSON list in place of tables; boxes are in pixels")
    add("--coco", metavar="FILE", help="write all detections there as COCO's results")
    add("--voc", metavar="FOLDER", help="write each picture's detections there as VOC's annotation, NAME.xml")
    arguments.device(parser)


def run(args: Namespace) -> int:
    """Finds objects in pictures, prints and draws them. 1 when a picture could not be read or written, 2 for a model that
    no decoder reads."""
    from ..decoders.base import picture_input
    from ..detection import UnrecognisedError
    from ..image import mean_array

    try:
        detector = open_detector(args)
    except UnrecognisedError as error:
        complain(error)
        return 2
    if not detector.decoder.CASCADE:
        net = detector.decoder.nets[0]
        others = [getattr(detector.decoder, "info", "")]
        channels, width, height = picture_input(net, detector.settings.size, others)[1:]
        if args.mean is not None:
            mean_array(args.mean, channels, width, height)  # a wrong one is one error, not one for each picture
    paths: Sequence[Path | None] = [None] * len(args.images)
    if not args.no_drawing:
        paths = pictures_to_write(args.images, args.out)
    results = []
    saved: list[dict[str, Any]] = []
    for image, path in zip(args.images, paths):
        result = examine(detector, image, path, args, saved)
        results.append(result)
        if "width" in result and not args.json:
            print("\n".join(describe(result)), flush=True)
    status = 1 if any("error" in result for result in results) else 0
    if args.coco:
        status |= write(args.coco, json.dumps(saved))
    if args.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    return status


def open_detector(args: Namespace) -> Detector:
    """The Detector that the arguments describe.

    Raises ModelError for files that cannot be used, UnrecognisedError where no decoder reads the outputs.
    """
    from ..decoders.files import open_nets
    from ..detection import Detector

    if args.weights and os.path.isdir(args.model) and not args.weights.lower().endswith(WEIGHTS):
        args.images.insert(0, args.weights)
        args.weights = None
    if not args.weights and not os.path.isdir(args.model):
        raise ModelError(
            f"MODEL {args.model} needs WEIGHTS: give MODEL WEIGHTS IMAGE.., or the folder of a cascade and IMAGE.."
        )
    models: Any = args.model.split(",") if "," in args.model and not os.path.exists(args.model) else args.model
    weights: Any = args.weights
    if weights and "," in weights and not os.path.exists(weights):
        weights = weights.split(",")
    nets = open_nets(models, weights, device=args.device, **arguments.of_net(args))
    given = {name: getattr(args, name) for name in ("mean", "scale", "swap_rb", "size", "threshold", "overlap")}
    return Detector(nets, decoder=args.decoder, labels=args.labels, **given)


def examine(
    detector: Detector, path: str, drawing: Path | None, args: Namespace, saved: list[dict[str, Any]]
) -> dict[str, Any]:
    """What is printed of one picture: its detections; or why it cannot be read. COCO's results are added to `saved`."""
    from ..decoders.saving import as_json, coco_results, voc_xml
    from ..drawing import draw_detections
    from ..image import read_image

    try:
        image = read_image(path)
    except BoxpressoError as error:
        complain(error)
        return {"file": path, "error": str(error)}
    result: dict[str, Any] = {"file": path, "width": image.width, "height": image.height}
    found = detector(image)
    result["detections"] = as_json(found)
    if found.picture is not None:
        result["picture"] = {"width": found.picture.shape[1], "height": found.picture.shape[0]}
    saved += coco_results(found, path)
    if args.voc:
        depth = len(image.getbands())
        place = Path(args.voc) / f"{Path(path).stem}.xml"
        if write(place, voc_xml(found, path, image.width, image.height, depth)):
            result["error"] = f"cannot write {place}"
    if drawing is not None:
        result.update(save(draw_detections(image, found), drawing))
    return result


def write(path: str | Path, text: str) -> int:
    """Writes a text file, whole or not at all. 1 where that fails, with a message."""
    from ..proto.files import beside

    part = beside(path, ".part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        complain(f"cannot write {path}: {error.strerror or error}")
        return 1
    return 0


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
    detections = result["detections"]
    if "picture" in result:
        made = result["picture"]
        lines = [f"{head}: a picture of {made['width']} x {made['height']}"]
    else:
        lines = [f"{head}: {len(detections) or 'no'} detection{'s' * (len(detections) != 1)}"]
    if detections:
        columns = ["label", "score", "left", "top", "right", "bottom"]
        cells = [
            [d["name"] or str(d["label"]), f"{d['score']:.3f}", *(f"{v:.1f}" for v in d["box"])] for d in detections
        ]
        for name in ("angle", "landmarks", "mask"):
            if name in detections[0]:
                columns.append(name)
                for row, d in zip(cells, detections):
                    row.append(cell(name, d[name]))
        lines += ["  " + line for line in table(columns, cells, "<" + ">" * (len(columns) - 1))]
    if "drawn" in result:
        lines.append(f"  drawn in {result['drawn']}")
    return lines


def cell(name: str, value: Any) -> str:
    """What the table shows of an angle, of landmarks (how many) or of a mask (its share of the picture)."""
    if name == "angle":
        return f"{value:.0f}"
    if name == "landmarks":
        return str(sum(point is not None for point in value))
    return f"{sum(value['counts'][1::2]) / (value['size'][0] * value['size'][1]):.1%}"


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
