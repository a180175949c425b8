"""The verb quantize: weights with scales, by which a net runs in 8 bits."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..proto.errors import ModelError
from ..proto.files import need_place
from ..tables import table
from . import arguments

if TYPE_CHECKING:
    from ..data.folders import Scene
    from ..decoders.detections import Detections
    from ..detection import Detector
    from ..graph.quantization import Quantization
    from ..net import Net

SHOWN, NAMED = 12, 4  # pictures with the largest difference, in the report and in the text
NAME = "quantize"
SHORT = "write weights with which a net runs in 8 bits"
TEXT = """\
Measure a net on some pictures, and write its weights with scales by which its
convolutions and inner products run in 8 bits on a CPU. Those that cost more
accuracy than --drop, or are no faster in 8 bits on this machine, stay in float,
and so does the whole net where it is no faster. No labels are needed: the net's
own results in float are the reference. With --data there are some, and the mean
average precision against them is kept.
"""
EPILOG: str | None = """\
examples:
  boxpresso quantize deploy.prototxt ssd.caffemodel \\
    --images photos --out ssd8.caffemodel
  boxpresso detect deploy.prototxt ssd8.caffemodel photo.jpg
  boxpresso quantize deploy.prototxt ssd.caffemodel --data VOCdevkit/VOC2007 \\
      --set val --labels labels.txt --out ssd8.caffemodel --html int8.html

OUT is a .caffemodel of floats with the scales beside them: Caffe's tools read
it as any other, and Boxpresso runs it in 8 bits without further words.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    arguments.model(parser, weights=True)
    add = parser.add_argument
    text = "a folder of pictures, twenty or more of those that the net will see"
    add("--images", metavar="FOLDER", help=text)
    text = "a folder of pictures with annotations, in the place of --images: the mAP against these is kept"
    text += " (see `boxpresso new --help` for what is read)"
    add("--data", metavar="FOLDER", help=text)
    text = "of --data the pictures of this split, or of a list LIST.txt (default: all)"
    add("--set", metavar="NAME", default="", help=text)
    add("--out", metavar="OUT", required=True, help="the file to write, a .caffemodel")
    text = "how the numbers of 8 bits are spread: over all that were seen (minmax, the default), without a share of 1e-4 on"
    text += " each side (percentile), or up to where the distributions differ least (entropy)"
    add("--ranges", choices=("minmax", "percentile", "entropy"), default="minmax", help=text)
    text = "how much may be lost: of mAP against the net's own boxes in float, or with --data against the annotations (default:"
    text += " 0.005), or for a net without boxes the distance of its outputs over their length (default: 0.02)"
    add("--drop", metavar="D", type=arguments.share, help=text)
    add("--float32", metavar="LAYER", action="append", default=[], help="leave this layer in float; may be repeated")
    add("--no-speed", action="store_true", help="do not look at times: 8 bits wherever the accuracy bears it")
    add("--json", action="store_true", help="print JSON in place of the table")
    text = "also write a report there: one HTML file with the table, and the pictures with the largest difference"
    add("--html", metavar="FILE", help=text)
    arguments.which(parser)
    arguments.detector(parser)


def run(args: Namespace) -> int:
    """Writes OUT and prints a row for each layer."""
    from ..detection import UnrecognisedError
    from ..net import Net
    from ..quantize import quantize, save
    from .model import load, open_detector

    if args.out.endswith((".h5", ".hdf5")):
        raise ModelError(f"--out {args.out}: scales for 8 bits are kept in a .caffemodel; HDF5 has no place for them")
    if bool(args.images) == bool(args.data):
        raise ModelError("quantize: give either --images, a folder of pictures, or --data, one with annotations")
    need_place(args.out)
    if args.html:
        from ..reports import check_place

        check_place(args.html)
    paths = pictures(args.images) if args.images else []
    options: dict[str, Any] = {
        "ranges": args.ranges, "drop": args.drop, "float32": args.float32, "speed": not args.no_speed,
        "tell": (lambda line: None) if args.json else print,
    }  # fmt: skip
    args.device = "cpu"
    detector: Detector | None = None
    try:
        detector = open_detector(args)
        net = detector.decoder.nets[0]
        if args.data:
            scenes = labelled(net, args)
            paths, options["truth"] = [str(scene.path) for scene in scenes], scenes
        scales = quantize(detector, paths, **options)
    except UnrecognisedError:
        if args.decoder or args.data:
            raise
        net = load(args.model, args.weights, device="cpu", **arguments.of_net(args))
        scales = quantize(net, [prepared(net, path, args) for path in paths], **options)
    assert isinstance(net, Net)
    save(net, scales, args.out)
    if args.html:
        write_report(args, net, detector, scales, paths)
    if args.json:
        print(scales.to_text())
    else:
        print("\n".join(report(scales, paths)))
        print(f"\n{args.out}: {len(scales.chosen)} of {len(scales.layers)} layers in 8 bits")
        if args.html:
            print(f"report in {args.html}")
    return 0


