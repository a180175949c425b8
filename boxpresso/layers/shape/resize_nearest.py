"""ResizeNearestNeighbor: a map at another size, each pixel one of it, as TensorFlow has it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...device import Blob, Kernels
from ..core import Layer, Trait


class ResizeNearestNeighbor(
    Layer,
    type="ResizeNearestNeighbor",
    param="resize_nearest_neighbor_param",
    bottoms=1,
    tops=1,
    traits=Trait.WRITES_ALL,
):
    """Pixel y of the top, of height h, is pixel floor(y H / h) of the bottom; columns likewise.

    With `align_corners` it is round(y (H - 1) / (h - 1)), halves away from 0, with `half_pixel_centers` floor((y + 1/2) H / h);
    the last pixel where that lies beyond it. They are computed in float32, as TensorFlow does. A pixel of the bottom gets the
    sum of the gradients of those that are it.

    Parameters
    ----------
    bottom 0
        (N, H, W, C), or (N, C, H, W) with `data_format: "NCHW"`.
    resize_nearest_neighbor_param
        `output_height`, `output_width`: h and w; without them H and W times `scale_height` (1) and `scale_width` (1), rounded
        down. `data_format` ("NHWC"). `align_corners` (false), `half_pixel_centers` (false): at most one of them.

    Returns
    -------
    top 0
        (N, h, w, C), or (N, C, h, w).

    Raises
    ------
    LayerError
        A bottom without four axes or without pixels, a top without pixels, another data_format, both ways of coordinates, or
        `half_pixel_onnx`.

    Source
    ------
    foss-for-synopsys-dwc-arc-processors/synopsys-caffe; TensorFlow's operation of this name.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> p = 'resize_nearest_neighbor_param { output_height: 1 output_width: 5 data_format: "NCHW" }'
    >>> run_layer(f'type: "ResizeNearestNeighbor" {p}', [[[[3, 4]]]]).tolist()
    [[[[3.0, 3.0, 3.0, 4.0, 4.0]]]]
    """

    kernels = Kernels("resize_nearest.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.resize_nearest_neighbor_param
        self.need(p.data_format in ("NHWC", "NCHW"), f"data_format must be NHWC or NCHW, got {p.data_format!r}")
        self.need(
            not (p.align_corners and p.half_pixel_centers), "align_corners and half_pixel_centers go not together"
        )
        self.need(not p.half_pixel_onnx, "half_pixel_onnx is not supported")

    def places(self, size: int, out: int) -> NDArray[np.int32]:
        """Which pixel of an axis of `size` each of `out` pixels is."""
        p, at = self.param.resize_nearest_neighbor_param, np.arange(out, dtype=np.float32)
        if p.align_corners and out > 1:
            steps = np.floor(at * np.float32((size - 1) / np.float32(out - 1)) + np.float32(0.5))
        elif p.align_corners:
            steps = at
        else:
            steps = np.floor((at + np.float32(0.5 * p.half_pixel_centers)) * np.float32(size / np.float32(out)))
        places: NDArray[np.int32] = np.minimum(steps, size - 1).astype(np.int32)
        return places

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.resize_nearest_neighbor_param, list(self.axes(bottom[0], 4))
        first = 1 if p.data_format == "NHWC" else 2
        size = shape[first : first + 2]
        out = [
            given if known else int(np.floor(np.float32(side) * np.float32(scale)))
            for side, known, given, scale in zip(
                size,
                (p.HasField("output_height"), p.HasField("output_width")),
                (p.output_height, p.output_width),
                (p.scale_height, p.scale_width),
            )
        ]
        self.need(min(*size, *out) > 0, f"cannot make {out[0]} x {out[1]} pixels of {size[0]} x {size[1]}")
        top[0].reshape(*shape[:first], *out, *shape[first + 2 :])
        tables = [self.places(*sides) for sides in zip(size, out)]
        self.pixels = [self.device.table(table) for table in tables]
        self.shares = [self.device.table(np.searchsorted(t, np.arange(n + 1))) for t, n in zip(tables, size)]
        self.sizes = *size, *out, prod(shape[first + 2 :])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.nearest_forward(top[0].count, bottom[0].data, *self.pixels, top[0].data, *self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.nearest_backward(bottom[0].count, top[0].diff, *self.shares, bottom[0].diff, *self.sizes)
