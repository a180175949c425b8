"""Operator: a layer as a function of arrays. The layer runs over Blobs whose memory is the caller's."""

from __future__ import annotations

import functools
import inspect
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec

import numpy as np

from ..layers.core import Blob, Layer, check_arity, make_layer, strided, strides
from ..proto import LayerParameter
from ..proto.errors import BoxpressoError
from . import arrays

P = ParamSpec("P")
KEPT = 8  # layers that a thread keeps, with their scratch memory
TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
local = threading.local()


@dataclass
class Plan:
    """Which layer computes an operator: its type, its parameter as {message: fields}, and attributes to set on it."""

    type: str
    parameter: dict[str, dict[str, Any]]
    attributes: dict[str, Any] = field(default_factory=dict)
    blobs: tuple[int, ...] = ()  # which of the inputs are learned blobs of the layer; the others are its bottoms
    remembers: bool = True  # whether its backward needs what its forward left


@dataclass
class Kept:
    """A layer between its calls: which of them it is shaped for, and whether it has run forward for that one."""

    layer: Layer
    user: object = None
    ran: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)  # autograd may go backward in a thread of its own


class Operator(Generic[P]):
    """A function of arrays and its gradient; `describe`, which it is made from, gives its signature and its Plan."""

    def __init__(self, describe: Callable[P, Plan], inputs: Sequence[str], constant: Sequence[str]) -> None:
        self.describe, self.inputs, self.constant = describe, tuple(inputs), tuple(constant)
        self.signature = inspect.signature(describe)
        functools.update_wrapper(self, describe)
        self.__signature__ = self.signature.replace(return_annotation=Any)  # what help() shows

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        return Call(self, *self.bind(*args, **kwargs)).forward()

    def backward(self, grad: Any, *args: Any, wanted: Sequence[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        """The gradients of sum(grad * result) with respect to the inputs named in `wanted`, by name.

        None: all inputs but those that are usually constant, such as regions.
        """
        inputs, options = self.bind(*args, **kwargs)
        names = [name for name in self.inputs if name not in self.constant] if wanted is None else wanted
        if unknown := set(names) - set(self.inputs):
            raise BoxpressoError(f"wanted names {sorted(unknown)}; the inputs are {list(self.inputs)}")
        asked = [value is not None and name in names for name, value in zip(self.inputs, inputs)]
        made = Call(self, inputs, options).backward(grad, asked)
        return {name: array for name, array in zip(self.inputs, made) if array is not None}

    def bind(self, *args: Any, **kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arrays, in the order of `inputs` (None: not given), and the other arguments."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return [bound.arguments[name] for name in self.inputs], {
            name: value for name, value in bound.arguments.items() if name not in self.inputs
        }

    def __repr__(self) -> str:
        return f"<operator {self.__name__}{self.signature}>"  # type: ignore[attr-defined]


def operator(*inputs: str, constant: Sequence[str] = ("rois",)) -> Callable[[Callable[P, Plan]], Operator[P]]:
    """Makes an Operator of a function that describes it. inputs: which arguments are arrays; the first decides device,
    dtype and kind of the result, and `layout` is about it; constant: those without a gradient."""
    return lambda describe: Operator(describe, inputs, constant)


class Call:
    """One operator over one set of arrays: forward and backward.

    The layer is one that this thread has kept from an earlier call of the same parameters, so `backward` shapes it, and
    runs forward, again when another call has used it in between.
    """

    def __init__(self, op: Operator, inputs: Sequence[Any], options: dict[str, Any]) -> None:
        self.op, layout = op, options.get("layout", "NCHW")
        if layout not in ("NCHW", "NHWC"):
            raise BoxpressoError(f"layout must be 'NCHW' or 'NHWC', got {layout!r}")
        self.last = layout == "NHWC"
        first = inputs[0]
        self.device = arrays.device_of(first)
        self.results = arrays.Results(first, self.device)
        x = arrays.take(first, self.device)
        if x.dtype not in arrays.FLOATS:
            raise BoxpressoError(f"{op.inputs[0]} must be of float16, float32 or float64, got {x.dtype}")
        self.outer = x.dtype
        self.dtype = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype
        self.arrays = [None if a is None else arrays.take(a, self.device, self.dtype) for a in inputs]
        if self.last:
            self.arrays[0] = self.permuted(self.arrays[0], TO_NCHW)
        self.plan = op.describe(**dict(zip(op.inputs, self.arrays)), **options)
        self.bottoms = [self.blob(a) for i, a in enumerate(self.arrays) if a is not None and i not in self.plan.blobs]
        self.top = [Blob((), self.dtype, self.device)]
        self.token = object()
        self.kept = self.find()
        self.layer = self.kept.layer
        self.bind()

    def permuted(self, array: Any, order: Sequence[int], to: Any = None) -> Any:
        """Axis k of the result is axis order[k] of the array."""
        if array.ndim != 4:
            raise BoxpressoError(f"an image must have 4 axes, got shape {tuple(array.shape)}")
        shape = [array.shape[axis] for axis in order]
        steps = strides(array.shape)
        made = self.device.empty(shape, array.dtype) if to is None else to
        strided.copy(self.device, shape, array, [steps[axis] for axis in order], made, strides(shape))
        return made

    def find(self) -> Kept:
        """The layer of these parameters, from an earlier call or made now."""
        plan = self.plan
        param = LayerParameter(name=self.op.__name__, type=plan.type, **plan.parameter)  # type: ignore[attr-defined]
        key = (
            param.SerializeToString(deterministic=True), tuple(sorted(plan.attributes.items())), self.device, self.dtype,
            len(self.bottoms), self.bottoms[0].shape[1:2],
        )  # fmt: skip
        all_kept: OrderedDict[Any, Kept] = local.__dict__.setdefault("layers", OrderedDict())
        kept = all_kept.pop(key, None)
        if kept is None:
            layer = make_layer(param, device=self.device, dtype=self.dtype)
            for name, value in plan.attributes.items():
                setattr(layer, name, value)
            check_arity(layer, len(self.bottoms), 1)
            layer.setup(self.bottoms, self.top)
            kept = Kept(layer)
        all_kept[key] = kept  # the latest is the last
        while len(all_kept) > KEPT:
            all_kept.popitem(last=False)
        return kept

    def bind(self) -> None:
        """Shapes the layer for this call, and gives it the learned blobs."""
        with self.kept.lock:
            self.kept.user, self.kept.ran = self.token, False
            self.layer.reshape(self.bottoms, self.top)
            learned: list[Any] = [self.arrays[i] for i in self.plan.blobs if self.arrays[i] is not None]
            for blob, array in zip(self.layer.blobs, learned, strict=True):
                if blob.shape != tuple(array.shape):
                    raise BoxpressoError(f"{self.layer}: a parameter must be of shape {blob.shape}, got {tuple(array.shape)}")
                blob.borrow(array)

    def run(self) -> None:
        """Forward, in the layer shaped for this call."""
        if self.kept.user is not self.token:
            self.bind()
        self.layer.forward(self.bottoms, self.top)
        self.kept.ran = True

    def blob(self, array: Any) -> Blob:
        made = Blob((), self.dtype, self.device)
        made.borrow(array)
        return made

    def forward(self) -> Any:
        top = self.top[0]
        image = self.last and len(top.shape) == 4
        shape = [top.shape[axis] for axis in TO_NHWC] if image else top.shape
        result, ours = self.results.empty(shape, self.outer)
        direct = not image and self.outer == self.dtype
        if direct and top.count:
            top.borrow(ours)
        with self.kept.lock:
            self.run()
        if not direct and top.count:
            self.hand_over(top.data, ours, image)
        self.device.synchronize()
        return result

    def hand_over(self, made: Any, ours: Any, image: bool) -> None:
        """Writes what the layer made into the result, in its layout and dtype."""
        if image:
            made = self.permuted(made, TO_NHWC, ours if self.outer == self.dtype else None)
        if made is not ours:
            ours[...] = np.asarray(made)

    def backward(self, grad: Any, wanted: Sequence[bool]) -> list[Any]:
        """For each input that is wanted its gradient, for the others None."""
        top = self.top[0]
        given = arrays.take(grad, self.device, self.dtype)
        given = self.permuted(given, TO_NCHW) if self.last and len(top.shape) == 4 else given
        if tuple(given.shape) != top.shape:
            raise BoxpressoError(f"{self.layer}: grad must be of the result's shape {top.shape} (NCHW), got {given.shape}")
        with self.kept.lock:
            if self.kept.user is not self.token:
                self.bind()
            if self.plan.remembers and not self.kept.ran:
                self.run()
            return self.run_back(given, wanted)

    def run_back(self, given: Any, wanted: Sequence[bool]) -> list[Any]:
        top, plan = self.top[0], self.plan
        top.borrow(given, diff=True)
        bottoms, blobs = iter(self.bottoms), iter(self.layer.blobs)
        made: list[Any] = []
        down: list[bool] = []
        learn: list[bool] = []
        after: list[tuple[Blob, Any, bool]] = []  # results that are not the layer's own memory
        for i, array in enumerate(self.arrays):
            if array is None:
                made.append(None)
                continue
            learned = i in plan.blobs
            blob = next(blobs if learned else bottoms)
            (learn if learned else down).append(bool(wanted[i]))
            if not wanted[i]:
                made.append(None)
                continue
            image = self.last and i == 0
            shape = [array.shape[axis] for axis in TO_NHWC] if image else array.shape
            result, ours = self.results.empty(shape, self.outer)
            made.append(result)
            if image or self.outer != self.dtype:
                after.append((blob, ours, image))
            elif blob.count:
                blob.borrow(ours, diff=True)
            if learned:
                blob.diff.fill(0)  # a layer adds to these
        self.layer.param_propagate_down = learn
        self.layer.backward(self.top, down, self.bottoms)
        for blob, ours, image in after:
            if blob.count:
                self.hand_over(blob.diff, ours, image)
        self.device.synchronize()
        return made


def forget() -> None:
    """Gives back the memory of the layers that this thread has kept."""
    local.__dict__.pop("layers", None)
