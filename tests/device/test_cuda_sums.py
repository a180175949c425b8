"""Which kernels add floating-point numbers in any order, and what deterministic=True makes of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import ptxas
import pytest
from threaded import library

from boxpresso.device import cache
from boxpresso.device.cubin import FLAGS, HEADERS
from boxpresso.device.kernel import Kernels
from boxpresso.device.signature import defines

# All there are. The gradients of regions on a GPU are not among them: a thread owns what it adds to (layers/regions/tiles.h).
ADDING = {"deformable_spread", "interp_backward"}
ENTRY = re.compile(r"\.entry (\w+)\(.*?(?=\.entry|\Z)", re.S)
SUM = re.compile(r"\b(?:atom|red)\.[\w.]*add\.[\w.]*f(?:16|32|64)")  # of floating-point numbers; whole ones are .u32
KERNEL = """#include "kernel.h"
KERNEL sums(int n, const Real* x, Real* y) {{
  {word}
  BLOCK_LOOP(b, n) THREAD_LOOP(t, 16) add(y + b, x[16 * b + t]);
}}
KERNEL marks(int n, const int* bits, int* y) {{
  BLOCK_LOOP(b, n) THREAD_LOOP(t, 16) add(y + b, bits[t]);
}}
"""


def declared(path: Path) -> set[str]:
    """The kernels of a file that say so."""
    return {name for name, kernel in Kernels(path).table.items() if kernel.adds}


def test_the_kernels_that_add_in_any_order_are_these():
    assert set().union(*map(declared, ptxas.files())) == ADDING


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
@pytest.mark.slow
def test_nvcc_makes_sums_of_floating_point_numbers_of_these_alone(tmp_path):
    """Of all files with the word, also where a kernel is handed it by another name."""
    files = [path for path in ptxas.files() if re.search(rb"(?<!void )\badd\(", cache.sources(path, HEADERS))]
    assert len(files) > 15
    made: dict[str, str] = {}
    for number, group in enumerate(ptxas.groups(files, 30)):
        text = tmp_path / f"{number}.cu"
        text.write_text(ptxas.together(group), encoding="utf-8")
        command = [
            "nvcc",
            "--ptx",
            *FLAGS,
            *defines("float"),
            f"-I{HEADERS}",
            "-arch",
            "compute_90",
            str(text),
            "-o",
            f"{text}.ptx",
        ]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr[-3000:]
        made.update({match[1]: match[0] for match in ENTRY.finditer(Path(f"{text}.ptx").read_text())})
    assert len(made) > 60
    assert {name for name, code in made.items() if SUM.search(code)} == ADDING


@pytest.mark.skipif(sys.platform != "linux", reason="words.h is for Linux")
@pytest.mark.parametrize("real", ["float", "double"])
def test_a_sum_that_is_not_declared_does_not_compile_for_a_gpu(tmp_path, real):
    for name, word in (("with", "SUMS_IN_ANY_ORDER;"), ("without", "")):
        (tmp_path / f"{name}.cu").write_text(KERNEL.format(word=word))
    assert declared(tmp_path / "with.cu") == {"sums"}
    library(Kernels(tmp_path / "with.cu"), real)
    with pytest.raises(
        AssertionError,
        match=r"a kernel whose threads add.* floating-point numbers to one place begins with SUMS_IN_ANY_ORDER",
    ):
        library(Kernels(tmp_path / "without.cu"), real)
