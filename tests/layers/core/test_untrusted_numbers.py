"""Numbers of a prototxt, and labels, that do not fit the int of a kernel: refused by name, or computed right."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from harness import Rig

from boxpresso import Net
from boxpresso.device import Kernels
from boxpresso.device.chain import Chain
from boxpresso.device.host import cpu
from boxpresso.layers.core import run_layer
from boxpresso.layers.neuron.relu import ReLU
from boxpresso.proto import BoxpressoError, DeviceError, KernelError, LayerError, parse_net

IMAGE = np.arange(32.0).reshape(1, 2, 4, 4)
SEQUENCE = np.arange(24.0).reshape(1, 2, 3, 2, 2)  # of three spatial axes
LARGE = "stride is 4294967295; a stride may be 536870912 at most"


def run_in_net(text: str, bottom: np.ndarray) -> None:
    dims = " ".join(f"dim: {size}" for size in bottom.shape)
    net = parse_net(f"""
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "wild" bottom: "x" top: "y" {text} }}""")
    Net(net, device="cpu").forward(x=bottom)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('type: "Pooling" pooling_param { kernel_size: 2 stride: 4294967295 }', LARGE),
        ('type: "Pooling" pooling_param { kernel_size: 2 stride_h: 4294967295 stride_w: 1 }', "stride_h is 4294967295"),
        ('type: "Pooling" pooling_param { kernel_size: 2 pad: 2147483647 }', "pad is 2147483647; a pad may be"),
        ('type: "Pooling" pooling_param { kernel_size: 536870912 pad: 536870911 stride: 536870912 }', "beyond 2147483647"),
        ('type: "Convolution" convolution_param { num_output: 1 kernel_size: 2 stride: 4294967295 }', LARGE),
        ('type: "Convolution" convolution_param { num_output: 1 kernel_size: 2 pad: 2147483647 }', "pad is 2147483647"),
        ('type: "Convolution" convolution_param { num_output: 4294967295 kernel_size: 1 }', "num_output is 4294967295"),
        ('type: "Convolution" convolution_param { num_output: 1 kernel_size: 2 dilation: 1 dilation: 4294967295 }', "dilation"),
        ('type: "Deconvolution" convolution_param { num_output: 1 kernel_size: 2 stride: 4294967295 }', LARGE),
        ('type: "Deconvolution" convolution_param { num_output: 1 kernel_size: 1 stride: 536870912 }', "2^31 - 1"),
        ('type: "Im2col" convolution_param { kernel_size: 2 stride: 4294967295 }', LARGE),
        ('type: "LRN" lrn_param { local_size: 4294967295 }', "local_size is 4294967295; the largest number"),
        ('type: "InnerProduct" inner_product_param { num_output: 4294967295 }', "num_output is 4294967295"),
        ('type: "SPP" spp_param { pyramid_height: 4294967295 }', "pyramid_height is 4294967295"),
        ('type: "Tile" tile_param { tiles: 2147483647 }', "2^31 - 1"),
        ('type: "Reshape" reshape_param { shape { dim: 9223372036854775807 } }', "dim is 9223372036854775807"),
        ('type: "Crop" bottom: "x" crop_param { offset: 4294967295 }', "offset is 4294967295"),
        ('type: "Slice" slice_param { slice_point: 4294967295 }', "slice_point is 4294967295"),
    ],
)  # fmt: skip
def test_a_number_that_is_too_large_is_refused_by_name(text, message):
    for bottom in (IMAGE, SEQUENCE):
        with pytest.raises(LayerError, match=r"layer 'wild'") as caught:
            run_in_net(text, bottom)
        if bottom is IMAGE:
            assert message in str(caught.value)


def test_the_largest_numbers_that_are_allowed_are_computed_right():
    top = run_layer('type: "Pooling" pooling_param { kernel_size: 2 stride: 536870912 }', IMAGE)
    assert top[..., 0, 0].tolist() == [[5.0, 21.0]]  # Caffe rounds up: the other windows are empty
    top = run_layer('type: "Convolution" convolution_param { num_output: 1 kernel_size: 2 stride: 536870912 }', IMAGE)
    assert top.shape == (1, 1, 1, 1)


@pytest.mark.parametrize("side", [65536, 100000])
def test_the_mean_of_a_window_of_more_pixels_than_an_int(side, device):
    """The window's area is 2^32 and more; all but 16 of its pixels are padding."""
    text = f'type: "Pooling" pooling_param {{ pool: AVE kernel_size: {side} pad: {side - 4} stride: {side} }}'
    rig = Rig(text, [np.ones((1, 1, 4, 4))], device=device, dtype=np.float64)
    (top,) = rig.forward()
    total = (top * float(side) ** 2).sum()
    assert np.isfinite(top).all()
    assert 0 < total <= 17  # nothing else than the 16 ones, in windows that are no larger than side x side
    assert np.isfinite(rig.backward([np.ones_like(top)])[0]).all()


