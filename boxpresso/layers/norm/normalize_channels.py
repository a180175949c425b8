"""NormalizeChannels, GRN, NormL2 and Norm: the channels of each place, or each image, as a vector of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Lengths(Layer):
    """What layers share that divide vectors of their bottom by their lengths."""

    kernels, added = Kernels("normalize_channels.cu"), 1e-6  # to the sum
    behind = 0.0  # added to the root
    absolute, passes = 0, False  # whether lengths are sums of absolute values; whether the second top has a gradient
    channels: int
    inner: int
    whole = False  # whether the vectors are whole images

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.norm = Blob((), self.dtype, self.device)

    def reshape_channels(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Of vectors that are the channels of a place."""
        shape = bottom[0].shape
        self.need(len(shape) > 1, f"its bottom must have channels, axis 1; got shape {shape}")
        self.channels, self.inner = shape[1], prod(shape[2:])
        top[0].reshape(*shape)
        for blob in (self.norm, *top[1:]):
            blob.reshape(shape[0], 1, *shape[2:])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, norm, sizes = bottom[0].data, self.norm.data, (self.channels, self.inner)
        self.kernels.channel_norms(self.norm.count, x, norm, *sizes, self.absolute, self.added, self.behind)
        self.kernels.divide_channels(top[0].count, x, norm, top[0].data, *sizes)
        if len(top) > 1:
            top[1].data[...] = norm

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.channel_norm_diff(
                self.norm.count, bottom[0].data, self.norm.data, top[0].diff, top[1].diff if self.passes else None,
                bottom[0].diff, self.channels, self.inner, self.absolute, self.behind,
            )  # fmt: skip


class NormalizeChannels(
    Lengths,
    type="NormalizeChannels",
    param="normalize_param",
    bottoms=1,
    tops=(1, 2),
    traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = bottom / norm, norm = sqrt(sum(bottom^2) + 1e-6) over the channels of each place of each image.

    A layer of type Normalize is this one where it has a normalize_param or a second top: other than SSD's it has no
    learned scale.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    normalize_param
        `normalize_type` ("L2"): or "L1", with which norm = sum(|bottom|) + 1e-6. `bp_norm` (false): whether the second
        top passes its gradient on.

    Returns
    -------
    top 0
        The shape of the bottom.
    top 1
        Optional: the norms, (N, 1, ...).

    Raises
    ------
    LayerError
        A bottom without channels, another normalize_type, and the fields of other forks: fix_gradient, coeff,
        across_spatial, channel_shared, scale_filler, fix_scale, add_eps_before_sqrt and eps.

    Source
    ------
    happynear/caffe-windows (NormFace, Wang et al. 2017).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> top, norm = run_layer('type: "Normalize" normalize_param {}', [[3, 4]], tops=2)
    >>> [round(value, 4) for value in (*top[0].tolist(), *norm[0].tolist())]
    [0.6, 0.8, 5.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.param.normalize_param
        for fork in ("across_spatial", "channel_shared", "scale_filler", "fix_scale", "add_eps_before_sqrt", "eps"):
            self.need(not p.HasField(fork), f"normalize_param: {fork} is not for it; for SSD's layer write norm_param")
        self.need(not p.fix_gradient, "normalize_param: fix_gradient of a fork is not supported; remove it")
        self.need(p.coeff == 1, "normalize_param: coeff of a fork is not supported; remove it")
        self.need(p.normalize_type in ("L1", "L2"), f"normalize_type must be L1 or L2, got {p.normalize_type!r}")
        self.absolute, self.passes = int(p.normalize_type == "L1"), len(top) > 1 and p.bp_norm

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.reshape_channels(bottom, top)


class Norm(
    Lengths,
    type="Norm",
    param=("norm_param", "normalize_param"),
    bottoms=1,
    tops=1,
    traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """top = bottom / (sqrt(sum(bottom^2)) + 1e-6), the sum over the channels of each place of each image.

    Where all channels are 0, the gradient is that of a division by 1e-6.

    Parameters
    ----------
    bottom 0
        (N, C, ...).

    Returns
    -------
    top 0
        The shape of the bottom.

    Raises
    ------
    LayerError
        A bottom without channels, and a norm_param or normalize_param, of other layers.

    Source
    ------
    Wang et al. 2015, Designing Deep Networks for Surface Normal Estimation, and its Caffe (NORM).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 4) for y in run_layer('type: "Norm"', [[[3, 0], [4, 0]]]).ravel().tolist()]
    [0.6, 0.0, 0.8, 0.0]
    """

    added, behind = 0.0, 1e-6

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        for message in ("norm_param", "normalize_param"):
            self.need(not self.param.HasField(message), f"{message} is of another layer; for SSD's write Normalize")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.reshape_channels(bottom, top)


class GRN(Lengths, type="GRN", param="grn_param", bottoms=1, tops=1, traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL):
    """top = bottom / sqrt(sum(bottom^2) + bias), the sum over the channels of each place of each image.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    grn_param
        `bias` (1e-7): as in the formula.

    Returns
    -------
    top 0
        The shape of the bottom.

    Raises
    ------
    LayerError
        A bottom without channels, a bias below 0, dummy_backward, and `global` of another fork.

    Source
    ------
    openvinotoolkit/training_toolbox_caffe; phecy/caffe_test, without the bias.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 4) for y in run_layer('type: "GRN" grn_param { bias: 11 }', [[[3], [4]]]).ravel().tolist()]
    [0.5, 0.6667]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        p = self.param.grn_param
        self.need(p.bias >= 0, f"grn_param: bias must not be below 0, got {p.bias:g}")
        self.need(
            not p.dummy_backward, "grn_param: dummy_backward is not supported; set propagate_down: false before it"
        )
        self.need(not p.HasField("global"), "grn_param: global of a fork is not supported; remove it")
        self.added = p.bias

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.reshape_channels(bottom, top)


class NormL2(Lengths, type=("NormL2", "L2Normalize"), bottoms=1, tops=1, traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL):
    """top = bottom / sqrt(sum(bottom^2) + 1e-7), the sum over all of an image.

    Parameters
    ----------
    bottom 0
        (N, ...).

    Returns
    -------
    top 0
        The shape of the bottom.

    Raises
    ------
    LayerError
        A bottom of fewer than two axes.

    Source
    ------
    xialuxi/arcface-caffe; facebookarchive/C3D, yuminsuh/caffe_retrieval and five more (L2Normalize).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> [round(y, 4) for y in run_layer('type: "NormL2"', [[[3], [4]]]).ravel().tolist()]
    [0.6, 0.8]
    """

    added, whole = 1e-7, True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 1, f"its bottom must be (N, ...), got shape {shape}")
        self.channels, self.inner = prod(shape[1:]), 1
        top[0].reshape(*shape)
        self.norm.reshape(shape[0])
