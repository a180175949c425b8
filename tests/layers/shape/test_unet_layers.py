"""Layers of nets that shrink and grow again: MergeCrop, Unpooling, dilated pooling, Interp to another blob's size; and forms of
BN and Lstm, ContinuationIndicator. Against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from exported import run_onnxruntime
from harness import Rig, check_gradient

from boxpresso import LayerError, Net
from boxpresso.exports import onnx_model
from boxpresso.proto import parse_net

RNG = np.random.default_rng(3)
SMALL, LARGE = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((2, 3, 7, 9))
BOTH = "backward: true backward: true"
MERGE, UNPOOL = 'type: "MergeCrop" mergecrop_param { %s }', 'type: "Unpooling" unpooling_param { %s }'
POOL = 'type: "Pooling" pooling_param { %s }'
AVERAGED = 'type: "BN" bn_param { var_eps: 1e-3 moving_average: true decay: 0.1 }'
LSTM = 'type: "Lstm" lstm_param { num_output: 4 %s weight_filler { type: "uniform" min: -0.5 max: 0.5 } }'
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (MERGE % "operation: ADD", [SMALL, LARGE], [True, True]),
    (UNPOOL % "unpool: AVE kernel_size: 3 stride: 2", [SMALL], [True]),
    (POOL % "kernel_size: 2 dilation: 2", [LARGE], [True]),
    (POOL % "pool: AVE kernel_size: 2 dilation: 2 pad: 1", [LARGE], [True]),
]


@pytest.mark.parametrize("forward", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("operation", ["STACK", "ADD"])
def test_merge_crop(operation, forward, device):
    flags = " ".join(f"forward: {str(f).lower()}" for f in forward)
    rig = Rig(MERGE % f"operation: {operation} {flags}", [SMALL, LARGE], device=device, dtype=np.float64)
    parts = [SMALL * forward[0], LARGE[:, :, 1:5, 2:7] * forward[1]]
    wanted = sum(parts) if operation == "ADD" else np.concatenate(parts, 1)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)


@pytest.mark.parametrize("operation", ["STACK", "ADD"])
def test_merge_crop_gradient(operation, device):
    volume = RNG.standard_normal((1, 2, 3, 2, 2)), RNG.standard_normal((1, 2, 4, 3, 5))
    for bottoms in ((SMALL, LARGE), volume):
        rig = Rig(MERGE % f"operation: {operation} {BOTH}", bottoms, device=device, dtype=np.float64)
        check_gradient(rig, (0, 1))
    rig = Rig(MERGE % f"operation: {operation}", [SMALL, LARGE], device=device)  # bottom 1 learns nothing by default
    rig.forward()
    one, other = rig.backward([RNG.standard_normal(rig.top[0].shape)], [True, True])
    assert one.all()
    assert not other.any()


def spread(x: np.ndarray, kernel: int, stride: int, size: tuple[int, int], mean: bool) -> np.ndarray:
    y = np.zeros((*x.shape[:2], *size))
    for i, j in np.ndindex(*x.shape[2:]):
        window = y[:, :, i * stride : i * stride + kernel, j * stride : j * stride + kernel]
        window += x[:, :, i, j, None, None] / (max(window[0, 0].size, 1) if mean else 1)
    return y


@pytest.mark.parametrize("method", ["AVE", "TILE"])
@pytest.mark.parametrize(("kernel", "stride", "size"), [(2, 2, None), (3, 2, None), (2, 3, (9, 12)), (3, 2, (8, 10))])
def test_unpooling_over_windows(method, kernel, stride, size, device):
    sizes = f"unpool_h: {size[0]} unpool_w: {size[1]}" if size else ""
    text = UNPOOL % f"unpool: {method} kernel_size: {kernel} stride: {stride} {sizes}"
    rig = Rig(text, [SMALL], device=device, dtype=np.float64)
    large = size or tuple(max((n - 1) * stride + kernel, n * stride + 1) for n in (4, 5))
    wanted = spread(SMALL, kernel, stride, large, method == "AVE")
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-12)
    check_gradient(rig)


def test_unpooling_undoes_a_pooling(device):
    values, mask = Rig(POOL % "kernel_size: 2 stride: 2", [LARGE[:, :, :6, :8]], tops=2, device=device).forward()
    rig = Rig(UNPOOL % "kernel_size: 2 stride: 2 unpool_h: 6 unpool_w: 8", [values, mask], device=device)
    top = rig.forward()[0]
    x = LARGE[:, :, :6, :8].astype(np.float32)
    most = x.reshape(2, 3, 3, 2, 4, 2).max((3, 5)).repeat(2, 2).repeat(2, 3)
    np.testing.assert_array_equal(top, np.where(x == most, x, 0))
    diff = RNG.standard_normal(top.shape).astype(np.float32)
    gathered = rig.backward([diff], [True, False])[0]
    np.testing.assert_array_equal(
        gathered.ravel(), (diff.reshape(6, -1)[np.arange(6)[:, None], mask.reshape(6, -1).astype(int)]).ravel()
    )


def test_unpooling_by_the_first_channels_of_a_mask(device):
    """One image's mask may have more channels than its data; of two images nobody can tell which are meant."""
    values, mask = Rig(POOL % "kernel_size: 2 stride: 2", [LARGE[:1, :, :6, :8]], tops=2, device=device).forward()
    text = UNPOOL % "kernel_size: 2 stride: 2 unpool_h: 6 unpool_w: 8"
    wanted = Rig(text, [values[:, :2], mask[:, :2]], device=device)
    rig = Rig(text, [values[:, :2], mask], device=device)
    np.testing.assert_array_equal(rig.forward()[0], wanted.forward()[0])
    diff = RNG.standard_normal((1, 2, 6, 8)).astype(np.float32)
    np.testing.assert_array_equal(*(r.backward([diff], [True, False])[0] for r in (rig, wanted)))
    for bad in (mask[:, :1], np.concatenate([mask, mask]), mask[..., :3]):
        with pytest.raises(LayerError, match="the mask must have the shape of the data"):
            Rig(text, [values[:, :2], bad], device=device)
    both = np.concatenate([mask, mask])
    with pytest.raises(LayerError, match="the mask must have the shape of the data"):
        Rig(text, [np.concatenate([values, values])[:, :2], both], device=device)


