"""How steps of a plan run on a GPU on arrays whose channels are last, as in the chains of convolutions of run/gpu/layout.py.

A blob keeps its shape, (N, C, H, W): what changes is the order in which its elements lie.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from math import prod
from typing import Any, cast
from weakref import ref

import numpy as np

from ...device import AnyArray, Array, Blob, Buffer, cudnn
from ...device.cuda import Cuda
from ..core.gpu_lowering import KERNELS, OnLast, Refused, state_of
from .columns import KEPT, CudnnConvolution, Finish, convolved, finish
from .sizes import Sizes


class LastConvolution:
    """A convolution by cuDNN on channels-last arrays."""

    def __init__(self, sizes: Sizes, device: Cuda, dtype: Any) -> None:
        self.sizes, self.device = sizes, device
        numbers = CudnnConvolution.by_axis(sizes.padded(2))
        self.by = cudnn.Convolution(
            device, np.dtype(dtype), sizes.images, sizes.channels, sizes.maps, sizes.group, *numbers, last=True
        )

    def apply(self, image: Array, filters: Array, map: Array, after: Finish) -> None:
        """map = filters * image, then what `after` says. Raises Refused."""
        rest = convolved(self.by, image, filters, map, after)
        if rest is None:
            s = self.sizes
            raise Refused(
                f"cuDNN has no convolution with channels last for {s.images} x {s.channels} x {list(s.image)}, kernel "
                f"{list(s.kernel)}, {s.maps} maps in {s.group} groups"
            )
        finish(self.device, map, rest, self.sizes.maps, 1)


def last_convolution(sizes: Sizes, device: Cuda, dtype: Any) -> LastConvolution:
    """The convolution of these sizes, with its algorithm, which the device keeps."""
    convolutions: OrderedDict[Any, LastConvolution] = device.memo.setdefault(
        "channels-last convolutions", OrderedDict()
    )
    key = sizes, np.dtype(dtype)
    known = convolutions.pop(key, None) or LastConvolution(sizes, device, dtype)
    convolutions[key] = known  # the latest is the last
    while len(convolutions) > KEPT:
        convolutions.popitem(last=False)
    return known


class Turned:
    """Filters of a convolution with channels last, and what the parameters that they were made of were."""

    def __init__(self, filters: AnyArray) -> None:
        self.filters = filters
        self.state: list[tuple[Buffer, int]] = []


class ConvolveLast(OnLast):
    """A convolution by cuDNN, with what follows it.

    `plain` is its lowering on planes, with what that has folded. Filters are (maps, *kernel, channels / group): turned once for
    all shapes of a plan, freed with the last step that has them.
    """

    what = "convolution"

    def __init__(self, plain: Any, added: bool) -> None:
        self.plain, self.layer, self.added = plain, plain.layer, added
        self.turned: Turned | None = None

    def about(self) -> tuple[Any, ...]:
        s = self.layer.sizes
        assert s is not None
        return (
            s.group,
            s.kernel,
            s.stride,
            s.pad,
            s.dilation,
            self.plain.activation.kind,
            self.added,
            len(self.layer.blobs),
        )

    @property
    def as_they_are(self) -> bool:
        """Whether filters lie in the same order in both layouts."""
        shape = self.layer.blobs[0].shape
        return bool(shape[1] == 1 or prod(shape[2:]) == 1)

    def parameters(self) -> Sequence[Blob]:
        return () if self.as_they_are else self.layer.blobs[:1]

    def filters(self) -> AnyArray:
        """The folded weights, or the layer's own."""
        weights: AnyArray = self.layer.blobs[0].data if self.plain.weights is None else self.plain.weights
        return weights

    def refresh(self) -> None:
        if self.as_they_are:
            return
        state, weights = state_of(self.layer.blobs[:1]), self.filters()
        known = self.plain.turned() if self.plain.turned is not None else None
        if known is None:
            known = Turned(self.plain.device.empty((weights.size,), weights.dtype))
            self.plain.turned = ref(known)
        if not known.state or (self.plain.weights is None and known.state != state):
            _, channels, *taps = self.layer.blobs[0].shape
            KERNELS.on(self.plain.device).filters_last(weights.size, weights, known.filters, channels, prod(taps))
            known.state = state
        self.turned = known

    def run(self, bottoms: Sequence[Blob], top: Blob) -> None:
        assert self.layer.sizes is not None
        if self.as_they_are:
            filters = self.filters()
        else:
            assert self.turned is not None
            filters = self.turned.filters
        added = bottoms[-1].data if self.added else None
        by = last_convolution(self.layer.sizes, cast(Cuda, self.layer.device), self.layer.dtype)
        by.apply(cast(Array, bottoms[0].data), cast(Array, filters), cast(Array, top.data), self.plain.after(added))


class PoolLast(OnLast):
    """Maxima or means of windows: to the bit those of Pooling's own forward, but for means of whole images."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def about(self) -> tuple[Any, ...]:
        layer = self.layer
        return layer.method, layer.kernel, layer.stride, layer.pad, layer.inside

    def run(self, bottoms: Sequence[Blob], top: Blob) -> None:
        layer, (images, channels, height, width) = self.layer, bottoms[0].shape
        pairs = {"kernel": layer.kernel, "stride": layer.stride, "pad": layer.pad}
        window = {f"{name}_{axis}": size for name, pair in pairs.items() for axis, size in zip("hw", pair)}
        kernels, high, wide = KERNELS.on(layer.device), *top.shape[2:]
        numbers = KERNELS.struct(
            "Pool", height=height, width=width, out_height=high, out_width=wide, inside=layer.inside, **window
        )
        if layer.wide:
            run = kernels.max_last_wide if layer.method == "MAX" else kernels.mean_last_wide
            run(
                images * high * wide * -(-channels // KERNELS.constants["GROUP"]),
                bottoms[0].data,
                top.data,
                numbers,
                channels,
            )
        else:
            run = kernels.max_last if layer.method == "MAX" else kernels.mean_last
            run(images * high * wide * -(-channels // 4), bottoms[0].data, top.data, numbers, channels)
