"""Interp: bilinear interpolation to another size, of DeepLab, PSPNet and ICNet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait
from ..core.lowering import VECTOR


class Interp(
    Layer, type="Interp", param="interp_param", bottoms=(1, 2), tops=1, traits=Trait.BY_CHANNEL | Trait.WRITES_ALL
):
    """Resizes each plane to another height and width by bilinear interpolation.

    The corners are aligned: pixel y of the top, of height h, lies at y (H - 1) / (h - 1) in the bottom; x likewise.

    Parameters
    ----------
    bottom 0
        (N, C, H, W). Axes that it lacks are of length 1, as in its program: a label (N) is N images of one pixel.
    bottom 1
        Optional, (N, D, h, w): the top gets its height and width, before all fields. It has no gradient.
    interp_param
        `pad_beg` (0), `pad_end` (0): 0 or below; so many pixels are cut off before the interpolation, at the beginning
        and at the end of both axes. H and W stand for what is left.

        The size of the top is given in one of these ways. `height` and `width`: the size itself. `zoom_factor` Z:
        H + (H - 1)(Z - 1). `shrink_factor` S: (H - 1) / S + 1, rounded down. `shrink_factor` and `zoom_factor`: the one
        after the other. `full_zoom_factor` F: F H, of Synopsys's Caffe. The width follows the same rule. `height` and
        `width` give way to a single one of `zoom_factor` and `shrink_factor`, and take precedence over both together;
        `full_zoom_factor` counts only without all others. Factors default to 1.

        `use_blob_size` says the same as a second bottom. `align_corners` (true): false, of Cambricon's Caffe, is not supported.

    Returns
    -------
    top 0
        (N, C, h, w).

    Raises
    ------
    LayerError
        For a bottom of more than four axes, a missing size, a factor or a size of the top below 1, a pad above 0, pads that
        leave no pixels, or `align_corners: false`.

    Source
    ------
    DeepLab's Caffe, Papandreou. PSPNet and ICNet use it as well.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Interp" interp_param { zoom_factor: 2 }', [[[[0, 1], [2, 3]]]]).tolist()
    [[[[0.0, 0.5, 1.0], [1.0, 1.5, 2.0], [2.0, 2.5, 3.0]]]]
    >>> run_layer('type: "Interp" interp_param { height: 1 width: 3 }', [[[[0, 1], [2, 3]]]]).tolist()
    [[[[0.0, 0.5, 1.0]]]]
    """

    kernels = Kernels("interp.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.interp_param
        for name in ("zoom_factor", "shrink_factor", "full_zoom_factor"):
            self.need(getattr(p, name) >= 1, f"{name} must be at least 1, got {getattr(p, name)}")
        self.need(p.align_corners, "align_corners: false, of Cambricon's Caffe, is not supported")
        cut = p.pad_beg <= 0 and p.pad_end <= 0
        self.need(cut, f"pad_beg and pad_end cut when below 0 and cannot be above, got {p.pad_beg} and {p.pad_end}")

    def size(self, length: int, wanted: int) -> int:
        """How long an axis of `length` pixels becomes; wanted: the height or width that the prototxt gives, or 0."""
        p = self.param.interp_param
        shrink, zoom = p.HasField("shrink_factor"), p.HasField("zoom_factor")
        sized = p.HasField("height") and p.HasField("width")
        if sized and shrink == zoom:
            return wanted
        if shrink:
            length = (length - 1) // p.shrink_factor + 1
        if zoom:
            length += (length - 1) * (p.zoom_factor - 1)
        if not shrink and not zoom:
            self.need(
                p.HasField("full_zoom_factor"),
                "give height and width, or zoom_factor, shrink_factor or full_zoom_factor in interp_param",
            )
            length *= p.full_zoom_factor
        return length

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) <= 4, f"bottom must have at most 4 axes, got shape {shape}")
        images, channels, *size = *shape, *[1] * (4 - len(shape))
        p = self.param.interp_param
        inner = [length + p.pad_beg + p.pad_end for length in size]
        self.need(min(inner) > 0, f"pad_beg {p.pad_beg} and pad_end {p.pad_end} leave nothing of {size}")
        if len(bottom) > 1:
            out = list(self.axes(bottom[1], 4, "bottom 1")[2:])
        else:
            self.need(not p.use_blob_size, "use_blob_size needs a second bottom, whose size the top gets")
            out = [self.size(*axis) for axis in zip(inner, (p.height, p.width), strict=True)]
        self.need(min(out) > 0, f"the height and width of the top must be at least 1, got {out}")
        top[0].reshape(images, channels, *out)
        self.rows = images * channels * out[0]
        self.planes = images * channels
        self.sizes = *size, *inner, -p.pad_beg, *out
        step = self.dtype.type(inner[1] - 1) / self.dtype.type(max(out[1] - 1, 1))
        x = np.arange(-(-out[1] // VECTOR) * VECTOR).clip(0, out[1] - 1).astype(self.dtype) * step
        low = x.astype(np.int32).clip(0, max(inner[1] - 2, 0))
        self.across = self.device.table(low), self.device.table((x - low).clip(0, 1), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.interp_forward(self.rows, bottom[0].data, top[0].data, *self.across, *self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if any(propagate_down[1:]):
            bottom[1].diff.fill(0)
        if propagate_down[0]:
            self.kernels.interp_backward(self.planes, top[0].diff, bottom[0].diff, *self.sizes)
