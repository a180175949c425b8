"""The operators of boxpresso.ops for jax on the CPU: the same names and arguments, under jit, grad and vmap.

    import boxpresso.jax as ops
    jax.grad(lambda x: ops.roi_align(x, rois, 7).sum())(x)

Each is a call of XLA's foreign function interface (xla.py) over the buffers of XLA, and its gradient another.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..proto.errors import BoxpressoError, LayerError
from . import OPERATORS, xla
from . import nms as suppressed
from . import nms_rotated as suppressed_rotated
from .operator import OPTIONAL, Operator, Shaped
from .shapes import name_of, shape_of

TARGET = "boxpresso"


# What XLA calls


@functools.lru_cache(1024)
def read(text: bytes) -> dict[str, Any]:
    """What a call is of: see `call`."""
    said: dict[str, Any] = json.loads(text)
    said["options"] = {name: tuple(v) if isinstance(v, list) else v for name, v in said["options"].items()}
    return said


def execute(text: bytes, arguments: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
    """Runs an operator, or its gradient, from XLA's buffers into XLA's buffers."""
    said = read(text)
    if said["name"] in SUPPRESSIONS:
        stay = SUPPRESSIONS[said["name"]](arguments[0], arguments[1], **said["options"])[: len(results[0])]
        results[0][...] = -1
        results[0][: len(stay)] = stay
        return
    op, wanted, values = OPERATORS[said["name"]], said["wanted"], iter(arguments)
    grad = None if wanted is None else next(values)
    inputs = [next(values) if there else None for there in said["given"]]
    call = op.open(inputs, said["options"], ("xla", None if wanted is None else tuple(wanted)))
    rooms = iter(results)
    with call.into(lambda shape, dtype: next(rooms)):
        if grad is None:
            call.forward()
        else:
            call.backward(grad, wanted)
    call.close()


HANDLER = xla.handler(execute)  # kept for as long as XLA may call it
jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(HANDLER), platform="cpu")


# What jax traces


def call(results: Any, inputs: Sequence[Any], **said: Any) -> Any:
    """A call of `execute`: said is the name of the operator, its options, which inputs are given, and of which a gradient is
    wanted (None: it is the operator itself)."""
    return jax.ffi.ffi_call(TARGET, results, vmap_method="sequential")(*inputs, said=json.dumps(said, sort_keys=True))


def numbers_of(options: dict[str, Any]) -> dict[str, Any]:
    """Options as JSON has them: plain numbers, also where they came as numpy's."""
    plain = {}
    for name, value in options.items():
        if isinstance(value, jax.core.Tracer):
            raise BoxpressoError(
                f"{name} must be a number, not a traced array: jit's static_argnames, or a partial, gives it"
            )
        plain[name] = (
            value.item() if isinstance(value, (np.generic, np.ndarray, jax.Array)) and value.ndim == 0 else value
        )
        if isinstance(plain[name], (list, tuple)):
            plain[name] = [each.item() if isinstance(each, np.generic) else each for each in plain[name]]
    return plain


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def operate(name: str, text: str, *inputs: Any) -> Any:
    """An operator of the inputs that are given; text: its options and which inputs these are."""
    op, said = OPERATORS[name], read(text.encode())
    values = iter(inputs)
    named = {each: next(values) if there else None for each, there in zip(op.inputs, said["given"])}
    shape = shape_of(op, named, said["options"])
    result = jax.ShapeDtypeStruct(shape, inputs[0].dtype)
    return call(result, inputs, name=name, options=said["options"], given=said["given"], wanted=None)


def operate_forward(name: str, text: str, *inputs: Any) -> tuple[Any, Any]:
    values = tuple(each.value for each in inputs)
    return operate(name, text, *values), (values, tuple(() if each.perturbed else None for each in inputs))


def operate_backward(name: str, text: str, kept: Any, grad: Any) -> tuple[Any, ...]:
    """The gradient of each input that has one; None for the others, of which jax says that they are 0."""
    inputs, marks = kept
    if isinstance(grad, jax.custom_derivatives.SymbolicZero):
        return (None,) * len(inputs)
    said, values, asked = read(text.encode()), iter(marks), []
    for there in said["given"]:
        asked.append(there and next(values) is not None)
    here = [ask for ask, there in zip(asked, said["given"]) if there]
    first = inputs[0].dtype
    results = [jax.ShapeDtypeStruct(x.shape, first) for x, ask in zip(inputs, here) if ask]
    gradients = iter(
        call(results, (grad, *inputs), name=name, options=said["options"], given=said["given"], wanted=asked)
    )
    return tuple(next(gradients).astype(x.dtype) if ask else None for x, ask in zip(inputs, here))


