"""Graph: an ONNX graph while it is written, and the table of lowerings, one function for each layer type."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Union

import numpy as np

from ...layers.core import Layer
from ...layers.core.int8 import Filters
from ...layers.core.lowering import Scale
from ...proto.errors import ModelError
from ..operations import Numpy, OfOperation, Operation, Shape, free_name
from .targets import Target

DTYPES = {
    "float": np.float32, "double": np.float64, "int64": np.int64, "int32": np.int32, "int8": np.int8, "uint8": np.uint8,
    "bool": np.bool_, "half": np.float16,
}  # fmt: skip
HALF_MOST = float(np.finfo(np.float16).max)
OLD_REDUCE = (
    18  # the opset from which the axes of ReduceMax, ReduceMean .. are an input; of ReduceSum they always are here
)


def import_onnx() -> Any:
    """The module onnx. Raises ModelError where it is not installed."""
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ModelError("writing ONNX needs the package onnx: pip install 'boxpresso[onnx]'") from error
    return onnx


@dataclass
class Work(OfOperation):
    """What a lowering is given: its step, the values that it reads, and the shapes on both sides."""

    step: Operation
    bottoms: list[str]
    bottom_shapes: list[Shape]
    top_shapes: list[Shape]
    lead: bool  # whether axis 0 of the first top is known when the net runs, not before
    free: bool  # whether another axis of a bottom is
    filters: Filters | None = None  # the weights in 8 bits, of a layer that runs so, and
    scale: Scale | None = None  # what its first bottom is in

    refusal: ClassVar[str] = "cannot be written as ONNX"


Lowering = Callable[["OnnxGraph", Work], Union[str, Sequence[str]]]
LOWERINGS: dict[str, Lowering] = {}  # by layer type


def lowering(*types: str) -> Callable[[Lowering], Lowering]:
    """Registers a function for layer types: it writes operators and returns the values of the layer's tops."""

    def register(function: Lowering) -> Lowering:
        LOWERINGS.update(dict.fromkeys(types, function))
        return function

    return register


