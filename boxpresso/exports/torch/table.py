"""The table of layer types: for each a function that reads the settings once and returns what runs on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...proto.errors import ModelError
from ..operations import OfOperation, Operation, Shape

Tensor = Any
Params = Any  # the module of the layer: its parameters are attributes
Run = Callable[..., Any]  # (parameters, *bottoms) -> a top, or a list of tops


@dataclass
class Work(OfOperation):
    """What a function of the table is given: its step, the shapes on both sides, and the names of the parameters. It sets
    `fixed` where what it returns is for bottoms of these shapes alone, but for the batch."""

    step: Operation
    bottom_shapes: list[Shape]
    top_shapes: list[Shape]
    keys: list[str]
    fixed: bool = False

    refusal: ClassVar[str] = "cannot be a torch module"


Factory = Callable[[Work], Run]
FACTORIES: dict[str, Factory] = {}  # by layer type


def factory(*types: str) -> Callable[[Factory], Factory]:
    """Registers a function for layer types."""

    def register(function: Factory) -> Factory:
        FACTORIES.update(dict.fromkeys(types, function))
        return function

    return register


def import_torch() -> Any:
    """The module torch. Raises ModelError where it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise ModelError("a torch module needs torch: pip install torch") from error
    return torch


def sized(x: Tensor, before: Sequence[int], shape: Sequence[int]) -> list[Any]:
    """A shape whose first axis is that of the tensor at hand, where the net's own shapes agree in it."""
    if before and shape and before[0] == shape[0]:
        return [x.shape[0], *shape[1:]]
    return [-1, *shape[1:]] if shape else []
