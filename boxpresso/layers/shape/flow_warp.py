"""FlowWarp: a map sampled where an optical flow leads from each place."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from ...device import Blob, Kernels
from ..core.layer import Layer
from ..core.traits import Trait


class FlowWarp(Layer, type="FlowWarp", param="flow_warp_param", bottoms=2, tops=1, traits=Trait.WRITES_ALL):
    """top[n, c, y, x] = bottom 0 of image n and channel c at (y + v, x + u), bilinear, u and v being bottom 1[n, :, y, x].

    What lies outside the map, 0 <= y + v < H and 0 <= x + u < W not both being true, is fill_value; between the last row or
    column and that limit the last one is taken. Both bottoms have a gradient, that of the flow being 0 where it leads outside.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), the map.
    bottom 1
        (N, 2, H, W), the flow in pixels of the map: along x, then along y.
    flow_warp_param
        `fill_value` (ZERO): ZERO or NOT_A_NUMBER.

    Returns
    -------
    top 0
        (N, C, H, W).

    Raises
    ------
    LayerError
        A flow of another shape.

    Source
    ------
    Ilg et al. 2017, FlowNet 2.0, and its program (lmb-freiburg/flownet2).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "FlowWarp"', [[[[1, 2, 3]]]], [[[[1, 0.5, 1]], [[0, 0, 0]]]]).tolist()
    [[[[2.0, 2.5, 0.0]]]]
    """

    kernels = Kernels("flow_warp.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        wanted = (images, 2, height, width)
        self.need(
            bottom[1].shape == wanted,
            f"bottom 1 must be the flow of bottom 0, {wanted} for its {bottom[0].shape}, got {bottom[1].shape}",
        )
        self.sizes = channels, height, width
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.flow_warp_param
        fill = 0.0 if p.fill_value == p.ZERO else nan
        self.kernels.flow_warp_forward(top[0].count, bottom[0].data, bottom[1].data, top[0].data, *self.sizes, fill)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        channels, flow, diff = self.sizes[0], bottom[1].data, top[0].diff
        if propagate_down[0]:
            planes = bottom[0].shape[0] * channels
            self.kernels.flow_warp_map_diff(planes, flow, diff, bottom[0].diff, *self.sizes)
        if propagate_down[1]:
            self.kernels.flow_warp_flow_diff(
                bottom[1].count // 2, bottom[0].data, flow, diff, bottom[1].diff, *self.sizes
            )
