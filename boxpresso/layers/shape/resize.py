"""Resize: bilinear interpolation to another size, from the upper left corner."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Resize(Layer, type="Resize", param="resize_param", bottoms=1, tops=1, traits=Trait.BY_CHANNEL | Trait.WRITES_ALL):
    """Resizes each plane by bilinear interpolation, with the upper left corners upon each other.

    Pixel y of the top, of height h, lies at y H / h in the bottom; x likewise. A neighbour beyond the last row or column
    counts 0, as in its program, so that planes that grow get darker at their lower and right margins.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    resize_param
        `height` and `width` of the top; or with `is_pyramid_test: true` those of the bottom times `out_height_scale` and
        `out_width_scale`, rounded down.

    Returns
    -------
    top 0
        (N, C, h, w).

    Raises
    ------
    LayerError
        For a bottom without four axes or without pixels, a size of the top below 1, and any other field of resize_param
        that has a value: they are of SSD's augmentation.

    Source
    ------
    happynear/caffe-windows; Wang et al. 2015, Designing Deep Networks for Surface Normal Estimation, and its Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Resize" resize_param { height: 1 width: 4 }', [[[[2, 4]]]]).tolist()
    [[[[2.0, 3.0, 4.0, 2.0]]]]
    """

    kernels = Kernels("resize.cu")
    fields = frozenset({"height", "width", "is_pyramid_test", "out_height_scale", "out_width_scale", "engine"})

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        others = [field.name for field, _ in self.param.resize_param.ListFields() if field.name not in self.fields]
        self.need(not others, f"resize_param: {', '.join(others)} of SSD's augmentation mean nothing here; remove them")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, (images, channels, *size) = self.param.resize_param, self.axes(bottom[0], 4)
        out = [p.height, p.width]
        if p.is_pyramid_test:
            out = [int(scale * side) for scale, side in zip((p.out_height_scale, p.out_width_scale), size)]
        self.need(min(out) > 0, f"the height and width of the top must be at least 1, got {out}")
        self.need(min(size) > 0, f"needs pixels, got shape {bottom[0].shape}")
        top[0].reshape(images, channels, *out)
        self.sizes = (*size, *out)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.resize_forward(top[0].count, bottom[0].data, top[0].data, *self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.resize_backward(bottom[0].count, top[0].diff, bottom[0].diff, *self.sizes)
