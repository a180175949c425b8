"""The structure of a net: shapes, parameters, multiply-adds and memory of each layer, for `boxpresso info`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ..layers.core import Layer
from . import Net

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """One layer. parameters: learned numbers. macs: multiply-adds of a forward pass. bytes: that its tops' data adds;
    none in place or where it shares a bottom's memory."""

    name: str
    type: str
    bottoms: dict[str, Shape]
    tops: dict[str, Shape]
    parameters: int
    macs: int
    bytes: int


@dataclass(frozen=True)
class Summary:
    """A net, and its totals: a parameter that several layers share counts once."""

    name: str
    phase: str
    inputs: list[str]
    outputs: list[str]
    layers: list[Row]
    parameters: int
    macs: int
    bytes: int


def summarise(net: Net) -> Summary:
    """Shapes, parameters, multiply-adds and memory of each layer, as `boxpresso info` prints them.

    Parameters
    ----------
    net
        The Net, of any phase.

    Returns
    -------
    Summary
        A Row for each layer of the prototxt, without the Split layers that the Net adds itself, and totals.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }'''),
    ...     device="cpu")
    >>> summary = summarise(net)
    >>> summary.parameters, summary.macs, summary.bytes
    (8, 6, 20)
    """
    rows = []
    held: dict[int, int] = {}  # a buffer and how many elements of it earlier layers use
    for layer, (bottom_names, top_names), bottoms, tops in zip(net.layers, net.names, net.bottoms, net.tops):
        if layer.type == "Split" and layer.name.endswith("_split"):
            continue
        added = 0
        for blob in tops:
            before = held.get(id(blob._data), 0)
            held[id(blob._data)] = max(before, blob.count)
            added += max(0, blob.count - before)
        rows.append(
            Row(
                layer.name,
                layer.type,
                {name: blob.shape for name, blob in zip(bottom_names, bottoms)},
                {name: blob.shape for name, blob in zip(top_names, tops)},
                sum(blob.count for blob in layer.blobs),
                macs(layer, [blob.shape for blob in bottoms], [blob.shape for blob in tops]),
                added * net.dtype.itemsize,
            )
        )
    return Summary(
        net.name,
        net.phase,
        list(net.inputs),
        list(net.outputs),
        rows,
        sum(blob.count for blob, _, _ in net.learnable),
        sum(row.macs for row in rows),
        sum(row.bytes for row in rows),
    )


def macs(layer: Layer, bottoms: Sequence[Shape], tops: Sequence[Shape]) -> int:
    """Multiply-adds of one forward pass: the products with weights of convolutions and inner products; 0 for all others.

    Elements of padding count as any other, and a bias is not counted.
    """
    if not layer.blobs:
        return 0
    weights, kind = layer.blobs[0].shape, layer.type.lower()
    elements = sum(map(prod, tops))
    if kind == "deconvolution":  # each element of a bottom spreads over one filter
        return sum(map(prod, bottoms)) * prod(weights[1:])
    if kind.endswith("convolution"):  # each element of a top gathers over one filter
        return elements * prod(weights[1:])
    if kind == "innerproduct":
        return elements * prod(weights) // int(layer.param.inner_product_param.num_output)
    return 0
