"""BOXPRESSO_LOG: what operators are called with, their kernels and times, by Python's logging; nothing without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from boxpresso import ops
x, rois = np.ones((1, 4, 16, 16), "f"), np.array([[0, 1, 1, 9, 9]] * 3, "f")
for _ in range(3):
    ops.roi_align(x, rois, 7, sampling_ratio=2)
ops.roi_align_backward(np.ones((3, 4, 7, 7), "f"), x, rois, 7)
ops.nms(rois[:, 1:], np.ones(3), 0.5)
try:
    ops.roi_align(x, np.array([[0, 0, 0, 1e9, 1e9]], "f"), 7)
except Exception:
    pass
print(hasattr(ops.operator.Call.forward, "__wrapped__"))
"""


def run(word):
    environment = {**os.environ, "BOXPRESSO_LOG": word}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout.strip(), done.stderr.splitlines()


def test_nothing_by_default():
    assert run("") == (0, "False", [])


@pytest.mark.parametrize("word", ["info", "debug"])
def test_entry_and_exit(word):
    status, wrapped, lines = run(word)
    assert (status, wrapped) == (0, "True")
    text = "\n".join(lines)
    assert re.search(
        r"INFO boxpresso.ops roi_align: x \(1, 4, 16, 16\) float32, rois \(3, 5\) float32, output_size=7, .*cpu", text
    )
    assert len(re.findall(r"roi_align: gave \(3, 4, 7, 7\) float32 after [\d.]+ ms", text)) == 3
    assert re.search(r"roi_align_backward: gave \[\(1, 4, 16, 16\) float32, None\] after", text)
    assert re.search(r"nms: \(3, 4\) float32, \(3,\) float64, 0.5\n(.*\n)?.*nms: gave \(1,\) int64 after", text)
    assert re.search(r"roi_align: LayerError after", text)
    kernels = [line for line in lines if line.startswith("DEBUG")]
    assert bool(kernels) == (word == "debug")
    if kernels:
        assert any("kernel roi_align_lists of roi_align.cu, n=3, float32" in line for line in kernels)
        assert any(
            "launches of the call before again: kernel roi_align_lists of roi_align.cu" in line for line in kernels
        )


def test_another_word():
    status, _, lines = run("all")
    assert status == 1
    assert lines[-1].endswith("BOXPRESSO_LOG must be info or debug, got 'all'")
