"""MultiStageMeanfield: labels of pixels that agree with those of near and alike pixels (CRF-RNN)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...device import AnyArray, Blob, Kernels, blas
from ..core import Layer, Trait, softmax
from .lattice import Lattice, lattice_of
from .lattice import kernels as lattice_kernels

MOST_ITERATIONS = 1000


class MultiStageMeanfield(
    Layer,
    type="MultiStageMeanfield",
    param="multi_stage_meanfield_param",
    bottoms=3,
    tops=1,
    traits=Trait.WRITES_ALL,
):
    """num_iterations times: Q = softmax(q) over the channels, q = unary - C (A G Q + B H Q), from q = bottom 1 on.

    G and H are means over all pixels, weighted by e^(-|f - f'|^2 / 2): G with f = (x, y) / theta_gamma, H with f = ((x, y)
    / theta_alpha, (R, G, B) / theta_beta). They are computed on permutohedral lattices, so approximately, and divided by
    what they make of ones. The picture has no gradient.

    Learned parameters, (1, 1, C, C) each: A, of the near pixels, `spatial_filter_weight` on its diagonal at first; B, of
    the alike ones, `bilateral_filter_weight`; the compatibility C of two labels, -1 on its diagonal (Potts). The program
    that the layer is from reads the first A and B from files spatial.par and bilateral.par.

    Parameters
    ----------
    bottom 0
        The unary terms (N, C, H, W): scores of labels.
    bottom 1
        (N, C, H, W), what the first iteration takes the softmax of; mostly the unary terms again.
    bottom 2
        The picture (N, 3, H, W) with values as of bytes.
    multi_stage_meanfield_param
        `num_iterations` (1), `theta_alpha`, `theta_beta`, `theta_gamma` (10), `spatial_filter_weight`,
        `bilateral_filter_weight` (1). `compatibility_mode` and `threshold` have no other meaning, as in its program.

    Returns
    -------
    top 0
        (N, C, H, W), the last q, before its softmax.

    Raises
    ------
    LayerError
        No iteration, a theta that is not above 0, bottoms of other shapes, a picture with values that are not finite or
        so far apart that the lattice has no room, a gradient of the picture is asked for.

    Source
    ------
    torrvision/caffe; Zheng et al. 2015 (CRF-RNN); Krähenbühl and Koltun 2011; Adams et al. 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> scores = np.zeros((1, 2, 4, 4))
    >>> scores[0, 1], scores[0, 1, 1, 1] = 1, -1  # one pixel in the middle disagrees
    >>> text = 'type: "MultiStageMeanfield" multi_stage_meanfield_param { num_iterations: 5 }'
    >>> q = run_layer(text, scores, scores, np.zeros((1, 3, 4, 4)), params=[4 * np.eye(2).reshape(1, 1, 2, 2)] * 2)
    >>> bool((q[0, 1] > q[0, 0]).all())
    True
    """

    kernels, soft_kernels, products = Kernels("multi_stage_meanfield.cu"), softmax.kernels, blas.HOST
    lattice_kernels = lattice_kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, self.gemm = self.param.multi_stage_meanfield_param, partial(blas.gemm, self.device)
        self.iterations = p.num_iterations
        self.need(
            0 < self.iterations <= MOST_ITERATIONS,
            f"num_iterations must be from 1 to {MOST_ITERATIONS}, each of which filters the whole map, got {self.iterations}",
        )
        self.thetas = {name: getattr(p, f"theta_{name}") for name in ("alpha", "beta", "gamma")}
        self.need(min(self.thetas.values()) > 0, f"each theta must be above 0, got {self.thetas}")
        channels = self.axes(bottom[0], 4)[1]
        for i, value in enumerate((p.spatial_filter_weight, p.bilateral_filter_weight, -1)):
            blob = self.parameter(i, (1, 1, channels, channels), value=0)
            blob.data[...] = value * np.eye(channels)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = images, channels, height, width = self.axes(bottom[0], 4)
        self.need(bottom[1].shape == shape, f"bottom 1 must have the shape of bottom 0, {shape}, got {bottom[1].shape}")
        wanted = (images, 3, height, width)
        self.need(bottom[2].shape == wanted, f"bottom 2, the picture, must be {wanted}, got {bottom[2].shape}")
        self.parameter(0, (1, 1, channels, channels))
        top[0].reshape(*shape)
        self.images, self.channels, self.points = images, channels, height * width
        self.plane = channels * self.points
        rows, columns = np.divmod(np.arange(self.points), max(width, 1))
        self.places = np.stack([columns, rows], 1).astype(np.float64)
        self.near: tuple[Lattice, AnyArray] | None = None
        (self.soft, self.close, self.alike, self.message, self.pairs, self.other) = (
            self.device.empty((max(1, self.plane),), self.dtype) for _ in range(6)
        )

    def lattice(self, features: np.ndarray) -> tuple[Lattice, AnyArray]:
        """The lattice of features, and 1 / what it makes of ones."""
        deviations = "theta_alpha, theta_beta or theta_gamma"
        return lattice_of(self, features, self.channels, "bottom 2, the picture,", deviations)

    def lattices(self, picture: np.ndarray) -> tuple[Lattice, AnyArray, Lattice, AnyArray]:
        """Of one image (3, points): the lattice of near pixels and the one of alike pixels, with their norms."""
        if self.near is None:
            self.near = self.lattice(self.places / self.thetas["gamma"])
        own = [self.places / self.thetas["alpha"], picture.T / self.thetas["beta"]]
        return *self.near, *self.lattice(np.concatenate(own, 1))

    def passed_on(self, q: AnyArray, near: Lattice, near_norm: AnyArray, alike: Lattice, norm: AnyArray) -> None:
        """Q, what both filters make of it, and A G Q + B H Q, from q (channels, points)."""
        channels, points = self.channels, self.points
        softmax.forward(self.device, q, self.soft, 1, channels, points)
        for lattice, by, result in ((near, near_norm, self.close), (alike, norm, self.alike)):
            lattice.filter(self.soft, result, channels)
            self.kernels.meanfield_scale(self.plane, result, by, points)
        a, b = (blob.data for blob in self.blobs[:2])
        self.gemm(False, False, channels, points, channels, 1, a, self.close, 0, self.message)
        self.gemm(False, False, channels, points, channels, 1, b, self.alike, 1, self.message)

    def step(self, unary: AnyArray, q: AnyArray, result: AnyArray, *lattices: object) -> None:
        """One iteration: result = unary - C (A G Q + B H Q)."""
        self.passed_on(q, *lattices)  # type: ignore[arg-type]
        self.gemm(
            False, False, self.channels, self.points, self.channels,
            1, self.blobs[2].data, self.message, 0, self.pairs,
        )  # fmt: skip
        self.kernels.meanfield_minus(self.plane, unary, self.pairs, result)

    def of(self, array: AnyArray, image: int) -> AnyArray:
        """One image of a blob's array, (channels, points)."""
        part: AnyArray = self.device.part(array, image * self.plane, (self.channels, self.points))
        return part

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not top[0].count:
            return
        pictures = np.asarray(bottom[2].data, np.float64).reshape(self.images, 3, self.points)
        for image in range(self.images):
            lattices = self.lattices(pictures[image])
            unary, q, result = (self.of(array, image) for array in (bottom[0].data, bottom[1].data, top[0].data))
            rooms = (result, self.other) if self.iterations % 2 else (self.other, result)
            for i in range(self.iterations):
                self.step(unary, q, rooms[i % 2], *lattices)
                q = rooms[i % 2]

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[2], "the picture has no gradient; set propagate_down: false for bottom 2")
        if propagate_down[0]:
            bottom[0].diff.fill(0)
        if not top[0].count:
            return
        channels, points = self.channels, self.points
        pictures = np.asarray(bottom[2].data, np.float64).reshape(self.images, 3, points)
        planes = [self.device.empty((self.plane,), self.dtype) for _ in range(self.iterations - 1)]
        diff, soft_diff, filtered = (self.device.empty((self.plane,), self.dtype) for _ in range(3))
        for image in range(self.images):
            near, near_norm, alike, norm = lattices = self.lattices(pictures[image])
            unary, first = self.of(bottom[0].data, image), self.of(bottom[1].data, image)
            before = [first, *planes]  # the q that each iteration begins with
            for i in range(self.iterations - 1):
                self.step(unary, before[i], before[i + 1], *lattices)
            diff[...] = self.of(top[0].diff, image).reshape(-1)
            for q in reversed(before):
                self.passed_on(q, *lattices)
                if propagate_down[0]:
                    self.kernels.meanfield_add(self.plane, diff, self.of(bottom[0].diff, image))
                self.kernels.meanfield_negate(self.plane, diff)  # now the gradient of C (A G Q + B H Q)
                self.weight_diff(2, diff, self.message)
                c = self.blobs[2].data
                self.gemm(True, False, channels, points, channels, 1, c, diff, 0, self.message)
                soft_diff.fill(0)
                for index, lattice, by, seen in ((0, near, near_norm, self.close), (1, alike, norm, self.alike)):
                    self.weight_diff(index, self.message, seen)
                    weights = self.blobs[index].data
                    self.gemm(True, False, channels, points, channels, 1, weights, self.message, 0, self.pairs)
                    self.kernels.meanfield_scale(self.plane, self.pairs, by, points)
                    lattice.filter(self.pairs, filtered, channels, adjoint=True)
                    self.kernels.meanfield_add(self.plane, filtered, soft_diff)
                softmax.backward(self.device, self.soft, soft_diff, diff, 1, channels, points)
            if propagate_down[1]:
                self.of(bottom[1].diff, image)[...] = diff.reshape(channels, points)

    def weight_diff(self, index: int, diff: AnyArray, x: AnyArray) -> None:
        """Adds diff x^T to the gradient of a parameter."""
        if self.param_propagate_down[index]:
            own = self.blobs[index].diff
            self.gemm(False, True, self.channels, self.channels, self.points, 1, diff, x, 1, own)

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
