"""Kernels: the functions of one .cu file, checked against their own signatures before they are launched.

The `.cu` text is the single truth. Names, order and types of a kernel's arguments, its constants and its structs are read
from it. `const Real*` is read, `Real*` is written; that alone decides what is copied between host and device. `Store*` is as
`Real*`, but takes float16 and bfloat16, too, and then the arithmetic, Real, is in float32.

A layer names its file as an attribute of the class; each layer gets it bound to its device, and calls a kernel by its name:

    class ReLU(Layer, type="ReLU", bottoms=1, tops=1):
        kernels = Kernels("relu.cu")          # beside the module of the class
        ...
        self.kernels.relu_forward(n, x, y, slope)

Elsewhere the file is named by its whole path, and the device is handed in: `KERNELS.on(device).scaled(n, x, y, 0.5)`.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union, overload

from ..proto.errors import KernelError
from .device import Device
from .signature import Kernel, KernelFile, StructValue, real_of

__all__ = ["BoundKernel", "BoundKernels", "Kernel", "Kernels", "StructValue", "real_of"]


class BoundKernel:
    """A kernel and the device that it runs on. `n` = 0 runs nothing. None is a null pointer."""

    __slots__ = ("device", "kernel")

    def __init__(self, kernel: Kernel, device: Device) -> None:
        self.kernel, self.device = kernel, device

    def __call__(self, *args: Any) -> None:
        self.device.launch(self.kernel, self.kernel.real(args), args)


class BoundKernels:
    """A file of kernels on one device: each kernel is an attribute, called with the arguments that its signature names."""

    def __init__(self, file: Kernels, device: Device) -> None:
        self.file, self.device = file, device

    def __getattr__(self, name: str) -> BoundKernel:
        if name.startswith("__"):
            raise AttributeError(name)
        bound = self.bound(name)
        setattr(self, name, bound)
        return bound

    def bound(self, name: str) -> BoundKernel:
        """The kernel of that name on the device."""
        return BoundKernel(self.file.kernel(name), self.device)

    @property
    def constants(self) -> Mapping[str, int]:
        """As Kernels.constants."""
        return self.file.constants

    def struct(self, struct_name: str, /, **values: Any) -> StructValue:
        """As Kernels.struct."""
        return self.file.struct(struct_name, **values)

    def __repr__(self) -> str:
        return f"{self.file!r} on {self.device.name}"


class Kernels(KernelFile):
    """The kernels of one `.cu` (both devices) or `.cpp` (host only) file.

    Compiled on first use for the dtype of the arrays that they are called with, and cached on disk.

    Parameters
    ----------
    file
        Its path; as an attribute of a class it may be relative to the folder of the class's module.
    options
        Further compiler options, for both compilers. UNFUSED: no product and sum are one operation, so that both devices round
        alike.

    Raises
    ------
    KernelError
        On use: a name that the file lacks, wrong arguments, a text that does not compile.
    """

    declared: weakref.WeakSet[Kernels] = weakref.WeakSet()  # all of this process

    def __init__(self, file: Union[str, Path], *options: str) -> None:
        self.name, self.options = Path(file), options
        Kernels.declared.add(self)

    def __set_name__(self, owner: type, name: str) -> None:
        module = getattr(sys.modules.get(owner.__module__), "__file__", None)
        if not self.name.is_absolute() and module:
            self.name = Path(module).resolve().parent / self.name

    @overload
    def __get__(self, instance: None, owner: type) -> Kernels: ...

    @overload
    def __get__(self, instance: object, owner: type) -> BoundKernels: ...

    def __get__(self, instance: Any, owner: type) -> Union[Kernels, BoundKernels]:
        """As an attribute: of a class itself, of an object bound to the object's `device`."""
        return self if instance is None else self.on(instance.device)

    @property
    def path(self) -> Path:  # type: ignore[override]  # known once the class is
        """Its absolute path. Raises KernelError where it is not known."""
        if not self.name.is_absolute():
            raise KernelError(f"Kernels({str(self.name)!r}) is not an attribute of a class: give the whole path")
        return self.name

    def on(self, device: Device) -> BoundKernels:
        """These kernels on a device. The CPU has them once; a GPU would not go before they do, and nets make GPUs anew."""
        if device.kind != "cpu":
            return BoundKernels(self, device)
        bound: BoundKernels | None = device.memo.get(self)
        if bound is None:
            bound = device.memo[self] = BoundKernels(self, device)
        return bound

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.kernel(name)

    def __repr__(self) -> str:
        return f"Kernels({self.name.name!r})"
