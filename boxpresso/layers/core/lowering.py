"""How a layer runs in a plan at TEST on the CPU: on channels-last arrays, with what follows it done in its store.

`Layer.lower` gives a Lowering, `Layer.fuse` what an earlier layer can do in the layer's place. The passes over a plan
(graph/passes.py) ask for both and know nothing else of a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Union

import numpy as np

from ...device import AnyArray, Device, Kernels
from ...device.chain import Chain
from ...device.kernel import Kernel
from ...device.signature import BFLOAT16

BF16 = Kernels(Path(__file__).with_name("bf16.cpp"))
POINTWISE, POINTWISE_BF16, TURN_BF16 = (
    Kernels(Path(__file__).with_name(f"{name}.cpp")) for name in ("depthwise_last", "depthwise_bf16", "turn_bf16")
)
SMALLEST_STEP = 2.0**-100  # of numbers in 8 bits: 1 / that is a float too
VECTOR = 16  # numbers of the longest vector: what arrays of a number a channel are padded to
Numbers = np.ndarray[Any, np.dtype[Any]]


def bf16_available(device: Device) -> bool:
    """Whether the CPU multiplies pairs of bfloat16."""
    yes = np.zeros(1, np.int32)
    BF16.on(device).bf16_available(1, yes)
    return bool(yes[0])


# What an earlier layer can do in a layer's place


@dataclass(frozen=True)
class Affine:
    """x * scale + shift: float64 arrays of a number a channel; None is 1, or 0."""

    scale: Numbers | None
    shift: Numbers | None

    def then(self, other: Affine) -> Affine:
        """This, then the other."""
        scale = product(self.scale, other.scale)
        shift = product(self.shift, other.scale) if self.shift is not None else None
        if other.shift is not None:
            shift = other.shift if shift is None else shift + other.shift
        return Affine(scale, shift)


def product(a: Numbers | None, b: Numbers | None) -> Numbers | None:
    """Of two factors, of which None is 1."""
    return b if a is None else a if b is None else a * b


def folded(
    weights: Numbers, bias: Numbers | None, affine: Affine, channels: int, scaled: Callable[[Numbers, Numbers], Numbers]
) -> tuple[Numbers, Numbers]:
    """Weights and bias in float64 with an affine map of so many channels folded into them; scaled: `Layer.scaled`."""
    weights = np.asarray(weights, np.float64)
    total = np.zeros(channels) if bias is None else np.asarray(bias, np.float64).reshape(-1)
    if affine.scale is not None:
        scale = np.broadcast_to(affine.scale, (channels,))
        weights, total = scaled(weights, scale), total * scale
    return weights, total if affine.shift is None else total + affine.shift


@dataclass(frozen=True)
class Activation:
    """What epilogue.h does: RELU, LEAKY with `slope`, SLOPES with one a channel, CLIP to `low` and `high`."""

    kind: str
    slope: float = 0.0
    low: float = -inf
    high: float = inf
    slopes: Numbers | None = None


# Where a value lies


@dataclass(frozen=True)
class Scale:
    """What a number of 8 bits stands for: scale * (q - zero) * factor of its channel, with q and zero from 0 to 255.

    Attributes
    ----------
    means
        The mean number of each channel, by which a reader's bias is corrected; empty where they are not known.
    factors
        Of each channel, at most 1: channels of small numbers have smaller steps. Empty: all are 1.

    Examples
    --------
    >>> Scale.of(-1.0, 3.0)
    Scale(scale=0.01568627450980392, zero=64, means=(), factors=())
    >>> Scale.of(0.5, 25.5)
    Scale(scale=0.1, zero=0, means=(), factors=())
    """

    scale: float
    zero: int
    means: tuple[float, ...] = ()
    factors: tuple[float, ...] = ()

    @classmethod
    def of(cls, low: float, high: float, means: tuple[float, ...] = (), factors: tuple[float, ...] = ()) -> Scale:
        """That of numbers from `low` to `high`, and 0, which it holds exactly, as padding and ReLU need."""
        low, high = min(low, 0.0), max(high, 0.0)
        scale = max((high - low) / 255, SMALLEST_STEP) if high > low else 1.0
        return cls(scale, min(255, max(0, round(-low / scale))), means, factors)


@dataclass(frozen=True)
class Extent:
    """How an array lies in flat memory: element (n, c, y, x) at n * step + (y * width + x) * pitch + c, channels last.

    Of pitch 0 it is planes, as Caffe has them: element (n, c, y, x) at n * step + (c * height + y) * width + x.
    """

    images: int
    channels: int
    height: int
    width: int
    pitch: int
    step: int

    @property
    def places(self) -> int:
        """Pixels of an image."""
        return self.height * self.width

    @property
    def inner(self) -> bool:
        """Whether there is nothing between the elements of an image."""
        return self.pitch == self.channels or self.places == 1

    @property
    def whole(self) -> bool:
        """Whether there is nothing between any elements."""
        return self.inner and (self.images == 1 or self.step == self.places * self.channels)

    @property
    def contiguous_images(self) -> bool:
        """Whether the images lie beside each other."""
        return self.images == 1 or self.step == self.places * self.pitch

    @property
    def length_of_one(self) -> int:
        """The elements of memory from the first to the last one of an image."""
        return (self.places - 1) * self.pitch + self.channels

    @property
    def length(self) -> int:
        """The elements of memory from the first to the last one."""
        return self.length_of_one + (self.images - 1) * self.step


@dataclass(frozen=True)
class Last(Extent):
    """An array where it lies; with a `scale` its elements are bytes."""

    memory: Numbers  # flat, from the first element on
    scale: Scale | None = None

    def image(self, number: int) -> Last:
        """One of the images."""
        return replace(self, memory=self.memory[number * self.step :], images=1)


@dataclass(frozen=True)
class After:
    """What is done with the sums of a lowering before they are stored: + bias, + addend, activation, maximum of 2 x 2."""

    affine: Affine = Affine(None, None)
    activation: Activation | None = None
    channels: int = 0
    halved: bool = False

    def arrays(
        self, device: Device, dtype: Any, bias: Numbers | None
    ) -> tuple[Numbers | None, Numbers | None, Numbers | None]:
        """Scale, bias and slopes, padded so that a kernel may read whole vectors. bias: the layer's own."""
        total = None if bias is None else np.asarray(bias, np.float64).reshape(-1)
        if total is not None and self.affine.scale is not None:
            total = total * self.affine.scale
        if self.affine.shift is not None:
            total = self.affine.shift if total is None else total + self.affine.shift
        slopes = self.activation.slopes if self.activation else None
        return tuple(padded(device, v, self.channels, dtype) for v in (self.affine.scale, total, slopes))  # type: ignore[return-value]  # three


