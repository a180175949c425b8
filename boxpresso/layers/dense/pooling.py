"""Pooling: the maximum, the mean or a random pick of each window of an image."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...device import Blob, Kernels
from ...proto import LayerParameter
from ..core import Layer, Trait
from ..core.gpu_lowering import OnLast
from ..core.layer import Window
from ..core.lowering import Lowering
from .channels_last import PoolLast
from .int8_lowerings import in_int8
from .lowerings import PoolingLowering

WIDE = 64  # windows of more columns than this have a block each
FORKS = ("pad_l", "pad_r", "pad_t", "pad_b", "pad_type", "output_shift_instead_division", "bin_size", "bin_h", "bin_w")


class Pooling(
    Layer, type="Pooling", param="pooling_param", bottoms=1, tops=(1, 2), traits=Trait.POOLS | Trait.WRITES_ALL
):
    """The maximum, the mean or a random pick of each window of an image, (N, C, H, W) to (N, C, h, w).

    MAX: the largest value; -FLT_MAX for an empty window. AVE: the sum, divided by the size of the window within image
    and padding, so that an empty window gives NaN. STOCHASTIC, for values of 0 and above: at TRAIN one pixel is drawn,
    whose probability is its share of the window's sum; at TEST the mean with these probabilities as weights. STOCHASTIC
    has a gradient at TRAIN only. RCM: the mean of the largest values of the window's rows, plus that of its columns
    (R-FCN++).

    Parameters
    ----------
    bottom 0
        (N, C, H, W); of (N, C, D, H, W) a Pooling3D is made.
    pooling_param
        `pool` (MAX): MAX, AVE, STOCHASTIC or RCM. `kernel_size`, or `kernel_h` and `kernel_w`: required without
        global_pooling. `stride` (1), or `stride_h` and `stride_w`. `pad` (0), or `pad_h` and `pad_w`. `global_pooling`
        (false): the image is one window. Of forks: `ceil_mode: false` or `round_mode: FLOOR` rounds h and w down;
        `avg_include_pad: false` or `pool: AVE_EXC_PAD` divides by the number of pixels inside the image. `dilation` (1),
        once or for height and width, for MAX and AVE: how far the pixels of a window are apart, so that it reaches over
        (kernel - 1) dilation + 1; AVE divides by their number.

    Returns
    -------
    top 0
        (N, C, h, w), h = ceil((H + 2 pad - reach) / stride) + 1, the reach being the
        kernel where nothing is dilated. Where there is padding, h is one less if the last
        window would begin outside image and padding. w likewise.
    top 1
        Optional, for MAX: (N, C, h, w), the place of each maximum, y * W + x; -1 for none.

    Raises
    ------
    LayerError
        kernel_size is missing, or given together with kernel_h and kernel_w or global_pooling; kernel or stride is 0;
        the padding is not smaller than the kernel; padding with STOCHASTIC; padding or a stride with global_pooling; a
        second top without MAX; a bottom that is not of four axes; a kernel larger than the padded image; a gradient of
        STOCHASTIC at TEST; another field or method of a fork, such as pad_type, bin_size, kernel_size_3d or torch_pooling; a
        dilation with global_pooling.

    Source
    ------
    Caffe; stochastic pooling: Zeiler and Fergus 2013; RCM: Li et al. 2018 (R-FCN++), makefile/frcnn.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> image = [[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]
    >>> run_layer('type: "Pooling" pooling_param { pool: MAX kernel_size: 2 stride: 2 }', image).tolist()
    [[[[5.0, 6.0], [8.0, 9.0]]]]
    >>> run_layer('type: "Pooling" pooling_param { pool: AVE kernel_size: 2 stride: 2 }', image).tolist()
    [[[[3.0, 4.5], [7.5, 9.0]]]]
    """

    kernels, row_kernels = Kernels("pooling.cu"), Kernels("row_column_pool.cu")
    dilated_kernels = Kernels("dilated_pool.cu")

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        """Pooling3D for volumes, over which cuDNN pools, and so Caffe on a GPU, with the same size along each axis."""
        p = param.pooling_param
        sides = ("kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w")
        if list(axes[:1]) != [5] or any(p.HasField(name) for name in sides):
            return ""
        for name in ("kernel_size", "stride", "pad"):
            if p.HasField(name) and not getattr(p, f"{name}_3d"):
                getattr(p, f"{name}_3d").append(getattr(p, name))
                p.ClearField(name)
        return "Pooling3D"

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.pooling_param
        method = p.PoolMethod.Name(p.pool)
        self.need(
            method in ("MAX", "AVE", "STOCHASTIC", "AVE_EXC_PAD", "RCM"), f"pool: {method} of a fork is not supported"
        )
        self.inside = int(method == "AVE_EXC_PAD" or not p.avg_include_pad)
        self.method = "AVE" if method == "AVE_EXC_PAD" else method
        for fork in FORKS:
            self.need(not getattr(p, fork), f"pooling_param: {fork} of a fork is not supported; remove it")
        flat = not p.kernel_size_3d and not p.stride_3d and not p.pad_3d
        self.need(flat and p.axis == 1, "pooling over other axes than height and width is not supported")
        dilation = list(p.dilation) or [1]
        self.need(len(dilation) < 3 and min(dilation) > 0, f"dilation is one number from 1 on, or two, got {dilation}")
        self.dilation = dilation[0], dilation[-1]
        self.dilated = self.dilation != (1, 1)
        self.need(not p.torch_pooling, "pooling_param: torch_pooling of a fork is not supported; use round_mode: FLOOR")
        self.need(len(top) == 1 or self.method == "MAX", f"a second top, the mask, is for pool: MAX, not {method}")
        self.need(not self.dilated or self.method in ("MAX", "AVE"), f"dilation is for MAX and AVE, not {method}")
        self.whole = p.global_pooling
        kernel = p.HasField("kernel_size"), p.HasField("kernel_h"), p.HasField("kernel_w")
        if self.whole:
            self.need(
                not any(kernel), "global_pooling takes the image's size: remove kernel_size, kernel_h and kernel_w"
            )
        else:
            self.need(
                kernel in ((True, False, False), (False, True, True)), "give kernel_size, or kernel_h and kernel_w"
            )
        self.kernel, self.stride, self.pad = self.pair("kernel", "kernel_size"), self.pair("stride"), self.pair("pad")
        self.need(self.whole or min(self.kernel) > 0, f"the kernel must be 1 or more, got {self.kernel}")
        self.need(min(self.stride) > 0, f"the stride must be 1 or more, got {self.stride}")
        if self.whole:
            plain = self.pad == (0, 0) and self.stride == (1, 1)
            self.need(plain, f"global_pooling needs pad 0 and stride 1, got pad {self.pad} and stride {self.stride}")
            self.need(not self.dilated, f"global_pooling takes the whole image: remove dilation, got {self.dilation}")
        elif any(self.pad):
            self.need(self.method != "STOCHASTIC", f"STOCHASTIC takes no padding, got {self.pad}")
            fits = self.pad[0] < self.kernel[0] and self.pad[1] < self.kernel[1]
            self.need(fits, f"the padding must be smaller than the kernel, got {self.pad} and {self.kernel}")
        self.down = not p.ceil_mode or p.round_mode == p.FLOOR
        self.key = int(self.rng.integers(2**32))

    @classmethod
    def window_of(cls, param: LayerParameter) -> Window | None:
        p = param.pooling_param
        if p.global_pooling:
            return None
        kernel, stride, pad = (
            [getattr(p, f"{short}_h"), getattr(p, f"{short}_w")] if p.HasField(f"{short}_h") else [getattr(p, both)]
            for both, short in (("kernel_size", "kernel"), ("stride", "stride"), ("pad", "pad"))
        )
        return Window(1, kernel, stride, pad, list(p.dilation) or [1])

    def reseed(self, seed: int | Sequence[int]) -> None:
        super().reseed(seed)
        self.key = int(self.rng.integers(2**32))

    def pair(self, name: str, both: str = "") -> tuple[int, int]:
        """A size for height and width, given once or for each."""
        p, both = self.param.pooling_param, both or name
        h, w = p.HasField(f"{name}_h"), p.HasField(f"{name}_w")
        self.need(h == w and not (h and p.HasField(both)), f"give {both}, or {name}_h and {name}_w")
        return (getattr(p, f"{name}_h"), getattr(p, f"{name}_w")) if h else (getattr(p, both), getattr(p, both))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        images, channels, *size = self.axes(bottom[0], 4)
        if self.whole:
            self.kernel = size[0], size[1]
            self.need(min(size) > 0, f"global_pooling of an empty image, shape {bottom[0].shape}")
        for axis in zip(size, self.kernel, self.stride, self.pad, strict=True):
            reach = sum(axis) + axis[-1]
            self.need(reach < 2**31, f"image, kernel, stride and twice the pad, {axis}, are together beyond 2147483647")
        reaches = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)]
        self.need(max(reaches) < 2**30, f"kernel {self.kernel} and dilation {self.dilation} reach too far")
        out = [self.windows(*axis) for axis in zip(size, reaches, self.stride, self.pad, strict=True)]
        self.need(
            min(out) > 0, f"the kernel {self.kernel} is larger than the padded image of a bottom of {bottom[0].shape}"
        )
        for blob in top:
            blob.reshape(images, channels, *out)
        pairs = {"kernel": self.kernel, "stride": self.stride, "pad": self.pad}
        window = {f"{name}_{axis}": n for name, pair in pairs.items() for axis, n in zip("hw", pair)}
        self.pool = self.kernels.struct(
            "Pool", height=size[0], width=size[1], out_height=out[0], out_width=out[1], inside=self.inside, **window
        )
        self.taps = self.dilated_kernels.struct(
            "Taps", height=size[0], width=size[1], out_height=out[0], out_width=out[1], inside=self.inside,
            dilation_h=self.dilation[0], dilation_w=self.dilation[1], **window,
        )  # fmt: skip
        self.rows, self.out_rows = images * channels * size[0], images * channels * out[0]
        self.wide = self.kernel[1] > WIDE or out == [1, 1]
        self.per_chunk = min(out[1], max(1, (self.kernels.constants["SPAN"] - self.kernel[1]) // self.stride[1] + 1))
        self.chunks = -(-out[1] // self.per_chunk)
        if self.method in ("MAX", "STOCHASTIC"):
            in_forward = self.method == "STOCHASTIC" or len(top) > 1 or self.dilated
            self.scratch("places", top[0].shape, np.int32, backward=not in_forward)

    def windows(self, size: int, kernel: int, stride: int, pad: int) -> int:
        """How many windows an axis has."""
        room = size + 2 * pad - kernel
        count = (room // stride if self.down else -(-room // stride)) + 1
        return count - 1 if any(self.pad) and (count - 1) * stride >= size + pad else count

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        x, y, kernels = bottom[0].data, top[0].data, self.kernels
        if self.dilated:
            self.dilated_forward(bottom, top)
        elif self.method == "STOCHASTIC":
            self.pass_number = (self.pass_number + 1) % 2**32
            train = int(self.phase == "TRAIN")
            kernels.stochastic(self.out_rows, x, y, self.room("places"), self.pool, train, self.key, self.pass_number)
        elif self.method == "RCM":
            self.row_kernels.row_column_forward(top[0].count, x, y, self.pool)
        elif self.wide:
            (kernels.max_wide if self.method == "MAX" else kernels.mean_wide)(top[0].count, x, y, self.pool)
        else:
            run = kernels.max_narrow if self.method == "MAX" else kernels.mean_narrow
            run(self.out_rows * self.chunks, x, y, self.pool, self.chunks, self.per_chunk)
        if len(top) > 1:
            if not self.dilated:
                kernels.max_mask(self.out_rows, x, self.room("places"), self.pool)
            kernels.mask_as_top(top[1].count, self.room("places"), top[1].data)

    def dilated_forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.method == "MAX":
            args = bottom[0].data, top[0].data, self.room("places")
            self.dilated_kernels.dilated_max(top[0].count, *args, self.taps)
        else:
            self.dilated_kernels.dilated_mean(top[0].count, bottom[0].data, top[0].data, self.taps)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if self.method in ("STOCHASTIC", "RCM") or len(top) > 1 or self.dilated:
            return None
        return PoolingLowering(
            lambda: {"kernel": self.kernel, "stride": self.stride, "pad": self.pad},
            self.method == "AVE",
            self.inside == 1,
            self.method == "MAX"
            and not self.whole
            and not self.down
            and self.pad == (0, 0)
            and self.kernel == self.stride == (2, 2),
        )

    def lower_int8(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return in_int8(self.lower(bottom, top), bottom, top)

    def lower_last(self, bottom: list[Blob], top: list[Blob]) -> OnLast | None:
        return PoolLast(self) if self.method in ("MAX", "AVE") and not self.dilated else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if not propagate_down[0]:
            return
        diff, bottom_diff = top[0].diff, bottom[0].diff
        if self.dilated:
            if self.method == "MAX":  # the mask, found again: a plan's forward may have left none
                self.dilated_kernels.dilated_max(top[0].count, bottom[0].data, None, self.room("places"), self.taps)
            mask = self.room("places") if self.method == "MAX" else None
            self.dilated_kernels.dilated_diff(bottom[0].count, diff, mask, bottom_diff, self.taps)
            return
        if self.method == "AVE":
            self.kernels.mean_backward(self.rows, diff, bottom_diff, self.pool)
            return
        if self.method == "RCM":
            self.row_kernels.row_column_backward(bottom[0].count, bottom[0].data, diff, bottom_diff, self.pool)
            return
        if self.method == "MAX":  # sought again, so that a net which only runs forward does not store it
            self.kernels.max_mask(self.out_rows, bottom[0].data, self.room("places"), self.pool)
        else:
            self.need(self.phase == "TRAIN", "STOCHASTIC has a gradient in phase TRAIN only")
        self.kernels.mask_backward(self.rows, diff, self.room("places"), bottom_diff, self.pool)
