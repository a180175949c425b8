"""Records: LMDB files of Caffe's Datum and AnnotatedDatum, and boxes as arrays."""

from __future__ import annotations

import glob
import math
import os
import shutil
import threading
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ..proto import AnnotatedDatum, Datum, files
from .errors import BrokenRecord, DataError, extra
from .lmdb_file import LmdbFile
from .picture import decode

BOX = ("label", "instance", "xmin", "ymin", "xmax", "ymax", "difficult")  # the columns of boxes, float32 (N, 7)
State = tuple[int, ...]
_open: weakref.WeakValueDictionary[str, Records] = weakref.WeakValueDictionary()
_opening = threading.Lock()


class Records:
    """The values of an LMDB in the order of its keys: `records[i]` is bytes, from any thread.

    Raises DataError that names the path when no LMDB is there, or an empty one.
    """

    def __init__(self, path: str) -> None:
        if not os.path.exists(path):
            raise DataError(f"there is no LMDB at {path!r}; write one with `boxpresso convert`, or correct the source")
        if os.path.isdir(path) and not os.path.exists(os.path.join(path, "data.mdb")):
            kind = "LevelDB, which is not read here" if (Path(path) / "CURRENT").exists() else "folder without data.mdb"
            raise DataError(f"{path!r} is a {kind}; write an LMDB with `boxpresso convert`")
        self.path, self.state, self.file = path, state_of(path), LmdbFile(path)
        if not len(self.file):
            raise DataError(f"the LMDB {path!r} is empty")

    def __reduce__(self) -> Any:
        """Pickled as its path: another process opens the LMDB itself."""
        return open_records, (self.path, self.state)

    def __len__(self) -> int:
        return len(self.file)

    def __getitem__(self, index: int) -> bytes:
        return self.file.value(index)

    def name(self, index: int) -> str:
        """What to call a record in a message."""
        return f"record {index} ({self.file.key(index).decode('utf-8', 'replace')}) of {self.path}"


def state_of(path: str) -> State:
    """What tells an LMDB from one that has taken its place: where its file lies, its size and when it was written."""
    try:
        seen = os.stat(os.path.join(path, "data.mdb") if os.path.isdir(path) else path)
    except OSError:
        return ()
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns


def open_records(path: str, state: State | None = None) -> Records:
    """The Records at a path. Open ones are shared: each goes through the whole tree of its LMDB once.

    Raises
    ------
    DataError: there is no LMDB, or with `state` another one than that which had this `state_of`.
    """
    with _opening:
        real = os.path.realpath(path)
        records = _open.get(real)
        if records is None or records.state != state_of(path):  # another has its place now
            records = _open[real] = Records(path)
        if state is not None and records.state != state:
            raise DataError(f"the LMDB {path!r} was written anew since it was opened; make the net anew")
        return records


def write_records(path: str | os.PathLike[str], records: Iterable[tuple[str, bytes]]) -> int:
    """Writes records (key, value) as a new LMDB folder, and returns their number.

    The LMDB is written to a folder beside `path` that is renamed at the end, so that a partial one is never read.

    Raises
    ------
    DataError: `path` exists or cannot be written, or the package lmdb is missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     count = write_records(f"{folder}/lmdb", [("0", b"zero"), ("1", b"one")])
    ...     records = open_records(f"{folder}/lmdb")
    ...     count, len(records), records[1]
    (2, 2, b'one')
    """
    lmdb = extra("lmdb")
    to = Path(path)
    if to.exists():
        raise DataError(f"{to} exists already; remove it, or name another")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        files.sweep(to.parent.glob(f"{glob.escape(to.name)}.*.partial"))
        partial = files.beside(to, ".partial")
        partial.mkdir()
    except OSError as error:
        raise DataError(f"cannot write the LMDB {to}: {error.strerror or error}") from error
    size, count = 1 << 26, 0
    env: Any = None
    waiting: list[tuple[bytes, bytes]] = []

    def flush() -> None:
        nonlocal size
        while True:
            try:
                with env.begin(write=True) as change:
                    for key, value in waiting:
                        change.put(key, value)
                break
            except lmdb.MapFullError:
                size *= 2
                env.set_mapsize(size)
        waiting.clear()

    try:
        env = lmdb.open(os.fsencode(partial), map_size=size, sync=False)
        for key, value in records:
            waiting.append((key.encode("utf-8", "replace"), value))
            count += 1
            if len(waiting) == 256:
                flush()
        flush()
        env.sync(True)
        env.close()
        partial.rename(to)
    except BaseException as error:
        if env is not None:
            env.close()
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, (lmdb.Error, OSError)):
            raise DataError(f"cannot write the LMDB {to}: {error}") from error
        raise
    return count


