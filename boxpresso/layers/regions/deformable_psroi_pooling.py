"""DeformablePSROIPooling: averages of samples in bins that are moved, each bin in its own channel (Deformable ConvNets)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Trait
from .psroi_base import PositionSensitive
from .region_check import SAMPLE


class DeformablePSROIPooling(
    PositionSensitive,
    type="DeformablePSROIPooling",
    param="deformable_psroi_pooling_param",
    bottoms=(2, 3),
    tops=(1, 2),
    traits=Trait.REGIONS,
):
    """Position-sensitive average pooling whose bins are moved: each bin is averaged in a channel of its own.

    Bin (i, j) of output c is an average over channel (c * group_size + gh) * group_size + gw, with
    gh = floor(i * group_size / pooled_size) and gw = floor(j * group_size / pooled_size).

    The corners of a region are rounded, halves away from zero; then they are scaled by spatial_scale, and half a pixel
    is subtracted. A side is at least 0.1 pixel of the map. The offsets move a bin, in x and in y, by trans_std times
    the size of the region. The outputs are divided into as many classes as bottom 2 has; the outputs of a class share
    offsets.

    A bin has sample_per_part^2 bilinear samples, each at the start of its share of the bin. Samples more than half a
    pixel outside the map are left out, and a bin without samples gives 0. A bin that is moved by NaN or infinity has no
    samples. A region with NaN, infinity or a batch index outside the batch gives 0, and neither gets nor gives a
    gradient.

    Gradients go to the features and to the offsets, not to the regions. With no_trans, the gradient of a bottom 2 is 0.

    Parameters
    ----------
    bottom 0
        (B, output_dim * group_size^2, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image, end pixels included.
    bottom 2
        (K, 2 * classes, part_size, part_size), offsets, x then y for each class. Not needed with no_trans.
    deformable_psroi_pooling_param
        `spatial_scale` (required): pixels of the map in one pixel of the image. `output_dim` (required): channels of
        the top, a multiple of the classes. `group_size` (required): groups of channels along each axis. `pooled_size`
        (group_size): bins along each axis. `part_size` (0, which is pooled_size): the size of the grid of offsets.
        `sample_per_part` (1): samples of a bin in each direction, 64 at most. `trans_std` (0): an offset of 1 moves a
        bin by trans_std times the size of the region. `no_trans` (false): do not move the bins.

    Returns
    -------
    top 0
        (K, output_dim, pooled_size, pooled_size), the average of each bin.
    top 1
        Optional. The same shape: how many samples each bin had inside the map.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, or a missing bottom 2 without no_trans.

    Source
    ------
    Dai et al. 2017, Deformable Convolutional Networks, and its MXNet.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = '''type: "DeformablePSROIPooling"
    ...     deformable_psroi_pooling_param { spatial_scale: 1 output_dim: 1 group_size: 2 no_trans: true }'''
    >>> features = np.repeat([10, 20, 30, 40], 16).reshape(1, 4, 4, 4)  # four channels, each of one value
    >>> run_layer(layer, features, [[0, 0, 0, 3, 3]]).tolist()
    [[[[10.0, 20.0], [30.0, 40.0]]]]
    """

    kernels = Kernels("deformable_psroi_pooling.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.deformable_psroi_pooling_param
        self.output_dim, self.group, self.trans_std = p.output_dim, p.group_size, p.trans_std
        size = p.pooled_size if p.HasField("pooled_size") else p.group_size
        self.part, self.samples = p.part_size or size, p.sample_per_part
        for name, value in (("output_dim", p.output_dim), ("group_size", p.group_size), ("pooled_size", size),
                            ("part_size", self.part)):  # fmt: skip
            self.need(
                value >= (self.least_outputs if name == "output_dim" else 1), f"{name} must be positive, got {value}"
            )
        most = self.kernels.constants["MOST"]
        self.need(0 < self.samples <= most, f"sample_per_part must be from 1 to {most}, got {self.samples}")
        self.setup_bins(size, size, p.spatial_scale)
        self.ratio = self.samples
        self.need(np.isfinite(self.trans_std), f"trans_std must be finite, got {self.trans_std}")
        self.moved = not p.no_trans
        self.need(
            len(bottom) == 3 or not self.moved,
            "takes a third bottom, how far bins move; without one, set no_trans: true",
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.classes = 1
        if self.moved:
            count, moves, *part = self.axes(bottom[2], 4, "bottom 2")
            self.need(
                count == self.regions and part == [self.part] * 2 and moves > 0 and moves % 2 == 0,
                f"bottom 2, how far bins move, must be ({self.regions}, 2 * classes, {self.part}, {self.part}), "
                f"got {bottom[2].shape}",
            )
            self.classes = moves // 2
            self.need(
                self.output_dim % self.classes == 0,
                f"output_dim {self.output_dim} is no multiple of the {self.classes} classes of bottom 2",
            )
        for blob in top:
            blob.reshape(self.regions, self.output_dim, *self.pooled)
        if self.tiled:
            self.ask_tiles()
        if self.moved:
            self.scratch("slopes", (*top[0].shape, 2), backward=True)
        self.geometry = self.kernels.struct(
            "PartGeometry", regions=self.regions, batch=self.batch, height=self.size[0], width=self.size[1],
            output_dim=self.output_dim, group=self.group, pooled=self.pooled[0], part=self.part, samples=self.samples,
            classes=self.classes, scale=self.scale, trans_std=self.trans_std,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        regions = self.check_work(bottom[1].data)
        blocks, together = self.parts(self.bins_of_channel)
        self.kernels.deformable_psroi_pooling_forward(
            blocks, bottom[0].data, regions, bottom[2].data if self.moved else None, top[0].data,
            top[1].data if len(top) > 1 else None, together, self.geometry,
        )  # fmt: skip

    @property
    def cost_of_sample(self) -> int:
        return self.output_dim * SAMPLE  # each channel finds where its samples lie

    @property
    def bins_of_channel(self) -> int:
        """The most bins that a channel is for."""
        return (-(-self.pooled[0] // self.group)) ** 2

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        planes, move = self.batch * self.channels, bottom[2].data if self.moved else None
        regions = self.check_work(bottom[1].data)
        if propagate_down[0] and self.tiled:
            boxes = self.room("boxes")
            self.kernels.deformable_psroi_pooling_boxes(2 * self.regions, regions, move, boxes, self.geometry)
            tiles, lists = self.tiles(boxes, self.by_place(regions))
            self.kernels.deformable_psroi_pooling_backward_tiles(
                tiles * self.channel_slabs, top[0].diff, regions, move, lists, bottom[0].diff, self.geometry
            )
        elif propagate_down[0]:
            diff = bottom[0].diff
            self.kernels.deformable_psroi_pooling_backward(
                planes, top[0].diff, regions, move, self.sums_of(diff), diff, self.geometry
            )
        if len(bottom) > 2 and propagate_down[2] and self.moved:
            slopes = self.room("slopes")
            blocks, together = self.parts(self.bins_of_channel, alone=True)
            self.kernels.deformable_psroi_pooling_slopes(
                blocks, top[0].diff, bottom[0].data, regions, move, slopes, together, self.geometry
            )
            self.kernels.deformable_psroi_pooling_trans(bottom[2].count, slopes, regions, bottom[2].diff, self.geometry)
        elif len(bottom) > 2 and propagate_down[2]:
            bottom[2].diff.fill(0)

    def allow_force_backward(self, index: int) -> bool:
        return index != 1
