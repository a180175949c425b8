"""The position-sensitive region layers against recorded outputs of R-FCN's Caffe, MXNet and torchvision, by hand, and on
wild input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from harness import Rig, close
from shared import golden, recorded

from boxpresso.layers.core import layer_class

POOLING = 'type: "PSROIPooling" psroi_pooling_param { output_dim: %d group_size: %d spatial_scale: %r }'
ALIGN = 'type: "PSROIAlign" psroi_align_param { output_dim: %d group_size: %d spatial_scale: %r sample_num: %d }'
FEATURES_ONLY = [True, False]
REALS = ["float", "double"]


def case_of(path: Path, real: str) -> tuple[dict, dict, type, dict]:
    """A recorded case, its parameters, the dtype, and the tolerance; skips what is not recorded in double."""
    case, (suffix, dtype) = recorded(path), ("", np.float32) if real == "float" else ("_f64", np.float64)
    if "output" + suffix not in case:
        pytest.skip("not recorded in double")
    for key in [k for k in case if suffix and k.endswith(suffix)]:
        case[key.removesuffix(suffix)] = case[key]
    tolerance = {"rtol": 2e-5, "atol": 2e-5} if real == "float" else {"rtol": 1e-9, "atol": 1e-9}
    return case, json.loads(str(case["params"])), dtype, tolerance


def square(p: dict, c: dict) -> tuple[int, int, float]:
    group = p.get("group_size", p.get("pooled_height"))
    return c["input"].shape[1] // group**2, group, p["spatial_scale"]


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/PSROIPooling"), ids=lambda p: p.stem)
def test_pooling_as_rfcn(path, real, device):
    c, p, dtype, tolerance = case_of(path, real)
    r = Rig(POOLING % square(p, c), [c["input"], c["rois"]], device=device, dtype=dtype, tops=2)
    top, channel = r.forward()
    close(top, c["output"], **tolerance)
    assert np.array_equal(channel, c["mapping_channel"])
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input"], **tolerance)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/PSRoIPool_torchvision"), ids=lambda p: p.stem)
def test_pooling_as_torchvision(path, real, device, monkeypatch):
    monkeypatch.setattr(layer_class("PSROIPooling", ""), "torchvision", True)
    c, p, dtype, tolerance = case_of(path, real)
    r = Rig(POOLING % square(p, c), [c["input"], c["rois"]], device=device, dtype=dtype)
    close(r.forward()[0], c["output"], **tolerance)
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input"], **tolerance)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/PSRoIAlign"), ids=lambda p: p.stem)
def test_align_as_torchvision(path, real, device):
    c, p, dtype, tolerance = case_of(path, real)
    text = ALIGN % (*square(p, c), p["sampling_ratio"])
    r = Rig(text, [c["input"], c["rois"]], device=device, dtype=dtype, tops=2)
    top, channel = r.forward()
    close(top, c["output"], **tolerance)
    assert np.array_equal(channel, c["channel_mapping"])
    close(r.backward([c["grad_output"]], FEATURES_ONLY)[0], c["grad_input"], **tolerance)


def deformable(p: dict) -> str:
    names = ("output_dim", "group_size", "pooled_size", "part_size", "sample_per_part", "spatial_scale", "trans_std")
    values = " ".join(f"{name}: {p[name]!r}" for name in names)
    return f'type: "DeformablePSROIPooling" deformable_psroi_pooling_param {{ {values} no_trans: {str(p["no_trans"]).lower()} }}'


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("path", golden("roi/DeformablePSROIPooling"), ids=lambda p: p.stem)
def test_deformable_as_mxnet(path, real, device):
    c, p, dtype, tolerance = case_of(path, real)
    moved = [] if p["no_trans"] else [c["trans"]]
    r = Rig(deformable(p), [c["input"], c["rois"], *moved], device=device, dtype=dtype, tops=2)
    top, count = r.forward()
    close(top, c["output"], **tolerance)
    assert np.array_equal(count, c["top_count"])
    diffs = r.backward([c["grad_output"]], [True, False, True][: len(r.bottom)])
    close(diffs[0], c["grad_input"], **tolerance)
    if moved:
        close(
            diffs[2],
            c["grad_trans"],
            rtol=max(1e-4 if real == "float" else 0, tolerance["rtol"]),
            atol=tolerance["atol"],
        )
