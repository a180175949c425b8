"""MVN, GroupNorm: mean and variance normalisation, image by image."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Normalized(Layer):
    """Rows of numbers less their mean, and over their standard deviation."""

    kernels, reads_top = Kernels("mvn.cu"), True

    def sizes(self, shape: tuple[int, ...]) -> tuple[int, int, int, int, float]:
        """How many rows are normalised, how long each is, whether by its variance, whether eps is inside the root, eps."""
        raise NotImplementedError

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.rows, self.length, *self.how = self.sizes(bottom[0].shape)
        top[0].reshape(*bottom[0].shape)
        self.inverse = self.device.empty((max(1, self.rows),), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = self.rows if self.length else 0
        self.kernels.mvn_forward(rows, bottom[0].data, top[0].data, self.inverse, self.length, *self.how)
        self.remember(top[0])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            rows = self.rows if self.length else 0
            data, diff = self.as_made(top[0]).data, top[0].diff
            self.kernels.mvn_backward(rows, data, diff, self.inverse, bottom[0].diff, self.length, self.how[0])


class MVN(
    Normalized,
    type="MVN",
    param="mvn_param",
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = (x - mean) / (sqrt(variance) + eps), for each channel of each image.

    With across_channels the mean and variance are those of each image instead. Without normalize_variance only the mean
    is subtracted.

    As in Caffe, the gradient treats eps as 0 in the term that comes from the variance; for a large eps it is not
    exactly the true one.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    mvn_param
        `normalize_variance` (true): whether to divide by the standard deviation. `across_channels` (false): whether the
        channels of an image are normalised together. `eps` (1e-9): added to the standard deviation.
        `add_eps_before_sqrt` (false): Synopsys's; true divides by sqrt(variance + eps) instead.

    Returns
    -------
    top 0
        The normalised values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a negative eps, and for a bottom without axes.

    Source
    ------
    Caffe; Synopsys's Caffe for add_eps_before_sqrt.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MVN" mvn_param { normalize_variance: true }', [[[1, 3], [10, 30]]]).round(4).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    >>> run_layer('type: "MVN" mvn_param { normalize_variance: false }', [[[1, 3], [10, 30]]]).tolist()
    [[[-1.0, 1.0], [-10.0, 10.0]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.param.mvn_param.across_channels:
            self.traits &= ~Trait.BY_CHANNEL

    def sizes(self, shape: tuple[int, ...]) -> tuple[int, int, int, int, float]:
        p = self.param.mvn_param
        self.need(p.eps >= 0, f"eps must not be negative, got {p.eps:g}")
        self.need(shape, "its bottom must have one axis at least, got a single number")
        before = 1 if p.across_channels else 2
        return prod(shape[:before]), prod(shape[before:]), p.normalize_variance, p.add_eps_before_sqrt, p.eps


class GroupNorm(
    Normalized,
    type="GroupNorm",
    param="group_norm_param",
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = (x - mean) / sqrt(variance + eps), for each group of channels of each image.

    The channels of an image are parted into `group_num` groups of neighbours, and mean and variance are those of a group over
    all its places. It has no parameters: a Scale layer behind it learns factors and shifts.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    group_norm_param
        `group_num` (32): how many groups, which C must be a multiple of. `eps` (1e-5): added to the variance.

    Returns
    -------
    top 0
        The normalised values, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a negative eps, a group_num below 1 or one that does not divide the channels, and a bottom without channels.

    Source
    ------
    Wu and He 2018, and the GroupNorm layers of forks of Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "GroupNorm" group_norm_param { group_num: 1 }', [[[1], [3]]]).round(3).tolist()
    [[[-1.0], [1.0]]]
    """

    def sizes(self, shape: tuple[int, ...]) -> tuple[int, int, int, int, float]:
        p = self.param.group_norm_param
        self.need(p.eps >= 0, f"eps must not be negative, got {p.eps:g}")
        self.need(len(shape) > 1, f"its bottom must be (N, C, ...), got shape {shape}")
        groups = p.group_num
        self.need(groups > 0 and shape[1] % groups == 0, f"group_num {groups} does not part {shape[1]} channels evenly")
        return shape[0] * groups, shape[1] // groups * prod(shape[2:]), 1, 1, p.eps
