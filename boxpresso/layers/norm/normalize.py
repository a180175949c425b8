"""Normalize: SSD's L2 normalisation with a learned scale, over its conv4_3."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Layer, Trait
from ..core.fixed_point import FixedParameters
from ..core.lowering import Launch, Lowering, Planes


class Normalize(
    Layer,
    type="Normalize",
    param=("norm_param", "normalize_param"),
    bottoms=1,
    tops=1,
    traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = scale * bottom / sqrt(sum(bottom^2) + eps), with the sum over a whole image or over the channels.

    A layer with a normalize_param or a second top, of face nets, is NormalizeChannels. With across_spatial the sum is
    over the whole image, otherwise over the channels of each position. The learned
    parameter is the scale: one number, of shape (), or with `channel_shared: false` one for each channel, (C).

    As in Caffe, the gradient of the bottom is scaled after its projection; where the scales of the channels differ it
    is not exactly the true one.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    norm_param
        `across_spatial` (true): whether the sum is over the whole image. `channel_shared` (true): one scale for all
        channels. `scale_filler` (1): the initial scale. `eps` (1e-10): added to the sum.
    normalize_param
        Where it is given, the layer is NormalizeChannels.

    Returns
    -------
    top 0
        The normalised values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a negative eps, a bottom without a channel axis, with `channel_shared: false` a number of channels that
        changes after setup, and fields of forks that are not supported: fix_gradient, bp_norm, normalize_type, coeff,
        add_eps_before_sqrt.

    Source
    ------
    SSD's Caffe; ParseNet, Liu et al. 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Normalize" norm_param { across_spatial: false scale_filler { value: 10 } }'
    >>> run_layer(text, [[3, 4]]).round(4).tolist()
    [[6.0, 8.0]]
    """

    kernels = Kernels("normalize.cu")

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        return "NormalizeChannels" if len(param.top) == 2 or param.HasField("normalize_param") else ""

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.norm_param
        for fork in ("fix_gradient", "bp_norm"):
            self.need(not getattr(p, fork), f"norm_param: {fork} of a fork is not supported; remove it")
        plain = p.normalize_type == "L2" and p.coeff == 1 and p.add_eps_before_sqrt
        self.need(plain, "norm_param: normalize_type, coeff and add_eps_before_sqrt of forks are not supported")
        self.need(p.eps >= 0, f"eps must not be negative, got {p.eps:g}")
        self.across, self.shared = int(p.across_spatial), int(p.channel_shared)
        self.need(len(bottom[0].shape) >= 2, f"its bottom must have channels, axis 1; got shape {bottom[0].shape}")
        filler = p.scale_filler if p.HasField("scale_filler") else None
        self.parameter(0, self.scale_shape(bottom[0]), filler, 1 if filler is None else None)
        self.norm = Blob((), self.dtype, self.device)
        self.dot = Blob((), self.dtype, self.device)

    def scale_shape(self, blob: Blob) -> tuple[int, ...]:
        return () if self.shared else (blob.shape[1],)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) >= 2, f"its bottom must have channels, axis 1; got shape {shape}")
        self.parameter(0, self.scale_shape(bottom[0]))
        top[0].reshape(*shape)
        self.images, self.channels, self.size = shape[0], shape[1], prod(shape[2:])
        self.planes = self.images * self.channels if self.size else 0
        self.pieces = -(-self.size // self.kernels.constants["PIECE"])
        self.norm.reshape(self.images if self.across else self.images * self.size)
        self.dot.reshape(self.images)
        self.partial = self.device.empty((max(1, self.planes),), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.launch(lambda kernel, *args: self.kernels.bound(kernel.name)(*args), bottom[0].data, top[0].data)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Planes([self.kernels.file], self.launch)

    def launch(self, launch: Launch, x: AnyArray, y: AnyArray) -> None:
        """The launches of a forward."""
        norm, scale, kernels = self.norm.data, self.blobs[0].data, self.kernels.file
        channels, size, eps = self.channels, self.size, self.param.norm_param.eps
        if self.across:
            launch(kernels.plane_sums, self.planes, x, x, self.partial, size)
            launch(kernels.image_norms, self.images, self.partial, norm, channels, eps)
            launch(kernels.image_forward, self.planes, x, norm, scale, y, channels, size, self.shared)
        else:
            blocks = self.images * self.pieces
            launch(kernels.position_forward, blocks, x, scale, y, norm, channels, size, self.pieces, self.shared, eps)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        x, diff, norm, scale = bottom[0].data, top[0].diff, self.norm.data, self.blobs[0]
        channels, size, kernels = self.channels, self.size, self.kernels
        if self.param_propagate_down[0]:
            kernels.scale_sums(self.planes, x, diff, norm, self.partial, channels, size, self.across)
            kernels.scale_diff(scale.count, self.partial, scale.diff, self.planes)
        if propagate_down[0] and self.across:
            kernels.plane_sums(self.planes, x, diff, self.partial, size)
            kernels.image_dots(self.images, self.partial, self.dot.data, channels)
            kernels.image_backward(
                self.planes, x, diff, norm, self.dot.data, scale.data, bottom[0].diff, channels, size, self.shared
            )
        elif propagate_down[0]:
            kernels.position_backward(
                self.images * self.pieces, x, diff, norm, scale.data, bottom[0].diff, channels, size, self.pieces,
                self.shared,
            )  # fmt: skip


class NormalizeFixed(
    FixedParameters,
    Normalize,
    type="NormalizeFixed",
    param=("norm_param", "normalize_param", "fixed_param"),
    bottoms=1,
    tops=1,
    traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """Normalize whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of Normalize with the parameters as they are.

    Learned parameters: those of Normalize, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of Normalize.
    norm_param
        As of Normalize.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of Normalize.

    Raises
    ------
    LayerError
        As of Normalize; normalize_param; no fixed_param; a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "NormalizeFixed" norm_param { across_spatial: false channel_shared: false }
    ...     fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'''
    >>> run_layer(text, [[3, 4]], params=[[1.4, 0.6]]).round(4)  # 0.6 * 1.5 and 0.8 * 0.5
    array([[0.9, 0.4]], dtype=float32)
    """

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        return ""

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(not self.param.HasField("normalize_param"), "normalize_param is another program's; remove it")
        super().setup(bottom, top)
