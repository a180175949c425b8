"""SpatialTransformer: a map sampled where the net itself says, by a transform for each image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core.layer import Layer

KINDS = {"affine": (0, 6), "projective": (1, 8)}  # how the kernel calls it, and how many numbers it has


class SpatialTransformer(
    Layer,
    type=("SpatialTransformer", "ST"),
    param=("st_param", "spatialtransformer_param"),
    bottoms=2,
    tops=1,
):
    """top[n, c, i, j] = the map at (y, x), bilinear, where a transform of image n takes place (i, j).

    Affine, as in daerduoCarey's layer: with v = 2 i / H' - 1 and u = 2 j / W' - 1, y = (t_11 v + t_12 u + t_13 + 1) H / 2 and
    x = (t_21 v + t_22 u + t_23 + 1) W / 2; pixels outside the map are 0. Numbers that st_param fixes are left out of bottom 1.

    Projective, as in mikuhatsune/e2e_face: with u = 2 j / (W' - 1) - 1 and v = 2 i / (H' - 1) - 1, (a, b, d) = T (u, v, 1),
    T (3 x 3) by rows and its last number 1; x = (a / d + 1) (W - 1) / 2, y = (b / d + 1) (H - 1) / 2, moved onto the border
    where they lie outside. That program's own affine transform is not this one's.

    Both bottoms have a gradient.

    Parameters
    ----------
    bottom 0
        (N, C, H, W).
    bottom 1
        (N, numbers): those of the transform by rows, 6 or 8, without the fixed ones.
    st_param
        `transform_type` ("affine"): affine or projective. `output_H`, `output_W`: the size H' x W', that of the map without
        them. `theta_1_1` to `theta_2_3`: what these are of each affine transform. `sampler_type` ("bilinear").

    Returns
    -------
    top 0
        (N, C, H', W').

    Raises
    ------
    LayerError
        Another transform or sampler, bottom 1 with another number of numbers; the layer of this name that turns and mirrors
        (spatialtransformer_param).

    Source
    ------
    Jaderberg et al. 2015; daerduoCarey/SpatialTransformerLayer and mikuhatsune/e2e_face.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "SpatialTransformer"', [[[[1, 2], [3, 4]]]], [[1, 0, 0, 0, -1, 0]]).tolist()  # mirrored
    [[[[0.0, 2.0], [0.0, 4.0]]]]
    """

    kernels = Kernels("spatial_transformer.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.st_param
        self.need(
            not self.param.HasField("spatialtransformer_param"),
            "spatialtransformer_param is of a layer that turns and mirrors maps, which is not supported",
        )
        self.need(
            p.transform_type in KINDS,
            f"transform_type {p.transform_type!r} is not supported; give affine or projective",
        )
        self.need(p.sampler_type == "bilinear", f"sampler_type {p.sampler_type!r} is not supported; give bilinear")
        self.how, self.numbers = KINDS[p.transform_type]
        fixed = np.full(self.numbers, np.nan)
        for i in range(6):
            name = f"theta_{i // 3 + 1}_{i % 3 + 1}"
            if p.HasField(name):
                self.need(
                    self.how == 0, f"{name} fixes a number of an affine transform, this one is {p.transform_type}"
                )
                fixed[i] = getattr(p, name)
        self.free = int(np.isnan(fixed).sum())
        self.fixed = self.device.table(fixed, self.dtype)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, (images, channels, height, width) = self.param.st_param, self.axes(bottom[0], 4)
        self.need(
            bottom[1].shape[:1] == (images,) and bottom[1].count == images * self.free,
            f"needs {self.free} numbers for each of {images} images, bottom 1 has the shape {bottom[1].shape}",
        )
        high = p.output_H if p.HasField("output_H") else height
        wide = p.output_W if p.HasField("output_W") else width
        self.need(high > 0 and wide > 0, f"the output must have places, its size is {high} x {wide}")
        self.images, self.sizes = images, (channels, height, width, high, wide, self.how)
        top[0].reshape(images, channels, high, wide)
        self.theta, self.theta_diff = (self.device.empty((images, self.numbers), self.dtype) for _ in range(2))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.transform_whole(self.images, bottom[1].data, self.fixed, self.theta, self.numbers, self.free)
        self.kernels.transform_forward(top[0].count, bottom[0].data, self.theta, top[0].data, *self.sizes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            planes = self.images * self.sizes[0]
            self.kernels.transform_map_diff(planes, self.theta, top[0].diff, bottom[0].diff, *self.sizes)
        if propagate_down[1]:
            self.kernels.transform_theta_diff(
                self.images * self.numbers, bottom[0].data, self.theta, top[0].diff, self.theta_diff, *self.sizes
            )
            self.kernels.transform_free(
                self.images, self.theta_diff, self.fixed, bottom[1].diff, self.numbers, self.free
            )
