"""The command line: `boxpresso VERB ..`, or `python -m boxpresso VERB ..`. Each verb's work is in command.py."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from . import __version__
from .proto.errors import BoxpressoError

ABOUT = """\
Run, time and look into Caffe detection models.

A model is two files: MODEL, a .prototxt that says which layers there are, and
WEIGHTS, a .caffemodel (or .h5) with what they learned.
"""
ENVIRONMENT = """\
`boxpresso VERB --help` explains a verb.

environment: BOXPRESSO_DEVICE, the device where --device is not given;
BOXPRESSO_THREADS, how many CPU threads; BOXPRESSO_DEBUG=1, tracebacks of errors
"""
DETECT = """\
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
EXAMPLES = """\
examples:
  boxpresso detect deploy.prototxt ssd300.caffemodel street.jpg \\
      --mean 104,117,123 --labels labelmap_voc.prototxt
  boxpresso detect deploy.prototxt mobilenet_ssd.caffemodel *.jpg \\
      --mean 127.5 --scale 0.007843 --out drawn
  boxpresso detect detect.prototxt detect.caffemodel code.png --scale 1/255 --json
"""
INFO = """\
Show what a net is made of: its layers, the shapes of their tops, how many
numbers they learn and how many multiply-adds a forward pass takes. With WEIGHTS
also which layers the file fits.
"""
TIME = """\
Time each layer, forward and backward, as `caffe time` does, with random inputs
from 0 to 1. A net without a loss gets its gradients as if its prototxt said
`force_backward: true`.
"""
DEVICES = """\
List the CPU and the GPUs that nets can run on, or why there is no GPU.
"""
LAYERS = """\
List the layer types, or explain one: what it computes, its bottoms and tops,
its parameters with their defaults, and an example to copy into a prototxt.
"""
TRAIN = """\
Train a net, with Caffe's solver files, log lines and snapshots. The log goes to
standard error. Ctrl-C ends training after the iteration with a snapshot; a
hang-up signal takes one and goes on. `mpirun -n N boxpresso train ..` trains
with N processes, each on its own share of the data and its own device.
"""
TEST = """\
Say how good a net is.

With --voc or --coco: finds objects in every picture of a folder, compares them
with its annotations, and prints a table by class with the average precision
(AP) and its mean. Boxes are compared as VOC's development kit does it; with
--coco the table also has COCO's own numbers, by pycocotools. Pictures are
prepared as by `boxpresso detect`; what cannot be read is named and left out.

Without: runs the TEST net over some batches of its own data and prints what it
gives, as `caffe test` does; for a net that ends in DetectionEvaluate the table.

The precision-recall curves are drawn to WEIGHTS.curves.png, or with the name of
the output before .curves.
"""
TEST_EXAMPLES = """\
examples:
  boxpresso test deploy.prototxt ssd300.caffemodel --mean 104,117,123 \\
      --voc VOCdevkit/VOC2007 --set test --method 11point
  boxpresso test deploy.prototxt ssd.caffemodel --labels labelmap_coco.prototxt \\
      --coco coco/val2017 coco/annotations/instances_val2017.json --json
  boxpresso test --model test.prototxt --weights ssd300.caffemodel --iterations 619
"""
PLOT = """\
Draw loss, learning rate and test results of a training log to a PNG picture.
"""
CONVERT = """\
Write pictures and annotations as an LMDB, for the layers AnnotatedData (voc,
coco, yolo) and Data (images).

  voc     FOLDER/JPEGImages, Annotations, ImageSets/Main/SPLIT.txt
  coco    FOLDER/annotations/instances_SPLIT.json, and FOLDER/SPLIT or images
  yolo    FOLDER/images and FOLDER/labels, with classes.txt
  images  a folder in FOLDER for each class, labels from 0 by name

Labels of objects count from 1. What cannot be read is named and left out.
"""
MEAN = """\
Compute the mean of an LMDB of pictures of one size: the numbers for mean_value,
and the file for mean_file.
"""
UPGRADE = """\
Write a file of an older Caffe in today's form: the prototxt of a net (V0, V1,
`input` fields) or of a solver (--solver), or the weights in a .caffemodel or
.h5. Whether OLD is text or weights is seen from what it holds.
"""


