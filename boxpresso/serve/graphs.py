"""A net's layers and what lies between them, for the page to draw."""

from __future__ import annotations

from typing import Any

from ..net import Net
from ..summary import summarise


def describe(net: Net) -> dict[str, Any]:
    """The layers in their order, each with the names and shapes of its bottoms and tops.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''name: "two"
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "Power" bottom: "x" top: "y" }'''), device="cpu")
    >>> describe(net)["layers"][1]
    {'name': 'y', 'type': 'Power', 'bottoms': {'x': [1, 3]}, 'tops': {'y': [1, 3]}, 'parameters': 0, 'macs': 0}
    """
    summary = summarise(net)
    made_of = {  # a Split's tops are called as what it splits
        top: bottoms[0]
        for layer, (bottoms, tops) in zip(net.layers, net.names)
        if layer.type == "Split" and layer.name.endswith("_split")
        for top in tops
    }
    layers = []
    for row in summary.layers:
        layers.append({
            "name": row.name,
            "type": row.type,
            "bottoms": {made_of.get(name, name): list(shape) for name, shape in row.bottoms.items()},
            "tops": {name: list(shape) for name, shape in row.tops.items()},
            "parameters": row.parameters,
            "macs": row.macs,
        })  # fmt: skip
    return {
        "name": summary.name,
        "device": net.device.name,
        "inputs": summary.inputs,
        "outputs": summary.outputs,
        "parameters": summary.parameters,
        "macs": summary.macs,
        "layers": layers,
    }
