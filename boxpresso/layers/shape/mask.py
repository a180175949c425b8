"""Mask: the vectors of an image where a mask is set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait, places
from ..core.places import Places, number_at


class Mask(Layer, type="Mask", bottoms=2, tops=1, traits=Trait.CHOOSES_ROWS):
    """The channels at each place where the mask is 1 or more, by row and column.

    Parameters
    ----------
    bottom 0
        (1, C, H, W).
    bottom 1
        (1, 1, H, W), the mask. It has no gradient.

    Returns
    -------
    top 0
        (places, C, 1, 1); as many places as the mask sets, known when it runs.

    Raises
    ------
    LayerError
        For more than one image, or a mask of another size.

    Source
    ------
    CaffeMex_v2.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Mask"', [[[[1, 2, 3]], [[4, 5, 6]]]], [[[[1, 0, 1]]]])[:, :, 0, 0].tolist()
    [[1.0, 4.0], [3.0, 6.0]]
    """

    kernels = Kernels("mask.cu")
    gpu_files = (places.kernels,)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.set_places = Places(self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, self.channels, *size = self.axes(bottom[0], 4, "bottom 0")
        self.need(images == 1, f"takes one image at a time, got {images}")
        self.need(bottom[1].shape == (1, 1, *size), f"the mask must be {(1, 1, *size)}, got {bottom[1].shape}")
        self.area = size[0] * size[1]
        self.set_places.resize(self.area, [self.channels])
        top[0].reshape(max(1, self.area), self.channels, 1, 1)  # forward knows how many there are

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        if not self.set_places.items:
            return False
        top[0].reshape(self.area + 1, self.channels, 1, 1)
        self.set_places.find(bottom[1].data, 1)
        self.set_places.take(bottom[0].data, top[0], self.channels, 1, self.area, on_host=True)
        self.rows = self.set_places.rows
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(self.area + 1, self.channels, 1, 1)
        top[0].reshape(number_at(top[0].data, self.area * self.channels), self.channels, 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.forward_launch(bottom, top):
            self.forward_finish(bottom, top)
            return
        set_places = np.asarray(bottom[1].data).reshape(-1) >= 1
        self.places = self.device.table(np.flatnonzero(set_places))
        at = np.full(self.area, -1)
        at[set_places] = np.arange(set_places.sum())
        self.rows = self.device.table(at)
        top[0].reshape(int(set_places.sum()), self.channels, 1, 1)
        self.kernels.mask_take(top[0].count, bottom[0].data, self.places, top[0].data, self.channels, self.area)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "the mask has no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            self.kernels.mask_put(bottom[0].count, top[0].diff, self.rows, bottom[0].diff, self.channels, self.area)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
