"""PSROIAlign: averages of bilinear samples in the bins of regions, each bin in its own channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from .psroi_base import ONE_BY_ONE, PositionSensitive


class PSROIAlign(
    PositionSensitive,
    type="PSROIAlign",
    param="psroi_align_param",
    bottoms=2,
    tops=(1, 2),
    traits=Trait.REGIONS | Trait.SIXTEEN_BITS,
):
    """Position-sensitive ROIAlign: bin (i, j) of each output is the average of samples in a channel of its own.

    For output c that channel is (c * group_size + i) * group_size + j.

    A region is scaled by spatial_scale, and half a pixel is subtracted. A bin has sample_num bilinear samples in each
    direction. A sample outside [-1, H] x [-1, W] counts as 0.

    A region with NaN, infinity or a batch index outside the batch gives 0 and gets no gradient. With an adaptive grid
    (sample_num of 0 or less), a region without a size has no samples, and its average is NaN. The gradient goes to the
    features, not to the regions.

    Parameters
    ----------
    bottom 0
        (B, output_dim * group_size^2, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image.
    psroi_align_param
        `spatial_scale` (required): pixels of the map in one pixel of the image. `output_dim` (required): channels of
        the top. `group_size` (required): bins along each axis. `sample_num` (2): samples of a bin in each direction; 0
        or less means ceil(size of the bin). `sampling_ratio`: another name of sample_num, which it overrides.

    Returns
    -------
    top 0
        (K, output_dim, group_size, group_size), the average of each bin.
    top 1
        Optional. The same shape: the channel that each number came from.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, or a region whose bins would take more than 2^20 samples.

    Source
    ------
    He et al. 2017, Mask R-CNN, with Dai et al. 2016, R-FCN. Numbers as torchvision's ps_roi_align.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "PSROIAlign" psroi_align_param { spatial_scale: 1 output_dim: 1 group_size: 2 }'
    >>> features = np.repeat([10, 20, 30, 40], 16).reshape(1, 4, 4, 4)  # four channels, each of one value
    >>> run_layer(layer, features, [[0, 0, 0, 4, 4]]).tolist()
    [[[[10.0, 20.0], [30.0, 40.0]]]]
    """

    kernels = Kernels("psroi_align.cu")
    separable = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.psroi_align_param
        self.setup_outputs(p)
        self.setup_ratio(p.sampling_ratio if p.HasField("sampling_ratio") else p.sample_num, "sample_num")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.reshape_tops(top)
        self.ask_tables()
        step = self.kernels.constants["WEIGHTS"]
        weights = -(-(self.pooled[0] * self.size[0] + self.pooled[1] * self.size[1]) // step) * step
        self.scratch("samples", (self.regions, 2), np.int32)
        self.scratch("weights", (self.regions, weights), backward=self.one_by_one)
        if self.tiled:
            self.ask_tiles()
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    def watch(self) -> tuple[int, Callable[[AnyArray], object]] | None:
        return self.watch_grids(False)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = self.widened(self.check_grids(bottom[1].data, False))
        blocks, together = self.parts(alone=not self.one_by_one)
        if self.one_by_one:
            self.kernels.psroi_align_forward_samples(
                blocks, bottom[0].data, rows, top[0].data, together, self.ratio, self.geometry
            )
            return
        self.weigh(rows)
        self.kernels.psroi_align_forward(blocks, bottom[0].data, *self.lists, top[0].data, together, self.geometry)

    @property
    def lists(self) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
        """Of each region its image, how many samples its bins have, its bins and the weights of their rows and columns."""
        image, bins = self.tables
        return image, self.room("samples"), bins, self.room("weights")

    @property
    def one_by_one(self) -> bool:
        """Whether a forward reads samples one by one."""
        return ONE_BY_ONE[self.device.kind] and 0 < self.ratio <= self.kernels.constants["SINGLE"]

    def weigh(self, rows: AnyArray) -> None:
        """The weights of the rows and columns of all bins."""
        self.kernels.psroi_align_weights(self.regions, rows, *self.lists, self.ratio, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        if propagate_down[0]:
            diff = bottom[0].diff
            if self.one_by_one:  # the forward needs none
                self.weigh(self.widened(self.checked_before(bottom[1].data, False)))
            if self.tiled:
                image, samples, bins, weights = self.lists
                tiles, lists = self.tiles(self.boxes_of(image, bins), self.by_place(bottom[1].data))
                self.kernels.psroi_align_backward_tiles(
                    tiles * self.channel_slabs, top[0].diff, lists, samples, bins, weights, diff, self.geometry
                )
                return
            self.kernels.psroi_align_backward(
                self.batch * self.channels, top[0].diff, *self.lists, self.sums_of(diff), diff, self.geometry
            )
