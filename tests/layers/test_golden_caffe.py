"""Every layer against what the real Caffe (SSD fork, CPU) computed, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_golden, close
from places import TESTS
from shared import SHARED, golden, recorded

from boxpresso.layers.core import layer_class
from boxpresso.proto import parse_net

# Folders that are not named after a layer type, and the test that reads them.
ELSEWHERE = {"Net": "tests/net/test_net.py", "PythonRPN": "tests/layers/detection/test_rcnn.py"}
FOLDERS = sorted({p.name for base in (TESTS, SHARED) for p in (base / "golden" / "caffe").glob("*") if p.is_dir()})
CASES = [(folder, path) for folder in FOLDERS if folder not in ELSEWHERE for path in golden(f"caffe/{folder}")]

# Recorded faults of Caffe that we do not copy (docs/differences.md); each has a test of its own below.
FAULTS = {("Power", "inplace_scale")}


@pytest.mark.parametrize(
    ("type", "path"), [c for c in CASES if (c[0], c[1].stem) not in FAULTS], ids=lambda x: getattr(x, "stem", x)
)
def test_caffe(type, path, device):
    check_golden(path, device)


@pytest.mark.parametrize(("type", "path"), [c for c in CASES if (c[0], c[1].stem) == ("Power", "inplace_scale")])
def test_power_in_place_has_a_gradient(type, path, device):
    """Caffe overwrites the top's diff before it reads it: its recorded gradient is scale^2, whatever comes from above."""
    case = recorded(path)
    rig = Rig(str(case["layer"]), [case["bottom_0"]], device=device, in_place=True)
    close(rig.forward()[0], case["top_0"])
    scale = rig.layer.param.power_param.scale
    close(case["bottom_diff_0"], np.full_like(case["top_0"], scale**2))
    close(rig.backward([case["top_diff_0"]])[0], scale * case["top_diff_0"])


def test_each_recorded_case_is_of_a_known_layer():
    """A case whose layer has lost its name would raise above; here is that each folder holds what its name says."""
    for folder, path in CASES:
        assert layer_class(folder, "").type == folder, folder
        with np.load(path) as case:
            assert parse_net(str(case["layer"])).layer[0].type == folder, path


def test_folders_that_are_read_elsewhere_are_there():
    for folder, test in ELSEWHERE.items():
        assert folder in FOLDERS
        assert f'golden("caffe/{folder}")' in (TESTS.parent / test).read_text(encoding="utf-8")
