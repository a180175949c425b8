"""The levels of the CPUs: which vectors and instructions a compiler may use, and what here runs a program that does.

`at(level)` lets the device "cpu" run kernels that were compiled for a level: in this process where this CPU offers it, else each file
of kernels in a program of its own (runner.cpp) under qemu, with arrays going there and back. `tiles()` lets it run those of AMX with
instructions written out.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threaded import SCALARS, Memory, key_of, make

from boxpresso.device import cache, compiler, host, levels, prebuilt
from boxpresso.device import open as device
from boxpresso.device.kernel import Kernels
from boxpresso.device.signature import HEADERS, REALS, Kernel, KernelFile, real_of
from boxpresso.run import cpu as program

HERE = Path(__file__).resolve().parent
ZIG = (sys.executable, "-m", "ziglang", "c++")
SWEEP = os.environ.get("BOXPRESSO_SWEEP") == "1"
OPTIMISED = "-O3" if SWEEP else "-O1"  # a third of the compiler's time, for the same instructions by name
WORKERS = 2  # shares of a launch, which a program works at one after the other
# What the `x86_64` of qemu is told to be: everything that it knows, AVX2 from version 7.2 on.
EMULATORS = {"x86_64": ("qemu-x86_64", "-cpu", "max"), "aarch64": ("qemu-aarch64", "-cpu", "max")}


@dataclass(frozen=True)
class Level:
    """What a compiler may use of a machine.

    `needs`: what of it a program asks for, as GCC's __builtin_cpu_supports calls it, or Linux's bits of an ARM (HWCAP, HWCAP2).
    """

    name: str
    machine: str  # as platform.machine() calls it
    march: str
    needs: tuple[str, ...] = ()
    include: tuple[str, ...] = ()  # of this folder, what is read before a text

    def flags(self, command: Sequence[str]) -> tuple[str, ...]:
        """What a compiler is told; zig wants the name of a CPU, with underlines, and LLVM's names of features."""
        march = f"-march={self.march}"
        if "ziglang" in command:
            march = f"-march={self.march.replace('-', '_')}"
            if self.machine == "aarch64":
                version, *more = self.march.replace("+fp16", "+fullfp16").split("+")
                march = "-mcpu=" + "+".join(
                    ["generic", version.removeprefix("arm").replace(".", "_").replace("-", ""), *more]
                )
        flags = [march]
        for header in (HERE / name for name in self.include):
            flags += [
                "-include",
                str(header),
                f"-DINCLUDED_{cache.key(header.read_bytes())}",
            ]  # a name in the cache for each text
        return tuple(flags)

    def __str__(self) -> str:
        return self.name


AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl")
BF16 = (*AVX512, "avx512vnni", "avx512bf16")
LEVELS = {
    level.name: level
    for level in (
        Level("SSE2", "x86_64", "x86-64", ("sse2",)),
        Level("AVX", "x86_64", "sandybridge", ("avx", "popcnt")),
        Level("AVX2", "x86_64", "haswell", ("avx2", "fma", "bmi2")),
        Level("AVX512", "x86_64", "skylake-avx512", AVX512),
        Level("AVX512-VNNI", "x86_64", "cascadelake", (*AVX512, "avx512vnni")),
        Level("AVX512-BF16", "x86_64", "cooperlake", BF16),
        Level("AMX", "x86_64", "sapphirerapids", (*BF16, "amx-tile", "amx-bf16", "amx-int8")),
        Level("NEON", "aarch64", "armv8-a", ("HWCAP_ASIMD",)),
        Level("NEON-DOT", "aarch64", "armv8.2-a+dotprod+fp16", ("HWCAP_ASIMDDP", "HWCAP_ASIMDHP")),
        Level("NEON-BF16", "aarch64", "armv8.2-a+dotprod+fp16+bf16", ("HWCAP_ASIMDDP", "HWCAP_ASIMDHP", "HWCAP2_BF16")),
    )
}

# The texts for AVX512-BF16 with its instructions written out, for CPUs without them. With g++ alone: clang passes no vector on that
# the CPU lacks.
WRITTEN_OUT = Level("AVX512-BF16, written out", "x86_64", "haswell", LEVELS["AVX2"].needs, ("avx512.h",))
# The texts for AMX with its instructions written out, for CPUs with AVX512-BF16 and, with g++ alone, for those without.
TILES_WRITTEN_OUT = Level("AMX, written out", "x86_64", "cooperlake", BF16, ("amx.h",))
ALL_WRITTEN_OUT = Level("AMX and AVX512, written out", "x86_64", "haswell", LEVELS["AVX2"].needs, ("avx512.h", "amx.h"))


def machine() -> str:
    """The machine of this process, by the name that Linux has for it."""
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())


