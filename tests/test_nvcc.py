"""Every kernel compiles with the real nvcc, in float and double, for the oldest to the newest GPUs that we serve."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import ptxas
import pytest

from boxpresso.device import open_device
from boxpresso.device.kernel import Kernels

REALS = ("float", "double")
# One pass of the compiler proper, assembled four times, takes a third of the time of four, which benchmarks/kernels.py makes.
QUICK = ((75, (75, 80, 90, 120)),)
REGIONS = ((75, (75, 80)), (90, (90, 120)))
FEW = ("relu", "roi_align", "suppress")  # the others are slow
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")


@needs_nvcc
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[] if p.stem in FEW else pytest.mark.slow, id=p.stem) for p in ptxas.files()],
)
def test_compiles(path: Path, tmp_path):
    """For the kernels of region layers without spills."""
    codes = REGIONS if ptxas.of_regions(path) else QUICK
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda real: ptxas.compile(path, real, codes, tmp_path / real), REALS))
    wanted = {(name, a) for name in Kernels(str(path)).table for a in ptxas.ARCHITECTURES}
    for real, uses in zip(REALS, found):
        assert {(u.kernel, u.architecture) for u in uses} == wanted
        if ptxas.of_regions(path):
            assert not [u for u in uses if u.spills], f"{path.name} in {real} does not fit into registers"


def stores(path: Path) -> bool:
    """Whether a file has kernels of numbers that may be kept in float16."""
    return any(p.kind == "Store" for kernel in Kernels(str(path)).table.values() for p in kernel.parameters)


@needs_nvcc
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, marks=[] if p.stem == "roi_align_tiles" else pytest.mark.slow, id=p.stem)
        for p in ptxas.files()
        if stores(p)
    ],
)
def test_compiles_for_float16(path: Path, tmp_path):
    """Without spills, for the oldest GPU and for Hopper."""
    uses = ptxas.compile(path, "half", ((75, (75, 90)),), tmp_path / "out")
    assert {u.kernel for u in uses} == set(Kernels(str(path)).table)
    assert not [u for u in uses if u.spills]


@needs_nvcc
def test_a_spill_is_seen(tmp_path):
    """A kernel that keeps more than fits, so that the test above can fail."""
    text = '#include "kernel.h"\nKERNEL wide(int n, const Real* x, Real* y) {\n  GRID_LOOP(i, n) {\n    Real v[400];\n'
    text += "".join(f"    v[{k}] = x[{k} * n + i];\n" for k in range(400))
    text += "".join(f"    y[{k} * n + i] = v[{399 - k}] * v[{(k * 7) % 400}];\n" for k in range(400)) + "  }\n}\n"
    (tmp_path / "wide.cu").write_text(
        text.replace("Real* y", "Real* __restrict__ y").replace("const Real* x", "const volatile Real* x")
    )
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


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", [*ptxas.files(), *sorted(ptxas.PACKAGE.rglob("*.cpp"))], ids=lambda p: p.name)
def test_compiles_for_the_host(path: Path, real):
    kernels = Kernels(str(path))
    open_device("cpu").build(kernels, np.dtype({"float": np.float32, "double": np.float64}[real]))
