"""The sum of many losses divided by a normaliser, and the checks that losses share. The kernels have their half in loss.h."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...device import AnyArray, Blob, Kernels
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
    layer.need(False, f"label {labels[at]:g} at {at} is none of the {channels} channels, 0 to {channels - 1}")


class Sum:
    """The sum of the losses of `items` items: a kernel fills `partial` with piece_of_loss, `join` adds up.

    before: that of the last reshape, whose `result` it keeps, so that graphs of several shapes write to one place.
    """

    def __init__(self, layer: Layer, items: int, before: Sum | None = None) -> None:
        self.layer, self.kernels = layer, KERNELS.on(layer.device)
        self.blocks = -(-items // self.kernels.constants["PIECE"])
        self.partial = layer.device.empty((3 * max(1, self.blocks),), np.float64)
        # after join: the divisor, and how many labels are wrong
        self.result: AnyArray = before.result if before else layer.device.empty((2,), layer.dtype)

    def join(self, top: AnyArray, divisor: float) -> None:
        """top = the sum / divisor; a divisor of 0 stands for the number of items that count, 1 at least."""
        self.kernels.join(1, self.partial, top, self.result, self.blocks, divisor)

    def check_labels(self, label: AnyArray, channels: int, ignored: int | None = None) -> None:
        """Raises LayerError naming the first label that is none of the channels, if join has found one."""
        if np.asarray(self.result)[1]:
            refuse_label(self.layer, label, channels, ignored)
