"""DenseBlock: a block of DenseNet in one layer, of which each transition reads all channels before it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Kernels, blas
from ..core import Layer, Trait, strided


class DenseBlock(Layer, type="DenseBlock", param="denseblock_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top = the bottom's channels, then growthRate further ones for each transition.

    A transition normalises all channels before it, scales them and takes what is above 0, and convolves that with 3 x 3
    filters, padded by one pixel. With use_BC 4 growthRate filters of one pixel, normalised, scaled and cut off at 0 in the
    same way, go before. Means and variances are those of the batch in TRAIN, which the running averages follow by
    moving_average_fraction, and the running averages at TEST. Filters are turned by half a turn, as its program has cuDNN
    do: this is a convolution in the mathematical sense.

    Learned parameters, for T transitions, each list in their order: filters (growthRate, C, 3, 3); scales, biases, means
    and variances (1, C, 1, 1), C being the channels before it; with use_BC filters (4 growthRate, C, 1, 1), and scales,
    biases, means and variances (1, 4 growthRate, 1, 1), and then C of the first filters is 4 growthRate; last one number
    that has no meaning. Means and variances are not learned.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    denseblock_param
        `numTransition` (40): T. `growthRate` (12). `use_BC` (false). `moving_average_fraction` (0.1). `Filter_Filler`,
        `BN_Scaler_Filler`, `BN_Bias_Filler` (constant 0). `initChannel`, `workspace_MB` and `gpuIdx` have no meaning here.

    Returns
    -------
    top 0
        (N, C + T growthRate, H, W).

    Raises
    ------
    LayerError
        Filters of another size, padding or stride; use_dropout in TRAIN with an amount; no transitions or growth; a bottom
        without elements or of other channels than the first.

    Source
    ------
    Tongcheng/caffe and senlinuc/caffe_ocr, on a GPU; Huang et al. 2017.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "DenseBlock" denseblock_param { numTransition: 2 growthRate: 3 }', [[[[1, 2]]]]).shape
    (1, 7, 1, 2)
    """

    kernels, products, copies = Kernels("dense_block.cu"), blas.HOST, strided.kernels
    reads_top = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.how = self.param.denseblock_param
        self.gemm = partial(blas.gemm, self.device)
        window = p.filter_H, p.filter_W, p.pad_h, p.pad_w, p.conv_verticalStride, p.conv_horizentalStride
        self.need(
            window == (3, 3, 1, 1, 1, 1),
            "filter_H, filter_W, pad_h, pad_w, conv_verticalStride and "
            f"conv_horizentalStride must be 3, 3, 1, 1, 1 and 1, got {window}",
        )
        self.need(p.numTransition > 0 and p.growthRate > 0, "numTransition and growthRate must be at least 1")
        self.train = self.phase == "TRAIN"
        self.need(not (self.train and p.use_dropout and p.dropout_amount > 0), "use_dropout is not supported in TRAIN")
        self.updates_parameters = self.train
        self.make_parameters(bottom[0])
        while len(self.param.param) < len(self.blobs):
            self.param.param.add()
        for i in range(len(self.blobs)):  # means and variances are recorded, not learned
            if i // self.count in (3, 4, 8, 9) or i == len(self.blobs) - 1:
                self.param.param[i].lr_mult = self.param.param[i].decay_mult = 0
                self.param_propagate_down[i] = False

    def make_parameters(self, bottom: Blob) -> None:
        """Makes the parameters, or checks that they still fit the bottom."""
        p = self.how
        first = self.axes(bottom, 4)[1]
        self.need(min(bottom.shape[1:]) > 0, f"its bottom has no elements, its shape is {bottom.shape}")
        self.count, self.growth, few = p.numTransition, p.growthRate, 4 * p.growthRate
        before = [first + t * self.growth for t in range(self.count)]
        filters, scales, biases = p.Filter_Filler, p.BN_Scaler_Filler, p.BN_Bias_Filler
        lists: list[tuple[Any, Any]] = [
            ([(self.growth, few if p.use_BC else c, 3, 3) for c in before], filters),
            *(([(1, c, 1, 1) for c in before], how) for how in (scales, biases, 0.0, 1.0)),
        ]
        if p.use_BC:
            lists.append(([(few, c, 1, 1) for c in before], filters))
            lists += [([(1, few, 1, 1)] * self.count, how) for how in (scales, biases, 0.0, 1.0)]
        at = 0
        for shapes, how in lists:
            for shape in shapes:
                self.parameter(at, shape, *((None, how) if isinstance(how, float) else (how,)))
                at += 1
        self.parameter(at, (1,), value=0)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.make_parameters(bottom[0])
        images, first, height, width = bottom[0].shape
        self.first, self.whole, self.pixels = first, first + self.count * self.growth, height * width
        self.sizes = images, height, width
        top[0].reshape(images, self.whole, height, width)
        widest = max(self.whole - self.growth, 4 * self.growth)
        shape = (images, widest, height, width)
        self.scratch("normal", shape)
        self.scratch("columns", (9 * widest, self.pixels))
        for name in ("normal diff", "few diff"):
            self.scratch(name, shape, backward=True)
        self.scratch("flow", top[0].shape, backward=True)
        few = 4 * self.growth if self.how.use_BC else 0
        self.few = self.device.empty((max(1, self.count * images * few * self.pixels),), self.dtype)
        self.moments = [self.device.empty((self.count, 2, max(self.whole, few)), np.float64) for _ in range(2)]

    def block(self, whole: int, channels: int) -> Any:
        """The sizes of a map for kernels: of `whole` channels, the first `channels` of them."""
        images, height, width = self.sizes
        return self.kernels.struct("Block", images=images, whole=whole, channels=channels, height=height, width=width)

    def window(self, array: AnyArray, start: int, *shape: int) -> AnyArray:
        """A part of an array, from its element `start` on, in a shape."""
        part: AnyArray = self.device.part(array, start, shape)
        return part

    def moments_of(self, t: int, second: int, channels: int) -> list[AnyArray]:
        """Room for the mean and the variance of each channel that transition t normalises, first or second."""
        wide = self.moments[0].shape[2]
        return [self.window(array, (2 * t + second) * wide, channels) for array in self.moments]

    def statistics(self, t: int, second: int, x: AnyArray, whole: int, channels: int) -> list[AnyArray]:
        """The mean and the variance of each channel of `x`, or at TEST the recorded ones."""
        own = self.moments_of(t, second, channels)
        means, variances = (self.blobs[(5 * second + i) * self.count + t].data for i in (3, 4))
        if not self.train:
            self.kernels.block_recorded(channels, means, variances, *own)
            return own
        self.kernels.block_moments(channels, x, *own, self.block(whole, channels))
        count, share = self.sizes[0] * self.pixels, self.how.moving_average_fraction
        self.kernels.block_runs_on(channels, *own, means, variances, count, share)
        return own

    def normal(self, t: int, second: int, x: AnyArray, whole: int, channels: int, own: Sequence[AnyArray]) -> AnyArray:
        """What a transition convolves: normalised, scaled, above 0."""
        images, height, width = self.sizes
        to = self.window(self.room("normal"), 0, images, channels, height, width)
        scale, bias = (self.blobs[(5 * second + i) * self.count + t].data for i in (1, 2))
        self.kernels.block_normal(
            images * channels * self.pixels, x, *own, scale, bias, to, self.block(whole, channels)
        )
        return to

    def few_of(self, t: int) -> AnyArray:
        """The maps of the filters of one pixel of transition t."""
        images, height, width = self.sizes
        few = 4 * self.growth
        return self.window(self.few, t * images * few * self.pixels, images, few, height, width)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, y, few, pixels = self.sizes[0], top[0].data, 4 * self.growth, self.pixels
        self.copy_first(bottom[0].data, self.first, y, self.whole)
        for t in range(self.count if images else 0):
            channels = self.first + t * self.growth
            x = self.normal(t, 0, y, self.whole, channels, self.statistics(t, 0, y, self.whole, channels))
            if self.how.use_BC:
                made = self.few_of(t)
                for n in range(images):
                    of = self.window(x, n * channels * pixels, channels, pixels)
                    to = self.window(made, n * few * pixels, few, pixels)
                    self.gemm(False, False, few, pixels, channels, 1, self.blobs[5 * self.count + t].data, of, 0, to)
                x = self.normal(t, 1, made, few, few, self.statistics(t, 1, made, few, few))
            inputs = few if self.how.use_BC else channels
            for n in range(images):
                columns = self.columns(x, n, inputs)
                to = self.window(y, (n * self.whole + channels) * pixels, self.growth, pixels)
                self.gemm(False, False, self.growth, pixels, 9 * inputs, 1, self.blobs[t].data, columns, 0, to)
        self.remember(top[0])

    def copy_first(self, source: AnyArray, among: int, target: AnyArray, of: int) -> None:
        """Copies the bottom's channels: the first of `among` to the first `of` channels."""
        shape = self.sizes[0], self.first * self.pixels
        strided.copy(self.device, shape, source, (among * self.pixels, 1), target, (of * self.pixels, 1))

    def columns(self, x: AnyArray, n: int, inputs: int) -> AnyArray:
        """The columns of image n."""
        of = self.window(x, n * inputs * self.pixels, inputs, self.pixels)
        to = self.window(self.room("columns"), 0, 9 * inputs, self.pixels)
        self.kernels.block_columns(9 * inputs * self.pixels, of, to, *self.sizes[1:])
        return to

    def normal_diffs(
        self, t: int, second: int, x: AnyArray, whole: int, channels: int, after: AnyArray, diff: AnyArray, to: AnyArray
    ) -> None:
        """Adds the gradients of `normal` to those of its scale and bias, and to that of x."""
        own = self.moments_of(t, second, channels)
        scale, bias = ((5 * second + i) * self.count + t for i in (1, 2))
        diffs = [self.blobs[i].diff if self.param_propagate_down[i] else None for i in (scale, bias)]
        self.kernels.block_normal_diffs(
            channels,
            x,
            *own,
            self.blobs[scale].data,
            after,
            diff,
            *diffs,
            to,
            int(self.train),
            self.block(whole, channels),
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        images, height, width = self.sizes
        y, flow, few, pixels = self.as_made(top[0]).data, self.room("flow"), 4 * self.growth, self.pixels
        flow[...] = top[0].diff
        for t in reversed(range(self.count if images else 0)):
            channels = self.first + t * self.growth
            bottleneck, inputs = self.how.use_BC, few if self.how.use_BC else channels
            source, whole = (self.few_of(t), few) if bottleneck else (y, self.whole)
            x = self.normal(t, int(bottleneck), source, whole, inputs, self.moments_of(t, int(bottleneck), inputs))
            diff = self.window(self.room("normal diff"), 0, images, inputs, height, width)
            for n in range(images):
                after = self.window(flow, (n * self.whole + channels) * pixels, self.growth, pixels)
                columns = self.columns(x, n, inputs)
                if self.param_propagate_down[t]:
                    weight_diff = self.blobs[t].diff
                    self.gemm(False, True, self.growth, 9 * inputs, pixels, 1, after, columns, 1, weight_diff)
                self.gemm(True, False, 9 * inputs, pixels, self.growth, 1, self.blobs[t].data, after, 0, columns)
                to = self.window(diff, n * inputs * pixels, inputs, pixels)
                self.kernels.block_columns_diff(inputs * pixels, columns, to, height, width)
            if not bottleneck:
                self.normal_diffs(t, 0, y, self.whole, channels, x, diff, flow)
                continue
            few_diff = self.window(self.room("few diff"), 0, images, few, height, width)
            few_diff.fill(0)
            self.normal_diffs(t, 1, source, few, few, x, diff, few_diff)
            x = self.normal(t, 0, y, self.whole, channels, self.moments_of(t, 0, channels))
            diff, index = self.window(self.room("normal diff"), 0, images, channels, height, width), 5 * self.count + t
            for n in range(images):
                after = self.window(few_diff, n * few * pixels, few, pixels)
                of = self.window(x, n * channels * pixels, channels, pixels)
                if self.param_propagate_down[index]:
                    self.gemm(False, True, few, channels, pixels, 1, after, of, 1, self.blobs[index].diff)
                to = self.window(diff, n * channels * pixels, channels, pixels)
                self.gemm(True, False, channels, pixels, few, 1, self.blobs[index].data, after, 0, to)
            self.normal_diffs(t, 0, y, self.whole, channels, x, diff, flow)
        if propagate_down[0]:
            self.copy_first(flow, self.whole, bottom[0].diff, self.first)
