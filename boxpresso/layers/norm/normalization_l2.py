"""NormalizationL2: each example as a vector of length 1."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class NormalizationL2(
    Layer,
    type=("NormalizationL2", "Normalization", "L2Norm", "L2Normalization"),
    param=("normalization_param", "l2norm_param"),
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.WRITES_ALL | Trait.KEEPS_PLACES,
):
    """top = bottom / (sqrt(sum(bottom^2)) + eps), with the sum over all but the first axis.

    A row of zeros stays zeros and has no gradient, where the programs that the layer is from divide by 0, or by a floor of
    1e-6.

    Parameters
    ----------
    bottom 0
        (N, ...).
    normalization_param
        `norm` (L2): L2 alone.
    l2norm_param
        `eps` (1e-8): as in the formula; 0 without the message.

    Returns
    -------
    top 0
        The shape of the bottom.

    Raises
    ------
    LayerError
        A bottom without axes; norm: L1, whose fork sums the whole batch's; l2_length, with which a fork divides the channels of
        each place by their length.

    Source
    ------
    liu-xb/GGL's Caffe, ZhouYzzz/project's (Normalization), MSRCCS/Caffe, nbadalls/caffe-server and six more (L2Norm),
    rfsantacruz/caffe (L2Normalization).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "NormalizationL2"', [[0, -5], [2, 0], [0, 0]]).tolist()
    [[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]]
    """

    kernels, reads_top = Kernels("normalization_l2.cu"), True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.normalization_param
        self.need(p.norm == p.L2, "normalization_param: norm: L1 of a fork is not supported; L2 is")
        own = self.param.l2norm_param
        self.need(
            not own.HasField("l2_length"), "l2norm_param: l2_length of a fork is not supported; NormalizeChannels is"
        )
        self.behind = own.eps if self.param.HasField("l2norm_param") else 0.0

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(shape, "its bottom must have a first axis, the examples")
        top[0].reshape(*shape)
        self.rows, self.size = shape[0], bottom[0].count // max(1, shape[0])
        self.lengths = self.device.empty((max(1, self.rows),), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.unit_forward(self.rows, bottom[0].data, top[0].data, self.lengths, self.size, self.behind)
        self.remember(top[0])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            args = self.as_made(top[0]).data, top[0].diff, self.lengths, bottom[0].diff, self.size, self.behind
            self.kernels.unit_backward(self.rows, *args)
