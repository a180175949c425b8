"""The operators of boxpresso.ops for torch: the same names and arguments, and autograd goes through them.

    from boxpresso.ops import torch as ops
    ops.roi_align(features, rois, 7).sum().backward()

Regions may be a list of tensors (K, 4), the boxes of each image, as torchvision takes them; of rotated ones (K, 5). Under
torch.compile and torch.export they are operators of torch, torch.ops.boxpresso.roi_align and so on, see library.py.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch.autograd import forward_ad

from ..proto.errors import BoxpressoError
from . import OPERATORS, arrays, library, pyramid  # noqa: F401  library registers torch.ops.boxpresso
from . import batched_nms as suppressed_by_class
from . import nms as suppressed
from . import nms_rotated as suppressed_rotated
from .derivatives import Backward, Forward, detached
from .operator import Call, Operator
from .shapes import name_of


class Differentiable(torch.autograd.Function):
    """Any operator. It is the Forward of derivatives.py, and quicker: its gradient finds what the layer has kept for it."""

    @staticmethod
    def forward(ctx: Any, op: Operator[...], options: dict[str, Any], *inputs: Any) -> Any:
        ctx.op, ctx.options, ctx.given = op, options, [value is not None for value in inputs]
        ctx.context = contextvars.copy_context()  # backward runs in a thread of torch's own
        ctx.save_for_backward(*(value for value in inputs if value is not None))
        keep = any(ctx.needs_input_grad)
        ctx.call = op.open(detached(inputs), options, ("autograd", keep))
        result = ctx.call.forward(keep)
        if not keep:
            ctx.call.close()
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
        saved, op, call = iter(ctx.saved_tensors), ctx.op, ctx.call  # raises where one was changed since
        if torch.is_grad_enabled():  # the gradient is to have one itself
            inputs = [next(saved) if present else None for present in ctx.given]
            wanted = tuple(bool(asked) for asked in ctx.needs_input_grad[2:])
            return None, None, *Backward.apply(op, ctx.options, wanted, grad, *inputs)
        ctx.call = None
        if call is None:  # it has gone back: this is not the first time
            inputs = [next(saved) if present else None for present in ctx.given]
            call = ctx.context.run(op.open, detached(inputs), ctx.options, ("autograd", True))
        gradients = call.backward(grad, ctx.needs_input_grad[2:])
        call.close()
        return None, None, *gradients


def with_images(rois: Any, like: Any, columns: int = 5) -> Any:
    """Regions (K, columns) of a list of boxes, one for each image of `like`; a tensor stays."""
    if not isinstance(rois, (list, tuple)):
        return rois
    if not rois:
        return like.new_zeros((0, columns))
    real = [boxes if boxes.dtype == torch.float64 else boxes.float() for boxes in rois]  # for the image numbers
    return torch.cat([torch.cat([torch.full_like(boxes[:, :1], i), boxes], 1) for i, boxes in enumerate(real)])


KNOWN = {torch.Tensor, torch.nn.Parameter, int, float, bool, str, tuple, type(None)}


def traced(values: Iterable[Any]) -> bool:
    """Whether one of these values is a tensor without numbers, as a tracer of torch makes them."""
    for value in values:  # noqa: SIM110  any(...) costs a call for each
        if type(value) not in KNOWN and isinstance(value, torch.Tensor):
            return True
    return False


def transformed() -> bool:
    """Whether this is under one of torch.func's transforms, or in forward mode."""
    return forward_ad._current_level >= 0 or torch._C._functorch.peek_interpreter_stack() is not None


def asks(inputs: Sequence[Any]) -> bool:
    """Whether one of the inputs is a tensor that asks for a gradient."""
    for value in inputs:  # noqa: SIM110  any(...) costs a call for each
        if value is not None and getattr(value, "requires_grad", False):
            return True
    return False


