"""Inference in 8 bits: kernels against whole numbers of numpy bit by bit, and what the plan of a net makes of scales."""

from __future__ import annotations

import numpy as np
import pytest
from levels import LEVELS, Level, at, compilers
from test_compilers import FILES, check
from vector_cases import convolved

from boxpresso import Net
from boxpresso.graph.graph import INT8, LAST
from boxpresso.graph.quantization import INT8 as EIGHT
from boxpresso.graph.quantization import LayerNote, Quantization
from boxpresso.layers.core.lowering import Scale
from boxpresso.layers.dense import int8_lowerings
from boxpresso.proto import parse_net

SINGLE = np.float32


def quantised(x: np.ndarray, scale: Scale) -> np.ndarray:
    """Numbers in 8 bits, as int8.h defines them: one product of floats, rounded to the nearest, ties to even."""
    steps = np.rint(x.astype(SINGLE) * SINGLE(1 / scale.scale))
    return np.clip(steps + scale.zero, 0, 255).astype(np.int64)


def in_steps(weights: np.ndarray, bias: np.ndarray, scale: Scale) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights in 8 bits, the bias in steps of the sums, and the step of each filter's weights."""
    rows, bias = weights.reshape(len(weights), -1).astype(np.float64), bias.astype(np.float64)
    steps = np.abs(rows).max(1) / 127
    steps[steps == 0] = np.abs(bias[steps == 0]) / (scale.scale * (2**31 - 1 - rows.shape[1] * 255 * 127))
    steps[steps == 0] = 1
    whole = np.rint(rows / steps[:, None]).clip(-127, 127)
    return whole.reshape(weights.shape), np.rint(bias / (scale.scale * steps)), steps


def linear(
    q: np.ndarray,
    scale: Scale,
    weights: np.ndarray,
    bias: np.ndarray,
    window: dict,
    other=None,
    top=None,
    slopes=None,
    parts=1.0,
):
    """A convolution in 8 bits from its definition: whole sums in float64, which holds them exactly; then float32."""
    whole, offset, steps = in_steps(weights, bias, scale)
    x = (q - scale.zero).astype(np.float64)
    pad, stride, dilation, group = (
        window.get(k, d) for k, d in (("pad", 0), ("stride", 1), ("dilation", 1), ("group", 1))
    )
    if dilation > 1:
        spread = np.zeros((*whole.shape[:2], *(dilation * (k - 1) + 1 for k in whole.shape[2:])))
        spread[:, :, ::dilation, ::dilation] = whole
        whole = spread
    sums = convolved(x, whole, pad, group)[:, :, ::stride, ::stride] + offset.reshape(-1, 1, 1)
    assert np.abs(sums).max() < 2**31
    factors = (steps * scale.scale / (top.scale if top else 1) / parts).astype(SINGLE).reshape(-1, 1, 1)
    value = sums.astype(SINGLE) * factors
    if other is not None:
        addend, of = other
        value = value + (addend - of.zero).astype(SINGLE) * SINGLE(of.scale / (top.scale if top else 1))
    if slopes is not None:
        value = np.where(value < 0, value * slopes.astype(SINGLE).reshape(-1, 1, 1), value)
    return value


def stored(value: np.ndarray, top: Scale, low: float = -np.inf) -> np.ndarray:
    """As a top of bytes holds it."""
    return (np.rint(np.clip(value, max(low, -top.zero), 255 - top.zero)) + top.zero).astype(np.int64)


def floats(q: np.ndarray, scale: Scale) -> np.ndarray:
    """The numbers that bytes stand for."""
    return (q - scale.zero).astype(SINGLE) * SINGLE(scale.scale)


def layer(name: str, kind: str, bottoms: str, field: str = "", top: str = "") -> str:
    read = " ".join(f'bottom: "{b}"' for b in bottoms.split())
    return f'layer {{ name: "{name}" type: "{kind}" {read} top: "{top or name}" {field} }}\n'


def inputs(*shapes: tuple[int, ...]) -> str:
    return "".join(
        layer("xyz"[i], "Input", "", f"input_param {{ shape {{ {' '.join(f'dim: {d}' for d in shape)} }} }}")
        for i, shape in enumerate(shapes)
    )


