"""The operators that are separable, beside products of matrices of weights: see separable.py."""

from __future__ import annotations

import re

import numpy as np
import pytest
import separable
from harness import close
from places import ROOT
from region_checks import regions

from boxpresso import ops
from boxpresso.layers.regions import separable_base

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 20, 13, 17))
WILD = np.array(
    [
        [0, np.nan, 1, 4, 4],
        [5, 1, 1, 4, 4],
        [1, 2, 2, np.inf, 9],
        [0, 9, 9, 3, 3],
        [1, 4, 4, 4, 4],
        [-0.5, -30, -30, 60, 60],
    ]
)
ROIS = np.concatenate([regions(RNG, 30, 2, 34), WILD])


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("ratio", [0, 1, 3])
@pytest.mark.parametrize("size", [(7, 7), (1, 4)])
def test_roi_align(size, ratio, aligned):
    arguments = (ROIS, size, 0.5, ratio, aligned)
    result = ops.roi_align(X, *arguments)
    close(result, separable.roi_align(X, *arguments), rtol=1e-10, atol=1e-11)
    grad = RNG.standard_normal(result.shape)
    diff = ops.roi_align_backward(grad, X, *arguments)["x"]
    close(diff, separable.roi_align_backward(grad, ROIS, X.shape, 0.5, ratio, aligned), rtol=1e-10, atol=1e-11)
    single = ops.roi_align(X.astype(np.float32), *arguments)
    rounded = separable.roi_align(X.astype(np.float32), ROIS.astype(np.float32), *arguments[1:])
    close(single, rounded, rtol=1e-4, atol=1e-5)


def test_roi_align_of_single_samples_in_planes(monkeypatch):
    """Which few regions of a large map have."""
    monkeypatch.setitem(separable_base.MANY, "cpu", 0)
    x = np.pad(X, [(0, 0), (0, 0), (0, 0), (0, 60)], "reflect")  # wide enough for bins far apart
    rows = np.concatenate([ROIS, [[0, 2, 3, 140, 22], [1, 150, -9, 20, 30]]])
    for size, aligned in (((7, 7), False), ((3, 35), True)):
        result = ops.roi_align(x, rows, size, 0.5, 1, aligned)
        close(result, separable.roi_align(x, rows, size, 0.5, 1, aligned), rtol=1e-10, atol=1e-11)
        grad = RNG.standard_normal(result.shape)
        diff = ops.roi_align_backward(grad, x, rows, size, 0.5, 1, aligned)["x"]
        close(diff, separable.roi_align_backward(grad, rows, x.shape, 0.5, 1, aligned), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("ratio", [0, 2])
def test_deform_roi_pool_without_offsets(ratio):
    """Which takes half a pixel off and has no smallest size, as an aligned ROIAlign."""
    result = ops.deform_roi_pool(X, ROIS[:30], None, (3, 2), 0.5, ratio)
    close(result, separable.roi_align(X, ROIS[:30], (3, 2), 0.5, ratio, True), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("ratio", [0, 2])
def test_ps_roi_align(ratio):
    """Each bin has channels of its own: of all channels' bins those on the diagonal."""
    result = ops.ps_roi_align(X, ROIS[:30], 2, 0.5, ratio)
    all_bins = separable.roi_align(X, ROIS[:30], (2, 2), 0.5, ratio, True).reshape(30, 5, 2, 2, 2, 2)
    close(result, np.einsum("kcpqpq->kcpq", all_bins), rtol=1e-10, atol=1e-11)


def test_a_pyramid():
    maps = [RNG.standard_normal((2, 3, 64 >> k, 80 >> k)) for k in range(3)]
    rows = regions(RNG, 20, 2, 250)
    result = ops.multi_scale_roi_align(
        maps, rows, (3, 2), (0.25, 0.125, 0.0625), 2, canonical_scale=90, canonical_level=3
    )
    side = np.sqrt((rows[:, 3] - rows[:, 1]) * (rows[:, 4] - rows[:, 2]))
    level = np.clip(np.floor(3 + np.log2(side / 90) + 1e-6), 2, 4).astype(int) - 2
    assert len(set(level)) > 1
    for k, x in enumerate(maps):
        close(result[level == k], separable.roi_align(x, rows[level == k], (3, 2), 0.25 / 2**k, 2, False), rtol=1e-9)


def test_the_form_on_the_page_of_operators():
    page = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    names: dict = {}
    exec(re.search(r"```python\n(import numpy as np\n\ndef axis_weights.*?)```", page, re.DOTALL)[1], names)
    rows = ROIS[:30]
    close(names["roi_align"](X, rows, (3, 2), 0.5, 2), ops.roi_align(X, rows, (3, 2), 0.5, 2), rtol=1e-10, atol=1e-11)
