"""Products of matrices in the tile registers of AMX, on any x86-64: the texts for such a CPU, with its instructions written out.

The tests are those of bfloat16 and of 8 bits: numpy in float64 within the same bounds, and whole numbers bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import test_bf16
import test_convolution_pairs
import test_int8
from levels import LEVELS, Level, compilers, tile_products, tiles
from plan_nets import conv, data
from test_compilers import FILES, check

from boxpresso.device import cache, host, levels
from boxpresso.device.signature import HEADERS

AMX = levels.LEVELS["x86_64"][-1]
ASKING = [path for path in FILES if AMX.changes(b"".join(cache.texts(path, HEADERS)))]
PLAIN, BYTES, WINOGRAD, PAIRS = (
    "convolution_bf16.cpp", "convolution_int8.cpp", "winograd_bf16.cpp", "convolution_pairs.cpp"
)  # fmt: skip


@pytest.fixture(scope="module")
def cpu() -> Iterator[host.Cpu]:
    with tiles() as made:
        yield made


def compiles(level: Level, *reals: str) -> None:
    for command in compilers(level.machine).values():
        check(command, [(path, real) for path in ASKING for real in reals], level.flags(command))


def test_what_asks_for_tiles_compiles():
    """With every compiler that is here; for doubles, too, as wheels have them, though nothing runs those."""
    if not compilers("x86_64"):
        pytest.skip("no compiler for x86_64 is here (pip install ziglang)")
    assert {path.name for path in ASKING} == {PLAIN, BYTES, WINOGRAD, PAIRS}
    compiles(LEVELS["AMX"], "float", "double")


# Rows of places and filters that end inside of tiles, and with them; sums of less than a tile's words, of whole ones and of more than
# are done at once.
WINDOWS = [
    *test_bf16.WINDOWS,
    (32, 32, 4, 8, "kernel_size: 1"),
    (64, 16, 8, 8, "kernel_size: 1"),
    (34, 80, 3, 11, "kernel_size: 1"),
    (544, 32, 4, 4, "kernel_size: 1"),
    (32, 48, 18, 5, "kernel_size: 3 pad: 1 stride: 2"),
]


@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_convolutions_in_bf16(case, cpu):
    before = tile_products(cpu, PLAIN)
    test_bf16.test_convolutions_are_sums_of_rounded_factors_rounded_once(case, 2)
    assert tile_products(cpu, PLAIN) > before


@pytest.mark.parametrize(("channels", "maps", "height", "width", "pad"), [(17, 16, 13, 21, 0), (300, 70, 11, 12, 1)])
def test_tiles_of_winograd(channels, maps, height, width, pad, cpu):
    before = tile_products(cpu, WINOGRAD)
    test_bf16.test_3x3_convolutions_by_tiles_round_points(channels, maps, height, width, pad)
    assert tile_products(cpu, WINOGRAD) > before


@pytest.mark.parametrize("case", test_convolution_pairs.WINDOWS, ids=str)
def test_convolutions_in_training(case, cpu):
    before = tile_products(cpu, PAIRS)
    test_convolution_pairs.check(case, np.random.default_rng(1))
    assert tile_products(cpu, PAIRS) > before


@pytest.mark.parametrize("channels", [7, 32])
def test_inner_products_in_bf16(channels, cpu):
    test_bf16.test_inner_products(channels)


def test_the_order_of_a_sum(cpu):
    """First and second numbers of pairs are two sums, from 0 on over a tile's 16 words, which are added up at its end: of
    (2^24, -2^24), (1, 0) the first one loses the 1, that of AVX512-BF16 would not. What comes behind the tile is added to that."""
    net = test_bf16.made(data(1, 64, 1, 1) + conv("a", "data", 16, "kernel_size: 1"))
    weights, bias = (blob.data for blob in net.params["a"])
    weights[...], bias[...] = 0, 0
    x = np.ones((1, 64, 1, 1), np.float32)
    for filter, terms in enumerate(
        [{0: 2.0**24, 1: -(2.0**24), 2: 1}, {0: 2.0**24, 1: -(2.0**24), 32: 1}, {0: 1.5, 63: 3}]
    ):
        for place, value in terms.items():
            weights[filter, place] = value
    np.testing.assert_array_equal(net.forward(data=x)["a"].reshape(-1)[:4], [0, 1, 4.5, 0])


def test_subnormal_numbers_are_zeros(cpu):
    """Of what goes in, of products and of sums, as with AVX512-BF16."""
    net = test_bf16.made(data(1, 64, 1, 1) + conv("a", "data", 16, "kernel_size: 1"))
    weights, bias = (blob.data for blob in net.params["a"])
    weights[...], bias[...] = 0, 0
    weights[0, 0], weights[1, 1], weights[2, 2] = 2.0**-70, 2.0**-60, 2.0**100
    x = np.zeros((1, 64, 1, 1), np.float32)
    x[0, :3, 0, 0] = 2.0**-60, 2.0**-60, 2.0**-130
    np.testing.assert_array_equal(net.forward(data=x)["a"].reshape(-1)[:3], [0, 2.0**-120, 0])


def test_8_bits_are_exact(cpu):
    before = tile_products(cpu, BYTES)
    test_int8.kernels(np.random.default_rng(0))
    assert tile_products(cpu, BYTES) > before


@pytest.mark.parametrize("case", [case for case in test_int8.WINDOWS if case[3].get("group", 1) < 4], ids=str)
def test_8_bits_of_pixels_that_are_not_taken_together(case, cpu, monkeypatch):
    test_int8.test_windows_whose_pixels_are_not_taken_together(case, monkeypatch)
