"""exp, log and their like with the same bits everywhere: functions.h in a kernel, functions.py on the host, beside decimal and math."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np
import pytest
from levels import LEVELS, Level, at

from boxpresso.device import Kernels, functions, open_device

NAMES = ("exp", "exp2", "expm1", "log", "log1p", "log2", "sin", "cos", "tanh")
TEXT = '#include "kernel.h"\n' + "".join(
    f"KERNEL {name}_of(int n, const Real* x, Real* y) {{ GRID_LOOP(i, n) y[i] = {name}(x[i]); }}\n" for name in NAMES
)
TEXT += """KERNEL pow_of(int n, const Real* x, const Real* z, Real* y) { GRID_LOOP(i, n) y[i] = pow(x[i], z[i]); }
KERNEL fused_of(int n, const Real* a, const Real* b, const Real* c, Real* y) { GRID_LOOP(i, n) y[i] = fused(a[i], b[i], c[i]); }
"""
COLUMNS = """#include "simd.h"
KERNEL fused_of(int n, const Real* a, const Real* b, const Real* c, Real* y) {
  GRID_LOOP(i, n / COLUMNS) {
    const auto of = [&](const Real* from) { return *(const Columns*)(from + i * COLUMNS); };
    *(Columns*)(y + i * COLUMNS) = fused(of(a), of(b), of(c));
  }
}
"""
SSE4 = Level("SSE4", "x86_64", "x86-64-v2", ("sse4.2", "popcnt"))
ODD = [0.0, -0.0, 1, -1, 0.5, 2, 3, -2, np.inf, -np.inf, np.nan, 1e-45, 3e-310, 1e30, 700, -740, 2.0**60, 1e300]
DEEP = Context(prec=60)
# SHA-256 of what they give for `drawn`, in double and in float.
KEPT = {
    "float64": "bd2a66a2fcc97a5d701c06c7afacebedd32a428eb1e08aff7fa04790ae8d4cd9",
    "float32": "26d38dfa1a52d12f109d15bae792b68040320d4ac49313f97ed815b72ff043ff",
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = tmp_path_factory.mktemp("functions") / "functions_of.cu"
    path.write_text(TEXT)
    return Kernels(path).on(open_device("cpu", reproducible=True))


def call(kernels, name: str, *arguments: np.ndarray) -> np.ndarray:
    result = np.empty_like(arguments[0])
    getattr(kernels, f"{name}_of")(result.size, *arguments, result)
    return result


def drawn(dtype) -> np.ndarray:
    """Numbers of all sizes, drawn without a function."""
    rng = np.random.default_rng(0)
    near = rng.integers(-(2**30), 2**30, 2000) / 2**27
    far = np.ldexp(rng.integers(-(2**30), 2**30, 2000) / 2**30, rng.integers(-1070, 1020, 2000))
    with np.errstate(all="ignore"):
        return np.concatenate([near, far, ODD]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bits_are_those_that_are_kept(kernels, dtype):
    x, sha = drawn(dtype), hashlib.sha256()
    for name in (*NAMES, "pow"):
        result = call(kernels, name, *([x, x[::-1].copy()] if name == "pow" else [x]))
        sha.update(np.where(np.isnan(result), np.array(np.nan, dtype), result).tobytes())
    assert sha.hexdigest() == KEPT[dtype]


def ulps(value: float, wanted: Decimal) -> float:
    return float(abs(Decimal(value) - wanted) / Decimal(math.ulp(float(wanted))))


EXACT: dict[str, Callable[[Decimal], Decimal]] = {
    "exp": DEEP.exp, "log": DEEP.ln, "exp2": lambda x: DEEP.power(Decimal(2), x),
    "expm1": lambda x: DEEP.subtract(DEEP.exp(x), 1), "log1p": lambda x: DEEP.ln(DEEP.add(x, 1)),
    "log2": lambda x: DEEP.divide(DEEP.ln(x), DEEP.ln(Decimal(2))),
    "tanh": lambda x: DEEP.subtract(1, DEEP.divide(2, DEEP.add(DEEP.exp(DEEP.multiply(2, x)), 1))),
}  # fmt: skip
BOUNDS = {"exp": 1, "log": 1, "exp2": 1, "expm1": 1.7, "log1p": 1.5, "log2": 1.8, "tanh": 2.5}


@pytest.mark.parametrize("name", EXACT)
def test_errors_in_double(kernels, name):
    """As docs/reproducible.md says, against 60 digits."""
    rng = np.random.default_rng(1)
    low, high = {"log": (0.01, 30), "log2": (0.01, 30), "log1p": (-0.9, 30)}.get(name, (-20, 20))
    x = rng.uniform(low, high, 400)
    worst = max(
        ulps(*pair) for pair in zip(call(kernels, name, x).tolist(), map(EXACT[name], map(Decimal, x.tolist())))
    )
    assert 0 < worst < BOUNDS[name]


@pytest.mark.parametrize("name", [*NAMES, "pow"])
def test_float_is_the_c_librarys_double_rounded(kernels, name):
    """And special numbers are as C has them, in double too."""
    for dtype in (np.float32, np.float64):
        x = drawn(dtype)[2000:] if dtype == np.float64 else drawn(dtype)
        args = [x, np.resize(np.array([0.5, -2, 3, 0, np.inf, -np.inf, np.nan, 1.25, 7], dtype), x.shape)]
        args = args if name == "pow" else args[:1]
        with np.errstate(all="ignore"):
            wanted = {"pow": np.power}.get(name, getattr(np, name, None))(*[each.astype(np.float64) for each in args])
            rounded = wanted.astype(dtype)
        values = call(kernels, name, *args)
        if dtype == np.float32:
            assert np.array_equal(values, rounded, equal_nan=True)
        else:
            np.testing.assert_allclose(values, rounded, rtol=1e-14)
        number = ~np.isnan(rounded)
        assert np.array_equal(np.signbit(values[number]), np.signbit(rounded[number]))


QUICK = {"exp": 1.6, "expm1": 2.6, "log": 1.6, "log1p": 2.6, "tanh": 3.0}  # units of the last digit


@pytest.mark.parametrize("level", [*(level for name, level in LEVELS.items() if "-" not in name)], ids=str)
def test_quick_floats_are_near_and_the_same_in_any_place(level, tmp_path):
    """Those of a text that need not be the same everywhere, against numpy's in double, on each kind of CPU."""
    path = tmp_path / "quick_of.cu"
    path.write_text(TEXT)
    rng = np.random.default_rng(3)
    sizes = np.ldexp(rng.uniform(1, 2, 4000), rng.integers(-150, 128, 4000))
    near = np.concatenate([rng.uniform(-110, 110, 4000), rng.uniform(-1, 3, 4000)])
    with np.errstate(all="ignore"):
        x = np.concatenate([near, sizes, -sizes, ODD, [88.7, 88.73, -87.4, -103.9, -104.1, 9.02, -17.4]]).astype("f")
    with at(level):
        quick = Kernels(path).on(open_device("cpu"))
        for name, bound in QUICK.items():
            values = call(quick, name, x)
            with np.errstate(all="ignore"):
                exact = getattr(np, name)(x.astype(np.float64))
                wanted = exact.astype(np.float32)
                off = np.abs(values - exact) / np.maximum(np.spacing(np.abs(wanted)), 2.0**-149)
            special = ~np.isfinite(wanted) | (wanted == 0)
            np.testing.assert_array_equal(values[special], wanted[special], err_msg=name)
            number = ~np.isnan(wanted)
            assert np.array_equal(np.signbit(values[number]), np.signbit(wanted[number])), name
            worst = np.nanmax(off[~special])
            assert 0.5 < worst < bound, (name, worst, x[~special][np.nanargmax(off[~special])])
            for start, count in ((1, 1), (3, 7), (5, 33), (11, 15), (16, 1000)):
                part = call(quick, name, x[start : start + count].copy())
                np.testing.assert_array_equal(part.view("u4"), values[start : start + count].view("u4"))


