"""MATLAB files for tests, written from the description of their format alone."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

TYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 9, "i8": 12, "u8": 13}
KINDS = {"f8": 6, "f4": 7, "i1": 8, "u1": 9, "i2": 10, "u2": 11, "i4": 12, "u4": 13, "i8": 14, "u8": 15}


def element(kind: int, data: bytes, order: str) -> bytes:
    if 0 < len(data) <= 4:
        return struct.pack(order + "I", len(data) << 16 | kind) + data.ljust(4, b"\0")
    return struct.pack(order + "II", kind, len(data)) + data + bytes(-len(data) % 8)


def array(name: str, value: Any, order: str) -> bytes:
    """The bytes of an array of numbers, a text or (a dict) a struct."""

    def head(kind: int, shape: tuple[int, ...]) -> bytes:
        sizes = struct.pack(f"{order}{len(shape)}i", *shape)
        flags = element(6, struct.pack(order + "II", kind, 0), order)
        return flags + element(5, sizes, order) + element(1, name.encode(), order)

    if isinstance(value, dict):
        names = b"".join(key.encode().ljust(32, b"\0") for key in value)
        body = head(2, (1, 1)) + element(5, struct.pack(order + "i", 32), order) + element(1, names, order)
        body += b"".join(array("", part, order) for part in value.values())
    elif isinstance(value, str):
        body = head(4, (1, len(value))) + element(4, value.encode("utf-16-le"), order)
    else:
        code = value.dtype.str[1:]
        data = value.astype(value.dtype.newbyteorder(order)).tobytes(order="F")
        body = head(KINDS[code], value.shape) + element(TYPES[code], data, order)
    return element(14, body, order)


def write_mat(path: Path, compress: bool = False, order: str = "<", **variables: Any) -> Path:
    """Writes variables: arrays of two dimensions, texts, and structs of these as dicts."""
    parts = [array(name, value, order) for name, value in variables.items()]
    if compress:
        packed = [zlib.compress(part) for part in parts]
        parts = [struct.pack(order + "II", 15, len(part)) + part for part in packed]
    mark = struct.pack(order + "H", 0x100) + (b"IM" if order == "<" else b"MI")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"MATLAB 5.0 MAT-file, of a test".ljust(124) + mark + b"".join(parts))
    return path