def test_unpooling_without_a_mask(device):
    rig = Rig(UNPOOL % "kernel_size: 2 stride: 2 unpool_h: 8 unpool_w: 10", [SMALL], device=device, dtype=np.float64)
    wanted = np.zeros((2, 3, 8, 10))
    wanted[:, :, ::2, ::2] = SMALL
    np.testing.assert_array_equal(rig.forward()[0], wanted)
    check_gradient(rig)


def dilated(x: np.ndarray, kernel: int, stride: int, pad: int, dilation: int, method: str) -> np.ndarray:
    reach, sizes = (kernel - 1) * dilation + 1, x.shape[2:]
    counts = [-(-(n + 2 * pad - reach) // stride) + 1 for n in sizes]
    counts = [c - 1 if pad and (c - 1) * stride >= n + pad else c for c, n in zip(counts, sizes)]
    y = np.empty((*x.shape[:2], *counts))
    for at in np.ndindex(*counts):
        taps = [
            (row, column)
            for row in at[0] * stride - pad + dilation * np.arange(kernel)
            for column in at[1] * stride - pad + dilation * np.arange(kernel)
            if row < sizes[0] + pad and column < sizes[1] + pad
        ]
        inside = [(r, c) for r, c in taps if 0 <= r < sizes[0] and 0 <= c < sizes[1]]
        values = np.stack([x[:, :, r, c] for r, c in inside])
        among = len(inside) if method == "INSIDE" else len(taps)
        y[:, :, at[0], at[1]] = values.max(0) if method == "MAX" else values.sum(0) / among
    return y


@pytest.mark.parametrize(("method", "param"), [("MAX", ""), ("AVE", "pool: AVE"), ("INSIDE", "pool: AVE_EXC_PAD")])
@pytest.mark.parametrize(("kernel", "stride", "pad", "dilation"), [(2, 1, 0, 2), (3, 2, 1, 2), (2, 3, 1, 4)])
def test_dilated_pooling(method, param, kernel, stride, pad, dilation, device):
    text = POOL % f"{param} kernel_size: {kernel} stride: {stride} pad: {pad} dilation: {dilation}"
    rig = Rig(text, [LARGE], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], dilated(LARGE, kernel, stride, pad, dilation, method), rtol=1e-12)
    check_gradient(rig)


def test_dilated_pooling_by_onnxruntime():
    pytest.importorskip("onnx", reason="onnx is not installed")

    net = Net(
        parse_net(f"""layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: 3 dim: 7 dim: 9 }} }} }}
        layer {{ name: "y" bottom: "x" top: "y" {POOL % "kernel_size: 3 stride: 2 pad: 1 dilation: 2"} }}"""),
        device="cpu",
    )
    wanted = net.forward(x=LARGE)["y"]
    np.testing.assert_array_equal(run_onnxruntime(onnx_model(net), {"x": LARGE})["y"], wanted)


def test_interp_to_the_size_of_a_blob(device):
    text = 'type: "Interp" interp_param { use_blob_size: true }'
    rig = Rig(text, [SMALL, LARGE[:, :1]], device=device, dtype=np.float64)
    wanted = Rig('type: "Interp" interp_param { height: 7 width: 9 }', [SMALL], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], wanted.forward()[0])
    check_gradient(rig)
    with pytest.raises(LayerError, match="use_blob_size needs a second bottom"):
        Rig(text, [SMALL])


