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
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ..proto.errors import BoxpressoError, LayerError
from . import OPERATORS, roi_pool_argmax, xla
from . import nms as suppressed
from . import nms_rotated as suppressed_rotated
from .operator import OPTIONAL, TO_NCHW, Operator, Shaped
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
    if said["name"] == "roi_pool_argmax":
        results[0][...] = roi_pool_argmax(*arguments, **said["options"])[1]
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


HANDLER = xla.handler(execute, jax.effects_barrier)
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
        plain[name] = value.tolist() if isinstance(value, (np.generic, np.ndarray, jax.Array)) else value
        if isinstance(plain[name], (list, tuple)):
            plain[name] = [each.item() if isinstance(each, np.generic) else each for each in plain[name]]
    return plain


def arrays_of(name: str, text: str, values: Sequence[Any]) -> dict[str, Any]:
    """The inputs of an operator by name, None for those that are not given."""
    rest = iter(values)
    return {each: next(rest) if there else None for each, there in zip(OPERATORS[name].inputs, given_in(text))}


def given_in(text: str) -> list[bool]:
    """Which inputs are given."""
    return list(read(text.encode())["given"])


def options_in(text: str) -> dict[str, Any]:
    return dict(read(text.encode())["options"])


def operate(name: str, options: dict[str, Any], inputs: dict[str, Any]) -> Any:
    """An operator of arrays, None for those that are not given."""
    text = json.dumps({"options": options, "given": [value is not None for value in inputs.values()]}, sort_keys=True)
    return OPERATE.bind(*(value for value in inputs.values() if value is not None), name=name, text=text)


