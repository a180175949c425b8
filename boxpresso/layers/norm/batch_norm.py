"""BatchNorm: zero mean and unit variance for each channel."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import AnyArray, Blob
from ..core import Layer, Trait
from ..core.lowering import Affine, Fusible, Lowering, Pointwise
from ..core.training import Link, Together
from .batch_norm_kernels import kernels as batch_norm_kernels
from .norm_chain import NormChain


class BatchNorm(
    Layer,
    type="BatchNorm",
    param="batch_norm_param",
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = (bottom - mean) / sqrt(variance + eps), for each channel (axis 1).

    The mean and variance are those of the batch, which are then also recorded, or with use_global_stats the recorded
    ones.

    Caffe's form has three parameters: the sum of the means, (C), the sum of the unbiased variances, (C), and the number
    to divide both by, (1). Each batch multiplies all three by moving_average_fraction, then adds its statistics and 1.
    They are recorded, not learned: their lr_mult and decay_mult are 0, whatever the prototxt says.

    NVCaffe's form has five: `scale_bias: true`, scale_filler or bias_filler selects it. A learned scale, (C), and a
    learned bias, (C), follow, and top = scale * (...) + bias. The statistics are plain running averages then, and eps
    is at least 1e-5.

    Parameters
    ----------
    bottom 0
        (N, C, ...); a bottom of one axis is one channel.
    batch_norm_param
        `use_global_stats`: whether to use the recorded statistics; by default false in TRAIN and true at TEST.
        `moving_average_fraction` (0.999): how much of the recorded statistics each batch leaves. `eps` (1e-5): added to
        the variance. NVCaffe's: `scale_bias` (false), `scale_filler` (1) and `bias_filler` (0), the initial scale and
        bias.

    Returns
    -------
    top 0
        The normalised values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a negative eps, a bottom without axes, a number of channels that changes after setup, and fields of forks
        that are not supported: disable_mean, disable_variance, icnet, relu, fused_relu, use_alpha_beta,
        `add_eps_before_sqrt: false`.

    Source
    ------
    Caffe, NVCaffe; Ioffe and Szegedy 2015.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "BatchNorm" batch_norm_param { eps: 1e-5 }'
    >>> run_layer(text, [[1, 10], [3, 30]], phase="TRAIN").round(4).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]

    A sum of means of 4 and a sum of variances of 8, of two batches: the mean is 2 and the variance 4.

    >>> run_layer(text, [[6]], params=[[4], [8], [2]]).round(4).tolist()
    [[2.0]]
    """

    kernels = batch_norm_kernels

    @classmethod
    def parameter_names(cls, shapes: Sequence[Sequence[int]]) -> Sequence[str]:
        return "running_mean", "running_var", "scale_factor", "weight", "bias"

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.batch_norm_param
        for fork in ("disable_mean", "disable_variance", "icnet", "relu", "fused_relu", "use_alpha_beta"):
            self.need(not getattr(p, fork), f"batch_norm_param: {fork} of a fork is not supported; remove it")
        self.need(p.add_eps_before_sqrt, "batch_norm_param: add_eps_before_sqrt: false of a fork is not supported")
        self.need(p.eps >= 0, f"eps must not be negative, got {p.eps}")
        self.running = p.use_global_stats if p.HasField("use_global_stats") else self.phase == "TEST"
        self.updates_parameters = not self.running
        self.five = p.scale_bias or p.HasField("scale_filler") or p.HasField("bias_filler")
        self.eps = max(p.eps, 1e-5) if self.five else p.eps
        self.normal = Blob((), self.dtype, self.device)  # the normalised bottom, where the top takes its place
        self.need(len(bottom[0].shape) > 0, "its bottom must have one axis at least, got a single number")
        channels = self.channels(bottom[0])
        for i, shape in enumerate([(channels,), (channels,), (1,)]):
            self.parameter(i, shape, value=0)
        if self.five:
            for i, name, value in ((3, "scale_filler", 1), (4, "bias_filler", 0)):
                filler = getattr(p, name) if p.HasField(name) else None
                self.parameter(i, (channels,), filler, value if filler is None else None)
        while len(self.param.param) < len(self.blobs):
            self.param.param.add()
        for i in range(3):  # statistics are recorded, not learned, whatever the prototxt says
            self.param.param[i].lr_mult = self.param.param[i].decay_mult = 0
            self.param_propagate_down[i] = False

    @staticmethod
    def channels(blob: Blob) -> int:
        return blob.shape[1] if len(blob.shape) > 1 else 1

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, channels = bottom[0].shape, self.channels(bottom[0])
        self.parameter(0, (channels,))
        top[0].reshape(*shape)
        if bottom[0] is top[0] and (self.five or not self.running):
            self.normal.reshape(*shape)
        self.images: int = shape[0] if len(shape) > 1 else 1
        self.size: int = prod(shape[2:]) if len(shape) > 1 else shape[0]
        self.planes = self.images * channels if self.size else 0
        self.stats = [self.device.empty((channels,), self.dtype) for _ in range(4)]
        self.partial = self.device.empty((2 * max(1, self.planes),), np.float64)
        fraction = self.param.batch_norm_param.moving_average_fraction
        self.batch = self.kernels.struct("Batch", images=self.images, size=self.size, eps=self.eps, fraction=fraction)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.planes:
            self.statistics(bottom[0].data)
            self.normalise(bottom[0], top[0])

    def statistics(self, x: AnyArray) -> None:
        """The mean of each channel and 1 / its deviation, of the batch or of the running averages."""
        (mean, inverse, *_), kernels = self.stats, self.kernels
        if self.running:
            sums, squares, factor = (blob.data for blob in self.blobs[:3])
            kernels.running_stats(len(sums), sums, squares, factor, self.eps, mean, inverse)
        else:
            kernels.batch_sums(self.planes, x, self.partial, len(mean), self.size)
            self.count(x)

    def count(self, x: AnyArray | None = None) -> None:
        """The running sums, with the batch's statistics, which are made of the sums of planes of `x`, or there already."""
        (mean, inverse, *_), (sums, squares, factor) = self.stats, (blob.data for blob in self.blobs[:3])
        fraction, average = self.param.batch_norm_param.moving_average_fraction, int(self.five)
        kernels, partial, batch = self.kernels, self.partial, self.batch
        if x is None:
            kernels.batch_runs_on(len(mean), mean, partial, batch, average, factor, sums, squares)
        else:
            kernels.batch_stats(len(mean), x, partial, batch, average, factor, mean, inverse, sums, squares)
        kernels.count_batch(1, factor, fraction, average)

    def normalise(self, bottom: Blob, top: Blob) -> None:
        """The top, by the statistics."""
        x, (mean, inverse, *_) = bottom.data, self.stats
        normal = None
        if bottom is top and (self.five or not self.running):
            self.normal.reshape(*bottom.shape)
            normal = self.normal.data
        scale, bias = (blob.data for blob in self.blobs[3:]) if self.five else (None, None)
        self.kernels.normalise(self.planes, x, mean, inverse, scale, bias, top.data, normal, len(mean), self.size)

    def training_chain(self, links: Sequence[Link]) -> Together | None:
        return NormChain.of(links) if type(self) is BatchNorm else None  # a user's own class does what it says

    def fuse(self) -> Fusible | None:
        if not self.running:
            return None
        mean, variance, factor = (np.asarray(blob.data, np.float64) for blob in self.blobs[:3])
        by = 1 / factor[0] if factor[0] else 0.0
        scale = 1 / np.sqrt(variance * by + self.eps)
        affine = Affine(scale, -mean * by * scale)
        return affine.then(Affine(*(np.asarray(b.data, np.float64) for b in self.blobs[3:]))) if self.five else affine

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return Pointwise(self.device, self.dtype, affine=self.fuse) if self.running else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not self.planes:
            return
        diff, x, (mean, inverse, sum_mean, dot_mean) = top[0].diff, bottom[0].data, self.stats
        normal = self.normal.data if bottom[0] is top[0] and (self.five or not self.running) else None
        scale = self.blobs[3].data if self.five else None
        learning = self.five and any(self.param_propagate_down[3:])
        if learning or not self.running:
            channels = len(mean)
            self.kernels.diff_sums(self.planes, diff, x, normal, mean, inverse, self.partial, channels, self.size)
            wanted = [self.blobs[i].diff if self.five and self.param_propagate_down[i] else None for i in (3, 4)]
            self.kernels.join_diff_sums(channels, self.partial, self.images, self.size, sum_mean, dot_mean, *wanted)
        if propagate_down[0] and self.running:
            self.kernels.running_diff(self.planes, diff, inverse, scale, bottom[0].diff, len(mean), self.size)
        elif propagate_down[0]:
            self.kernels.batch_diff(
                self.planes, diff, x, normal, mean, inverse, scale, sum_mean, dot_mean, bottom[0].diff, len(mean),
                self.size,
            )  # fmt: skip
