"""The operators as torch's own: torch.ops.boxpresso.roi_align and so on, with a schema, shapes without data, and gradients.

torch.compile and torch.export take them as they are. Importing boxpresso.ops.torch registers them. None of them can be part of
a CUDA graph that torch captures (device/foreign.py: refuse_capture), and their tag says so: in torch.compile's mode
"reduce-overhead" they lie between two graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from ..device import Blob
from ..layers.core import Trait, layer_class, make_layer, traits_of
from ..proto import LayerParameter
from . import OPERATORS, arrays
from . import batched_nms as suppressed_by_class
from . import nms as suppressed
from . import nms_rotated as suppressed_rotated
from .derivatives import derivatives, detached, one_by_one
from .operator import OPTIONAL, TO_NCHW, Call, Operator
from .shapes import name_of, shape_of

NAMESPACE = "boxpresso"
TYPES = {
    "Two": "int[2]", "int": "int", "float": "float", "bool": "bool", "str": "str", "Sequence[int]": "int[]",
}  # of annotations  # fmt: skip


def schema_of(op: Operator[...]) -> str:
    """The arguments of an operator as torch writes them."""
    parts = []
    for name, parameter in op.signature.parameters.items():
        default = parameter.default
        if name in op.inputs:
            kind = "Tensor?" if name in OPTIONAL else "Tensor"
        else:
            kind = TYPES[str(parameter.annotation)]
        if default is parameter.empty:
            parts.append(f"{kind} {name}")
        else:
            parts.append(f"{kind} {name}=" + (f'"{default}"' if isinstance(default, str) else str(default)))
    return ", ".join(parts)


# Tensors without data


def empty_result(op: Operator[...], inputs: dict[str, Any], options: dict[str, Any]) -> Any:
    """A tensor like the result of an operator, without its numbers."""
    shape, x = shape_of(op, inputs, options), inputs[op.inputs[0]]
    if len(shape) == 4 and "layout" in options and (options["layout"] == "NHWC" or arrays.channels_last(x)):
        last = x.new_empty([shape[0], shape[2], shape[3], shape[1]])
        return last if options["layout"] == "NHWC" else last.permute(*TO_NCHW)
    return x.new_empty(shape)


def empty_gradient(op: Operator[...], x: Any, index: int, options: dict[str, Any]) -> Any:
    """A tensor like the gradient of an input."""
    if index == 0 and options.get("layout") == "NCHW" and arrays.channels_last(x):
        return x.new_empty([x.shape[axis] for axis in (0, 2, 3, 1)]).permute(*TO_NCHW)
    return x.new_empty(x.shape)


# Registration


def custom(name: str, function: Callable[..., Any], schema: str) -> Any:
    """An operator of torch's that changes none of its arguments, and is in no CUDA graph."""
    make = partial(torch.library.custom_op, f"{NAMESPACE}::{name}", function, mutates_args=(), schema=schema)
    try:
        return make(tags=(torch._C.Tag.cudagraph_unsafe,))
    except (AttributeError, TypeError):  # an older torch has no such tag, or takes none
        return make()


