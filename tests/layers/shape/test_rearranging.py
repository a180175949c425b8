"""Layers that choose, repeat, sum up or rank.

Tile, Reduction, ArgMax, Accuracy, BatchReindex, Filter, Embed, Im2col, SPP, MVN, Parameter.
"""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import Net
from boxpresso.proto import parse_net
from boxpresso.proto.errors import LayerError


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def double(text: str, *bottoms: np.ndarray, **options) -> Rig:
    return Rig(text, bottoms, dtype=np.float64, **options)


NUMBERS = np.arange(20) * 7 % 6.0
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    ('type: "Tile" tile_param { tiles: 3 }', [random(3, 5, 7)]),
    *[
        (f'type: "Reduction" reduction_param {{ axis: 1 operation: {name} }}', [random(5, 300)])
        for name in ("SUM", "ASUM", "SUMSQ")
    ],
    ('type: "ArgMax" argmax_param { axis: 1 top_k: 3 }', [random(4, 9, 11)], []),
    ('type: "ParseOutput"', [random(2, 9, 11, 3)], [], {"tops": 2}),
    ('type: "ParseOutput"', [random(2, 9, 11, 3)], []),
    ('type: "Accuracy"', [random(20, 6), NUMBERS], [], {"tops": 2}),
    ('type: "BatchReindex"', [random(6, 70), NUMBERS], [True, False]),
    ('type: "Filter"', [random(20, 70), NUMBERS], [True, False]),
    ('type: "Embed" embed_param { num_output: 150 input_dim: 6 }', [NUMBERS], [False]),
    ('type: "Im2col" convolution_param { kernel_size: 3 }', [random(2, 3, 7, 8)]),
    ('type: "SPP" spp_param { pyramid_height: 3 }', [random(3, 4, 9, 11)]),
    ('type: "MVN"', [random(3, 4, 9, 31)]),
    ('type: "Parameter" parameter_param { shape { dim: 300 } }', []),
]


# Tile and Reduction


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_tile(axis, device):
    rig = double(f'type: "Tile" tile_param {{ axis: {axis} tiles: 3 }}', random(2, 3, 4), device=device)
    for shape in ((2, 3, 4), (4, 5, 6), (0, 3, 4), (1, 1, 1)):
        x = random(*shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], np.concatenate([x] * 3, axis))
    check_gradient(rig)


@pytest.mark.parametrize("axis", [0, 1, 3, -1, -4])
@pytest.mark.parametrize("operation", ["SUM", "MEAN", "ASUM", "SUMSQ"])
def test_reduction(operation, axis, device):
    sums = {"SUM": np.sum, "MEAN": np.mean, "ASUM": lambda x, a: np.abs(x).sum(a), "SUMSQ": lambda x, a: (x**2).sum(a)}
    text = f'type: "Reduction" reduction_param {{ operation: {operation} axis: {axis} coeff: -0.5 }}'
    rig = double(text, random(2, 3, 4, 5), device=device)
    for shape in ((2, 3, 4, 5), (3, 2, 30, 20), (1, 1, 1, 2), (3, 2, 3, 2)):
        x = random(*shape)
        rig.set_bottom(0, x)
        close(rig.forward()[0], -0.5 * sums[operation](x, tuple(range(axis % 4, 4))))
    check_gradient(rig)


def test_reduction_of_nothing(device):
    rig = double('type: "Reduction" reduction_param { axis: 1 }', np.zeros((0, 3)), device=device)
    assert rig.forward()[0].shape == (0,)
    assert double('type: "Reduction"', np.zeros((0, 3)), device=device).forward()[0] == 0
    assert double('type: "Reduction"', np.array(3.0), device=device).forward()[0] == 3
    with pytest.raises(LayerError, match="no MEAN of no elements"):
        double('type: "Reduction" reduction_param { operation: MEAN }', np.zeros((0, 3)))
    with pytest.raises(LayerError, match="TOPK of a fork"):
        double('type: "Reduction" reduction_param { operation: TOPK }', np.zeros((2, 3)))
    with pytest.raises(LayerError, match="axis 2 does not fit"):
        double('type: "Reduction" reduction_param { axis: 2 }', np.zeros((2, 3)))
    with pytest.raises(LayerError, match="tiles"):
        double('type: "Tile"', np.zeros((2, 3)))


# ArgMax


