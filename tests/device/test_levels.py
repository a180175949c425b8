"""Every file of kernels compiles for every level of the CPUs, whichever this one offers, and computes right where something runs it.

What a level is, and what runs it here, is in levels/__init__.py.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import vector_cases
from levels import LEVELS, WRITTEN_OUT, Emulated, Level, at, compilers, machine, offers
from test_compilers import FILES, check, reals

from boxpresso.device import cache, compiler, open_device
from boxpresso.device.signature import HEADERS
from boxpresso.layers.core.lowering import bf16_available

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the levels' compilers and emulators are Linux's")
ASKS = re.compile(rb"^#(?:el)?if.*\b__(?:SSE|AVX|AMX|FMA|ARM)", re.M)  # a text that asks which CPU it is for
COMMON = (HEADERS / "kernel.h").read_bytes()  # which all have, and which asks for what is REPRODUCIBLE alone
BY_CPU = [path for path in FILES if any(ASKS.search(text) for text in cache.texts(path, HEADERS) if text != COMMON)]
TYPES = [
    *((path, "half") for path in FILES if path.name == "cast.cu"),
    *((path, "double") for path in FILES if path.name == "gemm.cpp"),
]
ALL = [(path, real) for path in FILES for real in (*reals(path), *["bfloat16"] * ("half" in reals(path)))]


def compilers_of(level: Level) -> dict[str, tuple[str, ...]]:
    commands = compilers(level.machine)
    if not commands:
        pytest.skip(f"no compiler for {level.machine} is here (pip install ziglang)")
    return commands


def test_the_files_that_ask_for_the_cpu():
    names = {path.name for path in BY_CPU}
    assert names >= {"gemm.cpp", "convolution_bf16.cpp", "separable.cu", "strided.cu", "chain.cpp"}
    assert "relu.cu" not in names


# No text asks for more there than for what AVX512, AVX512-BF16 and NEON have.
SAME = ("AVX512-VNNI", "NEON-DOT")
FIRST = "AVX512-BF16"  # has all that the others of its kind have but AMX; a first look compiles for it alone
QUICK = [  # for NEON all files are compiled below, what asks for AMX in tests/run/test_amx.py
    pytest.param(
        level,
        marks=pytest.mark.sweep
        if level.name in (*SAME, "NEON", "AMX")
        else ()
        if level.name == FIRST
        else pytest.mark.later,
    )
    for level in LEVELS.values()
]


@pytest.mark.parametrize("level", QUICK, ids=str)
def test_what_asks_for_the_cpu_compiles(level):
    """With the first compiler that is here."""
    command = next(iter(compilers_of(level).values()))
    check(command, [*((path, "float") for path in BY_CPU), *TYPES], level.flags(command))


# What does not ask for the CPU is another text on another machine alone; this machine's levels have it from all other tests.
EVERY = [
    pytest.param(level, marks=pytest.mark.slow if level.name == "NEON" else pytest.mark.sweep)
    for level in LEVELS.values()
]


@pytest.mark.parametrize("level", EVERY, ids=str)
def test_every_file_compiles(level):
    """For float; with a sweep for each type of numbers, which no text asks for together with the CPU."""
    command = next(iter(compilers_of(level).values()))
    jobs = ALL if os.environ.get("BOXPRESSO_SWEEP") == "1" else [*((path, "float") for path in FILES), *TYPES]
    check(command, jobs, level.flags(command))


@pytest.mark.sweep
@pytest.mark.parametrize("level", LEVELS.values(), ids=str)
def test_every_file_compiles_with_every_compiler(level):
    for command in compilers_of(level).values():
        check(command, ALL, level.flags(command))


def refused(level: Level, path: Path) -> None:
    command = next(iter(compilers_of(level).values()))
    with pytest.raises(AssertionError, match="1 of 1 texts do not compile"):
        check(command, [(path, "float")], level.flags(command))


@pytest.mark.later
def test_a_fault_of_one_level_is_seen(tmp_path):
    """A text that is wrong at one level alone, and instructions beyond a level, which are refused only where code is made."""
    wrong = "#if defined(__AVX512BF16__)\n  missing();\n#endif\n"
    beyond = "#if defined(__AVX2__)\n  _mm512_storeu_ps(y, _mm512_setzero_ps());\n#endif\n"
    for name, text, fails in (("wrong", wrong, "AVX512-BF16"), ("beyond", beyond, "AVX2")):
        path = tmp_path / f"{name}.cu"
        path.write_text(f'#include "simd.h"\n#include <immintrin.h>\nKERNEL {name}(int n, float* y) {{\n{text}}}\n')
        refused(LEVELS[fails], path)
        level = LEVELS["AVX512-VNNI"]
        command = next(iter(compilers_of(level).values()))
        check(command, [(path, "float")], level.flags(command))
    if compilers("aarch64"):
        refused(LEVELS["NEON"], path)


def numbers(bf16: bool) -> None:
    vector_cases.run()
    assert bf16_available(open_device("cpu")) == bf16
    if bf16:
        vector_cases.bf16(np.random.default_rng(0))


# Each compiles some twenty files. AVX2 has what AVX has, AVX512-BF16 and NEON-BF16 what the others of their kind ask for.
FURTHER = ("AVX", "AVX512", "NEON", *SAME)
BY_LEVEL = [pytest.param(level, marks=pytest.mark.sweep if level.name in FURTHER else ()) for level in LEVELS.values()]


@pytest.mark.later
@pytest.mark.parametrize("level", BY_LEVEL, ids=str)
def test_numbers(level):
    """Against numpy in float64 and recorded cases, with what this CPU or an emulator runs."""
    offered = [
        one
        for one in LEVELS.values()
        if one.name not in FURTHER and one.machine == machine() and compilers(one.machine) and offers(one)
    ]
    if level in offered[-1:]:
        pytest.skip(f"all other tests run {level}, the most that this CPU offers of these levels")
    with at(level) as device:
        numbers(level.name.endswith(("BF16", "AMX")))
        if isinstance(device, Emulated):
            assert device.launched >= {"strided.cu", "convolution.cpp", "winograd_last.cpp", "gemm.cpp", "roi_align.cu"}
        else:
            assert level.flags(compiler.compiler())[0] in compiler.FLAGS
    assert open_device("cpu") is not device


@pytest.mark.slow
def test_numbers_of_avx512_with_its_instructions_written_out(monkeypatch):
    """What a text for these CPUs does with them is seen on a CPU that has none."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not on PATH: other compilers pass no vectors on that a CPU lacks")
    if offers(LEVELS["AVX512-BF16"]):
        pytest.skip("this CPU has the instructions: test_numbers runs them")
    monkeypatch.setattr(compiler, "compiler", lambda: ("g++",))
    with at(WRITTEN_OUT):
        numbers(True)
