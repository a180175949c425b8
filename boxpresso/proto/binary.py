"""Caffe's binary files: the weights in a .caffemodel and the mean image in a .binaryproto, of any age and any fork.

Protobuf's wire format is read by hand here. What is needed is tiny (a layer's name, type and blobs; their numbers agree
in all forks, most others do not), values stay in the file's bytes instead of passing through Python
lists (100 MB: 1.8 s with protobuf 4.25, 0.05 s here), and an error can name the layer and the byte of a broken file.

    https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from typing import Union

import numpy as np

from .errors import ModelError
from .limits import LIMITS
from .reading import FilePath, read_file
from .signatures import what_is
from .upgrade import layer_type_of_v0, layer_type_of_v1

Part = Union[bytes, memoryview]

LIMIT = 2**31 - 1  # elements of a blob, and bytes of a protobuf message
AXES = 32  # of a blob: Caffe's kMaxBlobAxes
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
WIDTH = {FIXED64: 8, FIXED32: 4}


@dataclass(frozen=True)
class LayerWeights:
    """The learned blobs of one layer of a file; None for a blob that HDF5 leaves to the layer that owns it."""

    name: str
    type: str | None = None  # today's name; None where the file does not tell
    blobs: list[np.ndarray | None] = field(default_factory=list)


# Bytes to fields


class Broken(Exception):
    """The bytes are not what they should be. The reader of the file says which file, and what to do."""


class TooMany(Broken):
    """There is more of something than the limits allow."""


class Overrun(Broken):
    """A field wants more bytes than there are."""

    def __init__(self, number: int, at: int, wants: int, left: int) -> None:
        super().__init__(f"field {number} at byte {at} wants {wants} bytes, {left} are left")
        self.number, self.at, self.wants, self.left = number, at, wants, left


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number that starts at byte `at`, and where the next thing starts."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
        shift += 7
        if shift == 70:
            raise Broken(f"the number before byte {at} has no end")
    raise Broken(f"it ends inside a number, at byte {end}")


class Budget:
    """How many more fields a file may have: the time for one is the same, however short it is."""

    def __init__(self) -> None:
        self.left, self.layers = LIMITS.weight_fields, 4 * LIMITS.layers  # Splits are layers too

    def take(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooMany(f"it has more than {LIMITS.weight_fields} fields; {LIMITS.advice('weight_fields')}")

    def take_layer(self) -> None:
        self.layers -= 1
        if self.layers < 0:
            raise TooMany(f"it has more than {4 * LIMITS.layers} layers; {LIMITS.advice('layers')}")


def fields(data: bytes, at: int, end: int, budget: Budget) -> Iterator[tuple[int, int, int, int]]:
    """(number, wire type, first byte, end) of each field of the message in data[at:end]."""
    while at < end:
        budget.take()
        tag, begin = varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            _, stop = varint(data, begin, end)
        elif wire == BYTES:
            size, begin = varint(data, begin, end)
            stop = begin + size
        elif wire in WIDTH:
            stop = begin + WIDTH[wire]
        else:
            raise Broken(f"byte {at} starts a field of a kind that Caffe never writes (wire type {wire})")
        if number == 0:
            raise Broken(f"byte {at} starts a field with the number 0")
        if stop > end:
            raise Overrun(number, begin, stop - begin, end - begin)
        yield number, wire, begin, stop
        at = stop


# Fields to weights


@dataclass(frozen=True)
class Era:
    """The field numbers of a layer, and of the list of layers in the net."""

    layers: int
    name: int
    type: int
    blobs: int


TODAY = Era(layers=100, name=1, type=2, blobs=7)  # NetParameter.layer: LayerParameter
V1 = Era(layers=2, name=4, type=5, blobs=6)  # NetParameter.layers: V1LayerParameter
V0 = Era(layers=1, name=1, type=2, blobs=50)  # V1LayerParameter.layer: V0LayerParameter
ERAS = {era.layers: era for era in (TODAY, V1)}


def parse_weights(data: bytes) -> tuple[str, list[LayerWeights]]:
    """The net's name and its layers, in the file's order; the arrays are read-only views of `data`. Raises Broken.

    If there are V1 layers they count and today's do not, as in Caffe.
    """
    name, budget = "", Budget()
    layers: dict[Era, list[LayerWeights]] = {TODAY: [], V1: []}
    for number, wire, at, end in _whole_layers(data, budget):
        era = ERAS.get(number)
        if number == 1 and wire == BYTES:
            name = _text(data, at, end)
        elif era is not None and wire == BYTES:
            budget.take_layer()
            try:
                layers[era].append(_layer(data, at, end, era, budget))
            except TooMany:
                raise
            except Broken as broken:
                where = f"layer {len(layers[era])} {_label(data, at, end, era)}"
                raise Broken(f"{where} at byte {at}: {broken}") from None
    return name, layers[V1] or layers[TODAY]


def check_count(data: bytes, number: int) -> None:
    """Raises TooMany where the message in `data` has more fields, or more messages `number` in it, than the limits allow."""
    budget = Budget()
    with suppress(Overrun):
        for field, wire, at, end in fields(data, 0, len(data), budget):
            if field == number and wire == BYTES:
                budget.take_layer()
                for _ in fields(data, at, end, budget):
                    pass


def _whole_layers(data: bytes, budget: Budget) -> Iterator[tuple[int, int, int, int]]:
    """The fields of a net; a file that stops inside one says in which layer."""
    count = 0
    try:
        for item in fields(data, 0, len(data), budget):
            count += item[0] in ERAS
            yield item
    except Overrun as short:
        if short.number not in ERAS:
            raise
        label = _label(data, short.at, len(data), ERAS[short.number])
        raise Broken(
            f"truncated: layer {count} {label} at byte {short.at} wants {short.wants} bytes, {short.left} are left"
        ) from None


def _layer(data: bytes, begin: int, end: int, era: Era, budget: Budget) -> LayerWeights:
    name, kind = "", None
    blobs: list[np.ndarray | None] = []
    for number, wire, at, stop in fields(data, begin, end, budget):
        if era is V1 and number == V0.layers and wire == BYTES:
            return _layer(data, at, stop, V0, budget)
        if number == era.name and wire == BYTES:
            name = _text(data, at, stop)
        elif number == era.type and wire in (BYTES, VARINT):
            kind = _type(data, at, stop, wire, era)
        elif number == era.blobs and wire == BYTES:
            try:
                blobs.append(parse_blob(data, at, stop, budget))
            except TooMany:
                raise
            except Broken as broken:
                raise Broken(f"blob {len(blobs)}: {broken}") from None
    return LayerWeights(name, kind, blobs)


def _type(data: bytes, at: int, end: int, wire: int, era: Era) -> str | None:
    """Today's name of the layer's type; forks' numbers that no schema knows give None."""
    with suppress(ModelError):
        if wire == VARINT:
            return layer_type_of_v1(varint(data, at, end)[0])
        return layer_type_of_v0(_text(data, at, end)) if era is V0 else _text(data, at, end)
    return None


