"""The verb layers: the types of layers, or one of them in full."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

NAME = "layers"
SHORT = "list the layer types, or explain one"
TEXT = """\
List the layer types, or explain one: what it computes, its bottoms and tops,
its parameters with their defaults, and an example to copy into a prototxt.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the arguments of the verb."""
    text = "the type to explain, such as Convolution; in any case"
    parser.add_argument("type", metavar="TYPE", nargs="?", help=text)


def run(args: Namespace) -> int:
    """Prints a line for each layer type, or everything about one."""
    from ..layers.core.catalogue import describe as explain
    from ..layers.core.catalogue import table as all_types

    print(explain(args.type) if args.type else all_types())
    return 0