def parse(message: Any, data: bytes, name: str) -> Any:
    """A Datum or AnnotatedDatum from bytes. Raises BrokenRecord that names the record."""
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise BrokenRecord(
            f"{name} is not of the type {type(message).__name__}: its {len(data)} bytes cannot be parsed"
        ) from None
    return message


def picture_of(datum: Datum, color: bool | None, name: str) -> np.ndarray:
    """The picture in a Datum.

    Parameters
    ----------
    color : as for `decode`, of an encoded picture.
    name : of the record, for errors.

    Returns
    -------
    (H, W, C), uint8, or float32 where the Datum holds floats.

    Raises
    ------
    BrokenRecord: a picture that cannot be decoded, or values that do not fit the shape. DataError: one that is not encoded
    and has other channels than `color` says.

    Examples
    --------
    >>> import numpy as np
    >>> picture_of(make_datum(np.zeros((2, 3, 1), np.uint8)), None, "it").shape
    (2, 3, 1)
    """
    if datum.encoded:
        return decode(datum.data, color, name)
    if color is not None and datum.channels != (3 if color else 1):
        raise DataError(
            f"it is not encoded and has {datum.channels} channels; force_color and force_gray change encoded pictures only"
        )
    shape = (datum.channels, datum.height, datum.width)
    values = np.frombuffer(datum.data, np.uint8) if datum.data else np.array(datum.float_data, np.float32)
    if values.size != math.prod(shape) or min(shape) < 1:
        raise BrokenRecord(f"{name} holds {values.size} values, its shape {shape} needs {math.prod(shape)}")
    return np.asarray(values.reshape(shape).transpose(1, 2, 0))


def make_datum(picture: np.ndarray | bytes, label: int | None = None) -> Datum:
    """A Datum of a picture (H, W, C), or of the bytes of a picture file, which stay encoded."""
    if isinstance(picture, bytes):
        datum = Datum(data=picture, encoded=True)
    else:
        height, width, channels = picture.shape
        datum = Datum(channels=channels, height=height, width=width)
        planes = np.ascontiguousarray(picture.transpose(2, 0, 1))
        if picture.dtype == np.uint8:
            datum.data = planes.tobytes()
        else:
            datum.float_data.extend(planes.ravel().tolist())
    if label is not None:
        datum.label = label
    return datum


def make_annotated(datum: Datum, boxes: np.ndarray) -> AnnotatedDatum:
    """An AnnotatedDatum from boxes (N, 7) as in `BOX`, grouped by label in the order in which labels appear."""
    annotated = AnnotatedDatum(datum=datum, type=AnnotatedDatum.BBOX)
    groups: dict[int, Any] = {}
    for label, instance, xmin, ymin, xmax, ymax, difficult in boxes.tolist():
        group = groups.get(int(label))
        if group is None:
            group = groups[int(label)] = annotated.annotation_group.add(group_label=int(label))
        one = group.annotation.add(instance_id=int(instance))
        one.bbox.xmin, one.bbox.ymin, one.bbox.xmax, one.bbox.ymax = xmin, ymin, xmax, ymax
        one.bbox.difficult = bool(difficult)
    return annotated


def boxes_of(annotated: AnnotatedDatum) -> np.ndarray:
    """The boxes of an AnnotatedDatum, float32 (N, 7) as in `BOX`."""
    rows = [
        (g.group_label, a.instance_id, a.bbox.xmin, a.bbox.ymin, a.bbox.xmax, a.bbox.ymax, a.bbox.difficult)
        for g in annotated.annotation_group
        for a in g.annotation
    ]
    return np.array(rows, np.float32).reshape(-1, 7)
