"""ContrastiveLoss: like pairs together, unlike pairs apart by a margin; for siamese networks."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, rows_of


class ContrastiveLoss(Layer, type="ContrastiveLoss", param="contrastive_loss_param", bottoms=3, tops=(0, 3), loss=True):
    """top = sum(y d^2 + (1 - y) max(margin - d, 0)^2) / (2 N), d being the Euclidean distance of the pairs a and b.

    Like pairs are drawn together, unlike pairs are pushed apart up to a margin. a and b get a gradient. The gradient of
    an unlike pair divides by d + 1e-4, as in Caffe.

    Parameters
    ----------
    bottom 0
        a (N, C).
    bottom 1
        b (N, C).
    bottom 2
        y (N), 1 for like pairs and 0 for unlike ones.
    contrastive_loss_param
        `margin` (1): the distance that unlike pairs should have. `legacy_version` (false): true takes max(margin - d^2,
        0) for unlike pairs.

    Returns
    -------
    top 0
        A single number.
    top 1, top 2
        Optional. The mean of d^2 over the like pairs, and over the unlike ones; 0 where there are none. They have no gradient.

    Raises
    ------
    LayerError
        Two tops; a and b differ in shape; y does not have one number for each pair; an empty batch; a gradient of y is asked
        for.

    Source
    ------
    Caffe; Hadsell et al. 2006. ZhouYzzz/project has the means, which are NaN there where there are no such pairs.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "ContrastiveLoss" contrastive_loss_param { margin: 1 }'
    >>> run_layer(text, [[0, 0], [0, 0]], [[3, 4], [0, 0]], [1, 0]).item()
    6.5
    """

    kernels, sum_kernels = Kernels("contrastive_loss.cu"), KERNELS

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.contrastive_loss_param
        self.need(
            len(top) != 2, "takes 0 to 1 tops, or 3 with the means of like and unlike pairs; the prototxt gives 2"
        )
        self.how = p.margin, int(p.legacy_version)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.batch, self.length = rows_of(self, bottom[0])
        self.need(bottom[1].shape == shape, f"the pairs must have one shape, got {shape} and {bottom[1].shape}")
        self.need(
            bottom[2].count == self.batch,
            f"bottom 2 must say of each of the {self.batch} pairs if it is alike, its shape is {bottom[2].shape}",
        )
        for blob in top:
            blob.reshape()
        self.sum = Sum(self, self.batch)
        self.squares = self.device.empty((self.batch,), self.dtype)  # of the distances

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b, alike = (blob.data for blob in bottom)
        self.kernels.distances(self.batch, a, b, self.squares, self.length)
        self.kernels.pair_losses(self.sum.blocks, self.squares, alike, self.sum.partial, self.batch, *self.how)
        self.sum.join(top[0].data, 2 * self.batch)
        if len(top) > 1:
            self.kernels.pair_means(1, self.squares, alike, top[1].data, top[2].data, self.batch)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[2], "what pairs are alike has no gradient; set propagate_down: false for bottom 2")
        data = [blob.data for blob in bottom]
        for i, sign in ((0, 1.0), (1, -1.0)):
            if propagate_down[i]:
                self.kernels.pair_diffs(
                    self.batch, *data, self.squares, top[0].diff, bottom[i].diff, self.length, *self.how, sign
                )

    def allow_force_backward(self, index: int) -> bool:
        return index < 2

    def expects(self, index: int, first: tuple[int, ...]) -> tuple[int, ...] | None:
        return first[:1] if index == 2 else first
