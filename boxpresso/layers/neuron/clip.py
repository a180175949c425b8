"""Clip: values held between two bounds."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class Clip(Neuron, type="Clip", param="clip_param", bottoms=1, tops=1, in_place=True):
    """top = min(max(bottom, min), max), element by element; the gradient passes where min <= bottom <= max.

    clip_param { min: MIN max: MAX }, both to be given. Source: Caffe, whose gradient in place ignores the bounds.
    """

    kernels = Kernels("clip.cu")

    def read(self) -> tuple[float, ...]:
        p = self.param.clip_param
        self.need(p.HasField("min") and p.HasField("max"), "clip_param needs both min and max")
        self.need(p.min <= p.max, f"min must not be above max, got min {p.min:g} and max {p.max:g}")
        return p.min, p.max
