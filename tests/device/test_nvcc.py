"""Every kernel compiles with the real nvcc in float for the oldest GPU that we serve, and those of regions in double and for Hopper, too;
with a sweep in both for all, and for more GPUs."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import ptxas
import pytest

from boxpresso.device import open_device
from boxpresso.device.kernel import Kernels

pytestmark = pytest.mark.later

# The oldest GPU, and for regions Hopper; with a sweep all of ptxas.ARCHITECTURES. One pass of the compiler proper, assembled four times, takes a
# third of the time of four, which benchmarks/kernels.py makes; no text asks for the GPU's architecture, so that the passes differ little.
SWEEP = os.environ.get("BOXPRESSO_SWEEP") == "1"
BOTH = ("float", "double")
QUICK = ((75, ptxas.ARCHITECTURES if SWEEP else (75,)),)
REGIONS = ((75, (75, 80)), (90, (90, 120))) if SWEEP else ((75, (75, 90)),)
HALF = ((75, (75, 90)),)
TOGETHER = 30  # files that one nvcc compiles
FEW = ("relu", "separable", "suppress")  # the others are slow
FEW_OF_FLOAT16 = ("separable_tiles",)
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")


def reals_of(path: Path) -> tuple[str, ...]:
    """What a file is compiled for here: double asks most of registers, and the host's compiler has seen that it is right."""
    return BOTH if SWEEP or ptxas.of_regions(path) else BOTH[:1]


@pytest.fixture(scope="module")
def uses(request, tmp_path_factory) -> Callable[[Path, str], list[ptxas.Use]]:
    """What nvcc says of a file's kernels. All files of a kind that this run tests are compiled when the first is asked for."""
    folder, whole = tmp_path_factory.mktemp("nvcc"), request.config.getoption("--slow")
    known: dict[tuple[Path, str], Future[list[ptxas.Use]]] = {}

    def of(path: Path, real: str) -> list[ptxas.Use]:
        if (path, real) not in known:
            regions, few = ptxas.of_regions(path), FEW_OF_FLOAT16 if real == "half" else FEW
            alike = [p for p in ptxas.files() if ptxas.of_regions(p) == regions and (whole or p.stem in few)]
            reals = reals_of(path) if real != "half" else ("half",)
            codes = HALF if real == "half" else REGIONS if regions else QUICK
            for group in ptxas.groups(alike if real != "half" else filter(stores, alike), TOGETHER):
                for real_ in reals:
                    text = folder / f"{len(known)}.cu"
                    text.write_text(ptxas.together(group), encoding="utf-8")
                    future = pool.submit(ptxas.compile, text, real_, codes, text.with_suffix(".out"))
                    known.update({(p, real_): future for p in group})
        names = Kernels(str(path)).table
        return [use for use in known[path, real].result() if use.kernel in names]

    with ThreadPoolExecutor(2) as pool:
        yield of


@needs_nvcc
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[] if p.stem in FEW else pytest.mark.slow, id=p.stem) for p in ptxas.files()],
)
def test_compiles(path: Path, uses):
    """For the kernels of region layers without spills."""
    codes = REGIONS if ptxas.of_regions(path) else QUICK
    architectures = [a for _, assembled in codes for a in assembled]
    wanted = {(name, a) for name in Kernels(str(path)).table for a in architectures}
    for real in reals_of(path):
        kernels = uses(path, real)
        assert {(u.kernel, u.architecture) for u in kernels} == wanted
        if ptxas.of_regions(path):
            assert not [u for u in kernels if u.spills], f"{path.name} in {real} does not fit into registers"


def wide(count: str) -> str:
    """A kernel of 400 numbers, written as `count`, that are all needed at a time."""
    text = f"KERNEL wide(int n, const Real* x, Real* y) {{\n  const volatile Real* from = x;\n  GRID_LOOP(i, n) {{\n    Real v[{count}];\n"
    text += "".join(f"    v[{k}] = from[{k} * n + i];\n" for k in range(400))
    return text + "".join(f"    y[{k} * n + i] = v[{399 - k}] * v[{(k * 7) % 400}];\n" for k in range(400)) + "  }\n}\n"


