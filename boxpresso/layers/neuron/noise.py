"""Noise: random numbers added to values."""

from __future__ import annotations

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from ..core.lowering import Lowering, Same
from .dropout_base import DropoutBase


class Noise(DropoutBase, type="Noise", param="noise_param", bottoms=1, tops=1, in_place=True):
    """top = bottom + random numbers, element by element. The gradient passes as it is.

    Two programs have a layer of this name. With `mu` or `sigma`, opencl's, each number is normal with mean mu and deviation
    sigma, in both phases. Otherwise, happynear's: at TEST top is bottom; in TRAIN a number is normal with mean `bias` and
    deviation gaussian_std times the root of the bottom's mean square where gaussian_std is given, else evenly from
    bias - uniform_range to bias + uniform_range.

    What is drawn depends on the layer's seed, the number of the forward and the index of the element: the CPU and the GPU
    draw the same numbers, up to rounding.

    Parameters
    ----------
    bottom 0
        Any shape.
    noise_param
        `gaussian_std` (0), `uniform_range` (0), `bias` (0); or `mu` (0) and `sigma` (1).

    Returns
    -------
    top 0
        The values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For fields of both programs, and for a negative gaussian_std, uniform_range or sigma.

    Source
    ------
    happynear/caffe-windows; BVLC Caffe's branch opencl (naibaf7).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Noise" noise_param { uniform_range: 1 }', [[1, 2]]).tolist()
    [[1.0, 2.0]]
    >>> top = run_layer('type: "Noise" noise_param { uniform_range: 1 bias: 3 }', [0] * 100, phase="TRAIN")
    >>> bool(2 <= top.min() < 2.5 and 3.5 < top.max() <= 4)
    True
    """

    kernels = Kernels("noise.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.noise_param
        opencl = p.HasField("mu") or p.HasField("sigma")
        both = opencl and any(p.HasField(name) for name in ("gaussian_std", "uniform_range", "bias"))
        self.need(not both, "noise_param has fields of two programs; keep mu and sigma, or the others")
        for name in ("gaussian_std", "uniform_range", "sigma"):
            self.need(getattr(p, name) >= 0, f"{name} must not be negative, got {getattr(p, name):g}")
        self.drops = opencl or self.phase == "TRAIN"
        self.identity = not self.drops
        self.lose_traits()
        self.relative = not opencl and p.HasField("gaussian_std")
        if self.relative and self.drops:  # each element counts for the root of the mean square
            self.traits &= Trait.WRITES_ALL
        self.drawn = (
            (1, p.mu, p.sigma)
            if opencl
            else (1, p.bias, p.gaussian_std)
            if self.relative
            else (0, p.bias, p.uniform_range)
        )
        self.key = int(self.rng.integers(2**32))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        count = bottom[0].count
        self.blocks = -(-count // self.kernels.constants["PIECE"]) if self.relative and self.drops else 0
        if self.blocks:
            self.partial = self.device.empty((self.blocks,), np.float64)
            self.size = self.device.empty((1,), self.dtype)
        if top[0] is bottom[0]:
            return
        if self.drops:
            top[0].reshape(*bottom[0].shape)
        else:
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Same() if self.identity else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_number = (self.pass_number + 1) % 2**32
        if self.identity:
            self.pass_on_data(bottom[0], top[0])
            return
        source, size = bottom[0].data, None
        if self.blocks:
            size = self.size
            self.kernels.noise_squares(self.blocks, source, self.partial, bottom[0].count)
            self.kernels.noise_size(1, self.partial, size, self.blocks, bottom[0].count)
        gaussian, *numbers = self.drawn
        self.kernels.noise_add(
            bottom[0].count, source, top[0].data, size, self.key, self.pass_number, gaussian, *numbers
        )

    def pass_on(self, source: AnyArray, target: AnyArray) -> None:
        if self.drops and target is not source:  # an identity's gradients share memory
            target[...] = source
