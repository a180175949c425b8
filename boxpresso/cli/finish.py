"""The verb finish: weights of a train net for its deploy net, as the scripts of published detectors write them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from ..proto.errors import ModelError
from .arguments import numbers

NAME = "finish"
SHORT = "write a train net's weights for its deploy net"
TEXT = """\
Write the weights of a train net of the R-CNN family for its deploy net: layers
of box offsets (bbox_pred, rfcn_bbox) times the deviations of their targets, as
py-faster-rcnn's train.py does with every snapshot. Which layers, and by what,
is seen in TRAIN, whose weights a solver wrote.
"""
EPILOG: str | None = """\
examples:
  boxpresso finish train.prototxt rfcn_iter_110000.caffemodel rfcn.caffemodel
  boxpresso finish --stds 0.1,0.1,0.2,0.2 train.prototxt a.h5 b.h5
  boxpresso finish --merge-batchnorm b.prototxt a.prototxt a.h5 b.h5

A file that was finished is marked, and refused a second time. Files that other
programs finished are not marked: do not finish their snapshots.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    parser.add_argument("model", metavar="TRAIN", help="the train net, a .prototxt")
    parser.add_argument("weights", metavar="WEIGHTS", help="its weights, a .caffemodel or .h5")
    parser.add_argument("out", metavar="OUT", help="the file to write, a .caffemodel or .h5")
    add = parser.add_argument
    text = "finish this layer and not those that TRAIN tells; may be repeated"
    add("--layer", metavar="NAME", action="append", default=[], help=text)
    text = "the targets' deviations: numbers with commas between them, for a box or for a box of each class, or a .npy file"
    add("--stds", metavar="S", type=values, help=text)
    add(
        "--means",
        metavar="M",
        type=values,
        help="their means, in the same form (default with --stds: 0); --means=-0.1,.. where the first is below 0",
    )
    text = "instead: merge BatchNorm, Scale and Bias into the weights before them; TRAIN is then the deploy net, and NEW the"
    text += " prototxt to write for OUT"
    add("--merge-batchnorm", metavar="NEW", help=text)
    text = "leave layers as they are whose offsets this deploy net multiplies by deviations itself (DecodeBBox, FrcnnOutput)"
    add("--deploy", metavar="DEPLOY", help=text)
    add("--level", metavar="N", type=int, default=0, help="the level that layers' rules ask for")
    add(
        "--stage",
        metavar="NAME",
        action="append",
        default=[],
        help="a stage that layers' rules ask for; may be repeated",
    )


def values(text: str) -> Any:
    """Numbers, or the path of a .npy file.

    >>> values("0.1,0.1,0.2,0.2")
    (0.1, 0.1, 0.2, 0.2)
    """
    return text if text.endswith(".npy") else numbers(text)


def loaded(source: Any) -> Any:
    """The numbers of `values`, read from its file where it is one."""
    if not isinstance(source, str):
        return source
    from ..proto.binary import read_blob

    array = read_blob(source)
    if array.dtype.kind not in "fiu":
        raise ModelError(f"{source} cannot be read as an array of numbers: it holds {array.dtype}")
    return array


def run(args: Namespace) -> int:
    """Writes OUT and says what was multiplied."""
    from ..recipes.finishing import finish

    if args.merge_batchnorm:
        return run_merge(args)
    done = finish(
        args.model, args.weights, args.out, layers=args.layer, means=loaded(args.means), stds=loaded(args.stds),
        deploy=args.deploy, level=args.level, stages=args.stage,
    )  # fmt: skip
    for one in done:
        print(one)
    print(f"{args.out}: finished, for the deploy net")
    return 0


def run_merge(args: Namespace) -> int:
    """Writes OUT and the prototxt NEW, and says what is gone."""
    from ..exports.merging import merge

    if args.layer or args.stds is not None or args.means is not None or args.deploy:
        raise ModelError("--merge-batchnorm looks at no offsets: --layer, --stds, --means and --deploy are not for it")
    gone = merge(args.model, args.weights, args.merge_batchnorm, args.out, level=args.level, stages=args.stage)
    print(f"{args.merge_batchnorm}, {args.out}: {len(gone)} layers are merged into those before them")
    return 0
