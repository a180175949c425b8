"""cuDNN: where its library is, a handle and a workspace for each stream, and convolutions by it.

The calls are those of cuDNN 7, which versions 8 and 9 keep. An algorithm is taken from cuDNN's own heuristic once for a shape.
"""

from __future__ import annotations

import ctypes
import functools
import os
import warnings
import weakref
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..proto.errors import DeviceError, DeviceLost
from . import context
from .array import Array, recording
from .cuda import Allocation, Cuda
from .libraries import Unsuitable, find
from .libraries import usable as usable_on
from .prototypes import CUDNN

Pointer = ctypes.c_void_p
TYPES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}
SCALARS = {np.dtype(np.float32): ctypes.c_float, np.dtype(np.float64): ctypes.c_double}
CROSS_CORRELATION, NCHW, NHWC, DETERMINISTIC = 1, 0, 1, 1
DEFAULT_MATH, FMA_MATH = 0, 3  # the first lets float32 be rounded to TF32
RELU, IDENTITY, DROP_NAN = 1, 5, 0
PRECOMPUTED = 1  # CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, the only one that the fused call has without ReLU
NOT_SUPPORTED = {9, *range(3000, 4000)}  # statuses: of version 8, and of 9
FAILED = {
    3,
    4,
    8,
    2000,
    *range(4000, 6000),
}  # bad parameters, internal errors, failed executions: of one algorithm, as torch takes it
UNSUITABLE = {1, 6, *range(1001, 2000), *range(3000, 4000)}  # of cudnnCreate: another driver or GPU is needed
OTHERWISE = "convolutions are columns and matrix products"
MISALIGNED, ALIGNED = 2003, 16  # a status; bytes that tensor cores want an address to be a multiple of
MOST = 2**30  # bytes of workspace at most
KINDS = ("Forward", "BackwardData", "BackwardFilter")


