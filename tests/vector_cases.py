"""What the vectors of a machine compute, against numpy in float64 and recorded cases of others: for code of another compiler or level."""

from __future__ import annotations

import json

import numpy as np
from harness import Rig, check_golden, close
from places import TESTS

from boxpresso import Net
from boxpresso.device import blas, open_device
from boxpresso.proto import parse_net

RECORDED = ("Permute/partial_3", "Convolution/group2_dil2_s2", "InnerProduct/transpose_axis2", "Pooling/ave_k2s3_gap")


def transpositions(rng: np.random.Generator) -> None:
    """Matrices turned, the second larger than the caches, in all types: nothing is rounded."""
    turn = 'type: "Permute" permute_param { order: 0 order: 2 order: 1 }'
    for shape, dtypes in (((2, 37, 45), (np.float32, np.float64, np.float16)), ((1, 1500, 3001), (np.float32,))):
        for dtype in dtypes:
            data = rng.standard_normal(shape).astype(dtype)
            rig = Rig(turn, [data], dtype=dtype)
            assert np.array_equal(rig.forward()[0], data.transpose(0, 2, 1))
            assert np.array_equal(rig.backward([data.transpose(0, 2, 1)])[0], data)


def products(rng: np.random.Generator) -> None:
    """Matrices, as they are and transposed, whose sizes end inside a tile's rows, columns and terms."""
    device = open_device("cpu")
    for m, n, k in ((9, 49, 193), (61, 130, 402)):
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        for dtype, near in ((np.float32, 1e-4), (np.float64, 1e-11)):
            for trans_a, trans_b in ((False, False), (True, False), (False, True)):
                left, right = (
                    np.array(x.T if turned else x, dtype, order="C") for x, turned in ((a, trans_a), (b, trans_b))
                )
                c = device.table(np.zeros((m, n)), dtype)
                blas.tiled(device, trans_a, trans_b, m, n, k, 1, left, right, 0, c)
                close(c, a @ b, rtol=near, atol=near)


def convolved(x: np.ndarray, weights: np.ndarray, pad: int = 0, groups: int = 1) -> np.ndarray:
    """A convolution in float64, from its definition."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, weights.shape[2:], (2, 3))
    parts = zip(np.split(windows, groups, 1), np.split(weights.astype(np.float64), groups))
    return np.concatenate([np.einsum("nchwyx,fcyx->nfhw", a, b, optimize=True) for a, b in parts], 1)


def convolutions(rng: np.random.Generator) -> None:
    """float32 by Winograd's transforms."""
    data, weights = rng.standard_normal((2, 32, 25, 31)), rng.standard_normal((35, 32, 3, 3))
    for dtype in (np.float32, np.float64):
        text = 'type: "Convolution" convolution_param { num_output: 35 kernel_size: 3 bias_term: false }'
        rig = Rig(text, [data], dtype=dtype, params=[weights])
        close(rig.forward()[0], convolved(data, weights), rtol=1e-4, atol=1e-6)


def convolution(name: str, bottom: str, field: str) -> str:
    return (
        f'layer {{ name: "{name}" type: "Convolution" bottom: "{bottom}" top: "{name}" convolution_param {{ bias_term: false '
        f"{field} }} }}\n"
    )


PLANNED = (
    'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 19 dim: 17 dim: 13 } } }\n'
    + convolution("a", "x", "num_output: 37 kernel_size: 3 pad: 1")
    + 'layer { name: "r" type: "ReLU" bottom: "a" top: "a" }\n'
    + convolution("b", "a", "num_output: 37 kernel_size: 3 pad: 1 group: 37")
    + 'layer { name: "p" type: "Pooling" bottom: "b" top: "p" pooling_param { kernel_size: 2 stride: 1 } }\n'
    + convolution("c", "p", "num_output: 21 kernel_size: 1")
)


def plans(rng: np.random.Generator, precision: str = "float32", near: float = 1e-5) -> None:
    """A net as it is planned, with channels last: 3x3, depthwise and 1x1, and the largest of windows."""
    net, x = Net(parse_net(PLANNED), device="cpu", precision=precision), rng.standard_normal((2, 19, 17, 13))
    weights = {name: rng.standard_normal(net.params[name][0].shape) for name in "abc"}
    for name, value in weights.items():
        net.params[name][0].data[...] = value
    a = np.maximum(convolved(x, weights["a"], 1), 0)
    b = convolved(a, weights["b"], 1, groups=37)
    pooled = np.lib.stride_tricks.sliding_window_view(b, (2, 2), (2, 3)).max((4, 5))
    close(net.forward(x=x)["c"], convolved(pooled, weights["c"]), rtol=10 * near, atol=near)