def bound(op: Operator[...], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arrays and the other arguments; torch gives all by position, also those that have a name alone."""
    return op.bind(**dict(zip(op.names, args)), **kwargs)


def register(op: Operator[...]) -> None:
    """Registers an operator and its gradient."""
    name, arguments = name_of(op), schema_of(op)

    def forward(*args: Any, **kwargs: Any) -> Any:
        inputs, options = bound(op, args, kwargs)
        return op.cached(detached(inputs), options, (), Call.forward)

    def fake(*args: Any, **kwargs: Any) -> Any:
        inputs, options = bound(op, args, kwargs)
        return empty_result(op, dict(zip(op.inputs, inputs)), options)

    def backward(grad: Any, wanted: Sequence[bool], *args: Any, **kwargs: Any) -> list[Any]:
        inputs, options = bound(op, args, kwargs)
        asked, gradient = tuple(wanted), grad.detach()
        gradients = op.cached(detached(inputs), options, ("backward",), lambda call: call.backward(gradient, asked))
        return [g for g in gradients if g is not None]

    def fake_backward(grad: Any, wanted: Sequence[bool], *args: Any, **kwargs: Any) -> list[Any]:
        inputs, options = bound(op, args, kwargs)
        pairs = enumerate(zip(inputs, wanted))
        return [empty_gradient(op, x, i, options) for i, (x, asked) in pairs if asked and x is not None]

    one = custom(name, forward, f"({arguments}) -> Tensor")
    back = custom(f"{name}_backward", backward, f"(Tensor grad, bool[] wanted, {arguments}) -> Tensor[]")
    one.register_fake(fake)
    back.register_fake(fake_backward)
    one.register_autograd(partial(gradients, op), setup_context=partial(remember, op))
    back.register_autograd(partial(second_gradients, op), setup_context=partial(remember, op))
    for each in (one, back):
        each.register_vmap(partial(one_by_one, each))


def remember(op: Operator[...], ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    """Keeps what the gradient needs."""
    ctx.others = [None if isinstance(value, torch.Tensor) else value for value in inputs]
    ctx.places = [i for i, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
    ctx.save_for_backward(*(inputs[i] for i in ctx.places))


def gradients(op: Operator[...], ctx: Any, grad: Any) -> tuple[Any, ...]:
    """The gradient of each argument, None where there is none."""
    args = list(ctx.others)
    for i, value in zip(ctx.places, ctx.saved_tensors):
        args[i] = value
    at = [op.names.index(name) for name in op.inputs]
    wanted = [args[i] is not None and ctx.needs_input_grad[i] for i in at]
    gradients: list[Any] = [None] * len(args)
    if any(wanted):
        back = getattr(getattr(torch.ops, NAMESPACE), f"{name_of(op)}_backward")
        results = iter(back(grad, wanted, *args))
        for i, asked in zip(at, wanted):
            gradients[i] = next(results) if asked else None
    return tuple(gradients)


def second_gradients(op: Operator[...], ctx: Any, directions: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients of an operator's gradient in each of its arguments."""
    args = list(ctx.others)
    for i, value in zip(ctx.places, ctx.saved_tensors):
        args[i] = value
    grad, wanted, *rest = args
    inputs, options = bound(op, rest, {})
    at = [2 + op.names.index(name) for name in op.inputs]
    tangents = iter(directions)
    along = [next(tangents) if asked and value is not None else None for asked, value in zip(wanted, inputs)]
    asked = [ctx.needs_input_grad[0], *(value is not None and ctx.needs_input_grad[i] for i, value in zip(at, inputs))]
    slopes = derivatives(op, options, grad, inputs, along, asked)
    result: list[Any] = [None] * len(ctx.needs_input_grad)  # without arguments at their defaults
    for i, slope in zip([0, *at], slopes):
        result[i] = slope
    return tuple(result)


# Suppression


def register_suppression(name: str, function: Callable[..., Any], arguments: str) -> None:
    """An operator that gives the indices of the boxes that stay; how many is known when it runs."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*detached(args), **kwargs)

    def fake(boxes: Any, scores: Any, *args: Any, **kwargs: Any) -> Any:
        count = torch.library.get_ctx().new_dynamic_size()
        return scores.new_empty(count, dtype=torch.int64)

    custom(name, run, f"(Tensor boxes, Tensor scores, {arguments}) -> Tensor").register_fake(fake)


# A whole layer


def made(bottoms: Sequence[Any], layer: str, tops: int) -> tuple[Any, list[Blob], list[Blob]]:
    """The layer after its forward pass, its bottoms and its tops; layer: its message, as hexadecimal digits."""
    device = arrays.device_of(bottoms[0].detach())
    dtype = np.dtype(np.float64 if bottoms[0].dtype == torch.float64 else np.float32)
    blobs = []
    for value in detached(bottoms):
        blob = Blob(tuple(value.shape), dtype, device)
        blob.data[...] = np.asarray(arrays.take(value, device, dtype))
        blobs.append(blob)
    one = make_layer(LayerParameter.FromString(bytes.fromhex(layer)), device=device, dtype=dtype)
    top = [Blob((), dtype, device) for _ in range(tops)]
    one.setup(blobs, top)
    one.reshape(blobs, top)
    one.forward(blobs, top)
    return one, blobs, top


def run_layer(bottoms: Sequence[Any], layer: str, kind: str, tops: int, tail: Sequence[int]) -> list[Any]:
    """The tops of a layer without learned numbers. kind: its type; tail: the shape of a row of its first top."""
    _, _, top = made(bottoms, layer, tops)
    return [torch.from_numpy(np.array(blob.data)).to(bottoms[0].device) for blob in top]


def fake_layer(bottoms: Sequence[Any], layer: str, kind: str, tops: int, tail: Sequence[int]) -> list[Any]:
    """Tensors like its tops."""
    if lists := layer_class(kind, kind).list_shapes:
        count = torch.library.get_ctx().new_dynamic_size()
        return [bottoms[0].new_empty([count if n < 0 else n for n in shape]) for shape in lists[:tops]]
    return [bottoms[0].new_empty([bottoms[1].shape[0], *tail]) for _ in range(tops)]


def layer_backward(grads: Sequence[Any], bottoms: Sequence[Any], layer: str, wanted: Sequence[bool]) -> list[Any]:
    """The gradients of the bottoms that are wanted."""
    one, blobs, top = made(bottoms, layer, len(grads))
    for blob, grad in zip(top, detached(grads)):
        blob.diff[...] = np.asarray(arrays.take(grad, one.device, blob.dtype))
    one.backward(top, list(wanted), blobs)
    pairs = zip(blobs, bottoms, wanted)
    return [torch.from_numpy(np.array(blob.diff)).to(x.device) for blob, x, asked in pairs if asked]


def fake_layer_backward(grads: Sequence[Any], bottoms: Sequence[Any], layer: str, wanted: Sequence[bool]) -> list[Any]:
    return [x.new_empty(x.shape) for x, asked in zip(bottoms, wanted) if asked]


def remember_layer(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    bottoms, ctx.layer, ctx.kind, *_ = inputs
    ctx.save_for_backward(*bottoms)


def layer_gradients(ctx: Any, grads: Sequence[Any]) -> tuple[Any, ...]:
    """Of a layer that chooses, such as Proposal, there is no gradient."""
    bottoms = list(ctx.saved_tensors)
    gradients: list[Any] = [None] * len(bottoms)
    if Trait.CHOOSES_ROWS not in traits_of(ctx.kind):
        wanted = [i == 0 and x.requires_grad for i, x in enumerate(bottoms)]  # the features', not the regions'
        if any(wanted):
            results = iter(torch.ops.boxpresso.layer_backward(list(grads), bottoms, ctx.layer, wanted))
            gradients = [next(results) if asked else None for asked in wanted]
    return gradients, None, None, None, None


def register_all() -> None:
    """Registers everything, once."""
    for op in OPERATORS.values():
        register(op)
    register_suppression("nms", suppressed, "float iou_threshold, int offset=0")
    register_suppression("batched_nms", suppressed_by_class, "Tensor idxs, float iou_threshold")
    register_suppression("nms_rotated", suppressed_rotated, "float iou_threshold, bool clockwise=True")
    whole = custom("layer", run_layer, "(Tensor[] bottoms, str layer, str kind, int tops, int[] tail) -> Tensor[]")
    whole.register_fake(fake_layer)
    schema = "(Tensor[] grads, Tensor[] bottoms, str layer, bool[] wanted) -> Tensor[]"
    custom("layer_backward", layer_backward, schema).register_fake(fake_layer_backward)
    whole.register_autograd(layer_gradients, setup_context=remember_layer)


register_all()
