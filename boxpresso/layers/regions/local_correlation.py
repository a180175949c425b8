"""LocalCorrelation: how much patches of one map resemble those around them in another (FlowNet, PWC-Net)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core.layer import Layer
from ..core.param_str import settings

DEFAULTS = {"kernel_size": 1, "max_displacement": 1, "stride": 1, "padding": 0, "dilation": 1, "dilation_patch": 1}


class LocalCorrelation(Layer, type="LocalCorrelation", param="python_param", bottoms=2, tops=1):
    """For each pixel and each displacement the product of two maps, summed over the channels and a kernel.

    top[n, p, q, y, x] = sum over c, i, j of a[n, c, v, w] b[n, c, v + dy, w + dx], where v = y stride - padding + i dilation,
    w likewise, dy = (p - max_displacement) dilation_patch and dx = (q - max_displacement) dilation_patch; pixels outside
    either map are 0. It is not divided by anything.

    Gradients go to both maps. float16 and bfloat16 are storage types.

    Parameters
    ----------
    bottom 0, bottom 1
        (N, C, H, W), a and b.
    python_param
        Such as python_param { param_str: "'max_displacement': 4" }. `param_str`: a text with `kernel_size` (1),
        `max_displacement` (1), `stride` (1), `padding` (0), `dilation` (1), `dilation_patch` (1).

    Returns
    -------
    top 0
        (N, P, P, H', W') with P = 2 max_displacement + 1.

    Raises
    ------
    LayerError
        For settings or shapes that do not fit.

    Source
    ------
    Dosovitskiy et al. 2015, FlowNet; numbers and arguments as mmcv's Correlation has them.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "LocalCorrelation"', [[[[1, 2, 3]]]], [[[[4, 5, 6]]]])[0, 1, :, 0].tolist()
    [[0.0, 8.0, 15.0], [4.0, 10.0, 18.0], [5.0, 12.0, 0.0]]
    """

    kernels = Kernels("correlation.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        s = settings(self, DEFAULTS)
        whole = all(type(value) is int and 0 <= value < 2**15 for value in s.values())
        self.need(
            whole and min(s[k] for k in ("kernel_size", "stride", "dilation", "dilation_patch")) > 0,
            f"all settings must be whole numbers from 0 on, and but for max_displacement and padding from 1 on; got {s}",
        )
        self.settings = s

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.need(
            bottom[1].shape == bottom[0].shape,
            f"both maps must be of one shape, got {bottom[0].shape} and {bottom[1].shape}",
        )
        s = self.settings
        reach = s["dilation"] * (s["kernel_size"] - 1) + 1
        size = [(n + 2 * s["padding"] - reach) // s["stride"] + 1 for n in (height, width)]
        self.need(
            min(size) >= 0, f"a kernel of {reach} pixels does not fit maps of {height} x {width} with this padding"
        )
        patch = 2 * s["max_displacement"] + 1
        self.geometry = self.kernels.struct(
            "CorrelationGeometry", channels=channels, height=height, width=width, out_height=size[0], out_width=size[1],
            kernel=s["kernel_size"], reach=s["max_displacement"], stride=s["stride"], pad=s["padding"],
            dilation=s["dilation"], patch_step=s["dilation_patch"], factor=1,
        )  # fmt: skip
        groups = -(-channels // self.kernels.constants["GROUP"])
        self.rows, self.out_rows = batch * groups * height, batch * patch * size[0]
        top[0].reshape(batch, patch, patch, *size)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.correlation_forward(self.out_rows, bottom[0].data, bottom[1].data, top[0].data, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for i, sign in ((0, 1), (1, -1)):
            if propagate_down[i]:
                self.kernels.correlation_backward(
                    self.rows, bottom[1 - i].data, top[0].diff, bottom[i].diff, sign, self.geometry
                )
