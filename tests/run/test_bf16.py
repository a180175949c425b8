"""Maps in bfloat16: kernels against numpy in float64, with factors and stores rounded here, and what the plan of a net makes of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from places import ROOT
from plan_nets import NETS, conv, data, layer, normal, relu
from vector_cases import convolved

from boxpresso import Net
from boxpresso.device import open_device
from boxpresso.graph.graph import BFLOAT16, LAST
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.layers.dense import lowerings
from boxpresso.proto import parse_net
from boxpresso.summary import summarise_plan

pytestmark = pytest.mark.skipif(not bf16_available(open_device("cpu")), reason="this CPU does not multiply bfloat16")
ULP = 2.0**-8  # half of a unit in the last place, of 1


def rounded(x: np.ndarray) -> np.ndarray:
    """To bfloat16, ties to even, from what float32 makes of it; NaN stays NaN."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    up = (bits + (0x7FFF + (bits >> 16 & 1))) & 0xFFFF0000
    return np.where(np.isnan(x), np.nan, up.astype(np.uint32).view(np.float32)).astype(np.float64)


def made(text: str, seed: int = 1, **options) -> Net:
    """A net with random parameters."""
    net = Net(parse_net(text), device="cpu", precision="bf16", **options)
    rng = np.random.default_rng(seed)
    for each in net.layers:
        for blob in each.blobs:
            blob.data[...] = (
                rng.random(blob.shape) + 0.5 if each.type == "BatchNorm" else rng.standard_normal(blob.shape)
            )
    return net


def kernels(net: Net) -> list[str]:
    """The kernels that a forward launches, in order, but for those that turn its outputs."""
    names = [kernel.name for part in net._runner.parts for chain in part.now.chains for kernel, _ in chain.names]
    return [name for name in names if name != "to_planes"]


def copy(name: str, bottom: str, channels: int) -> str:
    """A convolution whose weights `identity` makes those of a copy: what a map in bfloat16 holds, exactly."""
    return conv(name, bottom, channels, "kernel_size: 1 bias_term: false")


def identity(net: Net, *names: str) -> None:
    for name in names:
        blob = net.params[name][0]
        blob.data[...] = np.eye(blob.shape[0])[:, :, None, None]


def near(seen: np.ndarray, exact: np.ndarray, size: np.ndarray | float = 0.0) -> None:
    """Whether a stored map is the exact sums rounded once: all to a unit in the last place, nearly all to the last bit.

    size: what float32 rounds in the sums, the sum of the terms' absolute values.
    """
    wanted = rounded(exact)
    assert seen.shape == wanted.shape
    limit = 2 * ULP * np.abs(wanted) + 4e-7 * np.asarray(size) + 1e-30
    assert (np.abs(seen - wanted) <= limit).all()
    assert (seen == wanted).mean() > 0.97


# channels, maps, height, width, and the fields of a convolution
WINDOWS = [
    (1, 5, 9, 11, "kernel_size: 3"),
    (3, 33, 13, 10, "kernel_size: 3 stride: 2 pad: 1"),
    (4, 16, 8, 8, "kernel_size: 5 pad: 2"),
    (17, 16, 7, 9, "kernel_size: 1"),
    (17, 33, 9, 8, "kernel_size: 3 stride: 2 pad: 1"),
    (33, 17, 8, 7, "kernel_size: 3 pad: 2 dilation: 2"),
    (32, 48, 6, 5, "kernel_size: 1"),
    (32, 49, 9, 9, "kernel_size: 1 stride: 2"),
    (40, 70, 5, 6, "kernel_h: 1 kernel_w: 3 pad_h: 0 pad_w: 1"),
    (34, 18, 7, 7, "kernel_size: 3 stride: 2 group: 2"),
    (18, 12, 6, 6, "kernel_size: 1 group: 2"),
    (600, 33, 3, 4, "kernel_size: 1"),
    (130, 20, 4, 4, "kernel_size: 3 stride: 2 pad: 1"),
    (16, 16, 5, 5, "kernel_size: 1 pad: 1"),
]


