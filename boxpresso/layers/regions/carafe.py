"""Carafe: upsampling by a kernel for each pixel of the result, which the net predicts (CARAFE)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core.layer import Layer
from ..core.param_str import settings


class Carafe(Layer, type="Carafe", param="python_param", bottoms=2, tops=1):
    """Each pixel of the result is a weighted sum of the k x k pixels around the one that it comes from.

    top[n, c, y, x] = sum over i, j of mask[n, (g k + i) k + j, y, x] bottom[n, c, y / s + i - k / 2, x / s + j - k / 2], where
    g is the group of channel c, quotients are rounded down, and pixels outside the bottom are 0.

    Gradients go to the features and to the masks. float16 and bfloat16 are storage types.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), features.
    bottom 1
        (N, group_size kernel_size^2, H scale_factor, W scale_factor), the masks.
    python_param
        Such as python_param { param_str: "'kernel_size': 5, 'group_size': 1, 'scale_factor': 2" }. `param_str`: a text with
        `kernel_size` (5), k, which is odd; `group_size` (1), so many groups of channels have masks of their own;
        `scale_factor` (2), s.

    Returns
    -------
    top 0
        (N, C, H scale_factor, W scale_factor).

    Raises
    ------
    LayerError
        For settings or shapes that do not fit.

    Source
    ------
    Wang et al. 2019, CARAFE; numbers and arguments as mmcv's carafe has them.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = '''type: "Carafe" python_param { param_str: "'kernel_size': 1, 'scale_factor': 2" }'''
    >>> run_layer(layer, [[[[1, 2]]]], np.full((1, 1, 2, 4), 3)).tolist()
    [[[[3.0, 3.0, 6.0, 6.0], [3.0, 3.0, 6.0, 6.0]]]]
    """

    kernels = Kernels("carafe.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        s = settings(self, {"kernel_size": 5, "group_size": 1, "scale_factor": 2})
        whole = all(type(value) is int and 0 < value < 1024 for value in s.values())
        self.need(whole and s["kernel_size"] % 2, f"kernel_size must be odd, and all settings from 1 to 1023, got {s}")
        most = self.kernels.constants["REACH"]
        reach = (s["kernel_size"] - 1) * s["scale_factor"]
        self.need(reach <= most, f"(kernel_size - 1) scale_factor must be at most {most}, got {reach}")
        self.need(
            s["scale_factor"] <= self.kernels.constants["TOGETHER"], f"scale_factor is too large: {s['scale_factor']}"
        )
        self.kernel, self.groups, self.scale = s["kernel_size"], s["group_size"], s["scale_factor"]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        batch, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.need(channels % self.groups == 0, f"{channels} channels cannot be cut into {self.groups} groups")
        wanted = batch, self.groups * self.kernel**2, height * self.scale, width * self.scale
        self.need(bottom[1].shape == wanted, f"bottom 1, the masks, must be of shape {wanted}, got {bottom[1].shape}")
        self.geometry = self.kernels.struct(
            "CarafeGeometry", channels=channels, height=height, width=width, kernel=self.kernel, groups=self.groups,
            scale=self.scale,
        )  # fmt: skip
        parts = -(-(channels // self.groups) // self.kernels.constants["CHANNELS"])
        self.blocks = batch * self.groups * parts  # of each row
        top[0].reshape(batch, channels, *wanted[2:])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        blocks = self.blocks * top[0].shape[2]
        self.kernels.carafe_forward(blocks, bottom[0].data, bottom[1].data, top[0].data, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        batch, _, height, _ = bottom[0].shape
        if propagate_down[0]:
            self.kernels.carafe_features(
                self.blocks * height, bottom[1].data, top[0].diff, bottom[0].diff, self.geometry
            )
        if propagate_down[1]:
            blocks = batch * self.groups * self.kernel * bottom[1].shape[2]
            self.kernels.carafe_mask(blocks, bottom[0].data, top[0].diff, bottom[1].diff, self.geometry)
