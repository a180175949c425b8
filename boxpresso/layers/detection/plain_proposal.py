"""What the Proposals of single forks share: upright anchors, one image, and the shapes of scores and offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core.param_str import given_names
from . import proposal_device, suppress
from .anchors import choose_anchors
from .choice import chosen, least_above_0
from .choosing import ChoosingThere
from .order import ON_DEVICE
from .proposal_device import DeviceProposals
from .rcnn import Boxes, Upright


class PlainProposal(ChoosingThere[DeviceProposals]):
    """Regions (R, 5) of an image, and what a subclass tells of each. Its setup gives `anchors`, `stride` and `limits`."""

    kernels: ClassVar[Kernels] = suppress.kernels
    gpu_files = proposal_device.FILES
    boxes: ClassVar[Boxes] = Upright
    anchors: np.ndarray
    stride: float
    limits: Mapping[str, Any]  # of the choice, by the names of py-faster-rcnn
    every: np.ndarray  # the anchors at all places of maps of that `size`
    size: tuple[int, int] | None = None
    taken: AnyArray  # the boxes that the last forward has chosen; those that kernels have chosen come first

    array_copies = 5

    def anchors_of(self, bottom: list[Blob], settings: dict[str, Any]) -> np.ndarray:
        """The anchors of a place that the settings and the number of scores tell."""
        channels = bottom[0].shape[1] if len(bottom[0].shape) > 1 else 0
        return choose_anchors(self, Upright, settings, channels, given_names(self))

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        height, width = bottom[0].shape[2:]
        before, after = (int(self.limits[f"rpn_{name}_nms_top_n"]) for name in ("pre", "post"))
        every = least_above_0(before, len(self.anchors) * height * width)
        return least_above_0(after, every)

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
        if ON_DEVICE[self.device.kind]:
            self.on_device = self.on_device or DeviceProposals(
                self, self.limits, Upright, [self.anchors], [self.stride]
            )
            self.on_device.reshape(1, [(height, width)], (1, bottom[2].count))
        self.shape(top, 1)  # forward knows how many there are

    def launch(self, there: DeviceProposals, bottom: list[Blob], top: list[Blob]) -> None:
        """The second top is the scores."""
        scores, offsets, info = bottom
        self.shape(top, there.rows + 1)
        there.launch([scores], [offsets], info, top[0].data, top[1].data if len(top) > 1 else None)

    def forward_host(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores, info = np.asarray(bottom[0].data), np.asarray(bottom[2].data).reshape(-1)
        by_place = scores[0, len(self.anchors) :].transpose(1, 2, 0).reshape(-1)
        every, by = self.places(bottom)
        boxes = Upright.clip(Upright.decode(every, by), info[0], info[1])
        self.taken = chosen(self.device, Upright, boxes, by_place, self.limits, info[2])
        self.shape(top, len(self.taken))
        parts = (np.column_stack([np.zeros(len(self.taken), self.dtype), boxes[self.taken]]), self.told_of(by_place))
        for blob, part in zip(top, parts):
            blob.data[...] = part.reshape(blob.shape)

    def places(self, bottom: list[Blob]) -> tuple[np.ndarray, np.ndarray]:
        """The anchors at all places and their offsets, both (H * W * A, 4), by row, column and anchor."""
        height, width = bottom[0].shape[2:]
        if self.size != (height, width):
            self.every, self.size = Upright.everywhere(self.anchors, height, width, self.stride), (height, width)
        return self.every, np.asarray(bottom[1].data)[0].transpose(1, 2, 0).reshape(-1, 4)

    def told_of(self, scores: np.ndarray) -> np.ndarray:
        """The second top: a number for each region that was chosen. scores: of all boxes."""
        return np.asarray(scores[self.taken])