def check_rounded_once(call_fused: Callable[..., np.ndarray]) -> None:
    """Against decimal, among them sums at a tie of floats and next to one, and results that are subnormal."""
    rng = np.random.default_rng(2)
    a, b = (np.ldexp(rng.integers(-(2**24), 2**24, 4000), rng.integers(-90, 60, 4000)).astype(np.float32) for _ in "ab")
    c = np.where(rng.random(4000) < 0.5, -(a.astype(np.float64) * b) * (1 + rng.integers(-3, 4, 4000) * 2.0**-24), b)
    a[:1000:4], b[:1000:4] = rng.integers(1, 2**12, (2, 250)) * 2 + 1  # halves of the last place of c
    c[:1000:4] = rng.integers(2**24, 2**25, 250) // 2 * 2
    a[:1000:4] *= np.exp2(-rng.integers(0, 4, 250))
    a[1:1000:4], b[1:1000:4] = 1 + 2.0**-20, 1 - 2.0**-20  # a half less 2^-41, of which double rounds a half
    c[1:1000:4] = rng.integers(2**24, 2**25, 250) // 2 * 2 * np.repeat([1, -1], 125)
    a[:9], b[:9], c[:9] = 2.0**-75, 2.0**-75, np.arange(9) * 2.0**-149  # a tie of subnormal ones
    a[9:99], b[9:99] = 2.0**-75 * (1 + 2.0**-20), 2.0**-75 * (1 - 2.0**-20)
    c[9:99] = rng.integers(2**13, 2**22, 90) * 2.0**-149
    with np.errstate(all="ignore"):
        c = c.astype(np.float32)
    exact = Context(prec=400)
    ties = 0
    for x, y, z, value in zip(a.tolist(), b.tolist(), c.tolist(), call_fused(a, b, c).tolist()):
        if not math.isfinite(z):
            continue
        wanted = exact.add(exact.multiply(Decimal(x), Decimal(y)), Decimal(z))
        if not math.isfinite(value):
            assert abs(wanted) > Decimal("3.4e38")
            continue
        place = max(2.0**-149, 2.0 ** (math.frexp(value)[1] - 24))
        off = abs(exact.subtract(Decimal(value), wanted))
        assert off <= Decimal(place) / 2, (x, y, z)
        if off == Decimal(place) / 2:
            ties += 1
            assert value / place % 2 == 0, (x, y, z)
    assert ties > 50


