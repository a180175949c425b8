"""The operators under torch, differentiable as often as one likes, also by torch.func: grad, vjp, jvp, hessian, vmap.

`Forward` is an operator and `Backward` its gradient, each the other's derivative. With cotangents u of the gradients that
Backward gives, sum(u * gradient) is the derivative of sum(grad * result) along u. In an input in which the operator is linear
that is sum(grad * result), with u in the place of the input: the operator again, and its gradient again, by the kernels. What
is not linear (places of samples, maxima) is differentiated in torch's operations (forms.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import forms
from .operator import Call, Operator


def detached(inputs: Sequence[Any]) -> list[Any]:
    """The inputs without their history."""
    return [value.detach() if isinstance(value, torch.Tensor) and value.requires_grad else value for value in inputs]


def one_by_one(
    function: Callable[..., Any], info: Any, dims: Sequence[Any], *args: Any, **kwargs: Any
) -> tuple[Any, Any]:
    """What torch.vmap gives of a function: its results for each of the batch, stacked."""
    moved = [isinstance(value, torch.Tensor) and axis is not None for value, axis in zip(args, dims)]
    parts = [value.unbind(axis) if move else value for value, axis, move in zip(args, dims, moved)]
    results = [
        function(*(part[i] if move else part for part, move in zip(parts, moved)), **kwargs)
        for i in range(info.batch_size)
    ]
    if isinstance(results[0], torch.Tensor):
        return torch.stack(results), 0
    stacked = [None if each[0] is None else torch.stack(each) for each in zip(*results)]
    return type(results[0])(stacked), type(results[0])(None if each is None else 0 for each in stacked)


class Forward(torch.autograd.Function):  # type: ignore[misc]
    """An operator: Forward.apply(op, options, *inputs), None for those that are not given."""

    @staticmethod
    def forward(op: Operator[...], options: dict[str, Any], *inputs: Any) -> Any:
        return op.cached(detached(inputs), options, (), Call.forward)

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.op, ctx.options, *values = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*values)
        ctx.save_for_forward(*values)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
        if grad is None:
            return (None,) * len(ctx.needs_input_grad)
        wanted = tuple(bool(asked) for asked in ctx.needs_input_grad[2:])
        return None, None, *Backward.apply(ctx.op, ctx.options, wanted, grad, *ctx.saved_tensors)

    @staticmethod
    def jvp(ctx: Any, op: Any, options: Any, *directions: Any) -> Any:
        inputs = ctx.saved_tensors
        shape = Forward.apply(ctx.op, ctx.options, *inputs)
        asked = [True, *(False for _ in inputs)]
        slope = derivatives(ctx.op, ctx.options, torch.zeros_like(shape), inputs, directions, asked)[0]
        return torch.zeros_like(shape) if slope is None else slope

    @staticmethod
    def vmap(info: Any, dims: Sequence[Any], *args: Any) -> tuple[Any, Any]:
        return one_by_one(Forward.apply, info, dims, *args)


class Backward(torch.autograd.Function):  # type: ignore[misc]
    """Its gradient: Backward.apply(op, options, wanted, grad, *inputs) gives one for each input; None: not wanted."""

    @staticmethod
    def forward(op: Operator[...], options: dict[str, Any], wanted: tuple[bool, ...], grad: Any, *inputs: Any) -> Any:
        gradient = grad.detach()
        return tuple(op.cached(detached(inputs), options, ("backward",), lambda call: call.backward(gradient, wanted)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.op, ctx.options, ctx.wanted, *values = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*values)
        ctx.save_for_forward(*values)

    @staticmethod
    def backward(ctx: Any, *directions: Any) -> tuple[Any, ...]:
        grad, *inputs = ctx.saved_tensors
        asked = ctx.needs_input_grad[3:]
        return None, None, None, *derivatives(ctx.op, ctx.options, grad, inputs, directions, asked)

    @staticmethod
    def jvp(ctx: Any, op: Any, options: Any, wanted: Any, of_grad: Any, *directions: Any) -> tuple[Any, ...]:
        grad, *inputs = ctx.saved_tensors
        slopes = derivatives(ctx.op, ctx.options, grad, inputs, directions, [False, *ctx.wanted])[1:]
        if of_grad is not None:
            more = Backward.apply(ctx.op, ctx.options, ctx.wanted, of_grad, *inputs)
            slopes = [
                slope if one is None else one if slope is None else slope + one for slope, one in zip(slopes, more)
            ]
        pairs = zip(slopes, inputs, ctx.wanted)
        return tuple(torch.zeros_like(x) if slope is None and asked else slope for slope, x, asked in pairs)

    @staticmethod
    def vmap(info: Any, dims: Sequence[Any], *args: Any) -> tuple[Any, Any]:
        return one_by_one(Backward.apply, info, dims, *args)


def derivatives(
    op: Operator[...],
    options: dict[str, Any],
    grad: Any,
    inputs: Sequence[Any],
    directions: Sequence[Any],
    asked: Sequence[bool],
) -> list[Any]:
    """The gradients of the sum over inputs of sum(direction * gradient), in `grad` and in each input: those that are asked.

    directions: one for each input, or None. None in the result: it is 0.
    """
    result: list[Any] = [None] * len(asked)

    def add(i: int, value: Any) -> None:
        if asked[i] and value is not None:
            result[i] = value if result[i] is None else result[i] + value

    smooth: list[Any] = [None] * len(inputs)
    without = {**options, **({"extrapolation_value": 0.0} if "extrapolation_value" in options else {})}
    for i, (input_name, direction) in enumerate(zip(op.inputs, directions)):
        if direction is None:
            continue
        if input_name == "bias":
            column = direction if options["layout"] == "NHWC" else direction[:, None, None]
            add(0, column.to(grad.dtype).expand_as(grad))
        elif input_name in op.linear_in(options):  # and the operator without what it only adds
            values = [direction if j == i else value for j, value in enumerate(inputs)]
            values = [None if name == "bias" else value for name, value in zip(op.inputs, values)]
            if asked[0]:
                add(0, Forward.apply(op, without, *values).to(grad.dtype))
            wanted = tuple(bool(asked[j + 1]) and j != i and value is not None for j, value in enumerate(values))
            if any(wanted):
                for j, slope in enumerate(Backward.apply(op, without, wanted, grad, *values)):
                    add(j + 1, slope)
        else:
            smooth[i] = direction
    if any(direction is not None for direction in smooth):
        moved, any_asked = tuple(direction is not None for direction in smooth), tuple(bool(ask) for ask in asked)
        for i, value in enumerate(ByForm.apply(op, options, moved, any_asked, grad, *inputs, *smooth)):
            add(i, value)
    return result


class ByForm(torch.autograd.Function):  # type: ignore[misc]
    """The same by torch's own derivatives of the operator's form. Under vmap one after another, as forms look at numbers."""

    @staticmethod
    def forward(op: Any, options: Any, moved: Any, asked: Any, *values: Any) -> Any:
        return by_form(op, options, moved, asked, *values)

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.how = inputs[:4]
        ctx.save_for_backward(*inputs[4:])

    @staticmethod
    def backward(ctx: Any, *directions: Any) -> tuple[Any, ...]:
        values = list(ctx.saved_tensors)
        at = [i for i, asked in enumerate(ctx.needs_input_grad[4:]) if asked]

        def slopes_at(*moved_values: Any) -> Any:
            now = [*values]
            for i, value in zip(at, moved_values):
                now[i] = value
            return tuple(slope for slope in by_form(*ctx.how, *now) if slope is not None)

        _, pull = torch.func.vjp(slopes_at, *(values[i] for i in at))
        slopes = pull(tuple(direction for direction in directions if direction is not None))
        result: list[Any] = [None] * len(ctx.needs_input_grad)
        for i, slope in zip(at, slopes):
            result[4 + i] = slope
        return tuple(result)

    @staticmethod
    def vmap(info: Any, dims: Sequence[Any], *args: Any) -> tuple[Any, Any]:
        return one_by_one(ByForm.apply, info, dims, *args)


def by_form(
    op: Operator[...], options: dict[str, Any], moved: Sequence[bool], asked: Sequence[bool], *values: Any
) -> Any:
    """values: the gradient of the result, the inputs, and a direction for each that is moved."""
    count = len(op.inputs)
    name, directions = op.__name__, values[1 + count :]  # type: ignore[attr-defined]
    places = [i for i, move in enumerate(moved) if move]
    targets = [i for i, (ask, value) in enumerate(zip(asked, values)) if ask and value is not None]

    def slope_along(*moved_values: Any) -> Any:
        now = list(values[: 1 + count])
        for i, value in zip(targets, moved_values):
            now[i] = value

        def result_of(*at: Any) -> Any:
            arrays = now[1:]
            for i, value in zip(places, at):
                arrays[i] = value
            return forms.compute(name, op.inputs, arrays, options)

        _, pull = torch.func.vjp(result_of, *(now[1 + i] for i in places))
        return sum((slope * directions[i]).sum() for i, slope in zip(places, pull(now[0])))

    slopes = torch.func.grad(slope_along, argnums=tuple(range(len(targets))))(*(values[i] for i in targets))
    result: list[Any] = [None] * len(asked)
    for i, slope in zip(targets, slopes):
        result[i] = slope
    return tuple(result)