def padded(device: Device, values: Numbers | None, channels: int, dtype: Any) -> Numbers | None:
    """A number a channel, or one for all, with room for whole vectors from any channel on."""
    if values is None:
        return None
    array: Numbers = device.empty((channels + 2 * VECTOR,), dtype)
    array[:channels] = values
    return array


# Kinds of lowering


class Lowering:
    """How a layer runs on channels-last arrays.

    Attributes
    ----------
    absorbs
        Of "affine", "sum", "activation" and "halves": what it can do with its sums before they are stored.
    what
        What it is to who reads a plan.
    launches
        Whether it runs kernels on arrays of two or four axes, rather than tells how values relate.
    heavy
        Whether it is worth turning its bottoms into this layout.
    contiguous
        Whether its arrays must have nothing between their elements.
    together
        Whether it is better given all images at once.
    halves
        Whether it is the maximum of each 2 x 2 pixels, those of an odd last row or column alone.
    planar
        Up to so many channels it takes bottom 0 as planes, as a Last of pitch 0, rather than turned.
    fast
        Set before `prepare`: whether sums may be less exact than float32's, to some 1e-5 of the largest.
    takes
        Of which layout its bottoms are: "last", or "int8" of a lowering in 8 bits, "bfloat16" of one on maps in bfloat16.
    linear
        Whether it multiplies its bottom by weights of its own: on maps in bfloat16 that is worth turning them.
    keeps_numbers
        Whether each number of the top is one of a bottom: then in 8 bits both are by one Scale.
    """

    absorbs: frozenset[str] = frozenset()
    what = "layer"
    launches = True
    heavy = True
    contiguous = False
    together = False
    halves = False
    planar = 0
    fast = False
    takes = "last"
    linear = False
    keeps_numbers = False

    def files(self) -> Sequence[Kernels]:
        """The files of the kernels that it launches, so that a net can compile them all at once."""
        return ()

    def prepare(self, after: After) -> None:
        """Takes what is done after the sums, and the layer's parameters as they are now; before `record`."""

    def packs(self, bottom: Last, top: Last, halved: bool) -> tuple[str, int]:
        """The form in which `record` packs the parameters for these arrays, which may lack their memory, and its bytes.

        halved: whether the maximum of each 2 x 2 is stored, as `prepare` is told.
        """
        return "", 0

    def worker_room(self, bottom: Last, top: Last, halved: bool) -> int:
        """The elements of memory that the kernels of these arrays ask `scratch` (checked.h) for, in each worker; of so few that
        they do not count, 0. The arrays may lack their memory."""
        return 0

    def in_bf16(self) -> Lowering | None:
        """The same on maps in bfloat16, with sums in float32, and a top that is stored so or as floats; None without a form."""
        return None

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        """Appends the launches for these arrays to a chain."""
        raise NotImplementedError


