"""What the Proposals of single forks share: upright anchors, one image, and the shapes of scores and offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from ..core.param_str import given_names
from . import proposal_choice, suppress
from .anchors import choose_anchors
from .choosing import ChoosingBy
from .proposal_choice import ProposalChoice
from .rcnn import Boxes, Upright


def anchors_of(layer: Layer, bottom: list[Blob], settings: dict[str, Any]) -> np.ndarray:
    """The anchors of a place that the settings of a layer's param_str and the number of scores tell."""
    channels = bottom[0].shape[1] if len(bottom[0].shape) > 1 else 0
    return choose_anchors(layer, Upright, settings, channels, given_names(layer))


class PlainProposal(ChoosingBy[ProposalChoice]):
    """Regions (R, 5) of an image, and what a subclass tells of each. Its setup gives `anchors`, `stride` and `limits`."""

    kernels: ClassVar[Kernels] = suppress.kernels
    files = proposal_choice.FILES
    boxes: ClassVar[Boxes] = Upright
    anchors: np.ndarray
    stride: float
    limits: Mapping[str, Any]  # of the choice, by the names of py-faster-rcnn

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        for blob, few in zip(top, (5, 1)):
            blob.reshape(rows, few)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        _, _, height, width = self.axes(bottom[0], 4, "bottom 0, the scores,")
        count = len(self.anchors)
        for i, each in ((0, 2), (1, 4)):
            wanted = (1, each * count, height, width)
            self.need(
                bottom[i].shape == wanted, f"bottom {i} must be {wanted} for {count} anchors, got {bottom[i].shape}"
            )
        self.need(bottom[2].count >= 3, f"bottom 2, im_info, must be (1, 3), got {bottom[2].shape}")
        self.choice = self.choice or ProposalChoice(self, self.limits, Upright, [self.anchors], [self.stride])
        self.choice.reshape(1, [(height, width)], (1, bottom[2].count))
        self.shape(top, 1)  # forward knows how many there are

    def launch(self, choice: ProposalChoice, bottom: list[Blob], top: list[Blob]) -> None:
        """The second top is the scores."""
        scores, offsets, info = bottom
        self.shape(top, choice.rows + 1)
        choice.launch([scores], [offsets], info, top[0].data, top[1].data if len(top) > 1 else None)
