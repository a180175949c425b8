"""Module: a layer of makefile/frcnn's loadable modules, run by the layer of the same name here."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from .layer import Layer, check_arity, layer_class


class ModuleLayer(Layer, type="Module", param=("module_param", "python_param"), bottoms=None, tops=None):
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
        cls = layer_class(p.type, self.name)
        self.inner = cls(self.param, device=self.device, dtype=self.dtype, phase=self.phase)
        self.inner.rng, self.inner.given_anchors = self.rng, self.given_anchors
        check_arity(self.inner, len(bottom), len(top))
        self.inner.setup(bottom, top)
        self.blobs, self.no_gradient = self.inner.blobs, self.inner.no_gradient

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.inner.reshape(bottom, top)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.inner.forward(bottom, top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.inner.param_propagate_down = self.param_propagate_down or [True] * len(self.blobs)
        self.inner.backward(top, propagate_down, bottom)

    def reseed(self, seed: int | Sequence[int]) -> None:
        self.inner.reseed(seed)

    def resume(self, passes: int) -> None:
        super().resume(passes)
        self.inner.resume(passes)

    def allow_force_backward(self, index: int) -> bool:
        return self.inner.allow_force_backward(index)
