"""DomainTransform: an edge-preserving filter of scores, whose edges are learned (DeepLab)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ...device.functions import whole
from ..core import Layer, Trait

MOST_ITERATIONS = 100


class DomainTransform(
    Layer, type="DomainTransform", param="domain_transform_param", bottoms=3, tops=1, traits=Trait.WRITES_ALL
):
    """num_iter times each row is filtered to the right and to the left, then each column down and up.

    A pass goes from place to place: y = x + w (the y before - x). The weight between two places is that of the right or the
    lower one, w = e^(-sqrt(2) / s (1 + edge * spatial_sigma / range_sigma)), at least min_weight and at most 1; where edge,
    bottom 1, is large, the two sides do not mix. In iteration i, from 0 on, s = spatial_sigma sqrt(3) 2^(num_iter - i - 1) /
    sqrt(4^num_iter - 1). The gradient of edge goes through both limits of w, as in its program.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), such as scores.
    bottom 1
        Edges (N, 1, H, W), not negative.
    bottom 2
        (N, 1, 1, 2), or as many numbers: of each image the height and width that are not padding. It has no gradient.
    domain_transform_param
        `num_iter` (3), `spatial_sigma` (50), `range_sigma` (5), `min_weight` (0).

    Returns
    -------
    top 0
        The shape of bottom 0, which the padding is copied from.

    Raises
    ------
    LayerError
        No iteration or too many, a sigma that is not above 0, a negative min_weight, bottoms of other shapes, a gradient of
        bottom 2 is asked for.

    Source
    ------
    DeepLab's Caffe (Chen et al. 2016, Semantic image segmentation with task-specific edge detection); Gastal and Oliveira 2011.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DomainTransform" domain_transform_param { num_iter: 1 spatial_sigma: 1e9 }'
    >>> run_layer(text, [[[[1, 0, 0]]]], [[[[0, 0, 1e9]]]], [[1, 3]]).round(3).tolist()  # an edge before the last pixel
    [[[[1.0, 1.0, 0.0]]]]
    """

    kernels = Kernels("domain_transform.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.p = self.param.domain_transform_param
        self.need(
            0 < p.num_iter <= MOST_ITERATIONS,
            f"num_iter must be from 1 to {MOST_ITERATIONS}, each of which filters the whole map, got {p.num_iter}",
        )
        sigmas = p.spatial_sigma, p.range_sigma
        self.need(min(sigmas) > 0, f"spatial_sigma and range_sigma must be above 0, got {sigmas}")
        self.need(p.min_weight >= 0, f"min_weight must not be negative, got {p.min_weight:g}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = images, _, height, width = self.axes(bottom[0], 4)
        wanted = (images, 1, height, width)
        self.need(bottom[1].shape == wanted, f"bottom 1, the edges, must be {wanted}, got {bottom[1].shape}")
        count = bottom[2].count
        self.need(
            count == 2 * images,
            f"bottom 2 must have a height and a width for each of {images} images, got {count} numbers",
        )
        top[0].reshape(*shape)
        self.scratch("weight", (height * width,))
        self.scratch("weight_diff", (height * width,), backward=True)
        self.scratch("steps", (4 * self.p.num_iter, *shape[1:]), backward=True)  # of each pass
        for name in ("again", "diff"):
            self.scratch(name, shape, backward=True)

    def images(self, bottom: list[Blob]) -> Iterator[tuple[int, int, int, list[tuple[int, int, int, int, int]]]]:
        """Of each image where it begins in bottom 0 and in bottom 1, its channels, and its passes: how many lines, from one
        line to the next, how many places, from one place to the next, and whether backwards."""
        images, channels, height, width = bottom[0].shape
        sizes = np.asarray(bottom[2].data, np.float64).reshape(images, 2)
        for image, size in enumerate(sizes):
            rows, columns = (int(whole(at, 0, most)) for at, most in zip(size, (height, width)))
            across, down = (rows, width, columns, 1), (columns, 1, rows, width)
            passes = [(*line, back) for line in (across, down) for back in (0, 1)]
            yield image * channels * height * width, image * height * width, channels, passes

    def weigh(self, edges: AnyArray, first: int, iteration: int, height: int, width: int) -> float:
        """The weights of an iteration; what the gradient of an edge is of that of its weight's logarithm."""
        p = self.p
        sigma = p.spatial_sigma * sqrt(3) * 2.0 ** (p.num_iter - iteration - 1) / sqrt(4.0**p.num_iter - 1)
        scale, by = -sqrt(2) / sigma, p.spatial_sigma / p.range_sigma
        self.kernels.edge_weights(height * width, edges, self.room("weight"), first, scale, by, p.min_weight)
        return float(scale * by)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].data[...] = bottom[0].data
        plane = top[0].shape[2:]
        for first, first_edge, channels, passes in self.images(bottom):
            for i in range(self.p.num_iter):
                self.weigh(bottom[1].data, first_edge, i, *plane)
                for lines, *line in passes:
                    self.kernels.filter_lines(
                        channels * lines,
                        top[0].data,
                        self.room("weight"),
                        None,
                        first,
                        plane[0] * plane[1],
                        lines,
                        *line,
                    )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[2], "bottom 2, the sizes, has no gradient; set propagate_down: false for it")
        if not any(propagate_down):
            return
        _, channels, *plane = bottom[0].shape
        area, size = plane[0] * plane[1], channels * plane[0] * plane[1]
        weight, weight_diff, again, diff = (self.room(name) for name in ("weight", "weight_diff", "again", "diff"))
        steps = [self.device.part(self.room("steps"), i * size, (size,)) for i in range(4 * self.p.num_iter)]
        again[...], diff[...] = bottom[0].data, top[0].diff
        if propagate_down[1]:
            bottom[1].diff.fill(0)
        for first, first_edge, _, passes in self.images(bottom):
            for i in range(self.p.num_iter):
                self.weigh(bottom[1].data, first_edge, i, *plane)
                for (lines, *line), step in zip(passes, steps[4 * i :]):
                    self.kernels.filter_lines(channels * lines, again, weight, step, first, area, lines, *line)
            for i in reversed(range(self.p.num_iter)):
                by = self.weigh(bottom[1].data, first_edge, i, *plane)
                weight_diff.fill(0)
                for (lines, *line), step in zip(reversed(passes), reversed(steps[4 * i : 4 * i + 4])):
                    self.kernels.filter_lines_diff(lines, diff, weight, step, weight_diff, first, channels, area, *line)
                if propagate_down[1]:
                    self.kernels.edge_diffs(area, weight, weight_diff, bottom[1].diff, first_edge, by)
        if propagate_down[0]:
            bottom[0].diff[...] = diff

    def allow_force_backward(self, index: int) -> bool:
        return index < 2


class DomainTransformForwardOnly(
    DomainTransform,
    type="DomainTransformForwardOnly",
    param="domain_transform_param",
    bottoms=3,
    tops=1,
    traits=Trait.WRITES_ALL,
):
    """DomainTransform without a gradient.

    Parameters
    ----------
    bottom 0, bottom 1, bottom 2
        As of DomainTransform.

    Returns
    -------
    top 0
        The shape of bottom 0.

    Raises
    ------
    LayerError
        As of DomainTransform; any gradient is asked for.

    Source
    ------
    DeepLab's Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "DomainTransformForwardOnly" domain_transform_param { num_iter: 1 spatial_sigma: 1e9 }'
    >>> run_layer(text, [[[[1, 0, 0]]]], [[[[0, 0, 1e9]]]], [[1, 3]]).round(3).tolist()
    [[[[1.0, 1.0, 0.0]]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        super().setup(bottom, top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down), "has no gradient; set propagate_down: false for its bottoms")

    def allow_force_backward(self, index: int) -> bool:
        return False
