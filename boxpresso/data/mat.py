"""Arrays of numbers from MATLAB's files of version 5 to 7 (.mat): what data sets of segmentation keep their labels in."""

from __future__ import annotations

import math
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ..proto.errors import ModelError
from ..proto.limits import LIMITS
from ..proto.reading import read_file
from .errors import BrokenRecord

MATRIX, COMPRESSED = 14, 15  # types of elements
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}  # as stored
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}  # as meant
STRUCT = 2
DIMENSIONS = 32  # of one array, at most


@dataclass
class Matrix:
    """An array, cell or struct of a file, before its contents are read.

    Attributes
    ----------
    kind
        MATLAB's class: 1 a cell, 2 a struct, 4 text, 5 sparse, 6 to 15 numbers.
    shape
        Its size in each dimension.
    name
        Of the variable; empty for what is inside another.
    rest
        The elements after the name.
    order
        "<" or ">", of the file.
    """

    kind: int
    shape: tuple[int, ...]
    name: str
    rest: Iterator[tuple[int, memoryview]]
    order: str

    def numbers(self) -> np.ndarray:
        """Its values. Raises BrokenRecord where it holds none."""
        if self.kind not in CLASSES:
            raise BrokenRecord(f"the variable {self.name!r} holds no numbers (class {self.kind})")
        stored, data = next(self.rest, (0, memoryview(b"")))
        if stored not in NUMBERS:
            raise BrokenRecord(f"the numbers of {self.name!r} are of the unknown type {stored}")
        dtype = np.dtype(self.order + NUMBERS[stored])
        if len(data) != math.prod(self.shape) * dtype.itemsize:
            raise BrokenRecord(
                f"{self.name!r} has the size {self.shape}, but {len(data)} bytes of {dtype.itemsize} each"
            )
        return np.frombuffer(data, dtype).reshape(self.shape, order="F").astype(CLASSES[self.kind])

    def field(self, name: str) -> Matrix:
        """A field of the first element of a struct. Raises BrokenRecord where there is none."""
        if self.kind != STRUCT or not math.prod(self.shape):
            raise BrokenRecord(f"{self.name!r} is no struct with a field {name!r}")
        (_, long), (_, text) = (next(self.rest, (0, memoryview(b""))) for _ in range(2))
        length = int.from_bytes(long[:4], "little" if self.order == "<" else "big")
        if length < 1:
            raise BrokenRecord(f"the struct {self.name!r} has no fields")
        names = [bytes(text[at : at + length]).split(b"\0")[0].decode("latin-1") for at in range(0, len(text), length)]
        if name not in names:
            raise BrokenRecord(f"the struct {self.name!r} has no field {name!r}; it has {', '.join(names) or 'none'}")
        for at, (kind, data) in enumerate(self.rest):
            if at == names.index(name):
                value = matrix(data, self.order) if kind == MATRIX else None
                if value is not None:
                    value.name = f"{self.name}.{name}"
                    return value
                break
        raise BrokenRecord(f"the file ends before {self.name}.{name}")


def read_mat(path: str | os.PathLike[str], *names: str) -> np.ndarray:
    """The numbers of a variable of a MATLAB file, or of a field of a struct.

    Parameters
    ----------
    path
        A file of version 5 to 7, compressed or not.
    names
        The variable, then fields of structs inside it; of an array of structs the first is taken.

    Returns
    -------
    numpy array
        Of the shape and type that MATLAB shows; the imaginary part of complex numbers is left out.

    Raises
    ------
    BrokenRecord
        The file cannot be read, is of another version (7.3 is HDF5), is broken or becomes too large; there is no such
        variable or field, or it holds no numbers.

    Source
    ------
    MathWorks, "MAT-File Format".
    """
    try:
        raw = read_file(path)
        return walk(raw, names)
    except ModelError as error:
        raise BrokenRecord(str(error)) from error
    except BrokenRecord as error:
        raise BrokenRecord(f"{os.fspath(path)}: {error}") from error


def walk(raw: bytes, names: tuple[str, ...]) -> np.ndarray:
    """The same of the bytes of a file."""
    mark = raw[126:128]
    order = {b"IM": "<", b"MI": ">"}.get(mark, "")
    if raw[:10] == b"MATLAB 7.3" or raw[:8] == b"\x89HDF\r\n\x1a\n":
        raise BrokenRecord("it is a MATLAB file of version 7.3, which is not read; save it with '-v7'")
    if not order or struct.unpack(order + "H", raw[124:126])[0] != 0x100:
        raise BrokenRecord("it is not a MATLAB file of version 5 to 7")
    there, room = [], LIMITS.expanded(len(raw))
    for kind, data in elements(memoryview(raw)[128:], order):
        if kind == COMPRESSED:
            whole = inflated(data, room)
            room -= len(whole)
            kind, data = next(elements(memoryview(whole), order), (0, memoryview(b"")))
        value = matrix(data, order) if kind == MATRIX else None
        if value is None:
            continue
        if value.name == names[0]:
            for name in names[1:]:
                value = value.field(name)
            return value.numbers()
        there.append(value.name)
    raise BrokenRecord(f"it has no variable {names[0]!r}; it has {', '.join(there) or 'none'}")


def inflated(data: memoryview, room: int) -> bytes:
    """The bytes of a compressed element, at most `room`."""
    tool = zlib.decompressobj()
    try:
        whole = tool.decompress(data, max(room, 1))
    except zlib.error as error:
        raise BrokenRecord(f"it is broken: {error}") from error
    if tool.unconsumed_tail:
        raise BrokenRecord(f"it becomes more than {room} bytes; {LIMITS.advice('expansion_factor')}")
    return whole


def elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """The elements (type, bytes) that follow each other; small ones have both in eight bytes."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind >> 16:
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
            if size > 4:
                raise BrokenRecord(f"it is broken: a small element of {size} bytes")
            at += 8
        else:
            start = at + 8
            at = start + size + (0 if kind == COMPRESSED else -size % 8)
        if start + size > len(data):
            raise BrokenRecord("the file ends inside an element")
        yield kind, data[start : start + size]


def matrix(data: memoryview, order: str) -> Matrix | None:
    """The head of an array; None for an empty element."""
    parts = elements(data, order)
    head = [bytes(part) for _, part in islice(parts, 3)]
    if not head:
        return None
    if len(head) < 3 or len(head[0]) < 4 or len(head[1]) > 4 * DIMENSIONS or len(head[1]) % 4:
        raise BrokenRecord("the file ends inside the head of an array")
    flags = struct.unpack(order + "I", head[0][:4])[0]
    shape = struct.unpack(f"{order}{len(head[1]) // 4}i", head[1])
    if any(side < 0 for side in shape):
        raise BrokenRecord(f"an array has the size {shape}")
    return Matrix(flags & 0xFF, shape, head[2].decode("latin-1"), parts, order)
