"""The verb new: a folder of pictures in, a folder with everything that training takes out."""

from __future__ import annotations

import shlex
import textwrap
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from . import arguments
from .output import listed, progress, warn

if TYPE_CHECKING:
    from ..recipes.project import Made


NAME = "new"
SHORT = "prepare training on one's own pictures"
TEXT = """\
Prepare the training of a detector on one's own pictures. A folder is written
with the prototxts for training, testing and detection, the solver prototxt, the
label map, the pictures as LMDBs, and a README.md that has the next commands.

FOLDER is recognised by what is in its files, wherever they lie in it:

  voc          an .xml for each picture (labelImg, CVAT, Roboflow)
  coco         a .json of COCO's instances
  yolo         a .txt for each picture; classes.txt or data.yaml
  csv          a table: filename, class, xmin, ymin, xmax, ymax
  labelme      LabelMe's .json for each picture
  cvat         an .xml of CVAT for images
  labelstudio  Label Studio's JSON or JSON-MIN
  wider        wider_face_split/wider_face_train_bbx_gt.txt, WIDER_train/images

Its own split into train (trainval) and test (val), by lists or by the names of
folders, is taken where it has one; else a tenth of the pictures, drawn by
--seed, is kept for testing. FOLDER may be one file, such as boxes.csv, too.

backbones of ssd:
  mobilenet  MobileNet-SSD, 300x300; best from --weights, such as chuanqi305's
  vgg        SSD over VGG16, 300x300 or --size 512; needs --weights, such as
             VGG_ILSVRC_16_layers_fc_reduced.caffemodel
  resnet18   SSD over ResNet-18, 300x300; best from --weights, such as
             resnet-18.caffemodel of HolmesShuan
  small      eight convolutions, 128x128; learns from scratch in minutes

backbones of faster_rcnn and rfcn, whose anchors are fitted to the objects:
  small      six convolutions, 160x160; learns from scratch
  mobilenet  MobileNet to conv11, 320x320; best from --weights
  resnet18   ResNet-18 to res4b, 320x320; best from --weights
  vgg        VGG16, 448x448; needs --weights, such as VGG_ILSVRC_16_layers or
             VGG16_faster_rcnn_final.caffemodel
"""
EPILOG = """\
examples:
  boxpresso new ssd --backbone small --data shapes
  boxpresso new faster_rcnn --data shapes
  boxpresso new ssd --backbone mobilenet --classes labels.txt --data VOC2007 \\
      --weights mobilenet_iter_73000.caffemodel --out mine
  boxpresso train --solver mine/solver.prototxt --log mine/train.log
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    add = parser.add_argument
    add("kind", metavar="KIND", choices=KINDS, help=", ".join(KINDS))
    add("--data", metavar="FOLDER", required=True, help="the pictures and their annotations")
    text = "mobilenet, resnet18, vgg or small (default: mobilenet for ssd, small for the others)"
    add("--backbone", metavar="NAME", choices=("mobilenet", "resnet18", "vgg", "small"), help=text)
    text = "the classes, one in each line, or a label map (default: those in the data, sorted)"
    add("--classes", metavar="FILE", help=text)
    add("--out", metavar="FOLDER", help="the folder to write (default: DATA_KIND_BACKBONE)")
    text = "a .caffemodel or .h5 to start from; what fits of it is copied, the layers of classes are left fresh"
    add("--weights", metavar="FILE", default="", help=text)
    add("--size", metavar="N", type=arguments.positive, help="the sides of the net's input in pixels")
    add("--format", metavar="F", choices=FORMATS, default="", help=", ".join(FORMATS))
    add("--train", metavar="NAME", default="", help="the split to learn from, such as trainval")
    add("--test", metavar="NAME", default="", help="the split to test on, such as val2017")
    text = "test on this part of all pictures, drawn by --seed, in place of the folder's own split"
    add("--test-share", metavar="S", type=part, help=text)
    add("--leave-out-others", action="store_true", help="leave out objects of classes that --classes does not name")
    add("--strict", action="store_true", help="end at the first picture that cannot be used, in place of skipping it")
    text = "size, batch, iterations, rate, [augmentation], [class_weights] as TOML, such as a written folder's options.toml"
    add("--options", metavar="FILE", help=text)
    add("--batch", metavar="N", type=arguments.positive, help="pictures in an iteration (default: by the backbone)")
    text = "how long to train (default: by the number of pictures)"
    add("--iterations", metavar="N", type=arguments.positive, help=text)
    add("--lr", metavar="R", type=rate, help="the learning rate at the start (default: by the backbone)")
    add("--seed", metavar="N", type=arguments.count, default=1, help="of the split and of training (default: 1)")
    add("--force", action="store_true", help="replace a folder that was written by this command before")


KINDS = ("ssd", "faster_rcnn", "rfcn")  # of recipes.project, slow to import
FORMATS = (
    "voc",
    "coco",
    "yolo",
    "wider",
    "csv",
    "labelme",
    "cvat",
    "labelstudio",
)  # of recipes.folders, slow to import
SHOWN = 5  # lines of each kind of odd box
UNMATCHED = {  # how objects that overlap no prior, or no anchor, differ from them, and what helps
    "prior": {
        "small": "are smaller than every prior: cut the pictures into parts, so that they are larger there",
        "large": "are larger than every prior: give larger sizes in the prior_box_param of the last feature map",
        "long": "are longer or flatter than the priors: add their aspect_ratio to each prior_box_param",
        "place": "have a prior's size, but lie between its places: a larger --size has more places",
    },
    "anchor": {
        "small": "are smaller than every anchor: a larger --size makes them larger, or cut the pictures into parts",
        "large": "are larger than every anchor: raise the largest of the scales, in all three prototxts",
        "long": "are longer or flatter than the anchors: change the ratios, in all three prototxts",
        "place": "have an anchor's size, but lie between its places: a larger --size has more places",
    },
}


def part(text: str) -> float:
    """A number between 0 and 1."""
    value = arguments.number(text)
    if not 0 < value < 1:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return value


def rate(text: str) -> float:
    """A number above 0."""
    value = arguments.number(text)
    if value <= 0:
        raise ArgumentTypeError(f"{text!r} is not above 0")
    return value


def run(args: Namespace) -> int:
    """Writes the folder and says what is in it."""
    from ..labels import BACKGROUND, read_labels
    from ..recipes.options import read_options
    from ..recipes.project import ARCHITECTURES, Wish, create

    data, backbone = Path(args.data), args.backbone or next(iter(ARCHITECTURES[args.kind].backbones))
    out = Path(args.out or f"{data.resolve().name}_{args.kind}_{backbone}")
    classes: list[str] = []
    if args.classes:
        names = sorted(read_labels(args.classes).items())
        classes = [name for _, name in names if name.lower() not in BACKGROUND]
    settings, augmentation, weights = read_options(args.options) if args.options else ({}, {}, {})
    flags = {"size": "size", "batch": "batch", "iterations": "iterations", "rate": "lr"}
    size, batch, iterations, rate = (  # what the command says comes before what the file says
        settings.get(name) if (value := getattr(args, option)) is None else value for name, option in flags.items()
    )
    wish = Wish(
        data, out, backbone, size, classes, args.classes or "", args.format, args.train, args.test,
        args.test_share, args.seed, args.leave_out_others, args.weights, batch, iterations, rate, args.strict,
        args.force, args.kind, augmentation, weights,
    )  # fmt: skip
    shown: dict[str, Callable[[int, int], None]] = {}

    def tell(step: str, done: int, total: int) -> None:
        shown.setdefault(step, progress(f"new: {step}"))(done, total)

    made = create(wish, tell)
    warn_of(made)
    print("\n".join(describe(made)))
    return 0


def warn_of(made: Made) -> None:
    """Names the pictures that were skipped, and the first odd boxes of each kind."""
    for line in made.skipped:
        warn(f"skipped: {line}")
    for word, odd in {"clipped": made.clipped, "thin": made.thin, "swapped": made.swapped}.items():
        for line in odd[:SHOWN]:
            warn(f"{word}: {line}")


def wrapped(line: str) -> list[str]:
    """A line as lines of at most 80 columns."""
    indent = len(line) - len(line.lstrip()) + 2
    return textwrap.wrap(line, 80, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False) or [
        ""
    ]


def counted(pictures: int) -> str:
    """So many pictures, in words."""
    return "1 picture" if pictures == 1 else f"{pictures} pictures"


def describe(made: Made) -> list[str]:
    """What was written, and the next command."""
    from ..recipes.project import FRESH
    from ..tables import table

    wish, plan, shape = made.wish, made.plan, made.architecture.shape
    train, test = made.counts["train"], made.counts["test"]
    lines = [f"{wish.data}: {made.format}, {made.origin}", ""]
    rows = [[name, str(train[label]), str(test[label])] for label, name in enumerate(made.classes, 1)]
    rows.append(["pictures", str(made.pictures["train"]), str(made.pictures["test"])])
    lines += [*table(("class", "to learn from", "to test on"), rows, "<>>"), ""]
    notes = {
        f"{len(made.skipped)} pictures were skipped": len(made.skipped),
        f"{len(made.clipped)} boxes reached beyond their pictures and were clipped (--strict refuses them)": len(
            made.clipped
        ),
        f"{len(made.swapped)} boxes had their corners in another order (--strict refuses them)": len(made.swapped),
        f"{len(made.thin)} boxes are at most one pixel wide or high: look at them": len(made.thin),
        f"{made.unannotated} pictures beside these have no annotation and are left out": made.unannotated,
        f"{made.without} pictures to learn from have no object and are left out": made.without,
        f"{made.difficult} objects to learn from are difficult, or crowds": made.difficult,
        f"{made.shared} pictures are in both splits: the mAP will be too good": made.shared,
    }
    lines += [text for text, count in notes.items() if count]
    if made.dropped:
        lines.append(f"objects of {listed(made.dropped)}, which only the test has, are left out")
    absent = [name for label, name in enumerate(made.classes, 1) if not test[label]]
    if absent:
        lines.append(f"no object to test on is of {listed(absent)}: its average precision counts 0 in the mAP")
    lines.append(f"net: {wish.choice.title}, {made.size}x{made.size}, {made.parameters / 1e6:.2f} M parameters")
    ten, half, ninety = made.sides
    lines.append(f"objects there: {half:.0f} pixels (square root of the area); 80 % have {ten:.0f} to {ninety:.0f}")
    lines.append(f"{shape}s: {made.matched:.1%} of the objects overlap one by 0.5 or more")
    if made.matched < 0.8:
        lines += [
            f"  of the others {share:.0%} {UNMATCHED[shape][name]}"
            for name, share in made.unmatched.items()
            if share >= 0.1
        ]
    if made.fit is not None:
        fit = made.fit
        classes = [name for name in fit.fresh if name.endswith(FRESH)]
        missing = [name for name in fit.fresh if not name.endswith(FRESH) and name not in fit.misfits]
        lines.append(f"weights: {len(fit.copied)} layers copied of {fit.path}")
        lines.append(f"  fresh, by the classes: {listed(classes)}")
        lines += [f"  fresh, not in the file: {listed(missing)}"] * bool(missing)
        lines += [f"  fresh, of another shape: {listed(list(fit.misfits))}"] * bool(fit.misfits)
        lines += [f"  unused of the file: {listed(fit.unused)}"] * bool(fit.unused)
    elif wish.backbone == "vgg":
        file = "VGG_ILSVRC_16_layers_fc_reduced" if wish.kind == "ssd" else "VGG_ILSVRC_16_layers"
        lines.append(f"VGG16 hardly learns from scratch: give --weights {file}.caffemodel")
    if plan is not None:
        lines.append(
            f"training: {plan.iterations} iterations of {counted(plan.batch * plan.iter_size)}, {plan.method}, "
            f"base_lr {plan.rate:g}; mAP every {plan.test_interval}"
        )
    lines += [f"the folder of before, with its snapshots, is now {made.old_folder}"] * bool(made.old_folder)
    lines = [piece for line in lines for piece in wrapped(line)]
    folder = wish.out.as_posix()
    solver, log = (shlex.quote(f"{folder}/{name}") for name in ("solver.prototxt", "train.log"))
    return [
        *lines,
        "",
        f"{folder} is ready (see its README.md). Next:",
        f"  boxpresso train --solver {solver} --log {log}",
    ]
