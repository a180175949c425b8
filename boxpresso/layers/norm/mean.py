"""Mean: adds numbers to channels, or takes them away, as FlowNet does with the means of its images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob
from ..core import Layer, Trait
from .affine import Affine


class Mean(
    Layer,
    type="Mean",
    param="mean_param",
    bottoms=(1, None),
    tops=(1, None),
    in_place=True,
    traits=Trait.WRITES_ALL | Trait.KEEPS_PLACES | Trait.BY_CHANNEL,
):
    """top k = output_scale * (input_scale * bottom k + mean_scale * value[c]), c the channel; with SUBTRACT, minus.

    Fewer values than channels are for the first ones, the next ones and so on.

    Parameters
    ----------
    bottom k
        (N, C, ...).
    mean_param
        `operation` (ADD): ADD or SUBTRACT. `value`: required, once or more often. `input_scale`, `mean_scale` and
        `output_scale` (1).

    Returns
    -------
    top k
        The shape of bottom k.

    Raises
    ------
    LayerError
        No value, a file, channels that are no multiple of the values, not as many tops as bottoms.

    Source
    ------
    Dosovitskiy et al. 2015, FlowNet, and its program, which has no gradient; lmb-freiburg/flownet2. Layers of this type of
    other forks, such as the mean of all elements, have no mean_param.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Mean" mean_param { operation: SUBTRACT value: 1 value: 2 input_scale: 10 }'
    >>> run_layer(text, [[3, 4]]).tolist()
    [[29.0, 38.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mean_param
        self.need(not p.file, "mean_param: file is not supported; give the values")
        self.need(p.value, "needs mean_param with at least one value; the Mean of other forks is not supported")
        self.need(len(top) == len(bottom), f"needs a top for each of its {len(bottom)} bottoms, got {len(top)}")
        sign = -1 if p.operation == p.SUBTRACT else 1
        self.scale, self.means = (
            p.output_scale * p.input_scale,
            sign * p.output_scale * p.mean_scale * np.array(p.value),
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.parts = []
        for i, (below, above) in enumerate(zip(bottom, top)):
            shape, count = below.shape, len(self.means)
            self.need(
                len(shape) > 1 and shape[1] % count == 0,
                f"bottom {i} of shape {shape} must have channels, a multiple of the {count} values",
            )
            above.reshape(*shape)
            scale, means = Blob((shape[1],), self.dtype, self.device), Blob((shape[1],), self.dtype, self.device)
            scale.data[...] = np.full(shape[1], self.scale)
            means.data[...] = np.tile(self.means, shape[1] // count)
            self.parts.append((Affine(self.device, shape, 1, (shape[1],)), scale, means))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for below, above, (affine, scale, means) in zip(bottom, top, self.parts):
            affine.apply(below.data, scale.data, means.data, above.data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        for below, above, down, (affine, scale, _) in zip(bottom, top, propagate_down, self.parts):
            if down:
                affine.apply(above.diff, scale.data, None, below.diff)
