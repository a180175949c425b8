"""The verb upgrade: nets, solvers and weights of older Caffes in the form of today."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..proto.errors import ModelError
from ..proto.files import replacing
from .output import listed

NAME = "upgrade"
SHORT = "write an old prototxt or .caffemodel in today's form"
TEXT = """\
Write a file of an older Caffe in today's form: the prototxt of a net (V0, V1,
`input` fields) or of a solver (--solver), or the weights in a .caffemodel or
.h5. Whether OLD is text or weights is seen from what it holds.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    parser.add_argument("old", metavar="OLD", help="the file to read")
    parser.add_argument("new", metavar="NEW", help="the file to write")
    parser.add_argument("--solver", action="store_true", help="OLD is a solver.prototxt")


def run(args: Namespace) -> int:
    """Writes today's form of a net, a solver or a file of weights."""
    from ..proto import read_solver, to_text
    from ..proto.binary import read_bytes
    from ..proto.signatures import HDF5, what_is

    data = read_bytes(args.old)
    if args.solver:
        write(args.new, to_text(read_solver(args.old)))
        print(f"{args.new}: a solver in today's form")
    elif data.startswith(HDF5) or (what_is(data) is None and b"\0" in data):
        upgrade_weights(args.old, args.new)
    else:
        upgrade_prototxt(data, args.old, args.new)
    return 0


def upgrade_weights(old: str, new: str) -> None:
    """Writes today's form of a .caffemodel or .h5."""
    from ..net.weights import read_weights, save_weights, without_scales

    file = read_weights(old)
    partial = [layer.name for layer in file.layers if any(blob is None for blob in layer.blobs)]
    if partial:
        raise ModelError(f"{old}: {listed(partial)} use blobs of other layers; load it into its Net and use Net.save")
    rows = [(layer.name, layer.type or "", (), (), [b for b in layer.blobs if b is not None]) for layer in file.layers]
    save_weights(new, without_scales(new, rows), file.name)
    print(f"{new}: the weights of {len(rows)} layers in today's form; parameters of layers are in the prototxt")


def upgrade_prototxt(data: bytes, old: str, new: str) -> None:
    """Writes today's form of a net, and says what was old in it."""
    from ..proto import NetParameter, parse_text, to_text, upgrade_net

    before = parse_text(data, NetParameter(), source=old)
    after = upgrade_net(before, source=old)
    write(new, to_text(after))
    v0 = any(layer.HasField("layer") for layer in before.layers)
    ages = [
        (v0, "from V0"),
        (len(before.layers) and not v0, "from V1"),
        (len(before.input), "its `input` fields a layer"),
    ]
    changes = [text for true, text in ages if true] or [
        "old fields renewed" if after != before else "it was in today's form already"
    ]
    print(f"{new}: {len(after.layer)} layers in today's form; {', '.join(changes)}")


def write(path: str, text: str) -> None:
    """Writes a text, whole or not at all: NEW may be OLD. Raises ModelError that names the file."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