def tensors(op: Operator[...], inputs: Sequence[Any]) -> Sequence[Any]:
    """The inputs as autograd keeps them: lists and arrays beside the first as tensors.

    Raises
    ------
    BoxpressoError: the first is no tensor.
    """
    for value in inputs:
        if value is not None and not isinstance(value, torch.Tensor):
            break
    else:
        return inputs
    first = inputs[0]
    if not isinstance(first, torch.Tensor):
        raise BoxpressoError(
            f"{name_of(op)}: {op.inputs[0]} must be a tensor where an input asks for a gradient, got {type(first).__name__}"
        )
    return [value if value is None else torch.as_tensor(value, device=first.device) for value in inputs]


@torch.compiler.assume_constant_result
def reproducible_asked() -> bool:
    """Whether this is within ops.reproducible(); torch.compile asks once, when it compiles."""
    return arrays.asked.get()


def differentiable(op: Operator[...]) -> Callable[..., Any]:
    """An operator as a function of torch's tensors."""
    name, regions = name_of(op), "rois" in op.inputs

    @functools.wraps(op.describe)
    def function(*args: Any, **kwargs: Any) -> Any:
        if regions:
            like = args[0] if args else kwargs.get("x")
            if len(args) > 1 and not isinstance(args[1], torch.Tensor):
                args = (args[0], with_images(args[1], like, op.columns), *args[2:])
            if "rois" in kwargs:
                kwargs["rois"] = with_images(kwargs["rois"], like, op.columns)
        if torch.compiler.is_compiling() or traced(args) or traced(kwargs.values()):
            if reproducible_asked():
                raise BoxpressoError(f"{name}: ops.reproducible() does not reach into what torch compiles or exports")
            return getattr(torch.ops.boxpresso, name)(*args, **kwargs)
        inputs, options = op.bind(*args, **kwargs)
        if transformed():
            return Forward.apply(op, options, *tensors(op, inputs))
        if not asks(inputs):  # without autograd's part, which is slower than the rest
            return op.cached(inputs, options, (), Call.forward)
        if torch.is_grad_enabled():
            return Differentiable.apply(op, options, *tensors(op, inputs))
        return op.cached(detached(inputs), options, (), Call.forward)

    function.__module__ = __name__  # where pickle looks for it
    return function


def multi_scale_roi_align(features: Any, rois: Any, *args: Any, **kwargs: Any) -> Any:
    """boxpresso.ops.multi_scale_roi_align, differentiable in the features; features may be a dict, as torchvision has them."""
    maps = list(features.values() if isinstance(features, dict) else features)
    if not maps or rois is None:
        raise BoxpressoError(
            f"multi_scale_roi_align: {'rois must be an array, got None' if maps else 'features has no level'}"
        )
    regions = with_images(rois, maps[0]).detach()
    _, levels, options = pyramid.chosen([x.detach() for x in maps], regions, *args, **kwargs)
    order = [torch.from_numpy(np.flatnonzero(levels == i)).to(regions.device) for i in range(len(maps))]
    pool = globals()["roi_align"]
    parts = [pool(x, regions[index], **option) for x, index, option in zip(maps, order, options)]
    return torch.cat(parts)[torch.argsort(torch.cat(order))]


def choosing(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives indices, of torch's tensors; their gradients are nobody's."""

    @functools.wraps(run)
    def function(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling() or traced(args) or traced(kwargs.values()) or transformed():
            return getattr(torch.ops.boxpresso, run.__name__)(*args, **kwargs)
        if kwargs:
            kwargs = dict(zip(kwargs, detached(list(kwargs.values()))))
        return run(*detached(args), **kwargs)

    function.__module__ = __name__
    return function


__all__ = [*OPERATORS, "batched_nms", "multi_scale_roi_align", "nms", "nms_rotated"]
globals().update({name: differentiable(op) for name, op in OPERATORS.items()})
nms, batched_nms, nms_rotated = (choosing(run) for run in (suppressed, suppressed_by_class, suppressed_rotated))
