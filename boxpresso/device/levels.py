"""The levels of CPUs that kernels are compiled for ahead, and which of them this machine offers.

A level says what a compiler may use and what a CPU needs for it. Each has all that the one before it has. A CPU offers what its
operating system says that it offers: a system that does not keep the registers of AVX-512 leaves that out of its list.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..proto.errors import DeviceError, nearest

NATIVE = "native"  # of BOXPRESSO_CPU: compiled here, for this CPU


@dataclass(frozen=True)
class Level:
    """A set of instructions.

    Attributes
    ----------
    name
        As BOXPRESSO_CPU has it.
    march, features
        The architecture that a compiler is told, and what it may use beyond that.
    needs
        What of a CPU it needs beyond the level before, as Linux calls it in /proc/cpuinfo.
    asks
        What a text asks for that is compiled otherwise than at the level before; "" where every text is.
    system
        The only system that it is for, as sys.platform and what a compiler makes code for name it; "" for all.
    """

    name: str
    march: str
    features: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    asks: str = ""
    system: str = ""

    def flags(self, command: Sequence[str]) -> tuple[str, ...]:
        """The options for a compiler; zig has names of its own."""
        if "ziglang" in command:
            cpu = self.march.replace("-", "_")
            if arm := re.fullmatch(r"armv(\d+)(?:\.(\d+))?-a", self.march):
                cpu = "generic" + (f"+v{arm[1]}_{arm[2]}a" if arm[2] else "")
            return ("-mcpu=" + "+".join((cpu, *self.features)).replace("-", "_"),)
        if self.march.startswith("armv"):
            return ("-march=" + "+".join((self.march, *self.features)),)
        return (f"-march={self.march}", *(f"-m{feature}" for feature in self.features))

    def changes(self, text: bytes) -> bool:
        """Whether a text with its headers is compiled otherwise at this level than at the one before."""
        return re.search(self.asks.encode(), text) is not None

    def on(self, system: str) -> bool:
        """Whether it is for a system, by a name that has the system's in it, as x86_64-linux-gnu and manylinux_2_28_x86_64."""
        return self.system in system

    def __str__(self) -> str:
        return self.name