def compilers(of: str) -> dict[str, tuple[str, ...]]:
    """The commands of those that are here and compile for a machine, by name; the one that a run of programs takes is first."""
    commands: dict[str, tuple[str, ...]] = {}
    own = ("g++", "clang++") if of == machine() else (f"{of}-linux-gnu-g++",)
    for name in own:
        if shutil.which(name):
            commands[name] = (name,)
    if importlib.util.find_spec("ziglang"):
        commands["ziglang"] = (*ZIG, "-target", f"{of}-linux-musl")
    return commands


@functools.cache
def offers(level: Level, *emulator: str) -> bool:
    """Whether this CPU, or what an emulator pretends to be, offers all of a level: a program for any CPU is asked."""
    if level.machine == "aarch64":
        test = " && ".join(f"(getauxval(AT_{name.split('_')[0]}) & {name})" for name in level.needs)
        text = f"#include <asm/hwcap.h>\n#include <sys/auxv.h>\nint main() {{ return {test} ? 0 : 1; }}\n"
    else:
        if "amx-tile" in level.needs and not levels.has(levels.TILES):
            return False  # the system has to grant them, too
        test = " && ".join(f'__builtin_cpu_supports("{name}")' for name in level.needs)
        text = f"int main() {{ __builtin_cpu_init(); return {test} ? 0 : 1; }}\n"
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "asks"
        command = [*next(iter(compilers(level.machine).values())), "-static", "-x", "c++", "-", "-o", str(built)]
        result = subprocess.run(command, input=text, text=True, capture_output=True)
        return result.returncode == 0 and subprocess.run([*emulator, str(built)], capture_output=True).returncode == 0


def way(level: Level) -> tuple[str, ...]:
    """The command that a program of a level runs under, () where this CPU offers it. Skips the test where nothing does."""
    emulator = EMULATORS[level.machine]
    if not compilers(level.machine):
        pytest.skip(f"{level}: no compiler for {level.machine} is here (apt install g++-{level.machine}-linux-gnu)")
    if level.machine == machine() and offers(level):
        return ()
    if shutil.which(emulator[0]) is None:
        pytest.skip(f"{level}: this CPU does not offer it, and {emulator[0]} is not on PATH (apt install qemu-user)")
    if not offers(level, *emulator):
        pytest.skip(f"{level}: this CPU does not offer it, and no emulator here runs it; compiled only")
    return emulator


