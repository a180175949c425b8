"""Convolution, Deconvolution and DepthwiseConvolution against loops in numpy, their gradients, and what they refuse."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso.device import Blob
from boxpresso.layers.dense import convolution_base as convolution
from boxpresso.layers.dense import convolution_host
from boxpresso.layers.dense.convolution_base import ColumnConvolution
from boxpresso.proto.errors import LayerError

RNG = np.random.default_rng(11)
FILLERS = 'weight_filler { type: "gaussian" std: 1 } bias_filler { type: "uniform" min: -1 max: 1 }'

# What is unusual in each: name, bottom shape, convolution_param, layer types that take it.
CASES = [
    ("plain", (2, 3, 7, 9), "num_output: 5 kernel_size: 3"),
    ("pointwise", (2, 20, 7, 9), "num_output: 70 kernel_size: 1"),
    ("pointwise_stride", (1, 4, 7, 9), "num_output: 6 kernel_size: 1 stride: 2"),
    ("pointwise_pad", (1, 4, 5, 5), "num_output: 6 kernel_size: 1 pad: 1"),
    ("pad_stride", (2, 4, 11, 8), "num_output: 6 kernel_size: 3 pad: 1 stride: 2"),
    ("dilated", (1, 4, 15, 14), "num_output: 6 kernel_size: 3 pad: 4 dilation: 4"),
    ("all_differ", (2, 4, 12, 17),
     "num_output: 6 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 3 pad_h: 2 pad_w: 1 dilation: 2 dilation: 3"),
    ("repeated", (1, 2, 9, 8), "num_output: 2 kernel_size: 2 kernel_size: 4 stride: 1 stride: 2 pad: 0 pad: 3"),
    ("far_padding", (1, 2, 3, 3), "num_output: 3 kernel_size: 2 pad: 5 stride: 3"),
    ("whole_image", (3, 4, 6, 5), "num_output: 9 kernel_h: 6 kernel_w: 5"),
    ("group", (2, 6, 8, 9), "num_output: 4 kernel_size: 3 pad: 1 group: 2"),
    ("depthwise", (2, 6, 9, 20), "num_output: 6 kernel_size: 3 pad: 1 group: 6"),
    ("depthwise_stride", (2, 5, 9, 41), "num_output: 5 kernel_size: 3 pad: 1 stride: 2 group: 5"),
    ("depthwise_times_2", (2, 3, 7, 8), "num_output: 6 kernel_h: 2 kernel_w: 5 pad: 2 group: 3 dilation: 2 stride: 3"),
    ("depthwise_skips", (1, 3, 13, 14), "num_output: 3 kernel_size: 2 stride: 5 group: 3"),
    ("one_channel", (2, 1, 6, 5), "num_output: 1 kernel_size: 3"),
    ("no_bias", (2, 3, 5, 5), "num_output: 4 kernel_size: 3 bias_term: false"),
    ("nd_asked", (2, 3, 5, 6), "num_output: 4 kernel_size: 3 pad: 1 force_nd_im2col: true"),
    ("one_axis", (2, 3, 40), "num_output: 4 kernel_size: 5 stride: 2 pad: 3"),
    ("three_axes", (2, 2, 4, 5, 6), "num_output: 4 kernel_size: 2 stride: 1 stride: 2 stride: 3 pad: 1 group: 2"),
    ("three_axes_depthwise", (1, 3, 4, 5, 3), "num_output: 3 kernel_size: 2 pad: 1 group: 3"),
    ("four_axes", (1, 2, 3, 4, 3, 4), "num_output: 3 kernel_size: 2 stride: 2 pad: 1"),
    ("no_axes", (3, 4), "num_output: 5"),
    ("axis_2", (2, 3, 4, 6, 5), "num_output: 3 kernel_size: 3 axis: 2 pad: 1"),
    ("axis_negative", (2, 4, 6, 5), "num_output: 3 kernel_size: 3 axis: -3"),
    ("many_places", (1, 3, 50, 61), "num_output: 20 kernel_size: 3 pad: 1"),
    ("deep", (1, 60, 9, 9), "num_output: 50 kernel_size: 3 pad: 1"),
]  # fmt: skip
IDS = [case[0] for case in CASES]


def rig(bottom, text, device="cpu", dtype=np.float64, type="Convolution", tops=1) -> Rig:
    bottoms = bottom if isinstance(bottom, list) else [bottom]
    text = f'type: "{type}" convolution_param {{ {text} {FILLERS} }}'
    return Rig(text, bottoms, device=device, dtype=dtype, tops=tops)


def reference(layer, image, weights, map_shape):
    """For each tap of each window: where it is in the image, the map and the weights; a plain loop."""
    axes = len(layer.kernel)
    inner, filters = weights.shape[1], weights.shape[0] // layer.group
    for place in product(*map(range, map_shape)):
        for tap in product(*map(range, layer.kernel)):
            at = tuple(place[a] * layer.stride[a] - layer.pad[a] + tap[a] * layer.dilation[a] for a in range(axes))
            if all(0 <= at[a] < image[a] for a in range(axes)):
                for g in range(layer.group):
                    yield (slice(None), slice(g * inner, (g + 1) * inner), *at), (
                        slice(None), slice(g * filters, (g + 1) * filters), *place), (
                        slice(g * filters, (g + 1) * filters), slice(None), *tap)  # fmt: skip


def bias_of(layer, axes):
    return np.asarray(layer.blobs[1].data).reshape(-1, *[1] * axes) if layer.bias_term else 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "shape", "text"), CASES, ids=IDS)
def test_convolution(name, shape, text, dtype, device):
    bottom = RNG.standard_normal(shape)
    case = rig(bottom, text, device, dtype)
    layer, actual = case.layer, case.forward()[0]
    axis = layer.channel_axis
    x = bottom.reshape(-1, *shape[axis:])
    weights = np.asarray(layer.blobs[0].data, np.float64)
    size = [(n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(x.shape[2:], layer.pad, layer.dilation, layer.kernel, layer.stride)]  # fmt: skip
    wanted = np.zeros((x.shape[0], layer.outputs, *size)) + bias_of(layer, len(size))
    for pixel, place, weight in reference(layer, x.shape[2:], weights, size):
        wanted[place] += x[pixel] @ weights[weight].T
    close(actual, wanted.reshape(*shape[:axis], layer.outputs, *size))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "shape", "text"), CASES, ids=IDS)
def test_deconvolution(name, shape, text, dtype, device):
    if name in ("far_padding",):
        pytest.skip("the padding is larger than what such a deconvolution makes")
    text = text.replace("num_output: 6", "num_output: 5") if name == "depthwise_stride" else text
    if name == "depthwise_times_2":
        text = text.replace("num_output: 6", "num_output: 3")
    bottom = RNG.standard_normal(shape)
    case = rig(bottom, text, device, dtype, "Deconvolution")
    layer, actual = case.layer, case.forward()[0]
    axis = layer.channel_axis
    y = bottom.reshape(-1, *shape[axis:])
    weights = np.asarray(layer.blobs[0].data, np.float64)
    size = [s * (n - 1) + d * (k - 1) + 1 - 2 * p
            for n, p, d, k, s in zip(y.shape[2:], layer.pad, layer.dilation, layer.kernel, layer.stride)]  # fmt: skip
    wanted = np.zeros((y.shape[0], layer.outputs, *size)) + bias_of(layer, len(size))
    for pixel, place, weight in reference(layer, size, weights, y.shape[2:]):
        wanted[pixel] += y[place] @ weights[weight]
    close(actual, wanted.reshape(*shape[:axis], layer.outputs, *size))


@pytest.mark.parametrize("type", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize(("name", "shape", "text"), CASES, ids=IDS)
def test_gradient(name, shape, text, type, device):
    if type == "Deconvolution" and name == "far_padding":
        pytest.skip("the padding is larger than what such a deconvolution makes")
    if type == "Deconvolution" and name == "depthwise_times_2":
        text = text.replace("num_output: 6", "num_output: 3")
    check_gradient(rig(RNG.standard_normal(shape), text, device, type=type), samples=25)


@pytest.mark.parametrize("type", ["DepthwiseConvolution", "ConvolutionDepthwise"])
@pytest.mark.parametrize("times", [1, 3])
def test_depthwise_is_convolution_with_groups(type, times, device):
    bottom = RNG.standard_normal((2, 4, 9, 10))
    text = f"num_output: {4 * times} kernel_size: 3 stride: 2 pad: 1"
    depthwise, grouped = rig(bottom, text, device, type=type), rig(bottom, f"{text} group: 4", device)
    for blob, other in zip(depthwise.layer.blobs, grouped.layer.blobs):
        assert blob.shape == other.shape
        blob.data[...] = np.asarray(other.data)
    close(depthwise.forward()[0], grouped.forward()[0], 1e-12, 1e-12)
    check_gradient(depthwise, samples=25)
    pairs, grouped = (rig(bottom, f"{text} group: 2", device, type=kind) for kind in (type, "Convolution"))
    for blob, other in zip(pairs.layer.blobs, grouped.layer.blobs):  # as MnasNet's prototxt has it
        blob.data[...] = np.asarray(other.data)
    close(pairs.forward()[0], grouped.forward()[0], 1e-12, 1e-12)


def test_columns_and_host_kernels_agree():
    """The way of N axes and of the GPU, run on the host for two axes, against the host's own kernels."""
    for name, shape, text in CASES:
        case = rig(RNG.standard_normal(shape), text)
        tops = case.forward()
        upstream = [RNG.standard_normal(t.shape) for t in tops]
        wanted = [*tops, *case.backward(upstream), *case.param_diffs()]
        case.layer.made = ColumnConvolution(case.layer.sizes, case.device)
        actual = [*case.forward(), *case.backward(upstream), *case.param_diffs()]
        for a, w in zip(actual, wanted):
            close(a, w, 1e-10, 1e-10, name)