LEVELS: dict[str, tuple[Level, ...]] = {
    "x86_64": (
        Level("v2", "x86-64-v2", needs=("cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2")),
        Level("v3", "x86-64-v3", needs=("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe")),
        Level("v4", "x86-64-v4", needs=("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
        Level(
            "v4-bf16", "x86-64-v4", ("avx512vnni", "avx512bf16"), ("avx512_vnni", "avx512_bf16"),
            asks="__AVX512(VNNI|BF16)__",
        ),
        Level(
            "v4-amx", "x86-64-v4", ("avx512vnni", "avx512bf16", "amx-tile", "amx-bf16", "amx-int8"),
            ("amx_tile", "amx_bf16", "amx_int8"), asks="__AMX_TILE__", system="linux",
        ),
    ),
    "aarch64": (
        Level("neon", "armv8-a"),  # which every one of them has, whatever an emulator lists
        Level("dotprod", "armv8.2-a", ("dotprod",), ("asimddp",), asks="__ARM_FEATURE_DOTPROD"),
        Level("bf16", "armv8.2-a", ("dotprod", "bf16"), ("bf16",), asks="__ARM_FEATURE_BF16"),
    ),
}  # fmt: skip
# Where Linux says it: a line of /proc/cpuinfo, and for ARM bits that a program is started with, here by their word (AT_HWCAP,
# AT_HWCAP2) and place, which an emulator sets too. What macOS calls the same (sysctl hw.optional.NAME), where it says it, and
# which number Windows gives it (IsProcessorFeaturePresent), which tells fewer things apart.
HWCAP = {"asimddp": (16, 20), "bf16": (26, 14)}
MACOS = {
    "pni": "sse3", "ssse3": "supplementalsse3", "sse4_1": "sse4_1", "sse4_2": "sse4_2", "avx": "avx1_0", "avx2": "avx2_0",
    "bmi1": "bmi1", "bmi2": "bmi2", "f16c": "f16c", "fma": "fma", "avx512f": "avx512f", "avx512bw": "avx512bw",
    "avx512cd": "avx512cd", "avx512dq": "avx512dq", "avx512vl": "avx512vl", "avx512_vnni": "avx512vnni",
    "avx512_bf16": "avx512bf16", "asimddp": "arm.FEAT_DotProd", "bf16": "arm.FEAT_BF16",
}  # fmt: skip
TILES = "amx_tile"  # which a CPU lets a process use that has asked for it
WINDOWS = {"sse4_2": 38, "avx2": 40, "avx512f": 41, "asimddp": 43, "avx512_bf16": -1, "bf16": -1}


def machine() -> str:
    """The machine of this process, by the name that Linux has for it."""
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())


def levels() -> tuple[Level, ...]:
    """The levels of this machine and its system, the least first; () for one that none is defined for."""
    return tuple(level for level in LEVELS.get(machine(), ()) if level.on(sys.platform))


def has(feature: str) -> bool:
    """Whether the operating system says that this CPU has something, by Linux's name for it."""
    if sys.platform == "darwin":
        return feature not in MACOS or has_on_macos(MACOS[feature])
    if sys.platform == "win32":
        return feature not in WINDOWS or bool(ctypes.windll.kernel32.IsProcessorFeaturePresent(WINDOWS[feature]))
    return feature in listed() and (feature != TILES or permitted())


@functools.cache
def permitted() -> bool:
    """Asks Linux for AMX's tile registers (arch_prctl's ARCH_REQ_XCOMP_PERM). Returns whether it grants them, which it does for
    all threads that there are and will be, and for processes that are forked.

    A kernel before 5.16 refuses them, as does one that is emulated, or where a thread has a stack for signals that is too small
    for such registers.
    """
    arch_prctl, request, tile_data = (ctypes.c_long(number) for number in (158, 0x1023, 18))
    return bool(ctypes.CDLL(None).syscall(arch_prctl, request, tile_data) == 0)


def untiled() -> tuple[str, ...]:
    """What a compiler is told beside -march=native where this process has no leave to use the tiles that the CPU may have."""
    if machine() != "x86_64":
        return ()
    known = sys.platform == "linux" and os.path.exists("/proc/cpuinfo")
    return () if known and (TILES not in listed() or permitted()) else ("-DUNTILED",)


def has_on_macos(name: str) -> bool:
    value, size = ctypes.c_int(0), ctypes.c_size_t(4)
    system = ctypes.CDLL(None)
    failed = system.sysctlbyname(f"hw.optional.{name}".encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    return not failed and value.value != 0


@functools.cache
def listed() -> frozenset[str]:
    """What Linux lists; where /proc is not there, what the least level of x86-64 needs, which nearly every CPU has."""
    if machine() == "aarch64" and sys.platform == "linux":
        bits = ctypes.CDLL(None).getauxval
        bits.restype, bits.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
        return frozenset(name for name, (word, bit) in HWCAP.items() if bits(word) >> bit & 1)
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return frozenset(feature for level in levels()[:1] for feature in level.needs)
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def offered() -> list[Level]:
    """The levels that this machine offers, the least first."""
    result: list[Level] = []
    for level in levels():
        if not all(map(has, level.needs)):
            break
        result.append(level)
    return result


def asked() -> Level | None:
    """The level that $BOXPRESSO_CPU names; None where it names none, or "native".

    Raises
    ------
    DeviceError
        For a name that no level has, and for a level that this machine does not offer.
    """
    wanted = os.environ.get("BOXPRESSO_CPU", "")
    if wanted in ("", NATIVE):
        return None
    names = [level.name for level in levels()]
    if wanted not in names:
        choice = " or ".join([", ".join(names), NATIVE] if names else [NATIVE])
        raise DeviceError(f"BOXPRESSO_CPU is {wanted!r}, and must be {choice}{nearest(wanted, [*names, NATIVE])}")
    for level, lower in zip(levels(), (None, *levels())):
        lacks = [feature for feature in level.needs if not has(feature)]
        if lacks:
            best = f"the most that it offers is {lower}" if lower else "it offers none of the levels"
            raise DeviceError(
                f"BOXPRESSO_CPU is {wanted!r}, but this CPU, or its operating system, lacks {', '.join(lacks)}; {best}"
            )
        if level.name == wanted:
            return level
    return None


def ladder() -> list[Level]:
    """The levels whose kernels this process may run, the best first: up to what is asked for, else all that are offered.

    Raises DeviceError as `asked`.
    """
    level = asked()
    if level is None:
        return [] if os.environ.get("BOXPRESSO_CPU") == NATIVE else offered()[::-1]
    return offered()[: levels().index(level) + 1][::-1]


def march(command: Sequence[str]) -> tuple[str, ...]:
    """The options that say which CPU a kernel is compiled for on first use: the one that is asked for, else this one.

    A compiler that is named for a machine runs perhaps on another: it is told the best level that this one offers.
    """
    level = asked()
    if level:
        return level.flags(command)
    if not crosses(command):
        return ("-march=native", *untiled())
    return offered()[-1].flags(command) if offered() else ()


def crosses(command: Sequence[str]) -> bool:
    """Whether a compiler's command names the machine that it compiles for, as `-target` does and `aarch64-linux-gnu-g++`."""
    return any(re.match(r"--?target\b|\w+-.*\+\+", Path(word).name) for word in command)
