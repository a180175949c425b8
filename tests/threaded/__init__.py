"""Kernels on the host with threads, blocks and barriers that are real: is each right for every launch?

On the CPU a kernel runs as blocks of one thread, so a missing barrier changes nothing there. Here the same `.cu` text is
compiled with the words of a GPU (words.h, and kernel.h's own half for nvcc) and runs in blocks of fibres (fibres.cpp);
`Threaded` is a CPU device that runs every launch plainly, then so for many sizes of blocks and grids, and compares. What
it has recorded runs once more with real threads under ThreadSanitizer (threads.cpp).
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import shutil
import struct
import subprocess
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import ptxas
import pytest

from boxpresso.device import blas, cache, compiler, host
from boxpresso.device import open as device
from boxpresso.device.kernel import Kernels
from boxpresso.device.signature import (
    HEADERS,
    REALS,
    UNFUSED,
    Kernel,
    KernelFile,
    StructValue,
    defines,
    without_comments,
)
from boxpresso.layers.dense import convolution_base as convolution

HERE = Path(__file__).resolve().parent
EXACT = "-ffp-contract=off"  # both builds round each operation alike, so results are the same to the bit
FLAGS = ("-std=c++17", "-O1", "-g0", EXACT, "-fPIC", "-w", "-U_FORTIFY_SOURCE")
SANITIZE = ("-fsanitize=thread", "-g1", "-DREAL_THREADS")
ALONE = "-DSHARED_BY_NOBODY"
PLAIN = "".join(f"#include <{name}>\n" for name in ("cfloat", "cmath", "csignal"))  # what a plain build reads first
TOGETHER = 8  # files that are built as one library
THREADS = (1, 7, 32, 128)
BLOCKS = (1, 3, None)  # None: a block for each item of a BLOCK_LOOP, a thread for each item of a GRID_LOOP
SHARED = re.compile(rb"^(?!\s*//|#define SHARED).*\bSHARED\b", re.M)  # where a text has shared memory
SCALARS = {"int": "i4x", "unsigned": "I4x", "float": "f4x", "double": "d", "half": "f4x"}
SLOT = 8  # bytes of an argument


def make(name: str, text: str, *flags: str) -> Path:
    """Compiles a text, or takes it from the kernel cache."""
    path = cache.folder() / f"{name}-{cache.key(text, *flags, compiler.identity())}"
    if not path.exists():
        made = cache.temporary(path)
        command = [*compiler.compiler(), *flags, "-x", "c++", "-", "-o", str(made)]
        result = subprocess.run(command, input=text, text=True, capture_output=True)
        assert result.returncode == 0, f"{name}: {' '.join(command)}\n{result.stderr}"
        os.replace(made, path)
    return path


@functools.cache
def prelude(text: str, *flags: str) -> tuple[str, ...]:
    """The options that put a text before others: compiled in advance where the compiler can, which saves a third of the time
    of a small file."""
    header = cache.folder() / f"prelude-{cache.key(text, *flags, compiler.identity())}.h"
    if not header.exists():
        copy = cache.temporary(header).with_suffix(".h")
        copy.write_text(text, encoding="utf-8")
        made = cache.temporary(header)
        command = [*compiler.compiler(), *flags, "-x", "c++-header", str(copy), "-o", str(made)]
        if subprocess.run(command, capture_output=True).returncode == 0:
            os.replace(made, f"{header}.gch")
        os.replace(copy, header)
    return "-include", str(header)


@functools.cache
def companions() -> dict[Path, tuple[Path, ...]]:
    """Of each file that a GPU may run those that are built in one library with it: all with shared memory, or all without."""
    kinds: dict[bool, list[Path]] = {True: [], False: []}
    for path in ptxas.files():
        kinds[shares(path)].append(path)
    groups = [group for paths in kinds.values() for group in ptxas.groups(paths, TOGETHER)]
    return {path: group for group in groups for path in group}


def shares(path: Path) -> bool:
    """Whether a file, or one that it includes, has shared memory."""
    return SHARED.search(cache.sources(path, HEADERS)) is not None


def group_of(kernels: Kernels, real: str) -> tuple[Path, ...]:
    """The files that are built with one: float builds take less than half the time when several are one library."""
    alike = real == "float" and set(kernels.options) <= {UNFUSED}  # EXACT says that of all
    return companions().get(kernels.path, (kernels.path,)) if alike else (kernels.path,)


@functools.cache
def library(kernels: Kernels, real: str, *flags: str) -> Path:
    """A library of a file of kernels and others; `block_NAME(arguments)` runs one thread of a kernel, its arguments in slots of
    eight bytes."""
    paths = group_of(kernels, real)
    return blocks(paths, real, *(kernels.options if len(paths) == 1 else ()), *flags)


@functools.cache
def blocks(paths: Sequence[Path], real: str, *flags: str) -> Path:
    """The library of these files."""
    if ALONE in flags and not any(map(shares, paths)):  # it would be the same
        flags = tuple(flag for flag in flags if flag != ALONE)
    ends = []
    for path in paths:
        end = []
        for name, kernel in Kernels(path).table.items():
            types = [f"{'const ' * p.const}{p.kind}{'*' * p.pointer}" for p in kernel.parameters]
            places = slots(kernel, real)
            passed = ", ".join(f"*({type_} const*)(arguments + {SLOT * at})" for type_, at in zip(types, places))
            end.append(f'extern "C" void block_{name}(const char* arguments) {{ {name}({passed}); }}')
        ends.append("\n".join(end))
    text = f"{ptxas.together(paths, ends)}// {key_of(paths)}\n"
    flags = (
        *prelude((HERE / "words.h").read_text(encoding="utf-8"), *FLAGS, *flags),
        *FLAGS,
        *flags,
        *defines(real),
        f"-I{HEADERS}",
        "-shared",
        "-Wl,-Bsymbolic",
    )
    return make(f"{paths[0].stem}-{real}-threaded", text, *flags)


def key_of(paths: Iterable[Path]) -> str:
    return cache.key(*(cache.sources(path, HEADERS) for path in paths))


@functools.cache
def plain(paths: Sequence[Path], flags: tuple[str, ...]) -> Path:
    """Files of kernels as they are built for the CPU, for float, in one library."""
    text = f"{ptxas.launched(paths)}// {key_of(paths)}\n"
    return make(f"{paths[0].stem}-float-plain", text, *flags, *defines("float"), f"-I{HEADERS}")


def slots(kernel: Kernel, real: str) -> list[int]:
    """The slot in which each argument begins; a struct takes as many as it needs."""
    dtype = next(d for d, name in REALS.items() if name == real)
    widths = [-(-p.dtype(dtype).itemsize // SLOT) if p.struct else 1 for p in kernel.parameters]
    return [sum(widths[:i]) for i in range(len(widths))]


def runner(name: str, *flags: str) -> Path:
    return make(name, (HERE / f"{name}.cpp").read_text(), *FLAGS, *flags)


class Memory:
    """The bytes that the arguments of a launch reach, each once where arrays overlap."""

    def __init__(self, kernel: Kernel, args: Sequence[Any]) -> None:
        self.pointers = [i for i, p in enumerate(kernel.parameters) if p.pointer and args[i] is not None]
        ends: dict[int, int] = {}
        for start, size in sorted((args[i].ctypes.data, args[i].nbytes) for i in self.pointers):
            last = next(reversed(ends), None)
            if last is not None and start < ends[last]:
                ends[last] = max(ends[last], start + size)
            else:
                ends[start] = max(ends.get(start, 0), start + size)
        self.starts = list(ends)
        self.sizes = [ends[s] - s for s in self.starts]
        self.places = {}  # of each pointer: buffer and offset
        for i in self.pointers:
            at = args[i].ctypes.data
            buffer = max(k for k, s in enumerate(self.starts) if s <= at)
            self.places[i] = buffer, at - self.starts[buffer]
        self.before = self.copy()

    def copy(self) -> list[bytes]:
        return [ctypes.string_at(s, n) for s, n in zip(self.starts, self.sizes)]


class Threaded(host.Cpu):
    """The CPU, where every launch of a `.cu` kernel also runs in blocks of real threads, on copies of its arrays.

    At most `each` launches of a kind are tried: one kernel, type, and set of sizes and other whole numbers. `blocks` is
    the most blocks of a grid. A difference to the plain run raises AssertionError. The first `recorded` launches of each
    kernel that are tried are appended to the file `records`.
    """

    def __init__(
        self,
        threads: Iterable[int] = THREADS,
        blocks: int = 1024,
        each: int = 1,
        records: Path | None = None,
        recorded: int = 1,
    ) -> None:
        super().__init__()
        self.threads, self.blocks, self.each = tuple(threads), blocks, each
        self.records, self.recorded = records, recorded
        self.kinds: Counter[Any] = Counter()
        self.written: Counter[Kernel] = Counter()
        self.kernels: set[tuple[str, str]] = set()  # file and name
        self.launches = self.runs = 0
        self.turns = threading.Lock()  # there is one set of fibres
        self.fibres = ctypes.CDLL(str(runner("fibres", "-shared", "-Wl,-Bsymbolic")), ctypes.RTLD_GLOBAL).launch
        self.fibres.restype = ctypes.c_char_p

    def build(self, kernels: Kernels, real: np.dtype) -> None:
        key = kernels, REALS[np.dtype(real)]
        group = group_of(*key)
        if len(group) > 1 and key not in self.libraries:
            self.libraries[key] = host.Library(
                host.load_library(plain(group, compiler.FLAGS)), self.address_of_threads()
            )
        super().build(kernels, real)

    def launch(self, kernel: Kernel, real: np.dtype, args: Sequence[Any]) -> None:
        if kernel.file.host_only or not self.is_new(kernel, real, args):
            super().launch(kernel, real, args)
            return
        memory = Memory(kernel, args)
        super().launch(kernel, real, args)
        with self.turns:
            self.kernels.add((kernel.file.path.name, kernel.name))
            self.launches += 1
            grids = list(product(self.threads, BLOCKS))
            for number, (threads, blocks) in enumerate(grids):
                whole = int(args[0]) if kernel.blocks else -(-int(args[0]) // threads)
                self.run(kernel, real, args, memory, min(blocks or whole, self.blocks), threads, number % 2)
            if self.records and self.written[kernel] < self.recorded:
                self.written[kernel] += 1
                with self.records.open("ab") as file:
                    file.write(record(kernel, REALS[real], args, memory, [(3, 7), (2, 32), (min(args[0], 8), 1)]))

    def is_new(self, kernel: Kernel, real: np.dtype, args: Sequence[Any]) -> bool:
        """Whether a launch does anything, and is not of a kind that was tried already. One that will raise is not tried, nor
        one that reaches arrays beyond its arguments, by `distances` (train/solver.cu): there are no copies of these."""
        if any(np.any(a) for p, a in zip(kernel.parameters, args) if p.name == "distances"):
            return False
        arrays = [a for p, a in zip(kernel.parameters, args) if p.pointer and a is not None]
        if not all(type(a) is np.ndarray and a.flags.c_contiguous for a in arrays):
            return False
        numbers = [a for p, a in zip(kernel.parameters, args) if not p.pointer and p.kind in ("int", "unsigned")]
        if not all(isinstance(a, (int, np.integer)) for a in numbers) or numbers[0] < 1:
            return False
        structs = [a for p, a in zip(kernel.parameters, args) if p.struct]
        if not all(isinstance(a, StructValue) for a in structs):
            return False
        nulls = [a is None for a in args]
        shared = [next(k for k, b in enumerate(arrays) if a is b or np.may_share_memory(a, b)) for a in arrays]
        whole = [n for a in structs for n in a.numbers() if isinstance(n, int)]
        kind = kernel, real, *map(tuple, (map(int, numbers), whole, nulls, [a.size for a in arrays], shared))
        self.kinds[kind] += 1
        return self.kinds[kind] <= self.each

    def run(
        self, kernel: Kernel, real: np.dtype, args: Sequence[Any], memory: Memory, blocks: int, threads: int, order: int
    ) -> None:
        """One threaded run, on copies; it must end as the plain run did. `order` 1: the last block and thread first."""
        loaded = ctypes.CDLL(str(library(kernel.file, REALS[real])))
        copies = [np.frombuffer(bytearray(b) + bytes(64), np.uint8) for b in memory.before]
        starts = [-c.ctypes.data % 64 for c in copies]  # aligned as the arrays are
        for c, s, b in zip(copies, starts, memory.before):
            c[s : s + len(b)] = np.frombuffer(b, np.uint8)
        values = list(args)
        for i, (buffer, offset) in memory.places.items():
            values[i] = copies[buffer].ctypes.data + starts[buffer] + offset
        packed = pack(kernel, REALS[real], values)
        block = getattr(loaded, f"block_{kernel.name}")
        wrong = self.fibres(block, loaded.poison_shared_memory, packed, blocks, threads, order)
        where = f"{kernel} on {blocks} blocks of {threads} threads{', backwards' * order}"
        assert wrong is None, f"{where}: not all threads reach one barrier: {wrong.decode()}"
        self.runs += 1
        for i in memory.pointers:
            buffer, offset = memory.places[i]
            got = copies[buffer][starts[buffer] + offset :][: args[i].nbytes].view(args[i].dtype)
            wanted = args[i].reshape(-1)
            if got.tobytes() == wanted.tobytes():
                continue
            if wanted.dtype.kind == "f" and (kernel.adds or sums_otherwise(kernel.file)):
                rounding = 16 * np.finfo(wanted.dtype).eps
                scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=1)
                good = np.allclose(got, wanted, rounding, rounding * scale, equal_nan=True)
            else:
                good = np.array_equal(got, wanted, equal_nan=wanted.dtype.kind == "f")
            differs = np.flatnonzero(~((got == wanted) | ((got != got) & (wanted != wanted))))
            assert good, (
                f"{where}: {kernel.parameters[i].name} differs from the plain run in {differs.size} of {got.size} "
                f"places, first [{differs[0]}]: {got[differs[0]]}, wanted {wanted[differs[0]]}"
            )


@functools.cache
def words() -> list[bytes]:
    """The texts that all kernels are written with: kernel.h, and what it includes."""
    return cache.texts(HEADERS / "kernel.h", HEADERS)


def sums_otherwise(file: KernelFile) -> bool:
    """Whether a GPU may sum in another order than the host: a text asks which compiler it is, or visits bins or adds their parts
    by the word that does; and what is `fused` is rounded once on the host."""
    own = [text for text in file.texts if text not in words()]
    texts = [without_comments(text) for text in own]
    return any(word in text for text in texts for word in ("__CUDACC__", "visit_adding(", "split_sums(", "fused"))


def pack(kernel: Kernel, real: str, values: Sequence[Any]) -> bytes:
    """Arguments in slots of eight bytes; pointers are numbers here."""
    packed, dtype = b"", next(d for d, name in REALS.items() if name == real)
    for parameter, value in zip(kernel.parameters, values):
        if parameter.pointer:
            packed += struct.pack("=q", value or 0)
        elif parameter.struct:
            memory = value.memory(parameter.dtype(dtype))[1].tobytes()
            packed += memory + bytes(-len(memory) % SLOT)
        else:
            packed += struct.pack("=" + SCALARS[real if parameter.kind == "Real" else parameter.kind], value)
    return packed


def record(kernel: Kernel, real: str, args: Sequence[Any], memory: Memory, grids: Iterable[tuple[int, int]]) -> bytes:
    """A launch as threads.cpp reads it, once for each (blocks, threads)."""
    numbers = [0 if i in memory.places else a for i, a in enumerate(args)]
    raw = pack(kernel, real, numbers)
    packed = struct.unpack(f"={len(raw) // SLOT}q", raw)
    places = {at: memory.places[i] for i, at in enumerate(slots(kernel, real)) if i in memory.places}
    made = []
    for blocks, threads in grids:
        path = str(library(kernel.file, real, *SANITIZE, *([ALONE] if threads == 1 else [])))
        for text in (path, kernel.name):
            made.append(struct.pack("=q", len(text)) + text.encode())
        made.append(struct.pack("=3q", blocks, threads, len(memory.before)))
        made += [struct.pack("=q", len(b)) + b for b in memory.before]
        made.append(struct.pack("=q", len(packed)))
        made += [struct.pack("=2q", *places.get(i, (-1, value))) for i, value in enumerate(packed)]
    return b"".join(made)


def races(records: Path) -> list[str]:
    """What ThreadSanitizer says of recorded launches: for each report the launch and its one-line summary."""
    command = [str(runner("threads", *SANITIZE, "-rdynamic", "-ldl", "-lpthread")), str(records)]
    options = "exitcode=0 report_thread_leaks=0 suppress_equal_addresses=0 history_size=4"
    environment = {**os.environ, "TSAN_OPTIONS": options}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if "unexpected memory mapping" in result.stderr and shutil.which("setarch"):  # addresses too random for it
        result = subprocess.run(["setarch", "-R", *command], capture_output=True, text=True, env=environment)
    assert "all launches have run" in result.stderr, result.stderr[-3000:]
    reports, launch = [], ""
    for line in result.stderr.splitlines():
        if line.startswith("launch "):
            launch = line[7:]
        elif line.startswith("SUMMARY: "):
            reports.append(f"{launch}: {line[9:].removeprefix('ThreadSanitizer: ')}")
    return reports


def can_sanitize() -> bool:
    """Whether this compiler has ThreadSanitizer."""
    try:
        runner("threads", *SANITIZE, "-rdynamic", "-ldl", "-lpthread")
    except AssertionError:
        return False
    return True


@contextmanager
def threaded(**options: Any) -> Iterator[Threaded]:
    """While it lasts, "cpu" is a Threaded, and products and convolutions take the kernels of the GPU."""
    with pytest.MonkeyPatch.context() as patch:
        flags = (*("-O1" if f == "-O3" else f for f in compiler.FLAGS), EXACT)
        patch.setattr(compiler, "FLAGS", (*prelude(PLAIN, *flags), *flags))
        made = Threaded(**options)
        patch.setattr(device, "cpu", lambda: made)
        patch.setattr(blas, "on_host", lambda kernels, workers, *product: blas.tiled(kernels.device, *product))
        patch.setattr(convolution, "HostConvolution", convolution.ColumnConvolution)
        yield made


def all_kernels() -> set[tuple[str, str]]:
    """File and name of every kernel that a GPU may run."""
    return {(path.name, name) for path in ptxas.files() for name in Kernels(path).table}