# Large enough for the ways of few weights and many places, of Winograd's transforms, and of whole vectors with rests.
LARGE = [
    ("by_places", (3, 8, 33, 45), "num_output: 12 kernel_size: 3 stride: 2 pad: 1 group: 2"),
    ("by_places_dilated", (2, 7, 64, 20), "num_output: 9 kernel_size: 3 pad: 1 dilation: 2"),
    ("by_places_1x1", (1, 50, 60, 41), "num_output: 50 kernel_size: 1"),
    ("pointwise_many", (1, 300, 10, 10), "num_output: 270 kernel_size: 1"),
    ("pointwise_groups", (2, 40, 9, 7), "num_output: 100 kernel_size: 1 group: 2"),
    ("winograd_pad", (2, 40, 38, 37), "num_output: 36 kernel_size: 3 pad: 1"),
    ("winograd_no_pad", (2, 40, 38, 37), "num_output: 36 kernel_size: 3"),
    ("winograd_wide_pad", (1, 64, 45, 44), "num_output: 64 kernel_size: 3 pad: 2 group: 2"),
    ("depthwise_wide", (2, 5, 40, 41), "num_output: 15 kernel_size: 3 stride: 2 pad: 1 group: 5"),
    ("depthwise_5x5", (2, 4, 30, 35), "num_output: 4 kernel_size: 5 stride: 3 pad: 2 group: 4"),
]