class Perf(ctypes.Structure):
    """cudnnConvolutionFwdAlgoPerf_t, and its two like."""

    _fields_ = [
        ("algorithm", ctypes.c_int), ("status", ctypes.c_int), ("time", ctypes.c_float), ("memory", ctypes.c_size_t),
        ("determinism", ctypes.c_int), ("math", ctypes.c_int), ("reserved", ctypes.c_int * 3),
    ]  # fmt: skip


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library that is used (torch's, the pip wheel's or the CUDA toolkit's), None without one."""
    return find("cudnn", (9, 8), CUDNN, lambda library: library.cudnnGetCudartVersion() // 1000, OTHERWISE)


def usable(device: Cuda) -> bool:
    """Whether there is a library, and it works on this GPU with this driver."""
    return library() is not None and usable_on("cudnn", device.index, lambda: handle(device), OTHERWISE)


def version() -> str:
    """The version of the library that is found."""
    known = library()
    if known is None:
        return "unknown version"
    number = int(known.cudnnGetVersion())
    major, rest = divmod(number, 10000 if number >= 90000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def call(name: str, *args: Any, may_refuse: bool = False) -> bool:
    """Calls one of its functions. Raises DeviceError where it fails.

    may_refuse: where cuDNN does not have what is asked for, the result is False instead.
    """
    status = getattr(library(), name)(*args)
    if status == 0:
        return True
    if may_refuse and status in NOT_SUPPORTED:
        return False
    raise failure(name, status)


def failure(name: str, status: int) -> DeviceError:
    """What a function that failed says."""
    known = library()
    assert known is not None
    said = [known.cudnnGetErrorString(status).decode()]
    if hasattr(known, "cudnnGetLastErrorString"):  # from version 9 on
        text = ctypes.create_string_buffer(512)
        known.cudnnGetLastErrorString(text, ctypes.c_size_t(len(text)))
        said.append(text.value.decode(errors="replace"))
    error = Unsuitable if name == "cudnnCreate" and status in UNSUITABLE else DeviceError
    return error(f"{name} of cuDNN failed with status {status}: {' '.join(filter(None, said))}")


def handle(device: Cuda) -> Pointer:
    """The handle of a device, bound to its stream. It ends with the stream."""
    known: Pointer | None = device.memo.get("cudnn")
    if known is None:
        loaded = library()
        assert loaded is not None
        known = Pointer()
        with device, context.exclusive:
            call("cudnnCreate", ctypes.byref(known))
            device.ends.append(functools.partial(loaded.cudnnDestroy, known))
            call("cudnnSetStream", known, Pointer(device.stream.handle))
        device.memo["cudnn"] = known
    return known


def workspace(device: Cuda, size: int) -> int:
    """The address of memory that all convolutions of a stream share: they run one after the other."""
    if size == 0:
        return 0
    known: tuple[int, Allocation] | None = device.memo.get("cudnn workspace")
    if known is None or known[0] < size:
        device.memo.pop("cudnn workspace", None)
        known = device.memo["cudnn workspace"] = size, device.allocate(size)
    if recording.uses is not None:
        recording.uses.append((None, known[1], True))
    return int(known[1])


def ints(values: Sequence[int]) -> Any:
    """A C array."""
    return (ctypes.c_int * len(values))(*values)


class Descriptors:
    """cuDNN's descriptors that one convolution holds, destroyed with it."""

    def __init__(self, owner: object) -> None:
        self.made: list[tuple[Any, Pointer]] = []  # what destroys each, and each
        weakref.finalize(owner, self.end, self.made)

    @staticmethod
    def end(made: list[tuple[Any, Pointer]]) -> None:
        """Destroys them. They are the host's: no context is needed."""
        for destroy, one in made:
            destroy(one)

    def make(self, kind: str, setter: str, *args: Any) -> Pointer:
        """A descriptor with what its setter takes."""
        one = Pointer()
        call(f"cudnnCreate{kind}Descriptor", ctypes.byref(one))
        self.made.append((getattr(library(), f"cudnnDestroy{kind}Descriptor"), one))
        call(setter, one, *args)
        return one

    def tensor(self, dtype: int, shape: Sequence[int], last: bool = False) -> Pointer:
        """An array without gaps of (images, channels, *size), whose channels lie first or last."""
        order = [0, *range(2, len(shape)), 1] if last else range(len(shape))  # from the slowest axis
        steps, step = [0] * len(shape), 1
        for axis in reversed(order):
            steps[axis], step = step, step * shape[axis]
        return self.make("Tensor", "cudnnSetTensorNdDescriptor", dtype, len(shape), ints(shape), ints(steps))


class Convolution:
    """One convolution: its descriptors, and the algorithm of each of its three products, chosen when first needed.

    Parameters
    ----------
    device, dtype
        The GPU, and float32 or float64.
    images, channels, maps, group
        Their numbers.
    image, map, kernel, stride, pad, dilation
        A number for each of two or three spatial axes.
    last
        Whether the arrays are channels last, (images, *size, channels), and filters (maps, *kernel, channels / group). cuDNN
        has this for two spatial axes and float32.

    Attributes
    ----------
    chosen
        {"Forward", "BackwardData" or "BackwardFilter": (algorithm, bytes of workspace), None where cuDNN has none}.
    others
        The same keys: all algorithms that are left, (algorithm, bytes, math), the chosen one first.
    """

    def __init__(
        self, device: Cuda, dtype: np.dtype[Any], images: int, channels: int, maps: int, group: int, image: Sequence[int],
        map: Sequence[int], kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int], dilation: Sequence[int],
        *, last: bool = False,
    ) -> None:  # fmt: skip
        self.device, self.dtype, self.scalar, self.last = device, dtype, SCALARS[dtype], last
        kind, make = TYPES[dtype], Descriptors(self)
        self.x = make.tensor(kind, (images, channels, *image), last)
        self.y = make.tensor(kind, (images, maps, *map), last)
        self.b = make.tensor(kind, (1, maps, *(1,) * len(map)), last)
        filters, form = (maps, channels // group, *kernel), NHWC if last else NCHW
        self.w = make.make("Filter", "cudnnSetFilterNdDescriptor", kind, form, len(filters), ints(filters))
        window = len(pad), ints(pad), ints(stride), ints(dilation), CROSS_CORRELATION, kind
        self.by = make.make("Convolution", "cudnnSetConvolutionNdDescriptor", *window)
        call("cudnnSetConvolutionGroupCount", self.by, group)
        self.math = -1  # what the descriptor says
        self.set_math(DEFAULT_MATH if device.fast_math else FMA_MATH)
        nothing = ctypes.c_double(0)
        self.relu, self.identity = (
            make.make("Activation", "cudnnSetActivationDescriptor", mode, DROP_NAN, nothing)
            for mode in (RELU, IDENTITY)
        )
        self.chosen: dict[str, tuple[int, int] | None] = {}
        self.others: dict[str, list[tuple[int, int, int]]] = {}  # algorithm, bytes, math: the chosen one first
        self.fused = {
            True: True,
            False: True,
        }  # by whether there is a ReLU: whether the fused call is known to be refused

    def algorithm(self, kind: str) -> tuple[int, int] | None:
        """The best algorithm that fits what is wanted, and the bytes of its workspace: by cuDNN's heuristic, or with
        BOXPRESSO_GPU_FIND=1 as cuDNN measures them, but for deterministic=True: what is measured may differ from run to run."""
        if kind not in self.chosen:
            with self.device:
                self.others[kind] = self.candidates(kind)
            self.choose(kind)
        return self.chosen[kind]

    def choose(self, kind: str) -> None:
        """Takes the first of the algorithms that are left."""
        first = self.others[kind][:1]
        self.chosen[kind] = first[0][:2] if first else None

    def candidates(self, kind: str) -> list[tuple[int, int, int]]:
        """The algorithms that fit, the fastest first: (algorithm, bytes, math).

        cuDNN lists algorithms in more than one math, whatever the descriptor says, and it is for the caller to set the math of
        the one that is taken. Where float32 is to be exact the descriptor stays at FMA, whatever is said of an algorithm, and
        the bytes that it then needs are asked for.
        """
        descriptors = {
            "Forward": (self.x, self.w, self.by, self.y), "BackwardData": (self.w, self.y, self.by, self.x),
            "BackwardFilter": (self.x, self.y, self.by, self.w),
        }[kind]  # fmt: skip
        results, count = (Perf * 16)(), ctypes.c_int()
        finds = os.environ.get("BOXPRESSO_GPU_FIND") == "1" and not self.device.deterministic
        name = f"cudnn{'Find' if finds else 'Get'}Convolution{kind}Algorithm{'' if finds else '_v7'}"
        self.set_math(DEFAULT_MATH if self.device.fast_math else FMA_MATH)
        with context.exclusive if finds else nullcontext():  # to measure waits for the GPU
            if not call(
                name, handle(self.device), *descriptors, len(results), ctypes.byref(count), results, may_refuse=True
            ):
                return []
        known = [perf for perf in results[: count.value] if self.fits(perf)]
        if self.device.fast_math:
            return [(perf.algorithm, perf.memory, perf.math) for perf in known]
        made = [(perf.algorithm, perf.memory, FMA_MATH) for perf in known if perf.math == FMA_MATH]
        for perf in known:
            size = ctypes.c_size_t()
            if perf.algorithm in (one[0] for one in made):
                continue
            name, asked = f"cudnnGetConvolution{kind}WorkspaceSize", (perf.algorithm, ctypes.byref(size))
            if call(name, handle(self.device), *descriptors, *asked, may_refuse=True) and size.value <= MOST:
                made.append((perf.algorithm, size.value, FMA_MATH))
        return made

    def fits(self, perf: Perf) -> bool:
        """Whether an algorithm exists, needs a workspace that can be had, and adds in one order where that is wanted."""
        ordered = not self.device.deterministic or perf.determinism == DETERMINISTIC
        return perf.status == 0 and perf.memory <= MOST and ordered

    def set_math(self, math: int) -> None:
        """What the descriptor lets cuDNN do with the factors of a product."""
        if math != self.math:
            call("cudnnSetConvolutionMathType", self.by, math)
            self.math = math

    def run(
        self, kind: str, name: str, args: Sequence[Any], arrays: Sequence[Array | None], optional: bool = False
    ) -> bool:
        """Calls a function with the handle before and the workspace in place of "workspace" among its arguments.

        An algorithm that cuDNN refuses after all is left out from then on, but for arrays whose addresses it cannot take, and
        the next is tried; False where there is none. optional: that the function is refused says nothing of the algorithm.
        """
        at = args.index("workspace")
        if self.algorithm(kind) is None:
            return False
        for one in list(self.others[kind]):
            algorithm, size, math = one
            self.set_math(math)
            with self.device, self.device.among(a for a in arrays if a is not None):
                space = algorithm, Pointer(workspace(self.device, size)), ctypes.c_size_t(size)
                status = getattr(library(), name)(handle(self.device), *args[:at], *space, *args[at + 1 :])
                if status in FAILED and self.device.lost():
                    raise DeviceLost(f"{failure(name, status)}; {context.LOST}")
            if status == 0:
                return True
            if status != MISALIGNED and status not in NOT_SUPPORTED and status not in FAILED:
                raise failure(name, status)
            if optional:
                return False
            if status in FAILED:
                warnings.warn(
                    f"algorithm {algorithm} is left out for a convolution: {failure(name, status)}", stacklevel=2
                )
            if status != MISALIGNED:
                self.others[kind].remove(one)
                self.choose(kind)
        return False

    def number(self, value: float) -> Any:
        """A pointer to a number of the dtype that is computed in."""
        return ctypes.byref(self.scalar(value))

    def forward(self, x: Array, w: Array, y: Array) -> bool:
        """y = w * x; False where cuDNN has no algorithm."""
        read = self.x, Pointer(x.address(False)), self.w, Pointer(w.address(False)), self.by
        args = [self.number(1), *read, "workspace", self.number(0), self.y, Pointer(y.address(True))]
        return self.run("Forward", "cudnnConvolutionForward", args, (x, w, y))

    def forward_after(self, x: Array, w: Array, bias: Array, other: Array | None, y: Array, relu: bool) -> bool:
        """y = w * x + bias + other, and its ReLU where asked, in one call; False where cuDNN has no such call for it.

        A ReLU of cuDNN's makes 0 of NaN.
        """
        chosen = self.algorithm("Forward") if self.dtype == np.float32 else None
        if chosen is None or not self.fused[relu] or (not relu and chosen[0] != PRECOMPUTED):
            return False
        target = Pointer(y.address(True))
        added = target if other is None else Pointer(other.address(False))
        read = self.x, Pointer(x.address(False)), self.w, Pointer(w.address(False)), self.by
        args = [
            self.number(1), *read, "workspace", self.number(0 if other is None else 1), self.y, added, self.b,
            Pointer(bias.address(False)), self.relu if relu else self.identity, self.y, target,
        ]  # fmt: skip
        name = "cudnnConvolutionBiasActivationForward"
        done = self.run("Forward", name, args, (x, w, bias, other, y), optional=True)
        self.fused[relu] = done or any(a.address(False) % ALIGNED for a in (x, w, y))
        return done

    def backward_data(self, y: Array, w: Array, x: Array) -> bool:
        """x = the adjoint of w in y; False where cuDNN has no algorithm."""
        read = self.w, Pointer(w.address(False)), self.y, Pointer(y.address(False)), self.by
        args = [self.number(1), *read, "workspace", self.number(0), self.x, Pointer(x.address(True))]
        return self.run("BackwardData", "cudnnConvolutionBackwardData", args, (x, w, y))

    def backward_filter(self, x: Array, y: Array, w: Array) -> bool:
        """w += the gradient of the filters; False where cuDNN has no algorithm."""
        read = self.x, Pointer(x.address(False)), self.y, Pointer(y.address(False)), self.by
        args = [self.number(1), *read, "workspace", self.number(1), self.w, Pointer(w.address(True))]
        return self.run("BackwardFilter", "cudnnConvolutionBackwardFilter", args, (x, w, y))