def field(text: str, name: str, default: int, axis: str = "h") -> int:
    match = re.search(rf"\b{name}(?:_size|_{axis})?: (\d+)", text)
    return int(match[1]) if match else default


def convolution(x: np.ndarray, weights: np.ndarray, bias: np.ndarray, text: str) -> np.ndarray:
    """From its definition, in float64."""
    dilation, group = field(text, "dilation", 1), field(text, "group", 1)
    pads = [field(text, "pad", 0, axis) for axis in "hw"]
    x = np.pad(x, ((0, 0), (0, 0), *((pad, pad) for pad in pads)))
    high, wide = weights.shape[2:]
    spread = np.zeros((*weights.shape[:2], dilation * (high - 1) + 1, dilation * (wide - 1) + 1))
    spread[:, :, ::dilation, ::dilation] = weights
    stride = field(text, "stride", 1)
    return convolved(x, spread, 0, group)[:, :, ::stride, ::stride] + bias.reshape(-1, 1, 1)


@pytest.mark.parametrize("case", WINDOWS, ids=str)
@pytest.mark.parametrize("images", [1, 3])
def test_convolutions_are_sums_of_rounded_factors_rounded_once(case, images):
    """Of a map in bfloat16 into another, with ReLU; and of the image, which is floats, into floats."""
    channels, maps, height, width, text = case
    start = data(images, channels, height, width)
    net = made(start + copy("i", "data", channels) + conv("a", "i", maps, text) + relu("r", "a") + copy("o", "a", maps))
    identity(net, "i", "o")
    x = np.random.default_rng(7).standard_normal((images, channels, height, width))
    weights, bias = (np.asarray(blob.data, np.float64) for blob in net.params["a"])
    seen = net.forward(data=x)["o"]
    if channels > 1:  # of one channel the copy is a depthwise convolution
        assert kernels(net) == ["to_bf16"] * (channels > 4) + ["convolve_bf16"] * 3
    exact = convolution(rounded(x), rounded(weights), bias, text)
    size = convolution(np.abs(x), np.abs(weights), np.abs(bias), text)
    near(seen, np.maximum(exact, 0), size)

    alone = made(start + conv("a", "data", maps, text))
    seen = alone.forward(data=x)["a"]
    weights, bias = (np.asarray(blob.data, np.float64) for blob in alone.params["a"])
    exact = convolution(rounded(x), rounded(weights), bias, text)
    assert (np.abs(seen - exact) <= 1e-6 * convolution(np.abs(x), np.abs(weights), np.abs(bias), text)).all()