def recorded() -> None:
    """Caffe's own outputs, and mmcv's."""
    for case in RECORDED:
        check_golden(TESTS / "golden" / "caffe" / f"{case}.npz", "cpu")
    case = np.load(TESTS / "golden" / "roi" / "RoIAlign" / "pub_mmcv_1_avg.npz")
    p = json.loads(str(case["params"]))
    text = f"pooled_h: {p['pooled_height']} pooled_w: {p['pooled_width']} spatial_scale: {p['spatial_scale']}"
    text += f" sampling_ratio: {p['sampling_ratio']} aligned: {str(p['aligned']).lower()}"
    for dtype, near in ((np.float32, 2e-4), (np.float64, 2e-4), (np.float16, 2e-3)):
        rig = Rig(f'type: "ROIAlign" roi_align_param {{ {text} }}', [case["input"], case["rois"]], dtype=dtype)
        close(rig.forward()[0].astype(np.float64), case["output"], near, near)
        grads = rig.backward([case["grad_output"]], [True, False])
        close(grads[0].astype(np.float64), case["grad_input"], near, near)


def resized(x: np.ndarray, out: tuple[int, int]) -> np.ndarray:
    """Planes interpolated along one axis after the other, by a matrix, the corners aligned."""
    for axis, count in ((2, out[0]), (3, out[1])):
        size = x.shape[axis]
        at = np.arange(count) * ((size - 1) / (count - 1) if count > 1 else 0)
        weights = np.maximum(0, 1 - np.abs(np.minimum(at, size - 1)[:, None] - np.arange(size)))
        x = np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)
    return x


def interpolations(rng: np.random.Generator) -> None:
    """Rows whose pixels lie in one vector, and in several; planes of one column, and tops of one."""
    for (high, wide), out in (
        ((5, 41), (9, 150)), ((3, 300), (2, 37)), ((4, 1), (3, 20)), ((2, 33), (4, 33)), ((2, 70), (3, 97)), ((3, 9), (5, 1)),
    ):  # fmt: skip
        data = rng.standard_normal((2, 3, high, wide))
        for dtype, near in ((np.float32, 1e-4), (np.float64, 1e-12)):
            rig = Rig(f'type: "Interp" interp_param {{ height: {out[0]} width: {out[1]} }}', [data], dtype=dtype)
            close(rig.forward()[0], resized(data, out), rtol=0, atol=near)


def learning(rng: np.random.Generator) -> None:
    """In training: a convolution, its gradients and those of a Deconvolution, of numbers that bfloat16 holds exactly."""
    for type, images, fields in (
        ("Convolution", 2, "num_output: 50 kernel_size: 3 pad: 1"),
        ("Convolution", 1, "num_output: 21 kernel_size: 3 stride: 2"),
        ("Deconvolution", 1, "num_output: 12 kernel_size: 2 stride: 2"),
    ):
        text = f'type: "{type}" convolution_param {{ {fields} }}'
        x = rng.integers(-8, 9, (images, 37, 9, 11))
        rigs = [Rig(text, [x], dtype=dtype) for dtype in (np.float32, np.float64)]
        rigs[0].layer.round_products()
        values = [rng.integers(-8, 9, blob.shape) for blob in rigs[0].layer.blobs]
        diff = rng.integers(-8, 9, rigs[0].top[0].shape)
        seen = []
        for rig in rigs:
            for blob, value in zip(rig.layer.blobs, values):
                blob.data[...] = value
            tops, downs = rig.forward(), rig.backward([diff])
            seen.append([*tops, *downs, *(np.array(blob.diff) for blob in rig.layer.blobs)])
        for ours, exact in zip(*seen):  # sums of whole numbers
            assert np.array_equal(ours, exact)


def bf16(rng: np.random.Generator) -> None:
    """precision="bf16": of numbers that bfloat16 holds exactly the sums, which it does not, are those of float32; and a net's are near."""
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 999 dim: 3 dim: 3 } } }\n'
    net = Net(parse_net(text + convolution("a", "x", "num_output: 37 kernel_size: 1")), device="cpu", precision="bf16")
    weights, x = np.arange(37 * 999).reshape(37, 999, 1, 1) % 7 - 2, rng.integers(-100, 100, (1, 999, 3, 3))
    net.params["a"][0].data[...] = weights
    np.testing.assert_allclose(net.forward(x=x)["a"], convolved(x, weights), rtol=1e-6)
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 21 dim: 19 } } }\n'
    text += convolution("a", "x", "num_output: 24 kernel_size: 3 stride: 2")
    text += convolution("b", "a", "num_output: 24 kernel_size: 3 pad: 1 group: 24")
    net = Net(parse_net(text + convolution("c", "b", "num_output: 17 kernel_size: 1")), device="cpu", precision="bf16")
    x = rng.integers(-1, 2, (2, 3, 21, 19))
    a, b, c = (rng.integers(-1, 2, net.params[name][0].shape) for name in "abc")  # maps are whole numbers up to 243
    for name, weights in zip("abc", (a, b, c)):
        net.params[name][0].data[...] = weights
    exact = convolved(convolved(convolved(x, a)[:, :, ::2, ::2], b, 1, groups=24), c)
    np.testing.assert_array_equal(net.forward(x=x)["c"], exact)
    learning(rng)
    plans(rng, "bf16", 2e-2)


def run() -> None:
    """All of it, but for what few CPUs can."""
    rng = np.random.default_rng(0)
    transpositions(rng)
    products(rng)
    convolutions(rng)
    plans(rng)
    interpolations(rng)
    recorded()