class OnnxGraph:
    """Nodes and constants of an ONNX graph; its methods write operators and return the names of their results."""

    def __init__(self, opset: int, target: Target, half: bool = False, taken: Container[str] = ()) -> None:
        self.taken = taken  # names that values of the net and outputs have
        self.onnx, self.opset, self.target = import_onnx(), opset, target
        self.half = half  # whether weights are stored in 16 bits
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.prefix = ""  # the layer that is being written
        self.dims: dict[str, list[int | str]] = {}  # shapes of values that are known at run time only
        self.known: dict[Any, str] = {}  # constants by their value
        self.count = 0

    # Constants

    def const(self, values: Any, kind: str = "float", name: str | None = None) -> str:
        """A constant; small ones of equal value are written once."""
        array = np.ascontiguousarray(values, DTYPES[kind]).reshape(np.shape(values))
        key = (array.shape, kind, array.tobytes()) if array.size <= 64 and name is None else None
        if key is not None and key in self.known:
            return self.known[key]
        name = self.fresh("constant") if name is None else name
        self.initializers.append(self.onnx.numpy_helper.from_array(array, name))
        if key is not None:
            self.known[key] = name
        return name

    def weights(self, w: Work, values: Numpy, axis: int = 0) -> str:
        """A layer's weights, with its filters along `axis`; as bytes where it runs in 8 bits, in 16 bits where asked for."""
        if w.filters is None:
            if not self.half:
                return self.const(values)
            most = float(np.abs(values).max(initial=0))
            w.need(
                most <= HALF_MOST, f"a weight is {most:g}, 16 bits hold {HALF_MOST:g} at most; write it without --fp16"
            )
            return self.cast(self.const(values, "half"), "float")
        whole = w.filters.weights.reshape(values.shape if axis == 0 else values.shape[::-1])
        of_bytes = self.const(whole if axis == 0 else whole.T, "int8")
        # Their zeros are written out: onnxruntime 1.22 takes what is missing for a single number.
        steps = w.filters.steps
        return self.op(
            "DequantizeLinear", of_bytes, self.const(steps), self.const(np.zeros(steps.shape), "int8"), axis=axis
        )

    def biases(self, w: Work) -> list[str]:
        """A layer's bias, if it has one; as whole numbers, and what corrects its rounded weights, where it runs in 8 bits."""
        if w.filters is None or w.scale is None:
            return [self.const(w.params[1].reshape(-1))] if len(w.params) > 1 else []
        if len(w.params) < 2 and not w.filters.bias.any():
            return []
        steps = np.float32(w.scale.scale) * w.filters.steps.astype(np.float32)
        return [self.op("DequantizeLinear", self.const(w.filters.bias, "int32"), self.const(steps), axis=0)]

    def ints(self, *values: int) -> str:
        """A constant list of whole numbers."""
        return self.const(np.array(values, np.int64), "int64")

    def fresh(self, word: str) -> str:
        """A name that no other value has."""
        self.count += 1
        return free_name(f"{self.prefix}/{word}_{self.count}", self.taken)

    # Operators

    def ops(self, kind: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """Writes an operator with several results."""
        outputs = [self.fresh(kind) for _ in range(count)]
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), outputs, name=outputs[0], **attributes))
        return outputs

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Writes an operator with one result."""
        return self.ops(kind, inputs, 1, **attributes)[0]

    def number(self, x: str | float) -> str:
        """A value, or a number as a constant."""
        return x if isinstance(x, str) else self.const(float(x))

    def add(self, a: str | float, b: str | float) -> str:
        return self.op("Add", self.number(a), self.number(b))

    def sub(self, a: str | float, b: str | float) -> str:
        return self.op("Sub", self.number(a), self.number(b))

    def mul(self, a: str | float, b: str | float) -> str:
        return self.op("Mul", self.number(a), self.number(b))

    def div(self, a: str | float, b: str | float) -> str:
        return self.op("Div", self.number(a), self.number(b))

    def smaller(self, a: str | float, b: str | float) -> str:
        """The smaller of both, element by element."""
        return self.op("Min", self.number(a), self.number(b))

    def larger(self, a: str | float, b: str | float) -> str:
        """The larger of both, element by element."""
        return self.op("Max", self.number(a), self.number(b))

    def clamp(self, x: str, low: str | float, high: str | float) -> str:
        return self.smaller(self.larger(x, low), high)

    def rounded(self, x: str) -> str:
        """The nearest whole number, halves away from zero, as C's round."""
        size = self.op("Abs", x)
        whole = self.op("Floor", size)
        up = self.op("GreaterOrEqual", self.sub(size, whole), self.const(0.5))
        return self.mul(self.op("Sign", x), self.add(whole, self.cast(up, "float")))

    def reshape(self, x: str, shape: Sequence[int], lead: bool = False) -> str:
        """A value in another shape; `lead`: axis 0 is found when the net runs."""
        return self.op("Reshape", x, self.ints(*([-1, *shape[1:]] if lead else shape)))

    def transpose(self, x: str, *order: int) -> str:
        return x if list(order) == sorted(order) else self.op("Transpose", x, perm=list(order))

    def slice(self, x: str, axis: int, start: int, end: int | None, step: int = 1) -> str:
        """Elements start to end of an axis; None: to its end."""
        stop = np.iinfo(np.int64).max if end is None else end
        return self.op("Slice", x, self.ints(start), self.ints(stop), self.ints(axis), self.ints(step))

    def gather(self, x: str, indices: str, axis: int = 0) -> str:
        return self.op("Gather", x, indices, axis=axis)

    def concat(self, parts: Sequence[str], axis: int) -> str:
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)

    def unsqueeze(self, x: str, *axes: int) -> str:
        return self.op("Unsqueeze", x, self.ints(*axes))

    def squeeze(self, x: str, *axes: int) -> str:
        return self.op("Squeeze", x, self.ints(*axes))

    def cast(self, x: str, kind: str) -> str:
        types = self.onnx.TensorProto
        to = {
            "float": types.FLOAT,
            "double": types.DOUBLE,
            "int64": types.INT64,
            "int32": types.INT32,
            "bool": types.BOOL,
        }[kind]
        return self.op("Cast", x, to=to)

    def reduce(self, kind: str, x: str, axes: Sequence[int], keep: bool = True) -> str:
        """ReduceSum, ReduceMax .. along axes."""
        if kind == "ReduceSum" or self.opset >= OLD_REDUCE:
            return self.op(kind, x, self.ints(*axes), keepdims=int(keep))
        return self.op(kind, x, axes=list(axes), keepdims=int(keep))

    def top_k(self, x: str, k: int | str, axis: int) -> tuple[str, str]:
        """The k largest values along an axis, largest first, of equal ones the first; and their indices."""
        values, indices = self.ops("TopK", [x, self.ints(k) if isinstance(k, int) else k], 2, axis=axis)
        return values, indices

    def size(self, x: str, axis: int) -> str:
        """The length of an axis, as a list of one whole number."""
        return self.op("Slice", self.op("Shape", x), self.ints(axis), self.ints(axis + 1))

    def joined(self, x: str, start: int, end: int) -> str:
        """The product of the lengths of axes start to end, as a list of one whole number."""
        lengths = self.op("Slice", self.op("Shape", x), self.ints(start), self.ints(end))
        return self.reduce("ReduceProd", lengths, [0])

    def count_up(self, limit: str, kind: str = "float") -> str:
        """0, 1, .. below `limit`, a list of one whole number."""
        numbers = self.op("Range", self.const(0, "int64"), self.squeeze(limit, 0), self.const(1, "int64"))
        return numbers if kind == "int64" else self.cast(numbers, kind)

    # Names and bodies of loops

    def rename(self, value: str, name: str, since: int) -> str:
        """Gives a value that a node from number `since` on writes another name, where it can; returns its name."""
        for node in self.nodes[since:]:
            if value in node.output:
                for other in self.nodes[since:]:
                    for names in (other.input, other.output):
                        for i, own in enumerate(names):
                            if own == value:
                                names[i] = name
                return name
        return value

    def call_node(self, layer: str, value: str, since: int) -> None:
        """Calls the node from number `since` on that writes a layer's top as the layer, unless another is called so."""
        if any(node.name == layer for node in self.nodes):
            return
        for node in self.nodes[since:]:
            if value in node.output:
                node.name = layer

    @contextmanager
    def body(self) -> Iterator[list[Any]]:
        """Collects the nodes that are written inside as those of another graph."""
        outer, self.nodes = self.nodes, []
        try:
            yield self.nodes
        finally:
            self.nodes = outer


def supported(layer: Layer) -> bool:
    """Whether there is a lowering for the type of a layer."""
    return layer.type in LOWERINGS