def points(x: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Both axes of tiles or filters by a matrix."""
    return np.einsum("ik,...kl,jl->...ij", matrix, x, matrix)


PIXELS = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], float)
TAPS = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
PLACES = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], float)


def by_tiles(x: np.ndarray, weights: np.ndarray, bias: np.ndarray, pad: int) -> np.ndarray:
    """F(2x2, 3x3) with the points of pixels and of filters rounded, in float64."""
    images, _, height, width = x.shape
    down, across = height + 2 * pad - 2, width + 2 * pad - 2
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad + down % 2), (pad, pad + across % 2)))
    tiles = np.lib.stride_tricks.sliding_window_view(x, (4, 4), (2, 3))[:, :, ::2, ::2]
    products = np.einsum("nchwij,fcij->nfhwij", rounded(points(tiles, PIXELS)), rounded(points(weights, TAPS)))
    result = points(products, PLACES)
    high, wide = result.shape[2:4]
    result = result.transpose(0, 1, 2, 4, 3, 5).reshape(images, len(weights), 2 * high, 2 * wide)
    return result[:, :, :down, :across] + bias.reshape(-1, 1, 1)


@pytest.mark.parametrize(
    ("channels", "maps", "height", "width", "pad"), [(16, 33, 15, 14, 1), (17, 16, 13, 21, 0), (300, 20, 11, 12, 1)]
)
def test_3x3_convolutions_by_tiles_round_points(channels, maps, height, width, pad):
    net = made(
        data(2, channels, height, width) + copy("i", "data", channels) + conv("a", "i", maps, f"kernel_size: 3 pad: {pad}")
        + copy("o", "a", maps)
    )  # fmt: skip
    identity(net, "i", "o")
    x = np.random.default_rng(7).standard_normal((2, channels, height, width))
    weights, bias = (np.asarray(blob.data, np.float64) for blob in net.params["a"])
    seen = net.forward(data=x)["o"]
    assert "winograd_bf16" in kernels(net)
    text = f"pad: {pad}"
    near(
        seen, by_tiles(rounded(x), weights, bias, pad), 4 * convolution(np.abs(x), np.abs(weights), np.abs(bias), text)
    )
    plain = convolution(rounded(x), rounded(weights), bias, text)
    assert np.abs(seen - plain).max() < 0.02 * np.abs(plain).max()


def test_the_maximum_of_2_x_2_places_in_the_store_of_tiles():
    halves = layer("p", "Pooling", "a", text="pooling_param { kernel_size: 2 stride: 2 }")
    net = made(
        data(1, 20, 25, 23)
        + copy("i", "data", 20)
        + conv("a", "i", 18, "kernel_size: 3 pad: 1")
        + relu("r", "a")
        + halves
        + copy("o", "p", 18)
    )
    identity(net, "i", "o")
    x = np.random.default_rng(7).standard_normal((1, 20, 25, 23))
    weights, bias = (np.asarray(blob.data, np.float64) for blob in net.params["a"])
    seen = net.forward(data=x)["o"]
    assert kernels(net)[-2:] == ["winograd_bf16", "convolve_bf16"]
    exact = np.pad(np.maximum(by_tiles(rounded(x), weights, bias, 1), 0), ((0, 0), (0, 0), (0, 1), (0, 1)))
    near(seen, exact.reshape(1, 18, 13, 2, 12, 2).max((3, 5)), 40.0)


@pytest.mark.parametrize("channels", [1, 3, 17, 32, 33, 80])
@pytest.mark.parametrize(
    "text",
    [
        "kernel_size: 3 pad: 1",
        "kernel_size: 3 stride: 2 pad: 1",
        "kernel_size: 5 pad: 2",
        "kernel_size: 3 pad: 2 dilation: 2",
        "kernel_size: 2 stride: 2",
    ],
)
def test_depthwise_convolutions(channels, text):
    """Weights are floats."""
    net = made(
        data(2, channels, 11, 21) + copy("i", "data", channels) + conv("a", "i", channels, f"{text} group: {channels}")
        + relu("r", "a", "relu_param { negative_slope: 0.1 }") + copy("o", "a", channels)
    )  # fmt: skip
    identity(net, "i", "o")
    x = np.random.default_rng(7).standard_normal((2, channels, 11, 21))
    weights, bias = (np.asarray(blob.data, np.float64) for blob in net.params["a"])
    seen = net.forward(data=x)["o"]
    lines = channels in (32, 80) and text.startswith("kernel_size: 3") and "dilation" not in text
    assert ("depthwise_three_bf16" in kernels(net)) == lines
    exact = convolution(rounded(x), weights, bias, f"{text} group: {channels}")
    near(seen, np.where(exact < 0, 0.1 * exact, exact), 10.0)


@pytest.mark.parametrize("channels", [17, 32, 90])
@pytest.mark.parametrize("last", [False, True])
def test_a_depthwise_convolution_with_a_sum_and_slopes_in_its_store(channels, last):
    """last: stored as floats, for the net's output."""
    net = made(
        data(1, channels, 10, 11) + copy("i", "data", channels) + conv("a", "i", channels, f"kernel_size: 3 pad: 1 group: {channels}")
        + layer("s", "Eltwise", ["a", "i"]) + layer("v", "PReLU", "s") + ("" if last else copy("o", "v", channels))
    )  # fmt: skip
    identity(net, "i", *([] if last else ["o"]))
    x = rounded(np.random.default_rng(7).standard_normal((1, channels, 10, 11)))
    weights, bias = (np.asarray(blob.data, np.float64) for blob in net.params["a"])
    seen = net.forward(data=x)["v" if last else "o"]
    assert len(kernels(net)) == 3 + (not last)
    total = convolution(x, weights, bias, f"kernel_size: 3 pad: 1 group: {channels}") + x
    exact = np.where(total < 0, np.asarray(net.params["v"][0].data, np.float64).reshape(-1, 1, 1) * total, total)
    if last:
        np.testing.assert_allclose(seen, exact, rtol=1e-5, atol=1e-5)
    else:
        near(seen, exact, 10.0)


@pytest.mark.parametrize("channels", [1, 3, 17, 33])
def test_pooling_scale_sums_slopes_and_concatenation(channels):
    """Each is stored once, rounded from float32; Scale, the sum and the slopes are one step."""
    net = made(
        data(2, channels, 9, 10) + copy("i", "data", channels)
        + layer("m", "Pooling", "i", text="pooling_param { kernel_size: 3 stride: 2 pad: 1 }")
        + layer("e", "Pooling", "i", text="pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }")
        + layer("s", "Scale", "e", text="scale_param { bias_term: true }")
        + layer("t", "Eltwise", ["m", "s"]) + layer("v", "PReLU", "t") + layer("w", "Concat", ["v", "m"])
        + copy("o", "w", 2 * channels)
    )  # fmt: skip
    identity(net, "i", "o")
    x = rounded(np.random.default_rng(7).standard_normal((2, channels, 9, 10)))
    seen = net.forward(data=x)["o"]
    assert set(kernels(net)) <= {"to_bf16", "convolve_bf16", "pool_bf16", "depthwise_bf16", "copy_bf16"}
    scale, shift, slopes = (
        np.asarray(b.data, np.float64).reshape(-1, 1, 1) for name in ("s", "v") for b in net.params[name]
    )
    padded = np.pad(x, ((0, 0), (0, 0), (1, 2), (1, 2)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2][:, :, :5, :6]
    most = windows.max((4, 5))
    high, wide = ([min(2 * i + 2, end) - (2 * i - 1) for i in range(count)] for count, end in ((5, 10), (6, 11)))
    area = np.outer(high, wide)  # padding counts, but for what is beyond it
    means = rounded(np.where(np.isinf(windows), 0, windows).sum((4, 5)) / area)
    total = most + means * scale + shift
    exact = np.where(total < 0, slopes * total, total)
    near(seen[:, :channels], exact, 10.0)
    np.testing.assert_array_equal(seen[:, channels:], most)


def test_a_window_that_lies_outside_is_finite():
    """-FLT_MAX is rounded to -infinity, of which a convolution makes NaN for all its maps."""
    net = made(
        data(1, 4, 4, 6) + copy("i", "data", 4) + layer("m", "Pooling", "i", text="pooling_param { kernel_size: 1 stride: 2 }")
        + copy("o", "m", 4)
    )  # fmt: skip
    identity(net, "i", "o")
    x = rounded(np.random.default_rng(7).standard_normal((1, 4, 4, 6)))
    seen = net.forward(data=x)["o"]
    assert kernels(net).count("pool_bf16") == 1
    np.testing.assert_array_equal(seen[:, :, :2, :3], x[:, :, ::2, ::2])
    outside = np.concatenate([seen[:, :, 2].ravel(), seen[:, :, :, 3].ravel()])
    np.testing.assert_allclose(outside, -np.finfo(np.float32).max, rtol=ULP)


@pytest.mark.parametrize("channels", [7, 32])
def test_inner_products(channels):
    """Over all places of a map, and over rows."""

    def dense(name, bottom, number):
        return layer(name, "InnerProduct", bottom, text=f"inner_product_param {{ num_output: {number} }}")

    net = made(
        data(5, channels, 3, 3)
        + copy("i", "data", channels)
        + dense("a", "i", 19)
        + relu("r", "a")
        + dense("b", "a", 33)
    )
    identity(net, "i")
    x = np.random.default_rng(7).standard_normal((5, channels, 3, 3))
    seen = net.forward(data=x)["b"]
    (w, b), (v, c) = ([np.asarray(blob.data, np.float64) for blob in net.params[name]] for name in "ab")
    hidden = rounded(np.maximum(rounded(x).reshape(5, -1) @ rounded(w).T + b, 0))
    np.testing.assert_allclose(seen, hidden @ rounded(v).T + c, rtol=0, atol=2e-2 * np.abs(seen).max())
    assert np.median(np.abs(seen - (hidden @ rounded(v).T + c))) < 1e-4 * np.abs(seen).max()


def test_numbers_that_are_not_finite():
    """NaN and infinity go where a convolution of the layers' own has them, and nowhere else."""
    text = (
        data(1, 19, 29, 28)
        + copy("i", "data", 19)
        + conv("a", "i", 21, "kernel_size: 3 stride: 2 pad: 1")
        + conv("b", "a", 9, "kernel_size: 3 pad: 1 group: 3")
    )
    text += (
        layer("p", "Pooling", "b", text="pooling_param { pool: AVE kernel_size: 2 }")
        + conv("c", "p", 9, "kernel_size: 3 pad: 1 group: 9")
        + copy("o", "c", 9)
    )
    net, plain = made(text), Net(parse_net(text), device="cpu", optimize=False)
    identity(net, "i", "o")
    for one, other in zip(net.layers, plain.layers):
        for blob, twin in zip(one.blobs, other.blobs):
            twin.data[...] = blob.data
    for value in (np.nan, np.inf, -np.inf):
        x = np.random.default_rng(7).standard_normal((1, 19, 29, 28)).astype(np.float32)
        x[0, 3, 8, 1], x[0, 18, 0, 7] = value, value
        seen, wanted = net.forward(data=x)["o"], plain.forward(data=x)["o"]
        np.testing.assert_array_equal(np.isnan(seen), np.isnan(wanted))
        np.testing.assert_array_equal(np.isinf(seen), np.isinf(wanted))
        finite = np.isfinite(wanted)
        assert finite.any()
        assert not finite.all()
        assert np.abs(seen - wanted)[finite].max() < 0.05 * np.abs(wanted[finite]).max()


def test_stores_round_to_the_nearest_and_keep_nan():
    """All there is between two neighbours, ties, numbers beyond the largest, zeros of both signs, and NaN of every kind."""
    bits = np.array(
        [
            0x3F800000,
            0x3F807FFF,
            0x3F808000,
            0x3F808001,
            0x3F818000,
            0x7F7F8000,
            0x7F7F7FFF,
            0xFF7FFFFF,
            0x7F800000,
            0xFF800000,
            0x7FC00000,
            0x7F800001,
            0xFFFFFFFF,
            0x80000000,
            0,
            0x00800000,
        ],
        np.uint32,
    )
    x = np.tile(bits.view(np.float32).reshape(1, 1, 4, 4), (1, 20, 1, 1))
    net = made(
        data(1, 20, 4, 4)
        + conv("a", "data", 20, "kernel_size: 1 group: 20 bias_term: false")
        + layer("p", "Pooling", "a", text="pooling_param { pool: AVE kernel_size: 1 }")
        + conv("b", "p", 20, "kernel_size: 1 group: 20 bias_term: false")
    )
    for name in "ab":
        net.params[name][0].data[...] = 1
    seen = net.forward(data=x)["b"]
    wanted = rounded(x)
    np.testing.assert_array_equal(np.isnan(seen), np.isnan(x))
    np.testing.assert_array_equal(seen, wanted.astype(np.float32))


@pytest.mark.parametrize("name", NETS)
def test_results_do_not_depend_on_workers(name):
    net = made(NETS[name])
    x = {blob: np.random.default_rng(3).standard_normal(net.blobs[blob].shape) for blob in net.inputs}
    before, results = net.device.workers, []
    try:
        for workers in (1, 2, 3):
            net.device.workers = workers
            net._runner.forget_plan()
            results.append({blob: value.copy() for blob, value in net.forward(**x).items()})
    finally:
        net.device.workers = before
    for other in results[1:]:
        for blob, value in results[0].items():
            np.testing.assert_array_equal(other[blob], value)


def layouts(text: str) -> dict[str, str]:
    """How the values of a net are stored."""
    (plan,) = Net(parse_net(text), device="cpu", precision="bf16")._runner.optimised()
    return {name: layout for (name, _), layout in plan.layouts.items()}


def test_which_values_are_in_bfloat16():
    """What a layer that can take it so reads, and not what only others read, or who asks for an output."""
    text = (
        data(1, 8, 8, 8)
        + conv("a", "data", 16)
        + normal("a", "a")
        + relu("r", "a")
        + layer("p", "Pooling", "a", text="pooling_param { kernel_size: 3 stride: 2 }")
    )
    text += (
        conv("b", "p", 16)
        + layer("c", "Concat", ["p", "b"])
        + conv("d", "c", 8)
        + layer("s", "Sigmoid", "d")
        + conv("e", "s", 8)
    )
    assert layouts(text) == {
        "a": BFLOAT16,
        "p": BFLOAT16,
        "b": BFLOAT16,
        "c": BFLOAT16,
        "d": LAST,
        "s": LAST,
        "e": LAST,
    }
    alone = layouts(
        data(1, 8, 8, 8) + layer("p", "Pooling", "data", text="pooling_param { kernel_size: 3 }") + conv("a", "p", 8)
    )
    assert alone == {"p": LAST, "a": LAST}  # a pooling of floats is one of floats


def test_a_summary_says_which_steps_and_turns_are_in_bfloat16():
    text = (
        data(1, 8, 8, 8)
        + conv("a", "data", 8, "kernel_size: 1 group: 8")
        + conv("b", "a", 4)
        + layer("s", "Sigmoid", "b")
    )
    text += conv("c", "s", 8)
    net = made(text)
    net.forward(data=np.zeros((1, 8, 8, 8)))
    ways = [row.what for row in summarise_plan(net).steps]
    assert ways == [
        "to bfloat16",
        "depthwisebf16",
        "convolutionbf16",
        "elementwise",
        "to bfloat16",
        "convolutionbf16",
        "to planes",
    ]


def test_large_rows_are_cut(monkeypatch):
    """Where the pixels under a row of places take more room than a block may have."""
    text = (
        data(1, 9, 7, 40)
        + copy("i", "data", 9)
        + conv("a", "i", 17, "kernel_size: 3 stride: 2 pad: 1")
        + copy("o", "a", 17)
    )
    x = np.random.default_rng(7).standard_normal((1, 9, 7, 40))
    whole = made(text).forward(data=x)["o"]
    monkeypatch.setattr(lowerings, "BAND", 9 * 3 * 12)
    np.testing.assert_array_equal(made(text).forward(data=x)["o"], whole)


@pytest.mark.parametrize(
    "name", ["shapes", "ssd/mobilenet_300", pytest.param("ssd/vgg16_300", marks=pytest.mark.later)]
)
def test_whole_nets_are_near_float32(name):
    """Locations and scores of the detectors of examples/, by the root of their mean square; weights as He's where there are none."""
    folder = ROOT / "examples" / name
    trained = [str(path) for path in folder.glob("*.caffemodel")][:1]
    nets = [
        Net(str(folder / "deploy.prototxt"), *trained, device="cpu", seed=1, precision=p) for p in ("float32", "bf16")
    ]
    rng = np.random.default_rng(0)
    for one, other in zip(*(net.layers for net in nets)):
        for i, (blob, twin) in enumerate(zip(one.blobs, other.blobs)):
            terms = blob.count // blob.shape[0]
            if not trained and terms > 1:
                blob.data[...] = rng.standard_normal(blob.shape) * np.sqrt(2 / terms)
            elif not trained and one.type == "BatchNorm":
                blob.data[...] = i > 0
            twin.data[...] = blob.data
    x = {blob: rng.standard_normal(nets[0].blobs[blob].shape) for blob in nets[0].inputs}
    (asked,) = (
        names
        for each, (names, _) in zip(nets[0].layers, nets[0]._runner.source.names)
        if each.type == "DetectionOutput"
    )
    plain, halves = (net.forward(blobs=asked[:2], **x) for net in nets)
    assert {"convolve_bf16"} <= set(kernels(nets[1]))
    for blob in asked[:2]:
        error = np.sqrt(np.square(plain[blob] - halves[blob]).mean() / np.square(plain[blob]).mean())
        assert 0 < error < 0.02, (blob, error)
