"""Resample, Downsample: a map at another size, as FlowNet brings flows to that of its images."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core.layer import Layer
from ..core.traits import Trait


class Resized(Layer):
    """What layers share whose map has the size of a second bottom, or one that their message gives, and no gradient."""

    kernels = Kernels("resample.cu")

    def resize(
        self, bottom: list[Blob], top: list[Blob], fields: str, high: int, wide: int
    ) -> tuple[int, int, int, int]:
        """Gives the top its shape; the sizes of the map and of the top. fields: what the message calls high and wide."""
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        if len(bottom) > 1:
            high, wide = self.axes(bottom[1], 4, "bottom 1")[2:]
        else:
            self.need(high and wide, f"{fields} must be given, or a second bottom of that size")
        self.need(min(height, width, high, wide) > 0, f"cannot make {high} x {wide} pixels of {height} x {width}")
        top[0].reshape(images, channels, high, wide)
        return height, width, high, wide

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down), "has no gradient; set propagate_down: false for its bottoms")

    def allow_force_backward(self, index: int) -> bool:
        return False


class Resample(
    Resized, type="Resample", param="resample_param", bottoms=(1, 2), tops=1, traits=Trait.WRITES_ALL | Trait.BY_CHANNEL
):
    """top[n, c, i, j] = a weighted mean of the pixels of a channel about (y, x).

    With s = H / H' and t = W / W', y = i s + t / 2 - 1 / 2 and x = j t + s / 2 - 1 / 2: each has the other axis' step for its
    offset, as in the program, which is the middle of the pixel where both steps are the same. The weights are the product of
    k(a (y - row)) and k(b (x - column)), k being the triangle (LINEAR) or Keys' cubic with -1/2 (CUBIC); a = b = 1 but for
    antialias where the top is smaller along an axis: then a = 1 / s and b = 1 / t. Pixels outside the map do not count.
    There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    bottom 1
        Optional: (..., H', W'), whose size the top has.
    resample_param
        `height`, `width`: H' and W', without a second bottom; or `factor`, times which H and W are taken, rounded down.
        `type` (LINEAR): LINEAR, CUBIC or NEAREST. `antialias` (true).

    Returns
    -------
    top 0
        (N, C, H', W').

    Raises
    ------
    LayerError
        type: AREA, a factor beside a size, no size, an empty image, a gradient is asked for.

    Source
    ------
    lmb-freiburg/flownet2; a NEAREST pixel outside the map is the last one here. `factor` is of OpenVINO's Model Optimizer.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Resample" resample_param { height: 2 width: 4 }'
    >>> run_layer(text, [[[[0, 4], [0, 4]]]]).shape, run_layer(text, [[[[4, 4]]]]).tolist()
    ((1, 1, 2, 4), [[[[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]]]])
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.resample_param
        self.need(p.type != p.AREA, "resample_param: type: AREA is not supported; give LINEAR, CUBIC or NEAREST")
        self.by_factor = p.factor != 1
        self.need(p.factor > 0, f"resample_param: factor must be above 0, got {p.factor:g}")
        self.need(
            not self.by_factor or not (p.height or p.width or len(bottom) > 1),
            "resample_param: give factor, or height and width, or a second bottom; not two of them",
        )
        self.how = self.kernels.constants[p.ResampleType.Name(p.type)]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.resample_param
        high, wide = p.height, p.width
        if self.by_factor:
            high, wide = (int(p.factor * side) for side in self.axes(bottom[0], 4, "bottom 0")[2:])
            self.need(high and wide, f"factor {p.factor:g} leaves nothing of {bottom[0].shape[2:]} pixels")
        height, width, high, wide = self.resize(bottom, top, "resample_param: height and width, or factor,", high, wide)
        step_y, step_x = height / high, width / wide
        antialias = p.antialias and (step_y > 1 or step_x > 1)
        self.sizes = height, width, high, wide, step_y, step_x, int(antialias), self.how

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.resample_forward(top[0].count, bottom[0].data, top[0].data, *self.sizes)


class Downsample(
    Resized,
    type="Downsample",
    param="downsample_param",
    bottoms=(1, 2),
    tops=1,
    traits=Trait.WRITES_ALL | Trait.BY_CHANNEL,
):
    """top[n, c, i, j] = a weighted mean of the pixels of a channel about (i s, j t), corners being on corners.

    With s = (H - 1) / (H' - 1) and t = (W - 1) / (W' - 1), the pixel at (y, x) has the weight
    max(0, 1 - |y - i s| / s) * max(0, 1 - |x - j t| / t). Pixels that are NaN, of which nothing is known, do not count; where
    their weights are more than half of those of the others, the top is NaN. A map of the size that is asked for stays as it
    is. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    bottom 1
        Optional: (..., H', W'), whose size the top has.
    downsample_param
        `top_height`, `top_width`: H' and W', without a second bottom.

    Returns
    -------
    top 0
        (N, C, H', W').

    Raises
    ------
    LayerError
        No size, an empty image, one row or column to be made of several, for which the program divides by 0; a gradient is
        asked for.

    Source
    ------
    Dosovitskiy et al. 2015, FlowNet, and its program; lmb-freiburg/flownet2, bryanyzhu/Hidden-Two-Stream.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Downsample" downsample_param { top_height: 1 top_width: 2 }'
    >>> run_layer(text, [[[[0, 3, 6, 9]]]]).round(4).tolist()
    [[[[2.0, 7.0]]]]
    """

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.downsample_param
        fields = "downsample_param: top_height and top_width"
        height, width, high, wide = self.resize(bottom, top, fields, p.top_height, p.top_width)
        self.same = (height, width) == (high, wide)
        self.need(
            self.same or ((high > 1 or height == 1) and (wide > 1 or width == 1)),
            f"cannot make {high} x {wide} pixels of {height} x {width}: corners are on corners, and one has no two",
        )
        step_y, step_x = (height - 1) / max(high - 1, 1), (width - 1) / max(wide - 1, 1)
        self.sizes = height, width, high, wide, step_y, step_x

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.same:
            top[0].data[...] = bottom[0].data
        else:
            self.kernels.downsample_forward(top[0].count, bottom[0].data, top[0].data, *self.sizes)