class Same(Lowering):
    """Every top is bottom 0."""

    launches = False


class View(Lowering):
    """The top is bottom 0 under another shape."""

    launches = False


class LastView(Lowering):
    """The top's elements lie as those of bottom 0 do when its channels are last."""

    launches = False


class Constant(Lowering):
    """The tops depend on the shapes of the bottoms alone."""

    launches = False


@dataclass
class Join(Lowering):
    """The bottoms beside each other along an axis."""

    axis: int
    launches = False
    keeps_numbers = True


ALL = frozenset({"affine", "sum", "activation"})


def layout(
    kernels: Any, bottom: Last, top: Last, addend: Last | None, activation: Activation | None, halved: bool = False
) -> Any:
    """epilogue.h's Layout."""
    a = activation or Activation("")
    constants = kernels.constants
    return kernels.struct(
        "Layout", images=top.images, bottom_pitch=bottom.pitch, bottom_step=bottom.step, top_pitch=top.pitch,
        top_step=top.step, other_pitch=addend.pitch if addend else 0, other_step=addend.step if addend else 0,
        activation=constants[a.kind] if a.kind else 0, halved=int(halved), slope=float(a.slope), low=float(a.low),
        high=float(a.high),
    )  # fmt: skip


def by_type(array: Last | None) -> tuple[Numbers | None, Numbers | None]:
    """The memory of a map in bfloat16, and that of one of floats: one of them is None, both where there is no array."""
    if array is None:
        return None, None
    return (array.memory, None) if array.memory.dtype == BFLOAT16 else (None, array.memory)


