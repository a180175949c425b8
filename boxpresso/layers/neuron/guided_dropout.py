"""GuidedDropout: channels that do little for a domain are zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .dropout_base import DropoutBase


class GuidedDropout(
    DropoutBase,
    type="GuidedDropout",
    param="guided_dropout_param",
    bottoms=2,
    tops=1,
    in_place=True,
    traits=Trait.WRITES_ALL,
):
    """Sets channels of each image to 0 by what bottom 1 says of them, and scales the others.

    deterministic: a channel stays where bottom 1 is above guidance_threshold, as C / (how many stay) * x. stochastic, in
    TRAIN: it stays with probability p = sigmoid(sigmoid_scaler * bottom 1), as C / sum(p) * x; at TEST top is bottom.
    Bottom 1 has no gradient. What is drawn depends on the layer's seed and the number of the forward alone.

    Parameters
    ----------
    bottom 0
        (N, C, ...).
    bottom 1
        A number for each channel of each image, (N, C) or (N, C, 1, 1).
    guided_dropout_param
        `type` ("deterministic", or "stochastic"), `guidance_threshold` (0), `sigmoid_scaler` (1).

    Returns
    -------
    top 0
        The channels that stay, in the shape of bottom 0; all are 0 where none stays.

    Raises
    ------
    LayerError
        Another type, a bottom 1 of another size, a gradient of bottom 1 is asked for.

    Source
    ------
    Xiao et al. 2016, domain guided dropout, and its Caffe (Cysu/dgd_person_reid). What that one takes where the prototxt
    leaves a field out is not known here.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "GuidedDropout"', [[1, 2, 3]], [[0.5, -1, 2]]).tolist()
    [[1.5, 0.0, 4.5]]
    """

    kernels = Kernels("guided_dropout.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.guided_dropout_param
        self.need(
            p.type in ("deterministic", "stochastic"), f'type must be "deterministic" or "stochastic", got {p.type!r}'
        )
        self.bound = p.guidance_threshold
        self.random = p.type == "stochastic"
        self.drops = not self.random or self.phase == "TRAIN"
        self.identity = not self.drops
        self.key = int(self.rng.integers(2**32))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 1, f"bottom 0 must be (N, C, ...), got shape {shape}")
        self.images, self.channels, self.inner = shape[0], shape[1], prod(shape[2:])
        self.need(
            bottom[1].shape[:2] == shape[:2] and bottom[1].count == self.images * self.channels,
            f"bottom 1 must have a number for each of {shape[:2]} channels, its shape is {bottom[1].shape}",
        )
        self.factor = self.device.empty((max(1, self.images * self.channels),), self.dtype)
        if top[0] is bottom[0]:
            return
        if self.drops:
            top[0].reshape(*shape)
        else:
            self.pass_on_memory(bottom[0], top[0])
            top[0].share_diff(bottom[0])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.drops and self.channels:
            self.kernels.guided_factors(
                self.images, bottom[1].data, self.factor, self.channels, self.random, self.bound,
                self.param.guided_dropout_param.sigmoid_scaler, self.key, (self.pass_number + 1) % 2**32,
            )  # fmt: skip
        super().forward(bottom, top)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "what guides has no gradient; set propagate_down: false for bottom 1")
        super().backward(top, propagate_down, bottom)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0

    def pass_on(self, source: AnyArray, target: AnyArray) -> None:
        if self.drops and self.inner:
            self.kernels.guided_dropout(self.images * self.channels, source, self.factor, target, self.inner)
