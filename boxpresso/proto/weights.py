"""Files of weights: a .caffemodel of any age and fork, or HDF5 as Caffe writes it, read and written as arrays by layer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import files, hdf5
from .binary import LIMIT, Broken, LayerWeights, TooMany, encode_layer, encode_net, parse_weights, read_bytes
from .errors import ModelError
from .limits import LIMITS
from .reading import FilePath
from .signatures import HDF5, what_is

Numpy = np.ndarray[Any, Any]
Row = tuple[str, str, Iterable[str], Iterable[str], Sequence[Numpy]]  # name, type, bottoms, tops, blobs


class Weights(Mapping[str, LayerWeights]):
    """The layers of a weight file by name, in the file's order. `layers` lists them all: Caffe accepts a name twice."""

    def __init__(self, path: str, name: str, layers: Sequence[LayerWeights]) -> None:
        self.path, self.name, self.layers = path, name, list(layers)
        self._by_name = {layer.name: layer for layer in self.layers}

    def __getitem__(self, name: str) -> LayerWeights:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def read_weights(path: FilePath) -> Weights:
    """Reads a .caffemodel in V0, V1 or today's form, of any fork, or HDF5 as Caffe writes it.

    Parameters
    ----------
    path
        The file; its content decides what it is, not its name.

    Returns
    -------
    Weights
        Arrays as they are stored: float32, float64 or (NVCaffe, OpenCV) float16; those of a .caffemodel are read-only.

    Raises
    ------
    ModelError
        Says what another file is, or where an incomplete one ends.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_weights(f"{folder}/w.caffemodel", [("fc", "InnerProduct", ["x"], ["y"], [np.ones((2, 3))])])
    ...     weights = read_weights(f"{folder}/w.caffemodel")
    >>> [(name, [blob.shape for blob in layer.blobs]) for name, layer in weights.items()]
    [('fc', [(2, 3)])]
    """
    shown = os.fspath(path)
    data = read_bytes(path)
    if data.startswith(HDF5):
        return Weights(shown, "", _read_hdf5(shown))
    kind = what_is(data)
    if kind:
        raise ModelError(f"{shown} is not a .caffemodel but {kind}")
    try:
        name, layers = parse_weights(data)
    except TooMany as many:
        raise ModelError(f"{shown} cannot be read: {many}") from None
    except Broken as broken:
        raise ModelError(f"{shown} is an incomplete .caffemodel: {broken}; fetch or save it again") from None
    if not layers:
        raise ModelError(f"{shown} is not a .caffemodel: it holds no layers")
    return Weights(shown, name, layers)


def _read_hdf5(path: str) -> list[LayerWeights]:
    """/data/<layer>/<index>. A layer name with "/" is a path of groups. Shared blobs are there for their owner only."""
    layers: list[LayerWeights] = []
    with hdf5.Reader(path) as reader:
        data = reader.get(reader.file, "data")
        if not isinstance(data, reader.h5py.Group):
            content = ", ".join(reader.file) or "nothing"
            raise ModelError(f"{path} is HDF5 without the group /data, where Caffe keeps weights; it has {content}")
        for name, item in reader.members(data):
            if isinstance(item, reader.h5py.Group):
                _visit(reader, name, item, layers, (reader.address(data),))
    if not layers:
        raise ModelError(f"{path} holds no weights: its group /data is empty (data for training, not weights?)")
    return layers


def _visit(reader: hdf5.Reader, name: str, group: Any, layers: list[LayerWeights], above: tuple[object, ...]) -> None:
    """Adds the layers of a group; `above` are the groups that it is in."""
    above = (*above, reader.address(group))
    if above[-1] in above[:-1] or len(above) > hdf5.DEPTH or len(layers) > LIMITS.layers:
        raise ModelError(f"{reader.path}: the groups below {name[:100]!r} have no end; that is not a weight file")
    members = list(reader.members(group))
    arrays = {int(key): item for key, item in members if isinstance(item, reader.h5py.Dataset) and is_index(key)}
    inner = [(key, item) for key, item in members if isinstance(item, reader.h5py.Group)]
    if arrays or not inner:
        if arrays and max(arrays) > 99:
            raise ModelError(
                f"{reader.path}: layer {name!r} has a blob with the index {max(arrays)}; that is not a weight file"
            )
        blobs = [
            reader.read(arrays[i], f"{arrays[i].name} of layer {name!r}") if i in arrays else None
            for i in range(max(arrays, default=-1) + 1)
        ]
        layers.append(LayerWeights(name, None, blobs))
    for key, item in inner:
        _visit(reader, f"{name}/{key}", item, layers, above)


def is_index(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) < 1000


def save_weights(path: FilePath, layers: Iterable[Row], net_name: str = "") -> None:
    """Writes the weights of a net as Caffe does.

    The file is written under another name in the same folder, and renamed when it is complete and on disk.

    Parameters
    ----------
    path
        A .caffemodel, or HDF5 when the name ends in .h5 or .hdf5.
    layers
        (name, type, bottoms, tops, arrays) of each layer; float64 stays double, any other dtype is written as float32.
    net_name
        The name of the net in a .caffemodel.

    Raises
    ------
    ModelError
        When it cannot be written; an older file of that name is then untouched.
    """
    shown = os.fspath(path)
    rows = [(name, kind, list(bottoms), list(tops), list(blobs)) for name, kind, bottoms, tops, blobs in layers]
    with files.replacing(shown) as part:
        if shown.endswith((".h5", ".hdf5")):
            _write_hdf5(shown, part, rows)
        else:
            _write_caffemodel(shown, part, rows, net_name)


def _write_caffemodel(path: str, part: Path, rows: Iterable[Row], net_name: str) -> None:
    parts = encode_net(net_name, [encode_layer(*row) for row in rows])
    size = sum(map(len, parts))
    if size > LIMIT:
        raise ModelError(f"{path} would have {size} bytes, and a .caffemodel at most 2^31 - 1; save it as .h5")
    with open(part, "xb") as file:
        file.writelines(parts)


def _write_hdf5(path: str, part: Path, rows: Iterable[Row]) -> None:
    h5py = hdf5.import_h5py(path)
    with h5py.File(part, "x") as file:
        data = file.create_group("data")
        for name, _, _, _, blobs in rows:
            if any(step in ("", ".", "..") for step in name.split("/")):
                raise ModelError(f"{path}: HDF5 cannot hold a layer of the name {name!r}; save it as .caffemodel")
            try:
                group = data.require_group(name)
                for i, blob in enumerate(blobs):
                    dtype = np.float64 if blob.dtype == np.float64 else np.float32
                    group.create_dataset(str(i), data=np.asarray(blob, dtype))
            except (ValueError, TypeError) as error:
                raise ModelError(
                    f"{path}: HDF5 cannot hold two layers {name!r}, or a layer that is called as the blob of another; "
                    "save it as .caffemodel"
                ) from error
