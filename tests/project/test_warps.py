"""benchmarks/warps.py: what warps do, counted on nvcc's own PTX."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_counts_of_a_small_case(tmp_path: Path) -> None:
    """A row for each kernel, whose sum stands at the head, with the lines that take most of it."""
    table = tmp_path / "table.txt"
    words = ["--tiny", "--lines", "2", "--out", str(table), "^ROIPooling backward"]
    said = subprocess.run(
        [sys.executable, "benchmarks/warps.py", *words], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert said.returncode == 0, said.stderr
    lines = table.read_text().splitlines()
    assert lines[1:] == said.stdout.splitlines()[1:]
    head = next(line for line in lines if line.startswith("ROIPooling backward"))
    rows = [line.split() for line in lines if re.match(r"  \w", line)]
    assert {row[0] for row in rows} >= {"region_tiles", "maxima_backward"}
    assert float(head.split()[2]) == pytest.approx(sum(float(row[1]) for row in rows), abs=0.02)
    for row in rows:
        assert 0 < int(row[2].rstrip("%")) <= 100
        assert float(row[6]) == 0 or float(row[6]) >= 1
    assert any(re.match(r" {6} +[\d.]+  \w+\.(cu|h):\d+$", line) for line in lines)
