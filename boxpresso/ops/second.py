"""The second derivatives of the operators under torch.

With cotangents u of the gradients that a backward gives, sum(u * gradient) is the derivative of sum(grad * result) along u. In an
input in which the operator is linear that is sum(grad * result), with u in the place of the input: the operator again, and its
gradient again, by the kernels. What is not linear (places of samples, maxima) is differentiated in torch's operations (forms.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import forms
from .operator import Operator


def linear_in(op: Operator[...], options: dict[str, Any]) -> Sequence[str]:
    """The inputs in each of which the result is linear."""
    return ("x",) if options.get("pool_mode") == "avg" else op.linear


def along(
    op: Operator[...], inputs: Sequence[Any], options: dict[str, Any], i: int, direction: Any
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with a direction in the place of an input in which the result is linear; what is only added is left out."""
    given = [direction if j == i else value for j, value in enumerate(inputs)]
    given = [None if name == "bias" else value for name, value in zip(op.inputs, given)]
    return given, {**options, **({"extrapolation_value": 0.0} if "extrapolation_value" in options else {})}


def derivatives(
    op: Operator[...], options: dict[str, Any], grad: Any, inputs: Sequence[Any], directions: Sequence[Any], asked: Sequence[bool]
) -> list[Any]:
    """The gradients of the sum over inputs of sum(direction * gradient), in `grad` and in each input: those that are asked.

    directions: one for each input, or None. None in the result: it is 0.
    """
    result: list[Any] = [None] * len(asked)

    def add(i: int, value: Any) -> None:
        if asked[i] and value is not None:
            result[i] = value if result[i] is None else result[i] + value

    space = torch.ops.boxpresso
    name: str = op.__name__  # type: ignore[attr-defined]
    one, back = getattr(space, name), getattr(space, f"{name}_backward")
    smooth = [None] * len(inputs)
    for i, (what, direction) in enumerate(zip(op.inputs, directions)):
        if direction is None:
            continue
        if what == "bias":
            column = direction if options["layout"] == "NHWC" else direction[:, None, None]
            add(0, column.to(grad.dtype).expand_as(grad))
        elif what in linear_in(op, options):
            given, rest = along(op, inputs, options, i, direction)
            arguments = dict(zip(op.inputs, given))
            if asked[0]:
                add(0, one(**arguments, **rest).to(grad.dtype))
            wanted = [asked[j + 1] and j != i and value is not None for j, value in enumerate(given)]
            if any(wanted):
                gradients = iter(back(grad, wanted, **arguments, **rest))
                for j, want in enumerate(wanted):
                    add(j + 1, next(gradients) if want else None)
        else:
            smooth[i] = direction
    if any(direction is not None for direction in smooth):
        for i, value in enumerate(by_form(op, options, grad, inputs, smooth, asked)):
            add(i, value)
    return result


def by_form(
    op: Operator[...], options: dict[str, Any], grad: Any, inputs: Sequence[Any], directions: Sequence[Any], asked: Sequence[bool]
) -> list[Any]:
    """The same by torch's own derivatives of the operator's form."""
    name: str = op.__name__  # type: ignore[attr-defined]
    again = torch.is_grad_enabled()  # whether a further derivative may come
    with torch.enable_grad():  # type: ignore[no-untyped-call]
        values = [grad, *inputs]
        moved = [False, *(direction is not None for direction in directions)]
        for i, value in enumerate(values):
            if value is not None and (asked[i] or moved[i]):
                values[i] = value.view_as(value) if again and value.requires_grad else value.detach().requires_grad_()
        along_them = [value for value, move in zip(values, moved) if move]
        given = [direction for direction in directions if direction is not None]
        first = torch.autograd.grad(
            forms.compute(name, op.inputs, values[1:], options), along_them, values[0], create_graph=True, materialize_grads=True
        )
        total = sum((slope * direction).sum() for slope, direction in zip(first, given))
        targets = [i for i, ask in enumerate(asked) if ask and values[i] is not None]
        result: list[Any] = [None] * len(asked)
        if total.requires_grad:
            slopes = torch.autograd.grad(total, [values[i] for i in targets], create_graph=again, allow_unused=True)
            for i, slope in zip(targets, slopes):
                result[i] = slope
    return result