def _label(data: bytes, begin: int, end: int, era: Era) -> str:
    """The name of a layer that cannot be read to its end, for messages."""
    with suppress(Broken):
        for number, wire, at, stop in fields(data, begin, end, Budget()):
            if era is V1 and number == V0.layers and wire == BYTES:
                return _label(data, at, stop, V0)
            if number == era.name and wire == BYTES:
                return repr(_text(data, at, stop))
    return "(name unknown)"


def _text(data: bytes, at: int, end: int) -> str:
    return data[at:end].decode("utf-8", "replace")


# BlobProto: num=1 channels=2 height=3 width=4 data=5 shape=7 double_data=8. Forks have added half precision: NVCaffe
# and OpenCV raw_data=12 of the type 10, Caffe's OpenCL branch packed_data=11 of the type 13. Others use the same
# numbers for other things, with other wire types.
DATA, SHAPE, DOUBLE_DATA = 5, 7, 8
LEGACY = (1, 2, 3, 4)
RAW = (12, 10, {0: "<f8", 1: "<f4", 2: "<f2"})
PACKED = (11, 13, {0: "<f4", 1: "<f2", 2: "<f8"})


def parse_blob(data: bytes, begin: int = 0, end: int | None = None, budget: Budget | None = None) -> np.ndarray:
    """The array of the BlobProto in data[begin:end]: float32, float64 or float16, as it is stored. Raises Broken."""
    numbers: dict[int, int] = {}
    chunks: dict[int, list[tuple[int, int]]] = {}
    dims: list[int] = []
    budget = budget or Budget()
    for number, wire, at, stop in fields(data, begin, len(data) if end is None else end, budget):
        if wire == VARINT:
            numbers[number] = varint(data, at, stop)[0]
        elif number == SHAPE and wire == BYTES:
            dims += _dims(data, at, stop, budget)
            if len(dims) > AXES:
                raise Broken(f"the shape has more than {AXES} axes, Caffe's limit")
        else:
            chunks.setdefault(number, []).append((at, stop))
    shape = tuple(numbers.get(n, 0) for n in LEGACY) if any(n in numbers for n in LEGACY) else tuple(dims)
    if len(shape) > AXES or prod(max(size, 1) for size in shape) > LIMIT:
        raise Broken(f"the shape {shape} cannot be: Caffe's limits are 32 axes and 2^31 - 1 elements")
    values = _values(data, chunks, numbers)
    if values.size != prod(shape):
        hint = "" if values.size else " that can be read here (8-bit and other quantised forms are not)"
        raise Broken(f"the shape {shape} asks for {prod(shape)} values, but it holds {values.size}{hint}")
    return values.reshape(shape)