def turn_bf16(chain: Chain, source: Last, target: Last) -> None:
    """Appends the launch that takes an array in bfloat16 to floats, from them, or elsewhere. Floats of pitch 0 are planes."""
    halves, other = (source, target) if source.memory.dtype == BFLOAT16 else (target, source)
    kernel = TURN_BF16.from_bf16 if halves is source else TURN_BF16.to_bf16
    if other.memory.dtype == BFLOAT16:
        kernel, halves, other = TURN_BF16.copy_bf16, target, source
    sizes = TURN_BF16.struct(
        "Bf16Turn", channels=halves.channels, places=halves.places, pitch=other.pitch, step=other.step,
        half_pitch=halves.pitch, half_step=halves.step,
    )  # fmt: skip
    blocks = source.images * -(-halves.places // TURN_BF16.constants["SPAN"])
    chain.add(kernel, blocks, source.memory, target.memory, sizes)


class Pointwise(Lowering):
    """BatchNorm, Scale, an activation or a sum on its own, and copies: top = activation(bottom * scale + bias + addend).

    Parameters
    ----------
    affine, activation
        What the layer itself is, where it is one of them.
    coefficient
        Of bottom 0, where the layer is a sum; bottom 1 is then added.
    """

    heavy = False
    absorbs = ALL

    def __init__(
        self,
        device: Device,
        dtype: Any,
        affine: Any = None,
        activation: Any = None,
        coefficient: float = 1.0,
        sums: bool = False,
    ) -> None:
        self.device, self.dtype, self.affine, self.activation = device, np.dtype(dtype), affine, activation
        self.coefficient, self.sums = coefficient, sums
        if activation is not None:
            self.absorbs = frozenset()
        elif sums:
            self.absorbs = frozenset({"activation"})

    def files(self) -> Sequence[Kernels]:
        return [POINTWISE] if self.takes == "last" else [POINTWISE_BF16, TURN_BF16]

    def in_bf16(self) -> Lowering | None:
        return bf16_form(self)

    def prepare(self, after: After) -> None:
        own = self.affine() if self.affine else Affine(None, None)
        if self.coefficient != 1:
            own = Affine(np.full(after.channels, self.coefficient), None)
        joined = own.then(after.affine)
        self.now: Activation | None = self.activation() if self.activation else after.activation
        self.scale, self.bias, self.slopes = After(joined, self.now, after.channels).arrays(
            self.device, self.dtype, None
        )

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        bottom, addend = bottoms[0], bottoms[1] if self.sums else addend
        geometry = dict.fromkeys(("kernel_h", "kernel_w", "stride_h", "stride_w", "dilation_h", "dilation_w"), 1)
        # Rows are what workers share.
        height, width = (top.height, top.width) if top.height >= 16 else (top.places, 1)
        kernels = self.files()[0]
        sizes = kernels.struct(
            "Geometry", channels=top.channels, maps=top.channels, group=top.channels, height=height, width=width,
            out_height=height, out_width=width, pad_h=0, pad_w=0, **geometry,
        )  # fmt: skip
        last = self.takes == "last"
        chain.add(
            kernels.kernel("depthwise_last" if last else "depthwise_bf16"), top.images * height, bottom.memory, self.scale,
            self.bias, self.slopes, addend.memory if addend else None, *([top.memory] if last else by_type(top)), sizes,
            layout(kernels, bottom, top, addend, self.now),
        )  # fmt: skip


def bf16_form(lowering: Lowering) -> Lowering:
    """A lowering as it is for float32, on maps in bfloat16: one that asks its `takes` what it launches."""
    form = copy(lowering)
    form.takes = "bfloat16"
    return form


class Elementwise(Lowering):
    """A kernel (n, bottom, top, *numbers) that takes each element alone."""

    heavy = False
    contiguous = True

    def __init__(self, kernel: Kernel, numbers: Sequence[float]) -> None:
        self.kernel, self.numbers = kernel, numbers

    def files(self) -> Sequence[Kernels]:
        return [self.kernel.file] if isinstance(self.kernel.file, Kernels) else []

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        count = top.images * top.places * top.channels
        chain.add(self.kernel, count, bottoms[0].memory, top.memory, *self.numbers)


class Combine(Lowering):
    """The first two bottoms taken together element by element, then that with the third, and so on.

    Parameters
    ----------
    steps
        For each but the first bottom a kernel (n, a, b, top, *numbers) and its numbers; top may be a.
    """

    heavy = False
    contiguous = True

    def __init__(self, steps: Sequence[tuple[Kernel, Sequence[float]]]) -> None:
        self.steps = steps

    def files(self) -> Sequence[Kernels]:
        return [kernel.file for kernel, _ in self.steps if isinstance(kernel.file, Kernels)]

    def record(self, chain: Chain, bottoms: Sequence[Last], top: Last, addend: Last | None) -> None:
        count, first = top.images * top.places * top.channels, bottoms[0].memory
        for (kernel, numbers), bottom in zip(self.steps, bottoms[1:], strict=True):
            chain.add(kernel, count, first, bottom.memory, top.memory, *numbers)
            first = top.memory


class Planes(Lowering):
    """A layer of one bottom and top that only launches kernels, on arrays as Caffe lays them out.

    Parameters
    ----------
    kernels
        Their files.
    launches_of
        Called with launch(kernel, *arguments) and the arrays of bottom and top.
    """

    launches = False

    def __init__(self, kernels: Sequence[Kernels], launches_of: Callable[[Launch, AnyArray, AnyArray], None]) -> None:
        self.kernels, self.launches_of = kernels, launches_of

    def files(self) -> Sequence[Kernels]:
        return self.kernels


Launch = Callable[..., None]
Fusible = Union[Affine, Activation]
