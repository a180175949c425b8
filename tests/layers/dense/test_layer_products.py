"""MatMul, Gram, SpatialProduct and CompactBilinear: products of bottoms, against numpy, and gradients by differences."""

from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError, Net
from boxpresso.layers.dense.compact_bilinear import numbers_of_c
from boxpresso.proto import parse_net

RNG = np.random.default_rng(43)
A, B = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((2, 3, 5, 6))
X, Y = RNG.standard_normal((2, 5, 3, 4)), RNG.standard_normal((2, 4, 3, 4))
MATMUL, SKETCH = (
    'type: "MatMul" matmul_param { %s }',
    'type: "CompactBilinear" compact_bilinear_param { num_output: %s }',
)
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (MATMUL % "transpose_b: true", [RNG.standard_normal((3, 40, 50)), RNG.standard_normal((3, 60, 50))], [True, True]),
    ('type: "Gram"', [RNG.standard_normal((2, 40, 10, 10))]),
    (
        'type: "SpatialProduct"',
        [RNG.standard_normal((2, 5, 30, 40)), RNG.standard_normal((2, 1, 30, 40))],
        [True, True],
    ),
    (SKETCH % 64, [RNG.standard_normal((2, 30, 7, 9)), RNG.standard_normal((2, 20, 7, 9))], [True, True]),
    (
        SKETCH % "64 sum_pool: false",
        [RNG.standard_normal((2, 10, 7, 9)), RNG.standard_normal((2, 20, 7, 9))],
        [True, True],
    ),
]


def close(actual, wanted, rtol=1e-11):
    np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("turn_a", [False, True])
@pytest.mark.parametrize("turn_b", [False, True])
def test_products_of_stacks(turn_a, turn_b, device):
    text = MATMUL % f"transpose_a: {turn_a} transpose_b: {turn_b}".lower()
    stored = [each.swapaxes(2, 3).copy() if turn else each for each, turn in ((A, turn_a), (B, turn_b))]
    rig = Rig(text, stored, device=device, dtype=np.float64)
    close(rig.forward()[0], A @ B)
    check_gradient(rig, (0, 1))


def test_products_of_matrices_of_any_axes(device):
    rig = Rig(
        MATMUL % "dim_1: 4 dim_2: 5 dim_3: 3",
        [A[0, 0].reshape(1, 4, 5, 1), B[0, 0, :, :3].T],
        device=device,
        dtype=np.float64,
    )
    close(rig.forward()[0], A[0, 0] @ B[0, 0, :, :3])
    check_gradient(rig, (0, 1))


def test_matrices_that_are_learned(device):
    rig = Rig(MATMUL % "blob_shape: 2 blob_shape: 3 blob_shape: 5 blob_shape: 6", [A], device=device, dtype=np.float64)
    assert not rig.forward()[0].any()
    rig.layer.blobs[0].data[...] = B
    close(rig.forward()[0], A @ B)
    check_gradient(rig, (0,))


def test_how_channels_go_together(device):
    rig = Rig('type: "Gram"', [X], device=device, dtype=np.float64)
    close(rig.forward()[0][..., 0], np.einsum("nihw,njhw->nij", X, X) / 60)
    check_gradient(rig)


def test_factors_of_places(device):
    factor = Y[:, :1]
    rig = Rig('type: "SpatialProduct"', [X, factor], device=device, dtype=np.float64)
    close(rig.forward()[0], X * factor)
    check_gradient(rig, (0, 1))


def of_libc() -> list[int]:
    """What the C library gives, where it is that of GNU."""
    library = ctypes.CDLL(None)
    library.srand(1)
    return [library.rand() for _ in range(4000)]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs the C library of GNU")
def test_numbers_are_those_of_the_c_library():
    drawn = numbers_of_c(1)
    assert [next(drawn) for _ in range(4000)] == of_libc()


@pytest.mark.parametrize("summed", [True, False])
@pytest.mark.parametrize("bins", [1, 6, 64])
def test_sketches_are_those_of_fourier_transforms(bins, summed, device):
    drawn, sketches = numbers_of_c(1), []
    for x in (X, Y):
        bin_of = [next(drawn) % bins for _ in range(x.shape[1])]
        sketch = np.zeros((2, bins, 3, 4))
        for channel, of in enumerate(bin_of):
            sketch[:, of] += (1 if next(drawn) % 2 else -1) * x[:, channel]
        sketches.append(np.fft.fft(sketch, axis=1))
    wanted = bins * np.fft.ifft(sketches[0] * sketches[1], axis=1).real
    rig = Rig(SKETCH % f"{bins} sum_pool: {str(summed).lower()}", [X, Y], device=device, dtype=np.float64)
    close(rig.forward()[0], wanted.sum((2, 3), keepdims=True) if summed else wanted, 1e-9)
    check_gradient(rig, (0, 1))
    for i, each in enumerate((X, Y)):  # other sizes draw no other bins
        rig.set_bottom(i, each[:1, :, :2])
    part = wanted[:1, :, :2]
    close(rig.forward()[0], part.sum((2, 3), keepdims=True) if summed else part, 1e-9)


def test_a_net_of_two_maps_that_are_one():
    net = Net(parse_net("""
        input: "x" input_dim: 2 input_dim: 5 input_dim: 3 input_dim: 4
        layer { name: "s" type: "CompactBilinear" bottom: "x" bottom: "x" top: "s" compact_bilinear_param { num_output: 8 } }
        layer { name: "r" type: "SignedSqrt" bottom: "s" top: "r" }
        layer { name: "n" type: "L2Normalization" bottom: "r" top: "n" }"""), device="cpu")  # fmt: skip
    np.testing.assert_allclose((net.forward(x=X)["n"] ** 2).sum((1, 2, 3)), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "bottoms", "match"),
    [
        (MATMUL % "", [A, B[:, :2]], "agree in all axes but the last two"),
        (MATMUL % "", [A, A], "do not fit: 5 and 4"),
        (MATMUL % "", [[1, 2], [3, 4]], "two axes or more"),
        (MATMUL % "", [A], "a blob_shape of the matrices"),
        (MATMUL % "dim_1: 4", [A, B], "go together"),
        (MATMUL % "dim_1: 4 dim_2: 5 dim_3: 3", [A, B], "ask for 20 and 15 elements"),
        ('type: "Gram"', [[1, 2]], r"must be \(N, C"),
        ('type: "SpatialProduct"', [X, Y], "a factor for each place"),
        ('type: "CompactBilinear"', [X, Y], "num_output must be given"),
        (SKETCH % (2**24 + 1), [X, Y], "from 1 to 16777216, got 16777217"),
        (SKETCH % 8, [X, Y[:1]], "may differ in their channels alone"),
    ],
)
def test_errors(text, bottoms, match):
    with pytest.raises(LayerError, match=match):
        Rig(text, bottoms)
