"""What BoxOutput and BoxGroupOutput share: from the boxes of all fields to regions, on the host and by kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...device import Blob, Kernels
from ..core.doubt import warn_of_nan
from . import fields_choice, suppress
from .choosing import ChoosingBy
from .fields_choice import FieldsChoice


class FieldRegions(ChoosingBy[FieldsChoice]):
    """Regions (R, 5, 1, 1), and with their scores (R, 6, 1, 1). A subclass's setup gives the attributes.

    Attributes
    ----------
    groups
        Widths and heights (2, K) of the fields of each group, and its stride.
    limits, threshold
        How many boxes are taken before suppression and after (0: all), and the threshold of suppression.
    bounds
        By how much of a field a centre may move, and by how much the logarithm of a size.
    deviation
        The mean and the standard deviation of offsets.
    least
        The least score, and the least side of a box.
    pixels
        Whether a box has its last pixel.
    images
        How many there are, which a subclass's reshape tells.
    """

    kernels: ClassVar[Kernels] = suppress.kernels
    files = fields_choice.FILES
    pixels: ClassVar[bool]
    groups: Sequence[tuple[np.ndarray, float]]
    limits: tuple[int, int]
    threshold: float
    bounds: tuple[float, float]
    deviation: tuple[np.ndarray, np.ndarray]
    least: tuple[float, float]
    images = 0

    def maps(self, bottom: Sequence[Blob]) -> tuple[Sequence[Blob], Sequence[Blob]]:
        """The maps of scores, and those of offsets, or none where the former have them."""
        return bottom, ()

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        for blob, columns in zip(top, (5, 6)):
            blob.reshape(rows, columns, 1, 1)

    def ready(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Takes the sizes of the bottoms, at the end of a reshape."""
        self.choice = self.choice or FieldsChoice(
            self, [sizes for sizes, _ in self.groups], [stride for _, stride in self.groups], self.limits, self.threshold,
            bounds=self.bounds, deviation=self.deviation, least=self.least, pixels=self.pixels,
        )  # fmt: skip
        self.choice.reshape(self.images, [blob.shape for blob in self.maps(bottom)[0]])
        self.shape(top, 1)  # forward knows how many there are

    def launch(self, choice: FieldsChoice, bottom: list[Blob], top: list[Blob]) -> None:
        self.shape(top, choice.rows + 1)
        choice.launch(*self.maps(bottom), top)

    def finish(self, choice: FieldsChoice, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.shape_by_count(top, choice.rows):
            warn_of_nan(self, bottom)
