"""BN: batch normalisation with its own scale and shift, of PSPNet, ICNet, SegNet and ENet."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob
from ..core import Layer, Trait
from ..core.lowering import Affine, Fusible, Lowering, Pointwise
from .batch_norm_kernels import kernels as batch_norm_kernels

UNKNOWN = ("across_spatial", "sync_forward", "icnet")
AVERAGED = {"var_eps", "moving_average", "decay", "axis"}
SEGNET = {"scale_filler", "shift_filler", "bn_mode"}
PSPNET = {"slope_filler", "bias_filler", "momentum", "eps", "frozen"}


class BN(
    Layer,
    type="BN",
    param="bn_param",
    bottoms=1,
    tops=(1, 3),
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = scale * (bottom - mean) / sqrt(variance + eps) + shift, for each channel (axis 1).

    Three layers have this name; their fields tell them apart.

    PSPNet's and ICNet's: the form without the fields of the other. TRAIN takes the statistics of the batch and keeps
    running averages, average = momentum * average + (1 - momentum) * batch; TEST and `frozen: true` take the running
    averages. It has four parameters of shape (1, C): scale, shift, mean, variance. The last two are recorded, not
    learned; with `frozen: true` none of the four changes.

    SegNet's and ENet's: the form with scale_filler, shift_filler or bn_mode. LEARN takes the statistics of the batch in
    both phases; eps is 1e-9. INFERENCE takes no statistics at all: top = scale * bottom + shift. It has two parameters
    of shape (1, C, 1, 1): scale and shift.

    CTPN's and ChenglongChen's: the form with var_eps, moving_average or decay. TRAIN takes the statistics of the batch
    and keeps running averages, average = (1 - decay) * average + decay * batch; TEST takes these with `moving_average:
    true`, else the batch's. It has four parameters of shape (1, C, 1, 1): scale, shift, mean, variance, the last two
    recorded, not learned.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    bn_param
        PSPNet's: `slope_filler` (1) and `bias_filler` (0), the initial scale and shift, `momentum` (0.9), `eps` (1e-5),
        `frozen` (false). SegNet's: `scale_filler` (1) and `shift_filler` (0), likewise, and `bn_mode` (LEARN): LEARN or
        INFERENCE. CTPN's: `scale_filler`, `shift_filler`, `var_eps` (1e-10), `moving_average` (false), `decay` (0.05).

    Returns
    -------
    top 0
        The normalised values, in the shape of the bottom.
    top 1, top 2
        Optional, of SegNet's with LEARN: the mean and the variance of the batch, (1, C, 1, 1).

    Raises
    ------
    LayerError
        For fields of several of these layers, fields of others (across_spatial, sync_forward, icnet, an axis other than
        1), a decay above 0.5 in TRAIN (forks that write the part that stays: give 1 - decay), a second top in another
        form than SegNet's with LEARN, a negative eps, a bottom without a channel axis, and a number of channels that
        changes after setup.

    Source
    ------
    yjxiong's Caffe; caffe-segnet; CTPN's Caffe; Ioffe and Szegedy 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "BN" bn_param { momentum: 0.9 eps: 1e-5 frozen: false }'
    >>> run_layer(text, [[6]], params=[[2], [1], [2], [4]]).round(4).tolist()  # scale, shift, mean, variance
    [[5.0]]
    >>> tops = run_layer('type: "BN" bn_param { bn_mode: LEARN }', [[1], [3]], tops=3)
    >>> [top.round(4).ravel().tolist() for top in tops]
    [[-1.0, 1.0], [2.0], [1.0]]
    """

    kernels = batch_norm_kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.bn_param
        names = {field.name for field, _ in p.ListFields()}
        for name in UNKNOWN:
            self.need(name not in names, f"bn_param: {name}, of another BN layer, is not supported; remove it")
        self.averaged = bool(names & AVERAGED)
        self.segnet = bool(names & SEGNET) and not self.averaged
        mixed = names & (PSPNET | {"bn_mode"} if self.averaged else PSPNET) if names & (SEGNET | AVERAGED) else ()
        self.need(
            not mixed, f"bn_param has fields of several layers: {sorted(names)}; keep PSPNet's, SegNet's or CTPN's"
        )
        self.need(len(top) == 1 or self.segnet, "more than one top is for a BN with bn_mode")
        self.eps, self.plain, self.keep = p.eps, False, p.momentum
        if self.segnet:
            self.plain, self.running, self.eps = p.bn_mode == p.INFERENCE, p.bn_mode == p.INFERENCE, 1e-9
            self.need(len(top) == 1 or not self.plain, "bn_mode: INFERENCE has no statistics for a second top")
        elif self.averaged:
            self.running, self.eps, self.keep = p.moving_average and self.phase == "TEST", p.var_eps, 1 - p.decay
            self.need(p.axis == 1, f"bn_param: takes axis 1 alone, got {p.axis:g}")
            self.need(
                p.decay <= 0.5 or self.phase == "TEST",
                f"bn_param: decay is the part of the new batch here, got {p.decay:g}; if it is the part that stays, "
                f"as in some forks, write decay: {1 - p.decay:g}",
            )
        else:
            self.running = p.frozen or self.phase == "TEST"
        self.need(self.eps >= 0, f"eps must not be negative, got {self.eps:g}")
        self.updates_parameters = not self.running and not (self.averaged and self.phase == "TEST")
        self.normal = Blob((), self.dtype, self.device)  # the normalised bottom, where the top takes its place
        self.make_parameters(bottom)
        while len(self.param.param) < len(self.blobs):
            self.param.param.add()
        for i in range(len(self.blobs)):  # statistics are recorded, not learned, whatever the prototxt says
            if i > 1 or p.frozen:
                self.param.param[i].lr_mult = self.param.param[i].decay_mult = 0
                self.param_propagate_down[i] = False

    def make_parameters(self, bottom: list[Blob]) -> None:
        p, shape = self.param.bn_param, bottom[0].shape
        self.need(len(shape) > 1, f"its bottom must be (N, C, ...), got shape {shape}")
        form = (1, shape[1], 1, 1) if self.segnet or self.averaged else (1, shape[1])
        names = ("slope_filler", "bias_filler")
        if self.segnet or self.averaged:
            names = ("scale_filler", "shift_filler")
        for i, name in enumerate(names):
            filler = getattr(p, name) if p.HasField(name) else None
            self.parameter(i, form, filler, 1 - i if filler is None else None)
        if not self.segnet:
            self.parameter(2, form, value=0)
            self.parameter(3, form, value=int(p.frozen))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.make_parameters(bottom)
        shape = bottom[0].shape
        top[0].reshape(*shape)
        if bottom[0] is top[0]:
            self.normal.reshape(*shape)
        for blob in top[1:]:
            blob.reshape(1, shape[1], 1, 1)
        self.images, self.channels, self.size = shape[0], shape[1], prod(shape[2:])
        self.planes = self.images * self.channels if self.size else 0
        self.mean, self.inverse, *self.means = (self.device.empty((self.channels,), self.dtype) for _ in range(4))
        if self.plain:
            self.mean.fill(0)
            self.inverse.fill(1)
        self.partial = self.device.empty((2 * max(1, self.planes),), np.float64)
        self.batch = self.kernels.struct("Batch", images=self.images, size=self.size, eps=self.eps, fraction=self.keep)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.planes:
            return
        x, mean, inverse = bottom[0].data, self.mean, self.inverse
        if not self.running:
            records = self.blobs[2:] if self.updates_parameters else []
            averages = [blob.data for blob in records] or (None, None)
            tops = [blob.data for blob in top[1:]] + [None] * (3 - len(top))
            self.kernels.batch_sums(self.planes, x, self.partial, self.channels, self.size)
            self.kernels.batch_moments(self.channels, x, self.partial, self.batch, mean, inverse, *averages, *tops)
        elif not self.plain:
            self.kernels.average_moments(self.channels, *(b.data for b in self.blobs[2:]), self.eps, mean, inverse)
        normal = None
        if bottom[0] is top[0]:
            self.normal.reshape(*bottom[0].shape)
            normal = self.normal.data
        scale, shift = (blob.data for blob in self.blobs[:2])
        self.kernels.normalise(
            self.planes, x, mean, inverse, scale, shift, top[0].data, normal, self.channels, self.size
        )

    def fuse(self) -> Fusible | None:
        if not self.running:
            return None
        scale, shift, *averages = (np.asarray(blob.data, np.float64).reshape(-1) for blob in self.blobs)
        affine = Affine(scale, shift)
        if self.plain:
            return affine
        mean, variance = averages
        inverse = 1 / np.sqrt(variance + self.eps)
        return Affine(inverse, -mean * inverse).then(affine)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Pointwise(self.device, self.dtype, affine=self.fuse) if self.running and len(top) == 1 else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not self.planes:
            return
        diff, x, sizes = top[0].diff, bottom[0].data, (self.channels, self.size)
        normal, scale = self.normal.data if bottom[0] is top[0] else None, self.blobs[0].data
        if any(self.param_propagate_down) or not self.running:
            self.kernels.diff_sums(self.planes, diff, x, normal, self.mean, self.inverse, self.partial, *sizes)
            wanted = [b.diff if down else None for b, down in zip(self.blobs[:2], self.param_propagate_down)]
            self.kernels.join_diff_sums(self.channels, self.partial, self.images, self.size, *self.means, *wanted)
        if propagate_down[0] and self.running:
            self.kernels.running_diff(self.planes, diff, self.inverse, scale, bottom[0].diff, *sizes)
        elif propagate_down[0]:
            self.kernels.batch_diff(
                self.planes, diff, x, normal, self.mean, self.inverse, scale, *self.means, bottom[0].diff, *sizes
            )
