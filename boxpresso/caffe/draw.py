"""pycaffe's draw: a net as a picture of its layers and blobs.

Graphviz draws it where its program `dot` is installed; without it Pillow does, in a plainer arrangement. pydot is needed for
`get_pydot_graph` alone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any, NamedTuple

from ..layers.core import Trait
from ..layers.core.registry import known_type
from ..proto import NetParameter, upgrade_net
from ..proto.errors import BoxpressoError, ModelError
from ..proto.files import replacing
from ..proto.reading import FilePath
from . import graph_image
from .net_spec import caffe_message
from .proto import caffe_pb2

LAYER_STYLE_DEFAULT = {"shape": "record", "fillcolor": "#6495ED", "style": "filled"}
NEURON_LAYER_STYLE = {"shape": "record", "fillcolor": "#90EE90", "style": "filled"}
BLOB_STYLE = {"shape": "octagon", "fillcolor": "#E0E0E0", "style": "filled"}
COLORS = {"convolves": "#FF5050", "pools": "#FF9900", "multiplies": "#CC33FF"}
LEARNS = ("convolves", "multiplies")
TEXT = ("raw", "dot", "gv")  # Graphviz's language


class DotGraph(NamedTuple):
    """Nodes by name, each a label and Graphviz's attributes, and edges (from, to, label); the order is the net's."""

    name: str
    rankdir: str
    nodes: dict[str, tuple[str, dict[str, str]]]
    edges: list[tuple[str, str, str]]


def what_it_does(layertype: str) -> str:
    """What pycaffe draws in colours of their own: "convolves", "pools" or "multiplies"; "" for all other layers."""
    known = known_type(layertype)
    if known is None or not known.traits & (Trait.POOLS | Trait.WEIGHTED):
        return ""
    if Trait.POOLS in known.traits:
        return "pools"
    return "convolves" if "convolution_param" in known.messages else "multiplies"


def get_pooling_types_dict() -> dict[int, str]:
    """{number: name} of the methods of Pooling."""
    values = caffe_pb2.PoolingParameter.PoolMethod.DESCRIPTOR.values_by_name
    return {value.number: name for name, value in values.items()}


def get_edge_label(layer: Any) -> str:
    """What is written at the edge to a top: the batch size or the number of outputs."""
    if layer.type == "Data":
        return f"Batch {layer.data_param.batch_size}"
    description = what_it_does(layer.type)
    if description == "convolves":
        return str(layer.convolution_param.num_output)
    return str(layer.inner_product_param.num_output) if description == "multiplies" else '""'


def get_layer_lr_mult(layer: Any) -> tuple[float, float]:
    """lr_mult of a layer's weights and bias.

    Raises
    ------
    ValueError
        For a layer without weights, or with more than two params.
    """
    if what_it_does(layer.type) not in LEARNS:
        raise ValueError(f"{layer.type} layers do not have a learning rate multiplier")
    rates = [param.lr_mult for param in layer.param]
    if len(rates) > 2:
        raise ValueError(f"Could not parse the learning rate multiplier: layer {layer.name!r} has {len(rates)} params")
    first, second, *_ = [*rates, 1.0, 1.0]
    return first, second


def get_layer_label(layer: Any, rankdir: str, display_lrm: bool = False) -> str:
    """The text of a layer's node, in double quotes: name, type, kernel, and with display_lrm the learning rates."""
    separator = " " if rankdir in ("TB", "BT") else r"\n"
    kind, description = layer.type, what_it_does(layer.type)
    if description == "pools":
        kind = f"{kind} {get_pooling_types_dict()[layer.pooling_param.pool]}"
    lines = [
        re.sub(r"([\\\"{}|<>])", r"\\\1", text) for text in (layer.name, f"({kind})")
    ]  # signs of records and quotes
    if description == "pools":
        p = layer.pooling_param
        lines += kernel_text(separator, p.kernel_size, p.stride, p.pad)
    elif description == "convolves":
        p = layer.convolution_param
        lines += kernel_text(separator, [*p.kernel_size, 1][0], [*p.stride, 1][0], [*p.pad, 0][0])
    if display_lrm and description in LEARNS:
        weights, bias = get_layer_lr_mult(layer)
        if weights or bias:
            lines.append(f"lr mult: {weights:.1f}, {bias:.1f}")
    return f'"{separator.join(lines)}"'


def kernel_text(separator: str, size: int, stride: int, pad: int) -> list[str]:
    return [separator.join([f"kernel size: {size}", f"stride: {stride}", f"pad: {pad}"])]


def choose_color_by_layertype(layertype: str) -> str:
    """The colour of a layer's node."""
    return COLORS.get(what_it_does(layertype), LAYER_STYLE_DEFAULT["fillcolor"])


def included(layer: Any, phase: int | None) -> bool:
    """Whether a layer is drawn. Raises ValueError for one with include and exclude rules."""
    if phase is None:
        return True
    if len(layer.include) and len(layer.exclude):
        raise ValueError(f"layer {layer.name} has both include and exclude specified.")
    wanted = not len(layer.include) or any(rule.phase == phase for rule in layer.include)
    return wanted and not any(rule.phase == phase for rule in layer.exclude)


