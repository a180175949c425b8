"""Operators on arrays of 2^31 elements and more. Maps are mapped pages of zeros, which take memory only where they are written."""

from __future__ import annotations

import mmap
import sys
from math import prod
from pathlib import Path

import numpy as np
import pytest

from boxpresso import ops
from boxpresso.layers.regions import region_base
from boxpresso.proto.errors import BoxpressoError

SHAPE = 1, 3008, 1000, 1000  # 3 10^9 elements
LEAST = 1, 2160, 1000, 1000  # what is copied has more than 2^31 at least
RNG = np.random.default_rng(1)
CORNER = RNG.standard_normal((16, 40, 40)).astype(np.float16)  # of the last channels
ROIS = np.array([[0, 965.2, 961.1, 985.3, 990.7], [0, 970, 970, 999, 1005], [0, 3, 4, 20, 9]], np.float32)
TURNED = np.array([[0, 975, 975, 20, 12, 0.4], [0, 980, 985, 30, 20, 2]], np.float32)


def zeros(shape: tuple[int, ...], dtype: type = np.float16) -> np.ndarray:
    """Of the system's pages of zeros."""
    if not sys.platform.startswith("linux"):
        pytest.skip("pages without memory are asked for as Linux has them")
    try:
        reserve_none, size = 0x4000, prod(shape) * np.dtype(dtype).itemsize
        pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | reserve_none)
    except (OSError, ValueError) as error:
        pytest.skip(f"no {size >> 30} GB of addresses: {error}")
    return np.frombuffer(pages, dtype).reshape(shape)


def need_memory(gigabytes: int) -> None:
    text = Path("/proc/meminfo").read_text() if Path("/proc/meminfo").exists() else ""
    free = next((int(line.split()[1]) for line in text.splitlines() if line.startswith("MemAvailable")), 0) >> 20
    if free < gigabytes:
        pytest.skip(f"{gigabytes} GB of memory are needed, {free} are free")


SWEPT = [
    ("roi_align", ROIS, {"pool_mode": "max", "sampling_ratio": 2}, 2, 0),
    ("roi_align_rotated", TURNED, {"sampling_ratio": 2}, 2, 0),
    ("roi_pool", ROIS, {}, 2, 12),
]
CASES = [
    ("roi_align", ROIS, {}, 2, 0),
    ("roi_align", ROIS, {"sampling_ratio": 1}, 2, 0),
    ("ps_roi_align", ROIS, {"sampling_ratio": 2}, 4, 0),
    ("ps_roi_pool", ROIS, {}, 4, 0),
    ("prroi_pool", ROIS, {}, 2, 0),
    *(pytest.param(*case, marks=pytest.mark.sweep) for case in SWEPT),
]


@pytest.mark.parametrize(("name", "rois", "options", "size", "memory"), CASES)
def test_the_end_of_a_map_of_more_than_2_31_elements(name, rois, options, size, memory):
    """The last channels give what they give by themselves."""
    need_memory(memory)
    shape = LEAST if memory else SHAPE
    assert prod(shape) > 2**31
    x = zeros(shape, np.float32 if name == "prroi_pool" else np.float16)  # what it would copy
    x[0, -16:, -40:, -40:] = CORNER
    run = getattr(ops, name)
    wanted = run(np.ascontiguousarray(x[:, -16:]), rois, size, **options)
    result = run(x, rois, size, **options)
    assert np.abs(wanted).max() > 0.1
    assert np.array_equal(result[:, -wanted.shape[1] :], wanted)


@pytest.mark.sweep
def test_a_result_of_more_than_2_31_elements():
    need_memory(8)
    rois = np.tile(np.float32([0, 0, 0, 3, 3]), (50_000, 1))
    rois[-2:] = [0, 1, 1, 5, 6], [0, 2, 0, 6, 6]
    x = RNG.standard_normal((1, 1024, 8, 8)).astype(np.float16)
    result = ops.roi_align(x, rois, 7, sampling_ratio=1)
    assert result.size > 2**31
    assert np.array_equal(result[[0, -2, -1]], ops.roi_align(x, rois[[0, -2, -1]], 7, sampling_ratio=1))


@pytest.mark.sweep
def test_a_gradient_of_more_than_2_31_elements():
    need_memory(15)
    x, rois = zeros(LEAST), ROIS[:1]
    grad = RNG.standard_normal((1, LEAST[1], 2, 2)).astype(np.float16)
    result = ops.roi_align_backward(grad, x, rois, 2, sampling_ratio=2)["x"]
    last = np.ascontiguousarray(x[:, -16:])
    wanted = ops.roi_align_backward(np.ascontiguousarray(grad[:, -16:]), last, rois, 2, sampling_ratio=2)["x"]
    assert np.array_equal(result[:, -16:], wanted)
    assert np.abs(wanted).max() > 0.1


def test_16_bits_are_converted_in_parts(monkeypatch):
    x, grad = RNG.standard_normal((2, 3, 7, 9)).astype(np.float16), RNG.standard_normal((3, 3, 2, 2)).astype(np.float16)
    rois = np.float32([[0, 1, 1, 5, 5], [1, 0, 2, 8, 6], [1, 2, 2, 3, 3]])
    wanted = ops.roi_pool_backward(grad, x, rois, 2)["x"]
    monkeypatch.setattr(region_base, "CONVERTED", 50)
    assert np.array_equal(ops.roi_pool_backward(grad, x, rois, 2)["x"], wanted)
    assert np.any(wanted[1])


def test_limits_that_remain_are_named():
    rois = ROIS[:1]
    with pytest.raises(BoxpressoError, match=r"2147483648 pixels in a plane: kernels count to 2\^31 - 1"):
        ops.roi_align(zeros((1, 1, 2**16, 2**15)), rois, 2)
    with pytest.raises(BoxpressoError, match=r"elements at most 2\^31 - 1"):
        ops.permute(zeros((1, 2**16, 2**15)), (0, 2, 1))
