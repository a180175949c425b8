"""The verb test: the outputs of a net on its own data, or its average precision on a folder with annotations."""

from __future__ import annotations

import json
import re
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..proto.errors import BoxpressoError, ModelError, visible
from . import arguments
from .model import load
from .output import complain, progress, warn

if TYPE_CHECKING:
    import numpy as np

    from ..data.folders import Scene
    from ..decoders.detections import Detections
    from ..evaluation import Evaluation, Protocol
    from ..net import Net
    from ..reports import Pictures


NAME = "test"
SHORT = "say how good a net is: average precision, or its outputs' means"
TEXT = """\
Say how good a net is.

With --voc, --coco or --data: finds objects in every picture of a folder,
compares them with its annotations, and prints a table by class with the average
precision (AP) and its mean, and below it the mean by the rules of VOC, VOC2007
and COCO and with difficult objects. With --coco the table also has COCO's own
numbers, by pycocotools. Pictures are prepared as by `boxpresso detect`; what
cannot be read is named and left out.

Without: runs the TEST net over some batches of its own data and prints what it
gives, as `caffe test` does; for a net that ends in DetectionEvaluate the table.

The precision-recall curves are drawn to WEIGHTS.curves.png, or with the name of
the output before .curves. --html also shows the worst faults as pictures.
"""
EPILOG = """\
examples:
  boxpresso test deploy.prototxt ssd300.caffemodel --mean 104,117,123 \\
      --voc VOCdevkit/VOC2007 --set test --method 11point
  boxpresso test deploy.prototxt ssd.caffemodel --labels labelmap.prototxt \\
      --coco coco/val2017 coco/annotations/instances_val2017.json --json
  boxpresso test --model test.prototxt --weights ssd300.caffemodel \\
      --iterations 619
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    for name, description in (("model", "the net, a .prototxt"), ("weights", "its weights, a .caffemodel or .h5")):
        parser.add_argument(name, metavar=name.upper(), nargs="?", help=description)
        parser.add_argument(
            f"--{name}", f"-{name}", metavar="FILE", dest=f"{name}_option", help=f"{name}, in Caffe's words"
        )
    arguments.python_layers(parser)
    arguments.memory(parser)
    add, share = parser.add_argument, arguments.share
    text = "how many batches (default: 50)"
    add("--iterations", "-iterations", metavar="N", type=arguments.positive, default=50, help=text)
    add("--voc", metavar="DIR", help="test on this folder, with JPEGImages, Annotations and ImageSets")
    text = "test on this folder, whose annotations are told by what is in them (see `boxpresso new --help`)"
    add("--data", metavar="FOLDER", help=text)
    text = "the pictures of this split, such as those in ImageSets/Main/NAME.txt, or of a list LIST.txt (default: all)"
    add("--set", metavar="NAME", default="", help=text)
    add("--coco", metavar=("IMAGES", "JSON"), nargs=2, help="test on these pictures and annotations")
    add("--labels", metavar="FILE", help="names of the net's classes, as for detect (default: VOC's, or those of JSON)")
    arguments.preparation(parser)
    arguments.clipped(parser)
    add("--threshold", metavar="T", type=share, default=0.01, help="leave out what scores less (default: 0.01)")
    text = "the overlap from which on an object counts as detected (default: 0.5)"
    add("--overlap", metavar="T", type=share, default=0.5, help=text)
    text = "how AP is computed (default: MaxIntegral, VOC's since 2010; 11point is that of VOC2007)"
    add("--method", choices=("MaxIntegral", "11point", "101point", "Integral"), default="MaxIntegral", help=text)
    text = "write all detections there: a file with the ids of JSON, or for --voc a folder of comp4_det_test_CLASS.txt"
    add("--save-detections", metavar="PATH", help=text)
    text = "write a list of what is missed or wrong there, a CSV file: high scores where nothing is annotated first"
    add("--save-faults", metavar="FILE", help=text)
    add("--strict", action="store_true", help="end at the first picture or annotation that cannot be used")
    add("--curves", metavar="FILE", help="draw the precision-recall curves there")
    add("--no-curves", action="store_true", help="draw no curves")
    add("--json", action="store_true", help="print JSON in place of the table")
    text = (
        "also write a report there: one HTML file with curves, the table, and the worst faults drawn on their pictures"
    )
    add("--html", metavar="FILE", help=text)
    text = "how many pictures of missed objects, and of wrong detections, --html shows (default: 24)"
    add("--html-pictures", metavar="N", type=arguments.positive, default=24, help=text)
    arguments.phase(parser)
    arguments.device(parser)


def run(args: Namespace) -> int:
    """Tests a net on a folder of VOC or COCO, or on its own data. 1 when the curves cannot be written."""
    for name in ("model", "weights"):
        values = [value for value in (getattr(args, name), getattr(args, f"{name}_option")) if value]
        if len(values) != 1:
            raise arguments.WrongUse(f"{'give' if not values else 'name only once'} the {name}")
        setattr(args, name, values[0])
    folders = [args.voc, args.coco, args.data]
    if sum(map(bool, folders)) > 1:
        raise BoxpressoError("--voc, --coco and --data exclude each other")
    for option in ("save_detections", "save_faults"):
        if getattr(args, option) and not any(folders):
            words = option.replace("_", "-")
            raise BoxpressoError(f"--{words} is of pictures: give them by --voc, --coco or --data")
    if args.html:
        from ..reports import check_place

        check_place(args.html)
    return on_folder(args) if any(folders) else on_own_data(args)


def on_own_data(args: Namespace) -> int:
    """Prints each output of some batches and their means, as `caffe test` does; a table of what DetectionEvaluate says."""
    import numpy as np

    from ..data.evaluation import curves_of_rows
    from ..evaluation import Evaluation
    from ..labels import read_labels
    from ..net import Net

    net = Net(
        args.model, args.weights, phase=args.phase, level=args.level, stages=args.stage, device=args.device,
        **arguments.of_net(args),
    )  # fmt: skip
    if not net.outputs:
        raise ModelError(f"net {net.name!r} has no outputs to report")
    judges = {tops[0]: layer for layer, (_, tops) in zip(net.layers, net.names) if layer.type == "DetectionEvaluate"}
    count = len(judges.keys() & set(net.outputs))
    if (args.json or args.curves or args.html) and count != 1:
        options = "--json, --curves and --html"
        raise ModelError(f"{options} write what one DetectionEvaluate says; net {net.name!r} has {count} such outputs")
    if net.inputs:
        inputs = ", ".join(f"{name} {tuple(net.blobs[name].shape)}" for name in net.inputs)
        raise ModelError(
            f"net {net.name!r} has no data of its own: nothing fills its input{'s' * (len(net.inputs) > 1)} {inputs}. Give "
            "the prototxt with its data layers (train_val.prototxt, test.prototxt), or pictures with annotations by --voc or "
            "--coco; `boxpresso detect` runs a net on pictures"
        )
    rows: dict[str, list[np.ndarray[Any, Any]]] = {}
    means: dict[str, Any] = {}
    for batch in range(args.iterations):
        for name, value in net.forward().items():
            if name in judges:
                rows.setdefault(name, []).append(value.reshape(-1, 5).astype(np.float64))
                continue
            means[name] = means.get(name, 0) + value.astype(np.float64) / args.iterations
            if not args.json:
                print("\n".join(f"Batch {batch}, {name} = {one:.6g}" for one in value.ravel()[:20]))
    if not args.json:
        print_means(net, means)
    status = 0
    for name, parts in rows.items():
        param = judges[name].param.detection_evaluate_param
        names = read_labels(args.labels, param.num_classes) if args.labels else {}
        curves = curves_of_rows(np.concatenate(parts))
        evaluation = Evaluation(curves, names, round(param.overlap_threshold, 6), args.method)
        status |= report(args, evaluation, {"output": name})
        if not args.json:
            hard = "count" if param.evaluate_difficult_gt else "are left out"
            print(f"\n{name}: boxes as fractions of the picture, AP by {args.method}; difficult objects {hard}")
    return status


def print_means(net: Net, means: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """The means of the outputs, with their part in the loss; of a large output the first 20 numbers."""
    weights = net.blob_loss_weights
    for name, value in means.items():
        for one in value.ravel()[:20]:
            loss = f" (* {weights[name]:.6g} = {weights[name] * one:.6g} loss)" if weights[name] else ""
            print(f"{name} = {one:.6g}{loss}")
        if value.size > 20:
            print(f"{name}: {value.size - 20} more values")


def on_folder(args: Namespace) -> int:
    """Detects in every picture and compares with the annotations."""
    from ..data.coco import read_dataset
    from ..detection import Detector, classes, no_detections, recognise
    from ..evaluation import evaluate, find, protocols
    from ..explanation import assumed
    from ..labels import read_labels

    net = load(args.model, args.weights, device=args.device, **arguments.of_net(args))
    if recognise(net) is None:
        raise ModelError(f"{no_detections(net)}; for a net that reads its own data leave out --voc and --coco")
    count = classes(net)
    names = read_labels(args.labels, count) if args.labels else {}
    scenes, numbers, names, labels = read_scenes(args, names)
    if warning := trained_on(args, scenes):
        warn(warning)
    check_count(args, count, names)
    inputs = {"mean": args.mean, "scale": args.scale, "swap_rb": args.swap_rb, "size": args.size}
    detector = Detector(net, threshold=args.threshold, clip=args.clip, **inputs)
    if (line := assumed(detector)) and not args.json:
        print(visible(line), file=sys.stderr)
    detections, skipped = find(detector, scenes, strict=args.strict, tell=progress("test"))
    for line in skipped:
        warn(f"skipped: {line}")
    seen = {i: each for i, each in enumerate(detections) if each is not None}
    used = [scenes[i] for i in seen]
    rows = [numbers[i] for i in seen]  # of the annotations' pictures
    if not used:
        raise BoxpressoError(f"none of the {len(scenes)} pictures of {place(args)} can be used")
    if args.save_detections:
        save_detections(args, used, list(seen.values()), rows, names, labels)
    evaluation = evaluate(
        list(seen.values()), used, names, overlap=args.overlap, method=args.method,
        coco=read_dataset(args.coco[1], rows, labels) if args.coco else False,
    )  # fmt: skip
    if args.save_faults:
        save_faults(args, evaluation, list(seen.values()), used)
    shown = None
    if args.html:
        from ..reports import Pictures

        shown = Pictures(list(seen.values()), used, args.html_pictures)
    rules = protocols(list(seen.values()), used, evaluation.coco)
    about = {"pictures": len(used), "skipped": skipped, "protocols": rules}
    return report(args, evaluation, about, shown, detector.describe())


def save_faults(
    args: Namespace, evaluation: Evaluation, detections: Sequence[Detections], scenes: Sequence[Scene]
) -> None:
    """Writes --save-faults. Raises BoxpressoError where it cannot be written."""
    import csv
    from io import StringIO

    from ..proto.files import write_text
    from ..reports.misses import COLUMNS, best_score, fault_rows, judge_pictures

    judged = judge_pictures(detections, scenes, evaluation.overlap, best_score(evaluation.curves)[0])
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([COLUMNS, *fault_rows(judged, scenes, evaluation.name)])
    write_text(Path(args.save_faults), text.getvalue())


def check_count(args: Namespace, count: int | None, names: Mapping[int, str]) -> None:
    """Raises ModelError where a net has other classes than annotations that no --labels are for."""
    if not args.labels and count != len(names) + 1:
        raise ModelError(
            f"the net has {count} classes with the background, the annotations are of {len(names)} without; name them with "
            "--labels, in the order that the net was trained with"
        )


def save_detections(
    args: Namespace, scenes: Sequence[Scene], detections: Sequence[Detections], used: Sequence[int],
    names: Mapping[int, str], labels: Mapping[int, int],
) -> None:  # fmt: skip
    """Writes --save-detections: COCO's results with the ids of the annotations, or VOC's files. Raises BoxpressoError where
    they cannot be written."""
    from ..data.coco import read_ids
    from ..decoders.saving import coco_results, voc_results
    from ..proto.files import write_text

    place = Path(args.save_detections)
    if not args.coco:
        classes = {label: name for label, name in names.items() if label}
        texts = voc_results([scene.path.stem for scene in scenes], detections, classes)
        files = {place / name: text for name, text in texts.items()}
    else:
        images, categories = read_ids(args.coco[1])
        to_category = {labels[label]: category for label, category in enumerate(categories, 1)}
        rows = [
            row
            for at, scene, of_scene in zip(used, scenes, detections)
            for row in coco_results(of_scene, str(scene.path), images[at], to_category)
        ]
        files = {place: json.dumps(rows)}
    for path, text in files.items():
        write_text(path, text)


def trained_on(args: Namespace, scenes: Sequence[Scene]) -> str:
    """A warning where pictures are in the train.txt that `boxpresso new` wrote beside the weights, or above them."""
    from ..data.errors import DataError
    from ..data.lines import read_text

    home = Path(args.weights).resolve().parent
    for folder in (home, home.parent):
        try:
            lines = read_text(folder / "train.txt").splitlines()
        except DataError:
            continue
        # the paths were written where `new` ran: from the folder that holds this one, most often
        learned = {str((folder.parent / line).resolve()) for line in lines} | {
            str(Path(line).resolve()) for line in lines
        }
        if both := sum(str(scene.path.resolve()) in learned for scene in scenes):
            return (
                f"{both} of the {len(scenes)} pictures were trained on ({folder / 'train.txt'}): the average precision is too "
                f"good; test on others with --set {shlex.quote(str(folder / 'test.txt'))}"
            )
    return ""


def read_scenes(
    args: Namespace, names: dict[int, str]
) -> tuple[list[Scene], list[int], dict[int, str], dict[int, int]]:
    """The scenes of --voc or --coco with the net's labels, their numbers in the annotations, the names of the labels, and for
    COCO {its label: the net's}."""
    from ..data.folders import VOC_CLASSES, in_list, read_coco, read_voc

    if args.data:
        return folder_scenes(args, names)
    if args.voc:
        names = names or dict(enumerate(VOC_CLASSES, 1))
        classes = [names.get(label, f"label {label}") for label in range(1, max(names) + 1)]
        if Path(args.voc).is_dir() and not (Path(args.voc) / "JPEGImages").is_dir():
            raise BoxpressoError(
                f"--voc {args.voc} has no folder JPEGImages, where VOC keeps its pictures: --data reads folders of other forms"
            )
        scenes = read_voc(args.voc, args.set, classes)
        return scenes, list(range(len(scenes))), names, {}
    scenes, categories = read_coco(args.coco[1], pictures_in=args.coco[0])
    names = names or categories
    to_label = {name: label for label, name in names.items()}
    unknown = [name for name in categories.values() if name not in to_label]
    if unknown:
        raise ModelError(f"{args.labels} does not name the classes {', '.join(unknown[:4])} of {args.coco[1]}")
    labels = {old: to_label[name] for old, name in categories.items()}
    for scene in scenes:
        scene.labels = [labels[old] for old in scene.labels]
    numbers = list(range(len(scenes)))
    if args.set:
        if not args.set.endswith(".txt"):
            raise BoxpressoError(f"--set {args.set}: with --coco it is a list of pictures, a .txt")
        numbers = in_list(args.set, [scene.path for scene in scenes])
        if not numbers:
            raise BoxpressoError(f"none of the pictures of {args.coco[1]} is in {args.set}")
    return [scenes[i] for i in numbers], numbers, names, labels


def place(args: Namespace) -> str:
    """What --voc, --coco or --data names."""
    return str(args.voc or args.data or args.coco[1])


def folder_scenes(
    args: Namespace, names: dict[int, str]
) -> tuple[list[Scene], list[int], dict[int, str], dict[int, int]]:
    """The same of --data, whatever its format is."""
    from ..data.folders import in_list
    from ..recipes import folders

    root = Path(args.data)
    listed = args.set.endswith(".txt")
    read = folders.read(root, folders.recognise(root), () if listed else (args.set,))
    pictures = folders.unique(picture for split in read.splits.values() for picture in split)
    if listed:
        pictures = [pictures[i] for i in in_list(args.set, [picture.scene.path for picture in pictures])]
    elif args.set:
        if args.set not in read.splits:
            there = ", ".join(filter(None, read.splits)) or "none"
            raise BoxpressoError(f"{root} has no split {args.set!r}; there: {there}")
        pictures = read.splits[args.set]
    if not pictures:
        raise BoxpressoError(f"none of the pictures of {root} is in {args.set}")
    used = [picture for picture in pictures if not picture.scene.wrong]
    classes = {name for picture in used for name in picture.classes}
    names = names or dict(enumerate(sorted(classes), 1))
    numbers = {name: label for label, name in names.items()}
    if unknown := sorted(classes - numbers.keys()):
        raise ModelError(f"{args.labels} does not name the classes {', '.join(unknown[:4])} of {root}")
    for picture in used:
        folders.relabel(picture, numbers)
    scenes = [picture.scene for picture in pictures]
    return scenes, list(range(len(scenes))), names, {}


def report(
    args: Namespace,
    evaluation: Evaluation,
    about: dict[str, Any],
    pictures: Pictures | None = None,
    settings: str = "",
) -> int:
    """Prints an evaluation and draws its curves, beside the weights where --curves names no place; writes --html."""
    from ..evaluation import finite, fixed
    from ..tables import table

    status = 0
    drawn: dict[str, str] = {}
    if not args.no_curves and evaluation.mean == evaluation.mean:  # it is NaN without an object
        try:
            part = "." + re.sub(r"[^\w.-]", "_", about["output"])[:80] if "output" in about else ""  # the net names it
            drawn = {"curves": str(evaluation.draw(args.curves or f"{args.weights}{part}.curves.png"))}
        except BoxpressoError as error:
            complain(error)
            status = 1
    if args.html:
        write_report(args, evaluation, about, pictures, settings)
    rules: list[Protocol] = about.pop("protocols", [])
    if args.json:
        means = {"protocols": {rule.name: finite(rule.value) for rule in rules}} if rules else {}
        whole = {"model": args.model, "weights": args.weights, **about, **evaluation.as_json(), **means, **drawn}
        print(json.dumps(whole, indent=2))
        return status
    print("\n".join(evaluation.table()))
    if rules:
        rows = [(rule.name, fixed(rule.value), rule.words) for rule in rules]
        print("", *table(("mAP by", "", "rules"), rows, "<><"), sep="\n")
    skipped = about.get("skipped")
    if "pictures" in about:
        print(f"\n{about['pictures']} pictures{f'; {len(skipped)} skipped' if skipped else ''}")
    if drawn:
        print(f"curves in {drawn['curves']}")
    if args.html:
        print(f"report in {args.html}")
    return status


def write_report(
    args: Namespace, evaluation: Evaluation, about: dict[str, Any], pictures: Pictures | None, settings: str
) -> None:
    """Writes the file of --html."""
    from ..reports import write_test_report

    folder = args.voc or args.data or (args.coco and " ".join(args.coco)) or f"the net's own, {args.iterations} batches"
    items = [
        ("title", f"Test of {Path(args.weights).name}"), ("command", shlex.join(["boxpresso", *args.words])),
        ("model", args.model), ("weights", args.weights), ("data", f"{folder} {args.set}".strip()),
        ("labels", args.labels or ""),
        ("detector", settings), ("AP by", f"{args.method}, overlap {evaluation.overlap:g}"),
        ("lowest score", f"{args.threshold:g}" if pictures is not None else ""), ("output", about.get("output", "")),
    ]  # fmt: skip
    known = [(name, value) for name, value in items if value]
    write_test_report(args.html, evaluation, about=known, pictures=pictures, skipped=about.get("skipped", ()))