class Help(argparse.RawDescriptionHelpFormatter):
    """Text as it is written above, and room for the names of verbs and options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)
        self._action_max_length = 16  # argparse forgets that verbs are indented


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="boxpresso",
        description=ABOUT,
        epilog=ENVIRONMENT,
        formatter_class=Help,
    )
    parser.add_argument("--version", action="version", version=f"boxpresso {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")

    def verb(name: str, short: str, text: str, epilog: str | None = None) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=short, description=text, epilog=epilog, formatter_class=Help)

    detect = verb("detect", "find objects in pictures, print and draw them", DETECT, EXAMPLES)
    model(detect, weights=True)
    detect.add_argument("images", metavar="IMAGE", nargs="+", help="pictures: JPEG, PNG, BMP, WebP, TIFF ..")
    add = detect.add_argument
    prepared(detect)
    add("--threshold", metavar="T", type=share, default=0.5, help="leave out what scores less, 0 to 1 (default: 0.5)")
    add("--labels", metavar="FILE", help="names of the classes: one per line, background first, or a labelmap.prototxt")
    add("--out", metavar="PATH", help="folder for the drawn copies, or, for one picture, the file (.png, .jpg ..)")
    add("--no-drawing", action="store_true", help="write no pictures")
    add("--json", action="store_true", help="print one JSON list in place of tables; boxes are in pixels")
    device(detect)

    info = verb("info", "list layers, shapes, parameters and multiply-adds", INFO)
    model(info, weights=False)
    phase(info)
    info.add_argument("--json", action="store_true", help="print JSON in place of the table")

    time = verb("time", "time each layer, forward and backward", TIME)
    model(time, weights=False)
    time.add_argument("--iterations", metavar="N", type=positive, default=50, help="how often to run it (default: 50)")
    both = time.add_mutually_exclusive_group()
    both.add_argument("--backward", action="store_true", default=True, help="time both passes (the default)")
    both.add_argument("--forward-only", dest="backward", action="store_false", help="time the forward pass alone")
    phase(time)
    device(time)

    train = verb("train", "train a net from a solver prototxt", TRAIN)
    train.add_argument("--solver", metavar="SOLVER", required=True, help="the solver prototxt")
    train.add_argument(
        "--weights", metavar="FILES", help="weights to start from: .caffemodel or .h5, several with commas"
    )
    train.add_argument("--snapshot", metavar="FILE", help="continue from this .solverstate")
    train.add_argument("--deterministic", action="store_true", help="the same bits on every run on a GPU too")
    python_layers(train)
    device(train)

    test = verb("test", "say how good a net is: average precision, or its outputs' means", TEST, TEST_EXAMPLES)
    for name, what in (("model", "the net, a .prototxt"), ("weights", "its weights, a .caffemodel or .h5")):
        test.add_argument(name, metavar=name.upper(), nargs="?", help=what)
        test.add_argument(
            f"--{name}", f"-{name}", metavar="FILE", dest=f"{name}_option", help=f"{name}, in Caffe's words"
        )
    python_layers(test)
    add = test.add_argument
    add("--iterations", "-iterations", metavar="N", type=positive, default=50, help="how many batches (default: 50)")
    add("--voc", metavar="DIR", help="test on this folder, with JPEGImages, Annotations and ImageSets")
    add("--set", metavar="NAME", default="", help="the pictures in ImageSets/Main/NAME.txt (default: all)")
    add("--coco", metavar=("IMAGES", "JSON"), nargs=2, help="test on these pictures and annotations")
    add("--labels", metavar="FILE", help="names of the net's classes, as for detect (default: VOC's, or those of JSON)")
    prepared(test)
    add("--threshold", metavar="T", type=share, default=0.01, help="leave out what scores less (default: 0.01)")
    add("--overlap", metavar="T", type=share, default=0.5, help="the overlap from which on it is found (default: 0.5)")
    text = "how AP is computed (default: MaxIntegral, VOC's since 2010; 11point is that of VOC2007)"
    add("--method", choices=("MaxIntegral", "11point", "101point", "Integral"), default="MaxIntegral", help=text)
    add("--strict", action="store_true", help="end at the first picture or annotation that cannot be used")
    add("--curves", metavar="FILE", help="draw the precision-recall curves there")
    add("--no-curves", action="store_true", help="draw no curves")
    add("--json", action="store_true", help="print JSON in place of the table")
    phase(test)
    device(test)

    plot = verb("plot", "draw the curves of a training log", PLOT)
    plot.add_argument("log", metavar="LOG", help="what `boxpresso train` or `caffe train` wrote to standard error")
    plot.add_argument("--out", metavar="FILE", help="the picture to write (default: LOG.png)")

    convert = verb("convert", "write a folder of pictures as an LMDB", CONVERT)
    convert.add_argument(
        "kind", metavar="KIND", choices=("voc", "coco", "images", "yolo"), help="voc, coco, images or yolo"
    )
    convert.add_argument("folder", metavar="FOLDER", help="what holds the pictures")
    convert.add_argument("lmdb", metavar="LMDB", help="the LMDB to write; it must not be there yet")
    add = convert.add_argument
    add("--split", metavar="NAME", default="", help="such as trainval or val2017 (default: all that is there)")
    add("--classes", metavar="FILE", help="classes of VOC: one per line or a labelmap.prototxt (default: VOC's twenty)")
    add("--size", metavar="WxH", type=width_height, help="resize all pictures to this")
    add("--gray", action="store_true", help="store one channel")
    add("--raw", action="store_true", help="store plain bytes, not JPEG and PNG files: larger, faster to read")
    add("--shuffle", metavar="SEED", type=int, nargs="?", const=0, help="store them in a random order")
    add("--strict", action="store_true", help="end at the first picture or annotation that cannot be used")

    means = verb("mean", "compute the mean of an LMDB", MEAN)
    means.add_argument("lmdb", metavar="LMDB", help="the LMDB to read")
    means.add_argument("file", metavar="FILE", nargs="?", help="write the mean picture, to a .binaryproto or .npy")

    verb("device_query", "list the devices that a net can run on", DEVICES)

    layers = verb("layers", "list the layer types, or explain one", LAYERS)
    layers.add_argument("type", metavar="TYPE", nargs="?", help="the type to explain, such as Convolution; in any case")

    upgrade = verb("upgrade", "write an old prototxt or .caffemodel in today's form", UPGRADE)
    upgrade.add_argument("old", metavar="OLD", help="the file to read")
    upgrade.add_argument("new", metavar="NEW", help="the file to write")
    upgrade.add_argument("--solver", action="store_true", help="OLD is a solver.prototxt")
    return parser


def model(parser: argparse.ArgumentParser, weights: bool) -> None:
    parser.add_argument("model", metavar="MODEL", help="the net, a .prototxt")
    needed: dict[str, Any] = {} if weights else {"nargs": "?"}
    parser.add_argument("weights", metavar="WEIGHTS", help="its weights, a .caffemodel or .h5", **needed)
    python_layers(parser)


def prepared(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--mean", metavar="M", type=mean, help="subtract this: one number, B,G,R, or a .binaryproto or .npy file")
    add("--scale", metavar="S", type=fraction, default=1.0, help="then multiply by this, such as 0.007843 or 1/255")
    add(
        "--swap-rb", action="store_true", help="give red, green, blue instead of blue, green, red (--mean too is R,G,B)"
    )
    add("--size", metavar="WxH", type=width_height, help="resize pictures to this, not to what MODEL says")


def phase(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = "take the layers of this phase (default: TEST)"
    add("--phase", choices=("TRAIN", "TEST"), type=str.upper, default="TEST", help=text)
    add("--level", metavar="N", type=int, default=0, help="the level that layers' rules ask for")
    add(
        "--stage",
        metavar="NAME",
        action="append",
        default=[],
        help="a stage that layers' rules ask for; may be repeated",
    )


def device(parser: argparse.ArgumentParser) -> None:
    text = "cpu, cuda or cuda:N (default: $BOXPRESSO_DEVICE, else a GPU if one answers)"
    parser.add_argument("--device", metavar="D", help=text)


def python_layers(parser: argparse.ArgumentParser) -> None:
    text = "import this module for layers of type Python, which a prototxt alone may not; may be repeated"
    parser.add_argument("--python-layers", metavar="MODULE", action="append", default=[], help=text)


# Types of arguments: argparse makes their message a usage error


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise argparse.ArgumentTypeError(f"{text!r} is not finite")
    return value


def fraction(text: str) -> float:
    above, slash, below = text.partition("/")
    if slash and number(below) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} divides by 0")
    return number(above) / (number(below) if slash else 1)


def share(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0 to 1")
    return value


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)


def width_height(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    return positive(width), positive(height or width)


def mean(text: str) -> Any:
    """Numbers as a list, or else the name of a file, which must be there."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        if not os.path.exists(text):
            raise argparse.ArgumentTypeError(f"{text!r} is neither numbers such as 104,117,123 nor a file") from None
        return text


