"""PSROIPooling: averages over the bins of regions, each bin in its own channel (R-FCN)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...device import UNFUSED, AnyArray, Blob, Kernels
from ..core import Trait
from .psroi_base import PositionSensitive


class PSROIPooling(
    PositionSensitive,
    type="PSROIPooling",
    param="psroi_pooling_param",
    bottoms=2,
    tops=(1, 2),
    traits=Trait.REGIONS | Trait.SIXTEEN_BITS,
):
    """Position-sensitive average pooling: bin (i, j) of each output is averaged in a channel of its own.

    For output c that channel is (c * group_size + i) * group_size + j.

    The corners of a region are rounded, halves away from zero, then scaled by spatial_scale; a side is at least 0.1
    pixel of the map. A bin covers all pixels that it touches, clipped to the map; an empty bin gives 0.

    A region with NaN, infinity or a batch index outside the batch gives 0 and gets no gradient. The gradient goes to
    the features, not to the regions.

    With the attribute `torchvision`, the layer is torchvision's ps_roi_pool: it scales first and rounds then, adds no 1
    to the end, and a side is at least 1 pixel. It never reads the last row and column of the map, but gives them a
    gradient.

    Parameters
    ----------
    bottom 0
        (B, output_dim * group_size^2, H, W), features.
    bottom 1
        (K, 5), regions: batch index, x1, y1, x2, y2 in pixels of the image, end pixels included.
    psroi_pooling_param
        `spatial_scale` (required): pixels of the map in one pixel of the image. `output_dim` (required): channels of
        the top. `group_size` (required): bins along each axis.

    Returns
    -------
    top 0
        (K, output_dim, group_size, group_size), the average of each bin.
    top 1
        Optional. The same shape: the channel that each number came from.

    Raises
    ------
    LayerError
        For parameters or shapes that do not fit, or `no_pad_shift`, which belongs to another program's PSROIPooling.

    Source
    ------
    Dai et al. 2016, R-FCN, and its Caffe.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "PSROIPooling" psroi_pooling_param { spatial_scale: 1 output_dim: 1 group_size: 2 }'
    >>> features = np.repeat([10, 20, 30, 40], 16).reshape(1, 4, 4, 4)  # four channels, each of one value
    >>> run_layer(layer, features, [[0, 0, 0, 3, 3]]).tolist()
    [[[[10.0, 20.0], [30.0, 40.0]]]]
    """

    kernels = Kernels("psroi_pooling.cu", UNFUSED)
    torchvision = False

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.psroi_pooling_param
        self.setup_outputs(p)
        self.need(not p.no_pad_shift, "no_pad_shift belongs to another program's PSROIPooling, which is not known here")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        self.reshape_tops(top)
        self.ask_tables()
        self.image, self.bins = self.tables
        if self.tiled:
            self.ask_tiles()
        self.geometry = self.kernels.struct("Geometry", **self.fields)

    def cut(self, bottom: list[Blob], less: int) -> None:
        """The bins of all regions, on the map without its last `less` rows and columns."""
        rows = self.check_work(self.widened(bottom[1].data))
        self.kernels.psroi_pooling_bins(
            self.regions, rows, self.image, self.bins, self.torchvision, less, self.geometry
        )

    def watch(self) -> tuple[int, Callable[[AnyArray], object]] | None:
        return (1, self.check_work) if self.may_check else None

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.cut(bottom, int(self.torchvision))
        blocks, together = self.parts()
        self.kernels.psroi_pooling_forward(
            blocks, bottom[0].data, self.image, self.bins, top[0].data, together, self.geometry
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need_no_region_gradient(propagate_down)
        if propagate_down[0]:
            self.cut(bottom, 0)
            diff = bottom[0].diff
            if self.tiled:
                tiles, lists = self.tiles(self.boxes_of(self.image, self.bins), self.by_place(bottom[1].data))
                self.kernels.psroi_pooling_backward_tiles(
                    tiles * self.channel_slabs, top[0].diff, lists, self.bins, diff, self.geometry
                )
                return
            self.kernels.psroi_pooling_backward(
                self.batch * self.channels, top[0].diff, self.image, self.bins, self.sums_of(diff), diff, self.geometry
            )