def net_in_int8(text: str, ranges: dict[str, tuple[float, float]], *float32: str, params=None) -> Net:
    """A net whose sums are in 8 bits, but for some layers."""
    net = Net(parse_net(text), device="cpu", seed=1)
    for name, arrays in (params or {}).items():
        for blob, values in zip(net.params[name], arrays):
            blob.data[...] = np.reshape(values, blob.shape)
    notes = {each.name: LayerNote(EIGHT) for each in net.layers if each.name in net.params and each.name not in float32}
    net.quantize(Quantization({name: [each] for name, each in ranges.items()}, notes))
    return net


def kinds(net: Net) -> dict[str, str | None]:
    """The layout of each value that a plan makes, by its blob."""
    (program,) = net._runner.describe()
    return {value[0]: program.plan.layouts.get(value) for step in program.plan.steps for value in step.writes}


WINDOWS = [  # channels, filters, kernel, window, height x width
    (19, 37, 3, {"pad": 1}, (9, 7)),
    (3, 8, 3, {"pad": 1, "stride": 2}, (13, 11)),
    (64, 48, 1, {}, (12, 11)),
    (7, 5, 1, {"stride": 2}, (6, 5)),
    (16, 100, 5, {"pad": 3, "stride": 3}, (8, 14)),
    (32, 33, 3, {"pad": 2, "dilation": 2}, (7, 9)),
    (24, 36, 3, {"pad": 1, "group": 3}, (6, 6)),
    (33, 33, 3, {"pad": 1, "group": 33}, (9, 12)),
    (16, 16, 3, {"pad": 1, "stride": 2, "group": 16}, (12, 19)),
    (20, 20, 5, {"pad": 4, "dilation": 2, "group": 20}, (11, 7)),
    (1, 1, 2, {}, (3, 3)),
    (1, 24, 3, {"pad": 1, "stride": 2}, (12, 21)),  # up to four channels are taken as planes of floats
    (2, 5, 3, {"pad": 2, "dilation": 2}, (7, 18)),
    (4, 6, 1, {"pad": 1}, (5, 5)),
]


def field_of(filters: int, kernel: int, window: dict) -> str:
    more = " ".join(f"{k}: {v}" for k, v in window.items())
    return f"convolution_param {{ num_output: {filters} kernel_size: {kernel} {more} }}"


