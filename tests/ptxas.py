"""What nvcc says of each kernel: registers, shared memory, and spills (registers that did not fit, kept in memory)."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from boxpresso.device import cache
from boxpresso.device.cuda import FLAGS, HEADERS
from boxpresso.device.signature import defines

PACKAGE = HEADERS.parent
ARCHITECTURES = (75, 80, 90, 120)  # Turing, the oldest that CUDA 13 has; Ampere, Hopper, Blackwell
ENTRY = re.compile(r"Compiling entry function '(\w+)' for 'sm_(\d+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")


@dataclass(frozen=True)
class Use:
    """One kernel on one architecture; bytes, stack and spills for each thread, shared memory for each block."""

    kernel: str
    architecture: int
    registers: int
    shared: int
    stack: int
    spills: int


class DoesNotCompile(Exception):
    """nvcc's own message."""


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.cu"))


def of_regions(path: Path) -> bool:
    """Whether these are kernels of a region layer."""
    return b'"region.h"' in cache.sources(path, HEADERS)


def compile(path: Path, real: str, codes: Iterable[tuple[int, Iterable[int]]], output: Path) -> list[Use]:
    """Compiles a file with the real nvcc, as device/cuda.py does. codes: the architecture whose features the text may use,
    and those that it is assembled for."""
    command = [
        "nvcc",
        *FLAGS,
        "-Xptxas",
        "-v",
        *defines(real),
        f"-I{HEADERS}",
        "-fatbin",
        str(path),
        "-o",
        str(output),
    ]
    for virtual, architectures in codes:
        listed = ",".join(f"sm_{a}" for a in architectures)
        command += ["-gencode", f"arch=compute_{virtual},code=[{listed}]"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise DoesNotCompile(f"{' '.join(command)}\n{result.stderr}")
    found, name, architecture, stack, spills = [], "", 0, 0, 0
    for line in result.stderr.splitlines():
        if entry := ENTRY.search(line):
            name, architecture = entry[1], int(entry[2])
        elif frame := STACK.search(line):
            stack, spills = int(frame[1]), int(frame[2]) + int(frame[3])
        elif used := USED.search(line):
            found.append(Use(name, architecture, int(used[1]), int(used[2] or 0), stack, spills))
    return found
