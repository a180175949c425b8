"""PointSample: bilinear samples of maps at points (PointRend)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ...device.kernel import real_of
from ..core import Trait
from ..core.param_str import settings
from .region_base import RegionLayer

# Slabs pay for maps of so few pixels, in parts of their points, and of so many channels. On a GPU that is counted: a point
# reads two rows of two pixels, some 74 bytes of a channel of a plane in sectors of 32, and 16 of a slab; a pixel packed is 8.
PIXELS_A_POINT, CHANNELS = {"cpu": 4, "cuda": 7}, 8
NEAR = 2**19  # bytes of maps that lie in a core's cache
TOGETHER = {"cpu": (8, NEAR // 4), "cuda": (2, 2**31)}  # planes that a block takes, and bytes of them, at most


class PointSample(RegionLayer, type="PointSample", param="python_param", bottoms=2, tops=1, traits=Trait.SIXTEEN_BITS):
    """A bilinear sample of each map at each point of its image.

    A point lies at x W - 1/2, y H - 1/2 of the map, or at x (W - 1), y (H - 1) with align_corners; pixels outside the map
    are 0. Gradients go to the maps and to the points. A point with NaN or infinity gives 0 and has no gradient. float16
    and bfloat16 are storage types.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), maps.
    bottom 1
        (N, P, 2) or (N, P, Q, 2), points: x and y in parts of the map's width and height.
    python_param
        Such as python_param { param_str: "'align_corners': True" }. `param_str`: a text with `align_corners` (False).

    Returns
    -------
    top 0
        (N, C, P) or (N, C, P, Q).

    Raises
    ------
    LayerError
        For settings or shapes that do not fit.

    Source
    ------
    Kirillov et al. 2020, PointRend; numbers as detectron2's and mmcv's point_sample have them, torch's grid_sample.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "PointSample"', np.arange(4).reshape(1, 1, 2, 2), [[[0.5, 0.5], [0.25, 0.75], [0, 0.25]]]).tolist()
    [[[1.5, 2.0, 0.0]]]
    """

    kernels = Kernels("point_sample.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.real = real_of(self.dtype)
        corners = settings(self, {"align_corners": False})["align_corners"]
        self.need(isinstance(corners, bool), f"align_corners must be True or False, got {corners!r}")
        self.corners = int(corners)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.batch, self.channels, height, width = self.axes(bottom[0], 4, "bottom 0")
        self.size = height, width
        shape = bottom[1].shape
        self.need(
            len(shape) in (3, 4) and shape[-1] == 2 and shape[0] == self.batch,
            f"bottom 1, the points, must be (N, P, 2) or (N, P, Q, 2) with N = {self.batch}; got {shape}",
        )
        self.points, self.pixels = prod(shape[1:-1]), height * width
        self.geometry = self.kernels.struct(
            "PointGeometry",
            channels=self.channels,
            height=height,
            width=width,
            points=self.points,
            corners=self.corners,
        )
        top[0].reshape(self.batch, self.channels, *shape[1:-1])
        count, of, slabs = self.batch * self.points, self.kernels.constants, self.batch * self.channel_slabs
        self.scratch("at", (count, 4), np.int32)
        self.scratch("part", (count, 2))
        self.ask_sums(bottom[0].shape)
        if self.in_slabs and self.packed:
            self.scratch("slabs", (slabs, self.pixels, of["SLAB"]))
        elif self.in_slabs:
            self.scratch("room", (min(self.device.workers, slabs), self.pixels + of["POINTS"], of["SLAB"]))

    def places(self, bottom: list[Blob]) -> tuple[AnyArray, AnyArray]:
        """The four pixels of each point, and how far it lies beyond the first."""
        at, part = self.room("at"), self.room("part")
        blocks = self.batch * -(-self.points // self.kernels.constants["POINTS"])
        self.kernels.point_places(blocks, self.widened(bottom[1].data), at, part, self.geometry)
        return at, part

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        features = bottom[0].data
        if not self.pixels:
            top[0].data.fill(0)
        elif self.in_slabs and self.packed:
            slabs = self.room("slabs")
            self.pack_slabs(features, slabs)
            self.kernels.point_sample_forward_packed(
                slabs.shape[0] * -(-self.points // self.kernels.constants["SOME"]),
                slabs,
                *self.places(bottom),
                top[0].data,
                self.geometry,
            )
        elif self.in_slabs:
            room = self.room("room")
            self.kernels.point_sample_forward_slabs(
                room.shape[0], features, *self.places(bottom), room, top[0].data, self.batch, self.geometry
            )
        else:
            most, size = TOGETHER[self.device.kind]
            together = max(min(most, size // (self.pixels * features.itemsize)), 1)
            self.kernels.point_sample_forward(
                self.batch * -(-self.channels // together), features, *self.places(bottom), top[0].data, together,
                self.ahead(features), self.geometry,
            )  # fmt: skip

    @property
    def in_slabs(self) -> bool:
        """Whether maps are brought into slabs, where all channels of a point are one vector."""
        return self.channels >= CHANNELS and self.points * PIXELS_A_POINT[self.device.kind] >= self.pixels

    def ahead(self, features: AnyArray) -> int:
        """What is brought near of the next planes: every line (SWEPT) where about so many are read; NOTHING if all are near."""
        constants = self.kernels.constants
        if features.nbytes < NEAR:
            return constants["NOTHING"]
        lines = self.pixels * features.itemsize // 64  # a point has two, at least
        return constants["SWEPT" if 2 * self.points >= lines else "PICKED"]

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        places = self.places(bottom)
        if propagate_down[0]:
            sums = self.sums_of(bottom[0].diff)
            self.kernels.point_sample_spread(self.batch * self.channels, top[0].diff, *places, sums, self.geometry)
            if sums is not bottom[0].diff:
                self.narrow(sums, bottom[0].diff)
        if propagate_down[1]:
            self.kernels.point_sample_moves(
                self.batch * self.points, bottom[0].data, top[0].diff, *places, bottom[1].diff, self.geometry
            )

    def allow_force_backward(self, index: int) -> bool:
        return True
