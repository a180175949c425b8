"""MatWrite: writes blobs to MATLAB files."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...device import Blob
from ..core import Layer, Trait
from ..core.writing import refusal

HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
INT8, INT32, UINT32, SINGLE, DOUBLE, MATRIX = 1, 5, 6, 7, 9, 14  # types of elements
OF_SINGLE, OF_DOUBLE = 7, 6  # classes of arrays


class MatWrite(Layer, type="MatWrite", param="mat_write_param", bottoms=(1, None), tops=0, traits=Trait.RUNS_ONCE):
    """Writes each bottom to a MATLAB file of its own, forward after forward: features and scores of DeepLab.

    The file of bottom i is prefix + name + "_blob_i.mat", with the name that `source` has for the forward, or "iter_" and its
    number from 0. It holds the variable `data`, whose axes are those of the bottom in the reverse order: width, height,
    channels, images. The layer gives no gradient: the diffs of the bottoms are 0.

    Parameters
    ----------
    bottom i
        Any shape.
    mat_write_param
        `prefix` (required): what paths begin with. `source`: a file with a name in each line, up to the first space, one for
        each forward. `strip` (0): so many letters are taken off the end of each name. `period` (1): each forward whose number
        is a multiple of it is written.

    Raises
    ------
    LayerError
        For a missing prefix, a source that cannot be read, a name that is not longer than strip, a period of 0, more forwards
        than names, a file outside the folders that the net may write to, and one that cannot be written.

    Source
    ------
    DeepLab's Caffe (Chen et al. 2015), whose files are of MATLAB 5 too.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MatWrite"', [[0.5]], tops=0)
    Traceback (most recent call last):
        ...
    boxpresso.proto.errors.LayerError: MatWrite layer 'layer': give mat_write_param { prefix: .. }
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mat_write_param
        self.need(p.prefix, "give mat_write_param { prefix: .. }")
        self.need(p.strip >= 0, f"strip must not be negative, got {p.strip}")
        self.need(p.period > 0, f"period must be 1 or more, got {p.period}")
        self.names: list[str] | None = None  # of the source, which the first forward reads
        refused = refusal(self, f"{p.prefix}iter_0_blob_0.mat")
        self.need(not refused, refused)
        self.done = 0

    def read_names(self) -> list[str]:
        """The names that the source has."""
        p = self.param.mat_write_param
        try:
            lines = Path(p.source).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            self.need(False, f"cannot read the source {p.source}: {error}")
        words = [line.split()[0] for line in lines if line.strip()]
        for word in words:
            self.need(len(word) > p.strip, f"strip {p.strip} leaves nothing of the name {word!r} in {p.source}")
        return [word[: len(word) - p.strip] for word in words]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        pass

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, number = self.param.mat_write_param, self.done
        if self.names is None and p.source:
            self.names = self.read_names()
        self.done += 1
        if number % p.period:
            return
        self.need(
            self.names is None or number < len(self.names),
            f"this is forward {number + 1}, {p.source} names {len(self.names or ())} files",
        )
        name = self.names[number] if self.names is not None else f"iter_{number}"
        for i, blob in enumerate(bottom):
            path = f"{p.prefix}{name}_blob_{i}.mat"
            refused = refusal(self, path)
            self.need(not refused, refused)
            try:
                Path(path).write_bytes(mat_file(np.array(blob.data)))
            except OSError as error:
                self.need(False, f"cannot write {path}: {error.strerror or error}")

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """The files have no gradient: diffs are 0."""
        for blob, needed in zip(bottom, propagate_down):
            if needed:
                blob.diff.fill(0)


def element(kind: int, data: bytes) -> bytes:
    """An element of a MATLAB 5 file, filled up to a multiple of 8 bytes."""
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def mat_file(values: np.ndarray) -> bytes:
    """A MATLAB 5 file with the variable `data`: the array, its axes in the reverse order, two at least.

    >>> len(mat_file(np.zeros((2, 3), np.float32)))
    216
    """
    shape = values.shape[::-1] + (1,) * (2 - values.ndim)
    single = values.dtype == np.float32
    body = element(UINT32, struct.pack("<II", OF_SINGLE if single else OF_DOUBLE, 0))
    body += element(INT32, struct.pack(f"<{len(shape)}i", *shape)) + element(INT8, b"data")
    body += element(SINGLE if single else DOUBLE, values.astype("<f4" if single else "<f8").tobytes())
    return HEADER + element(MATRIX, body)