class Emulated(host.Cpu):
    """The CPU, where each file of kernels is a program of a level that runs under an emulator.

    Every launch has copies of its arrays there, with the same alignment, and nothing beyond them may be written.
    """

    def __init__(self, *emulator: str, reproducible: bool = False) -> None:
        super().__init__(reproducible)
        self.emulator, self.workers, self.programs = emulator, WORKERS, {}
        self.launched: set[str] = set()  # files
        self.turns = threading.Lock()

    def build(self, kernels: Kernels, real: np.dtype) -> None:
        name, form = REALS[np.dtype(real)], self.form(kernels)
        steps = ", ".join(f"step_{kernel}" for kernel in kernels.table)
        text = (
            f"{compiler.launchers(kernels)}\nstatic long long (*const STEPS[])(int, int, void* const*) = {{{steps}}};\n"
            f"{(HERE / 'runner.cpp').read_text(encoding='utf-8')}// {key_of([kernels.path])}\n"
        )
        flags = (flag for flag in compiler.flags_of(form, name) if flag not in ("-shared", "-fPIC"))
        made = make(f"{kernels.path.stem}-{name}-level", text, *flags, f"-I{HEADERS}", "-static")
        with self.turns:
            if (kernels, name) not in self.programs:
                self.programs[kernels, name] = subprocess.Popen(
                    [*self.emulator, str(made)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
                )

    def built(self, kernels: Kernels, real: np.dtype) -> bool:
        return (kernels, REALS[np.dtype(real)]) in self.programs

    def launch(self, kernel: Kernel, real: np.dtype, args: Sequence[Any]) -> None:
        if any(np.any(a) for p, a in zip(kernel.parameters, args) if p.name == "distances"):
            pytest.skip("a kernel that finds arrays by their distances has no copies of them under an emulator")
        if not self.built(kernel.file, real):
            self.build(kernel.file, real)
        wanted = [(i, p, p.dtype(real)) for i, p in enumerate(kernel.parameters) if p.pointer or p.struct]
        passed, _ = self.arguments(kernel, wanted, args)
        if int(args[0]) <= 0:
            return
        memory = Memory(kernel, args)
        buffers, slots = [*memory.before], []
        lasts = [start % 4096 for start in memory.starts]
        for i, (parameter, value) in enumerate(zip(kernel.parameters, passed)):
            if parameter.struct:
                slots.append((len(buffers), 0))
                buffers.append(args[i].raw(parameter.dtype(real)))
                lasts.append(0)
            elif parameter.pointer:
                slots.append(memory.places.get(i, (-1, 0)))
            else:
                kind = REALS[real_of(real)] if parameter.kind == "Real" else parameter.kind
                slots.append((-1, struct.unpack("=q", struct.pack("=" + SCALARS[kind], value))[0]))
        number = list(kernel.file.table).index(kernel.name)
        asked = [struct.pack("=4q", number, min(self.workers, int(args[0])), len(buffers), len(slots))]
        for each, last in zip(buffers, lasts):
            asked += [struct.pack("=2q", len(each), last), each]
        asked += [struct.pack("=2q", *slot) for slot in slots]
        with self.turns:
            answers = self.ask(kernel, real, b"".join(asked), [len(each) for each in buffers])
        for i in memory.pointers:
            buffer, offset = memory.places[i]
            if not kernel.parameters[i].const and args[i].nbytes:
                ctypes.memmove(args[i].ctypes.data, answers[buffer][offset:], args[i].nbytes)
        self.launched.add(kernel.file.path.name)

    def ask(self, kernel: Kernel, real: np.dtype, asked: bytes, sizes: Sequence[int]) -> list[bytes]:
        """What the program of a kernel answers."""
        run = self.programs[kernel.file, REALS[np.dtype(real)]]
        answers = []
        try:
            run.stdin.write(asked)
            run.stdin.flush()
            answers = [run.stdout.read(size) for size in sizes]
        except BrokenPipeError:
            pass
        if [len(answer) for answer in answers] != list(sizes):
            said = run.communicate()[1].decode(errors="replace")
            raise AssertionError(f"{kernel}: its program ended with {run.returncode}: {said}")
        return answers

    def end(self) -> None:
        """Ends the programs."""
        for run in self.programs.values():
            run.communicate()


class Launches:
    """A chain (device/chain.py) as launches one by one: an address of this process is none of a program's."""

    def __init__(self, device: Emulated, real: np.dtype) -> None:
        self.device, self.real, self.launches, self.flags = device, np.dtype(real), [], []

    def __len__(self) -> int:
        return len(self.launches)

    def add(self, kernel: Kernel, *args: Any) -> None:
        if int(args[0]) > 0:
            self.launches.append((kernel, args))

    def run(self) -> None:
        for kernel, args in self.launches:
            self.device.launch(kernel, self.real, args)


@contextmanager
def at(level: Level) -> Iterator[host.Cpu]:
    """While it lasts, "cpu" runs what is compiled for a level."""
    emulator = way(level)
    command = next(iter(compilers(level.machine).values())) if emulator else compiler.compiler()
    with pytest.MonkeyPatch.context() as patch:
        plain = [{"-O3": OPTIMISED}.get(flag, flag) for flag in compiler.FLAGS if flag != "-march=native"]
        patch.setattr(compiler, "FLAGS", (*plain, *level.flags(command)))
        patch.setattr(compiler, "compiler", lambda: command)
        patch.setattr(compiler, "identity", functools.cache(compiler.identity.__wrapped__))
        made = Emulated(*emulator) if emulator else host.Cpu()
        same = Emulated(*emulator, reproducible=True) if emulator else host.Cpu(reproducible=True)
        patch.setattr(device, "cpu", lambda: made)
        patch.setattr(device, "reproducible_cpu", lambda: same)
        if emulator:
            patch.setattr(program, "Chain", Launches)
        try:
            yield made
        finally:
            for each in (made, same):
                if isinstance(each, Emulated):
                    each.end()


@contextmanager
def tiles() -> Iterator[host.Cpu]:
    """While it lasts, "cpu" runs the files that ask for bfloat16, four products of bytes or tiles as they are for AMX, with the
    instructions that this CPU lacks written out, and all others as ever."""
    level = TILES_WRITTEN_OUT if offers(LEVELS["AVX512-BF16"]) else ALL_WRITTEN_OUT
    command = compiler.compiler() if level is TILES_WRITTEN_OUT else ("g++",)
    if shutil.which(command[0]) is None or machine() != level.machine or not offers(level):
        pytest.skip(f"{level}: needs an x86-64 with AVX2 and g++, or one with AVX512-BF16")
    plain, asking = compiler.flags_of, levels.LEVELS[level.machine][-2:]
    added = (*level.flags(command), *(["-O1"] if level is ALL_WRITTEN_OUT else []))  # of whose text -O3 takes minutes

    def flags_of(kernels: KernelFile, real: str) -> tuple[str, ...]:
        asks = any(each.changes(b"".join(kernels.texts)) for each in asking)
        return (*plain(kernels, real), *(added if asks else ()))

    made, same = host.Cpu(), host.Cpu(reproducible=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "flags_of", flags_of)
        patch.setattr(compiler, "compiler", lambda: command)
        patch.setattr(compiler, "identity", functools.cache(compiler.identity.__wrapped__))
        patch.setattr(prebuilt, "ladder", tuple)
        patch.setattr(device, "cpu", lambda: made)
        patch.setattr(device, "reproducible_cpu", lambda: same)
        yield made


def tile_products(device: host.Cpu, name: str) -> int:
    """How many instructions of a file's kernels have multiplied tiles, where `tiles` has them written out."""
    return sum(
        ctypes.c_longlong.in_dll(library.library, "tile_products").value
        for (kernels, _), library in device.libraries.items()
        if kernels.path.name == name
    )
