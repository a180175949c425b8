"""Module: a layer of makefile/frcnn's loadable modules; the layer of the same name here is made in its place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...device import Blob
from .layer import Layer


class ModuleLayer(Layer, type="Module", param=("module_param", "python_param"), bottoms=None, tops=None):
    """A layer that a program loads from a library of its own; here the layer type of that name is made in its place.

    Parameters
    ----------
    bottom 0, ...
        What the layer type takes.
    module_param
        Such as module_param { module: "modules" type: "FPNProposal" param_str: "{'feat_strides': [4, 8, 16, 32, 64]}" }.
        `type`: the layer type. `param_str`: its settings, as in python_param. `module`: not read.

    Returns
    -------
    top 0, ...
        What the layer type gives.

    Raises
    ------
    ModelError
        For a type that is unknown.
    LayerError
        As the layer type.

    Source
    ------
    makefile/frcnn.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Module" module_param { module: "modules" type: "AbsVal" }', [-1, 2]).tolist()
    [1.0, 2.0]
    """

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        param.python_param.param_str = param.module_param.param_str
        type: str = param.module_param.type
        return "" if type.lower() == "module" else type

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(False, f"module_param must give the type of a layer, got {self.param.module_param.type!r}")
