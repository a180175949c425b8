"""Every layer against what the real Caffe (SSD fork, CPU) computed, forward and backward."""

from __future__ import annotations

import pytest
from harness import check_golden
from shared import HERE, SHARED, golden

from boxpresso.layers.core import REGISTRY, discover

discover()
FOLDERS = sorted({p.name for base in (HERE, SHARED) for p in (base / "golden" / "caffe").glob("*") if p.is_dir()})
CASES = [(t, path) for t in FOLDERS if t.lower() in REGISTRY for path in golden(f"caffe/{t}")]


@pytest.mark.parametrize(("type", "path"), CASES, ids=[f"{t}-{p.stem}" for t, p in CASES])
def test_caffe(type, path, device):
    check_golden(path, device)