# Running


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 0, 1 for an error, 2 for a wrong use, 130 when interrupted.

    Errors and warnings are single lines on stderr; BOXPRESSO_DEBUG=1 lets errors through, with their tracebacks.
    """
    parser = make_parser()
    try:
        args = parser.parse_args(argv)
    except SystemExit as stop:  # --help, --version, wrong usage
        return int(stop.code or 0)
    if args.verb is None:
        parser.print_help(sys.stderr)
        return 2
    debug = os.environ.get("BOXPRESSO_DEBUG") == "1"
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a label or file name that the terminal cannot show
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = show_warning
            if args.verb in ("train", "plot"):
                from .cli import training as command
            elif args.verb == "test":
                from .cli import testing as command  # type: ignore[no-redef]
            elif args.verb in ("convert", "mean"):
                from .cli import conversion as command  # type: ignore[no-redef]
            else:
                from .cli import command  # type: ignore[no-redef]

            status = int(getattr(command, args.verb)(args))
            sys.stdout.flush()
            return status
    except BrokenPipeError:  # the reader, such as `head`, has left
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 141
    except KeyboardInterrupt:
        return 130
    except BoxpressoError as error:
        if debug:
            raise
        print(f"boxpresso: error: {error}", file=sys.stderr)
    except Exception as error:
        if debug:
            raise
        advice = "this is a fault of Boxpresso, please report it with what BOXPRESSO_DEBUG=1 prints"
        print(f"boxpresso: error: {type(error).__name__}: {error}; {advice}", file=sys.stderr)
    return 1


def show_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    print(f"boxpresso: warning: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
