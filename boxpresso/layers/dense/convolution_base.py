"""What Convolution, Deconvolution and DepthwiseConvolution share: their parameter, one linear map and its adjoints.

An "image" is the larger side, a "map" the side that has one place for each window: Convolution goes from image to map,
Deconvolution from map to image. Weights are (maps, channels / group, *kernel) for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...device import AnyArray, Blob, Device, Kernels, blas
from ...proto import LayerParameter
from ..core import Layer
from ..core.gpu_lowering import KERNELS, GpuLowering
from ..core.layer import Window
from ..core.lowering import Lowering
from .columns import DEVICE, ColumnConvolution, convolution_of
from .gpu_lowerings import Convolve, alone
from .int8_lowerings import in_int8
from .lowerings import ConvolutionLowering, DepthwiseLowering
from .sizes import GEOMETRY, SMALL, Sizes, scratch

HOST = Kernels(Path(__file__).with_name("convolution.cpp"))
PACKED = 2**24  # elements of a gradient that are packed at once
FEW, MANY = 2**16, 2**11  # weights of a group, and places of all images, from which on blocks share the places
TILES, ROOM = 2**10, 16  # tiles of 2 x 2 places whose points are taken at once, and what the last vector may run over
PIECE = 2**16  # elements of the map that such a block packs at once
RUN, BLOCKS = 2**13, 2**10  # differences that a block of a bias' gradient adds up at least, and the most blocks
LOOSE, LISTED = 8, 2**24  # elements that planes with their padding may have for one without, and taps of all phases
Axes = Sequence[int]


class HostConvolution:
    """One and two spatial axes on the CPU: the kernels of convolution.cpp."""

    def __init__(self, sizes: Sizes, device: Device) -> None:
        self.sizes, self.device, self.kernels = sizes, device, HOST.on(device)
        s = sizes
        self.geometry, self.back = self.struct(s), s.adjoint
        if self.back is not None:
            self.geometry_back = self.struct(self.back)
        # Channels of a block where columns are written out: enough rows for the tiles, enough blocks for the workers.
        fair = s.images * s.channels // (4 * device.workers)
        self.each = max(1, min(-(-144 // s.taps), s.inner, fair))
        # Whether the kernels of planes take memory in proportion: not where padding, stride or dilation are far larger.
        enough = LOOSE * (s.pixels + max(1, s.maps // s.channels) * s.places) + PIECE if s.depthwise else 0
        self.by_planes = s.depthwise and s.phased <= enough
        listed = prod(s.stride) * s.taps * max(1, s.maps // s.channels) if s.depthwise else 0
        self.by_pixels = s.depthwise and not s.sparse and s.received <= enough and listed <= LISTED

    def struct(self, s: Sizes) -> Any:
        axes = dict(zip(GEOMETRY, s.padded(2), strict=True))
        return self.kernels.struct("Geometry", channels=s.channels, maps=s.maps, group=s.group, **axes)

    def correlate(self, image: AnyArray, weights: AnyArray, bias: AnyArray | None, map: AnyArray, relu: bool) -> None:
        """map = weights * image + bias (None: no bias), and its ReLU where asked."""
        s = self.sizes
        if self.by_planes:
            self.kernels.depthwise_correlate(s.images * s.channels, image, weights, bias, map, self.geometry, relu)
            return
        if s.winograd and image.dtype == np.float32:
            points = scratch(self.device, 16 * s.maps * s.inner, image.dtype)
            self.winograd(s, self.geometry, image, weights, points, bias, map, relu)
            return
        self.plainly(s, self.geometry, image, weights, bias, map, relu)

    def room(self, dtype: Any, down: bool, learns: bool) -> int:
        """Elements of the shared memory that it needs, and of what its workers have for themselves. down, learns: whether for
        the gradients of bottom and weights too."""
        s, single = self.sizes, dtype == np.float32
        own = self.worker_room(single, down, learns)
        counts = [16 * s.maps * s.inner if s.winograd and single else 0]
        if down and self.back is not None and not self.by_pixels:
            counts.append((25 if self.back.winograd and single else int(s.identity)) * s.maps * s.inner)
        if learns and not self.by_planes:
            counts.append(self.gradient_room(single))
        return max(counts) + (self.device.workers * own if own > SMALL else 0)

    def worker_room(self, single: bool, down: bool, learns: bool) -> int:
        """Elements that the kernels of convolution.cpp ask `scratch` for, in each worker."""
        s, c = self.sizes, self.kernels.constants
        packed = (c["HIGH"] + 8) * c["DEPTH"]
        columns = 0 if s.identity else c["TAPS"] * c["PLACES"]
        counts = [s.phased if self.by_planes else self.points_of(s) if s.winograd and single else 0]
        if down:
            back = self.back
            if self.by_pixels:
                counts.append(s.received)
            elif back is not None and back.winograd and single:
                counts.append(self.points_of(back))
            elif not s.identity:
                counts.append(
                    min(columns, self.each * s.taps * c["PLACES"]) + min(packed, self.each * s.taps * c["DEPTH"])
                )
        if learns and self.by_planes:
            counts.append(s.phased + 16 * s.taps * (s.maps // s.channels))
        elif learns:
            each = max(1, min(-(-144 // s.taps), s.inner))
            wide = max(each * s.taps * s.filters, PIECE + 48 * c["PLACES"])
            counts.append(wide + min(columns, each * s.taps * c["PLACES"]))
        return max(counts)

    @staticmethod
    def points_of(s: Sizes) -> int:
        """Elements that a worker of `winograd` has for the points of its tiles."""
        across = (s.map[1] + 1) // 2
        tiles = max(1, round(96 / across)) * across + 16
        return 16 * (s.inner + s.filters) * tiles

    def gradient_room(self, single: bool) -> int:
        """The same, for the gradient of the weights."""
        s, cut = self.sizes, self.kernels.constants["CUT"]
        if s.winograd and s.group == 1 and single:
            return sum(self.points_room()[-1])
        if s.depth * s.filters <= FEW and s.images * s.places >= MANY:
            return s.group * self.places_room()[2] * s.depth * s.filters
        room = -(-s.filters // cut) * cut * s.places
        return min(s.images, max(1, PACKED // max(1, s.group * room))) * s.group * room

    def points_room(self) -> tuple[int, int, int, int, tuple[int, ...]]:
        """For `gradient_by_points`: rows of tiles and images at once, their tiles, the distance between points, and the
        elements of each part of its memory."""
        s, cut = self.sizes, self.kernels.constants["CUT"]
        across, down = (s.map[1] + 1) // 2, (s.map[0] + 1) // 2
        rows = min(down, max(1, TILES // across))
        together = min(s.images, max(1, TILES // (across * down))) if rows == down else 1
        tiles, weights = together * rows * across, s.channels * s.filters
        pitch = tiles + ROOM
        sizes = 16 * s.channels * pitch, 16 * -(-s.filters // cut) * cut * tiles, 16 * weights, 9 * weights
        return rows, together, tiles, pitch, sizes

    def places_room(self) -> tuple[int, int, int]:
        """For `gradient_by_places`: places at once, channels of a block, and into how many parts the places are cut."""
        s = self.sizes
        width, together = s.map[-1] if s.map else 1, max(1, min(PIECE // max(s.filters, 64), 1024))
        if width <= together:
            together = together // width * width  # whole rows
        each = max(1, min(-(-144 // s.taps), s.inner))
        return together, each, max(1, min(16, s.images * -(-s.places // together)))

    def plainly(
        self,
        s: Sizes,
        geometry: Any,
        image: AnyArray,
        weights: AnyArray,
        bias: AnyArray | None,
        map: AnyArray,
        relu: bool,
    ) -> None:
        """`correlate` of sizes `s` by panels of columns."""
        high, wide, blocks = blas.blocks(self.device.workers, s.filters, s.places, s.images * s.group)
        self.kernels.correlate(s.images * s.group * blocks, image, weights, bias, map, geometry, relu, high, wide)

    def winograd(
        self, s: Sizes, geometry: Any, image: AnyArray, weights: AnyArray, points: AnyArray, bias: AnyArray | None,
        map: AnyArray, relu: bool,
    ) -> None:  # fmt: skip
        """`correlate` of sizes `s` by products of points, for which there is room in `points`."""
        self.kernels.winograd_weights(s.maps, weights, points, s.inner)
        across, down = (s.map[1] + 1) // 2, (s.map[0] + 1) // 2
        rows = max(1, round(96 / across))  # enough tiles for two panels
        blocks = s.images * s.group * -(-down // rows)
        self.kernels.winograd(blocks, image, weights, points, bias, map, geometry, relu, rows)

    def spread(self, map: AnyArray, weights: AnyArray, bias: AnyArray | None, image: AnyArray) -> None:
        """The adjoint in the image: image = weights^T * map + bias of the channel."""
        s, back = self.sizes, self.back
        if self.by_pixels:  # else each pixel would look at many taps without a place
            self.kernels.depthwise_spread(s.images * s.channels, map, weights, bias, image, self.geometry)
        elif back is not None and back.winograd and map.dtype == np.float32:
            room = scratch(self.device, 25 * s.maps * s.inner, map.dtype)
            points = self.device.part(room, 0, (16 * s.maps * s.inner,))
            turned = self.device.part(room, 16 * s.maps * s.inner, (9 * s.maps * s.inner,))
            self.kernels.turn_weights(s.channels, weights, turned, self.geometry)
            self.winograd(back, self.geometry_back, map, turned, points, bias, image, False)
        elif back is not None and s.identity:
            turned = scratch(self.device, s.maps * s.inner, map.dtype)
            blocks = s.group * -(-s.inner // self.kernels.constants["CUT"])
            self.kernels.turn_points(blocks, weights, turned, self.geometry)
            self.plainly(back, self.geometry_back, map, turned, bias, image, False)
        else:
            blocks = s.images * s.group * -(-s.inner // self.each)
            self.kernels.spread(blocks, map, weights, bias, image, self.geometry, self.each)

    def gradient(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> None:
        """The adjoint in the weights: weights_diff += map * image^T."""
        s = self.sizes
        if self.by_planes:
            self.kernels.depthwise_weights(s.channels, image, map, weights_diff, self.geometry, s.images)
            return
        if (
            s.winograd
            and s.group == 1
            and image.dtype == np.float32
            and self.gradient_by_points(image, map, weights_diff)
        ):
            return
        if s.depth * s.filters <= FEW and s.images * s.places >= MANY:
            self.gradient_by_places(image, map, weights_diff)
            return
        cut = self.kernels.constants["CUT"]
        cuts = -(-s.filters // cut)
        room = cuts * cut * s.places
        each = max(1, min(-(-144 // s.taps), -(-s.channels // (4 * self.device.workers))))
        step = max(1, PACKED // (s.group * room))  # images at once; it orders the sums, so only sizes decide it
        for first in range(0, s.images, step):
            count = min(step, s.images - first)
            x = self.device.part(image, first * s.channels * s.pixels, (count, s.channels, s.pixels))
            y = self.device.part(map, first * s.maps * s.places, (count, s.maps, s.places))
            packed = scratch(self.device, count * s.group * room, image.dtype)
            self.kernels.pack_map(count * s.group * cuts, y, packed, self.geometry, room)
            blocks = s.group * -(-s.inner // each)
            self.kernels.weights_gradient(blocks, x, packed, weights_diff, self.geometry, count, each, room)

    def gradient_by_points(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> bool:
        """`gradient` of 3 x 3 windows by Winograd's transforms; False, and nothing is done, where it is not finite."""
        s, kernels = self.sizes, self.kernels
        across, down = (s.map[1] + 1) // 2, (s.map[0] + 1) // 2
        rows, together, _, pitch, sizes = self.points_room()
        blocks = -(-s.filters // kernels.constants["CUT"])
        room = scratch(self.device, sum(sizes), image.dtype)
        starts = [sum(sizes[:i]) for i in range(4)]
        points, panels, sums, taps = (self.device.part(room, at, (size,)) for at, size in zip(starts, sizes))
        sums.fill(0)
        each = -(-s.channels // max(1, min(4, s.channels // 64)))
        for first in range(0, s.images, together):
            count = min(together, s.images - first)
            x = self.device.part(image, first * s.channels * s.pixels, (count, s.channels, s.pixels))
            y = self.device.part(map, first * s.maps * s.places, (count, s.maps, s.places))
            for top in range(0, down, rows):
                high = min(rows, down - top)
                part = kernels.struct("Part", images=count, y0=top, rows=high, tiles=count * high * across)
                kernels.take_points(s.channels, x, points, self.geometry, part, pitch)
                kernels.spread_points(blocks, y, panels, self.geometry, part)
                kernels.add_points(
                    16 * -(-s.channels // each), points, panels, sums, self.geometry, part, pitch, each
                )  # fmt: skip
        wild = self.device.empty((s.channels,), np.int32)
        kernels.taps_of_points(s.channels, sums, taps, wild, s.filters)
        if np.any(wild):
            return False
        kernels.add_taps(blocks, taps, weights_diff, s.channels, s.filters)
        return True

    def gradient_by_places(self, image: AnyArray, map: AnyArray, weights_diff: AnyArray) -> None:
        """`gradient` of few weights: blocks share the places, not the weights."""
        s = self.sizes
        together, each, cuts = self.places_room()
        partial = scratch(self.device, s.group * cuts * s.depth * s.filters, image.dtype)
        args = image, map, partial, self.geometry, s.images, cuts, together, each
        self.kernels.weights_by_places(s.group * cuts, *args)
        blocks = s.group * -(-s.filters // self.kernels.constants["CUT"])
        self.kernels.join_weights(blocks, partial, weights_diff, s.filters, s.depth, cuts)


class WindowLayer(Layer):
    """The base of the layers with a convolution_param.

    num_output, bias_term, group, axis; kernel_size, pad, stride, dilation: once for all spatial axes or once for each,
    or as kernel_h and kernel_w and so on. Several bottoms of one shape go through the same weights to as many tops.
    force_nd_im2col and engine change nothing: every number of axes has one way to be computed on a device.
    """

    kernels, host = DEVICE, HOST
    spreads = False  # whether forward is the adjoint
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
            self.made = HostConvolution(self.sizes, self.device)
        return self.made

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

    gpu_files = (KERNELS,)

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
