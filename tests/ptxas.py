"""What nvcc says of each kernel: registers, shared memory, and spills (registers that did not fit, kept in memory)."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from boxpresso.device import cache
from boxpresso.device.compiler import CONNECT, LAUNCHING, launchers
from boxpresso.device.cubin import FLAGS, HEADERS
from boxpresso.device.kernel import Kernels
from boxpresso.device.signature import defines

PACKAGE = HEADERS.parent
ARCHITECTURES = (75, 80, 90, 120)  # Turing, the oldest that CUDA 13 has; Ampere, Hopper, Blackwell
ENTRY = re.compile(r"Compiling entry function '(\w+)' for 'sm_(\d+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
INCLUDED = re.compile(r'^\s*#include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)
WORD = re.compile(r"\w+")
MACRO = re.compile(r"^\s*#define\s+(\w+)", re.M)
CONSTANT = re.compile(r"^(?:constexpr \w+|struct) (\w+)", re.M)  # or a struct


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


def includes(path: Path) -> list[tuple[str, Path | None]]:
    """What a text itself includes: as it may stand behind #include anywhere, and the file, None for one of the system."""
    included: list[tuple[str, Path | None]] = []
    for own, system in INCLUDED.findall(path.read_text(encoding="utf-8")):
        header = (path.parent / own if (path.parent / own).exists() else HEADERS / own).resolve()
        included.append((f'"{header}"', header) if own else (f"<{system}>", None))
    return included


def headers(path: Path) -> list[Path]:
    """The files that a text includes, directly or not."""
    included: dict[Path, None] = {}
    for _, header in includes(path):
        if header:
            included |= dict.fromkeys([*headers(header), header])
    return list(included)


def together(paths: Sequence[Path], ends: Sequence[str] = ()) -> str:
    """One text of several files of kernels, each in a namespace of its own, so that a compiler starts once for all of them.

    Headers come first and once, as those of a namespace would be seen there alone; a file's macros end with it. `ends`: what
    each file is followed by.
    """
    lines = list(dict.fromkeys(f"#include {name}" for path in paths for name, _ in includes(path)))
    for number, path in enumerate(paths):
        lines += [f"namespace file_{number} {{", f'#include "{path}"', *ends[number : number + 1], "}"]
        lines += [f"#undef {name}" for name in MACRO.findall(path.read_text(encoding="utf-8"))]
    return "\n".join(lines) + "\n"


def launched(paths: Sequence[Path]) -> str:
    """Files of kernels with their launchers, as device/compiler.py compiles them one by one, in one text."""
    common = CONNECT.format(suffix="")
    ends = [launchers(Kernels(str(p))).partition(common)[2] for p in paths]
    return f"{LAUNCHING}\n{common}{together(paths, ends)}"


class Group:
    """Files that may stand in one text: no two kernels of one name, as these have C's names, no two headers' constants or structs of
    one name, and no macro of a header reaches a file that uses its name otherwise."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self.kernels: set[str] = set()
        self.macros: dict[str, Path] = {}  # the header that defines each
        self.constants: dict[str, Path] = {}  # likewise
        self.plain: set[str] = set()  # words of files in which these are no macros

    def take(self, path: Path) -> bool:
        """Adds a file where it may stand with the others; whether it was added."""
        kernels, words = set(Kernels(str(path)).table), set(WORD.findall(cache.sources(path, HEADERS).decode()))
        texts = {header: header.read_text(encoding="utf-8") for header in headers(path)}
        macros = {name: header for header, text in texts.items() for name in MACRO.findall(text)}
        constants = {name: header for header, text in texts.items() for name in CONSTANT.findall(text)}
        plain = words - macros.keys()
        clash = any(self.macros.get(name, header) != header for name, header in macros.items())
        clash = clash or any(self.constants.get(name, header) != header for name, header in constants.items())
        if clash or kernels & self.kernels or plain & self.macros.keys() or self.plain & macros.keys():
            return False
        self.files.append(path)
        self.kernels |= kernels
        self.macros |= macros
        self.constants |= constants
        self.plain |= plain
        return True


def groups(paths: Iterable[Path], size: int) -> list[tuple[Path, ...]]:
    """Files in as few groups as `together` can be given, of at most `size` each."""
    made: list[Group] = []
    for path in paths:
        if not any(len(group.files) < size and group.take(path) for group in made):
            made.append(Group())
            assert made[-1].take(path)
    return [tuple(group.files) for group in made]


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
    uses, name, architecture, stack, spills = [], "", 0, 0, 0
    for line in result.stderr.splitlines():
        if entry := ENTRY.search(line):
            name, architecture = entry[1], int(entry[2])
        elif frame := STACK.search(line):
            stack, spills = int(frame[1]), int(frame[2]) + int(frame[3])
        elif used := USED.search(line):
            uses.append(Use(name, architecture, int(used[1]), int(used[2] or 0), stack, spills))
    return uses