def test_a_product_and_a_sum_are_rounded_once(kernels):
    check_rounded_once(lambda a, b, c: call(kernels, "fused", a, b, c))


@pytest.mark.parametrize("level", [*(level for name, level in LEVELS.items() if "-" not in name), SSE4], ids=str)
def test_products_and_sums_of_vectors_are_rounded_once(level, tmp_path):
    """By each kind of CPU: those that have no such operation compute it in double."""
    path = tmp_path / "fused_columns.cu"
    path.write_text(COLUMNS)
    with at(level):
        kernels = Kernels(path).on(open_device("cpu", reproducible=True))
        check_rounded_once(lambda a, b, c: call(kernels, "fused", a, b, c))


def test_the_hosts_are_the_kernels(kernels):
    for dtype in (np.float64, np.float32):
        x = drawn(dtype)
        for name in ("exp", "log"):
            assert np.array_equal(getattr(functions, name)(x), call(kernels, name, x), equal_nan=True), name
        near = x[np.abs(x) < 1e5]
        for name, value in zip(("sin", "cos"), functions.sine_cosine(near)):
            np.testing.assert_allclose(
                value, getattr(np, name)(near.astype(np.float64)), atol=3e-16 if dtype == np.float64 else 6e-8
            )


def test_numbers_of_python_are_rounded_correctly():
    for base, exponent in ((1.1, 0.3), (0.9999, 123456.0), (10.0, -300.0), (-1.5, 3.0), (2.0, 1023.0)):
        wanted = (
            DEEP.power(Decimal(base), Decimal(exponent))
            if exponent % 1 == 0
            else DEEP.exp(DEEP.multiply(DEEP.ln(Decimal(base)), Decimal(exponent)))
        )
        assert functions.power(base, exponent) == float(wanted)
    assert [functions.power(*x) for x in ((0.0, 0.0), (0.0, 2.0), (0.0, -1.0), (2.0, 5000.0), (2.0, -5000.0))] == [
        1,
        0,
        np.inf,
        np.inf,
        0,
    ]
    assert math.isnan(functions.power(-2.0, 0.5))
    assert functions.exponential(1.0) == math.e
    assert functions.logarithm(10.0) == float(DEEP.ln(Decimal(10)))


def test_numbers_that_no_int_holds_are_cut_the_same_everywhere():
    """A cast of them gives the least int on x86-64, and 0 or the largest on ARM."""
    odd = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 2.7, -0.5, -1.5])
    for dtype in (np.float32, np.float64):
        most = 2**31 - 1
        assert functions.whole(odd.astype(dtype), -1, most).tolist() == [-1, most, -1, most, -1, 2, 0, -1]
