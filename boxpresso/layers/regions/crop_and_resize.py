"""CropAndResize: boxes of images, each resized to one size (TensorFlow)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import AnyArray, Blob, Kernels
from ..core import Trait
from ..core.param_str import settings
from .region_base import RegionLayer

# Slabs pay for boxes with so many elements, in parts of the images' pixels, of so many channels. On a GPU that is counted:
# neighbouring elements three pixels apart read 24 bytes of a channel of planes, and 16 of slabs; a pixel packed is 8 bytes.
PIXELS_AN_ELEMENT, CHANNELS = {"cpu": 4, "cuda": 1}, 8
METHODS = ("bilinear", "nearest")


class CropAndResize(
    RegionLayer,
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
        self.geometry = self.kernels.struct(
            "CropGeometry", batch=self.batch, channels=self.channels, height=self.size[0], width=self.size[1],
            crop_height=self.pooled[0], crop_width=self.pooled[1], nearest=self.nearest, outside=self.outside,
        )  # fmt: skip
        top[0].reshape(self.regions, self.channels, *self.pooled)

    def places(self, bottom: list[Blob]) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The image of each box, the pixels before its rows and columns, and how far these lie beyond them."""
        k, lines = self.regions, sum(self.pooled)
        images, low = self.scratch("images", (k,), np.int32), self.scratch("low", (k, lines), np.int32)
        part = self.scratch("part", (k, lines))
        boxes, indices = self.widened(bottom[1].data), self.widened(bottom[2].data)
        self.kernels.crop_resize_places(k, boxes, indices, images, low, part, self.geometry)
        return images, low, part

    @property
    def in_slabs(self) -> bool:
        """Whether the images are brought into slabs, where all channels of an element are one vector."""
        elements, pixels = self.regions * self.pooled[0] * self.pooled[1], self.batch * self.size[0] * self.size[1]
        return self.channels >= CHANNELS and elements * PIXELS_AN_ELEMENT[self.device.kind] >= pixels

    def room(self) -> AnyArray:
        """Room for slabs, each with a crop: one for each worker, which stays in its core's cache."""
        at_once = min(self.device.workers, self.batch * self.channel_slabs)
        cells = self.pooled[0] * self.pooled[1]
        return self.scratch("room", (at_once, self.size[0] * self.size[1] + cells, self.kernels.constants["SLAB"]))

    def slabs(self) -> AnyArray:
        """Room for all images in slabs, on a GPU."""
        slab = self.kernels.constants["SLAB"]
        return self.scratch("slabs", (self.batch * self.channel_slabs, self.size[0] * self.size[1], slab))

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if not self.batch * self.channels * self.size[0] * self.size[1]:
            outside = self.scratch("outside", top[0].shape)
            outside.fill(self.outside)
            self.narrow(outside, top[0].data)
            return
        if self.in_slabs and self.packed:
            slabs = self.slabs()
            self.pack_slabs(bottom[0].data, slabs)
            self.kernels.crop_resize_forward_packed(
                self.regions * self.channel_slabs, slabs, *self.places(bottom), top[0].data, self.regions, self.geometry
            )
            return
        if self.in_slabs:
            room = self.room()
            self.kernels.crop_resize_forward_slabs(
                room.shape[0], bottom[0].data, *self.places(bottom), room, top[0].data, self.regions, self.geometry
            )
            return
        groups = -(-self.channels // self.kernels.constants["PLANES"])
        self.kernels.crop_resize_forward(
            self.regions * groups, bottom[0].data, *self.places(bottom), top[0].data, self.regions, self.geometry
        )

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(
            not propagate_down[2], "there is no gradient for the images' numbers; set propagate_down: false for them"
        )
        places = self.places(bottom)
        if propagate_down[0]:
            sums = self.sums_of(bottom[0].diff)
            planes = self.batch * self.channels
            self.kernels.crop_resize_spread(planes, top[0].diff, *places, sums, self.regions, self.geometry)
            if sums is not bottom[0].diff:
                self.narrow(sums, bottom[0].diff)
        if propagate_down[1]:
            cells = self.regions * self.pooled[0] * self.pooled[1]
            moves = self.scratch("moves", (cells, 2))
            self.kernels.crop_resize_moves(cells, bottom[0].data, top[0].diff, *places, moves, self.geometry)
            self.kernels.crop_resize_boxes(self.regions, moves, bottom[1].diff, self.geometry)

    def allow_force_backward(self, index: int) -> bool:
        return index < 2
