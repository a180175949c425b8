"""Arguments that several verbs take, and types of arguments."""

from __future__ import annotations

import argparse
import math
import os
from typing import Any, Union

from ..proto.errors import BoxpressoError

Options = Union[argparse.ArgumentParser, "argparse._ArgumentGroup"]


class WrongUse(BoxpressoError):
    """Words that do not go together, or one that is missing: told with the usage of the verb, and status 2."""


def model(parser: argparse.ArgumentParser, weights: bool) -> None:
    """MODEL and WEIGHTS; `weights`: whether the second is needed."""
    parser.add_argument("model", metavar="MODEL", help="the net, a .prototxt")
    needed: dict[str, Any] = {} if weights else {"nargs": "?"}
    parser.add_argument("weights", metavar="WEIGHTS", help="its weights, a .caffemodel or .h5", **needed)
    python_layers(parser)
    memory(parser)


def data(parser: argparse.ArgumentParser) -> None:
    """Whether a net reads its data, and anchors that its prototxt does not say."""
    text = (
        "read: open the data that MODEL names; shapes (the default): random values of the shapes that its fields give"
    )
    parser.add_argument("--data", choices=("shapes", "read"), default="shapes", help=text)
    text = "the shape of an input or of a top of a data layer, such as data=1x3x300x300; may be repeated"
    parser.add_argument("--shape", metavar="NAME=SHAPE", type=named_shape, action="append", default=[], help=text)
    anchors(parser)


def anchors(parser: argparse.ArgumentParser) -> None:
    """Anchors that a prototxt does not say."""
    text = (
        "the anchors of MODEL's region proposals, a .json or .npy file (default: MODEL.anchors.json, if there is one)"
    )
    parser.add_argument("--anchors", metavar="FILE", help=text)


def of_data(args: argparse.Namespace) -> dict[str, Any]:
    """What `data` gave, as arguments of Net."""
    if args.data == "read" and args.shape:
        raise WrongUse("--shape is for --data shapes")
    chosen: Any = None if args.data == "read" else dict(args.shape) or "shapes"
    return {"data": chosen, "anchors": args.anchors}


def html(parser: argparse.ArgumentParser) -> None:
    """A report beside what is printed."""
    text = "also write a report there: one HTML file with the net as a graph and a table of its layers"
    parser.add_argument("--html", metavar="FILE", help=text)


def preparation(parser: Options) -> None:
    """How pictures become the input of the net."""
    add = parser.add_argument
    add("--mean", metavar="M", type=mean, help="subtract this: one number, B,G,R, or a .binaryproto or .npy file")
    add("--scale", metavar="S", type=fraction, help="then multiply by this, such as 0.007843 or 1/255")
    text = "give red, green, blue instead of blue, green, red (--mean too is R,G,B)"
    add("--swap-rb", action=argparse.BooleanOptionalAction, default=None, help=text)
    add("--size", metavar="WxH", type=width_height, help="resize pictures to this, not to what MODEL says")


def which(parser: Options) -> None:
    """Which detections are given, and what they are called."""
    add = parser.add_argument
    text = "leave out what scores less, 0 to 1 (default: the decoder's, mostly 0.5)"
    add("--threshold", metavar="T", type=share, help=text)
    add("--labels", metavar="FILE", help="names of the classes: one per line, background first, or a labelmap.prototxt")


def detector(parser: Options) -> None:
    """Which decoder reads the outputs of MODEL, how pictures are prepared, and which boxes suppress others."""
    add = parser.add_argument
    add("--as", metavar="NAME", dest="decoder", help="the decoder that reads the outputs (default: recognised)")
    preparation(parser)
    text = "the overlap from which on a better detection suppresses another (default: the decoder's)"
    add("--overlap", metavar="T", type=share, help=text)
    text = "widths and heights in turn, of a YOLO that ends in raw maps, the finest map first: W,H,W,H,.."
    add("--anchors", metavar="W,H,..", type=numbers, help=text)
    clipped(parser)


