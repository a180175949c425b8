"""One layer without a Net, and what to ask of every layer.

A test's author writes a prototxt line, the bottoms, and what to expect; the rest is derived: forward, gradient, float and
double, each device, a smaller input afterwards and an empty one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from shared import recorded

from boxpresso.testing import Rig, check_gradient

__all__ = ["Rig", "check_golden", "check_gradient", "close"]  # Rig and check_gradient are public: boxpresso.testing


def close(
    actual: np.ndarray, wanted: np.ndarray, rtol: float = 2e-4, atol: float = 2e-5, title: str = "", terms: float = 0.0
) -> None:
    """Equal within rtol, or atol of the largest wanted value; NaN and infinity in the same places.

    terms: the largest of the terms that the values are sums of. Where these cancel, the order of the sum decides what is left of
    them, and atol is of this number.
    """
    wanted = np.asarray(wanted)
    assert np.shape(actual) == wanted.shape, f"{title}: shape {np.shape(actual)}, wanted {wanted.shape}"
    finite = wanted[np.isfinite(wanted)]
    scale = float(np.abs(finite).max(initial=terms))
    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=atol * scale, err_msg=title, equal_nan=True)


def check_golden(path: Path, device: str, tweak: Callable[[Rig], None] | None = None) -> None:
    """Runs one recorded case of golden/caffe: tops, bottom diffs and parameter diffs are Caffe's."""
    case = recorded(path)
    counted = {key: int(case[f"n_{key}"]) for key in ("bottom", "top", "param")}
    rig = Rig(
        str(case["layer"]),
        [case[f"bottom_{i}"] for i in range(counted["bottom"])],
        device=device,
        phase=str(case["phase"]),
        tops=counted["top"],
        in_place=bool(case["inplace"]),
        params=[case[f"param_{i}"] for i in range(counted["param"])],
    )
    assert len(rig.layer.blobs) == counted["param"], f"{len(rig.layer.blobs)} parameters, Caffe has {counted['param']}"
    for i, blob in enumerate(rig.layer.blobs):
        assert blob.shape == case[f"param_{i}"].shape, (
            f"parameter {i}: {blob.shape}, Caffe has {case[f'param_{i}'].shape}"
        )
    if tweak:
        tweak(rig)
    for i, top in enumerate(rig.forward()):
        close(top, case[f"top_{i}"], title=f"top {i}")
    for i in range(counted["param"]):
        if f"param_after_{i}" in case:
            close(np.array(rig.layer.blobs[i].data), case[f"param_after_{i}"], title=f"parameter {i} after forward")
    if not case["has_backward"]:
        return
    down = [f"bottom_diff_{i}" in case for i in range(counted["bottom"])]
    diffs = [case[f"top_diff_{i}"] if f"top_diff_{i}" in case else np.zeros(t.shape) for i, t in enumerate(rig.top)]
    bottoms = rig.backward(diffs, down)
    for i, wanted in enumerate(down):
        if wanted:
            close(bottoms[i], case[f"bottom_diff_{i}"], title=f"bottom diff {i}")
        elif not case["inplace"]:
            assert np.isnan(bottoms[i]).all(), f"bottom {i}: its diff was written although it was not asked for"
    for i, diff in enumerate(rig.param_diffs()):
        if f"param_diff_{i}" in case:
            close(diff, case[f"param_diff_{i}"], title=f"parameter diff {i}")


def calls_of(work):
    """How many functions of Python a piece of work calls."""
    count = 0

    def note(frame, event, arg):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