def ranked(x: np.ndarray, axis: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and values of the k largest along an axis, later places first among equal values."""
    flipped = np.flip(x, axis)
    order = np.take(np.argsort(-flipped, axis, kind="stable"), range(k), axis)
    return x.shape[axis] - 1 - order, np.take_along_axis(flipped, order, axis)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("values", [False, True])
def test_argmax_along_an_axis(axis, k, values, device):
    text = f'type: "ArgMax" argmax_param {{ axis: {axis} top_k: {k} out_max_val: {str(values).lower()} }}'
    rig = Rig(text, [np.zeros((2, 3, 4))], device=device)
    for shape in ((2, 3, 4), (5, 6, 7)):
        x = np.random.default_rng(1).integers(0, 4, shape).astype(np.float32)  # with ties
        rig.set_bottom(0, x)
        np.testing.assert_array_equal(rig.forward()[0], ranked(x, axis, k)[values])


@pytest.mark.parametrize("shape", [(3, 7), (2, 3, 4, 5), (4, 6, 1), (0, 3, 2, 2), (2, 3, 1, 1, 4)])
@pytest.mark.parametrize("values", [False, True])
def test_argmax_of_images(shape, values, device):
    x = np.random.default_rng(1).integers(0, 4, shape).astype(np.float32)
    text = f'type: "ArgMax" argmax_param {{ top_k: 3 out_max_val: {str(values).lower()} }}'
    top = Rig(text, [x], device=device).forward()[0]
    places, best = ranked(x.reshape(shape[0], -1 if shape[0] else 12), 1, 3)
    wanted = np.stack([places, best] if values else [places], 1)
    np.testing.assert_array_equal(top, wanted.reshape(*wanted.shape, *[1] * (len(shape) - 3)))


def test_argmax_edges(device):
    x = np.array([[np.nan, 1, np.nan, 3], [np.nan] * 4], np.float32)
    top = Rig('type: "ArgMax" argmax_param { axis: 1 top_k: 2 }', [x], device=device).forward()[0]
    np.testing.assert_array_equal(top[0], [3, 1])
    assert ((top[1] >= 0) & (top[1] < 4)).all()
    for param, match in (
        ("top_k: 0", "top_k"),
        ("top_k: 5 axis: 1", "more than the 4"),
        ("min_first: true", "min_first"),
    ):
        with pytest.raises(LayerError, match=match):
            Rig(f'type: "ArgMax" argmax_param {{ {param} }}', [x])


@pytest.mark.parametrize("tops", [1, 2])
def test_parse_output_takes_the_first_of_the_largest(tops, device):
    rig = Rig('type: "ParseOutput"', [np.zeros((2, 3, 4, 5))], device=device, tops=tops)
    for shape in ((2, 3, 4, 5), (1, 1, 2, 2), (3, 7, 1, 6)):
        x = np.random.default_rng(1).integers(0, 4, shape).astype(np.float32)  # with ties
        rig.set_bottom(0, x)
        for seen, wanted in zip(rig.forward(), (x.argmax(1), x.max(1))):
            np.testing.assert_array_equal(seen, wanted[:, None])


def test_parse_output_edges(device):
    x = np.array([[np.nan, 1, np.nan], [2, np.nan, 1]], np.float32).reshape(2, 3, 1, 1)
    places, values = Rig('type: "ParseOutput"', [x], device=device, tops=2).forward()
    assert places.ravel().tolist() == [0, 0]
    np.testing.assert_array_equal(values.ravel(), [np.nan, 2])
    for shape, match in (((2, 0, 3, 3), "at least one channel"), ((2, 3), "4 axes")):
        with pytest.raises(LayerError, match=match):
            Rig('type: "ParseOutput"', [np.zeros(shape)])


# Accuracy


@pytest.mark.parametrize(("shape", "axis"), [((20, 5), 1), ((4, 5, 3, 2), 1), ((3, 4, 5), -1), ((5, 6), 0)])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("ignored", [(), (2,), (0, -1)])
def test_accuracy(shape, axis, k, ignored, device):
    rng = np.random.default_rng(0)
    score = rng.integers(0, 5, shape).astype(np.float32)  # with ties
    beside = tuple(np.delete(shape, axis))
    label = rng.integers(-1 if -1 in ignored else 0, 5, beside)
    lines = " ".join(f"ignore_label: {i}" for i in ignored)
    text = f'type: "Accuracy" accuracy_param {{ top_k: {k} axis: {axis} {lines} }}'
    whole, each = Rig(text, [score, label], device=device, tops=2).forward()
    rows = np.moveaxis(score, axis, -1).reshape(-1, 5)
    right = (ranked(rows, 1, k)[0] == label.reshape(-1, 1)).any(1)
    counts = ~np.isin(label.ravel(), ignored)
    close(whole, right[counts].mean())
    of_class = [(label.ravel() == c) & counts for c in range(5)]
    close(each, [right[at].mean() if at.any() else 0 for at in of_class])


def test_accuracy_edges(device):
    score = np.array([[1, 2], [3, 0]], np.float32)
    text = 'type: "Accuracy" accuracy_param { ignore_label: 1 }'
    assert np.isnan(Rig(text, [score, np.array([1, 1])], device=device).forward()[0])
    assert np.isnan(Rig(text, [score[:0], np.zeros(0)], device=device).forward()[0])
    for bad in (2, -1, 7e9, np.nan):
        with pytest.raises(LayerError, match="at 1 is none of the 2 channels, 0 to 1"):
            Rig(text, [score, np.array([1, bad])], device=device).forward()
    with pytest.raises(LayerError, match="have 2 labels beside axis 1, bottom 1 of shape \\(3,\\) has 3"):
        Rig(text, [score, np.zeros(3)])
    with pytest.raises(LayerError, match="top_k 3 is more than the 2 channels"):
        Rig('type: "Accuracy" accuracy_param { top_k: 3 }', [score, np.zeros(2)])
    with pytest.raises(LayerError, match="min_is_better"):
        Rig('type: "Accuracy" accuracy_param { min_is_better: true }', [score, np.zeros(2)])


# BatchReindex and Filter


def test_batch_reindex(device):
    rig = double('type: "BatchReindex"', random(4, 3, 2), np.array([2, 0, 2]), device=device)
    for entries, numbers in ((4, [2, 0, 2]), (2, [1, 1, 1, 0, 1]), (3, []), (5, [4])):
        x = random(entries, 3, 2)
        rig.set_bottom(0, x)
        rig.set_bottom(1, np.array(numbers, float))
        close(rig.forward()[0], x[np.array(numbers, int)])
        check_gradient(rig) if 4 in numbers else None
        g = random(len(numbers), 3, 2, seed=1)
        wanted = np.zeros_like(x)
        np.add.at(wanted, np.array(numbers, int), g)
        close(rig.backward([g], [True, False])[0], wanted)
    for bad in (5, -1, np.nan):
        rig.set_bottom(1, np.array([0, bad]))
        with pytest.raises(LayerError, match="at 1, bottom 0 has the entries 0 to 4"):
            rig.forward()
    with pytest.raises(LayerError, match="numbers, has no gradient"):
        rig.backward([], [True, True])


def test_filter(device):
    rig = double('type: "Filter"', random(5, 3), random(5, 2, 2), np.zeros((5, 1)), device=device, tops=2)
    for selector in ([1, 0, 0, -2, 0.5], [0] * 5, [1] * 5, [0, 0, 1, 0, 0], []):
        a, b = random(len(selector), 3), random(len(selector), 2, 2)
        keep = np.array(selector, float)
        for i, value in enumerate((a, b, keep.reshape(-1, 1))):
            rig.set_bottom(i, value)
        tops = rig.forward()
        close(tops[0], a[keep != 0])
        close(tops[1], b[keep != 0])
        g = [random(*t.shape, seed=2) for t in tops]
        diffs = rig.backward(g, [True, True, False])
        for diff, grad in zip(diffs, g):
            wanted = np.zeros(diff.shape)
            wanted[keep != 0] = grad
            close(diff, wanted)
    with pytest.raises(LayerError, match="selector has no gradient"):
        rig.backward(g)


def test_filter_in_a_net(device):
    """The layers behind it see the length that the selector leaves."""
    text = """force_backward: true
    layer { name: "in" type: "Input" top: "x" top: "s" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
    layer { name: "f" type: "Filter" bottom: "x" bottom: "s" top: "y" }
    layer { name: "p" type: "Power" bottom: "y" top: "z" power_param { scale: 2 } loss_weight: 1 }"""
    net = Net(parse_net(text), device=device)
    x = random(4, 3)
    for selector in ([1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1]):
        keep = np.array(selector) != 0
        close(net.forward(x=x, s=np.array(selector))["z"], 2 * x[keep])
        net.backward()
        close(np.array(net.blobs["x"].diff), np.where(keep[:, None], 2, np.zeros((4, 3))))


def test_filter_errors():
    with pytest.raises(LayerError, match="3 bottoms and 1 tops"):
        Rig('type: "Filter"', [np.zeros(2)] * 3)
    with pytest.raises(LayerError, match="selector must be"):
        Rig('type: "Filter"', [np.zeros((2, 3)), np.zeros((2, 3))])
    with pytest.raises(LayerError, match="must have the selector's 3 entries"):
        Rig('type: "Filter"', [np.zeros((2, 3)), np.zeros(3)])


# Embed


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("width", [4, 150])
def test_embed(bias, width, device):
    filler = 'filler { type: "gaussian" std: 1 }'
    text = (f'type: "Embed" embed_param {{ num_output: {width} input_dim: 6 bias_term: {str(bias).lower()} '
            f"weight_{filler} bias_{filler} }}")  # fmt: skip
    rig = double(text, np.zeros((3, 2)), device=device)
    for shape in ((3, 2), (7,), (0, 4), (2, 5)):
        numbers = np.random.default_rng(0).integers(0, 6, shape)
        rig.set_bottom(0, numbers)
        table = np.array(rig.layer.blobs[0].data)
        wanted = table[numbers] + (np.array(rig.layer.blobs[1].data) if bias else 0)
        close(rig.forward()[0], wanted)
        g = random(*shape, width, seed=1)
        rig.backward([g], [False])
        diff = np.zeros((6, width))
        np.add.at(diff, numbers.ravel(), g.reshape(-1, width))
        close(rig.param_diffs()[0], diff)
        if bias:
            close(rig.param_diffs()[1], g.reshape(-1, width).sum(0))
    for bad in (6, -1):
        rig.set_bottom(0, np.array([[0.0, bad]]))
        with pytest.raises(LayerError, match="at 1; input_dim 6 has 0 to 5"):
            rig.forward()
    with pytest.raises(LayerError, match="input_dim must be given"):
        Rig('type: "Embed" embed_param { num_output: 3 }', [np.zeros(2)])
    with pytest.raises(LayerError, match="num_output must be given"):
        Rig('type: "Embed" embed_param { input_dim: 3 }', [np.zeros(2)])


# Im2col


@pytest.mark.parametrize(
    "param",
    ["kernel_size: 3", "kernel_size: 3 pad: 1 stride: 2", "kernel_h: 2 kernel_w: 3 pad_h: 1 pad_w: 0 dilation: 2"],
)
def test_im2col_is_half_of_a_convolution(param, device):
    rig = double(f'type: "Im2col" convolution_param {{ {param} }}', random(2, 3, 7, 8), device=device)
    conv = double(f'type: "Convolution" convolution_param {{ num_output: 4 bias_term: false {param} }}',
                  random(2, 3, 7, 8))  # fmt: skip
    weights = random(*conv.layer.blobs[0].shape)
    conv.layer.blobs[0].data[...] = weights
    for shape in ((2, 3, 7, 8), (1, 3, 9, 5), (0, 3, 7, 8)):
        x = random(*shape)
        rig.set_bottom(0, x)
        conv.set_bottom(0, x)
        columns = rig.forward()[0]
        close(np.einsum("mk,nkyx->nmyx", weights.reshape(4, -1), columns), conv.forward()[0])
    rig.set_bottom(0, random(2, 3, 7, 8))
    check_gradient(rig)


def test_im2col_of_other_axes(device):
    x = random(2, 3, 4)
    top = double('type: "Im2col" convolution_param { kernel_size: 2 axis: 1 }', x, device=device).forward()[0]
    close(top, np.stack([x[:, :, :3], x[:, :, 1:]], 2).reshape(2, 6, 3))
    x = random(2, 5, 3, 4, 4, 4)
    rig = double('type: "Im2col" convolution_param { kernel_size: 2 axis: 2 stride: 2 }', x, device=device)
    assert rig.forward()[0].shape == (2, 5, 24, 2, 2, 2)
    check_gradient(rig)
    with pytest.raises(LayerError, match="kernel_size is missing"):
        Rig('type: "Im2col"', [np.zeros((1, 1, 2, 2))])
    with pytest.raises(LayerError, match="reaches over"):
        Rig('type: "Im2col" convolution_param { kernel_size: 3 }', [np.zeros((1, 1, 2, 2))])


# SPP


def pyramid(x: np.ndarray, height: int, average: bool) -> np.ndarray:
    """By Caffe's recipe: the Pooling layers that it builds, one for each level."""
    levels = []
    for level in range(height):
        bins, sizes = 2**level, x.shape[2:]
        kernel = [-(-s // bins) for s in sizes]
        pad = [(k * bins - s + 1) // 2 for k, s in zip(kernel, sizes)]
        text = (f'type: "Pooling" pooling_param {{ pool: {"AVE" if average else "MAX"} kernel_h: {kernel[0]} '
                f'kernel_w: {kernel[1]} stride_h: {kernel[0]} stride_w: {kernel[1]} pad_h: {pad[0]} pad_w: {pad[1]} }}')  # fmt: skip
        pooled = double(text, x).forward()[0]
        assert pooled.shape[2:] == (bins, bins)
        levels.append(pooled.reshape(len(x), -1))
    return np.concatenate(levels, 1)


@pytest.mark.parametrize("pool", ["MAX", "AVE"])
@pytest.mark.parametrize("height", [1, 2, 3])
def test_spp(pool, height, device):
    rig = double(
        f'type: "SPP" spp_param {{ pyramid_height: {height} pool: {pool} }}', random(2, 3, 8, 8), device=device
    )
    for size in ((8, 8), (6, 7), (11, 13), (9, 4)):
        x = random(2, 3, *size)
        rig.set_bottom(0, x)
        wanted = pyramid(x, height, pool == "AVE")
        close(rig.forward()[0], wanted if height > 1 else wanted.reshape(2, 3, 1, 1))
    check_gradient(rig)
    rig.set_bottom(0, np.zeros((0, 3, 8, 8)))
    assert rig.forward()[0].shape[0] == 0


def test_spp_errors():
    x = [np.zeros((1, 2, 5, 5))]
    with pytest.raises(LayerError, match="pyramid_height must be given"):
        Rig('type: "SPP"', x)
    with pytest.raises(LayerError, match="MAX or AVE, got STOCHASTIC"):
        Rig('type: "SPP" spp_param { pyramid_height: 2 pool: STOCHASTIC }', x)
    with pytest.raises(LayerError, match="too small for 4 x 4 bins"):
        Rig('type: "SPP" spp_param { pyramid_height: 3 }', x)


# MVN


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("variance", [False, True])
@pytest.mark.parametrize("in_place", [False, True], ids=["", "in_place"])
def test_mvn(across, variance, in_place, device):
    text = f'type: "MVN" mvn_param {{ across_channels: {str(across).lower()} normalize_variance: {str(variance).lower()} }}'
    rig = double(text, random(2, 3, 4, 5), device=device, in_place=in_place)
    axes = (1, 2, 3) if across else (2, 3)
    for shape in ((2, 3, 4, 5), (1, 2, 30, 20), (0, 3, 2, 2), (3, 2, 3, 2)):
        x = random(*shape)
        rig.set_bottom(0, x)
        if x.size:
            off = x - x.mean(axes, keepdims=True)
            wanted = off / (x.std(axes, keepdims=True) + 1e-9) if variance else off
        else:
            wanted = x
        close(rig.forward()[0], wanted)
    rig.set_bottom(0, random(3, 2, 3, 4))
    check_gradient(rig)


def test_mvn_eps(device):
    x = random(2, 1, 3, 4)
    off, deviation = x - x.mean((2, 3), keepdims=True), x.std((2, 3), keepdims=True)
    outside = double('type: "MVN" mvn_param { eps: 0.5 }', x, device=device)
    close(outside.forward()[0], off / (deviation + 0.5))
    inside = double('type: "MVN" mvn_param { eps: 0.5 add_eps_before_sqrt: true }', x, device=device)
    close(inside.forward()[0], off / np.sqrt(deviation**2 + 0.5))
    check_gradient(inside)
    flat = double('type: "MVN"', np.full((1, 1, 2, 2), 7.0), device=device)
    np.testing.assert_array_equal(flat.forward()[0], np.zeros((1, 1, 2, 2)))
    with pytest.raises(LayerError, match="eps must not be negative"):
        Rig('type: "MVN" mvn_param { eps: -1 }', [x])


# Parameter


def test_parameter_learns(device):
    text = """layer { name: "w" type: "Parameter" top: "w"
                      parameter_param { shape { dim: 2 dim: 3 } blob_filler { type: "constant" value: 2 } } }
    layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
    layer { name: "l" type: "EuclideanLoss" bottom: "w" bottom: "x" top: "l" }"""
    net = Net(parse_net(text), device=device, phase="TRAIN")
    x = random(2, 3)
    close(net.forward(x=x)["l"], ((2 - x) ** 2).sum() / 4)
    for times in (1, 2):  # gradients add up
        net.backward()
        close(np.array(net.params["w"][0].diff), times * (2 - x) / 2)
    net.params["w"][0].data[...] = x
    assert net.forward()["l"] == 0
