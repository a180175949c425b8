"""Convolutions in training whose factors are rounded to bfloat16: against numpy in float64, with factors rounded here."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.device import open_device
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.layers.dense import convolution_pairs
from boxpresso.layers.dense.convolution_pairs import PairedConvolution
from boxpresso.layers.dense.sizes import Sizes
from boxpresso.proto import parse_net

able = pytest.mark.skipif(not bf16_available(open_device("cpu")), reason="this CPU does not multiply bfloat16")

# images, channels, height, width, maps, kernel, and what else of a Sizes: sums, rows and columns that end inside of tiles, and with them
WINDOWS = [
    (2, 3, 11, 13, 16, (3, 3), {"pad": (1, 1)}),
    (1, 16, 20, 20, 24, (3, 3), {"pad": (1, 1)}),
    (2, 17, 9, 9, 33, (3, 3), {"pad": (1, 1), "stride": (2, 2)}),
    (1, 64, 7, 7, 50, (1, 1), {}),
    (2, 65, 6, 7, 100, (1, 1), {"stride": (2, 2)}),
    (3, 8, 10, 10, 8, (5, 5), {}),
    (2, 12, 9, 8, 6, (3, 3), {"pad": (1, 1), "group": 2}),
    (1, 10, 15, 15, 20, (3, 3), {"pad": (2, 2), "dilation": (2, 2)}),
    (2, 9, 6, 31, 7, (1, 5), {"pad": (0, 2), "stride": (1, 3)}),
    (1, 300, 5, 5, 200, (3, 3), {"pad": (1, 1)}),
    (1, 4, 3, 1400, 5, (3, 3), {"pad": (1, 1)}),
    (2, 6, 8, 8, 10, (3, 3), {"pad": (3, 3)}),
    (2, 5, 3, 3, 4, (3, 3), {}),
    (1, 2, 40, 33, 130, (2, 2), {"stride": (3, 1), "pad": (1, 0)}),
    # Of channels enough, and side by side: planes are read as they are
    (1, 40, 12, 11, 36, (3, 3), {"pad": (2, 2), "dilation": (2, 2)}),
    (2, 33, 9, 70, 65, (3, 2), {"pad": (1, 0)}),
    (1, 64, 8, 9, 40, (3, 3), {"pad": (1, 1), "group": 2}),
    (1, 16, 2, 1500, 9, (1, 3), {"pad": (0, 1)}),
    (2, 24, 30, 1, 17, (3, 1), {"pad": (1, 0)}),
    (1, 20, 5, 6, 8, (3, 3), {"pad": (3, 4)}),
    (1, 31, 64, 64, 33, (1, 1), {"pad": (1, 0)}),
    (1, 128, 16, 16, 130, (5, 5), {}),
    # But not where their padding would be a thousand times as large
    (1, 20, 8, 7, 18, (3, 3), {"pad": (900, 900), "dilation": (900, 900)}),
]
LAYER = """
layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: 6 dim: 9 dim: 8 }} }} }}
layer {{ name: "y" type: "{}" bottom: "x" top: "y" convolution_param {{ kernel_size: 3 {} }} }}
"""


def rounded(x: np.ndarray) -> np.ndarray:
    """To bfloat16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + (0x7FFF + (bits >> 16 & 1))) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def sizes_of(case: tuple) -> Sizes:
    images, channels, height, width, maps, kernel, more = case
    chosen = {"stride": (1, 1), "pad": (0, 0), "dilation": (1, 1), "group": 1, **more}
    each = zip((height, width), kernel, chosen["stride"], chosen["pad"], chosen["dilation"])
    map = tuple((size + 2 * p - d * (k - 1) - 1) // s + 1 for size, k, s, p, d in each)
    return Sizes(images, channels, maps, image=(height, width), map=map, kernel=kernel, **chosen)


def terms(s: Sizes):
    """Of each tap: the places of the map, and their pixels of the padded image."""
    for tap in product(*map(range, s.kernel)):
        yield (
            tap,
            tuple(slice(t * d, t * d + (n - 1) * by + 1, by) for t, d, n, by in zip(tap, s.dilation, s.map, s.stride)),
        )


def exact(s: Sizes, x: np.ndarray, weights: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The map of x, and of a map's diff y the gradients of x and of the weights, in float64."""
    (ph, pw), (height, width) = s.pad, s.image
    padded = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    out, down, learned = np.zeros_like(y), np.zeros_like(padded), np.zeros_like(weights)
    for part in range(s.group):
        rows, columns = (slice(part * n, (part + 1) * n) for n in (s.filters, s.inner))
        for tap, at in terms(s):
            under, own = (slice(None), columns, *at), (rows, slice(None), *tap)
            pixels, of_tap = padded[under], weights[own]
            out[:, rows] += np.einsum("fc,nchw->nfhw", of_tap, pixels)
            down[under] += np.einsum("fc,nfhw->nchw", of_tap, y[:, rows])
            learned[own] = np.einsum("nfhw,nchw->fc", y[:, rows], pixels)
    return out, down[:, :, ph : ph + height, pw : pw + width], learned


def near(seen: np.ndarray, wanted: np.ndarray) -> None:
    """Sums in float32 of the same rounded factors."""
    np.testing.assert_allclose(seen, wanted, rtol=1e-5, atol=2e-6 * np.abs(wanted).max())


def check(case: tuple, rng: np.random.Generator) -> None:
    s = sizes_of(case)
    shapes = (s.images, s.channels, *s.image), (s.maps, s.inner, *s.kernel), (s.images, s.maps, *s.map)
    x, weights, y = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    of_map, of_image = (rng.standard_normal(n).astype(np.float32) for n in (s.maps, s.channels))
    out, down, learned = exact(s, *(rounded(each) for each in (x, weights, y)))
    by = PairedConvolution(s, open_device("cpu"))
    assert not by.plain
    map, image, diff = np.full_like(y, np.nan), np.full_like(x, np.nan), np.ones_like(weights)
    by.correlate(x, weights, of_map, map, False)
    near(map, out + of_map.reshape(-1, 1, 1))
    by.correlate(x, weights, None, map, False)
    near(map, out)
    by.spread(y, weights, of_image, image)
    near(image, down + of_image.reshape(-1, 1, 1))
    by.spread(y, weights, None, image)
    near(image, down)
    by.gradient(x, y, diff)
    near(diff - 1, learned)


@able
@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_a_convolution_and_its_gradients(case):
    check(case, np.random.default_rng(1))


@able
def test_padding_takes_no_memory_of_its_own():
    sizes = [sizes_of((1, 20, 8, 7, 18, (3, 3), {"pad": (n, n), "dilation": (n, n)})) for n in (1, 12000)]
    rooms = [PairedConvolution(s, open_device("cpu")).worker_room(True, True, True) for s in sizes]
    assert rooms[1] <= 4 * rooms[0] + 2**20


@able
def test_a_batch_that_is_packed_in_parts(monkeypatch):
    monkeypatch.setattr(convolution_pairs, "PACKED", 2000)
    check((5, 7, 10, 9, 12, (3, 3), {"pad": (1, 1)}), np.random.default_rng(2))
    monkeypatch.setattr(convolution_pairs, "BAND", 1)  # and bands of one row
    check((2, 7, 10, 9, 12, (3, 3), {"pad": (1, 1)}), np.random.default_rng(3))


@able
@pytest.mark.usefixtures("always_all")
@pytest.mark.parametrize("workers", [1, 3, 64])
@pytest.mark.parametrize("case", [WINDOWS[2], WINDOWS[15]], ids=str)
def test_results_do_not_depend_on_workers(case, workers, monkeypatch):
    s, rng = sizes_of(case), np.random.default_rng(4)
    x, weights, y = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((s.images, s.channels, *s.image), (s.maps, s.inner, *s.kernel), (s.images, s.maps, *s.map))
    )
    device, results = open_device("cpu"), []
    for count in (2, workers):
        monkeypatch.setattr(device, "workers", count)
        by = PairedConvolution(s, device)
        map, image, diff = np.empty_like(y), np.empty_like(x), np.zeros_like(weights)
        by.correlate(x, weights, None, map, False)
        by.spread(y, weights, None, image)
        by.gradient(x, y, diff)
        results.append([each.tobytes() for each in (map, image, diff)])
    assert results[0] == results[1]


@able
@pytest.mark.parametrize(
    ("layer", "fields", "plain"),
    [
        ("Convolution", "num_output: 4 pad: 1", False),
        ("Convolution", "num_output: 4 pad: 1 stride: 2 group: 2", False),
        ("Deconvolution", "num_output: 4 stride: 2 pad: 1", False),
        ("Deconvolution", "num_output: 4 group: 2", False),
        ("DepthwiseConvolution", "num_output: 6", True),
    ],
)
def test_layers_of_a_net_that_learns(layer, fields, plain):
    text = LAYER.format(layer, fields) + 'layer { name: "l" type: "Reduction" bottom: "y" top: "l" loss_weight: 1 }'
    nets = [
        Net(parse_net("force_backward: true" + text), phase="TRAIN", device="cpu", seed=1, precision=precision)
        for precision in ("bf16", None)
    ]
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 6, 9, 8))
    for blob in nets[0].params["y"]:
        blob.data[...] = rng.standard_normal(blob.shape)
    exactly = rounded(x), rounded(nets[0].params["y"][0].data)
    nets[1].params["y"][0].data[...] = exactly[1]  # in float32 of factors that are rounded
    nets[1].params["y"][1].data[...] = nets[0].params["y"][1].data
    for net, data in zip(nets, (x, x if plain else exactly[0])):
        if plain:
            net.params["y"][0].data[...] = nets[0].params["y"][0].data
        net.forward(x=data)
        net.backward()
    for blob in ("y", "x"):
        ours, theirs = (np.array(net.blobs[blob].diff if blob == "x" else net.blobs[blob].data) for net in nets)
        near(ours, theirs)
    for ours, theirs in zip(nets[0].params["y"], nets[1].params["y"]):
        near(np.array(ours.diff), np.array(theirs.diff))
    if not plain:
        loose = Net(parse_net("force_backward: true" + text), phase="TRAIN", device="cpu", seed=1)
        for i in (0, 1):
            loose.params["y"][i].data[...] = nets[0].params["y"][i].data
        assert (loose.forward(x=x, blobs=["y"])["y"] != np.array(nets[0].blobs["y"].data)).mean() > 0.9
    np.testing.assert_array_equal(nets[0].params["y"][0].data.dtype, np.float32)


