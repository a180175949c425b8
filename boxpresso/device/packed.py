"""How the arguments of a kernel lie beside each other in a GPU's launch."""

from __future__ import annotations

import struct
from typing import Any

from .signature import FORMATS, DType, Kernel, real_of


class Packed:
    """How the arguments of a kernel lie beside each other for a launch, and what they are checked against."""

    def __init__(self, kernel: Kernel, real: DType) -> None:
        self.arrays: list[tuple[int, DType, bool]] = []  # place among the arguments, dtype, whether it is written
        self.structs: list[tuple[int, Any, DType]] = []
        self.numbers: list[int] = []
        self.addresses: list[tuple[int, int]] = []  # where an array's address lies, and its place among the arguments
        text, at = "<", 0
        for i, parameter in enumerate(kernel.parameters):
            dtype = parameter.dtype(real)
            if parameter.pointer:
                self.arrays.append((i, dtype, not parameter.const))
                code, size, align = "Q", 8, 8
            elif parameter.struct is not None:
                dtype = parameter.struct.dtype(real_of(real))
                self.structs.append((i, parameter.struct, dtype))
                code, size, align = f"{dtype.itemsize}s", dtype.itemsize, dtype.alignment
            else:
                self.numbers.append(i)
                code, size, align = FORMATS[dtype], dtype.itemsize, dtype.itemsize
            gap = -at % align
            if parameter.pointer:
                self.addresses.append((at + gap, i))
            text, at = f"{text}{gap}x{code}" if gap else text + code, at + gap + size
        self.pack = struct.Struct(text).pack