def stores(path: Path) -> bool:
    """Whether a file has kernels of numbers that may be kept in float16."""
    return any(p.kind == "Store" for kernel in Kernels(str(path)).table.values() for p in kernel.parameters)


@needs_nvcc
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, marks=[] if p.stem in FEW_OF_FLOAT16 else pytest.mark.slow, id=p.stem)
        for p in ptxas.files()
        if stores(p)
    ],
)
def test_compiles_for_float16(path: Path, uses):
    """Without spills, for the oldest GPU and for Hopper."""
    kernels = uses(path, "half")
    assert {(u.kernel, u.architecture) for u in kernels} == {(k, a) for k in Kernels(str(path)).table for a in (75, 90)}
    assert not [u for u in kernels if u.spills]


@needs_nvcc
@pytest.mark.slow
def test_files_together_are_compiled_as_alone(tmp_path):
    """Also where two would meet in one text: kernels of one name, a macro of the one's header that is a name of the other."""
    (tmp_path / "size.h").write_text("#pragma once\n#define SIZE 400\n")
    texts = {
        "wide": f'#include "size.h"\n#define MINE 1\n{wide("SIZE")}',
        "small": "constexpr int MINE = 3;\nstruct Part { Real a; };\nKERNEL small(int n, Real* y) { GRID_LOOP(i, n) y[i] = MINE; }\n",
        "clash": "constexpr int SIZE = 5;\nKERNEL clash(int n, Real* y) { GRID_LOOP(i, n) y[i] = SIZE; }\n",
        "again": "struct Part { int b, c; };\nKERNEL small(int n, Real* y) { GRID_LOOP(i, n) y[i] = 2; }\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.cu").write_text(f'#include "kernel.h"\n{text}')
    paths = [tmp_path / f"{name}.cu" for name in texts]
    groups = ptxas.groups(paths, 30)
    assert [[p.stem for p in group] for group in groups] == [["wide", "small"], ["clash", "again"]]
    assert [len(group) for group in ptxas.groups(paths, 1)] == [1, 1, 1, 1]
    together = []
    for group in groups:
        (tmp_path / "all.cu").write_text(ptxas.together(group))
        together += ptxas.compile(tmp_path / "all.cu", "double", [(75, [75])], tmp_path / "out")
    alone = [use for path in paths for use in ptxas.compile(path, "double", [(75, [75])], tmp_path / "out")]
    assert Counter(together) == Counter(alone)
    assert {use.kernel for use in together if use.spills} == {"wide"}


@needs_nvcc
def test_a_spill_is_seen(tmp_path):
    """A kernel that keeps more than fits, so that the test above can fail."""
    (tmp_path / "wide.cu").write_text(f'#include "kernel.h"\n{wide("400")}')
    (use,) = ptxas.compile(tmp_path / "wide.cu", "double", [(75, [75])], tmp_path / "out")
    assert use.kernel == "wide"
    assert use.registers == 255
    assert use.spills > 0


@needs_nvcc
def test_an_error_is_nvccs_own(tmp_path):
    (tmp_path / "bad.cu").write_text(
        '#include "kernel.h"\nKERNEL bad(int n, Real* y) { GRID_LOOP(i, n) y[i] = threads; }\n'
    )
    with pytest.raises(ptxas.DoesNotCompile, match=r'bad.cu\(2\): error: identifier "threads" is undefined'):
        ptxas.compile(tmp_path / "bad.cu", "float", QUICK, tmp_path / "out")


# Of double all tests that compute in it say so, and test_compilers.py of every file.
@pytest.mark.parametrize("real", ["float", pytest.param("double", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("path", [*ptxas.files(), *sorted(ptxas.PACKAGE.rglob("*.cpp"))], ids=lambda p: p.name)
def test_compiles_for_the_host(path: Path, real):
    kernels = Kernels(str(path))
    open_device("cpu").build(kernels, np.dtype({"float": np.float32, "double": np.float64}[real]))
