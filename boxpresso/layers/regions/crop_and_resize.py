"""CropAndResize: boxes of images, each resized to one size (TensorFlow)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from ..core.param_str import settings
from .separable_base import Separable

# Slabs pay for boxes with so many elements, in parts of the images' pixels, of so many channels. On a GPU that is counted:
# neighbouring elements three pixels apart read 24 bytes of a channel of planes, and 16 of slabs; a pixel packed is 8 bytes.
PIXELS_AN_ELEMENT, CHANNELS = {"cpu": 4, "cuda": 1}, 8
MORE_BACKWARD = 8  # times as many pixels for gradients: each element adds to four, one after another
METHODS = ("bilinear", "nearest")


class CropAndResize(
    Separable,
    type="CropAndResize",
    param="python_param",
    bottoms=3,
    tops=1,
    traits=Trait.REGIONS | Trait.SIXTEEN_BITS,
):
    """Each box of an image, resized to one size; a box may reach beyond the image and may be mirrored.

    Row i of n lies at y = y1 (H - 1) + i (y2 - y1) (H - 1) / (n - 1), and a single one in the middle between y1 and y2;
    columns likewise. There the image is interpolated, or the nearest pixel taken; outside [0, H - 1] x [0, W - 1] lies
    extrapolation_value.

    Gradients go to the images and, with bilinear, to the boxes; nearest has none for them. A box with NaN, infinity or an
    image outside the batch gives extrapolation_value and has no gradient. float16 and bfloat16 are
    storage types.

    Parameters
    ----------
    bottom 0
        (B, C, H, W), images.
    bottom 1
        (K, 4), boxes: y1, x1, y2, x2, 0 being the first pixel's centre and 1 the last one's.
    bottom 2
        (K), the image of each box.
    python_param
        Such as python_param { param_str: "'crop_size': [14, 14]" }. `param_str`: a text with `crop_size` (required),
        [height, width]; `method` (bilinear): bilinear or nearest; `extrapolation_value` (0).

    Returns
    -------
    top 0
        (K, C, crop height, crop width).

    Raises
    ------
    LayerError
        For settings or shapes that do not fit.

    Source
    ------
    TensorFlow's tf.image.crop_and_resize and its gradients, with the channels before the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> layer = '''type: "CropAndResize" python_param { param_str: "'crop_size': [2, 2], 'extrapolation_value': -1" }'''
    >>> run_layer(layer, np.arange(9).reshape(1, 1, 3, 3), [[0, 0.5, 1, 1], [0.5, 0, 1.5, 1]], [0, 0]).tolist()
    [[[[1.0, 2.0], [7.0, 8.0]]], [[[3.0, 5.0], [-1.0, -1.0]]]]
    """

    kernels = Kernels("crop_resize.cu")
    columns = ("y1", "x1", "y2", "x2")
    ratio = 1

    @property
    def single(self) -> bool:
        return True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        s = settings(self, {"crop_size": None, "method": "bilinear", "extrapolation_value": 0.0})
        size = s["crop_size"]
        fits = isinstance(size, (list, tuple)) and len(size) == 2 and all(type(n) is int and n > 0 for n in size)
        self.need(fits, f"crop_size must be [height, width], two whole numbers above 0, got {size!r}")
        self.need(s["method"] in METHODS, f"method must be bilinear or nearest, got {s['method']!r}")
        outside = s["extrapolation_value"]
        self.need(isinstance(outside, (int, float)), f"extrapolation_value must be a number, got {outside!r}")
        self.setup_bins(size[0], size[1], 1.0)
        self.nearest, self.outside = int(s["method"] == "nearest"), float(outside)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.read_shapes(bottom)
        count = int(np.prod(bottom[2].shape))
        self.need(count == self.regions, f"{self.regions} boxes need as many images, got {bottom[2].shape}")
        top[0].reshape(self.regions, self.channels, *self.pooled)
        self.shape_lists()
        if not self.batch * self.channels * self.size[0] * self.size[1]:
            self.scratch("outside", top[0].shape)
        self.order = self.device.table(np.arange(self.regions))
        self.samples = self.kernels.struct("CropGeometry", nearest=self.nearest, outside=self.outside)

    def entries(self, size: int, bins: int) -> int:
        """The two pixels of each sample."""
        return 2 * bins

    def many(self, backward: bool) -> bool:
        elements, pixels = self.regions * self.pooled[0] * self.pooled[1], self.batch * self.size[0] * self.size[1]
        an_element = PIXELS_AN_ELEMENT[self.device.kind] * (MORE_BACKWARD if backward else 1)
        return self.channels >= CHANNELS and elements * an_element >= pixels

    def by_place(self, regions: AnyArray, bands: bool = True) -> AnyArray:
        """The boxes in the order that they are given in."""
        order: AnyArray = self.order
        return order

    def make_lists(self, rows: AnyArray, lists: tuple[AnyArray, ...], changes: bool) -> None:
        self.kernels.crop_resize_lists(
            self.regions, rows, self.widened(self.indices), *lists, changes, self.samples, self.geometry
        )

    def regions_from(self, parts: AnyArray, rows: AnyArray, diff: AnyArray, count: int) -> None:
        self.kernels.crop_resize_boxes(self.regions, parts, diff, count, self.geometry)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.batch * self.channels * self.size[0] * self.size[1]:
            outside = self.room("outside")
            outside.fill(self.outside)
            self.narrow(outside, top[0].data)
            return
        self.indices = bottom[2].data
        self.gather(bottom[0].data, self.widened(bottom[1].data), top[0].data)
        if self.outside:  # else it is what bins without pixels have
            head, _, index, _ = self.lists()
            self.kernels.crop_resize_outside(self.regions, head, index, top[0].data, self.samples, self.geometry)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not propagate_down[2], "there is no gradient for the images' numbers; set propagate_down: false for them"
        )
        self.indices = bottom[2].data
        diff, region_diff = (blob.diff if wanted else None for blob, wanted in zip(bottom, propagate_down[:2]))
        if region_diff is not None and self.nearest:
            region_diff.fill(0)
            region_diff = None
        self.gradients(top[0].diff, bottom[0].data, self.widened(bottom[1].data), diff, region_diff)

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
