"""BatchNorm, Scale and Bias merged into the weights before them, as a prototxt and a .caffemodel without them.

    merge("deploy.prototxt", "trained.caffemodel", "merged.prototxt", "merged.caffemodel")

At TEST these layers multiply each channel and add to it, which the layer before can do itself. Boxpresso's own plan of a
net does so anyway; merged files are for programs that do not, and are smaller. MobileNet-SSD's merge_bn.py is such a
script.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph.prepare import select
from ..layers.core import Trait
from ..net import Net
from ..net.weights import Row, read_weights, save_weights, scales_of
from ..proto import LayerParameter, NetParameter, read_net, to_text
from ..proto.errors import BoxpressoWarning, ModelError
from ..proto.files import replacing
from ..proto.reading import FilePath
from .operations import Operation, operations

__all__ = ["merge"]

MESSAGES = (
    "convolution_param", "inner_product_param", "deformable_convolution_param", "modulated_deformable_convolution_param",
)  # fmt: skip


def merge(
    model: FilePath | NetParameter,
    weights: FilePath,
    out_model: FilePath,
    out_weights: FilePath,
    *,
    level: int = 0,
    stages: Sequence[str] = (),
) -> list[str]:
    """Writes a net of phase TEST, and its weights, with BatchNorm, BN, Scale, Bias and a linear Power merged into the layers
    before them.

    A layer is merged where it follows, alone or in a chain of such layers, a Convolution (also depthwise, deformable or
    transposed) or an InnerProduct whose output nothing else reads. Others stay, as do a Scale of two bottoms and a BatchNorm
    that takes the statistics of its batch.

    Parameters
    ----------
    model, weights
        The net, its path or a NetParameter, and its weights.
    out_model, out_weights
        The files to write, a .prototxt and a .caffemodel or .h5.
    level, stages
        They choose layers of `model`, as of a Net.

    Returns
    -------
    list of str
        The names of the layers that are gone.

    Raises
    ------
    ModelError
        Where nothing can be merged, both files to write are one, a name is that of two layers with weights or of one that is
        merged and another, or a file cannot be read or written.

    Source
    ------
    MobileNet-SSD's merge_bn.py (chuanqi305), and Caffe's BatchNorm.

    Examples
    --------
    >>> import tempfile
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 2 dim: 2 } } }
    ...     layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 2 kernel_size: 1 } }
    ...     layer { name: "b" type: "BatchNorm" bottom: "c" top: "c" } layer { name: "r" type: "ReLU" bottom: "c" top: "c" }''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Net(net, device="cpu", seed=1).save(f"{folder}/a.caffemodel")
    ...     gone = merge(net, f"{folder}/a.caffemodel", f"{folder}/b.prototxt", f"{folder}/b.caffemodel")
    ...     print(gone, [layer.name for layer in read_net(f"{folder}/b.prototxt").layer])
    ['b'] ['x', 'c', 'r']
    """
    if os.path.realpath(out_model) == os.path.realpath(out_weights):
        raise ModelError(
            f"{os.fspath(out_model)} is named for the prototxt and for the weights, of which one would replace the other; give "
            "each a name"
        )
    original = model if isinstance(model, NetParameter) else read_net(model)
    chosen = select(original, "TEST", level=level, stages=stages)
    source = "" if isinstance(model, NetParameter) else os.fspath(model)
    options: dict[str, Any] = {"level": level, "stages": stages, "source": source, "data": "shapes", "lazy": True}
    net = Net(original, weights, device="cpu", optimize=False, **options)
    twice = [name for name, count in Counter(layer.name for layer in net.layers if layer.blobs).items() if count > 1]
    if twice:
        raise ModelError(
            f"{net.name!r} has several layers with weights that are called {twice[0]!r}; give them other names"
        )
    joined = [step for step in operations(net).steps if Trait.WEIGHTED in step.layer.traits and len(step.layers) > 1]
    users = users_of(net)
    joined = [step for step in joined if not any(users[at] - set(step.layers) for at in places_of(net, step.layers))]
    gone = [name for step in joined for name in step.layers[1:]]
    names = Counter(layer.name for layer in net.layers)
    if twice := [name for step in joined for name in step.layers if names[name] > 1]:
        raise ModelError(
            f"{net.name!r} has several layers that are called {twice[0]!r}, one of which would be merged; give them other names"
        )
    if not gone:
        raise ModelError(
            f"net {net.name!r} has nothing to merge: no BatchNorm, BN, Scale, Bias or linear Power follows a layer with "
            "weights alone"
        )
    text = to_text(without(chosen, joined))
    blobs = {step.layers[0]: [np.asarray(p, np.float32) for p in step.params] for step in joined}
    rows: list[Row] = []
    for layer in net.layers:
        if layer.name not in gone:
            values = blobs.get(layer.name) or [np.array(blob.data) for blob in layer.blobs]
            rows.append((layer.name, layer.type, layer.param.bottom, layer.param.top, values))
    if scales_of(read_weights(weights)) is not None:
        warnings.warn(
            f"{os.fspath(out_weights)} has no scales for 8 bits, which were of the layers before they were merged: it runs in "
            "float32; `boxpresso quantize` makes new ones",
            BoxpressoWarning,
            stacklevel=2,
        )
    write_both(out_model, text, lambda: save_weights(out_weights, rows, net.name))
    return gone


def places_of(net: Net, names: Sequence[str]) -> list[int]:
    """Where in memory the weights of layers are; layers that share some have one place."""
    blobs = [np.asarray(blob.data) for name in names for blob in net.params.get(name, ())]
    return [blob.__array_interface__["data"][0] for blob in blobs if blob.size]


def users_of(net: Net) -> dict[int, set[str]]:
    """The layers that use each place."""
    users: dict[int, set[str]] = {}
    for name in net.params:
        for at in places_of(net, [name]):
            users.setdefault(at, set()).add(name)
    return users


def without(net: NetParameter, joined: Sequence[Operation]) -> NetParameter:
    """The net without the layers that are merged; what they gave comes from the layers before them, which have biases."""
    result = NetParameter()
    result.CopyFrom(net)
    by_name = {layer.name: layer for layer in net.layer}
    first = {step.layers[0]: by_name[step.layers[-1]] for step in joined}
    gone = {name for step in joined for name in step.layers[1:]}
    result.ClearField("layer")
    for layer in net.layer:
        if layer.name in gone:
            continue
        copy = result.layer.add()
        copy.CopyFrom(layer)
        if layer.name in first:
            copy.top[0] = first[layer.name].top[0]
            with_bias(copy)
    return result


def with_bias(layer: LayerParameter) -> None:
    """Says that a layer has a bias, which is the default."""
    for message in MESSAGES:
        if layer.HasField(message):
            getattr(layer, message).ClearField("bias_term")


def write_both(path: FilePath, text: str, save: Callable[[], None]) -> None:
    """Writes a text beside `path`, calls `save`, and puts the text in its place: both files are new, or both what they were."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
        save()