def convolution_case(rng, case, x_range, images: int = 2) -> None:
    """One convolution, stored as floats; then one more behind it, so that the first is stored in bytes, with what follows it."""
    channels, filters, kernel, window, size = case
    scale = Scale.of(*x_range)
    x = rng.uniform(*x_range, (images, channels, *size)).astype(SINGLE)
    weights = rng.standard_normal((filters, channels // window.get("group", 1), kernel, kernel)).astype(SINGLE)
    weights[0] = 0
    bias = rng.standard_normal(filters).astype(SINGLE) * 3
    text = inputs(x.shape) + layer("a", "Convolution", "x", field_of(filters, kernel, window))
    ranges = {"x": x_range, "a": (-9, 9)}
    net = net_in_int8(text, ranges, params={"a": (weights, bias)})
    q = quantised(x, scale)
    np.testing.assert_array_equal(net.forward(x=x)["a"], linear(q, scale, weights, bias, window))
    assert kinds(net)["a"] == LAST
    # Stored in bytes after ReLU, read by a 1 x 1 window.
    more = layer("r", "ReLU", "a", top="a") + layer("b", "Convolution", "a", field_of(6, 1, {}))
    second = rng.standard_normal((6, filters, 1, 1)).astype(SINGLE)
    params = {"a": (weights, bias), "b": (second, np.zeros(6))}
    top = Scale.of(0, 7)
    net = net_in_int8(text + more, {**ranges, "r": (0, 7), "b": (-1, 1)}, params=params)
    result = net.forward(x=x)["b"]
    assert kinds(net)["a"] == INT8
    between = stored(linear(q, scale, weights, bias, window, top=top), top, low=0)
    np.testing.assert_array_equal(result, linear(between, top, second, np.zeros(6), {}))


def kernels(rng: np.random.Generator) -> None:
    """What each level of the CPUs is asked (test_levels.py): windows of all kinds, and the largest numbers."""
    for case in WINDOWS:
        convolution_case(rng, case, (-1.0, 3.0))
    extremes(rng)
    chains(rng)
    channels_with_steps_of_their_own(rng)


@pytest.mark.parametrize("case", WINDOWS, ids=str)
@pytest.mark.parametrize("x_range", [(0.0, 2.0), (-3.0, 1.0)], ids=str)
def test_a_convolution_is_exact(case, x_range):
    convolution_case(np.random.default_rng(0), case, x_range)


@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_windows_whose_pixels_are_not_taken_together(case, monkeypatch):
    """As those are that are too far apart."""
    monkeypatch.setattr(int8_lowerings, "BAND", 0)
    convolution_case(np.random.default_rng(1), case, (-1.0, 2.0))


@pytest.mark.parametrize("odd", [np.nan, np.inf], ids=str)
def test_planes_with_a_number_that_is_not_finite_are_left_to_the_layers(odd):
    """Planes that the convolution itself turns to 8 bits; then the layer runs, in float."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (1, 3, 9, 20)).astype(SINGLE)
    text = inputs(x.shape) + layer("a", "Convolution", "x", field_of(4, 3, {"pad": 1}))
    weights = rng.standard_normal((4, 3, 3, 3)).astype(SINGLE)
    net = net_in_int8(text, {"x": (-1, 1), "a": (-9, 9)}, params={"a": (weights, np.zeros(4))})
    whole = np.array(net.forward(x=x)["a"])
    x[0, 1, 8, 19] = odd
    result = net.forward(x=x)["a"]
    touched = np.zeros((9, 20), bool)
    touched[7:, 18:] = True
    assert not np.isfinite(result[..., touched]).any()
    exact = convolved(x[:, :, :7, :18].astype(np.float64), weights.astype(np.float64), 1, 1)[:, :, :6, :17]
    np.testing.assert_allclose(result[:, :, :6, :17], exact, rtol=1e-5, atol=1e-5)
    assert np.abs(whole[:, :, :6, :17] - exact).max() > 1e-4  # it was in 8 bits before


@pytest.mark.parametrize("filters", [1, 3, 20])
def test_what_a_layer_in_float_gives_is_turned(filters):
    """One channel is taken as a plane by the convolution itself; more lie with channels last, without gaps."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 5, 9, 11)).astype(SINGLE)
    text = inputs(x.shape) + layer("a", "Convolution", "x", field_of(filters, 1, {}))
    text += layer("b", "Convolution", "a", field_of(4, 3, {"pad": 1}))
    params = {
        "a": (rng.standard_normal((filters, 5, 1, 1)), rng.standard_normal(filters)),
        "b": (rng.standard_normal((4, filters, 3, 3)).astype(SINGLE), rng.standard_normal(4).astype(SINGLE)),
    }
    net = net_in_int8(text, {"x": (-3, 3), "a": (-5, 4), "b": (-9, 9)}, "a", params=params)
    result = net.forward(["a"], x=x)
    scale = Scale.of(-5, 4)
    np.testing.assert_array_equal(result["b"], linear(quantised(result["a"], scale), scale, *params["b"], {"pad": 1}))
    (program,) = net._runner.describe()
    turns = [action for action in program.placement.actions if action.kind == "turn" and action.target[1] == INT8]
    assert len(turns) == (filters > 1)


def extremes(rng: np.random.Generator) -> None:
    """Products of the largest numbers, of which two do not fit into 16 bits, and the longest sums."""
    for channels, sign in ((64, 1), (64, -1), (4096, 1), (4096, -1), (59_999, -1)):
        x = np.full((1, channels, 1, 2), 255.0, SINGLE)
        x[0, :, 0, 1] = rng.integers(0, 256, channels)
        weights = np.full((2, channels, 1, 1), 127.0 * sign, SINGLE)
        weights[1] = rng.integers(-127, 128, (channels, 1, 1))
        weights[1, 0] = 127
        text = inputs(x.shape) + layer("a", "Convolution", "x", field_of(2, 1, {}))
        net = net_in_int8(text, {"x": (0, 255), "a": (-1, 1)}, params={"a": (weights, np.zeros(2))})
        sums = np.einsum("fc,cp->fp", weights[:, :, 0, 0].astype(np.int64), x[0, :, 0].astype(np.int64))
        assert sums[0, 0] == sign * channels * 255 * 127
        np.testing.assert_array_equal(net.forward(x=x)["a"][0, :, 0], sums.astype(SINGLE))


@pytest.mark.parametrize(
    ("kind", "field", "size"),
    [
        ("Convolution", field_of(37, 3, {}), (19, 9, 7)),
        ("Convolution", field_of(36, 3, {"group": 3}), (24, 6, 6)),
        ("Convolution", field_of(33, 3, {"group": 33}), (33, 5, 6)),
        ("Convolution", field_of(24, 1, {"bias_term": "false"}), (3, 5, 6)),
        ("InnerProduct", "inner_product_param { num_output: 21 }", (6, 3, 4)),
        ("InnerProduct", "inner_product_param { num_output: 21 transpose: true }", (6, 3, 4)),
    ],
)
def test_means_of_a_bottom_correct_biases(kind, field, size):
    """Where each channel has its mean everywhere, what weights lost when they were rounded is no longer in a sum."""
    rng = np.random.default_rng(5)
    scale = Scale.of(-1.0, 3.0)
    means = floats(rng.integers(0, 256, size[0]), scale).astype(np.float64)
    x = np.broadcast_to(means[:, None, None], (2, *size)).astype(SINGLE)
    text = inputs((2, *size)) + layer("a", kind, "x", field) + layer("b", "BatchNorm", "a", top="a")
    net = Net(parse_net(text), device="cpu", seed=1)
    for blobs in net.params.values():
        for blob in blobs:
            blob.data[...] = rng.uniform(0.1, 1.0, blob.shape)
    net.params["a"][0].data[...] -= 0.5
    net.params["b"][2].data[...] = 1
    wanted = Net(parse_net(text), device="cpu", dtype=np.float64, optimize=False)
    for name, blobs in net.params.items():
        for blob, other in zip(wanted.params[name], blobs):
            blob.data[...] = other.data
    exact = wanted.forward(x=x)["a"]
    ranges, off = {"x": [(-1.0, 3.0)], "a": [(-9.0, 9.0)], "b": [(-9.0, 9.0)]}, {}
    for known in ({}, {"x": [means.tolist()]}):
        net.quantize(Quantization(ranges, {"a": LayerNote(EIGHT)}, means=known))
        off[bool(known)] = np.abs(net.forward(x=x)["a"] - exact).max()
    weights = np.abs(np.asarray(net.params["a"][0].data)).max() / np.sqrt(0.1)  # with BatchNorm folded in, at most
    step = scale.scale * weights / 127
    assert off[True] < step
    assert off[False] > 3 * step


def test_products_of_the_largest_numbers_are_exact():
    extremes(np.random.default_rng(0))


def test_sums_that_would_not_fit_stay_in_float():
    """Of more terms than 32 bits hold at their largest."""
    text = inputs((1, 60_001, 1, 1)) + layer("a", "Convolution", "x", field_of(1, 1, {}))
    assert kinds(net_in_int8(text, {"x": (0, 255), "a": (-1, 1)}))["a"] == LAST


def chains(rng: np.random.Generator) -> None:
    """Through MAX pooling, Concat, a residual sum, PReLU and an inner product in 8 bits, with one scale where numbers are kept."""
    x, y = (rng.standard_normal((2, c, 9, 7)).astype(SINGLE) for c in (20, 12))
    window = {"pad": 1}
    shapes = {"a": (20, 20, 3, 3), "b": (12, 12, 1, 1), "c": (32, 32, 3, 3), "f": (10, 32 * 3 * 3)}
    params = {
        name: [rng.standard_normal(shape).astype(SINGLE) / 9, rng.standard_normal(shape[0]).astype(SINGLE)]
        for name, shape in shapes.items()
    }
    slopes = rng.uniform(-0.5, 0.5, 32).astype(SINGLE)
    params["s"] = [slopes]
    text = (
        inputs(x.shape, y.shape)
        + layer("a", "Convolution", "x", field_of(20, 3, window))
        + layer("b", "Convolution", "y", field_of(12, 1, {}))
        + layer("cat", "Concat", "a b")
        + layer("c", "Convolution", "cat", field_of(32, 3, window))
        + layer("sum", "Eltwise", "c cat")
        + layer("s", "PReLU", "sum", top="sum")
        + layer("p", "Pooling", "sum", "pooling_param { kernel_size: 3 stride: 3 }")
        + layer("f", "InnerProduct", "p", "inner_product_param { num_output: 10 }")
    )
    ranges = {
        "x": (-3, 3),
        "y": (-2, 4),
        "a": (-4, 3),
        "b": (-3, 5),
        "cat": (-4, 5),
        "c": (-9, 9),
        "sum": (-9, 9),
        "s": (-2, 9),
    }
    ranges |= {"p": (-1, 8), "f": (-9, 9)}
    net = net_in_int8(text, ranges, "s", params=params)
    result = net.forward(x=x, y=y)["f"]
    assert kinds(net) == {"x": None, "y": None, "a": INT8, "b": INT8, "cat": INT8, "sum": INT8, "p": INT8, "f": LAST}
    sx, sy, joined, summed = (Scale.of(*r) for r in ((-3, 3), (-2, 4), (-4, 5), (-2, 9)))
    a = stored(linear(quantised(x, sx), sx, *params["a"], window, top=joined), joined)
    b = stored(linear(quantised(y, sy), sy, *params["b"], {}, top=joined), joined)
    cat = np.concatenate([a, b], 1)
    s = stored(linear(cat, joined, *params["c"], window, (cat, joined), summed, slopes), summed)
    p = np.stack([[s[:, :, 3 * i : 3 * i + 3, 3 * j : 3 * j + 3].max((2, 3)) for j in range(3)] for i in range(3)])
    rows = np.moveaxis(p, (0, 1), (2, 3)).reshape(2, -1, 1, 1)
    np.testing.assert_array_equal(
        result, linear(rows, summed, params["f"][0][:, :, None, None], params["f"][1], {})[:, :, 0, 0]
    )
    # What the plan leaves out of floats is there when it is asked for.
    np.testing.assert_array_equal(net.forward(["cat"], x=x, y=y)["cat"], floats(cat, joined))


def channels_with_steps_of_their_own(rng: np.random.Generator) -> None:
    """Between convolutions, a depthwise one among them, and into an inner product; not where Pooling reads them, too."""
    x, scale, top = rng.uniform(-1, 3, (2, 8, 6, 7)).astype(SINGLE), Scale.of(-1, 3), Scale.of(0, 4)
    window = {"pad": 1}
    shapes = {"a": (20, 8, 3, 3), "b": (20, 1, 3, 3), "c": (6, 20, 1, 1), "f": (9, 6 * 6 * 7)}
    params = {
        name: [rng.standard_normal(shape).astype(SINGLE) / 3, rng.standard_normal(shape[0]).astype(SINGLE)]
        for name, shape in shapes.items()
    }
    text = (
        inputs(x.shape)
        + layer("a", "Convolution", "x", field_of(20, 3, window))
        + layer("ra", "ReLU", "a", top="a")
        + layer("b", "Convolution", "a", field_of(20, 3, {**window, "group": 20}))
        + layer("rb", "ReLU", "b", top="b")
        + layer("c", "Convolution", "b", field_of(6, 1, {}))
        + layer("rc", "ReLU", "c", top="c")
        + layer("f", "InnerProduct", "c", "inner_product_param { num_output: 9 }")
    )
    pool = layer("p", "Pooling", "b", "pooling_param { kernel_size: 2 stride: 2 }")
    ranges = {name: [(0.0, 4.0)] for name in ("ra", "rb", "rc", "p")} | {"x": [(-1.0, 3.0)]}
    ranges |= {name: [(-9.0, 9.0)] for name in "abcf"}
    maxima = {
        name: [rng.uniform(0, 4, channels).tolist()]
        for name, channels in {"x": 8, "ra": 20, "rb": 20, "rc": 6, "p": 20}.items()
    }
    parts = {name: np.sqrt(np.clip(np.array(each[0]) / 4, 0.01, 1)) for name, each in maxima.items()}

    def run(text: str, *outputs: str) -> dict[str, np.ndarray]:
        net = net_in_int8(text, {name: each[0] for name, each in ranges.items()}, params=params)
        notes = {name: LayerNote(EIGHT) for name in params}
        net.quantize(Quantization(ranges, notes, maxima=maxima))
        assert kinds(net)["a"] == kinds(net)["b"] == kinds(net)["c"] == INT8
        return net.forward(list(outputs), x=x)

    def weights(name: str, part) -> np.ndarray:
        return params[name][0] * part

    a = stored(linear(quantised(x, scale), scale, *params["a"], window, top=top, parts=parts["ra"]), top, low=0)
    depthwise = weights("b", parts["ra"][:, None, None, None]), params["b"][1], {**window, "group": 20}
    b = stored(linear(a, top, *depthwise, top=top, parts=parts["rb"]), top, low=0)
    c = stored(
        linear(b, top, weights("c", parts["rb"][:, None, None]), params["c"][1], {}, top=top, parts=parts["rc"]),
        top,
        low=0,
    )
    rows = weights("f", np.repeat(parts["rc"], 42))[:, :, None, None]
    wanted = linear(c.reshape(2, -1, 1, 1), top, rows, params["f"][1], {})
    result = run(text, "f", "b")
    np.testing.assert_array_equal(result["f"], wanted[:, :, 0, 0])
    np.testing.assert_array_equal(result["b"], floats(b, top) * parts["rb"].astype(SINGLE)[:, None, None])
    # A Pooling keeps numbers as they are stored.
    b = stored(linear(a, top, *depthwise, top=top), top, low=0)
    np.testing.assert_array_equal(run(text + pool, "b")["b"], floats(b, top))


def test_channels_have_steps_of_their_own():
    channels_with_steps_of_their_own(np.random.default_rng(0))


def test_a_net_stays_in_8_bits():
    chains(np.random.default_rng(0))


def test_a_value_that_is_joined_twice_is_copied():
    """A Concat of one value twice, and another that it lies in too: all of one scale."""
    rng, window = np.random.default_rng(0), {"pad": 1}
    x = rng.standard_normal((2, 20, 9, 7)).astype(SINGLE)
    params = {
        name: [rng.standard_normal(shape).astype(SINGLE) / 9, rng.standard_normal(shape[0]).astype(SINGLE)]
        for name, shape in {"a": (12, 20, 3, 3), "b": (9, 36, 1, 1)}.items()
    }
    text = (
        inputs(x.shape)
        + layer("a", "Convolution", "x", field_of(12, 3, window))
        + layer("two", "Concat", "a a")
        + layer("three", "Concat", "two a")
        + layer("b", "Convolution", "three", field_of(9, 1, {}))
    )
    ranges = {"x": (-3, 3), "a": (-4, 3), "two": (-4, 3), "three": (-5, 3), "b": (-9, 9)}
    net = net_in_int8(text, ranges, params=params)
    result = net.forward(x=x)["b"]
    assert kinds(net) == {"x": None, "a": INT8, "two": INT8, "three": INT8, "b": LAST}
    scale, joined = Scale.of(-3, 3), Scale.of(-5, 3)
    a = stored(linear(quantised(x, scale), scale, *params["a"], window, top=joined), joined)
    np.testing.assert_array_equal(result, linear(np.concatenate([a, a, a], 1), joined, *params["b"], {}))


def test_a_part_behind_a_choice_of_rows_reads_what_an_earlier_one_made():
    """By way of a Split, of which no range is measured."""
    rng, window = np.random.default_rng(0), {"pad": 1}
    x = rng.standard_normal((2, 20, 9, 7)).astype(SINGLE)
    shapes = {"a": (12, 20, 3, 3), "b": (9, 12, 3, 3)}
    params = {
        name: [rng.standard_normal(shape).astype(SINGLE) / 9, rng.standard_normal(shape[0]).astype(SINGLE)]
        for name, shape in shapes.items()
    }
    text = (
        inputs(x.shape)
        + 'layer { name: "s" type: "Input" top: "s" input_param { shape { dim: 2 } } }'
        + layer("a", "Convolution", "x", field_of(12, 3, window))
        + layer("r", "ReLU", "a", top="a")
        + layer("f", "Filter", "a s", top="f")
        + layer("p", "Power", "f", "power_param { scale: 2 }", top="p")
        + layer("b", "Convolution", "a", field_of(9, 3, window))
    )
    net = net_in_int8(text, {"x": (-3, 3), "a": (-4, 3), "r": (0, 3), "b": (-9, 9)}, params=params)
    result = net.forward(x=x, s=np.array([0, 1]))
    scale, top = Scale.of(-3, 3), Scale.of(0, 3)
    a = np.maximum(
        linear(quantised(x, scale), scale, *params["a"], window), 0
    )  # in floats: no step of its part takes bytes
    assert len(net._runner.describe()) == 2
    np.testing.assert_array_equal(result["p"], 2 * a[1:])
    np.testing.assert_array_equal(result["b"], linear(quantised(a, top), top, *params["b"], window))


def test_an_activation_behind_a_concatenation():
    """It is done in the parts, whose numbers are then from 0 on."""
    rng, window = np.random.default_rng(0), {"pad": 1}
    x = rng.standard_normal((2, 20, 9, 7)).astype(SINGLE)
    shapes = {"a": (12, 20, 3, 3), "b": (9, 20, 3, 3), "c": (6, 21, 1, 1)}
    params = {
        name: [rng.standard_normal(shape).astype(SINGLE) / 9, rng.standard_normal(shape[0]).astype(SINGLE)]
        for name, shape in shapes.items()
    }
    text = (
        inputs(x.shape)
        + layer("a", "Convolution", "x", field_of(12, 3, window))
        + layer("b", "Convolution", "x", field_of(9, 3, window))
        + layer("j", "Concat", "a b")
        + layer("r", "ReLU", "j")
        + layer("c", "Convolution", "r", field_of(6, 1, {}))
    )
    ranges = {"x": (-3, 3), "a": (-4, 3), "b": (-5, 2), "j": (-5, 3), "r": (0, 3), "c": (-9, 9)}
    net = net_in_int8(text, ranges, params=params)
    result = net.forward(x=x)["c"]
    assert kinds(net) == {"x": None, "a": INT8, "b": INT8, "r": INT8, "c": LAST}
    scale, top = Scale.of(-3, 3), Scale.of(0, 3)
    parts = [
        stored(linear(quantised(x, scale), scale, *params[name], window, top=top), top, low=0) for name in ("a", "b")
    ]
    np.testing.assert_array_equal(result, linear(np.concatenate(parts, 1), top, *params["c"], {}))


# Levels whose sums are made by instructions of their own: of 16 bits (SSE2, AVX2, AVX512), of four products of 8 (VNNI, NEON-DOT), and
# the plain form (AVX, NEON).
DOT = Level("NEON-DOT", "aarch64", "armv8.2-a+dotprod")
SHORT = Level("AVX-VNNI", "x86_64", "alderlake", ("avx2", "fma", "avxvnni"))
RARE = ("AVX", "AVX512", "NEON")  # what they have in common with others is tried there
BY_LEVEL = [
    *(LEVELS[name] for name in ("SSE2", "AVX2", "AVX512-VNNI")), DOT, SHORT,
    *(pytest.param(LEVELS[name], marks=pytest.mark.sweep) for name in RARE),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("level", BY_LEVEL, ids=str)
def test_every_level_has_the_same_bits(level):
    """All are compared with numpy bit by bit, so they are equal to each other."""
    with at(level):
        kernels(np.random.default_rng(0))


@pytest.mark.parametrize("level", [DOT, SHORT], ids=str)
def test_what_no_cpu_here_may_have_compiles(level):
    if not compilers(level.machine):
        pytest.skip(f"no compiler for {level.machine} is here")
    command = next(iter(compilers(level.machine).values()))
    check(command, [(path, "float") for path in FILES if "int8" in path.name], level.flags(command))


def test_other_shapes_than_those_of_the_plan():
    """A product whose elements lie in another number of channels, and MAX Pooling with windows outside the image."""
    net = net_in_int8(
        inputs((2, 4, 2, 3)) + layer("y", "InnerProduct", "x", "inner_product_param { num_output: 5 }"),
        {"x": (-3, 3), "y": (-20, 20)}, params={"y": [weights := np.random.default_rng(1).uniform(-1, 1, (5, 24))]},
    )  # fmt: skip
    for shape in ((2, 4, 2, 3), (2, 6, 2, 2), (3, 24, 1, 1), (2, 4, 2, 3)):
        x = np.random.default_rng(2).uniform(-3, 3, shape)
        net.blobs["x"].reshape(*shape)
        np.testing.assert_allclose(net.forward(x=x)["y"], x.reshape(len(x), 24) @ weights.T, atol=0.3)

    one, eye = "convolution_param { num_output: 4 kernel_size: 1 }", np.eye(4)
    net = net_in_int8(
        inputs((1, 4, 5, 5)) + layer("a", "Convolution", "x", one) + layer("p", "Pooling", "a", "pooling_param { stride: 2 kernel_size: 1 }")
        + layer("b", "Convolution", "p", one), dict.fromkeys("xapb", (-3, 3)), params={"a": [eye], "b": [eye]},
    )  # fmt: skip
    for size in (5, 6, 5):
        x = np.random.default_rng(3).uniform(-3, 3, (1, 4, size, size))
        net.blobs["x"].reshape(*x.shape)
        net.forward(x=x)
        assert np.all(net.blobs["p"].data[..., 3:] == -np.finfo(np.float32).max)
        np.testing.assert_allclose(net.blobs["p"].data[..., :3, :3], x[..., ::2, ::2], atol=0.1)
