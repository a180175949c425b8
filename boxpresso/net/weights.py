"""Weights: a .caffemodel or an .h5 file, from disk to layers and back."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..device import Blob
from ..graph.quantization import MARK, Quantization
from ..proto import files, hdf5
from ..proto.binary import (
    LIMIT,
    Broken,
    LayerWeights,
    TooMany,
    encode_layer,
    encode_net,
    parse_weights,
    read_blob,
    read_bytes,
    read_mean,
)
from ..proto.errors import BoxpressoWarning, ModelError
from ..proto.limits import LIMITS
from ..proto.reading import FilePath
from ..proto.signatures import HDF5, what_is

__all__ = [
    "CopyReport", "LayerWeights", "Weights", "batch_norm_blobs", "copy_weights", "read_blob", "read_mean",
    "read_weights", "save_weights",
]  # fmt: skip

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


# Reading


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


def scales_of(weights: Weights) -> Quantization | None:
    """The scales for 8 bits that a file of `boxpresso quantize` holds; None where it has none.

    They are the type of a layer without blobs, which programs pass over.
    """
    layer = weights.get(MARK)
    return None if layer is None else Quantization.of_text(layer.type or "", weights.path)


# Copying


@dataclass
class CopyReport:
    """What `copy_weights` did, as names of layers."""

    path: str
    matched: list[str] = field(default_factory=list)  # in both: copied
    missing: list[str] = field(default_factory=list)  # layers of the net with parameters, missing in the file
    unused: list[str] = field(default_factory=list)  # layers of the file with blobs, missing in the net

    def __str__(self) -> str:
        lines = [f"{self.path}: {len(self.matched)} layers copied"]
        if self.missing:
            lines.append(f"not in the file, left as they were: {', '.join(self.missing)}")
        if self.unused:
            lines.append(f"not in the net, not used: {', '.join(self.unused)}")
        return "; ".join(lines)


def copy_weights(weights: Weights, layers: Iterable[Any]) -> CopyReport:
    """Copies a file's blobs to the layers of the same names; all of them or none.

    A name that the file has several times goes to the layers of that name in order, and what is left over to the last of
    them. BatchNorm also takes the forms of other forks, see `batch_norm_blobs`.

    Parameters
    ----------
    weights
        Of `read_weights`.
    layers
        Objects with `name`, `type` and `blobs`, each blob with `shape` and `data`.

    Returns
    -------
    CopyReport
        The names that are in both, or in one of them alone, which is no error.

    Raises
    ------
    ModelError
        For another number of blobs, or another shape even if the counts agree; leading axes of size 1 do not matter, as
        Caffe stored every blob with four axes until 2014.

    Source
    ------
    Caffe's CopyTrainedLayersFrom.
    """
    layers = list(layers)
    targets: dict[str, list[Any]] = {}
    for layer in layers:
        targets.setdefault(layer.name, []).append(layer)
    seen: dict[str, int] = {}
    plan: list[tuple[Any, Numpy]] = []
    report = CopyReport(weights.path)
    for source in weights.layers:
        same = targets.get(source.name)
        if same is None:
            if source.blobs:
                report.unused.append(source.name)
            continue
        turn = seen[source.name] = seen.get(source.name, -1) + 1
        pairs = _pair(weights.path, source, same[min(turn, len(same) - 1)], layers)
        plan += pairs
        if pairs:
            report.matched.append(source.name)
    report.missing = [name for name, same in targets.items() if name not in seen and any(layer.blobs for layer in same)]
    with np.errstate(over="ignore"):  # a double that float32 cannot hold becomes infinite, as in Caffe
        for blob, values in plan:
            if isinstance(blob, Blob):
                blob.overwrite()
            blob.data[...] = values.reshape(blob.shape)
    if not plan and report.missing:
        warnings.warn(
            f"{weights.path} has no layer of this net: it has {_some(report.unused)}, the net {_some(report.missing)}",
            BoxpressoWarning,
            stacklevel=3,
        )
    return report


def batch_norm_blobs(blobs: Sequence[Numpy]) -> list[Numpy]:
    """A BatchNorm's blobs in today's order: mean, variance, scale factor and, where there are five, scale and bias.

    NVCaffe and Intel's Caffe keep scale and bias in BatchNorm itself, in this order. DIGITS with older NVCaffe wrote
    (scale, bias, mean, variance, one reserved number), told apart as NVCaffe does by the single number at the end; its
    statistics are not scaled, so the factor is 1. Source: NVCaffe's Net::CopyTrainedLayersFrom.
    """
    if len(blobs) == 5 and blobs[4].size == 1 and blobs[2].size > 1:
        scale, bias, mean, variance, _ = blobs
        return [mean, variance, np.ones(1, np.float32), scale, bias]
    return list(blobs)


def _pair(path: str, source: LayerWeights, layer: Any, layers: Sequence[Any]) -> list[tuple[Any, Numpy]]:
    """Each blob of a layer with the file's values for it. Raises ModelError if they do not fit."""
    who = f"{path}: layer {source.name!r} ({layer.type})"
    advice = "Use the prototxt that it was trained with; to learn this layer from scratch, give it another name"
    vectors = layer.type.lower() == "batchnorm"
    blobs: Sequence[Numpy | None] = source.blobs
    if vectors:
        blobs = _fit_batch_norm(who, [blob for blob in source.blobs if blob is not None], len(layer.blobs))
    if len(blobs) > len(layer.blobs):
        raise ModelError(f"{who} has {len(blobs)} blobs in the file but {len(layer.blobs)} in the net. {advice}")
    pairs = []
    for i, blob in enumerate(layer.blobs):
        values = blobs[i] if i < len(blobs) else None
        if values is None:
            if not _is_shared(blob, layers):
                raise ModelError(
                    f"{who} has {len(layer.blobs)} blobs in the net, but the file lacks blob {i}. {advice}"
                )
            continue
        if _bare(values.shape, vectors) != _bare(blob.shape, vectors):
            raise ModelError(
                f"{who}: blob {i} has the shape {values.shape} in the file but {tuple(blob.shape)} in the net. {advice}"
            )
        pairs.append((blob, values))
    return pairs


def _fit_batch_norm(who: str, blobs: list[Numpy], count: int) -> list[Numpy]:
    """A BatchNorm's blobs for a layer that has `count` of them: without scale and bias if they change nothing."""
    blobs = batch_norm_blobs(blobs)
    if len(blobs) != 5 or count != 3:
        return blobs
    if np.any(blobs[3] != 1) or np.any(blobs[4] != 0):
        raise ModelError(
            f"{who} has a scale and a bias of its own in the file (NVCaffe's five blobs), but not in the net; "
            "write batch_norm_param {{ scale_bias: true } in the prototxt"
        )
    return blobs[:3]


def _bare(shape: Sequence[int], vector: bool) -> tuple[int, ...]:
    """A shape without its leading axes of size 1; of a vector (NVCaffe has (1, C, 1, 1)) without any of size 1."""
    if vector:
        return tuple(size for size in shape if size != 1)
    first = next((axis for axis, size in enumerate(shape) if size != 1), len(shape))
    return tuple(shape[first:])


def _is_shared(blob: Any, layers: Sequence[Any]) -> bool:
    """Whether a parameter is another layer's too: HDF5 then keeps its values with the owner only."""

    def memory(other: Any) -> Any:
        return getattr(other.data, "buffer", other.data)

    def same(a: Any, b: Any) -> bool:
        return a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b))

    return any(same(memory(blob), memory(b)) for layer in layers for b in layer.blobs if b is not blob)


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (", .." if len(names) > 3 else "") if names else "none"


# Saving


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
