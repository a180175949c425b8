"""DenseCRF: labels of pixels that agree with those of near and alike pixels, with fixed weights (DeepLab)."""

from __future__ import annotations

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ...device.functions import whole
from ..core import Layer, Trait, softmax
from .lattice import kernels as lattice_kernels
from .lattice import lattice_of

MOST_ITERATIONS = 1000


class DenseCRF(Layer, type="DenseCRF", param="dense_crf_param", bottoms=(2, 3), tops=1, traits=Trait.WRITES_ALL):
    """max_iter times: Q = softmax(scores + sum over k of w_k F_k Q) over the channels, from Q = softmax(scores) on.

    Each F_k is a mean over all pixels of an image, weighted by e^(-|f - f'|^2 / 2): of near pixels with f = (x, y) /
    pos_xy_std, and where there is a picture of alike ones with f = ((x, y) / bi_xy_std, (B, G, R) / bi_rgb_std). They are
    computed on permutohedral lattices, so approximately, and divided by what they make of ones. There is no gradient, as in
    its program, whose exponential function is an approximation besides.

    Parameters
    ----------
    bottom 0
        Scores (N, C, H, W).
    bottom 1
        (N, 1, 1, 2), or as many numbers: of each image the height and width that are not padding.
    bottom 2
        Optional: the pictures (N, 3, H, W), with values as of bytes, whatever mean was subtracted.
    dense_crf_param
        `max_iter` (10). `pos_w`, `pos_xy_std`; `bi_w`, `bi_xy_std`, `bi_rgb_std`: as many of each as of its weight, repeated.
        `output_probability` (true); false: the logarithms of Q.

    Returns
    -------
    top 0
        (N, C, H, W), the last Q; 0 in the padding, which is the whole image where its height or width is below 1.

    Raises
    ------
    LayerError
        A negative number of iterations or too many, weights without as many deviations, a deviation that is not above 0, a
        picture without bi_w, bottoms of other shapes, a picture with values that are not finite or so far apart that the
        lattice has no room. In backward, for a bottom that needs a gradient.

    Source
    ------
    DeepLab's Caffe (Chen et al. 2015); Krähenbühl and Koltun 2011; Adams et al. 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> scores = np.zeros((1, 2, 4, 4))
    >>> scores[0, 1], scores[0, 1, 1, 1] = 1, -1  # one pixel in the middle disagrees
    >>> text = 'type: "DenseCRF" dense_crf_param { pos_w: 4 pos_xy_std: 1 }'
    >>> q = run_layer(text, scores, [[4, 4]])
    >>> bool((q[0, 1] > q[0, 0]).all())
    True
    """

    kernels, soft_kernels, lattice_kernels = Kernels("dense_crf.cu"), softmax.kernels, lattice_kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.dense_crf_param
        self.need(
            0 <= p.max_iter <= MOST_ITERATIONS,
            f"max_iter must be from 0 to {MOST_ITERATIONS}, each of which filters the whole map, got {p.max_iter}",
        )
        groups = {"pos_w": ("pos_xy_std",), "bi_w": ("bi_xy_std", "bi_rgb_std")}
        for weight, deviations in groups.items():
            counts = {name: len(getattr(p, name)) for name in (weight, *deviations)}
            self.need(len(set(counts.values())) == 1, f"wants as many of each, got {counts}")
            for name in deviations:
                values = list(getattr(p, name))
                self.need(min(values, default=1) > 0, f"{name} must be above 0, got {values}")
        self.need(len(bottom) < 3 or p.bi_w, "has a picture, but no bi_w, bi_xy_std and bi_rgb_std")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = images, channels, height, width = self.axes(bottom[0], 4)
        count = bottom[1].count
        self.need(
            count == 2 * images,
            f"bottom 1 must have a height and a width for each of {images} images, got {count} numbers",
        )
        wanted = (images, 3, height, width)
        if len(bottom) > 2:
            self.need(bottom[2].shape == wanted, f"bottom 2, the pictures, must be {wanted}, got {bottom[2].shape}")
        top[0].reshape(*shape)
        plane = max(1, channels * height * width)
        self.unary, self.sum, self.soft, self.mean = (self.device.empty((plane,), self.dtype) for _ in range(4))

    def features(self, rows: int, columns: int, picture: np.ndarray | None) -> list[tuple[float, np.ndarray]]:
        """Of each filter its weight and what it compares, (P, D); picture: (3, P)."""
        p = self.param.dense_crf_param
        y, x = np.divmod(np.arange(rows * columns), columns)
        places = np.stack([x, y], 1).astype(np.float64)
        filters = [(weight, places / by) for weight, by in zip(p.pos_w, p.pos_xy_std)]
        if picture is not None:
            for weight, near, alike in zip(p.bi_w, p.bi_xy_std, p.bi_rgb_std):
                filters.append((weight, np.concatenate([places / near, picture.T / alike], 1)))
        return filters

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = bottom[0].shape
        if not top[0].count:
            return
        sizes = np.asarray(bottom[1].data, np.float64).reshape(images, 2)
        pictures = np.asarray(bottom[2].data, np.float64) if len(bottom) > 2 else None
        for image, size in enumerate(sizes):
            rows, columns = (int(whole(at, 0, most)) for at, most in zip(size, (height, width)))
            picture = None if pictures is None else pictures[image, :, :rows, :columns].reshape(3, -1)
            self.infer(bottom[0].data, top[0].data, image, (channels, rows, columns, height, width), picture)

    def infer(
        self, scores: AnyArray, result: AnyArray, image: int, sizes: tuple[int, ...], picture: np.ndarray | None
    ) -> None:
        """One image; sizes: channels, rows, columns without padding, height, width."""
        channels, rows, columns, height, width = sizes
        points, plane = rows * columns, channels * height * width
        size, first = channels * points, image * plane
        filters = []
        for weight, features in self.features(rows, columns, picture) if points else ():
            filters.append((weight, *lattice_of(self, features, channels, "bottom 2, the pictures,", "a deviation")))
        self.kernels.crf_cut(size, scores, self.unary, first, *sizes[1:])
        softmax.forward(self.device, self.unary, self.soft, 1, channels, points)
        for _ in range(self.param.dense_crf_param.max_iter if points else 0):
            self.sum[...] = self.unary
            for weight, lattice, norm in filters:
                lattice.filter(self.soft, self.mean, channels)
                self.kernels.crf_add(size, self.mean, norm, self.sum, points, weight)
            softmax.forward(self.device, self.sum, self.soft, 1, channels, points)
        logarithms = not self.param.dense_crf_param.output_probability
        self.kernels.crf_paste(plane, self.soft, result, first, *sizes[1:], logarithms)

    def allow_force_backward(self, index: int) -> bool:
        return False
