"""Every file of kernels compiles for the host with each compiler that is here, and what clang and zig make computes right."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import ptxas
import pytest
from places import TESTS

from boxpresso.device import cache
from boxpresso.device.compiler import FLAGS, identity
from boxpresso.device.signature import HEADERS, REPRODUCIBLE, UNFUSED, defines

FILES = [Path(p) for p in sorted([*HEADERS.parent.rglob("*.cu"), *HEADERS.parent.rglob("*.cpp")])]
COMPILERS = {"g++": ("g++",), "clang++": ("clang++",), "ziglang": (sys.executable, "-m", "ziglang", "c++")}
NATIVE = "-march=native"
TOGETHER = 30  # files that are compiled as one text
# Every template is instantiated, the last passes are left out. At -O0 zig would add sanitizers, which it does not at -O3.
TO_NOTHING = ("-O0", "-fno-sanitize=all", "-S", "-o", os.devnull)


def command(name: str) -> tuple[str, ...]:
    """The command of a compiler; skips the test where it is not installed."""
    if name == "ziglang":
        if importlib.util.find_spec("ziglang") is None:
            pytest.skip("the ziglang wheel is not installed (pip install ziglang)")
    elif shutil.which(name) is None:
        pytest.skip(f"{name} is not on PATH")
    return COMPILERS[name]


def reals(path: Path) -> list[str]:
    """What a file is compiled for: float and double, and half where it stores it."""
    return ["float", "double", *["half"] * ("Store" in path.read_text(encoding="utf-8"))]


def errors(
    compiler: tuple[str, ...], version: str, paths: tuple[Path, ...], real: str, march: Sequence[str] = (NATIVE,)
) -> str:
    """What the compiler says against files in one text; "" where they compile, which is remembered in the kernel cache."""
    flags = (*(f for f in FLAGS if f not in ("-O3", "-shared", NATIVE)), *march)
    flags = (*flags, *defines(real), f"-I{HEADERS}", *TO_NOTHING)
    if NATIVE in march:
        version += identity()  # another CPU may ask for more
    text = ptxas.launched(paths)
    key = cache.key(version, *(cache.sources(path, HEADERS) for path in paths), text, *flags)
    compiled = cache.folder() / f"{len(paths)}-{real}-{key}.compiles"
    if compiled.exists():
        return ""
    with TemporaryDirectory() as folder:  # zig writes a listing there too
        result = subprocess.run(
            [*compiler, *flags, "-x", "c++", "-"], input=text, text=True, capture_output=True, cwd=folder
        )
    if result.returncode == 0:
        compiled.touch()
        return ""
    return f"{', '.join(path.name for path in paths)} for {real}:\n{result.stderr}"


def check(compiler: tuple[str, ...], jobs: list[tuple[Path, str]], march: Sequence[str] = (NATIVE,)) -> None:
    """Compiles files, each for a Real or Store, for this CPU or the one that the flags `march` say."""
    with TemporaryDirectory() as folder:  # zig, asked for another system's, writes a file where it runs
        asked = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=True, cwd=folder)
    version = asked.stdout
    groups = [
        (group, real)
        for real in dict.fromkeys(real for _, real in jobs)
        for group in ptxas.groups([path for path, wanted in jobs if wanted == real], TOGETHER)
    ]
    with ThreadPoolExecutor(2) as pool:
        wrong = [said for said in pool.map(lambda job: errors(compiler, version, *job, march), groups) if said]
    assert not wrong, f"{len(wrong)} of {len(groups)} texts do not compile:\n" + "\n".join(wrong)


# g++'s part is of the sweep because every other test compiles with it, or with whatever the default compiler is.
@pytest.mark.later
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.sweep if n == "g++" else []) for n in COMPILERS])
def test_every_file_compiles(name):
    check(command(name), [(path, "float") for path in FILES])


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["ziglang"])  # g++ compiles them for other tests; clang++ is what ziglang runs
def test_every_file_compiles_for_double_and_half(name):
    check(command(name), [(path, real) for path in FILES for real in reals(path)[1:]])


# Where long, the C library and the names of functions are others. A first look has one text for each of these systems.
SYSTEMS = ("aarch64-macos", "x86_64-macos", "x86_64-windows-gnu")
SAMPLE = ("chain.cpp", "convolution_last.cpp", "suppress.cu")


def on_system(system: str, jobs: list[tuple[Path, str]], *flags: str) -> None:
    check((*command("ziglang"), "-target", system), jobs, ["-mcpu=baseline", *flags])


@pytest.mark.later
@pytest.mark.parametrize("system", SYSTEMS)
def test_files_compile_for_other_systems(system):
    on_system(system, [(path, "float") for path in FILES if path.name in SAMPLE])


@pytest.mark.sweep
@pytest.mark.parametrize("flags", [(), (REPRODUCIBLE, UNFUSED)], ids=["ordinary", "reproducible"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_file_compiles_for_other_systems(system, flags):
    on_system(system, [(path, real) for path in FILES for real in reals(path)], *flags)


LONG = re.compile(r"\b(?<!long )long\b(?! long)|\b\d+[lL]\b")


def test_no_number_is_of_32_bits_on_windows_alone():
    """long is; long long has 64 everywhere."""
    for line, is_long in (
        ("long at = 0", True),
        ("at[2l * step]", True),
        ("(long long)at * 2ll, unsigned long long", False),
    ):
        assert bool(LONG.search(line)) == is_long
    for path in (*FILES, *HEADERS.parent.rglob("*.h")):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not LONG.search(line.split("//")[0]), f"{path.name}: {line}"


@pytest.mark.parametrize("name", COMPILERS)
def test_a_fault_is_seen(name, tmp_path):
    """In a template too, which -fsyntax-only of g++ does not look into."""
    bad = tmp_path / "bad.cu"
    bad.write_text(
        '#include "kernel.h"\ntemplate <class T> DEVICE T wrong(T x) { return x.missing; }\n'
        "KERNEL bad(int n, Real* y) { GRID_LOOP(i, n) y[i] = wrong(y[i]); }\n"
    )
    with pytest.raises(AssertionError, match=r"(?s)1 of 1 texts do not compile.*bad\.cu for float.*missing"):
        check(command(name), [(bad, "float")])


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform == "win32", reason="the cache's libraries cannot be removed while they are loaded")
@pytest.mark.parametrize("name", ["clang++", "ziglang"])  # all other tests run what the default compiler makes
def test_results(name, tmp_path):
    path = os.pathsep.join([str(TESTS.parent), str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "CXX": shlex.join(command(name)), "BOXPRESSO_CACHE": str(tmp_path), "PYTHONPATH": path}
    run = subprocess.run(
        [sys.executable, "-c", "import vector_cases; vector_cases.run()"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert {p.name.split("-")[0] for p in tmp_path.glob("*.so")} >= {"strided", "convolution", "gemm", "roi_align"}
