"""A depthwise convolution on a GPU is made by cuDNN or by our kernel, whichever a clock says is faster: it is asked once."""

from __future__ import annotations

import numpy as np
import pytest
import stand_in
from harness import Rig, close

from boxpresso.device import cudnn, open_device
from boxpresso.layers.dense import columns
from boxpresso.layers.dense.columns import ColumnConvolution
from boxpresso.proto.errors import DeviceError

pytestmark = pytest.mark.cuda
TEXT = """type: "Convolution" convolution_param { num_output: 6 group: 6 kernel_size: 3 pad: 1
    weight_filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 } }"""
X = np.random.default_rng(3).standard_normal((2, 6, 9, 8))
UP = np.random.default_rng(4).standard_normal((2, 6, 9, 8))


@pytest.fixture
def clock(monkeypatch, libraries):
    """Says that ours and cuDNN's take so many milliseconds, and notes what was asked; what it times is run."""

    class Clock:
        ours, theirs = 1.0, 2.0
        asked, turn = 0, 0

        def __call__(self, device, work):
            work()
            self.asked += 1
            self.turn = 1 - self.turn
            if isinstance(self.ours, Exception):
                raise self.ours
            return self.ours if self.turn else self.theirs

    clock = Clock()
    columns.measured.clear()
    monkeypatch.setattr(columns, "median_ms", clock)
    monkeypatch.setattr(open_device("cuda"), "debug", False)
    yield clock
    columns.measured.clear()


@pytest.fixture
def made(monkeypatch):
    """The products that our kernel makes, by name."""
    names = []
    for name in ("apply", "spread", "gradient"):
        run = getattr(ColumnConvolution, name)

        def noted(self, *args, name=name, run=run):
            names.append(name)
            return run(self, *args)

        monkeypatch.setattr(ColumnConvolution, name, noted)
    return names


def once(text=TEXT, x=X, up=UP, device="cuda"):
    rig = Rig(text, [x], device=device)
    for blob, seed in zip(rig.layer.blobs, (1, 2)):
        blob.data[...] = np.random.default_rng(seed).standard_normal(blob.shape)
    top = rig.forward()[0]
    bottom = rig.backward([up[: len(x)]])[0]
    return top, bottom, *rig.param_diffs()


@pytest.mark.parametrize("ours", [1.0, 1.9, 1.95, 9.0])
def test_the_faster_is_taken_and_asked_for_once(clock, made, ours):
    clock.ours = ours
    wanted = once(device="cpu")
    for turn in range(3):
        made.clear()
        for value, expected in zip(once(), wanted, strict=True):
            close(value, expected, rtol=1e-4, atol=1e-5)  # a measured gradient of the weights is added once
        assert clock.asked == 6, "each of three products is timed in two ways, in the first turn"
        assert made.count("apply") == (1 if ours < 1.94 else 0) + (turn == 0)
    assert set(columns.measured.values()) == {ours < 1.94}


def test_other_sizes_are_asked_for_anew(clock):
    once()
    once(x=X[:1])
    assert clock.asked == 12


def test_nothing_is_measured_where_it_must_not_be(clock, made, monkeypatch):
    """With one group there is no other kernel; BOXPRESSO_DEBUG and deterministic=True take cuDNN's."""
    once(TEXT.replace("group: 6", ""))
    monkeypatch.setattr(open_device("cuda"), "debug", True)
    once()
    monkeypatch.setattr(open_device("cuda"), "debug", False)
    monkeypatch.setattr(open_device("cuda"), "deterministic", True)
    once()
    assert (clock.asked, made) == (0, [])


def test_where_measuring_fails_cudnn_is_taken(clock, made):
    clock.ours = DeviceError("out of memory")
    once()
    assert not any(columns.measured.values())


def test_where_cudnn_has_no_algorithm_ours_is_taken_unmeasured(clock, made, monkeypatch):
    monkeypatch.setattr(cudnn.Convolution, "algorithm", lambda self, kind: None)
    for value, expected in zip(once(), once(device="cpu"), strict=True):
        close(value, expected, rtol=1e-4, atol=1e-5)
    assert clock.asked == 0
    assert all(columns.measured.values())


@pytest.mark.skipif(stand_in.active(), reason="times are a GPU's")
def test_a_gpu_chooses(libraries, monkeypatch):
    columns.measured.clear()
    once()
    assert len(columns.measured) == 3
