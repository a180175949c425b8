"""Kernels: the functions of one .cu file, checked against their own signatures and launched where their arrays live.

The `.cu` text is the single truth. `Kernels("permute.cu").permute_forward(n, x, y, ...)` reads the names, order and types of
the arguments from it. `const Real*` is read, `Real*` is written; that alone decides what is copied between host and device.
`Store*` is as `Real*`, but takes float16 too, and then the arithmetic, Real, is in float32.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..proto.errors import KernelError, nearest

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
SIGNATURE = re.compile(r"^KERNEL\s+(\w+)\s*\(([^)]*)\)", re.M)
PARAMETER = re.compile(r"^(const )?(int|unsigned|float|double|Real|Store) (\* )?(?:__restrict__ )?(\w+)$")
TYPES: dict[str, np.dtype[Any]] = {"int": np.dtype(np.int32), "unsigned": np.dtype(np.uint32), "float": np.dtype(np.float32),
         "double": np.dtype(np.float64)}  # fmt: skip
REALS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.float16): "half"}


def real_of(dtype: Any) -> np.dtype[Any]:
    """What kernels compute in when their Store arrays have that dtype: float32 for float16, else the dtype itself."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float16 else dtype)


def defines(real: str) -> tuple[str, ...]:
    """The compiler options that say what Real and Store are, for one of the names in REALS."""
    return ("-DReal=float", "-DStore=half") if real == "half" else (f"-DReal={real}",)


@functools.cache
def devices() -> Any:
    """The module that knows them, which needs this one first."""
    from . import open as device

    return device


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel, as its signature declares it."""

    name: str
    kind: str  # int, unsigned, float, double, Real or Store
    pointer: bool
    const: bool

    def dtype(self, real: np.dtype) -> np.dtype:
        return real_of(real) if self.kind == "Real" else TYPES.get(self.kind, real)


class Kernel:
    """One kernel of a file: call it with the arguments that its signature names."""

    def __init__(self, file: Kernels, name: str, parameters: Sequence[Parameter], blocks: bool) -> None:
        self.file, self.name, self.parameters, self.blocks = file, name, tuple(parameters), blocks
        pointers = [i for i, p in enumerate(parameters) if p.pointer]
        stores = [i for i in pointers if parameters[i].kind == "Store"]
        self.reals = stores or [i for i in pointers if parameters[i].kind == "Real"] or pointers
        self.halves = bool(stores)  # whether it takes float16

    def __call__(self, *args: Any) -> None:
        """Runs the kernel on the device of its arrays. `n` = 0 runs nothing. None is a null pointer."""
        if len(args) != len(self.parameters):
            names = ", ".join(p.name for p in self.parameters)
            raise KernelError(f"{self} takes {len(self.parameters)} arguments ({names}), got {len(args)}")
        first = next((args[i] for i in self.reals if args[i] is not None), None)
        real: Any = getattr(first, "dtype", None)
        if real not in REALS or (real == np.float16 and not self.halves):
            real = np.dtype(np.float32)
        device = getattr(first, "device", "cpu")
        if isinstance(device, str):  # numpy's own arrays say "cpu"
            device = devices().open_device("cpu")
        device.launch(self, real, args)

    def reject(self, parameter: Parameter, wanted: str, seen: Any) -> KernelError:
        return KernelError(f"{self}: argument {parameter.name!r} must be {wanted}, got {seen}")

    def __str__(self) -> str:
        return f"kernel {self.name} of {self.file.path.name}"


class Kernels:
    """The kernels of one `.cu` (both devices) or `.cpp` (host only) file beside the module that names it.

    Compiled on first use for the dtype of the arrays that they are called with, and cached on disk.
    Raises KernelError for a name that the file lacks, wrong arguments, or a text that does not compile.
    """

    def __init__(self, file: str, *options: str) -> None:
        self.path = Path(sys._getframe(1).f_globals["__file__"]).resolve().parent / file
        self.options = options  # further compiler options, for both compilers
        self.host_only = self.path.suffix == ".cpp"

    @functools.cached_property
    def text(self) -> str:
        return COMMENT.sub(" ", self.path.read_text(encoding="utf-8"))

    @functools.cached_property
    def adds(self) -> bool:
        """Whether threads of a block may add to one place: on a GPU their order decides the last bits."""
        return re.search(r"\badd\(", self.text) is not None

    @functools.cached_property
    def table(self) -> dict[str, Kernel]:
        found = list(SIGNATURE.finditer(self.text))
        ends = [m.start() for m in found[1:]] + [len(self.text)]
        table = {}
        for match, end in zip(found, ends):
            parameters = [self.parameter(match[1], text) for text in match[2].split(",")]
            if not parameters or (parameters[0].kind, parameters[0].pointer) != ("int", False):
                raise KernelError(f"kernel {match[1]} of {self.path.name}: the first argument must be `int n`")
            table[match[1]] = Kernel(self, match[1], parameters, "BLOCK_LOOP" in self.text[match.end() : end])
        return table

    def parameter(self, kernel: str, text: str) -> Parameter:
        match = PARAMETER.match(" ".join(text.replace("*", " * ").split()))
        if match is None:
            raise KernelError(
                f"kernel {kernel} of {self.path.name}: cannot read argument {text.strip()!r}; "
                "it must be int, unsigned, float, double or Real, or a (const) pointer to one or to Store"
            )
        if match[2] == "Store" and match[3] is None:
            raise KernelError(
                f"kernel {kernel} of {self.path.name}: {match[4]!r} must be Real; Store is for pointers alone"
            )
        return Parameter(match[4], match[2], match[3] is not None, match[1] is not None)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self.table:
            raise KernelError(f"{self.path.name} has no kernel {name!r}{nearest(name, self.table)}")
        kernel = self.table[name]
        setattr(self, name, kernel)
        return kernel

    def __repr__(self) -> str:
        return f"Kernels({self.path.name!r})"
