"""A net as an ONNX model: its steps, folded, and lowered one by one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...layers.core import Trait
from ...net import Net
from ...proto.errors import LayerError, ModelError, storable
from ..operations import Numpy, Operation, Operations, operations, output_name
from . import dense, detection, moved, neuron, norm, proposals, recurrent, regions, shapes  # noqa: F401  their lowerings
from .graph import LOWERINGS, OnnxGraph, Work
from .int8 import Narrow, narrowed
from .targets import DEFAULT, NEWEST, OLDEST, target_named

IR_VERSION = 8  # of the file; readers of opset 16 know it


@dataclass(frozen=True)
class Preprocess:
    """What the file does to its first input, an image (N, C, H, W) as pictures are read: 0 to 255, blue, green, red.

    The channels are put in reverse order, then `mean` is subtracted, then the rest is multiplied by `scale`.
    mean: a number for each channel, or (C, H, W).
    """

    mean: Numpy | None = None
    scale: float = 1.0
    swap: bool = False


def onnx_model(
    net: Net,
    *,
    target: str = "onnxruntime",
    opset: int = DEFAULT,
    dynamic_batch: bool = False,
    half: bool = False,
    outputs: Sequence[str] | None = None,
    preprocess: Preprocess | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Any:
    """A net as an ONNX model of standard operators.

    BatchNorm and Scale are folded into the weights before them, priors become constants, and the layers of detection
    become TopK and NonMaxSuppression. What runs in 8 bits by the scales of `boxpresso quantize` is written between
    QuantizeLinear and DequantizeLinear, with weights as bytes. The names of inputs and outputs are those of the blobs.

    Parameters
    ----------
    net
        Built for the phase TEST, with its weights; it has the shapes that the file will have.
    target
        The program that will read it: onnxruntime, openvino, opencv5 or tensorrt. It decides between forms of the same
        thing.
    opset
        The version of the operators, 16 to 21.
    dynamic_batch
        Whether the first axis of images and regions may have any length.
    half
        Whether the weights of convolutions and fully connected layers are stored in 16 bits, in half the room; they are
        cast to float as the file is loaded, and computed with in what the program that reads it chooses.
    outputs
        Names of blobs; None takes the outputs of the net.
    preprocess
        What the file does to its first input before the first layer.
    metadata
        Written into the file beside the program's own.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    LayerError
        Names the layer that cannot be written and says why, or whose weights 16 bits cannot hold.
    ModelError
        For another opset or target, and where the package onnx is missing.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "ReLU" bottom: "x" top: "y" }'''), device="cpu")
    >>> [node.op_type for node in onnx_model(net).graph.node]
    ['Relu']
    """
    if not OLDEST <= opset <= NEWEST:
        raise ModelError(f"opset must be from {OLDEST} to {NEWEST}, got {opset}")
    if net.phase != "TEST":
        raise ModelError(f"a net leaves as it is at TEST, this one is built for {net.phase}")
    steps = operations(net, outputs)
    refuse(steps)
    taken = {*steps.shapes, *steps.inputs, *(output_name(name, net) for name in steps.names)}
    graph = OnnxGraph(opset, target_named(target), half, taken)
    leads = leads_of(net, steps, dynamic_batch)
    values = write_steps(graph, net, steps, leads, preprocess, narrowed(net, steps))
    return assemble(graph, net, steps, leads, values, {**facts(net, preprocess), **(metadata or {})})


def refuse(steps: Operations) -> None:
    """Raises LayerError that names every layer without a lowering."""
    missing = [s for s in steps.steps if s.type not in ("Input", *LOWERINGS) and Trait.CONSTANT not in s.layer.traits]
    if drawn := [step for step in missing if Trait.FILLED in step.layer.traits]:
        raise LayerError(f"{drawn[0]}: cannot be written as ONNX: it draws random numbers")
    if missing:
        names = ", ".join(str(step) for step in missing[:4]) + (" .." if len(missing) > 4 else "")
        raise LayerError(f"cannot be written as ONNX: {names}: there is no counterpart; name other outputs before it")


def facts(net: Net, preprocess: Preprocess | None) -> dict[str, str]:
    """What the file says about itself."""
    result = {"source": "Caffe, written by boxpresso", "net": net.name or "unnamed"}
    if weights := [report.path for report in net.copied]:
        result["weights"] = ", ".join(weights)
    if preprocess is not None:
        done = {"swap": preprocess.swap, "scale": preprocess.scale}
        if preprocess.mean is not None and preprocess.mean.ndim == 1:
            done["mean"] = [float(v) for v in preprocess.mean]  # type: ignore[assignment]
        result["preprocess"] = json.dumps(done)
    return result


# Axes that are known when the net runs


def leads_of(net: Net, steps: Operations, dynamic_batch: bool) -> dict[str, str]:
    """{value: the name of its first axis} of the values whose first axis has no length yet.

    Equal names promise equal lengths, by which a reader shares memory: lists of regions have names of their own, and so have
    images of another number than the first ones.
    """
    leads: dict[str, str] = {}
    if dynamic_batch:
        region_inputs = {s.inputs[1] for s in steps.steps if Trait.REGIONS in s.layer.traits}
        images: dict[int, str] = {}  # by how many they are
        regions = any(Trait.PROPOSES in step.layer.traits for step in steps.steps)
        for name in steps.inputs:
            if name in region_inputs:
                leads[name] = f"regions of {name}" if regions else "regions"
                regions = True
            elif len(steps.shapes[name]) == 4 or (name == steps.inputs[0] and steps.shapes[name]):
                own = f"batch of {name}" if images else "batch"
                leads[name] = images.setdefault(steps.shapes[name][0], own)
    for step in steps.steps:
        traits = step.layer.traits
        if Trait.PROPOSES in traits:
            leads.update(
                {name: "regions" for name, shape in zip(step.outputs, step.layer.list_shapes) if shape[0] == -1}
            )
        elif Trait.CHOOSES_ROWS in traits and Trait.DETECTS not in traits:
            leads.update(dict.fromkeys(step.outputs, f"kept by {step.name}"))
        elif not traits & (Trait.CONSTANT | Trait.FILLED | Trait.DETECTS):
            main = [step.inputs[1]] if Trait.ROWS_OF_1 in traits else step.inputs
            like = next((name for name in main if name in leads), None)
            if like is not None and not step.layer.grows:
                for name in step.outputs:
                    if shape := steps.shapes[name]:  # a Concat of the first axis has another length than its bottom
                        leads[name] = leads[like] if shape[0] == steps.shapes[like][0] else f"rows of {name}"
    if dynamic_batch:
        check_batch(net, steps, leads)
    return leads


def free_of(steps: Operations, leads: Mapping[str, str]) -> set[str]:
    """The values of which an axis behind the first one has no length yet: a layer made it of the first axis of others."""
    free: set[str] = set()
    for step in steps.steps:
        turned = step.layer.grows and any(name in leads for name in step.inputs)
        if Trait.DETECTS not in step.layer.traits and (turned or not free.isdisjoint(step.inputs)):
            free.update(step.outputs)
    return free


def check_batch(net: Net, steps: Operations, leads: dict[str, str]) -> None:
    """Raises LayerError for a layer whose top does not grow with the batch along axis 0 alone."""
    net.reshape()  # a list of rows that a forward has left is as long as that one's
    before = {name: tuple(net.blobs[name].shape) for name in net.blobs}
    inputs = [name for name in net.inputs if name in leads]
    data = {name: np.array(net.blobs[name].data) for name in inputs}
    try:
        for name in inputs:
            net.blobs[name].reshape(2 * before[name][0], *before[name][1:])
        net.reshape()
        after = {name: tuple(net.blobs[name].shape) for name in net.blobs}
    except LayerError as error:
        raise LayerError(f"the batch of this net is fixed: {error}") from error
    finally:
        for name in inputs:
            net.blobs[name].reshape(*before[name])
        net.reshape()
        for name, values in data.items():
            net.blobs[name].data[...] = values
    for step in steps.steps:
        for value in step.outputs:
            name = steps.blobs[value]
            old, new = before[name], after[name]
            if old == new or (value in leads and new == (2 * old[0], *old[1:])):
                continue
            raise LayerError(
                f"{step}: the batch of this net is fixed: for twice the images its top {name!r} becomes {new}, not "
                f"{(2 * old[0], *old[1:])}; write the file without --dynamic-batch"
            )


# Writing


def write_steps(
    graph: OnnxGraph, net: Net, steps: Operations, leads: dict[str, str], preprocess: Preprocess | None, narrow: Narrow
) -> dict[str, str]:
    """Writes all steps; returns what each value is called in the graph."""
    values: dict[str, str] = {}
    taken, free = {*steps.inputs, *steps.outputs}, free_of(steps, leads)
    for step in steps.steps:
        graph.prefix = step.name
        if step.type == "Input":
            values.update({name: name for name in step.outputs})
            if preprocess is not None and steps.inputs[:1] == step.outputs[:1]:
                values[step.outputs[0]] = prepared(graph, step.outputs[0], steps.shapes[step.outputs[0]], preprocess)
            continue
        if Trait.CONSTANT in step.layer.traits:
            for value, blob in zip(step.outputs, constants(net, step)):
                values[value] = graph.const(blob)
            continue
        work = Work(
            step,
            [narrow.read(graph, step, name, values[name], len(steps.shapes[name])) for name in step.inputs],
            [steps.shapes[name] for name in step.inputs],
            [steps.shapes[name] for name in step.outputs],
            step.outputs[0] in leads,
            not free.isdisjoint(step.inputs),
            narrow.filters(step),
            narrow.scale(step, step.inputs[0]) if step.inputs else None,
        )
        for shape in (*work.bottom_shapes, *work.top_shapes):  # onnxruntime divides by the number of channels, say
            work.need(0 not in shape[1:], f"a blob has the shape {shape}; give each axis behind the first a length")
        since = len(graph.nodes)
        tops = LOWERINGS[step.type](graph, work)
        for name, value in zip(step.outputs, [tops] if isinstance(tops, str) else tops):
            value = narrow.stored(graph, name, value)
            own = value in taken or (name in narrow.factors and name in steps.outputs)  # the name is the whole value's
            values[name] = value if own else graph.rename(value, name, since)
            taken.add(values[name])
            if value in graph.dims:
                graph.dims[name] = graph.dims[value]
        graph.call_node(step.name, values[step.outputs[0]], since)
    ends = {name: narrow.over(graph, name, values[name], len(steps.shapes[name])) for name in steps.outputs}
    return {**values, **ends}


def constants(net: Net, step: Operation) -> list[Numpy]:
    """What a layer that does not depend on the input gives."""
    index = next(i for i, layer in enumerate(net.layers) if layer is step.layer)
    net.forward_layer(index)
    return [np.array(blob.data, np.float32) for blob in net.tops[index]]


def prepared(graph: OnnxGraph, x: str, shape: Sequence[int], how: Preprocess) -> str:
    """The first input after what the caller else would do to it."""
    graph.prefix = "preprocess"
    if len(shape) != 4:
        raise ModelError(
            f"the first input {x!r} has the shape {tuple(shape)}; only an image, four axes, is preprocessed"
        )
    if how.swap:
        x = graph.gather(x, graph.ints(*range(shape[1] - 1, -1, -1)), 1)
    if how.mean is not None:
        mean = how.mean if how.mean.ndim == 3 else how.mean.reshape(-1, 1, 1)
        if mean.shape[0] not in (1, shape[1]) or mean.shape[1:] not in ((1, 1), tuple(shape[2:])):
            raise ModelError(f"a mean of shape {how.mean.shape} does not fit the input {tuple(shape)}")
        x = graph.op("Sub", x, graph.const(mean))
    return x if how.scale == 1 else graph.mul(x, how.scale)


def assemble(
    graph: OnnxGraph,
    net: Net,
    steps: Operations,
    leads: dict[str, str],
    values: dict[str, str],
    metadata: Mapping[str, str],
) -> Any:
    """The ModelProto."""
    helper, kind = graph.onnx.helper, graph.onnx.TensorProto.FLOAT

    def info(name: str, value: str) -> Any:
        dims: list[int | str] = list(graph.dims.get(value, steps.shapes[value]))
        if value in leads and value not in graph.dims:
            dims[0] = leads[value]
        return helper.make_tensor_value_info(name, kind, dims)

    inputs = [info(name, name) for name in steps.inputs]
    outputs = []
    graph.prefix = "output"
    for blob, value in dict(zip(steps.names, steps.outputs)).items():
        name = output_name(blob, net)
        if values[value] != name:
            graph.nodes.append(helper.make_node("Identity", [values[value]], [name], name=f"output/{name}"))
        outputs.append(info(name, value))
    whole = helper.make_graph(graph.nodes, net.name or "net", inputs, outputs, initializer=graph.initializers)
    model = helper.make_model(
        whole, opset_imports=[helper.make_opsetid("", graph.opset)], ir_version=IR_VERSION,
        producer_name="boxpresso", producer_version=metadata.get("boxpresso", ""),  # the command states it
    )  # fmt: skip
    helper.set_model_props(model, {name: storable(text) for name, text in metadata.items()})
    return model