@pytest.mark.parametrize("region", ["ACROSS_CHANNELS", "WITHIN_CHANNEL"])
def test_a_window_of_lrn_beyond_the_blob(region, device):
    x = np.random.default_rng(0).normal(size=(1, 3, 2, 4))
    size = 2**31 - 1
    text = f'type: "LRN" lrn_param {{ local_size: {size} alpha: 1e9 norm_region: {region} }}'
    (top,) = Rig(text, [x], device=device, dtype=np.float64).forward()
    axes, count = (1, size) if region == "ACROSS_CHANNELS" else ((2, 3), size**2)
    by = float(np.float32(1e9)) / count
    np.testing.assert_allclose(top, x / (1 + by * (x**2).sum(axes, keepdims=True)) ** 0.75, rtol=1e-6)


# Memory of kernels


def reference(
    x: np.ndarray, w: np.ndarray, kernel: int, stride: int, pad: int, dilation: int, group: int
) -> np.ndarray:
    """A convolution tap by tap, in float64, that looks at no padding."""
    (n, c, *size), maps = x.shape, w.shape[0]
    out = [(side + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for side in size]
    top = np.zeros((n, maps, *out))
    for place in np.ndindex(*out):
        for tap in np.ndindex(kernel, kernel):
            y, at = (place[i] * stride - pad + tap[i] * dilation for i in range(2))
            if 0 <= y < size[0] and 0 <= at < size[1]:
                for g in range(group):
                    of, to = (
                        slice(g * c // group, (g + 1) * c // group),
                        slice(g * maps // group, (g + 1) * maps // group),
                    )
                    top[:, to, place[0], place[1]] += x[:, of, y, at] @ w[to, :, tap[0], tap[1]].T
    return top


FAR = [
    (3, 12000, 12000, 12000), (3, 20000, 20000, 20000), (3, 300000, 300000, 1), (3, 2**29, 2**29, 2**29), (3, 1, 40, 39),
    (2, 7, 3, 9), (3, 3, 1000, 999), (5, 1, 8, 3),
]  # kernel, stride, pad, dilation  # fmt: skip


@pytest.mark.parametrize(("kernel", "stride", "pad", "dilation"), FAR)
@pytest.mark.parametrize(("maps", "group"), [(8, 1), (4, 4), (8, 4)])
def test_windows_far_larger_than_the_image(kernel, stride, pad, dilation, maps, group):
    """Memory is taken for what the image covers, forward, backward and in a plan: some of these once took gigabytes."""
    x = np.random.default_rng(1).normal(size=(2, 4, 8, 9))
    fields = f"num_output: {maps} group: {group} kernel_size: {kernel} stride: {stride} pad: {pad} dilation: {dilation}"
    text = f'type: "Convolution" convolution_param {{ {fields} bias_term: false weight_filler {{ type: "gaussian" }} }}'
    rig = Rig(text, [x], dtype=np.float64)
    (top,) = rig.forward()
    weights = np.array(rig.layer.blobs[0].data)
    wanted = reference(x, weights, kernel, stride, pad, dilation, group)
    np.testing.assert_allclose(top, wanted, atol=1e-12)
    assert rig.layer.shared_bytes(rig.bottom, rig.top, True) < 2**26
    diff = np.random.default_rng(2).normal(size=top.shape)
    (bottom_diff,) = rig.backward([diff])
    np.testing.assert_allclose(
        (bottom_diff * x).sum(), (diff * wanted).sum(), rtol=1e-9, atol=1e-12
    )  # it is linear in x
    np.testing.assert_allclose((rig.param_diffs()[0] * weights).sum(), (diff * wanted).sum(), rtol=1e-9, atol=1e-12)
    net = Net(parse_net(f"""
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: 4 dim: 8 dim: 9 }} }} }}
        layer {{ name: "c" bottom: "x" top: "y" {text} }}"""), device="cpu", memory_limit=2**26)  # fmt: skip
    net.params["c"][0].data[...] = weights
    np.testing.assert_allclose(net.forward(x=x)["y"], wanted, atol=1e-4)


def test_a_long_row_is_cut():
    """Columns of a map of one long row are written out a piece at a time; in one they would be 2000 times the image."""
    x = np.random.default_rng(1).normal(size=(1, 1, 1, 9000))
    fields = "num_output: 5 kernel_h: 1 kernel_w: 2000 pad_h: 0 pad_w: 1000"
    text = f'type: "Convolution" convolution_param {{ {fields} bias_term: false weight_filler {{ type: "gaussian" }} }}'
    rig = Rig(text, [x], dtype=np.float64)
    (top,) = rig.forward()
    weights = np.array(rig.layer.blobs[0].data)
    lines = [np.convolve(np.pad(x[0, 0, 0], 1000), w[0, 0, ::-1], "valid") for w in weights]
    np.testing.assert_allclose(top[0, :, 0], lines, rtol=1e-9, atol=1e-9)
    diff = np.random.default_rng(2).normal(size=top.shape)
    (bottom_diff,) = rig.backward([diff])
    wanted = sum(np.convolve(d, w[0, 0])[1000:10000] for d, w in zip(diff[0, :, 0], weights))
    np.testing.assert_allclose(bottom_diff[0, 0, 0], wanted, rtol=1e-9, atol=1e-9)
    moved = np.lib.stride_tricks.sliding_window_view(np.pad(x[0, 0, 0], 1000), 2000)
    np.testing.assert_allclose(rig.param_diffs()[0][:, 0, 0], diff[0, :, 0] @ moved, rtol=1e-9, atol=1e-9)


LACKING = """
    #include "checked.h"
    KERNEL takes(int n, const Real* x, Real* y, int many, int times) {
      GRID_LOOP(i, n) y[i] = scratch(0, Count(many) * many * times + 1) ? x[i] : Real(0);
    }
    """


NOWHERE = "more bytes than a machine has"


@pytest.mark.parametrize(
    ("many", "times", "said"),
    [
        (2**31 - 1, 2**31 - 1, NOWHERE),
        (-1, 1, NOWHERE),
        (2**31 - 1, -1, NOWHERE),
        (2**23, 1, "281474976710660 bytes"),
    ],
)
def test_memory_that_a_kernel_lacks_is_an_error(many, times, said, tmp_path):
    """2^48 bytes are more than an address space has."""
    (tmp_path / "takes.cpp").write_text(textwrap.dedent(LACKING))
    kernels, x, y = Kernels(tmp_path / "takes.cpp"), np.ones(4, np.float32), np.zeros(4, np.float32)
    chain = Chain(cpu(), np.dtype(np.float32))
    chain.add(kernels.takes, 4, x, y, many, times)
    with pytest.raises(MemoryError, match=f"{said} were asked for, as memory of a worker of kernel takes of takes.cpp"):
        kernels.on(cpu()).takes(4, x, y, many, times)
    with pytest.raises(DeviceError, match=rf"there is no memory left \({said} were asked for"):
        chain.run()
    kernels.on(cpu()).takes(4, x, y, 3, 1)
    assert y.tolist() == [1] * 4


def test_a_number_that_an_int_does_not_hold_reaches_no_kernel():
    x, y = np.ones(1, np.float32), np.zeros(1, np.float32)
    with pytest.raises(KernelError, match="argument 'n' must be an int, from -2\\^31 to 2\\^31 - 1, got 4294967297"):
        ReLU.kernels.on(cpu()).relu_forward(2**32 + 1, x, y, 0.0, np.inf)


# Labels


def run_twice(rig: Rig) -> None:
    """Some losses look at the labels of one pass at the next, so that they need not wait for a GPU."""
    rig.forward()
    rig.layer.forward(rig.bottom, rig.top)


WILD = [np.nan, np.inf, -np.inf, 1e30, -1e30, 2147483648.0, -2147483904.0]
SCORES = np.random.default_rng(1).normal(size=(4, 3))


@pytest.mark.parametrize("wild", WILD)
@pytest.mark.parametrize(
    "text",
    [
        'type: "SoftmaxWithLoss"', 'type: "SoftmaxWithLoss" loss_param { ignore_label: -2147483648 }', 'type: "HingeLoss"',
        'type: "MultinomialLogisticLoss"', 'type: "Accuracy"',
    ],
)  # fmt: skip
def test_a_wild_label_is_named(text, wild, device):
    labels = np.array([0, wild, 1, 2])
    rig = Rig(text, [np.abs(SCORES), labels], device=device)
    with pytest.raises(LayerError, match="label") as caught:
        run_twice(rig)
    assert "'layer'" in str(caught.value)


@pytest.mark.parametrize("wild", WILD)
def test_a_wild_label_in_backward_is_no_channel(wild, device):
    """Labels that change between forward and backward: the gradient is that of no channel, and nothing is read outside."""
    for text in ('type: "SoftmaxWithLoss"', 'type: "SoftmaxWithLoss" softmax_param { axis: 1 }'):
        rig = Rig(text, [SCORES.reshape(4, 3, 1), np.zeros((4, 1))], device=device, dtype=np.float64)
        rig.forward()
        rig.bottom[1].data[...] = wild
        diff = rig.backward([np.ones(())], [True, False])[0]
        shares = np.exp(SCORES) / np.exp(SCORES).sum(1, keepdims=True)
        np.testing.assert_allclose(diff[:, :, 0], shares / 4, rtol=1e-9)


@pytest.mark.parametrize(
    ("alike", "same"), [(0.0, 0), (0.5, 0), (-0.5, 0), (1.0, 1), (np.nan, 1), (1e30, 1), (-np.inf, 1)]
)
def test_pairs_whose_label_is_wild(alike, same, device):
    """Caffe makes an int of it; what no int holds counts as alike."""
    a, b = np.array([[0.0, 0.25]]), np.array([[0.5, 0.0]])
    rig = Rig('type: "ContrastiveLoss"', [a, b, np.array([alike])], device=device, dtype=np.float64)
    (loss,) = rig.forward()
    square = 0.3125
    np.testing.assert_allclose(loss, (square if same else (1 - square**0.5) ** 2) / 2, rtol=1e-6)


@pytest.mark.parametrize("wild", WILD)
def test_a_wild_target_is_not_the_ignored_one(wild, device):
    text = 'type: "SigmoidCrossEntropyLoss" loss_param { ignore_label: -2147483648 normalize: false }'
    rig = Rig(text, [np.zeros((1, 2)), np.array([[1.0, wild]])], device=device, dtype=np.float64)
    (loss,) = rig.forward()
    diff = rig.backward([np.ones(())], [True, False])[0]
    if wild == -2147483648.0:
        raise AssertionError("that one would be ignored")
    np.testing.assert_allclose(diff[0], [-0.5, 0.5 - wild], rtol=1e-6)
    assert np.isfinite(loss) == np.isfinite(2 * np.log(2) - 0 * wild)


def test_every_error_names_the_layer():
    for number in (2**31 - 1, 2**31, 2**32 - 1, 2**29, 2**29 + 1):
        for name in ("pad", "stride", "kernel_size", "dilation", "group", "num_output"):
            if name == "num_output" and number < 2**31 - 1:
                continue  # that one would take its memory
            inside = " ".join(
                f"{key}: {value}" for key, value in {"num_output": 1, "kernel_size": 1, name: number}.items()
            )
            for kind in ("Convolution", "Deconvolution", "Im2col"):
                said = message_of(f'type: "{kind}" convolution_param {{ {inside} }}')
                assert said is None or said.startswith(f"{kind} layer 'layer': ")


def message_of(text: str) -> str | None:
    """What an error of Boxpresso says; None where the layer runs."""
    try:
        run_layer(text, IMAGE)
    except BoxpressoError as error:
        return str(error)
    return None