def clipped(parser: Options) -> None:
    """Whether boxes end at the edges of their picture."""
    text = "clip boxes to their picture, and leave out those that lie outside it (default: yes)"
    parser.add_argument("--clip", action=argparse.BooleanOptionalAction, default=True, help=text)


def phase(parser: argparse.ArgumentParser) -> None:
    """Which layers of the prototxt are taken."""
    add = parser.add_argument
    text = "take the layers of this phase (default: TEST)"
    add("--phase", choices=("TRAIN", "TEST"), type=str.upper, default="TEST", help=text)
    add("--level", metavar="N", type=int, default=0, help="the level that layers' rules ask for")
    text = "a stage that layers' rules ask for; may be repeated"
    add("--stage", metavar="NAME", action="append", default=[], help=text)


def device(parser: Options) -> None:
    """Where the net runs."""
    text = "cpu, cuda or cuda:N (default: $BOXPRESSO_DEVICE, else a GPU if one answers)"
    parser.add_argument("--device", metavar="D", help=text)
    text = "the same bits on every CPU, on the CPU alone (docs/reproducible.md)"
    parser.add_argument("--reproducible", action="store_true", help=text)


def memory(parser: Options, default: str = "nowhere") -> None:
    """How much memory a net may take, and where it may write; `default`: where without a word."""
    text = "refuse a net whose blobs and parameters take more than this, such as 500M or 2G (default: all there is)"
    parser.add_argument("--memory-limit", metavar="N", type=byte_count, help=text)
    text = "let layers write the files that MODEL names below this folder; may be repeated"
    text += f" (default: {default})"
    parser.add_argument("--write-below", metavar="FOLDER", action="append", default=[], help=text)


def of_net(args: argparse.Namespace) -> dict[str, Any]:
    """What `model` or `memory` and `python_layers` gave, and `device` of reproducible, as arguments of Net."""
    options = {name: getattr(args, name) for name in ("python_layers", "write_below", "memory_limit")}
    return {**options, "reproducible": getattr(args, "reproducible", False)}


def python_layers(parser: Options) -> None:
    """Which modules layers of type Python may come from."""
    text = (
        "import this module for layers of type Python, or of a type of your own, which a prototxt alone may not; may be "
        "repeated"
    )
    parser.add_argument("--python-layers", metavar="MODULE", action="append", default=[], help=text)


# Types of arguments: argparse makes their message a usage error


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not finite")
    return value


def fraction(text: str) -> float:
    """A number other than 0, or one divided by another.

    >>> fraction("1/4"), fraction("0.5")
    (0.25, 0.5)
    """
    above, slash, below = text.partition("/")
    if slash and number(below) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} divides by 0")
    value = number(above) / (number(below) if slash else 1)
    if not value or not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is {value:g}, which leaves nothing of a picture")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them.

    >>> numbers("10,13,16.5")
    (10.0, 13.0, 16.5)
    """
    return tuple(number(part) for part in text.split(","))


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0 to 1")
    return value


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def count(text: str) -> int:
    """A whole number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def byte_count(text: str) -> int:
    """A number of bytes, with k, M or G for 2^10, 2^20 and 2^30 of them.

    >>> byte_count("500M"), byte_count("7")
    (524288000, 7)
    """
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if unit not in ("", "K", "M", "G"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 500M or 2G")
    return positive(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit]


def named_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """A name and a shape.

    >>> named_shape("data=1x3x300x200")
    ('data', (1, 3, 300, 200))
    """
    name, equals, shape = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SHAPE, such as data=1x3x300x300")
    return name, tuple(positive(side) for side in shape.lower().split("x"))


def width_height(text: str) -> tuple[int, int]:
    """Width and height: "300x200", or "300" for both."""
    width, _, height = text.lower().partition("x")
    return positive(width), positive(height or width)


def mean(text: str) -> list[float] | str:
    """Finite numbers as a list, or else the name of a file, which must exist."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        if not os.path.exists(text):
            raise argparse.ArgumentTypeError(f"{text!r} is neither numbers such as 104,117,123 nor a file") from None
        return text
    if not all(map(math.isfinite, values)):
        raise argparse.ArgumentTypeError(f"{text!r} is not finite")
    return values
