"""How a kernel's arguments lie: as Packed passes them, as nvcc and as the host's compiler have them; and how large they are."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import ptxas
import pytest

from boxpresso.device.cubin import FLAGS
from boxpresso.device.kernel import Kernels
from boxpresso.device.packed import Packed
from boxpresso.device.signature import Kernel, Parameter, Struct, real_of

PASSED = 4096  # bytes of arguments that every GPU takes
REALS = {"float": np.dtype(np.float32), "double": np.dtype(np.float64), "half": np.dtype(np.float16)}
SCALARS = {
    "int": np.dtype(np.int32),
    "unsigned": np.dtype(np.uint32),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}


def structs() -> Iterator[Struct]:
    """Every struct that is an argument of a kernel, once."""
    seen = {}
    for path in ptxas.files():
        for kernel in Kernels(path).table.values():
            for parameter in kernel.parameters:
                if parameter.struct is not None:
                    seen[parameter.struct] = None
    return iter(seen)


def text(real: str) -> str:
    """A C++ text that does not compile where a struct lies otherwise than Packed has it."""
    lines = ["#include <cstddef>"]
    for number, struct in enumerate(structs()):
        dtype = struct.dtype(REALS[real])
        members = "".join(
            f"  {real if field.kind == 'Real' else field.kind} {field.name}{'' if field.count is None else f'[{field.count}]'};\n"
            for field in struct.fields
        )
        lines.append(f"namespace n{number} {{ struct {struct.name} {{\n{members}}};")
        lines.append(
            f"static_assert(sizeof({struct.name}) == {dtype.itemsize} && alignof({struct.name}) == {dtype.alignment});"
        )
        assert dtype.fields is not None
        for name, (_, at, *_) in dtype.fields.items():
            lines.append(f"static_assert(offsetof({struct.name}, {name}) == {at});")
        lines.append("}")
    return "\n".join(lines) + "\n"


@pytest.mark.later(one_of="compiler")
@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("compiler", ["nvcc", "host"])
def test_structs_lie_as_the_compilers_have_them(compiler, real, tmp_path):
    source = text(real)
    assert source.count("struct ") > 10
    for planted in (False, True):
        file = tmp_path / f"structs{planted}.cu"
        file.write_text(source.replace("== 4);", "== 5);", 1) if planted else source)
        if compiler == "nvcc":
            if shutil.which("nvcc") is None:
                pytest.skip("nvcc is not on PATH")
            command = ["nvcc", "--ptx", *FLAGS, "-arch", "compute_90", str(file), "-o", str(tmp_path / "out")]
        else:
            command = [os.environ.get("CXX", "g++"), "-std=c++17", "-fsyntax-only", "-x", "c++", str(file)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode != 0) == planted, done.stderr[-2000:]


def places(kernel: Kernel, real: np.dtype) -> list[tuple[int, int]]:
    """Where each argument begins and how many bytes it takes, by C's rules."""
    made, at = [], 0
    for parameter in kernel.parameters:
        if parameter.pointer:
            size = align = 8
        elif parameter.struct is not None:
            dtype = parameter.struct.dtype(real_of(real))
            size, align = dtype.itemsize, dtype.alignment
        else:
            size = align = parameter.dtype(real).itemsize
        at += -at % align
        made.append((at, size))
        at += size
    return made


@pytest.mark.parametrize("real", REALS)
def test_arguments_fit_and_lie_as_they_are_passed(real: str):
    """In 4096 bytes, each at a multiple of its alignment."""
    seen = 0
    for path in ptxas.files():
        for kernel in Kernels(path).table.values():
            if real == "half" and not kernel.halves:
                continue
            pack, wanted = Packed(kernel, REALS[real]).pack, places(kernel, REALS[real])
            values = [one_of(kernel.parameters[i], size, REALS[real]) for i, (_, size) in enumerate(wanted)]
            for i, (at, size) in enumerate(wanted):
                made = pack(*(value[int(i == j)] for j, value in enumerate(values)))
                where = [k for k, byte in enumerate(made) if byte]
                assert where == list(range(at, at + size)), f"{kernel}: argument {kernel.parameters[i].name}"
            assert len(made) == wanted[-1][0] + wanted[-1][1] <= PASSED, str(kernel)
            seen += 1
    assert seen > (30 if real == "half" else 200)


def one_of(parameter: Parameter, size: int, real: np.dtype) -> tuple[Any, Any]:
    """A zero for an argument, and a value without a byte that is zero."""
    raw = bytes([1]) * size
    if parameter.pointer:
        return 0, int.from_bytes(raw, "little")
    if parameter.struct is not None:
        return bytes(size), raw
    value = np.frombuffer(raw, parameter.dtype(real))[0].item()
    return type(value)(0), value
