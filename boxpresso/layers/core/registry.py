"""From a type in a prototxt to its class and its layer: its module is imported when it is first asked for."""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ...device import Device
from ...proto.errors import ModelError, nearest
from .filler import Seed
from .layer import REGISTRY, REPLACED, Layer
from .traits import Trait

_discovered = threading.Event()


def discover() -> None:
    """Imports every module of every family of `boxpresso.layers`, which registers their types."""
    if _discovered.is_set():
        return
    package = importlib.import_module(__package__.rpartition(".")[0])
    for module in sorted(pkgutil.walk_packages(package.__path__, f"{package.__name__}."), key=lambda m: m.name):
        importlib.import_module(module.name)
    _discovered.set()


@functools.cache
def modules() -> dict[str, str]:
    """{a module's file name without underscores: its full name} of all modules of layers."""
    package = importlib.import_module(__package__.rpartition(".")[0])
    result = {}
    for folder in package.__path__:
        for family in sorted(os.scandir(folder), key=lambda each: (each.name != "core", each.name)):
            names = os.listdir(family) if family.is_dir() else []  # a family's module goes before one of core
            stems = [name[:-3] for name in names if name.endswith(".py") and name != "__init__.py"]
            result.update({stem.replace("_", ""): f"{package.__name__}.{family.name}.{stem}" for stem in stems})
    return result


def layer_class(type: str, name: str) -> type[Layer]:
    """The class of a layer type, in any case, of which only the module is imported; of CuDNNConvolution and its like the plain
    one's, whose kernels choose themselves.

    Raises ModelError naming the layer and the nearest known type.
    """
    known = known_type(type)
    if known is None:
        names = sorted({n for cls in REGISTRY.values() for n in cls.types})
        raise ModelError(
            f"layer {name!r} has the unknown type {type!r}{nearest(type, names)}; a type of your own is known once its "
            "module is imported: Net(..., python_layers=[MODULE]), or --python-layers MODULE of the command"
        )
    return known


def known_type(type: str) -> type[Layer] | None:
    """The same; None for a type that is unknown. The module that is called as the type is looked into first, then all are: a
    type of a user's own that one of ours has, too, is refused."""
    wanted = type.lower(), type.lower().removeprefix("cudnn")
    for each in wanted:
        if each in modules():
            importlib.import_module(modules()[each])
        if each in REGISTRY and REGISTRY[each].ours:
            return REGISTRY[each]
    discover()
    return REGISTRY.get(wanted[0]) or REGISTRY.get(wanted[1])


def replacement(module: str, layer: str) -> type[Layer] | None:
    """The class of layers that are made in the place of a class of a Python layer, so that its module is not needed.

    >>> replacement("rpn.proposal_layer", "ProposalLayer").type
    'Proposal'
    """
    discover()
    return REPLACED.get(f"{module}.{layer}")


def traits_of(type: str) -> Trait:
    """The traits of a layer type of a prototxt, in any case; none for a type that is unknown.

    >>> Trait.VIEW in traits_of("Flatten")
    True
    """
    known = known_type(type)
    return Trait.NONE if known is None else known.traits


def make_layer(
    param: Any,
    *,
    device: Device,
    dtype: Any = np.float32,
    phase: str = "TEST",
    seed: Seed = 0,
    axes: Sequence[int] = (),
    python_layers: Sequence[str | ModuleType] = (),
) -> Layer:
    """The layer that a LayerParameter describes, or the one that stands in for it.

    axes: how many axes each bottom has; the other arguments are those of Layer.
    """
    cls = layer_class(param.type, param.name)
    type = cls.stand_in(param, axes, [m.__name__ if isinstance(m, ModuleType) else m for m in python_layers])
    layer = (layer_class(type, param.name) if type else cls)(param, device=device, dtype=dtype, phase=phase, seed=seed)
    layer.stands_for = cls.type if type else ""
    layer.python_layers = python_layers
    return layer


def check_arity(layer: Layer, bottoms: int, tops: int) -> None:
    """Raises LayerError when the prototxt gives a layer the wrong number of bottoms or tops."""
    for kind, count, arity in (("bottoms", bottoms, layer.bottoms), ("tops", tops, layer.tops)):
        if arity is None:
            continue
        low, high = (arity, arity) if isinstance(arity, int) else arity
        text = str(low) if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        layer.need(low <= count and (high is None or count <= high), f"takes {text} {kind}, the prototxt gives {count}")
