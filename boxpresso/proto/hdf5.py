"""HDF5 files from elsewhere: what is read from them lies in them, and is no larger than their size allows.

HDF5 can keep the values of a data set in other files: behind an external link, in external storage, or as a virtual data set.
All three are refused, because such a file would read any file of the user's into weights or data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from .errors import BoxpressoError, ModelError
from .limits import LIMITS

DEPTH = 100  # of groups in groups


def import_h5py(path: str) -> Any:
    """The module h5py. Raises ModelError, which names the file, where it is not installed."""
    try:
        import h5py
    except ImportError as error:
        raise ModelError(f"{path} is HDF5, which needs h5py: pip install h5py") from error
    return h5py


class Reader:
    """An open HDF5 file, for `with`.

    Raises ModelError for a file that cannot be read, that reaches into other files, or that asks for too much memory;
    inside the block, for any error of the library too.
    """

    def __init__(self, path: str) -> None:
        self.path, self.h5py = path, import_h5py(path)
        self.file: Any = None
        self.taken = self.most = 0

    def __enter__(self) -> Reader:
        try:
            self.most = LIMITS.expanded(os.stat(self.path).st_size)
            self.file = self.h5py.File(self.path, "r")
        except Exception as error:
            raise self.damaged(error) from error
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with suppress(Exception):  # a damaged file may fail here again
            self.file.close()
        if isinstance(error, Exception) and not isinstance(error, BoxpressoError):
            raise self.damaged(error) from error

    def damaged(self, error: BaseException) -> ModelError:
        why = str(error) or type(error).__name__
        return ModelError(f"{self.path} is an incomplete HDF5 file: {why}; fetch or save it again")

    def check_link(self, group: Any, name: str) -> None:
        """Raises ModelError for a link that leads into another file."""
        link = group.get(name, getlink=True)
        if isinstance(link, self.h5py.ExternalLink):
            raise ModelError(
                f"{self.path}: {group.name}/{name} is a link into another file, {link.filename!r}; that is not followed"
            )

    def get(self, group: Any, name: str) -> Any:
        """A member of a group, None where it is missing."""
        for part in name.strip("/").split("/"):
            if not isinstance(group, self.h5py.Group) or group.get(part, getlink=True) is None:
                return None
            self.check_link(group, part)
            group = group[part]
        return group

    def members(self, group: Any) -> Iterator[tuple[str, Any]]:
        """(name, group or data set) of each member of a group, by name."""
        for name in group:
            self.check_link(group, name)
            yield name, group[name]

    def read(self, dataset: Any, subject: str, dtype: Any = None) -> np.ndarray[Any, Any]:
        """The values of a data set of numbers. `subject` names it in errors."""
        if not isinstance(dataset, self.h5py.Dataset):
            raise ModelError(f"{self.path}: {subject} is not a data set")
        if dataset.external or dataset.is_virtual:
            raise ModelError(f"{self.path}: {subject} keeps its values in other files; those are not read")
        if dataset.dtype.kind not in "fiub" or dataset.shape is None:
            raise ModelError(f"{self.path}: {subject} is {dataset.dtype}; it should be numbers")
        itemsize = max(dataset.dtype.itemsize, np.dtype(dtype).itemsize if dtype is not None else 0)
        self.taken += dataset.size * itemsize
        if self.taken > self.most:
            raise ModelError(
                f"{self.path}: {subject} of shape {dataset.shape} makes {self.taken} bytes of a file of "
                f"{os.stat(self.path).st_size}; {LIMITS.advice('expansion_factor')}"
            )
        values = np.asarray(dataset[()])
        return values if dtype is None else values.astype(dtype, copy=False)

    def text(self, dataset: Any, subject: str) -> str | None:
        """The text in a data set of one string of fixed length, as Caffe writes it.

        None for one of variable length: the library looks for those in a heap, and in a damaged one for ever.
        """
        if (
            not isinstance(dataset, self.h5py.Dataset)
            or dataset.external
            or dataset.is_virtual
            or dataset.shape not in ((), (1,))
        ):
            raise ModelError(f"{self.path}: {subject} is not a text")
        if dataset.dtype.kind != "S":
            return None
        value = np.ravel(np.asarray(dataset[()]))[0]
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def address(self, group: Any) -> object:
        """What tells whether two names lead to the same group."""
        info = self.h5py.h5o.get_info(group.id)
        return info.fileno, info.addr
