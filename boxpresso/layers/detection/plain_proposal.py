"""What the Proposals of single forks share: upright anchors, one image, and the shapes of scores and offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...device import Blob
from ..core import Layer
from ..core.param_str import given_names
from .anchors import choose_anchors
from .rcnn import Upright


class PlainProposal(Layer):
    """Regions (R, 5) and their scores (R, 1) of an image. A subclass's setup gives `anchors`."""

    chooses_rows = True
    anchors: np.ndarray

    def anchors_of(self, bottom: list[Blob], settings: dict[str, Any]) -> np.ndarray:
        """The anchors of a place that the settings and the number of scores tell."""
        channels = bottom[0].shape[1] if len(bottom[0].shape) > 1 else 0
        return choose_anchors(self, Upright, settings, channels, given_names(self))

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        height, width = bottom[0].shape[2:]
        after, every = self.most_chosen(), len(self.anchors) * height * width
        return min(after, every) if after > 0 else every

    def most_chosen(self) -> int:
        """How many regions are chosen at most; 0: as many as there are."""
        return 0

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        _, _, height, width = self.axes(bottom[0], 4, "bottom 0, the scores,")
        count = len(self.anchors)
        for i, each in ((0, 2), (1, 4)):
            wanted = (1, each * count, height, width)
            self.need(
                bottom[i].shape == wanted, f"bottom {i} must be {wanted} for {count} anchors, got {bottom[i].shape}"
            )
        self.need(bottom[2].count >= 3, f"bottom 2, im_info, must be (1, 3), got {bottom[2].shape}")
        for blob, few in zip(top, (5, 1)):
            blob.reshape(1, few)  # forward knows how many there are
