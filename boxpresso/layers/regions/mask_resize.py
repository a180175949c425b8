"""MaskResize: bilinear interpolation of masks to the size of features (MNC)."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import AnyArray, Blob, Kernels
from .separable_base import Separable


class MaskResize(Separable, type="MaskResize", param="mask_resize_param", bottoms=1, tops=1):
    """Resizes each plane to h x w by bilinear interpolation: pixel (y, x) of the top is at (y H / h, x W / w).

    So the first pixels lie on each other. The value of the last pixel holds for half a pixel beyond it; from there on
    the result is 0, which a mask that is more than doubled gets on its lower and right borders.

    The gradient is that of the forward pass.

    Parameters
    ----------
    bottom 0
        (N, C, H, W), masks.
    mask_resize_param
        `output_height`, `output_width` (required): h and w.

    Returns
    -------
    top 0
        (N, C, h, w), the resized masks.

    Raises
    ------
    LayerError
        For a size of 0, or a bottom that has not four axes.

    Source
    ------
    Dai et al. 2016, Multi-task Network Cascades, and its Caffe, whose backward pass is the gradient of its forward pass
    only where a mask is made smaller.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "MaskResize" mask_resize_param { output_height: 2 output_width: 4 }'
    >>> run_layer(layer, [[[[0, 1], [2, 3]]]]).tolist()
    [[[[0.0, 0.5, 1.0, 1.0], [2.0, 2.5, 3.0, 3.0]]]]
    """

    # A plane is warped as a region that has all of it; all planes are channels of one image.
    kernels = Kernels("roi_warping.cu")
    ratio = 1
    listed_for: tuple[int, ...] | None = None  # whether there are planes, and their size, that the lists are of

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mask_resize_param
        out = p.output_height, p.output_width
        self.need(min(out) > 0, f"output_height and output_width must be positive, got {out}")
        self.setup_bins(*out, 1.0)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, *size = self.axes(bottom[0], 4)
        self.size = size[0], size[1]
        top[0].reshape(images, channels, *self.pooled)
        self.channels, self.regions = images * channels, 1
        self.batch = int(self.channels * size[0] * size[1] > 0)
        self.shape_lists()
        self.ask_sums(bottom[0].shape)
        if self.listed_for != (self.batch, *self.size):
            self.region = self.device.table([[0, 0, 0, size[1], size[0]]], self.real)
            self.kernels.roi_warping_lists(1, self.region, *self.lists(), 0, self.geometry)
            self.listed_for = self.batch, *self.size

    def entries(self, size: int, bins: int) -> int:
        """The two pixels of each sample."""
        return 2 * bins

    def many(self, backward: bool) -> bool:
        return False  # one region has all pixels

    def make_lists(self, rows: AnyArray, lists: tuple[AnyArray, ...], changes: bool) -> None:
        """Nothing: they are those of the planes' size, made when it is known."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.gather(bottom[0].data, self.region, top[0].data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.gradients(top[0].diff, bottom[0].data, self.region, bottom[0].diff, None)
