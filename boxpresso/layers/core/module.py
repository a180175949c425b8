"""Module: a layer of makefile/frcnn's loadable modules, run by the layer of the same name here."""

from __future__ import annotations

from ...device import Blob
from .replaced import Replaced


class ModuleLayer(Replaced, type="Module", param=("module_param", "python_param"), bottoms=None, tops=None):
    """A layer that a program loads from a library of its own; here the layer type of that name runs in its place.

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

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.module_param
        self.need(p.type and p.type.lower() != "module", f"module_param must give the type of a layer, got {p.type!r}")
        self.param.python_param.param_str = p.param_str
        self.replace(p.type, bottom, top)