def labelled(net: Net, args: Namespace) -> list[Scene]:
    """The pictures of --data with their objects, as the net numbers them."""
    from ..detection import classes
    from ..labels import read_labels
    from .test import check_count, folder_scenes

    count = classes(net)
    scenes, _, names, _ = folder_scenes(args, read_labels(args.labels, count) if args.labels else {})
    check_count(args, count, names)
    return scenes


def order_of(scales: Quantization) -> list[int]:
    """The numbers of the pictures whose results differ, the largest difference first."""
    differences = scales.notes.get("differences", [])
    return sorted((i for i, each in enumerate(differences) if each > 0), key=lambda i: -differences[i])


def write_report(
    args: Namespace, net: Net, detector: Detector | None, scales: Quantization, paths: Sequence[str]
) -> None:
    """Writes the file of --html."""
    from ..reports import Apart, write_quantize_report

    order = order_of(scales)[:SHOWN]
    results: list[dict[int, Detections]] = []
    if detector is not None and detector.decoder.KIND == "boxes":
        for each in (None, scales):
            net.quantize(each)
            results.append({i: detector(paths[i]) for i in order})
    shown = [Apart(paths[i], scales.notes["differences"][i], *(each[i] for each in results)) for i in order]
    about = [
        ("title", f"{Path(args.weights).name} in 8 bits"), ("command", shlex.join(["boxpresso", *args.words])),
        ("model", args.model), ("weights", args.weights), ("file", args.out),
    ]  # fmt: skip
    write_quantize_report(args.html, scales, about=about, pictures=shown)


def pictures(folder: str) -> list[str]:
    """The pictures of a folder. Raises ModelError where there are none."""
    from ..data.folders import PICTURES

    root = Path(folder)
    if not root.is_dir():
        raise ModelError(
            f"--images {folder} is not a folder; name one with twenty or more pictures that the net will see"
        )
    paths = [str(path) for path in sorted(root.iterdir()) if path.suffix.lower() in PICTURES]
    if not paths:
        raise ModelError(f"--images {folder} has no pictures ({', '.join(PICTURES)}); put twenty or more there")
    return paths


def prepared(net: Net, path: str, args: Namespace) -> dict[str, Any]:
    """A picture as the input of a net whose outputs no decoder reads."""
    from ..decoders.base import picture_input
    from ..image import input_array

    name, channels, width, height = picture_input(net, args.size)
    settings = {"mean": args.mean, "scale": args.scale or 1.0, "swap_rb": bool(args.swap_rb)}
    return {name: input_array(path, channels, width, height, **settings)}


def report(scales: Quantization, paths: Sequence[str]) -> list[str]:
    """A row for each layer that can run in 8 bits, what the whole loses and takes, and where results differ most."""
    rows = []
    for name, note in scales.layers.items():
        low, high = (scales.ranges.get(name) or [(0.0, 0.0)])[0]
        times = [f"{ms:.3f}" for ms in note.times] if note.times else ["", ""]
        error = f"{note.error:.5f}" if isfinite(note.error) else ""
        rows.append((name, note.kind, error, f"{low:.4g} .. {high:.4g}", *times, note.why))
    lines = table(("layer", "runs in", "error", "range", "ms float32", "ms int8", "why"), rows, "<<><>><")
    notes = scales.notes
    lines += ["", "error: how far the outputs move when that layer alone is in 8 bits; times: on this machine, now"]
    if "lost" in notes:
        lines.append(
            f"lost: {notes['lost']:.5f} of {notes['lost_of']}, {notes['pictures']} pictures; allowed: {notes['drop']:g}"
        )
    if "ms" in notes:
        before, after = notes["ms"]
        lines.append(
            f"a forward: {after:.2f} ms with 8 bits, {before:.2f} in float32 ({after / before:.2f}), {notes['machine']}"
        )
    if order := order_of(scales)[:NAMED]:
        worst = ", ".join(f"{Path(paths[i]).name} {notes['differences'][i]:.4f}" for i in order)
        lines.append(f"largest differences: {worst}")
    return lines
