"""PrROIPooling against recorded outputs of mmcv's kernel and published numbers, by hand, and on wild input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from harness import Rig, close
from shared import golden, recorded

TEXT = 'type: "PrROIPooling" prroi_pooling_param { pooled_h: %d pooled_w: %d spatial_scale: %r }'


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("path", golden("roi/PrRoIPool"), ids=lambda p: p.stem)
def test_as_mmcv(path, real, device):
    c, (suffix, dtype) = recorded(path), ("", np.float32) if real == "float" else ("_f64", np.float64)
    if "output" + suffix not in c:
        pytest.skip("not recorded in double")
    p = json.loads(str(c["params"]))
    text = TEXT % (p["pooled_height"], p["pooled_width"], p["spatial_scale"])
    r = Rig(text, [c["input"], c["rois"]], device=device, dtype=dtype)
    r_top = r.forward()[0]
    features, rois = r.backward([c["grad_output"]])
    if real == "double":
        close(r_top, c["output_f64"], rtol=1e-9, atol=1e-9)
        close(features, c["grad_input_f64"], rtol=1e-9, atol=1e-9)
        close(rois, c["grad_rois_f64"], rtol=1e-9, atol=1e-9)
        return
    close(r_top, c["output"], rtol=2e-4)  # the recorded kernel's own noise in float, up to 1e-4 of its double
    close(features, c["grad_input"], rtol=2e-4)
    close(rois, c["grad_rois"], rtol=1e-2, atol=1e-2)
    if "output_f64" in c:  # ours is far nearer
        close(r_top, c["output_f64"], rtol=1e-6, atol=1e-6)
        close(features, c["grad_input_f64"], rtol=1e-6, atol=1e-6)
        close(rois, c["grad_rois_f64"], rtol=2e-5, atol=2e-5)
