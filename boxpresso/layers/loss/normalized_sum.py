"""The sum of many losses divided by a normaliser, and the checks that losses share. The kernels have their half in loss.h."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ...device.records import Numbers
from ..core.checked import checked_by
from ..core.layer import Layer

KERNELS = Kernels(Path(__file__).with_name("loss.cu"))


def rows_of(layer: Layer, blob: Blob) -> tuple[int, int]:
    """(N, length) of a blob (N, ...), whose axes behind the first are one row. Raises LayerError for one that is empty."""
    layer.need(blob.shape and blob.count, f"a loss over an empty batch (shape {blob.shape}) has no value")
    return blob.shape[0], blob.count // blob.shape[0]


def labelled_rows(layer: Layer, bottom: list[Blob]) -> tuple[int, int]:
    """`rows_of` bottom 0. Raises LayerError unless bottom 1 has a label for each row."""
    batch, length = rows_of(layer, bottom[0])
    layer.need(
        bottom[1].count == batch,
        f"needs a label for each of the {batch} rows of bottom 0, bottom 1 has the shape {bottom[1].shape}",
    )
    return batch, length


def refuse_label(layer: Layer, label: AnyArray, channels: int, ignored: int | None = None) -> None:
    """Raises LayerError that names the first label that is none of the channels, and is not ignored."""
    labels = np.asarray(label).ravel()
    wrong = ~((labels > -1) & (labels < channels))
    if ignored is not None:
        wrong &= ~(np.trunc(labels) == ignored)
    at = int(np.argmax(wrong))
    refuse_found(layer, np.array([at, labels[at], channels], np.float64))


def refuse_found(layer: Layer, refusal: Numbers) -> None:
    """The same, for one that a kernel has found: its place, its value, and the number of channels."""
    at, label, channels = int(refusal[0]), float(refusal[1]), int(refusal[2])
    layer.need(False, f"label {label:g} at {at} is none of the {channels} channels, 0 to {channels - 1}")


def check_labels(
    layer: Layer, wrong: AnyArray, label: AnyArray, items: int, channels: int, ignored: tuple[int, int] = (0, 0)
) -> None:
    """Refuses labels that are none of the channels. On a GPU the host is told when it next waits.

    Parameters
    ----------
    layer
        Whose loss it is.
    wrong
        (1,), how many of them are.
    label, items
        The labels, and how many there are.
    channels
        How many channels.
    ignored
        Whether there is a label that is ignored, and which.
    """
    if layer.device.kind == "cpu":
        if np.asarray(wrong)[0]:
            refuse_label(layer, label, channels, ignored[1] if ignored[0] else None)
        return
    check = checked_by(layer, refuse_found)
    KERNELS.on(layer.device).tell_label(1, wrong, label, check.record, items, channels, *ignored, check.mark)


class Sum:
    """The sum of the losses of `items` items: a kernel fills `partial` with piece_of_loss, `join` adds up."""

    def __init__(self, layer: Layer, items: int) -> None:
        self.layer, self.kernels, self.items = layer, KERNELS.on(layer.device), items
        self.blocks = -(-items // self.kernels.constants["PIECE"])
        self.partial = layer.device.empty((3 * max(1, self.blocks),), np.float64)
        self.result = layer.device.empty((2,), layer.dtype)  # after join: the divisor, and how many labels are wrong

    def join(self, top: AnyArray, divisor: float) -> None:
        """top = the sum / divisor; a divisor of 0 stands for the number of items that count, 1 at least."""
        self.kernels.join(1, self.partial, top, self.result, self.blocks, divisor)

    def check_labels(self, label: AnyArray, channels: int, ignored: tuple[int, int] = (0, 0)) -> None:
        """Refuses labels that are none of the channels, if join has found any."""
        wrong = self.layer.device.part(self.result, 1, (1,))
        check_labels(self.layer, wrong, label, self.items, channels, ignored)
