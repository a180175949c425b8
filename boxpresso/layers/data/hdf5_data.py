"""HDF5Data: batches of rows from HDF5 files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.errors import DataError
from ...data.hdf5 import Rows
from ...device import Blob
from ..core import Layer


class HDF5Data(Layer, type="HDF5Data", param=("hdf5_data_param", "transform_param"), bottoms=0, tops=(1, None)):
    """Batches of rows from HDF5 files: one top for each data set, which has the name of the top.

    Rows come in turn, through all files, round after round. `shuffle` draws another order of the files, and of the rows
    in each file, for each round. Set `batch_number`, the number of the next batch, to resume.

    Parameters
    ----------
    hdf5_data_param
        Such as hdf5_data_param { source: "files.txt" batch_size: 64 shuffle: true }.
        `source` (required): a text file that lists HDF5 files, one per line. `batch_size` (required). `shuffle`
        (false).
    transform_param
        Not supported: it is refused.

    Returns
    -------
    top 0, ...
        (batch, ...), the rows of each data set.

    Raises
    ------
    LayerError
        For a missing source or batch_size, a transform_param, or files that cannot be read or do not fit together.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "HDF5Data" hdf5_data_param { source: "files.txt" }')
    Traceback (most recent call last):
        ...
    boxpresso.proto.errors.LayerError: HDF5Data layer 'layer': batch_size must be 1 or more, got 0
    """

    _share = (0, 1)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.hdf5_data_param
        self.need(param.source, "give hdf5_data_param { source: .. }, the list of HDF5 files")
        self.need(param.batch_size > 0, f"batch_size must be 1 or more, got {param.batch_size}")
        self.need(
            not self.param.HasField("transform_param"), "HDF5Data has no transform_param; transform before saving"
        )
        seed = int(self.rng.integers(2**31))
        try:
            self.rows = Rows(param.source, list(self.param.top), param.shuffle, seed, self.dtype)
        except DataError as error:
            self.need(False, str(error))
        for blob, shape in zip(top, self.rows.shapes):
            blob.reshape(param.batch_size, *shape)

    @property
    def batch_number(self) -> int:
        return int(self.rows.taken // (self.param.hdf5_data_param.batch_size * self._share[1]))

    @batch_number.setter
    def batch_number(self, number: int) -> None:
        rank, ranks = self._share
        self.rows.seek((number * ranks + rank) * self.param.hdf5_data_param.batch_size)

    def share(self, rank: int, size: int) -> None:
        """Takes every `size`-th batch, beginning with batch `rank`."""
        number, self._share = self.batch_number, (rank, size)
        self.batch_number = number

    def reseed(self, seed: int | Sequence[int]) -> None:
        """Keeps its seed, which shuffles the rows for all ranks alike."""

    def resume(self, passes: int) -> None:
        super().resume(passes)
        self.batch_number = passes

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The tops keep the shapes of the files."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, ranks = self.param.hdf5_data_param.batch_size, self._share[1]
        try:
            arrays = self.rows.take(batch)
            self.rows.skip((ranks - 1) * batch)
        except DataError as error:
            self.need(False, str(error))
        for blob, array in zip(top, arrays):
            blob.data[...] = np.asarray(array)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is no bottom."""
