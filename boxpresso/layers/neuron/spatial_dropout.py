"""SpatialDropout: while training, random channels of each image are zero."""

from __future__ import annotations

from math import prod

from ...device import AnyArray, Blob, Kernels
from ..core.lowering import Lowering, Same
from ..core.param_str import settings
from .dropout_base import DropoutBase


class SpatialDropout(
    DropoutBase,
    type="SpatialDropout",
    param=("spatial_dropout_param", "python_param"),
    bottoms=1,
    tops=1,
    in_place=True,
):
    """While training, sets random channels of each image to 0 and scales the others.

    TRAIN: a channel of an image becomes 0 with probability p, otherwise x / (1 - p). TEST: top is bottom.

    Which channels are dropped depends only on the layer's seed and the number of the forward pass: the CPU and the GPU
    drop the same channels. The gradient passes the same channels at the same scale.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    spatial_dropout_param
        `dropout_ratio` (0.5): p, from 0 to below 1.
    python_param
        `param_str` of ENet's Python layer, module spatial_dropout, layer SpatialDropoutLayer: 'p', in place of
        dropout_ratio, and 'phase', TRAIN or TEST, in place of the net's phase.

    Returns
    -------
    top 0
        The channels that remain, in the shape of the bottom.

    Raises
    ------
    LayerError
        For a param_str that cannot be read, a p outside its range, another phase, a `dropout_scale` other than 1, and a
        bottom of fewer than 2 axes.

    Source
    ------
    Tompson et al. 2015; ENet's Python layer.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "SpatialDropout" spatial_dropout_param { dropout_ratio: 0.5 }'
    >>> top = run_layer(text, [[[1, 3]] * 100], phase="TRAIN")
    >>> sorted(set(map(tuple, top[0].tolist())))
    [(0.0, 0.0), (2.0, 6.0)]
    """

    replaces = ("spatial_dropout.SpatialDropoutLayer",)
    kernels = Kernels("spatial_dropout.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        s = settings(self, {"p": self.param.spatial_dropout_param.dropout_ratio, "phase": self.phase})
        try:
            ratio = float(s["p"])
        except (TypeError, ValueError):
            ratio = -1
        self.need(0 <= ratio < 1, f"p, the part that is dropped, must be from 0 to below 1, got {s['p']!r}")
        self.need(s["phase"] in ("TRAIN", "TEST"), f"phase must be TRAIN or TEST, got {s['phase']!r}")
        self.need(
            self.param.spatial_dropout_param.dropout_scale == 1, "dropout_scale is not known here; use a Scale layer"
        )
        self.drops = ratio > 0 and s["phase"] == "TRAIN"
        self.identity = not self.drops
        self.lose_traits()
        self.scale, self.threshold = 1 / (1 - ratio), self.threshold_of(ratio)
        self.key = int(self.rng.integers(2**32))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(len(bottom[0].shape) >= 2, f"bottom must have 2 axes or more, got {bottom[0].shape}")
        if top[0] is not bottom[0]:
            if self.drops:
                top[0].reshape(*bottom[0].shape)
            else:
                self.pass_on_memory(bottom[0], top[0])
                top[0].share_diff(bottom[0])
        self.planes, self.inner = prod(bottom[0].shape[:2]), prod(bottom[0].shape[2:])

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return None if self.drops else Same()

    def pass_on(self, source: AnyArray, target: AnyArray) -> None:
        if self.drops and self.inner:
            self.kernels.spatial_dropout(
                self.planes, source, target, self.inner, self.key, self.pass_number, self.threshold, self.scale
            )
