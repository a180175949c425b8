"""LinearTransform: InnerProduct without a bias, under DeViSE's name."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob
from .inner_product import InnerProduct


class LinearTransform(InnerProduct, type="LinearTransform", param="linear_transform_param", bottoms=1, tops=1):
    """top = bottom W^T: InnerProduct without a bias.

    Learned parameter: W (N, K), N being num_output.

    Parameters
    ----------
    bottom 0
        (..., *inputs): the axes from `axis` on hold K elements.
    linear_transform_param
        `num_output`: N, required. `axis` (1). `weight_filler` (constant 0). `backprop` (true); with false the bottom has a
        gradient of zeros. `verbose` has no effect.

    Returns
    -------
    top 0
        The bottom's axes before `axis`, then N.

    Raises
    ------
    LayerError
        As of InnerProduct.

    Source
    ------
    Qi-Xian/DeVise.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "LinearTransform" linear_transform_param { num_output: 2 }'
    >>> run_layer(text, [[1, 2, 3]], params=[[[1, 0, 1], [0, 1, 0]]]).tolist()
    [[4.0, 2.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, own = self.param.linear_transform_param, self.param.inner_product_param
        own.num_output, own.axis, own.bias_term = p.num_output, p.axis, False
        own.weight_filler.CopyFrom(p.weight_filler)
        super().setup(bottom, top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        back = self.param.linear_transform_param.backprop
        super().backward(top, [propagate_down[0] and back], bottom)
        if propagate_down[0] and not back:
            bottom[0].diff[...] = 0
