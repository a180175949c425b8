"""exp, log and their like on the host, with the same bits on every CPU.

numpy's own are vectors of the machine, which round differently on different ones; Python's are the C library's. Here arrays go
through single additions, products and divisions, each of which is rounded as IEEE 754 says, by the formulas of functions.h
and to the same bits; numbers through the module decimal, whose results are correctly rounded.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..proto.errors import DeviceError

Numbers = np.ndarray[Any, Any]
LN2_HIGH, LN2_LOW, LOG2E = (
    float.fromhex(text) for text in ("0x1.62e42fee00000p-1", "0x1.a39ef35793c76p-33", "0x1.71547652b82fep0")
)
PI2 = tuple(
    float.fromhex(t) for t in ("0x1.921fb54400000p0", "0x1.0b4611a600000p-34", "0x1.3198a2e037073p-69")
)  # pi / 2
EIGHTHS = [  # the arctangents of 0, 1/8 .. 1
    float.fromhex(t)
    for t in (
        "0x0.p+0",
        "0x1.fd5ba9aac2f6ep-4",
        "0x1.f5b75f92c80ddp-3",
        "0x1.6f61941e4def1p-2",
        "0x1.dac670561bb4fp-2",
        "0x1.1e00babdefeb4p-1",
        "0x1.4978fa3269ee1p-1",
        "0x1.700a7c5784634p-1",
        "0x1.921fb54442d18p-1",
    )
]
FACTORIALS = (6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2)
EXACT = Context(prec=40, traps=[])
LEAST, LARGE = 2.0**-1022, 2.0**1000  # the least number that is not subnormal
STEP = 2.0**-52  # from 1 to the next number


def check_arithmetic() -> None:
    """Raises DeviceError where this thread's numbers are not those of IEEE 754's default: another library may have told the
    CPU to round otherwise, or to take subnormal numbers for 0. Kernels guard themselves (arithmetic.h); numpy does not."""
    if LEAST / 2 * LARGE == 0:
        reason = "subnormal numbers are 0"
    elif 1 + STEP / 4 != 1 or 1 + STEP * 0.75 == 1:
        reason = "numbers are not rounded to the nearest"
    else:
        return
    raise DeviceError(
        f"reproducible: {reason} in this thread: a library that is loaded has set the CPU so, as one that was linked with "
        "-ffast-math does; load it in another process or thread, or set it back, as with fesetenv(FE_DFL_ENV) of the C library"
    )


def exp(x: ArrayLike) -> Numbers:
    """e to the power of x, of an array of floats: float32 stays that, all else is float64. At most 1 ulp off.

    >>> exp([0.0, -1.0, -np.inf]).round(15).tolist()
    [1.0, 0.367879441171442, 0.0]
    """
    array = np.asarray(x)
    with np.errstate(all="ignore"):
        at = np.clip(array.astype(np.float64), -746, 710)  # 0 and infinity beyond
        k = np.rint(at * LOG2E)
        r = (at - k * LN2_HIGH) - k * LN2_LOW
        total = np.full_like(r, 1 / FACTORIALS[0])
        for factorial in FACTORIALS[1:]:
            total = total * r + 1 / factorial
        part = 1 + (r + r * r * total)
        whole = np.where(np.isnan(k), 0, k).astype(np.int64)
        half = whole >> 1
        value = part * np.ldexp(1.0, half) * np.ldexp(1.0, whole - half)
        return np.asarray(value.astype(array.dtype if array.dtype == np.float32 else np.float64))


def log(x: ArrayLike) -> Numbers:
    """The natural logarithm, as `exp`.

    >>> log([1.0, 0.0, 2.0]).tolist()
    [0.0, -inf, 0.6931471805599453]
    """
    array = np.asarray(x)
    with np.errstate(all="ignore"):
        at = array.astype(np.float64)
        fraction, k = np.frexp(np.where((at > 0) & (at < np.inf), at, 1.0))
        low = fraction < float.fromhex("0x1.6a09e667f3bcdp-1")  # 1 + f is from there to its double
        f, k = np.where(low, 2 * fraction, fraction) - 1, k - low.astype(k.dtype)
        s = f / (2 + f)
        z = s * s
        total = np.full_like(z, 2 / 23)
        for n in range(21, 1, -2):
            total = total * z + 2 / n
        value = k * LN2_HIGH - ((s * (f - total * z) - k * LN2_LOW) - f)
        value = np.where(at == 0, -np.inf, np.where(at < 0, np.nan, np.where(at == np.inf, np.inf, value)))
        value = np.where(np.isnan(at), at, value)
        return np.asarray(value.astype(array.dtype if array.dtype == np.float32 else np.float64))


def log2(x: ArrayLike) -> Numbers:
    """The logarithm by 2, of powers of 2 exact.

    >>> log2([0.25, 1024.0]).tolist()
    [-2.0, 10.0]
    """
    array = np.asarray(x)
    fraction, k = np.frexp(array.astype(np.float64))
    low = fraction < float.fromhex("0x1.6a09e667f3bcdp-1")
    value = (k - low) + log(np.where(low, 2 * fraction, fraction)) * LOG2E
    return np.asarray(value.astype(array.dtype if array.dtype == np.float32 else np.float64))


def powers(x: ArrayLike, exponent: float) -> Numbers:
    """x ** exponent of an array of numbers from 0 to 1, as exp(exponent * log(x)) in float64.

    >>> powers([0.0, 0.25, 1.0], 0.5).tolist()
    [0.0, 0.5, 1.0]
    """
    array = np.asarray(x)
    value = exp(exponent * log(array.astype(np.float64))) if exponent else np.ones(array.shape)
    return np.asarray(value.astype(array.dtype if array.dtype == np.float32 else np.float64))


def sine_cosine(x: ArrayLike) -> tuple[Numbers, Numbers]:
    """Sine and cosine of an array of angles in radians up to 1e5, as `exp`; beyond, of what float64 has of them modulo 2 pi.

    >>> sine_cosine([0.0])
    (array([0.]), array([1.]))
    """
    array = np.asarray(x)
    with np.errstate(all="ignore"):
        at = array.astype(np.float64)
        at = np.where(np.abs(at) < 1e5, at, np.fmod(at, 2 * np.pi))
        k = np.rint(at * (2 / np.pi))
        r = (at - k * PI2[0] - k * PI2[1]) - k * PI2[2]
        z = r * r
        sine, cosine = np.zeros_like(r), np.zeros_like(r)
        for n in range(19, 1, -2):  # r - r^3 / 3! + ..., and 1 - r^2 / 2! + ...
            sine = (sine + 1) * (-z / (n * (n - 1)))
            cosine = (cosine + 1) * (-z / ((n - 1) * (n - 2) or 1)) if n > 2 else cosine
        sine, cosine = r + r * sine, 1 + cosine
        turn = np.where(np.isnan(k), 0, np.fmod(k, 4)).astype(np.int64) & 3
        odd = turn % 2 == 1
        signs = np.where(turn >= 2, -1.0, 1.0), np.where((turn == 1) | (turn == 2), -1.0, 1.0)
        values = np.where(odd, cosine, sine) * signs[0], np.where(odd, sine, cosine) * signs[1]
        dtype = array.dtype if array.dtype == np.float32 else np.float64
        return np.asarray(values[0].astype(dtype)), np.asarray(values[1].astype(dtype))


def arctan2(y: ArrayLike, x: ArrayLike) -> Numbers:
    """The angle of the points (x, y) in radians, from -pi to pi, in float64, as `exp`; of (0, 0) 0.

    >>> arctan2([0.0, 1.0, -1.0], [1.0, 0.0, -1.0]).round(4).tolist()
    [0.0, 1.5708, -2.3562]
    """
    up, right = np.broadcast_arrays(np.asarray(y, np.float64), np.asarray(x, np.float64))
    with np.errstate(all="ignore"):
        high, wide = np.abs(up), np.abs(right)
        slope = np.where(high == wide, np.where(high == 0, 0.0, 1.0), np.minimum(high, wide) / np.maximum(high, wide))
        slope = np.where(np.isnan(high + wide), np.nan, slope)
        steps = np.rint(
            np.where(np.isnan(slope), 0, slope) * 8
        )  # atan(s) = atan(c) + atan((s - c) / (1 + s c)), c = steps / 8
        rest = (slope - steps / 8) / (1 + slope * (steps / 8))
        z, total = rest * rest, np.zeros_like(rest)
        for n in range(17, 1, -2):
            total = (total + (-1) ** (n // 2) / n) * z
        angle = np.asarray(EIGHTHS)[steps.astype(np.int64)] + (rest + rest * total)
        angle = np.where(high > wide, np.pi / 2 - angle, angle)
        return np.asarray(np.copysign(np.where(np.signbit(right), np.pi - angle, angle), up))


def length(x: ArrayLike) -> Numbers:
    """The lengths of vectors along the last axis, by the sum of their squares in order.

    >>> float(length([3.0, 4.0]))
    5.0
    """
    array = np.asarray(x)
    total = np.zeros(array.shape[:-1], array.dtype)
    for i in range(array.shape[-1]):
        total = total + array[..., i] * array[..., i]
    return np.asarray(np.sqrt(total))


def whole(x: ArrayLike, low: int, high: int) -> Numbers:
    """Numbers cut to whole ones from `low` to `high`; NaN is `low`. What a cast alone makes of others is the CPU's.

    >>> whole([2.7, -0.5, np.nan, np.inf, -1e30], -1, 100).tolist()
    [2, 0, -1, 100, -1]
    """
    values = np.asarray(x, np.float64)
    return np.asarray(np.where(values > low, np.minimum(values, high), low).astype(np.int64))


def product(a: Numbers, b: Numbers) -> Numbers:
    """The matrix product of (..., m, k) and (..., k, n), term after term: BLAS has orders of its own.

    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    total = a[..., :, :1] * b[..., :1, :]
    for k in range(1, a.shape[-1]):
        total += a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return np.asarray(total)


def power(base: float, exponent: float) -> float:
    """base ** exponent of two numbers, correctly rounded; of a base below 0 NaN where the exponent is no whole number.

    >>> power(2.0, 0.5), power(0.0, 0.0), power(-10.0, -3.0)
    (1.4142135623730951, 1.0, -0.001)
    """
    if exponent == 0 or base == 1:
        return 1.0
    if not (base and abs(base) < np.inf and abs(exponent) < np.inf):
        with np.errstate(all="ignore"):
            return float(np.power(np.float64(base), np.float64(exponent)))
    if base < 0:
        return float("nan") if exponent % 1 else power(-base, exponent) * (-1 if exponent % 2 else 1)
    with localcontext(EXACT):
        return float(Decimal(base) ** Decimal(exponent))


def exponential(x: float) -> float:
    """e to the power of a number, correctly rounded."""
    return float(EXACT.exp(Decimal(x))) if abs(x) < 1e4 else float("inf") if x > 0 else 0.0


def logarithm(x: float) -> float:
    """The natural logarithm of a finite number above 0, correctly rounded."""
    return float(EXACT.ln(Decimal(x)))
