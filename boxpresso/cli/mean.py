"""The verb mean: the mean of a set of pictures, by channel and as a picture."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from .output import progress

NAME = "mean"
SHORT = "compute the mean of an LMDB"
TEXT = """\
Compute the mean of an LMDB of pictures of one size: the numbers for mean_value,
and the file for mean_file.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    parser.add_argument("lmdb", metavar="LMDB", help="the LMDB to read")
    text = "write the mean picture, to a .binaryproto or .npy"
    parser.add_argument("file", metavar="FILE", nargs="?", help=text)


def run(args: Namespace) -> int:
    """Prints the mean of each channel, and writes the mean picture where FILE is given."""
    from ..data.convert import mean_of, write_mean

    picture = mean_of(args.lmdb, progress("mean"))
    channels = picture.mean((1, 2))
    names = ("blue", "green", "red") if len(channels) == 3 else tuple(f"channel {i}" for i in range(len(channels)))
    print("\n".join(f"mean_value: {value:<9.6g} # {name}" for name, value in zip(names, channels)))
    if args.file:
        write_mean(args.file, picture)
        print(f"{args.file}: {' x '.join(map(str, picture.shape))}")
    return 0
