"""Clip, BReLU: values held between two bounds."""

from __future__ import annotations

from ...device import Blob, Kernels
from ..core.lowering import Activation, Fusible, Lowering, Pointwise
from .neuron_base import Neuron


class Bounded(Neuron):
    """Values between the two bounds that `read` gives."""

    kernels = Kernels("clip.cu")

    def fuse(self) -> Fusible | None:
        return Activation("CLIP", low=self.numbers[0], high=self.numbers[1])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Pointwise(self.device, self.dtype, activation=self.fuse)


class Clip(Bounded, type="Clip", param="clip_param", bottoms=1, tops=1, in_place=True):
    """top = min(max(bottom, min), max), element by element.

    The gradient passes where min <= bottom <= max, and is 0 elsewhere. In place the layer keeps a copy of its input.

    Parameters
    ----------
    bottom 0
        Any shape.
    clip_param
        `min` and `max`: the bounds. Both are required.

    Returns
    -------
    top 0
        The limited values, in the shape of the bottom; a NaN stays NaN.

    Raises
    ------
    LayerError
        For a missing bound, and for a min above max.

    Source
    ------
    Caffe, whose gradient in place ignores the bounds.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Clip" clip_param { min: -1 max: 1 }', [[-3, 0.5, 2]]).tolist()
    [[-1.0, 0.5, 1.0]]
    """

    def read(self) -> tuple[float, ...]:
        p = self.param.clip_param
        self.need(p.HasField("min") and p.HasField("max"), "clip_param needs both min and max")
        self.need(p.min <= p.max, f"min must not be above max, got min {p.min:g} and max {p.max:g}")
        return p.min, p.max


class BReLU(Bounded, type="BReLU", param="brelu_param", bottoms=1, tops=1, in_place=True):
    """top = min(max(bottom, minval), maxval), element by element: Clip under the name that dehazing nets have for it.

    The gradient passes where minval <= bottom <= maxval, and is 0 elsewhere.

    Parameters
    ----------
    bottom 0
        Any shape.
    brelu_param
        `minval` (0) and `maxval` (1): the bounds.

    Returns
    -------
    top 0
        The limited values, in the shape of the bottom; a NaN stays NaN.

    Raises
    ------
    LayerError
        For a minval above maxval.

    Source
    ------
    Cai et al. 2016, DehazeNet; the CPU form of chaimi2013/FPCNet's Caffe, whose GPU form is the same for 0 and 1 only.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "BReLU"', [[-3, 0.5, 2]]).tolist()
    [[0.0, 0.5, 1.0]]
    """

    def read(self) -> tuple[float, ...]:
        p = self.param.brelu_param
        self.need(p.minval <= p.maxval, f"minval must not be above maxval, got {p.minval:g} and {p.maxval:g}")
        return p.minval, p.maxval
