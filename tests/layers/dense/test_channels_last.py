"""The kernels for arrays whose channels are last, on the CPU and on a GPU: the same numbers as the layers' own, pooling to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import Blob
from boxpresso.device import open_device
from boxpresso.layers.core.gpu_lowering import KERNELS, AffineLast
from boxpresso.layers.dense.channels_last import PoolLast

RNG = np.random.default_rng(7)
# Shape of the bottom, pooling_param: ceil mode, windows that reach beyond the padding, odd numbers of channels, whole images.
POOLS = {
    "VGG": ((2, 8, 9, 7), "kernel_size: 2 stride: 2"),
    "ResNet": ((1, 64, 12, 13), "kernel_size: 3 stride: 2"),
    "GoogLeNet": ((3, 5, 8, 8), "kernel_size: 3 stride: 1 pad: 1"),
    "ceil and pad": ((2, 3, 10, 7), "kernel_h: 3 kernel_w: 4 stride_h: 3 stride_w: 2 pad_h: 1 pad_w: 3"),
    "floor": ((1, 4, 8, 8), "kernel_size: 3 stride: 2 ceil_mode: false"),
    "beyond": ((1, 2, 5, 5), "kernel_size: 1 stride: 3 pad: 0"),
    "one channel": ((2, 1, 6, 5), "kernel_size: 3 stride: 2 pad: 1"),
    "whole": ((2, 36, 9, 11), "global_pooling: true"),
    "whole of few": ((3, 7, 2, 3), "global_pooling: true"),
    "wide": ((1, 6, 3, 140), "kernel_h: 2 kernel_w: 70 stride: 20"),
}  # fmt: skip
BY_CHANNEL = {
    "BatchNorm": 'type: "BatchNorm"',
    "Scale": 'type: "Scale" scale_param { bias_term: true filler { type: "gaussian" } bias_filler { type: "gaussian" } }',
    "Scale alone": 'type: "Scale" scale_param { filler { type: "gaussian" } }',
    "Bias": 'type: "Bias" bias_param { filler { type: "gaussian" } }',
    "PReLU": 'type: "PReLU" prelu_param { filler { type: "gaussian" } }',
    "PReLU of one": 'type: "PReLU" prelu_param { channel_shared: true }',
}


def as_last(values: np.ndarray) -> np.ndarray:
    """The same elements with channels last, under the shape that the blob has."""
    return np.ascontiguousarray(values.transpose(0, 2, 3, 1)).reshape(values.shape)


def as_planes(values: np.ndarray) -> np.ndarray:
    images, channels, height, width = values.shape
    return values.reshape(images, height, width, channels).transpose(0, 3, 1, 2)


def run_last(how, values: np.ndarray, shape: tuple[int, ...], device, dtype=np.float32) -> np.ndarray:
    """What a step gives for a bottom, both as Caffe has them."""
    bottom, top = Blob(values.shape, dtype, device), Blob(shape, dtype, device)
    bottom.data[...] = as_last(values)
    top.data[...] = np.full(shape, np.nan)
    how.refresh()
    how.run([bottom], top)
    return as_planes(np.array(top.data))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["MAX", "AVE", "AVE avg_include_pad: false"])
@pytest.mark.parametrize("name", POOLS)
def test_pooling_gives_the_same_bits(name, method, dtype, device):
    shape, text = POOLS[name]
    x = RNG.standard_normal(shape).astype(dtype)
    x.reshape(-1)[::11] = [np.inf, -np.inf, np.nan, -0.0, 3e38][x.size % 5]
    rig = Rig(f'type: "Pooling" pooling_param {{ pool: {method} {text} }}', [x], device=device, dtype=dtype)
    with np.errstate(all="ignore"):
        (wanted,) = rig.forward()
        got = run_last(PoolLast(rig.layer), x, wanted.shape, rig.device, dtype)
    if rig.layer.wide and method != "MAX":  # in another order
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("channels", [1, 4, 6])
@pytest.mark.parametrize("name", BY_CHANNEL)
def test_factors_of_channels(name, channels, device):
    x = RNG.standard_normal((2, channels, 3, 5)).astype(np.float32)
    rig = Rig(BY_CHANNEL[name], [x], device=device, phase="TEST")
    if name == "BatchNorm":
        mean, variance, factor = rig.layer.blobs
        mean.data[...], variance.data[...], factor.data[...] = (
            RNG.standard_normal(channels),
            RNG.uniform(0.5, 2, channels),
            2,
        )
    how = AffineLast(rig.layer, channels)
    (wanted,) = rig.forward()
    np.testing.assert_allclose(run_last(how, x, x.shape, rig.device), wanted, rtol=1e-5, atol=1e-6)
    if device == "cpu":  # where no array counts its changes, and no plan asks
        return
    arrays = list(how.arrays)
    rig.layer.blobs[0].data[...] *= 2
    (wanted,) = rig.forward()
    np.testing.assert_allclose(run_last(how, x, x.shape, rig.device), wanted, rtol=1e-5, atol=1e-6)
    assert [id(a) for a in how.arrays] == [id(a) for a in arrays], "a graph has their addresses"


def test_filters(device):
    """(maps, channels, *kernel) to (maps, *kernel, channels)."""
    opened = open_device(device)
    weights = RNG.standard_normal((5, 3, 2, 4)).astype(np.float32)
    last = opened.empty((weights.size,), np.float32)
    KERNELS.on(opened).filters_last(weights.size, opened.table(weights, np.float32), last, 3, 8)
    np.testing.assert_array_equal(np.array(last).reshape(5, 2, 4, 3), weights.transpose(0, 2, 3, 1))


def launch() -> None:
    """Each kernel, for tests/device/test_threaded.py."""
    cpu = open_device("cpu")
    for name in ("ceil and pad", "whole", "ResNet"):
        shape, text = POOLS[name]
        for method in ("MAX", "AVE"):
            rig = Rig(f'type: "Pooling" pooling_param {{ pool: {method} {text} }}', [RNG.standard_normal(shape)])
            run_last(PoolLast(rig.layer), RNG.standard_normal(shape), rig.top[0].shape, cpu)
    for name in ("Scale", "PReLU"):
        rig = Rig(BY_CHANNEL[name], [RNG.standard_normal((2, 6, 3, 5))])
        run_last(AffineLast(rig.layer, 6), RNG.standard_normal((2, 6, 3, 5)), (2, 6, 3, 5), cpu)
    weights = RNG.standard_normal((5, 3, 2, 4)).astype(np.float32)
    KERNELS.on(cpu).filters_last(weights.size, weights, np.zeros_like(weights), 3, 8)
