"""The verb convert: a folder of pictures and annotations into an LMDB, or weights into another kind of file."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from . import arguments
from .output import progress, size, warn

NAME = "convert"
SHORT = "write pictures as an LMDB, or weights as another file"
TEXT = """\
Write pictures and annotations as an LMDB, for the layers AnnotatedData (voc,
coco, yolo, wider) and Data (images).

  voc     FOLDER/JPEGImages, Annotations, ImageSets/Main/SPLIT.txt
  coco    FOLDER/annotations/instances_SPLIT.json, and FOLDER/SPLIT or images
  yolo    FOLDER/images and FOLDER/labels, with classes.txt
  wider   WIDER FACE: FOLDER/wider_face_split, and FOLDER/WIDER_SPLIT/images
  images  a folder in FOLDER for each class, labels from 0 by name

  weights WEIGHTS OUT: .caffemodel, .h5 or .safetensors, as the names end

Labels of objects count from 1. What cannot be read is named and left out.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    add(
        "kind",
        metavar="KIND",
        choices=("voc", "coco", "images", "yolo", "wider", "weights"),
        help="voc, coco, images, yolo, wider or weights",
    )
    add("folder", metavar="FOLDER", help="what holds the pictures, or the weights to read")
    add("lmdb", metavar="LMDB", help="the LMDB to write, which must not exist yet; or the file of weights")
    add("--split", metavar="NAME", default="", help="such as trainval or val2017 (default: everything)")
    add("--classes", metavar="FILE", help="classes of VOC: one per line or a labelmap.prototxt (default: VOC's twenty)")
    add("--size", metavar="WxH", type=arguments.width_height, help="resize all pictures to this")
    add("--gray", action="store_true", help="store one channel")
    add("--raw", action="store_true", help="store plain bytes, not JPEG and PNG files: larger, faster to read")
    add("--shuffle", metavar="SEED", type=arguments.count, nargs="?", const=0, help="store them in a random order")
    add("--strict", action="store_true", help="end at the first picture that cannot be used or box beyond it")


def run(args: Namespace) -> int:
    """Writes an LMDB and names, on stderr, what was left out; or writes weights."""
    if args.kind == "weights":
        return run_weights(args)
    from ..data.convert import Options, convert
    from ..data.folders import VOC_CLASSES
    from ..labels import BACKGROUND, read_labels

    classes: Sequence[str] = VOC_CLASSES
    if args.classes:
        classes = [name for _, name in sorted(read_labels(args.classes).items()) if name.lower() not in BACKGROUND]
    options = Options(args.size, not args.gray, not args.raw, args.shuffle, args.strict)
    report = convert(
        args.kind, args.folder, args.lmdb, split=args.split, classes=classes, options=options, tell=progress("convert")
    )
    for line in report.skipped:
        warn(f"skipped: {line}")
    for line in report.clipped:
        warn(f"clipped: {line}")
    for line in report.swapped:
        warn(f"swapped: {line}")
    contents = f"{report.boxes} boxes" if args.kind != "images" else f"{len(report.labels)} classes"
    skipped = f"; {len(report.skipped)} skipped" if report.skipped else ""
    clipped = f"; {len(report.clipped)} boxes beyond their pictures clipped" if report.clipped else ""
    print(f"{args.lmdb}: {report.pictures} pictures, {contents}{skipped}{clipped}")
    if report.labels:
        print(f"{args.lmdb}_labelmap.prototxt: the names of {len(report.labels)} labels")
    return 0


def run_weights(args: Namespace) -> int:
    """Writes weights as another kind of file."""
    from ..exports import convert_weights

    count = convert_weights(args.folder, args.lmdb)
    print(f"{args.lmdb}: the weights of {count} layers, {size(os.path.getsize(args.lmdb))}")
    return 0