def only_linear(name: str, text: str, values: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options and inputs of an operator without what it only adds."""
    options, inputs = options_in(text), arrays_of(name, text, values)
    if "extrapolation_value" in options:
        options["extrapolation_value"] = 0.0
    return options, {each: None if each == "bias" else value for each, value in inputs.items()}


# Primitives. OPERATE is an operator, PUSH its derivative along directions of inputs, PULL the gradient of sum(grad * result):
# each of the last two is the transpose of the other.

OPERATE, PUSH, PULL = (Primitive(f"boxpresso_{kind}") for kind in ("operator", "derivative", "gradient"))
PULL.multiple_results = True


def run_operator(*inputs: Any, name: str, text: str) -> Any:
    """OPERATE: text says options, and which inputs are given."""
    shape = jax.ShapeDtypeStruct(result_shape(name, text, inputs), inputs[0].dtype)
    return call(shape, inputs, name=name, options=options_in(text), given=given_in(text), wanted=None)


def result_shape(name: str, text: str, values: Sequence[Any]) -> list[int]:
    return shape_of(OPERATORS[name], arrays_of(name, text, values), options_in(text))


def run_push(*values: Any, name: str, text: str, moved: tuple[bool, ...]) -> Any:
    """PUSH: values are the inputs, and directions of those that are moved.

    Raises
    ------
    BoxpressoError: one is moved in which the operator is not linear.
    """
    op, inputs, directions = OPERATORS[name], values[: len(moved)], iter(values[len(moved) :])
    options, bare = only_linear(name, text, inputs)
    names = [each for each, there in zip(op.inputs, given_in(text)) if there]
    total: Any = 0
    for each, move in zip(names, moved):
        if not move:
            continue
        direction = next(directions)
        if each == "bias":
            along = direction if options["layout"] == "NHWC" else direction[:, None, None]
            along = jnp.broadcast_to(along, result_shape(name, text, inputs))
        elif name == "roi_pool" and each == "x":
            along = at_largest(text, inputs, direction)
        elif each in op.linear_in(options):
            along = operate(name, options, {**bare, each: direction})
        else:
            raise BoxpressoError(
                f"{name} has no derivative along {each} in jax's forward mode (jvp), nor a second one, but grad and vjp"
            )
        total = total + along.astype(inputs[0].dtype)
    return total


def at_largest(text: str, inputs: Sequence[Any], direction: Any) -> Any:
    """The pixels of a map `direction` that roi_pool would take from x."""
    x, rois, last = inputs[0], inputs[1], options_in(text)["layout"] == "NHWC"
    shape = result_shape("roi_pool", text, inputs)
    said = {"name": "roi_pool_argmax", "options": options_in(text), "given": given_in(text), "wanted": None}
    places = call(jax.ShapeDtypeStruct(shape, jnp.int32), inputs, **said)
    if last:
        places, direction = (jnp.moveaxis(each, 3, 1) for each in (places, direction))
    flat = direction.reshape(*direction.shape[:2], -1)
    image = jnp.clip(jnp.nan_to_num(rois[:, 0]).astype(int), 0, max(len(flat) - 1, 0))
    count, channels, *_ = places.shape
    if not flat.size:
        return jnp.zeros(shape, x.dtype)
    taken = flat[
        image[:, None, None], jnp.arange(channels)[:, None], jnp.maximum(places, 0).reshape(count, channels, -1)
    ]
    taken = jnp.where(places < 0, 0, taken.reshape(places.shape))
    return jnp.moveaxis(taken, 1, 3) if last else taken


def run_pull(grad: Any, *inputs: Any, name: str, text: str, wanted: tuple[bool, ...]) -> list[Any]:
    """PULL: wanted says of which of the inputs that are given."""
    asked = iter(wanted)
    by_input = [there and next(asked) for there in given_in(text)]
    first = inputs[0].dtype
    narrow = first in (jnp.float16, jnp.bfloat16)  # gradients are as Operator's `kinds`
    kinds = [jnp.float32 if narrow and x.dtype in (jnp.float32, jnp.float64) else first for x in inputs]
    results = [jax.ShapeDtypeStruct(x.shape, kind) for x, kind, ask in zip(inputs, kinds, wanted) if ask]
    said = {"name": name, "options": options_in(text), "given": given_in(text), "wanted": by_input}
    slopes = call(results, (grad, *inputs), **said)
    return [slope.astype(x.dtype) for slope, x in zip(slopes, (x for x, ask in zip(inputs, wanted) if ask))]


def moves(tangent: Any) -> bool:
    """Whether a tangent may be anything but 0."""
    return type(tangent) is not ad.Zero and tangent.dtype != jax.dtypes.float0


def move_operator(primals: Sequence[Any], tangents: Sequence[Any], **said: Any) -> tuple[Any, Any]:
    """The derivative of OPERATE."""
    moved = tuple(map(moves, tangents))
    directions = [tangent for tangent, move in zip(tangents, moved) if move]
    return OPERATE.bind(*primals, **said), PUSH.bind(*primals, *directions, moved=moved, **said)


def move_push(primals: Sequence[Any], tangents: Sequence[Any], **said: Any) -> tuple[Any, Any]:
    """The derivative of PUSH: it is linear in the directions, and made of operators."""
    count = len(said["moved"])
    if not any(map(moves, tangents[:count])):
        directions = [ad.instantiate_zeros(tangent) for tangent in tangents[count:]]
        return PUSH.bind(*primals, **said), PUSH.bind(*primals[:count], *directions, **said)
    directions = [ad.instantiate_zeros(tangent) for tangent in tangents]
    result, slope = jax.jvp(functools.partial(run_push, **said), primals, directions)
    return result, slope


def turn_push(ct: Any, *values: Any, name: str, text: str, moved: tuple[bool, ...]) -> list[Any]:
    """The transpose of PUSH in its directions."""
    inputs, directions = values[: len(moved)], values[len(moved) :]
    if type(ct) is ad.Zero:
        return [None] * len(values)
    asked = [ad.is_undefined_primal(direction) for direction in directions]
    rest = iter(asked)
    wanted = tuple(move and next(rest) for move in moved)
    slopes = iter(PULL.bind(ct, *inputs, name=name, text=text, wanted=wanted))
    return [*(None for _ in inputs), *(next(slopes) if ask else None for ask in asked)]


def move_pull(primals: Sequence[Any], tangents: Sequence[Any], *, name: str, text: str, wanted: Any) -> tuple[Any, Any]:
    """The derivative of PULL. What it gives is linear in grad, and but for its own gradient in each input that the operator is
    linear in."""
    slopes = PULL.bind(*primals, name=name, text=text, wanted=wanted)
    present = [each for each, there in zip(OPERATORS[name].inputs, given_in(text)) if there]
    asked = [each for each, ask in zip(present, wanted) if ask]
    changes: dict[str, Any] = {}

    def add(names: Sequence[str], more: Sequence[Any]) -> None:
        for each, change in zip(names, more):
            changes[each] = changes[each] + change if each in changes else change

    if moves(tangents[0]):
        add(asked, PULL.bind(tangents[0], *primals[1:], name=name, text=text, wanted=wanted))
    for each, direction in zip(present, tangents[1:]):
        if moves(direction):
            add(*slopes_along(name, text, primals[0], primals[1:], each, direction, asked))
    return slopes, [changes[each] if each in changes else jnp.zeros_like(slope) for each, slope in zip(asked, slopes)]


def slopes_along(
    name: str, text: str, grad: Any, inputs: Sequence[Any], moved: str, value: Any, asked: Sequence[str]
) -> tuple[list[str], Sequence[Any]]:
    """How the gradients that are asked for change as an input is moved along a value: their inputs' names, and the changes."""
    op, options = OPERATORS[name], options_in(text)
    others = [each for each in asked if each not in (moved, "bias")]
    if moved == "bias" or (name, moved) == ("roi_pool", "x"):
        return [], []
    if moved not in op.linear_in(options):
        raise BoxpressoError(
            f"{name} has no second derivative in {moved} under jax; boxpresso.torch has that of every operator"
        )
    if not others:
        return [], []
    options, bare = only_linear(name, text, inputs)
    values = {each: array for each, array in {**bare, moved: value}.items() if array is not None}
    said = {"options": options, "given": [each in values for each in op.inputs]}
    wanted = tuple(each in others for each in values)
    slopes = PULL.bind(grad, *values.values(), name=name, text=json.dumps(said, sort_keys=True), wanted=wanted)
    return [each for each in values if each in others], slopes


def turn_pull(cts: Sequence[Any], grad: Any, *inputs: Any, name: str, text: str, wanted: tuple[bool, ...]) -> list[Any]:
    """The transpose of PULL in grad, or in one of the inputs."""
    present = [each for each, there in zip(OPERATORS[name].inputs, given_in(text)) if there]
    rest = iter(cts)
    along = {each: next(rest) for each, ask in zip(present, wanted) if ask}
    along = {each: ct for each, ct in along.items() if type(ct) is not ad.Zero}
    result: list[Any] = [None] * (1 + len(inputs))
    if not along:
        return result
    if ad.is_undefined_primal(grad):
        moved = tuple(each in along for each in present)
        result[0] = PUSH.bind(*inputs, *along.values(), name=name, text=text, moved=moved)
        return result
    at = next(i for i, value in enumerate(inputs) if ad.is_undefined_primal(value))
    turned = present[at]
    values = [jnp.zeros(value.aval.shape, value.aval.dtype) if i == at else value for i, value in enumerate(inputs)]
    for each, ct in along.items():
        for slope in slopes_along(name, text, grad, values, each, ct, [turned])[1]:
            result[1 + at] = slope if result[1 + at] is None else result[1 + at] + slope
    return result


def one_by_one(primitive: Any, values: Sequence[Any], axes: Sequence[Any], **said: Any) -> tuple[Any, Any]:
    """A primitive under vmap: for one of the batch after another."""
    moved = [jnp.moveaxis(value, axis, 0) for value, axis in zip(values, axes) if axis is not None]

    def one(parts: Sequence[Any]) -> Any:
        rest = iter(parts)
        return primitive.bind(*(value if axis is None else next(rest) for value, axis in zip(values, axes)), **said)

    results = jax.lax.map(one, moved)
    return results, [0] * len(results) if primitive.multiple_results else 0


def shaped(shape: Sequence[int], dtype: Any) -> Any:
    return jax.core.ShapedArray(tuple(shape), dtype)


def set_up(primitive: Any, run: Callable[..., Any], shapes: Callable[..., Any]) -> None:
    """How a primitive runs, is compiled, and goes under vmap."""
    primitive.def_impl(run)
    primitive.def_abstract_eval(shapes)
    mlir.register_lowering(primitive, mlir.lower_fun(run, multiple_results=primitive.multiple_results))
    batching.primitive_batchers[primitive] = functools.partial(one_by_one, primitive)


set_up(OPERATE, run_operator, lambda *inputs, name, text: shaped(result_shape(name, text, inputs), inputs[0].dtype))
set_up(
    PUSH,
    run_push,
    lambda *values, name, text, moved: shaped(result_shape(name, text, values[: len(moved)]), values[0].dtype),
)
set_up(
    PULL,
    run_pull,
    lambda grad, *inputs, wanted, **_: [shaped(x.shape, x.dtype) for x, ask in zip(inputs, wanted) if ask],
)
ad.primitive_jvps.update({OPERATE: move_operator, PUSH: move_push, PULL: move_pull})
ad.primitive_transposes.update({PUSH: turn_push, PULL: turn_pull})


def turn_operator(ct: Any, *inputs: Any, name: str, text: str) -> list[Any]:
    """The transpose of OPERATE in the input that it is linear in."""
    wanted = tuple(map(ad.is_undefined_primal, inputs))
    if type(ct) is ad.Zero:
        return [None] * len(inputs)
    values = [jnp.zeros(x.aval.shape, x.aval.dtype) if ask else x for x, ask in zip(inputs, wanted)]
    slopes = iter(PULL.bind(ct, *values, name=name, text=text, wanted=wanted))
    return [next(slopes) if ask else None for ask in wanted]


ad.primitive_transposes[OPERATE] = turn_operator


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
        if op.regions is not None and len(args) > op.regions:
            at = op.regions
            args = (*args[:at], with_images(args[at], op.columns), *args[at + 1 :])
        elif "rois" in kwargs:
            kwargs["rois"] = with_images(kwargs["rois"], op.columns)
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
        return operate(name, options, dict(zip(op.inputs, inputs)))

    function.__module__ = __name__  # where pickle looks for it
    return function


def check(op: Operator[...], inputs: Sequence[Any], options: dict[str, Any]) -> None:
    """Raises what the operator says of its arguments when it is traced, not when it runs."""
    name, shapes = name_of(op), [None if value is None else Shaped(tuple(value.shape)) for value in inputs]
    by_name = dict(zip(op.inputs, shapes))
    seen = {**by_name}
    first = seen[op.inputs[0]]
    if options.get("layout") == "NHWC" and first is not None and len(first.shape) == 4:
        seen[op.inputs[0]] = Shaped(tuple(first.shape[axis] for axis in TO_NCHW))
    try:
        op.describe(**seen, **options)
        shape = shape_of(op, by_name, options)
    except BoxpressoError as error:
        raise LayerError(f"{name}: {error}") from None
    except (IndexError, ValueError) as error:
        axes = ", ".join(f"{each} {value.shape}" for each, value in by_name.items() if value is not None)
        raise LayerError(f"{name}: an array has too few or too many axes: {axes}") from error
    if min(shape, default=0) < 0:
        raise LayerError(
            f"{name}: a kernel is larger than what it goes over: the result would be of shape {tuple(shape)}"
        )


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
