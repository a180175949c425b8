"""Correlation: how much patches of one map resemble those around them in another, as FlowNet and DispNet have it."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core.layer import Layer


class FlowCorrelation(Layer, type="Correlation", param="correlation_param", bottoms=2, tops=1):
    """For each place and each displacement the mean product of two maps over the channels and a kernel.

    top[n, p P + q, y, x] = mean over c, i, j of a[n, c, v, w] b[n, c, v + dy, w + dx], where v = y stride_1 - pad +
    max_displacement + i, w likewise, dy = (p - R) stride_2, dx = (q - R) stride_2, R = max_displacement // stride_2,
    P = 2 R + 1; pixels outside either map are 0. Gradients go to both maps.

    Parameters
    ----------
    bottom 0, bottom 1
        (N, C, H, W), a and b.
    correlation_param
        `kernel_size`, an odd number, and `max_displacement` must be given. `pad` (0), `stride_1` (1), of the places, and
        `stride_2` (1), of the displacements.

    Returns
    -------
    top 0
        (N, P P, H', W'), H' = ceil((H + 2 pad - 2 max_displacement - kernel_size + 1) / stride_1), W' likewise.

    Raises
    ------
    LayerError
        For maps of different shapes, or too small; kernel_size or max_displacement that are not given, an even kernel_size, a
        stride of 0; correlation_type: SUBTRACT, do_abs and single_direction, which are not supported.

    Source
    ------
    Dosovitskiy et al. 2015, FlowNet, and its program (lmb-freiburg/flownet2).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Correlation" correlation_param { kernel_size: 1 max_displacement: 1 pad: 1 }'
    >>> run_layer(text, [[[[1, 2, 3]]]], [[[[4, 5, 6]]]])[0, 3:6, 0].tolist()
    [[0.0, 8.0, 15.0], [4.0, 10.0, 18.0], [5.0, 12.0, 0.0]]
    """

    kernels = Kernels("correlation.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.how = p = self.param.correlation_param
        for name in ("kernel_size", "max_displacement"):
            self.need(p.HasField(name), f"correlation_param: {name} must be given")
        self.need(p.kernel_size % 2 == 1, f"correlation_param: kernel_size must be odd, got {p.kernel_size}")
        self.need(p.stride_1 and p.stride_2, "correlation_param: stride_1 and stride_2 must be at least 1, got 0")
        most = self.kernels.constants["FURTHEST"]
        for name in ("kernel_size", "max_displacement", "pad", "stride_1", "stride_2"):
            value = getattr(p, name)
            self.need(value <= most, f"correlation_param: {name} must be at most {most}, got {value}")
        self.need(p.correlation_type == p.MULTIPLY, "correlation_param: correlation_type: SUBTRACT is not supported")
        for name in ("do_abs", "single_direction"):
            self.need(not getattr(p, name), f"correlation_param: {name} is not supported; remove it")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.need(
            bottom[1].shape == bottom[0].shape,
            f"both maps must be of one shape, got {bottom[0].shape} and {bottom[1].shape}",
        )
        p, reach = self.how, self.how.max_displacement // self.how.stride_2
        border = 2 * p.max_displacement + p.kernel_size - 1
        size = [-(-(side + 2 * p.pad - border) // p.stride_1) for side in (height, width)]
        self.need(
            min(size) > 0,
            f"displacements of {p.max_displacement} and a kernel of {p.kernel_size} do not fit maps of {height} x {width} with "
            f"pad: {p.pad}",
        )
        self.geometry = self.kernels.struct(
            "CorrelationGeometry", channels=channels, height=height, width=width, out_height=size[0], out_width=size[1],
            kernel=p.kernel_size, reach=reach, stride=p.stride_1, pad=p.pad - p.max_displacement, dilation=1,
            patch_step=p.stride_2, factor=1 / max(p.kernel_size**2 * channels, 1),
        )  # fmt: skip
        patch, groups = 2 * reach + 1, -(-channels // self.kernels.constants["GROUP"])
        self.rows, self.out_rows = batch * groups * height, batch * patch * size[0]
        top[0].reshape(batch, patch * patch, *size)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.correlation_forward(self.out_rows, bottom[0].data, bottom[1].data, top[0].data, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, sign in ((0, 1), (1, -1)):
            if propagate_down[i]:
                self.kernels.correlation_backward(
                    self.rows, bottom[1 - i].data, top[0].diff, bottom[i].diff, sign, self.geometry
                )
