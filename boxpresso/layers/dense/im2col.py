"""Im2col: each window of an image as a column, which is half of a convolution."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import Blob
from ..core import Trait
from .convolution_base import WindowLayer
from .sizes import Sizes


class Im2col(WindowLayer, type="Im2col", param="convolution_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """Each window of an image as a column: channel c * taps + tap holds the pixel under that tap of each window.

    The windows are Convolution's; their padding is 0. Backward adds up the columns of each pixel.

    Parameters
    ----------
    bottom 0
        (N, C, *size), the channels at `axis`.
    convolution_param
        As for Convolution: `kernel_size` (required), `pad` (0), `stride` (1), `dilation` (1), each once for all spatial
        axes or once for each, or `kernel_h` and `kernel_w` and so on; `axis` (1): the axis of the channels.

    Returns
    -------
    top 0
        (N, C * taps, *places): taps is the number of elements of the kernel, places are the windows along each axis.

    Raises
    ------
    LayerError
        The bottom has no spatial axes; kernel_size is missing; kernel, stride or dilation is 0; a field is given
        neither once nor once for each spatial axis, or both as one number and as _h and _w; the kernel does not fit
        into the padded bottom.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "Im2col" convolution_param { kernel_size: 2 }', [[[1, 2, 3]]]).tolist()
    [[[1.0, 2.0], [2.0, 3.0]]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.channel_axis = self.axis(bottom[0], self.param.convolution_param.axis)
        axes = len(bottom[0].shape) - self.channel_axis - 1
        self.need(axes > 0, f"the bottom of shape {bottom[0].shape} has no spatial axes behind its channels")
        self.read_window(axes)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, axis = self.axes(bottom[0], self.channel_axis + 1 + len(self.kernel)), self.channel_axis
        image = shape[axis + 1 :]
        places = self.map_of(image)
        window = self.kernel, self.stride, self.pad, self.dilation
        sizes = Sizes(prod(shape[:axis]), shape[axis], 1, 1, image, places, *window)
        self.window = sizes.pixels, sizes.taps, sizes.places, len(image), self.device.table(sizes.padded(1))
        top[0].reshape(*shape[:axis], shape[axis] * sizes.taps, *places)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.im2col(top[0].count, bottom[0].data, top[0].data, *self.window)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if propagate_down[0]:
            self.kernels.col2im(bottom[0].count, top[0].diff, bottom[0].diff, *self.window)
