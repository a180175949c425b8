"""What Convolution, Deconvolution and DepthwiseConvolution share: their parameter, one linear map and its adjoints.

An "image" is the larger side, a "map" the side that has one place for each window: Convolution goes from image to map,
Deconvolution from map to image. Weights are (maps, channels / group, *kernel) for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import AnyArray, Blob
from ...proto import LayerParameter
from ..core import Layer
from ..core.gpu_lowering import KERNELS, GpuLowering
from ..core.layer import Window
from ..core.lowering import Lowering
from .columns import DEVICE, ColumnConvolution, convolution_of
from .convolution_host import HOST, HostConvolution
from .convolution_pairs import PAIRS, PairedConvolution
from .gpu_lowerings import Convolve, alone
from .int8_lowerings import in_int8
from .lowerings import ConvolutionLowering, DepthwiseLowering
from .sizes import Sizes, scratch

RUN, BLOCKS = 2**13, 2**10  # differences that a block of a bias' gradient adds up at least, and the most blocks
Axes = Sequence[int]


class WindowLayer(Layer):
    """The base of the layers with a convolution_param.

    num_output, bias_term, group, axis; kernel_size, pad, stride, dilation: once for all spatial axes or once for each,
    or as kernel_h and kernel_w and so on. Several bottoms of one shape go through the same weights to as many tops.
    force_nd_im2col and engine change nothing: every number of axes has one way to be computed on a device.
    """

    kernels, host = DEVICE, HOST
    spreads = False  # whether forward is the adjoint
    can_pair, paired = False, False  # whether its products can be of pairs of bfloat16, and are
    sizes: Sizes | None = None
    made: HostConvolution | ColumnConvolution | None = None

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.convolution_param
        self.channel_axis = self.output_axis = self.axis(bottom[0], p.axis)
        self.outputs, self.bias_term = p.num_output, p.bias_term
        self.need(self.outputs > 0, "num_output must be at least 1; the prototxt gives none")
        self.need(not p.relu, "relu: true, of Intel's Caffe, is not known here; write a ReLU layer after this one")
        self.need(
            not (p.pad_type or p.pad_l or p.pad_r or p.pad_t or p.pad_b),
            "pad_type, pad_l, pad_r, pad_t and pad_b, of Synopsys' Caffe, are not known here; write pad_h and pad_w",
        )
        axes = len(bottom[0].shape) - self.channel_axis - 1
        self.read_window(axes)
        self.channels = bottom[0].shape[self.channel_axis]
        self.group = self.groups()
        self.need(self.group > 0, f"group must be at least 1, got {self.group}")
        for subject, count in (("the bottom's channels", self.channels), ("num_output", self.outputs)):
            self.need(count % self.group == 0, f"{subject}, {count}, cannot be divided into {self.group} groups")
        self.parameter(0, self.weights_shape(), p.weight_filler)
        if self.bias_term:
            self.parameter(1, (self.outputs,), p.bias_filler)
        self.sizes, self.made = None, None

    @classmethod
    def window_of(cls, param: LayerParameter) -> Window | None:
        p = param.convolution_param
        pairs = {
            name: [getattr(p, f"{name}_h"), getattr(p, f"{name}_w")] if p.HasField(f"{name}_h") else []
            for name in ("kernel", "stride", "pad", "dilation")
        }
        kernel, stride = pairs["kernel"] or list(p.kernel_size) or [0], pairs["stride"] or list(p.stride) or [1]
        pad, dilation = pairs["pad"] or list(p.pad) or [0], pairs["dilation"] or list(p.dilation) or [1]
        return Window(p.axis, kernel, stride, pad, dilation, cls.spreads)

    def read_window(self, axes: int) -> None:
        """Reads and checks kernel, stride, pad and dilation along each spatial axis."""
        self.kernel = self.per_axis("kernel_size", "kernel", axes, None)
        self.stride = self.per_axis("stride", "stride", axes, 1)
        self.pad = self.per_axis("pad", "pad", axes, 0)
        dilation = self.per_axis("dilation", "dilation", axes, 1)
        # Caffe takes 0 along an axis where the kernel is 1
        self.dilation = tuple(1 if kernel == 1 else by for kernel, by in zip(self.kernel, dilation))
        for name in ("kernel", "stride", "dilation"):
            values = getattr(self, name)
            self.need(min(values, default=1) > 0, f"{name} must be at least 1 along each axis, got {list(values)}")
        self.extent = tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation))

    def groups(self) -> int:
        """Into how many groups channels and maps are divided."""
        return int(self.param.convolution_param.group)

    def weights_shape(self) -> tuple[int, ...]:
        raise NotImplementedError(f"{self} has no weights_shape")

    def per_axis(self, field: str, short: str, axes: int, default: int | None) -> tuple[int, ...]:
        """A repeated field, or its _h and _w, as one number for each spatial axis."""
        p = self.param.convolution_param
        values = tuple(getattr(p, field))
        pair = f"{short}_h", f"{short}_w"
        if any(p.HasField(name) for name in pair):
            self.need(not values, f"{field} and {' or '.join(pair)} are both given; give one of them")
            self.need(axes == 2, f"{' and '.join(pair)} are for 2 spatial axes, the bottom has {axes}; give {field}")
            return tuple(getattr(p, name) for name in pair)
        if default is not None:
            values = values or (default,)
        self.need(values or axes == 0, f"{field} is missing")
        self.need(
            len(values) in (0, 1, axes),
            f"{field} is given {len(values)} times, {list(values)}; give it once, or for each of {axes} spatial axes",
        )
        return values * axes if len(values) == 1 else values

    def spatial(self, bottom: list[Blob], top: list[Blob]) -> tuple[int, ...]:
        """The spatial shape of the bottoms, which must be of one shape and have the channels that setup saw."""
        self.need(len(bottom) == len(top), f"needs one top for each bottom, got {len(bottom)} and {len(top)}")
        shape = self.axes(bottom[0], self.channel_axis + 1 + len(self.kernel))
        for blob in bottom[1:]:
            self.need(blob.shape == shape, f"bottoms must have one shape, got {shape} and {blob.shape}")
        channels = shape[self.channel_axis]
        wanted = self.channels
        self.need(channels == wanted, f"the weights are for {wanted} channels, the bottom now has {channels}")
        return shape[self.channel_axis + 1 :]

    def map_of(self, image: Axes) -> tuple[int, ...]:
        """How many windows there are along each axis of an image."""
        for size, pad, extent in zip(image, self.pad, self.extent):
            self.need(
                size + 2 * pad >= extent,
                f"the kernel reaches over {list(self.extent)} pixels (kernel {list(self.kernel)}, dilation "
                f"{list(self.dilation)}), the bottom has {list(image)} and pad {list(self.pad)}: it does not fit",
            )
            self.need(
                size + 2 * pad < 2**31, f"the bottom has {list(image)} and pad {list(self.pad)}: beyond 2147483647"
            )
        return tuple((i + 2 * p - e) // s + 1 for i, p, e, s in zip(image, self.pad, self.extent, self.stride))

    def plan(self, bottom: list[Blob], channels: int, image: Axes, maps: int, map: Axes) -> tuple[int, ...]:
        """Chooses how to compute for these sizes; returns the bottoms' axes before the channels."""
        before = bottom[0].shape[: self.channel_axis]
        window = self.kernel, self.stride, self.pad, self.dilation
        apart = self.device.reproducible
        sizes = Sizes(prod(before), channels, maps, self.group, tuple(image), tuple(map), *window, apart)
        if sizes != self.sizes:
            self.sizes, self.made = sizes, None
            if self.device.kind != "cpu" or len(image) > 2:
                self.made = convolution_of(sizes, self.device, self.dtype)
        return before

    def shared_bytes(self, bottom: Sequence[Blob], top: Sequence[Blob], backward: bool) -> int:
        if self.sizes is None or not min(bottom[0].count, top[0].count):
            return 0
        learns = backward and self.param_propagate_down[0]
        sums = self.outputs * self.bias_parts(top[0]) if backward and self.bias_term else 0
        room = max(int(self.convolution.room(self.dtype, backward or self.spreads, learns)), sums)
        return int(room * self.dtype.itemsize)

    @property
    def convolution(self) -> HostConvolution | ColumnConvolution:
        """What computes for the sizes of the last reshape; on the CPU made when it is asked for: most plans do without."""
        if self.made is None:
            assert self.sizes is not None
            self.made = (PairedConvolution if self.paired else HostConvolution)(self.sizes, self.device)
        return self.made

    def round_products(self) -> None:
        if self.can_pair and len(self.kernel) <= 2:
            self.device.build(PAIRS, self.dtype)
            self.paired, self.made = True, None

    @property
    def bias(self) -> AnyArray | None:
        return self.blobs[1].data if self.bias_term else None

    def bias_backward(self, top: Blob) -> None:
        if self.bias_term and self.param_propagate_down[1] and top.count:
            places = prod(top.shape[self.channel_axis + 1 :])
            images, channels, parts = prod(top.shape[: self.channel_axis]), self.outputs, self.bias_parts(top)
            sums = self.blobs[1].diff if parts == 1 else scratch(self.device, channels * parts, self.dtype)
            self.kernels.bias_backward(channels * parts, top.diff, sums, channels, images, places, parts)
            if parts > 1:
                self.kernels.bias_total(channels, sums, self.blobs[1].diff, parts)

    def bias_parts(self, top: Blob) -> int:
        """Into how many parts the sum of a channel is cut, so that blocks enough share the work."""
        outputs: int = self.outputs
        return max(1, min(top.count // outputs // RUN, BLOCKS // outputs))


class ConvolutionLayer(WindowLayer):
    """Convolution's three verbs, with as many groups as `groups` says."""

    gpu_files, can_pair = (KERNELS,), True

    def weights_shape(self) -> tuple[int, ...]:
        return self.outputs, self.channels // self.group, *self.kernel

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        image = self.spatial(bottom, top)
        map = self.map_of(image)
        before = self.plan(bottom, self.channels, image, self.outputs, map)
        for blob in top:
            blob.reshape(*before, self.outputs, *map)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        for x, y in zip(bottom, top):
            self.convolution.correlate(x.data, self.blobs[0].data, self.bias, y.data, False)

    def lower(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        if len(bottom) > 1 or self.channel_axis != 1 or len(self.kernel) != 2:
            return None
        names = ("kernel", "stride", "pad", "dilation")
        window = {name: (getattr(self, name)[0], getattr(self, name)[1]) for name in names}
        bias = self.blobs[1] if self.bias_term else None
        if self.group == self.channels == self.outputs:
            return DepthwiseLowering(self.device, self.dtype, self.blobs[0], bias, window)
        if self.channels // self.group < 4 and self.group > 1:
            return None  # neither vectors of channels nor long sums
        places = prod(top[0].shape[2:])
        return ConvolutionLowering(self.device, self.dtype, self.blobs[0], bias, self.group, window, places=places)

    def lower_int8(self, bottom: list[Blob], top: list[Blob]) -> Lowering | None:
        return in_int8(self.lower(bottom, top), bottom, top)

    def lower_gpu(self, bottom: list[Blob], top: list[Blob]) -> GpuLowering | None:
        return Convolve(self) if alone(bottom, top) and self.channel_axis == 1 else None

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        weights = self.blobs[0]
        for down, x, y in zip(propagate_down, bottom, top):
            self.bias_backward(y)
            if self.param_propagate_down[0]:
                self.convolution.gradient(x.data, y.diff, weights.diff)
            if down:
                self.convolution.spread(y.diff, weights.data, None, x.diff)
