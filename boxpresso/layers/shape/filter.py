"""Filter: the images that a selector lets pass."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait, places
from ..core.places import Places, number_at


class Filter(Layer, type="Filter", bottoms=(2, None), tops=(1, None), traits=Trait.CHOOSES_ROWS):
    """Keeps the entries along the first axis for which the selector is not 0, in their order.

    Entries that are not selected have the gradient 0. The selector has no gradient.

    Parameters
    ----------
    bottom 0, 1, ...
        (N, ...), one blob for each top.
    last bottom
        (N), the selector; it may have further axes of length 1.

    Returns
    -------
    top 0, 1, ...
        Top i holds the selected entries of bottom i. Their number is known in forward only, and may be 0. Before
        forward it is N.

    Raises
    ------
    LayerError
        For a number of tops that is not one less than that of the bottoms, a selector of another shape, or a bottom
        that does not have N entries. In backward, where the selector needs a gradient; set `propagate_down: false` for
        it.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Filter"', [[1, 2], [3, 4], [5, 6]], [1, 0, 1]).tolist()
    [[1.0, 2.0], [5.0, 6.0]]
    >>> run_layer('type: "Filter"', [[1, 2], [3, 4], [5, 6]], [0, 0, 0]).shape
    (0, 2)
    """

    kernels = Kernels("filter.cu")
    gpu_files = (places.kernels,)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(
            len(top) == len(bottom) - 1,
            f"needs a top for each bottom but the last, the selector; got {len(bottom)} bottoms and {len(top)} tops",
        )
        self.set_places = Places(self.device)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        *blobs, selector = bottom
        shape = selector.shape
        self.need(shape and prod(shape[1:]) == 1, f"the selector must be (N) or (N, 1, 1, 1), got shape {shape}")
        for i, blob in enumerate(blobs):
            fits = blob.shape[:1] == shape[:1]
            self.need(fits, f"bottom {i} of shape {blob.shape} must have the selector's {shape[0]} entries")
        for blob, output in zip(blobs, top, strict=True):
            output.reshape(*blob.shape)
        self.place = self.device.table(range(shape[0])) if shape[0] else None
        self.widths = [prod(blob.shape[1:]) for blob in blobs]
        self.set_places.resize(shape[0], self.widths)

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        if not self.set_places.items:
            return False
        self.set_places.find(bottom[-1].data, None)
        for i, (blob, output, width) in enumerate(zip(bottom, top, self.widths)):
            output.reshape(self.set_places.items + (i == 0), *blob.shape[1:])
            self.set_places.take(blob.data, output, width, width, 1, on_host=i == 0)
        self.place = self.set_places.rows
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].reshape(self.set_places.items + 1, *bottom[0].shape[1:])
        count = number_at(top[0].data, self.set_places.items * self.widths[0])
        for blob, output in zip(bottom, top):
            output.reshape(count, *blob.shape[1:])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.forward_launch(bottom, top):
            self.forward_finish(bottom, top)
            return
        *blobs, selector = bottom
        keep = np.asarray(selector.data).ravel() != 0
        chosen = np.flatnonzero(keep)
        if keep.size:
            self.place = self.device.table(np.where(keep, np.cumsum(keep) - 1, -1))
        for blob, output in zip(blobs, top, strict=True):
            output.reshape(len(chosen), *blob.shape[1:])
            if len(chosen):
                self.kernels.choose(
                    len(chosen), blob.data, self.device.table(chosen), output.data, prod(blob.shape[1:])
                )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[-1], "the selector has no gradient; set propagate_down: false for it")
        for down, blob, output in zip(propagate_down, bottom, top):
            if down and blob.count:
                self.kernels.put_back(blob.shape[0], output.diff, self.place, blob.diff, prod(blob.shape[1:]))

    def allow_force_backward(self, index: int) -> bool:
        return index < len(self.param.bottom) - 1
