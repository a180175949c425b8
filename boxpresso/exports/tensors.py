"""Names for the learned numbers of a layer, and safetensors files: weights without a net, read by many programs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..layers.core.registry import known_type, layer_class
from ..net import Net
from ..net.weights import read_weights, save_weights, without_scales
from ..proto.errors import ModelError
from ..proto.files import replacing
from ..proto.reading import FilePath, kind_of
from .operations import Numpy

SUFFIX = ".safetensors"
Row = tuple[str, str, Sequence[str], Sequence[str], Sequence[Numpy]]


def parameter_keys(kind: str, shapes: Sequence[Sequence[int]]) -> list[str]:
    """What the blobs of a layer of type `kind` are called; shapes: theirs.

    >>> parameter_keys("Convolution", [(8, 3, 3, 3), (8,)]), parameter_keys("BatchNorm", [(8,), (8,), (1,)])
    (['weight', 'bias'], ['running_mean', 'running_var', 'scale_factor'])
    """
    known = known_type(kind)
    names = known.parameter_names(shapes) if known is not None else ()
    return [names[i] if i < len(names) else f"parameter_{i}" for i in range(len(shapes))]


def import_safetensors() -> Any:
    """The module safetensors.numpy. Raises ModelError where it is not installed."""
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise ModelError("safetensors files need the package: pip install 'boxpresso[safetensors]'") from error
    return safetensors


def convert_weights(source: FilePath, target: FilePath) -> int:
    """Writes the weights of one file as another: .caffemodel, .h5 or .safetensors, as the names end.

    Names, types and the order of layers stay; so do the numbers, bit for bit, but float16 becomes float32 in a .caffemodel.
    Scales for 8 bits stay but in HDF5, which has no place for them; a warning says so.

    Parameters
    ----------
    source, target
        Two files. `target` is replaced by a whole new file alone.

    Returns
    -------
    int
        How many layers with weights there are.

    Raises
    ------
    ModelError
        For a file that cannot be read or written, and where the package safetensors is missing.
    """
    rows = read_safetensors(source) if os.fspath(source).endswith(SUFFIX) else rows_of_file(source)
    if os.fspath(target).endswith(SUFFIX):
        write_safetensors(target, rows)
    elif os.fspath(target).endswith((".caffemodel", ".h5", ".hdf5")):
        save_weights(target, without_scales(os.fspath(target), rows))
    else:
        raise ModelError(f"{os.fspath(target)}: weights are written as .caffemodel, .h5 or .safetensors, by the name")
    return sum(bool(row[4]) for row in rows)


def rows_of_file(path: FilePath) -> list[Row]:
    """The layers of a .caffemodel or HDF5 file."""
    rows: list[Row] = []
    for layer in read_weights(path).layers:
        blobs = [blob for blob in layer.blobs if blob is not None]
        if len(blobs) != len(layer.blobs):
            raise ModelError(
                f"{os.fspath(path)}: layer {layer.name!r} shares blobs that the file has with another layer"
            )
        rows.append((layer.name, layer.type or "", [], [], blobs))
    return rows


def rows_of_net(net: Net) -> list[Row]:
    """The layers of a net with what they learned."""
    layers = [layer for layer in net.layers if layer.blobs]
    return [(one.name, one.type, [], [], [np.array(blob.data) for blob in one.blobs]) for one in layers]


def write_safetensors(path: FilePath, rows: Sequence[Row], net_name: str = "") -> int:
    """Writes layers and returns how many have weights.

    The header says which they are, in order, so that they can become a .caffemodel again.
    """
    safetensors = import_safetensors()
    tensors: dict[str, Numpy] = {}
    table = []
    for name, kind, _, _, blobs in rows:
        keys = [f"{name}.{key}" for key in parameter_keys(kind, [blob.shape for blob in blobs])]
        if twice := [key for key in keys if key in tensors]:
            raise ModelError(
                f"{os.fspath(path)}: two layers are called {name!r}, so that {twice[0]!r} would be there twice"
            )
        tensors.update({key: np.ascontiguousarray(blob) for key, blob in zip(keys, blobs)})
        table.append({"name": name, "type": kind, "blobs": keys})
    header = {"format": "pt", "net": net_name, "layers": json.dumps(table)}
    with replacing(path) as part:
        safetensors.numpy.save_file(tensors, part, metadata=header)
    return sum(bool(row["blobs"]) for row in table)


def read_safetensors(path: FilePath) -> list[Row]:
    """Layers of a file that `write_safetensors` or torch wrote; without the former's header by their names.

    Raises ModelError for a file that is not of this kind, or incomplete.
    """
    safetensors = import_safetensors()
    shown = os.fspath(path)
    try:
        if kind := kind_of(os.stat(path).st_mode):  # a pipe would block
            raise ModelError(f"cannot read {shown}: it is {kind}, not a regular file")
        with safetensors.safe_open(shown, framework="numpy") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  it is no dict
            header = file.metadata() or {}
    except OSError as error:
        raise ModelError(f"cannot read {shown}: {error.strerror or error}") from error
    except ModelError:
        raise
    except Exception as error:  # SafetensorError, TypeError for a dtype that numpy lacks
        raise ModelError(f"{shown} is not a complete safetensors file: {error}") from error
    return rows_of_tensors(tensors, header.get("layers"), shown)


def rows_of_tensors(tensors: Mapping[str, Numpy], table: str | None, shown: str) -> list[Row]:
    """Layers of named arrays; table: the header's list of layers, or None."""
    if table is not None:
        try:
            known = [(row["name"], row["type"], list(row["blobs"])) for row in json.loads(table)]
            if not all(isinstance(text, str) for *texts, _ in known for text in texts):
                raise TypeError("a name or type is no text")
            if {key for _, _, keys in known for key in keys} == set(tensors):
                return [(name, kind, [], [], [tensors[key] for key in keys]) for name, kind, keys in known]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ModelError(f"{shown}: its list of layers cannot be read: {error}") from error
    groups: dict[str, dict[str, Numpy]] = {}
    for key, values in tensors.items():
        name, dot, last = key.rpartition(".")
        if not dot:
            raise ModelError(f"{shown}: the tensor {key!r} is not called LAYER.weight, LAYER.bias or so")
        groups.setdefault(name, {})[last] = values
    rows: list[Row] = []
    for name, own in groups.items():
        kind = "BatchNorm" if "running_mean" in own else ""
        order = (
            layer_class(kind, name).parameter_names([])
            if kind
            else ("weight", "weight_x", "bias", "weight_static", "weight_h", "weight_out", "bias_out")
        )
        order = (*order, *(f"parameter_{i}" for i in range(2, 8)))
        if unknown := set(own) - set(order):
            raise ModelError(f"{shown}: {name}.{sorted(unknown)[0]} is not the name of a parameter of a Caffe layer")
        blobs = [own[key] for key in order if key in own]
        if kind and "scale_factor" not in own:
            blobs.insert(2, np.ones(1, np.float32))
        rows.append((name, kind, [], [], blobs))
    return rows
