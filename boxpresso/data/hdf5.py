"""HDF5 files as Caffe's layers have them: data sets whose rows belong together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..proto.errors import ModelError
from ..proto.hdf5 import Reader
from .errors import DataError, extra
from .lines import read_lines, words_of

KEPT = 2**26  # bytes of all files, as far as each is small


class Rows:
    """The rows of data sets in the HDF5 files that a text lists, in order or shuffled, endlessly.

    names: the data sets. `shapes`: of one row of each. One file is in memory at a time, as `dtype`, beside small ones.
    """

    def __init__(self, source: str, names: Sequence[str], shuffle: bool, seed: int, dtype: Any) -> None:
        self.h5py = extra("h5py")
        lines = read_lines(source, "the list of HDF5 files", "list HDF5 files, one per line")
        self.files = [line.strip() for line in lines if line.strip()]
        for number, line in enumerate(lines, 1):
            if line.strip() and not os.path.exists(
                line.strip()
            ):  # any text may have been named by mistake: it is not quoted
                raise DataError(
                    f"{source}, line {number}, which must name an HDF5 file, has {words_of(line)}: no file there"
                )
        if not self.files:
            raise DataError(f"{source!r} lists no HDF5 file")
        self.names, self.shuffle, self.seed, self.dtype = list(names), shuffle, seed, np.dtype(dtype)
        self.file, self.row, self.turn, self.taken = 0, 0, 0, 0
        self.arrays: list[np.ndarray] = []
        self.loaded = ""
        self.small_files: dict[str, list[np.ndarray]] = {}  # small files, which a large batch goes through many times
        self.began, self.round = 0, 0  # the rows before this round, and those of a whole one, once that is known
        self._load()
        self.shapes = [array.shape[1:] for array in self.arrays]

    def _load(self) -> None:
        files: Any = self.files
        if self.shuffle:
            files = [self.files[i] for i in np.random.default_rng([self.seed, self.turn]).permutation(len(self.files))]
        path = files[self.file]
        if path == self.loaded and not self.shuffle:
            return
        arrays = self.small_files.get(path) or self._read(path)
        if sum(array.nbytes for array in arrays) <= KEPT // len(self.files):
            self.small_files[path] = arrays
        if self.arrays and [a.shape[1:] for a in arrays] != self.shapes:
            raise DataError(
                f"rows of {path!r} have the shapes {[a.shape[1:] for a in arrays]}, before it {self.shapes}"
            )
        if self.shuffle:
            rows = np.random.default_rng([self.seed, self.turn, 1 + self.file]).permutation(len(arrays[0]))
            arrays = [array[rows] for array in arrays]
        self.arrays, self.loaded = arrays, path

    def _read(self, path: str) -> list[np.ndarray]:
        """The arrays of a file. Raises DataError."""
        try:
            with Reader(path) as reader:
                sets = {name: reader.get(reader.file, name) for name in self.names}
                missing = [name for name in self.names if sets[name] is None]
                if missing:
                    raise DataError(
                        f"{path!r} has no data set {missing[0]!r}; it has {', '.join(sorted(reader.file)) or 'none'}"
                    )
                arrays = [reader.read(sets[name], f"the data set {name!r}", self.dtype) for name in self.names]
        except ModelError as error:
            raise DataError(f"cannot read the HDF5 file {path!r}: {error}") from error
        counts = {name: array.shape[:1] for name, array in zip(self.names, arrays)}
        if len(set(counts.values())) != 1 or () in counts.values() or (0,) in counts.values():
            raise DataError(f"the data sets of {path!r} must have one number of rows, above 0: got {counts}")
        return arrays

    def seek(self, row: int) -> None:
        """The next row to take, counted from the first row of the first round."""
        self.file, self.row, self.turn, self.taken, self.began = 0, 0, 0, 0, 0
        self._load()
        self.skip(row)

    def skip(self, rows: int) -> None:
        """Skips so many rows."""
        end = self.taken + rows
        while self.taken < end:
            rounds = (end - self.taken) // self.round if self.round and self.taken == self.began else 0
            if rounds:
                self.turn, self.taken = self.turn + rounds, self.taken + rounds * self.round
                self.began = self.taken
                self._load()
                continue
            self._advance(min(end - self.taken, len(self.arrays[0]) - self.row))

    def _advance(self, rows: int) -> None:
        self.row, self.taken = self.row + rows, self.taken + rows
        if self.row == len(self.arrays[0]):
            self.row, self.file = 0, self.file + 1
            if self.file == len(self.files):
                self.file, self.turn = 0, self.turn + 1
                self.round, self.began = self.taken - self.began, self.taken
            self._load()

    def take(self, count: int) -> list[np.ndarray]:
        """The next rows of each data set, (count, ...)."""
        output = [np.empty((count, *shape), self.dtype) for shape in self.shapes]
        done = 0
        while done < count:
            part = min(count - done, len(self.arrays[0]) - self.row)
            for to, array in zip(output, self.arrays):
                to[done : done + part] = array[self.row : self.row + part]
            done += part
            self._advance(part)
        return output


class Writer:
    """Adds rows to data sets of an HDF5 file, which is overwritten when the first rows are added."""

    def __init__(self, path: str, names: Sequence[str]) -> None:
        self.h5py = extra("h5py")
        self.path, self.names, self.begun = path, names, False
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise DataError(f"there is no folder {folder!r} to write {os.path.basename(path)!r} into")

    def add(self, arrays: Sequence[np.ndarray]) -> None:
        """Rows for each data set, (N, ...) with the shapes of those before."""
        try:
            with self.h5py.File(self.path, "a" if self.begun else "w") as opened:
                for name, array in zip(self.names, arrays):
                    if name not in opened:
                        opened.create_dataset(name, data=array, maxshape=(None, *array.shape[1:]), chunks=True)
                        continue
                    to = opened[name]
                    if to.shape[1:] != array.shape[1:]:
                        raise DataError(
                            f"rows of {name!r} have the shape {array.shape[1:]}, in {self.path!r} {to.shape[1:]}"
                        )
                    to.resize(to.shape[0] + array.shape[0], axis=0)
                    to[to.shape[0] - array.shape[0] :] = array
        except OSError as error:
            raise DataError(f"cannot write {self.path!r}: {error}") from error
        self.begun = True
