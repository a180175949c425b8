"""The operators of boxpresso.ops for torch: the same names and arguments, and autograd goes through them.

from boxpresso.ops import torch as ops
ops.roi_align(features, rois, 7).sum().backward()
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from . import OPERATORS
from .operator import Call, Operator


class Differentiable(torch.autograd.Function):
    """Any operator, differentiable once; torch raises for a second derivative."""

    @staticmethod
    def forward(ctx: Any, op: Operator[...], options: dict[str, Any], *inputs: Any) -> Any:
        ctx.op, ctx.options, ctx.given = op, options, [value is not None for value in inputs]
        ctx.save_for_backward(*(value for value in inputs if value is not None))
        ctx.call = Call(op, detached(inputs), options)
        return ctx.call.forward(keep=any(ctx.needs_input_grad))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
        ctx.saved_tensors  # noqa: B018  raises when one of them was changed in place since
        return None, None, *ctx.call.backward(grad, ctx.needs_input_grad[2:])


def detached(inputs: Any) -> list[Any]:
    """The inputs without their history."""
    return [value.detach() if isinstance(value, torch.Tensor) else value for value in inputs]


def differentiable(op: Operator[...]) -> Callable[..., Any]:
    """An operator as a function of torch's tensors."""

    @functools.wraps(op.describe)
    def function(*args: Any, **kwargs: Any) -> Any:
        inputs, options = op.bind(*args, **kwargs)
        return Differentiable.apply(op, options, *inputs)

    return function


__all__ = list(OPERATORS)
globals().update({name: differentiable(op) for name, op in OPERATORS.items()})