@pytest.mark.parametrize("type", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_ones_agree_too(type, dtype):
    for name, shape, text in LARGE:
        case = rig(RNG.standard_normal(shape), text, type=type, dtype=dtype)
        tops = case.forward()
        upstream = [RNG.standard_normal(t.shape) for t in tops]
        wanted = [*tops, *case.backward(upstream), *case.param_diffs()]
        case.layer.made = ColumnConvolution(case.layer.sizes, case.device)
        actual = [*case.forward(), *case.backward(upstream), *case.param_diffs()]
        for a, w in zip(actual, wanted):
            close(a, w, 0, (3e-5 if dtype is np.float32 else 1e-11) * abs(w).max(), name)


@pytest.mark.parametrize("wild", [np.nan, np.inf])
def test_wild_pixels_spoil_the_same_weights_whatever_the_way(wild):
    name, shape, text = next(case for case in LARGE if case[0] == "winograd_pad")
    case = rig(RNG.standard_normal(shape), text, dtype=np.float32)
    upstream = [np.abs(RNG.standard_normal(t.shape)) for t in case.forward()]
    upstream[0][1, 3, 0, 0] = wild  # a corner: not under every tap
    results = []
    for convolution_of in (case.layer.convolution, ColumnConvolution(case.layer.sizes, case.device)):
        case.layer.made = convolution_of
        results.append([*case.backward(upstream), *case.param_diffs()])
    for ours, expected in zip(*results):
        assert (np.isfinite(ours) == np.isfinite(expected)).all(), name
        finite = np.isfinite(expected)
        close(ours[finite], expected[finite], 0, 3e-5 * abs(expected[finite]).max(), name)


def test_infinite_weights_of_depthwise_meet_no_padding():
    case = rig(RNG.standard_normal((1, 2, 5, 6)), "num_output: 2 kernel_size: 3 pad: 1 group: 2", dtype=np.float32)
    case.layer.blobs[0].data[0, 0, 0, 0] = np.inf
    (top,) = case.forward()
    upstream = np.ones_like(top)
    (diff,) = case.backward([upstream])
    expected = np.full((5, 6), np.inf)
    expected[4], expected[:, 5] = 1, 1  # no window has these pixels under its first tap
    assert (np.isinf(diff[0, 0]) == np.isinf(expected)).all()
    assert np.isfinite(diff[0, 1]).all()


def test_the_number_of_workers_does_not_matter(monkeypatch):
    for name, shape, text in [*CASES, *LARGE]:
        results = []
        for workers in (1, 2, 5):
            case = rig(np.random.default_rng(1).standard_normal(shape), text, dtype=np.float32)
            monkeypatch.setattr(case.device, "workers", workers)
            case.layer.sizes = None
            tops = case.forward()
            upstream = [np.random.default_rng(2).standard_normal(t.shape) for t in tops]
            results.append([*tops, *case.backward(upstream), *case.param_diffs()])
        for other in results[1:]:
            assert all((a == b).all() for a, b in zip(results[0], other)), name


@pytest.mark.parametrize("type", ["Convolution", "Deconvolution"])
def test_several_bottoms_share_weights(type, device):
    bottoms = [RNG.standard_normal((2, 4, 6, 7)) for _ in range(2)]
    both = rig(bottoms, "num_output: 6 kernel_size: 3", device, type=type, tops=2)
    tops = both.forward()
    upstream = [RNG.standard_normal(t.shape) for t in tops]
    both.backward(upstream)
    total = [0.0, 0.0]
    for i in range(2):
        alone = rig(bottoms[i], "num_output: 6 kernel_size: 3", device, type=type)
        for blob, other in zip(alone.layer.blobs, both.layer.blobs):
            blob.data[...] = np.asarray(other.data)
        close(tops[i], alone.forward()[0], 1e-12, 1e-12)
        alone.backward([upstream[i]])
        total = [t + d for t, d in zip(total, alone.param_diffs())]
    for actual, wanted in zip(both.param_diffs(), total):
        close(actual, wanted, 1e-10, 1e-10)
    check_gradient(both, bottoms=(0, 1), samples=15)
    check_gradient(both, bottoms=(1,), samples=15)


def test_gradients_of_many_images_are_packed_in_steps(monkeypatch):
    case = rig(RNG.standard_normal((7, 6, 9, 8)), "num_output: 4 kernel_size: 3 group: 2")
    upstream = [RNG.standard_normal(case.forward()[0].shape)]
    case.backward(upstream)
    wanted = case.param_diffs()[0]
    monkeypatch.setattr(convolution_host, "PACKED", 2 * 2 * 48 * 42)
    case.backward(upstream)
    close(case.param_diffs()[0], wanted, 1e-10, 1e-10)


def test_parameters_that_do_not_learn_are_left_alone(device):
    case = rig(RNG.standard_normal((1, 2, 5, 5)), "num_output: 3 kernel_size: 3", device)
    top = case.forward()[0]
    case.layer.param_propagate_down[:] = [False, True]
    case.backward([np.ones(top.shape)])
    weights, bias = case.param_diffs()
    assert (weights == 0).all()
    close(bias, np.full(3, 9.0))


@pytest.mark.parametrize("type", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize("text", ["num_output: 4", "num_output: 4 group: 4", "num_output: 4 group: 2"])
def test_other_sizes_then_none(type, text, device):
    """Weights stay; the result for each size is that of a fresh layer."""
    case = rig(np.zeros((1, 4, 8, 8)), f"{text} kernel_size: 3 pad: 1", device, type=type)
    for shape in ((3, 4, 11, 5), (1, 4, 2, 2), (0, 4, 8, 8), (2, 4, 20, 33)):
        bottom = RNG.standard_normal(shape)
        case.set_bottom(0, bottom)
        fresh = rig(bottom, f"{text} kernel_size: 3 pad: 1", device, type=type)
        for blob, other in zip(fresh.layer.blobs, case.layer.blobs):
            blob.data[...] = np.asarray(other.data)
        top, upstream = case.forward()[0], RNG.standard_normal(shape)
        assert top.shape == shape
        for a, w in zip([top, *case.backward([upstream]), *case.param_diffs()],
                        [fresh.forward()[0], *fresh.backward([upstream]), *fresh.param_diffs()]):  # fmt: skip
            assert (a == w).all()


@pytest.mark.parametrize("group", [1, 3])
def test_nan_and_infinity_stay_where_they_are(group, device):
    bottom = np.zeros((1, 3, 9, 9))
    bottom[0, :, 2, 2], bottom[0, :, 7, 7] = np.nan, np.inf
    case = rig(bottom, f"num_output: 3 kernel_size: 3 pad: 1 group: {group}", device, np.float32)
    case.layer.blobs[0].data[...] = 1
    case.layer.blobs[1].data[...] = 0
    top = case.forward()[0]
    wanted = np.zeros((9, 9))
    wanted[1:4, 1:4], wanted[6:9, 6:9] = np.nan, np.inf
    np.testing.assert_array_equal(top, np.broadcast_to(wanted, top.shape))


WINOGRAD = [((1, 32, 32, 33), "num_output: 32 pad: 1"), ((3, 33, 21, 20), "num_output: 45"),
            ((1, 35, 5, 250), "num_output: 32 pad: 3"), ((2, 64, 70, 9), "num_output: 66 pad: 2 group: 2"),
            ((1, 32, 31, 100), "num_output: 40 pad_h: 0 pad_w: 1 bias_term: false")]  # fmt: skip


@pytest.mark.parametrize(("shape", "text"), WINOGRAD)
@pytest.mark.parametrize("relu", [False, True])
def test_winograd(shape, text, relu, device):
    """The large 3 x 3 layers, in float; in double nothing is transformed."""
    bottom = RNG.standard_normal(shape).astype(np.float32)
    fast, plain = (rig(bottom, f"{text} kernel_size: 3", device, dtype) for dtype in (np.float32, np.float64))
    assert fast.layer.sizes.winograd
    for blob, other in zip(plain.layer.blobs, fast.layer.blobs):
        blob.data[...] = np.asarray(other.data, np.float64)
    fast.layer.fuse_relu = plain.layer.fuse_relu = relu
    close(fast.forward()[0], plain.forward()[0], 1e-5, 2e-6)
    bottom[0, 3, 4, 5], bottom[0, 9, 2, 7] = np.nan, np.inf
    for case in (fast, plain):
        case.set_bottom(0, bottom)
    actual, wanted = fast.forward()[0], plain.forward()[0]
    close(actual, wanted, 1e-5, 2e-6)
    assert not np.isfinite(wanted).all()


def test_winograd_and_workers(monkeypatch):
    results = []
    for workers in (1, 2, 5):
        bottom = np.random.default_rng(1).standard_normal(WINOGRAD[1][0])
        case = rig(bottom, f"{WINOGRAD[1][1]} kernel_size: 3", dtype=np.float32)
        monkeypatch.setattr(case.device, "workers", workers)
        results.append(case.forward()[0])
    assert all((r == results[0]).all() for r in results)


def test_bilinear_upsampling_of_a_ramp(device):
    """Inside, upsampling by 2 makes a ramp with half the slope."""
    bottom = np.broadcast_to(np.arange(6.0), (1, 2, 6, 6))
    text = 'num_output: 2 group: 2 kernel_size: 4 stride: 2 pad: 1 bias_term: false weight_filler { type: "constant" }'
    case = Rig(f'type: "Deconvolution" convolution_param {{ {text} }}', [bottom], device=device)
    tent = np.array([0.25, 0.75, 0.75, 0.25])
    case.layer.blobs[0].data[...] = np.outer(tent, tent)
    top = case.forward()[0]
    assert top.shape == (1, 2, 12, 12)
    close(top[:, :, 1:-1, 1:-1], np.broadcast_to(0.25 + 0.5 * np.arange(10), (1, 2, 10, 10)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel_size: 3", "num_output"),
        ("num_output: 2", "kernel_size is missing"),
        ("num_output: 2 kernel_size: 0", "kernel must be at least 1"),
        ("num_output: 2 kernel_h: 3", "kernel must be at least 1 along each axis, got"),
        ("num_output: 2 kernel_size: 3 stride: 0", "stride must be at least 1"),
        ("num_output: 2 kernel_size: 3 dilation: 0", "dilation must be at least 1"),
        ("num_output: 2 kernel_size: 3 kernel_h: 3 kernel_w: 3", "both given"),
        ("num_output: 2 kernel_size: 3 pad: 1 pad: 1 pad: 1", "pad is given 3 times"),
        ("num_output: 2 kernel_size: 3 group: 0", "group must be at least 1"),
        ("num_output: 2 kernel_size: 3 group: 3", "channels, 4, cannot be divided into 3 groups"),
        ("num_output: 3 kernel_size: 3 group: 2", "num_output, 3, cannot be divided into 2 groups"),
        ("num_output: 2 kernel_size: 6 pad: 1 dilation: 2", r"over \[11, 11\] pixels.*bottom has \[8, 8\] and pad"),
        ("num_output: 2 kernel_size: 3 axis: 4", "axis 4 does not fit"),
        ("num_output: 2 kernel_size: 3 relu: true", "Intel"),
        ("num_output: 2 kernel_size: 3 pad_l: 1", "Synopsys"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(LayerError, match=message):
        rig(np.zeros((1, 4, 8, 8)), text)


def test_a_dilation_of_0_under_a_kernel_of_1(device):
    """As Caffe takes it: there is nothing between taps."""
    text = 'type: "Convolution" convolution_param { num_output: 2 kernel_h: 1 kernel_w: 3 dilation: 0 dilation: 2 %s }'
    x = np.random.default_rng(0).standard_normal((1, 3, 4, 8))
    filler = 'weight_filler { type: "constant" value: 0.5 }'
    odd, plain = (
        Rig(t % filler, [x], device=device).forward()[0] for t in (text, text.replace("dilation: 0", "dilation: 1"))
    )
    np.testing.assert_array_equal(odd, plain)


def test_refusals_of_bottoms():
    with pytest.raises(LayerError, match="pad_h and pad_w are for 2 spatial axes"):
        rig(np.zeros((1, 4, 8)), "num_output: 2 kernel_size: 3 pad_h: 1")
    with pytest.raises(LayerError, match="one shape"):
        rig([np.zeros((1, 4, 8, 8)), np.zeros((1, 4, 8, 9))], "num_output: 2 kernel_size: 3", tops=2)
    with pytest.raises(LayerError, match="2 and 1"):
        rig([np.zeros((1, 4, 8, 8))] * 2, "num_output: 2 kernel_size: 3")
    case = rig(np.zeros((1, 4, 8, 8)), "num_output: 2 kernel_size: 3")
    case.set_bottom(0, np.zeros((1, 5, 8, 8)))
    with pytest.raises(LayerError, match="4 channels, the bottom now has 5"):
        case.forward()
    with pytest.raises(LayerError, match="pad is too large"):
        rig(np.zeros((1, 4, 2, 2)), "num_output: 2 kernel_size: 3 pad: 2", type="Deconvolution")
    with pytest.raises(LayerError, match="cannot be divided into 3 groups"):
        rig(np.zeros((1, 4, 8, 8)), "num_output: 4 kernel_size: 3 group: 3", type="DepthwiseConvolution")


@pytest.mark.parametrize("shape", [(2, 4, 6, 0), (2, 4, 0, 6), (2, 4, 0, 0), (2, 4, 0), (2, 4, 3, 0, 2)])
@pytest.mark.parametrize("more", ["", "group: 2", "stride: 2 group: 4", "pad: 1 dilation: 2"])
def test_a_deconvolution_of_nothing_is_its_bias(shape, more, device):
    text = f'kernel_size: 3 num_output: 4 {more} weight_filler {{ type: "xavier" }} bias_filler {{ value: 2 }}'
    case = Rig(f'type: "Deconvolution" convolution_param {{ {text} }}', [np.ones(shape)], device=device)
    (top,) = case.forward()
    assert top.size
    assert (top == 2).all()
    assert case.backward([np.ones(top.shape)])[0].shape == shape
    weights, bias = case.param_diffs()
    assert not weights.any()
    close(bias, np.full(4, top.size / 4))


@pytest.mark.parametrize(
    ("images", "size", "parts"), [(1, (7, 90), 1), (3, (16, 40), 6), (70, (2, 3), 5), (2, (1, 300), 4)]
)
def test_a_bias_gradient_is_shared_by_blocks(device, monkeypatch, images, size, parts):
    """As many as sizes say: small ones of several images, or pieces of one; the order of the sum is the same in every run."""
    monkeypatch.setattr(convolution, "RUN", images * size[0] * size[1] // parts)
    text = 'type: "Convolution" convolution_param { num_output: 3 kernel_size: 1 weight_filler { type: "xavier" } }'
    diffs = np.random.default_rng(images).standard_normal((images, 3, *size))
    seen = []
    for _ in range(2):
        rig = Rig(text, [np.ones((images, 2, *size))], device=device)
        top = rig.forward()[0]
        assert rig.layer.bias_parts(rig.top[0]) == parts
        rig.backward([diffs.reshape(top.shape)], [False])
        seen.append(rig.param_diffs()[1])
    close(seen[0], diffs.sum((0, 2, 3)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(*seen)


def test_the_first_layers_of_a_trunk_have_many_blocks():
    """VGG's conv1_1 on one picture: 64 channels of 600 x 800 places were 64 blocks."""
    text = 'type: "Convolution" convolution_param { num_output: 64 kernel_size: 3 pad: 1 }'
    layer = Rig(text, [np.zeros((1, 3, 8, 8))]).layer
    assert layer.bias_parts(Blob((1, 64, 600, 800))) * 64 == 1024
    assert layer.bias_parts(Blob((1, 64, 8, 8))) == 1
