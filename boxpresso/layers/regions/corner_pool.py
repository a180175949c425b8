"""CornerPool: the largest pixel from each one to the border, in one direction (CornerNet)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ...device.kernel import real_of
from ..core import Trait
from ..core.param_str import settings
from .region_base import RegionLayer

MODES = {"top": (1, 1), "bottom": (1, 0), "left": (0, 1), "right": (0, 0)}  # along columns, from the end


class CornerPool(RegionLayer, type="CornerPool", param="python_param", bottoms=1, tops=1, traits=Trait.SIXTEEN_BITS):
    """The largest pixel from each one on, in one direction.

    top: of the pixels from (y, x) to the last row, top[y, x] = max over i >= y of bottom[i, x]; bottom: to the first row;
    left: to the last column; right: to the first column. A NaN holds for all pixels that see it.

    The gradient goes to the pixel that was taken, of equal ones to the farthest from the result's. float16 and bfloat16
    are storage types.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    python_param
        Such as python_param { param_str: "'mode': 'top'" }. `param_str`: a text with `mode` (required): top, bottom, left or
        right.

    Returns
    -------
    top 0
        The same shape.

    Raises
    ------
    LayerError
        For another mode, or a bottom that has not four axes.

    Source
    ------
    Law and Deng 2018, CornerNet; numbers as mmcv's CornerPool has them.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('''type: "CornerPool" python_param { param_str: "'mode': 'left'" }''', [[[[1, 3, 2]]]]).tolist()
    [[[[3.0, 3.0, 2.0]]]]
    """

    kernels = Kernels("corner_pool.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        mode = settings(self, {"mode": ""})["mode"]
        self.need(mode in MODES, f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        self.mode, self.real = MODES[mode], real_of(self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        *planes, height, width = self.axes(bottom[0], 4, "bottom 0")
        vertical, reverse = self.mode
        self.planes = prod(planes)
        self.geometry = self.kernels.struct("Lines", height=height, width=width, vertical=vertical, reverse=reverse)
        top[0].reshape(*bottom[0].shape)
        self.ask_sums(bottom[0].shape)
        self.scratch("room", (self.planes, width), backward=True)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.corner_pool_forward(self.planes, bottom[0].data, top[0].data, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            sums = self.sums_of(bottom[0].diff)
            self.kernels.corner_pool_backward(
                self.planes, bottom[0].data, top[0].diff, sums, self.room("room"), self.geometry
            )
            if sums is not bottom[0].diff:
                self.narrow(sums, bottom[0].diff)

    def allow_force_backward(self, index: int) -> bool:
        return True