def get_graph(
    caffe_net: Any, rankdir: str, label_edges: bool = True, phase: int | None = None, display_lrm: bool = False
) -> DotGraph:
    """The nodes and edges of a net; V1 and V0 nets are upgraded first."""
    if len(caffe_net.layers) and not len(caffe_net.layer):
        upgraded = upgrade_net(NetParameter.FromString(caffe_net.SerializeToString()))
        caffe_net = caffe_message(upgraded)
    graph = DotGraph(caffe_net.name or "Net", rankdir, {}, [])
    for layer in caffe_net.layer:
        if not included(layer, phase):
            continue
        node = f"{layer.name}_{layer.type}"
        in_place = len(layer.bottom) == len(layer.top) == 1 and layer.bottom[0] == layer.top[0]
        style = dict(NEURON_LAYER_STYLE if in_place else LAYER_STYLE_DEFAULT)
        if not in_place:
            style["fillcolor"] = choose_color_by_layertype(layer.type)
        graph.nodes[node] = get_layer_label(layer, rankdir, display_lrm), style
        for bottom in layer.bottom:
            graph.nodes[f"{bottom}_blob"] = bottom, BLOB_STYLE
            graph.edges.append((f"{bottom}_blob", node, '""'))
        for top in layer.top:
            graph.nodes.setdefault(f"{top}_blob", (top, {}))
            graph.edges.append((node, f"{top}_blob", get_edge_label(layer) if label_edges else '""'))
    return graph


def get_pydot_graph(
    caffe_net: Any, rankdir: str, label_edges: bool = True, phase: int | None = None, display_lrm: bool = False
) -> Any:
    """The net as a graph of pydot.

    Raises
    ------
    BoxpressoError
        Without pydot and pydotplus.
    """
    try:
        import pydotplus as pydot  # type: ignore[import-not-found]
    except ImportError:
        try:
            import pydot  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise BoxpressoError("get_pydot_graph needs pydot: pip install pydot; draw_net does without") from None
    graph = get_graph(caffe_net, rankdir, label_edges, phase, display_lrm)
    result = pydot.Dot(quoted(graph.name), graph_type="digraph", rankdir=rankdir)
    nodes = {name: pydot.Node(quoted(label), **style) for name, (label, style) in graph.nodes.items()}
    for node in nodes.values():
        result.add_node(node)
    for source, target, label in graph.edges:
        result.add_edge(pydot.Edge(nodes[source], nodes[target], label=quoted(label)))
    return result


QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)


def quoted(text: str) -> str:
    """A text in double quotes, as Graphviz wants names with other signs than letters."""
    return text if QUOTED.fullmatch(text) else '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'


def dot_text(graph: DotGraph) -> str:
    """The graph in Graphviz's language."""
    lines = [f"digraph {quoted(graph.name)} {{", f"rankdir={graph.rankdir};"]
    for name, (label, style) in graph.nodes.items():
        attributes = ", ".join(f"{key}={quoted(value)}" for key, value in {"label": label, **style}.items())
        lines.append(f"{quoted(name)} [{attributes}];")
    for source, target, label in graph.edges:
        lines.append(f"{quoted(source)} -> {quoted(target)} [label={quoted(label)}];")
    return "\n".join([*lines, "}", ""])


def draw_net(
    caffe_net: Any, rankdir: str, ext: str = "png", phase: int | None = None, display_lrm: bool = False
) -> bytes:
    """A picture of a net.

    Parameters
    ----------
    caffe_net
        A NetParameter.
    rankdir
        The direction of the graph: "LR", "TB" or "BT".
    ext
        The format: any of Graphviz's, or without it one of Pillow's; "raw", "dot" and "gv" are Graphviz's own language.
    phase
        caffe.TRAIN or caffe.TEST to draw the layers of one phase.
    display_lrm
        Whether to write the learning rates.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    BoxpressoError
        For a format that needs Graphviz where that is missing, and when Graphviz fails.
    """
    graph = get_graph(caffe_net, rankdir, True, phase, display_lrm)
    if ext.lower() in TEXT:
        return dot_text(graph).encode()
    program = shutil.which("dot")
    if program is None:
        return graph_image.draw(graph.nodes, graph.edges, ext, across=rankdir in ("LR", "RL"))
    done = subprocess.run([program, f"-T{ext}"], input=dot_text(graph).encode(), capture_output=True, check=False)
    if done.returncode:
        raise BoxpressoError(f"Graphviz cannot draw the net: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def draw_net_to_file(
    caffe_net: Any, filename: FilePath, rankdir: str = "LR", phase: int | None = None, display_lrm: bool = False
) -> None:
    """Writes a picture of a net; the format is that of the file's ending, see `draw_net` for the rest."""
    name = str(filename)
    ext = name.rpartition(".")[2] if "." in name else ""
    if not ext:
        raise ModelError(f"{name}: the ending of the name tells the format, such as .png or .raw")
    data = draw_net(caffe_net, rankdir, ext, phase, display_lrm)
    with replacing(name) as part:
        part.write_bytes(data)