def _dims(data: bytes, begin: int, end: int, budget: Budget) -> list[int]:
    """BlobShape: dim=1, packed or one by one."""
    dims: list[int] = []
    for number, wire, at, stop in fields(data, begin, end, budget):
        while number == 1 and wire in (BYTES, VARINT) and at < stop and len(dims) <= AXES:
            dim, at = varint(data, at, stop)
            dims.append(dim)
    return dims


def _values(data: bytes, chunks: dict[int, list[tuple[int, int]]], numbers: dict[int, int]) -> np.ndarray:
    """The flat values: double_data if there is any, as in Caffe, then data, then the forks' raw forms."""
    for number, dtype in ((DOUBLE_DATA, "<f8"), (DATA, "<f4")):
        if number in chunks:
            return _array(data, chunks[number], dtype)
    for number, kind, dtypes in (RAW, PACKED):
        if number in chunks and numbers.get(kind) in dtypes:
            return _array(data, chunks[number][-1:], dtypes[numbers[kind]])
    return np.empty(0, np.float32)


def _array(data: bytes, spans: Sequence[tuple[int, int]], dtype: str) -> np.ndarray:
    """The values in the spans of bytes: a view when they lie in one piece, as in every file that Caffe writes."""
    if len(spans) > 1:
        data = b"".join([data[at:end] for at, end in spans])
        spans = [(0, len(data))]
    at, end = spans[0]
    count, rest = divmod(end - at, np.dtype(dtype).itemsize)
    if rest:
        raise Broken(f"its values take {end - at} bytes, which is not a multiple of the size of {np.dtype(dtype).name}")
    return np.frombuffer(data, dtype, count, at)


# Weights to bytes


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _message(number: int, *parts: Part) -> list[Part]:
    """Parts as one field of the kind that has a length; nothing is joined or copied."""
    return [_varint(number << 3 | BYTES) + _varint(sum(map(len, parts))), *parts]


def encode_net(name: str, layers: Iterable[Sequence[Part]]) -> list[Part]:
    """A NetParameter of layers that `encode_layer` made, as parts to be written one after another."""
    parts = _message(1, name.encode()) if name else []
    for layer in layers:
        parts += _message(TODAY.layers, *layer)
    return parts


