"""PositionSensitive: what the PSROI layers share: each bin of each output is read from a channel of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...device import Blob
from .region_base import RegionLayer

TOGETHER, ALONE = (
    64,
    256,
)  # regions that a GPU's block takes in a channel: where threads share a bin, and where they do not
ONE_BY_ONE = {"cpu": False, "cuda": True}  # whether few samples of a bin are read one by one, not by rows and weights


class PositionSensitive(RegionLayer):
    """Features (B, output_dim * group_size^2, H, W), regions (K, 5)."""

    output_dim: int
    group: int
    least_outputs = 1  # 0 in boxpresso.ops, where features may have no channels

    def setup_outputs(self, p: Any) -> None:
        """For layers with as many bins as groups of channels. p: the layer's parameter message."""
        self.output_dim, self.group = p.output_dim, p.group_size
        self.need(
            p.output_dim >= self.least_outputs and p.group_size > 0,
            f"output_dim {p.output_dim} and group_size {p.group_size} must be > 0",
        )
        self.setup_bins(p.group_size, p.group_size, p.spatial_scale)

    def parts(self, bins: int = 1, alone: bool = False) -> tuple[int, int]:
        """The blocks of a forward, and how many regions each takes in a channel that is for `bins` of their bins: all of them
        on the CPU, where a map stays in a core's cache, and as many as a block has threads for on a GPU."""
        together = max(self.regions if self.device.kind == "cpu" else (ALONE if alone else TOGETHER) // bins, 1)
        return self.channels * -(-self.regions // together), together

    @property
    def channels_read(self) -> int:
        return self.output_dim

    def repeats(self) -> bool:
        return self.regions > 0 and self.batch > 0 and self.real == self.dtype

    def read_shapes(self, bottom: list[Blob], channels_last: bool = False) -> None:
        super().read_shapes(bottom, channels_last)
        wanted = self.output_dim * self.group**2
        self.need(
            self.channels == wanted,
            f"bottom 0 must have output_dim * group_size^2 = {wanted} channels, got shape {bottom[0].shape}",
        )

    def reshape_tops(self, top: list[Blob]) -> None:
        """To (K, output_dim, group_size, group_size). The second, on request, has the channel that each number came from."""
        for blob in top:
            blob.reshape(self.regions, self.output_dim, *self.pooled)
        if len(top) > 1:
            top[1].data[...] = np.arange(self.channels).reshape(top[1].shape[1:])
