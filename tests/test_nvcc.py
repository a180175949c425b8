"""Every kernel compiles with the real nvcc, in float and double, for the oldest to the newest GPUs that we serve."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from boxpresso.layers.core.cuda import FLAGS

LAYERS = Path(__file__).resolve().parents[1] / "boxpresso" / "layers"
ARCHITECTURES = (75, 80, 90)
FILES = sorted(LAYERS.rglob("*.cu"))


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_compiles(path, real, tmp_path):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not on PATH")
    for arch in ARCHITECTURES:
        command = [nvcc, *FLAGS, f"-DReal={real}", f"-I{LAYERS / 'core'}", f"-arch=sm_{arch}", "-cubin"]
        result = subprocess.run([*command, str(path), "-o", str(tmp_path / "out")], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
