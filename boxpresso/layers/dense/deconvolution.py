"""Deconvolution (transposed convolution): the adjoint of Convolution, for upsampling."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from .convolution_base import WindowLayer


class Deconvolution(WindowLayer, type="Deconvolution", param="convolution_param", bottoms=(1, None), tops=(1, None)):
    """Each bottom element adds W, times itself, to a window of the top; then bias. Convolution's gradient as a layer.

    convolution_param as for Convolution, see WindowLayer. Parameters: W (channels, num_output / group, *kernel), bias
    (num_output,). Bottom (N, C, *size), top (N, num_output, *(stride (size - 1) + dilation (kernel - 1) + 1 - 2 pad)).
    Bilinear upsampling by f: group and num_output C, kernel 2f - f % 2, stride f, pad ceil((f - 1) / 2), weight_filler
    "bilinear". Source: Caffe.
    """

    def weights_shape(self) -> tuple[int, ...]:
        return self.channels, self.outputs // self.group, *self.kernel

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        map = self.spatial(bottom, top)
        image = [s * (m - 1) + e - 2 * p for s, m, e, p in zip(self.stride, map, self.extent, self.pad)]
        self.need(
            min(image, default=1) > 0,
            f"the top would have the spatial shape {image}: bottom {list(map)}, kernel {list(self.kernel)}, stride "
            f"{list(self.stride)}, pad {list(self.pad)}; the pad is too large",
        )
        before = self.plan(bottom, self.outputs, image, self.channels, map)
        for blob in top:
            blob.reshape(*before, self.outputs, *image)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for x, y in zip(bottom, top):
            self.convolution.spread(x.data, self.blobs[0].data, self.bias, y.data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        weights = self.blobs[0]
        for down, x, y in zip(propagate_down, bottom, top):
            self.bias_backward(y)
            if self.param_propagate_down[0]:
                self.convolution.gradient(y.diff, x.data, weights.diff)
            if down:
                self.convolution.correlate(y.diff, weights.data, None, x.diff, False)