operate.defvjp(operate_forward, operate_backward, symbolic_zeros=True)


def with_images(rois: Any, columns: int) -> Any:
    """Regions (K, columns) of a list of arrays of boxes, one for each image; an array stays."""
    if not isinstance(rois, (list, tuple)):
        return rois
    parts = [jnp.asarray(boxes) for boxes in rois]
    parts = [boxes if boxes.dtype == jnp.float64 else boxes.astype(jnp.float32) for boxes in parts]
    return jnp.concatenate([jnp.zeros((0, columns)), *(jnp.insert(b, 0, i, axis=1) for i, b in enumerate(parts))])


def traceable(op: Operator[...]) -> Callable[..., Any]:
    """An operator as a function of jax's arrays."""
    name = name_of(op)

    @functools.wraps(op.describe)
    def function(*args: Any, **kwargs: Any) -> Any:
        values = {**dict(zip(op.names, args)), **kwargs}
        if "rois" in values and "rois" in op.inputs:
            values["rois"] = with_images(values["rois"], op.columns)
            args, kwargs = (), values
        inputs, options = op.bind(*args, **kwargs)
        for input_name, value in zip(op.inputs, inputs):
            if value is None and input_name not in OPTIONAL:
                raise BoxpressoError(f"{name}: {input_name} must be an array, got None")
        inputs = [None if value is None else jnp.asarray(value) for value in inputs]
        options = numbers_of(options)
        if options.get("layout", "NCHW") not in ("NCHW", "NHWC"):
            raise BoxpressoError(f"layout must be 'NCHW' or 'NHWC', got {options['layout']!r}")
        if not jnp.issubdtype(inputs[0].dtype, jnp.floating):
            raise BoxpressoError(f"{name}: {op.inputs[0]} must be of a float type, got {inputs[0].dtype}")
        check(op, inputs, options)
        said = {"options": options, "given": [value is not None for value in inputs]}
        return operate(name, json.dumps(said, sort_keys=True), *(value for value in inputs if value is not None))

    return function


def check(op: Operator[...], inputs: Sequence[Any], options: dict[str, Any]) -> None:
    """Raises what the operator says of its arguments when it is traced, not when it runs."""
    shapes = [None if value is None else Shaped(tuple(value.shape)) for value in inputs]
    if options.get("layout") == "NHWC" and shapes[0] is not None and len(shapes[0].shape) == 4:
        batch, height, width, channels = shapes[0].shape
        shapes[0] = Shaped((batch, channels, height, width))
    try:
        op.describe(**dict(zip(op.inputs, shapes)), **options)
    except BoxpressoError as error:
        raise LayerError(f"{name_of(op)}: {error}") from None


# Suppression


def suppression(function: Callable[..., Any], boxes: Any, scores: Any, most: int | None, **options: Any) -> Any:
    boxes, scores = jnp.asarray(boxes), jnp.asarray(scores)
    count = boxes.shape[0] if most is None else most
    result = jax.ShapeDtypeStruct((count,), jnp.int32)
    said = {"name": function.__name__, "options": numbers_of(options), "given": [True, True], "wanted": None}
    return call(result, [jax.lax.stop_gradient(boxes), jax.lax.stop_gradient(scores)], **said)


def nms(boxes: Any, scores: Any, iou_threshold: float, offset: int = 0, *, most: int | None = None) -> Any:
    """boxpresso.ops.nms with a result of a fixed size, as jit wants it.

    Parameters
    ----------
    most : the size of the result; None takes the number of boxes.
    boxes, scores, iou_threshold, offset : see boxpresso.ops.nms.

    Returns
    -------
    (most,), int32: the indices of the boxes that stay, best first, then -1.
    """
    return suppression(suppressed, boxes, scores, most, iou_threshold=iou_threshold, offset=offset)


def nms_rotated(
    boxes: Any, scores: Any, iou_threshold: float, clockwise: bool = True, *, most: int | None = None
) -> Any:
    """boxpresso.ops.nms_rotated, with the result of `nms`."""
    return suppression(suppressed_rotated, boxes, scores, most, iou_threshold=iou_threshold, clockwise=clockwise)


SUPPRESSIONS: dict[str, Callable[..., Any]] = {"nms": suppressed, "nms_rotated": suppressed_rotated}
__all__ = [*OPERATORS, "nms", "nms_rotated"]
globals().update({name: traceable(op) for name, op in OPERATORS.items()})