def test_bn_with_a_moving_average(device):
    scale, shift = RNG.standard_normal((2, 1, 3, 1, 1))
    old = np.full((1, 3, 1, 1), 0.5), np.full((1, 3, 1, 1), 2.0)
    rig = Rig(AVERAGED, [LARGE], device=device, dtype=np.float64, phase="TRAIN", params=[scale, shift, *old])
    mean, variance = LARGE.mean((0, 2, 3), keepdims=True), LARGE.var((0, 2, 3), keepdims=True)
    eps, decay = np.float32(1e-3), np.float32(0.1)
    np.testing.assert_allclose(rig.forward()[0], (LARGE - mean) / np.sqrt(variance + eps) * scale + shift, rtol=1e-9)
    for blob, before, batch in zip(rig.layer.blobs[2:], old, (mean, variance)):
        np.testing.assert_allclose(blob.data, (1 - decay) * before + decay * batch, rtol=1e-6)
    check_gradient(Rig(AVERAGED, [LARGE], device=device, dtype=np.float64, phase="TRAIN"), params=False)
    test = Rig(AVERAGED, [LARGE], device=device, dtype=np.float64, params=[scale, shift, *old])
    wanted = (LARGE - 0.5) / np.sqrt(2 + eps) * scale + shift
    np.testing.assert_allclose(test.forward()[0], wanted, rtol=1e-6, atol=1e-6)
    batch = Rig(
        AVERAGED.replace("true", "false"), [LARGE], device=device, dtype=np.float64, params=[scale, shift, *old]
    )
    np.testing.assert_allclose(batch.forward()[0], rig.forward()[0], rtol=1e-6)  # the batch's, and the averages stay
    np.testing.assert_array_equal(batch.layer.blobs[2].data, old[0])
    with pytest.raises(LayerError, match=r"write decay: 0\.05"):
        Rig(AVERAGED.replace("0.1", "0.95"), [LARGE], phase="TRAIN")
    with pytest.raises(LayerError, match="fields of several layers"):
        Rig(AVERAGED.replace("decay: 0.1", "momentum: 0.1"), [LARGE])


@pytest.mark.parametrize("cont", [False, True])
def test_lstm_of_rows(cont, device):
    """junhyukoh's: time steps and sequences lie in one axis."""
    x, going_on = RNG.standard_normal((5, 2, 3)), (RNG.uniform(size=(5, 2)) > 0.3).astype(float)
    joined = [x.reshape(10, 3), going_on.reshape(10)] if cont else [x.reshape(10, 3)]
    rig = Rig(LSTM % "batch_size: 2", joined, device=device, dtype=np.float64)
    apart = Rig(LSTM % "", [x, going_on] if cont else [x], device=device, dtype=np.float64)
    for own, other in zip(apart.layer.blobs, rig.layer.blobs):
        own.data[...] = np.asarray(other.data)
    np.testing.assert_array_equal(rig.forward()[0].reshape(5, 2, 4), apart.forward()[0])
    if not cont:  # with it, a forward goes on from the one before
        check_gradient(rig)
    with pytest.raises(LayerError, match="must hold 3 sequences"):
        Rig(LSTM % "batch_size: 3", [x.reshape(10, 3)])


def test_continuation_indicator():
    text = 'type: "ContinuationIndicator" continuation_indicator_param { %s }'
    wanted = [[0, 0], [1, 1], [1, 1]]
    assert Rig(text % "time_step: 3 batch_size: 2", []).forward()[0].tolist() == wanted
    with pytest.raises(LayerError, match="needs time_step and batch_size"):
        Rig(text % "time_step: 3", [])


@pytest.mark.parametrize(
    ("old", "kind", "message"),
    [
        ("IMAGE_SEG_DATA", "ImageSegData", "image_data_param { label_type: PIXEL }"),
        ("WINDOW_SEG_DATA", "WindowSegData", "image_data_param { batch_size: 2 }"),
        ("MULTI_STAGE_MEANFIELD", "MultiStageMeanfield", "multi_stage_meanfield_param { num_iterations: 5 }"),
        ("UNPOOLING", "Unpooling", "unpooling_param { unpool_size: 14 }"),
        ("RESIZE", "Resize", "resize_param { height: 5 width: 6 }"),
    ],
)
def test_old_type_names(old, kind, message):
    layer = parse_net(f'layers {{ name: "a" type: {old} {message} }}').layer[0]
    assert layer.type == kind
    assert len(layer.ListFields()) == 3


def test_what_is_refused():
    for text, bottoms, message in (
        (MERGE % "", [LARGE, SMALL], "no smaller"),
        (MERGE % "operation: ADD", [SMALL, LARGE[:, :2]], "images and channels"),
        (MERGE % "forward: true forward: true forward: true", [SMALL, LARGE], "got 3"),
        (UNPOOL % "", [SMALL], "kernel_size"),
        (UNPOOL % "kernel_size: 2 pad: 1", [SMALL], "pad must be 0"),
        (UNPOOL % "unpool: TILE kernel_size: 2", [SMALL, SMALL], "a mask is for MAX"),
        (UNPOOL % "kernel_size: 2", [SMALL, LARGE], "the shape of the data"),
        (POOL % "kernel_size: 2 dilation: 0", [SMALL], "from 1 on"),
        (POOL % "pool: STOCHASTIC kernel_size: 2 dilation: 2", [SMALL], "MAX and AVE"),
        (POOL % "global_pooling: true dilation: 2", [SMALL], "remove dilation"),
        (POOL % "kernel_size: 3 dilation: 3", [SMALL], "larger than the padded image"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms)
