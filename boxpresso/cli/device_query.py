"""The verb device_query: the devices that a net can run on."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..proto.errors import DeviceError

NAME = "device_query"
SHORT = "list the devices that a net can run on"
TEXT = """\
List the CPU and the GPUs that nets can run on, or why there is no GPU.
"""
EPILOG: str | None = None


def add_arguments(parser: ArgumentParser) -> None:
    """The verb takes no arguments."""


def run(args: Namespace) -> int:
    """Prints a line for each device, and why there is no GPU if there is none."""
    from ..device import devices, open_device

    answering = devices()
    for name in answering:
        print(open_device(name).describe())
    if len(answering) == 1:
        try:
            open_device("cuda")
        except DeviceError as error:
            print(f"cuda: not available: {error}")
    return 0