@able
def test_what_is_not_finite_stays_so():
    net = Net(
        parse_net(LAYER.format("Convolution", "num_output: 4 pad: 1")),
        phase="TRAIN",
        device="cpu",
        seed=1,
        precision="bf16",
    )
    net.params["y"][0].data[...] = 1
    x = np.ones((2, 6, 9, 8), np.float32)
    x[0, 0, 0, 0], x[1, 5, 8, 7], x[1, 0, 0, 0] = np.nan, np.inf, -np.inf
    y = net.forward(x=x)["y"]
    assert np.isnan(y[0, :, :2, :2]).all()
    assert np.isfinite(y[0, :, 2:, 2:]).all()
    assert (y[1, :, 7:, 6:] == np.inf).all()
    assert (y[1, :, :2, :2] == -np.inf).all()


@able
def test_a_batch_without_images():
    text = "force_backward: true" + LAYER.format("Convolution", "num_output: 4 pad: 1")
    net = Net(parse_net(text), phase="TRAIN", device="cpu", seed=1, precision="bf16")
    assert net.forward(x=np.zeros((0, 6, 9, 8)))["y"].shape == (0, 4, 9, 8)
    net.backward()


@able
@pytest.mark.parametrize(
    "layer",
    [
        """type: "ConvolutionRistretto" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } }
        quantization_param { bw_params: 16 fl_params: 12 bw_layer_in: 16 fl_layer_in: 8 bw_layer_out: 16 fl_layer_out: 8 }""",
        """type: "ConvolutionFixed" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } }
        fixed_param { bit_width: 12 }""",
        """type: "DeconvolutionFixed" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } }
        fixed_param { bit_width: 12 }""",
    ],
)
def test_fixed_point_layers_round_by_themselves(layer):
    text = LAYER[: LAYER.index('layer {{ name: "y"')].format() + f'layer {{ name: "y" bottom: "x" top: "y" {layer} }}'
    x = np.random.default_rng(6).standard_normal((2, 6, 9, 8))
    tops = [
        Net(parse_net(text), phase="TRAIN", device="cpu", seed=1, precision=precision).forward(x=x)["y"]
        for precision in (None, "bf16")
    ]
    np.testing.assert_array_equal(*tops)
    assert tops[0].any()
