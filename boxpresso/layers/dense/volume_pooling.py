"""Pooling3D: the maximum or the mean of each window of a volume, such as the frames of a clip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Pooling3D(Layer, type="Pooling3D", param="pooling_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """The maximum or the mean of each window of a volume, (N, C, D, H, W) to (N, C, d, h, w).

    MAX: the largest value. AVE: the sum, divided by the size of the window within volume and padding. Of equal maxima
    the first along depth, then height, then width has the gradient.

    Reading a prototxt makes this type of others: a Pooling whose kernel_size, stride or pad stand there three times,
    NdPooling with `kernel_shape`, `stride_shape` and `pad_shape`, and C3D's `kernel_size` with `kernel_depth`,
    `temporal_stride` and `temporal_pad`.

    Parameters
    ----------
    bottom 0
        (N, C, D, H, W).
    pooling_param
        `pool` (MAX): MAX or AVE. `kernel_size_3d`, required; `stride_3d` (1), `pad_3d` (0): one number, or those for
        depth, height and width. `ceil_mode: false` or `round_mode: FLOOR` rounds sizes down.
        `global_pooling` (false): the volume is one window.

    Returns
    -------
    top 0
        (N, C, d, h, w), d = ceil((D + 2 pad - kernel) / stride) + 1; where there is padding, one less if the last window
        would begin outside volume and padding. h and w likewise.

    Raises
    ------
    LayerError
        Another method than MAX and AVE; a kernel is missing or is given with global_pooling; fields of neither one nor
        three numbers; a kernel or stride of 0; a padding that is not smaller than the kernel; a bottom that is not of
        five axes; a kernel that is larger than the padded volume.

    Source
    ------
    Tran et al. 2015, C3D; sizes as Caffe's Pooling has them.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> volume = [[[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]]
    >>> text = 'type: "Pooling3D" pooling_param { pool: %s kernel_size_3d: [2, 1, 2] }'
    >>> run_layer(text % "MAX", volume).ravel().tolist()
    [6.0, 8.0]
    >>> run_layer(text % "AVE", volume).ravel().tolist()
    [3.5, 5.5]
    """

    kernels = Kernels("volume_pooling.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.pooling_param
        self.method = p.PoolMethod.Name(p.pool)
        self.need(self.method in ("MAX", "AVE"), f"pool: {self.method} of volumes is not supported; MAX and AVE are")
        self.whole = p.global_pooling
        sizes = list(p.kernel_size_3d)
        self.need(bool(sizes) != self.whole, "give kernel_size_3d, or global_pooling: true without it")
        self.kernel = self.three("kernel_size_3d", sizes or [1])
        self.stride, self.pad = self.three("stride_3d", p.stride_3d or [1]), self.three("pad_3d", p.pad_3d or [0])
        self.need(min(self.kernel) > 0 and min(self.stride) > 0, "kernel and stride must be 1 or more")
        fits = all(pad < kernel for pad, kernel in zip(self.pad, self.kernel))
        self.need(fits, f"the padding must be smaller than the kernel, got {self.pad} and {self.kernel}")
        self.down = not p.ceil_mode or p.round_mode == p.FLOOR

    def three(self, field: str, values: Sequence[int]) -> tuple[int, ...]:
        """A number for each axis."""
        self.need(len(values) in (1, 3), f"{field} is one number, or three for depth, height and width; got {values}")
        return tuple(values) * (3 // len(values))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, *size = self.axes(bottom[0], 5)
        if self.whole:
            self.need(min(size) > 0, f"global_pooling of an empty volume, shape {bottom[0].shape}")
            self.kernel = tuple(size)
        axes = list(zip(size, self.kernel, self.stride, self.pad, strict=True))
        self.need(
            all(sum(axis) + axis[-1] < 2**30 for axis in axes), f"volume, kernel, stride and pad, {axes}, are too large"
        )
        out = [self.windows(*axis) for axis in axes]
        self.need(
            min(out) > 0, f"the kernel {self.kernel} is larger than the padded volume of a bottom of {bottom[0].shape}"
        )
        top[0].reshape(images, channels, *out)
        fields = {"size": size, "out": out, "kernel": self.kernel, "stride": self.stride, "pad": self.pad}
        self.volume = self.kernels.struct(
            "Volume", **{f"{name}_{axis}": n for name, three in fields.items() for axis, n in zip("dhw", three)}
        )

    def windows(self, size: int, kernel: int, stride: int, pad: int) -> int:
        """How many windows an axis has."""
        room = size + 2 * pad - kernel
        count = (room // stride if self.down else -(-room // stride)) + 1
        return count - 1 if any(self.pad) and (count - 1) * stride >= size + pad else count

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        run = self.kernels.volume_max if self.method == "MAX" else self.kernels.volume_mean
        run(top[0].count, bottom[0].data, top[0].data, self.volume)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not propagate_down[0]:
            return
        places = None
        if self.method == "MAX":  # sought again, so that a net which only runs forward does not store them
            places = self.device.empty(top[0].shape, np.int32)
            self.kernels.volume_places(top[0].count, bottom[0].data, places, self.volume)
        self.kernels.volume_diff(bottom[0].count, top[0].diff, places, bottom[0].diff, self.volume)
