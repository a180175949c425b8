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
    if len(answering) > 1:
        for line in libraries():
            print(line)
    if len(answering) == 1:
        try:
            open_device("cuda")
        except DeviceError as error:
            print(f"cuda: not available: {error}")
    return 0


def libraries() -> list[str]:
    """A line for each of NVIDIA's libraries that a GPU's work can go to."""
    from ..device import cublas, cudnn, nccl
    from ..device.libraries import described

    return [
        described(
            "cuBLAS", cublas.library(), cublas.version(), "matrix products", "our own kernel multiplies matrices"
        ),
        described(
            "cuDNN", cudnn.library(), cudnn.version(), "convolutions", "convolutions are columns and matrix products"
        ),
        described("NCCL", nccl.library(), nccl.version(), "gradients of several ranks", nccl.OTHERWISE, nccl.WHEEL),
    ]
