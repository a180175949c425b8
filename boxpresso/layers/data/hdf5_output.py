"""HDF5Output: writes pictures and labels to an HDF5 file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.errors import DataError
from ...data.hdf5 import Writer
from ...device import Blob
from ..core import Layer, Trait
from ..core.writing import refusal


class HDF5Output(Layer, type="HDF5Output", param="hdf5_output_param", bottoms=2, tops=0, traits=Trait.RUNS_ONCE):
    """Writes the rows of its bottoms to the data sets "data" and "label" of an HDF5 file, batch after batch.

    The first batch replaces an older file; each further batch is added to the file. The layer gives no gradient: the
    diffs of the bottoms are 0.

    Parameters
    ----------
    bottom 0
        (N, ...), rows of the data set "data".
    bottom 1
        (N, ...), rows of the data set "label".
    hdf5_output_param
        Such as hdf5_output_param { file_name: "features.h5" }. `file_name` (required): the file to write.

    Raises
    ------
    LayerError
        For a missing file_name or folder, a file outside the folders that the net may write to, bottoms with different
        numbers of rows, or a file that cannot be written.

    Source
    ------
    Caffe, which keeps one batch only.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "HDF5Output"', [[0.5]], [1], tops=0)
    Traceback (most recent call last):
        ...
    boxpresso.proto.errors.LayerError: HDF5Output layer 'layer': give hdf5_output_param { file_name: .. }
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        name = self.param.hdf5_output_param.file_name
        self.need(name, "give hdf5_output_param { file_name: .. }")
        refused = refusal(self, name)
        self.need(not refused, refused)
        try:
            self.writer = Writer(name, ("data", "label"))
        except DataError as error:
            self.need(False, str(error))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        counts = [blob.shape[0] if blob.shape else 1 for blob in bottom]
        self.need(counts[0] == counts[1], f"data and label must have as many rows, got {counts[0]} and {counts[1]}")

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        try:
            self.writer.add([np.atleast_1d(np.array(blob.data)) for blob in bottom])  # one number is one row
        except DataError as error:
            self.need(False, str(error))

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """The output has no gradient: diffs are 0."""
        for blob, needed in zip(bottom, propagate_down):
            if needed:
                blob.diff.fill(0)