def encode_layer(
    name: str, kind: str, bottoms: Iterable[str], tops: Iterable[str], blobs: Iterable[np.ndarray]
) -> list[Part]:
    """A LayerParameter in today's form, as parts. A float64 array becomes double_data, any other becomes float data."""
    texts = [(1, name), (2, kind), *((3, bottom) for bottom in bottoms), *((4, top) for top in tops)]
    parts = [part for number, text in texts for part in _message(number, text.encode())]
    for blob in blobs:
        shape = _message(SHAPE, *_message(1, *map(_varint, blob.shape)) if blob.ndim else [])
        double = blob.dtype == np.float64
        values = np.ascontiguousarray(blob, "<f8" if double else "<f4").reshape(-1).view(np.uint8).data
        body = [*shape, *_message(DOUBLE_DATA, values)] if double else [*_message(DATA, values), *shape]
        parts += _message(TODAY.blobs, *body)
    return parts


# Files


def read_blob(path: FilePath) -> np.ndarray:
    """The array in a .binaryproto (one BlobProto) or a .npy file, in the shape in which it is stored.

    Raises
    ------
    ModelError: the file cannot be read or is something else; the message says what.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/mean.npy", np.zeros((3, 2, 2)))
    ...     read_blob(f"{folder}/mean.npy").shape
    (3, 2, 2)
    """
    data = read_bytes(path)
    try:
        if data.startswith(b"\x93NUMPY"):
            return _parse_npy(data)
        kind = what_is(data)
        if kind and not kind.startswith("a mean image"):
            raise Broken(f"this is {kind}")
        return parse_blob(data)
    except (Broken, ValueError, EOFError, OSError) as error:
        raise ModelError(f"{os.fspath(path)} is not a .binaryproto or .npy that can be read: {error}") from None


def _parse_npy(data: bytes) -> np.ndarray:
    """The array of a .npy file. Raises Broken: its header may ask for anything, so it is held against what follows it."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
        if read is None:
            raise Broken(f"version {version} of .npy is not known")
        shape, by_columns, dtype = read(stream)
    except Broken:
        raise
    except Exception as error:  # the header is Python text, and fails in as many ways
        raise Broken(f"its header cannot be read ({str(error) or type(error).__name__})") from None
    if dtype.hasobject or not dtype.itemsize:
        raise Broken(f"it holds {dtype}; pickled objects are not read (allow_pickle is False)")
    if len(shape) > AXES or any(size < 0 for size in shape):
        raise Broken(f"its header says the shape {str(shape)[:100]}")
    wanted, there = prod(shape) * dtype.itemsize, len(data) - stream.tell()
    if wanted != there:
        raise Broken(f"its header asks for {wanted} bytes, {there} are there")
    values = np.frombuffer(data, dtype, prod(shape), stream.tell())
    return values.reshape(shape, order="F" if by_columns else "C")


def read_mean(path: FilePath) -> np.ndarray:
    """The mean image for `mean_file`.

    Returns
    -------
    (C, H, W), float32, or (C,) from a .npy with a mean per channel. Caffe's compute_image_mean writes (1, C, H, W); the first
    axis is dropped.

    Raises
    ------
    ModelError: the file cannot be read, or holds no array of such a shape.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/mean.npy", [104, 117, 123])
    ...     read_mean(f"{folder}/mean.npy").tolist()
    [104.0, 117.0, 123.0]
    """
    mean = read_blob(path)
    shape = mean.shape
    if mean.ndim == 4 and shape[0] == 1:
        mean = mean[0]
    if mean.ndim not in (1, 3) or mean.dtype.kind not in "fiu":
        raise ModelError(
            f"{os.fspath(path)} is not a mean image: it should be (C, H, W) numbers or (C,), it is {mean.dtype} {shape}"
        )
    return np.array(mean, np.float32)


def read_bytes(path: FilePath) -> bytes:
    """All of a file. Raises ModelError for one that cannot be read, is no regular file, or is empty."""
    data = read_file(path)
    if not data:
        raise ModelError(f"{os.fspath(path)} is empty; fetch or save it again")
    return data
