"""Layers that run another layer in their place: Module always, Python where Boxpresso has one for a published class."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from .layer import Layer, check_arity, layer_class


class Replaced(Layer):
    """A layer in whose place `inner` runs, where that is one."""

    inner: Layer | None = None

    def replace(self, type: str, bottom: list[Blob], top: list[Blob]) -> None:
        """Makes a layer of that type run in its place."""
        self.inner = layer_class(type, self.name)(self.param, device=self.device, dtype=self.dtype, phase=self.phase)
        self.inner.rng, self.inner.given_anchors = self.rng, self.given_anchors
        check_arity(self.inner, len(bottom), len(top))
        self.inner.setup(bottom, top)
        self.blobs, self.no_gradient = self.inner.blobs, self.inner.no_gradient
        self.updates_parameters, self.traits = self.inner.updates_parameters, self.inner.traits

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.inner:
            self.inner.reshape(bottom, top)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.inner:
            self.inner.net_blobs = self.net_blobs
            self.inner.forward(bottom, top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if self.inner:
            self.inner.param_propagate_down = self.param_propagate_down or [True] * len(self.blobs)
            self.inner.backward(top, propagate_down, bottom)

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        return self.inner is not None and self.inner.forward_launch(bottom, top)

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.inner:
            self.inner.net_blobs = self.net_blobs
            self.inner.forward_finish(bottom, top)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        return self.inner.most_rows(bottom) if self.inner else 0

    @property
    def repeatable(self) -> bool:
        return self.inner is not None and self.inner.repeatable

    def kept_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        if self.inner:
            return self.inner.kept_bytes(bottom, top, backward)
        return super().kept_bytes(bottom, top, backward)

    def shared_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        return self.inner.shared_bytes(bottom, top, backward) if self.inner else 0

    def share(self, rank: int, size: int) -> None:
        if self.inner:
            self.inner.share(rank, size)

    def reseed(self, seed: int | Sequence[int]) -> None:
        if self.inner:
            self.inner.reseed(seed)
        else:
            super().reseed(seed)

    def resume(self, passes: int) -> None:
        super().resume(passes)
        if self.inner:
            self.inner.resume(passes)

    def allow_force_backward(self, index: int) -> bool:
        return self.inner.allow_force_backward(index) if self.inner else True


def acting(layer: Layer) -> Layer:
    """The layer that computes: the one that runs in a layer's place, or itself."""
    return layer.inner if isinstance(layer, Replaced) and layer.inner else layer
