"""The verb detect: finds objects in pictures, prints and draws them."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..proto.errors import BoxpressoError, visible
from ..tables import table
from . import arguments, many
from .model import MODEL, WEIGHTS, open_detector
from .output import Progress, complain

if TYPE_CHECKING:
    from ..data.sources import Item, PictureSource
    from ..decoders.detections import Detections
    from ..detection import Detector
    from ..drawn_copies import DrawnCopies


NAME = "detect"
SHORT = "find objects in pictures and videos, print and draw them"
TEXT = """\
Find objects in pictures with a model of any kind that a decoder reads: SSD,
YOLO, Faster R-CNN, faces, text, poses, segmentation, classification .. The
decoder is recognised by the model's layers and outputs; --as names another
(docs/detectors.md describes each). For a cascade such as MTCNN or PCN, MODEL is
the folder with its files, and there are no WEIGHTS; or both are lists, with
commas between the files. MODEL may also be the name of a public model that is
fetched once, without WEIGHTS: boxpresso models --get lists them.

IMAGE is a picture, a folder of them, a pattern such as 'img/*.jpg', a video
(.mp4, .avi ..; pip install 'boxpresso[video]'), the number of a camera, or an
address (https://..). For each picture a table is printed. --out writes copies
with the boxes drawn, where there are any, as NAME.detections.png into a folder,
or as the file that it names; of a video a copy of the whole; --draw writes them
beside the pictures. What cannot be read is named and passed over.

Pictures must be prepared as in training. A well-known public model is
recognised by its layers (boxpresso models); for another the decoder's usual
mean, scale and order of colours are taken. --mean, --scale and --swap-rb
replace them; -v says what is taken from where. The input is (pixel -
mean) * scale, with pixels from 0 to 255 in the order blue, green, red, resized
to the size that MODEL says.

The exit status is 1 where a picture could not be read or written, and 2 for a
model that no decoder reads; its outputs' shapes and the nearest decoders are
printed.
"""
EPILOG = """\
examples:
  boxpresso detect ultralight-face people.jpg
  boxpresso detect deploy.prototxt ssd300.caffemodel street.jpg \\
      --mean 104,117,123 --labels labelmap_voc.prototxt
  boxpresso detect deploy.prototxt mobilenet_ssd.caffemodel *.jpg \\
      --mean 127.5 --scale 0.007843 --out drawn
  boxpresso detect models/mtcnn people.jpg --coco people.json
  boxpresso detect deploy.prototxt ssd.caffemodel street.mp4 --every 5
  boxpresso detect ultralight-face s3://bucket/photos --engine ray --out faces
  boxpresso detect qr.prototxt qr.caffemodel code.png --scale 1/255 --json
"""


PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")  # endings that make --out a file
FRAME = re.compile(r"(.*)-\d{6,}", re.DOTALL)  # what a frame of a video is called
MANY = 10  # pictures, from which on the failed ones are counted at the end


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    add("model", metavar="MODEL", help=MODEL)
    add("weights", metavar="WEIGHTS", nargs="?", help="its weights, a .caffemodel or .h5; none for a folder")
    add(
        "images",
        metavar="IMAGE",
        nargs="+",
        help="pictures, addresses, folders, patterns, videos, or numbers of cameras",
    )
    common = parser.add_argument_group("common options")
    add = common.add_argument
    text = "draw the detections: a folder for the copies; for one picture the file (.png ..); a video (.mp4 ..)"
    add("--out", metavar="PATH", help=text)
    add("--draw", action="store_true", help="draw them beside each picture, as NAME.detections.png")
    arguments.which(common)
    add("--json", action="store_true", help="print one JSON list in place of tables; boxes are in pixels")
    arguments.device(common)
    add("-q", "--quiet", action="store_true", help="one line a picture, and one a second of a video, without tables")
    text = "say what is assumed of the model, and where each setting is from"
    add("-v", "--verbose", "--explain", dest="explain", action="store_true", help=text)
    add = parser.add_argument_group("more results").add_argument
    add("--coco", metavar="FILE", help="write all detections there as COCO's results")
    add("--voc", metavar="FOLDER", help="write each picture's detections there as VOC's annotation, NAME.xml")
    add("--no-drawing", action="store_true", help=SUPPRESS)  # the default, which was another once
    arguments.detector(parser.add_argument_group("how pictures are prepared and outputs read"))
    add = parser.add_argument_group("many pictures").add_argument
    text = "of a video or a camera take each Nth frame only"
    add("--every", metavar="N", type=arguments.positive, default=1, help=text)
    add("--frames", metavar="N", type=arguments.positive, help="take at most N frames of each video or camera")
    add("--batch", metavar="N", type=arguments.positive, default=1, help="pictures in one pass of the net (default: 1)")
    text = "with ray, on all processors of this machine or of a cluster ($RAY_ADDRESS): IMAGE is a folder or Parquet, a path "
    text += "or s3://.., and --out a folder for Parquet (docs/many.md; pip install 'boxpresso[ray]')"
    add("--engine", choices=("local", "ray"), default="local", help=text)
    add("--workers", metavar="N", type=arguments.positive, help="of ray: processes (default: one a processor, or GPU)")
    add("--part", metavar="N", type=arguments.positive, help="of ray: pictures in each Parquet file (default: 1000)")
    add(
        "--column", metavar="NAME", help="of ray: the column of Parquet with the pictures (default: image, bytes, path)"
    )
    limits = parser.add_argument_group("limits")
    arguments.memory(limits)
    arguments.python_layers(limits)


def run(args: Namespace) -> int:
    """Finds objects in pictures, prints and draws them. 1 when a picture could not be read or written, 2 for a model that
    no decoder reads."""
    from ..data.sources import expand
    from ..data.video import MISSING, backend
    from ..decoders.base import picture_input
    from ..detection import UnrecognisedError
    from ..explanation import assumed, explain
    from ..image import mean_array

    move_image(args)
    if args.engine != "local":
        return many.run(args)
    for name in ("workers", "part", "column"):
        if getattr(args, name) is not None:
            raise BoxpressoError(f"--{name} is for --engine ray")
    sources = expand(args.images)
    if any(source.kind != "picture" for source in sources) and backend() is None:
        raise BoxpressoError(MISSING)
    try:
        detector = open_detector(args, "IMAGE..")
    except UnrecognisedError as error:
        complain(error)
        return 2
    if not detector.decoder.CASCADE:
        net = detector.decoder.nets[0]
        others = [getattr(detector.decoder, "info", "")]
        channels, width, height = picture_input(net, detector.settings.size, others)[1:]
        if args.mean is not None:
            mean_array(args.mean, channels, width, height)  # a wrong one is one error, not one for each picture
    said = explain(detector) if args.explain else [] if args.json or args.quiet else [assumed(detector)]
    for line in filter(None, said):
        print(visible(line), file=sys.stderr if args.json or not args.explain else sys.stdout, flush=True)
    places = places_of(sources, args.out) if args.out is not None or args.draw else {}
    saved: dict[int | str, list[dict[str, Any]]] = {}
    results, failed = work(detector, sources, places, args, saved)
    status = 1 if failed else 0
    if args.coco:
        status |= write(args.coco, json.dumps([row for rows in saved.values() for row in rows]))
    if args.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
    return status


def work(
    detector: Detector, sources: Sequence[PictureSource], places: Mapping[PictureSource, Path], args: Namespace,
    saved: dict[int | str, list[dict[str, Any]]],
) -> tuple[list[dict[str, Any]], int]:  # fmt: skip
    """Takes all pictures of the sources through the detector: their results, kept for --json alone, and how many failed."""
    from ..data.sources import batches, read
    from ..decoders.saving import image_ids
    from ..drawn_copies import DrawnCopies
    from ..image import read_image

    results: list[dict[str, Any]] = []
    progress, done, failed = Progress("detect", "pictures"), 0, 0
    total: int | None = sum(source.kind == "picture" for source in sources)
    names, seconds = names_of(sources), Seconds(progress)
    ids = dict(zip(sources, image_ids([source.path for source in sources])))
    with DrawnCopies(places) as drawings:
        for group in batches(read(sources, read_image, every=args.every, frames=args.frames), args.batch):
            of_pictures = [] if group[0].error else detector.batch([item.picture for item in group])
            if not args.json or group[0].error:
                progress.clear()
            for i, item in enumerate(group):
                if item.error is not None:
                    complain(item.error)
                    result: dict[str, Any] = {"file": item.source.path, "error": str(item.error)}
                else:
                    called = names[item.source], ids[item.source]
                    result = examine(detector, item, of_pictures[i], called, drawings, args, saved)
                failed += "error" in result
                done += 1
                if args.json:
                    results.append(result)
                elif args.quiet and item.frame is not None and item.error is None:
                    seconds.add(item, len(of_pictures[i]))
                elif "width" in result:
                    lines = describe(result, item.name, of_pictures[i].kind)
                    print("\n".join(lines[:1] if args.quiet else lines), flush=True)
            moving = group[0].source.kind != "picture"
            total = total if not moving else group[0].total if len(sources) == 1 else None
            if len(sources) > 1 or moving:
                progress.tell(done, total)
        seconds.end()
        progress.end()
        for error in drawings.end():
            complain(error)
            failed += 1
    if failed and done >= MANY:
        print(f"boxpresso: {failed} of {done} pictures failed", file=sys.stderr)
    for place in [] if args.json else drawings.videos:
        print(f"drawn in {place}")
    return results, failed


class Seconds:
    """Prints a line for each second of a video: how many frames were taken, and how many detections are in them."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.now: tuple[str, int] | None = None  # of which source, and which second
        self.frames = self.detections = 0

    def add(self, item: Item, detections: int) -> None:
        """Counts a frame; without a time its second is its number."""
        at = (item.source.name, int(item.time if item.time is not None else item.frame or 0))
        if at != self.now:
            self.end()
            self.now = at
        self.frames += 1
        self.detections += detections

    def end(self) -> None:
        """Prints the line of the last second."""
        if self.now is not None:
            self.progress.clear()
            name, second = self.now
            more = "s" * (self.frames != 1), "s" * (self.detections != 1)
            print(f"{name} {second} s: {self.frames} frame{more[0]}, {self.detections} detection{more[1]}", flush=True)
        self.now, self.frames, self.detections = None, 0, 0


def names_of(sources: Sequence[PictureSource]) -> dict[PictureSource, str]:
    """{source: its file's name without the ending}; with the ending, or a number, where another has that name already, or one
    that a frame of the video would have."""
    names: dict[PictureSource, str] = {}
    frames = {match[1] for source in sources if (match := FRAME.fullmatch(Path(source.path).stem))}
    taken, numbers = set[str](), Counter[str]()  # of each name the last number that is taken
    for source in sources:
        path = Path(source.path)
        own = taken if source.kind == "picture" else taken | frames
        name = next((name for name in (path.stem, path.name) if name not in own), "")
        while not name or name in own:
            numbers[path.stem] += 1
            name = f"{path.stem}-{numbers[path.stem] + 1}"
        names[source] = name
        taken.add(name)
    return names


def move_image(args: Namespace) -> None:
    """Where MODEL is a folder or the name of a public model, the second word is a picture, not WEIGHTS."""
    from ..decoders.files import is_name

    alone = os.path.isdir(args.model) or is_name(args.model)
    if args.weights and alone and not args.weights.lower().endswith(WEIGHTS):
        args.images.insert(0, args.weights)
        args.weights = None


def examine(
    detector: Detector,
    item: Item,
    detections: Detections,
    called: tuple[str, int | str],
    drawings: DrawnCopies,
    args: Namespace,
    saved: dict[int | str, list[dict[str, Any]]],
) -> dict[str, Any]:
    """What is printed of one picture. COCO's results go to `saved` by their image_id, once for a picture that comes twice;
    `called`: the name of its annotation of VOC, and COCO's image_id."""
    from ..decoders.saving import as_json, coco_results, voc_xml
    from ..image import as_image

    image = as_image(item.picture)
    path, (name, number) = item.source.path, called
    result: dict[str, Any] = {"file": path, "width": image.width, "height": image.height}
    if item.frame is not None:
        result.update(frame=item.frame, time=None if item.time is None else round(item.time, 3))
    result["detections"] = as_json(detections)
    if detections.picture is not None:
        result["picture"] = {"width": detections.picture.shape[1], "height": detections.picture.shape[0]}
    frame = "" if item.frame is None else f"-{item.frame:06}"
    if args.coco:
        number = number if item.frame is None else f"{name}{frame}.jpg"
        saved[number] = coco_results(detections, path, number)
    if args.voc:
        annotation = Path(args.voc) / f"{name}{frame}.xml"
        if write(annotation, voc_xml(detections, path, image.width, image.height, len(image.getbands()))):
            result["error"] = f"cannot write {annotation}"
    try:
        place = drawings.add(item, image, detections)
        result.update({} if place is None else {"drawn": str(place)})
    except BoxpressoError as error:
        complain(f"{error}; choose another place with --out")
        result["error"] = str(error)
    return result


def write(path: str | Path, text: str) -> int:
    """Writes a text file, whole or not at all. 1 where that fails, with a message."""
    from ..proto.files import write_text

    try:
        write_text(path, text)
    except BoxpressoError as error:
        complain(str(error))
        return 1
    return 0


def describe(result: dict[str, Any], name: str, kind: str = "boxes") -> list[str]:
    """The lines for one picture; `kind`: that of its Detections. Classes are of the whole picture, and have no boxes."""
    head = f"{name} ({result['width']} x {result['height']})"
    detections = result["detections"]
    if "picture" in result:
        made = result["picture"]
        lines = [f"{head}: a picture of {made['width']} x {made['height']}"]
    else:
        one, more = ("class", "es") if kind == "classes" else ("detection", "s")
        lines = [f"{head}: {len(detections) or 'no'} {one}{more if len(detections) != 1 else ''}"]
    if detections:
        sides = [] if kind == "classes" else ["left", "top", "right", "bottom"]
        columns = ["label", "score", *sides]
        cells = [
            [d["class_name"] or str(d["class_id"]), f"{d['score']:.3f}", *(f"{v:.1f}" for v in d["box"][: len(sides)])]
            for d in detections
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


def places_of(sources: Sequence[PictureSource], out: str | None) -> dict[PictureSource, Path]:
    """Where the drawing of each source goes: beside it, into the folder --out, or to the file --out. No two go to one place,
    and none to a file that is read; but all may go into one video.

    Raises BoxpressoError when --out is a picture and there are several, or when the folder cannot be made.
    """
    from ..data.video import is_video

    inputs = [Path(source.path) for source in sources]
    to_file = out is not None and not os.path.isdir(out)
    if out is not None and to_file and (is_video(out) or Path(out).suffix.lower() in PICTURES):
        if not is_video(out) and len(sources) > 1:
            raise BoxpressoError(f"--out {out} is one file, but there are {len(sources)} pictures; name a folder")
        if not is_video(out) and sources[0].kind != "picture":
            raise BoxpressoError(
                f"--out {out} is a picture, but {sources[0].name} is none; name a folder or a video (.mp4)"
            )
        if any(path.resolve() == Path(out).resolve() for path in inputs):
            raise BoxpressoError(f"--out {out} is the picture itself; choose another name")
        return dict.fromkeys(sources, Path(out))
    if out is not None:
        try:
            os.makedirs(out, exist_ok=True)
        except OSError as error:
            raise BoxpressoError(f"cannot make the folder {out}: {error.strerror or error}") from error
    places: dict[PictureSource, Path] = {}
    taken, numbers = set(inputs), Counter[Path]()
    for source, path in zip(sources, inputs):
        folder = path.parent if out is None else Path(out)
        name = f"camera-{path}" if source.kind == "camera" else path.name
        ending = ".png" if source.kind == "picture" else ".mp4"
        stem, place = Path(name).stem, folder / f"{Path(name).stem}.detections{ending}"
        if place in taken:
            first, place = place, folder / f"{name}.detections{ending}"
            while place in taken:
                numbers[first] += 1
                place = folder / f"{stem}-{numbers[first] + 1}.detections{ending}"
        places[source] = place
        taken.add(place)
    return places
