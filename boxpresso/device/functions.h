// functions.h: exp, log, sin and what follows from them, for kernels on the host; `quick`, at the end, is for texts that need not be the
// same everywhere. `same` has the same bits on every CPU: single additions, products and divisions
// in double, each rounded as IEEE 754 says, in the order that the text has, and nothing of the C library that rounds. Those of
// a float are the double's, rounded; docs/reproducible.md has the error of each. Loops over them become vectors.
//
// Below, k is a whole number and r or f what is left of x: exp x = 2^k exp r with r = x - k ln 2; log x = k ln 2 + log(1 + f).
#pragma once
#include <cmath>
#include <cstring>

namespace same {

static inline unsigned long long bits_of(double x) {
  unsigned long long bits;
  std::memcpy(&bits, &x, 8);
  return bits;
}
static inline double of_bits(unsigned long long bits) {
  double x;
  std::memcpy(&x, &bits, 8);
  return x;
}
static inline double two_to(int k) { return of_bits((unsigned long long)(k + 1023) << 52); }  // k from -1022 to 1023

// ln 2 in two parts, of which the first has 32 bits, so that k times it is exact.
constexpr double LN2_HIGH = 0x1.62e42fee00000p-1, LN2_LOW = 0x1.a39ef35793c76p-33, LOG2E = 0x1.71547652b82fep0;
constexpr double INTEGER = 0x1.8p52;  // x + INTEGER has the whole number nearest x in its last bits

// exp(r) - 1, r + r^2 / 2! + r^3 / 3! + ... + r^13 / 13!, and k, of x + low. |x| is at most 750.
static inline double exp_parts(double x, double low, int& k) {
  const double whole = x * LOG2E + INTEGER, of = whole - INTEGER;
  k = int(unsigned(bits_of(whole)));
  const double r = (x - of * LN2_HIGH) - (of * LN2_LOW - low);
  double sum = 1.0 / 6227020800;
  sum = sum * r + 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  return r + r * r * sum;
}

static inline double exp_of(double x, double low) {
  x = x > 710 ? 710 : x;  // infinity
  x = x < -746 ? -746 : x;  // 0
  int k;
  const double part = exp_parts(x, low, k);
  const int half = k >> 1;
  return (1 + part) * two_to(half) * two_to(k - half);
}
static inline double exp(double x) { return exp_of(x, 0); }

static inline double exp2(double x) {  // of a whole number exact
  x = x > 1025 ? 1025 : x;
  x = x < -1077 ? -1077 : x;
  const double whole = x + INTEGER, r = x - (whole - INTEGER);
  const int k = int(unsigned(bits_of(whole))), half = k >> 1;
  return exp(r / LOG2E) * two_to(half) * two_to(k - half);
}

static inline double expm1(double x) {
  const double from = x;
  x = x > 710 ? 710 : x;
  x = x < -40 ? -40 : x;  // -1
  int k;
  const double part = exp_parts(x, 0, k), half = two_to(k - 1);
  const double value = ((half - 0.5) + half * part) * 2;
  return from == 0 ? from : k == 0 ? part : value;
}

// k and f of a finite x > 0, with 1 + f from sqrt(1/2) to sqrt(2).
static inline double log_parts(double x, double& k) {
  const bool small = x < 0x1p-1022;
  const unsigned long long bits = bits_of(small ? x * 0x1p54 : x) - 0x3fe6a09e667f3bcdull;  // those of sqrt(1/2)
  const unsigned long long sign = bits >> 63;  // the exponent's, of 12 bits with it
  const unsigned long long exponent = bits >> 52;
  k = of_bits(0x4330000000000000ull + exponent) - 0x1p52 - (sign ? 4096.0 : 0.0) - (small ? 54.0 : 0.0);
  return of_bits((bits & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1;
}

// log(1 + f) = 2 atanh(s) = 2 s + 2 s^3 / 3 + ... + 2 s^23 / 23 with s = f / (2 + f), and 2 s = f - s f.
static inline double log(double x) {
  double k;
  const double f = log_parts(x, k), s = f / (2 + f), z = s * s;
  double sum = 2.0 / 23;
  sum = sum * z + 2.0 / 21;
  sum = sum * z + 2.0 / 19;
  sum = sum * z + 2.0 / 17;
  sum = sum * z + 2.0 / 15;
  sum = sum * z + 2.0 / 13;
  sum = sum * z + 2.0 / 11;
  sum = sum * z + 2.0 / 9;
  sum = sum * z + 2.0 / 7;
  sum = sum * z + 2.0 / 5;
  sum = sum * z + 2.0 / 3;
  const double value = k * LN2_HIGH - ((s * (f - sum * z) - k * LN2_LOW) - f);
  return x > 0 && x < INFINITY ? value : x == 0 ? -INFINITY : x < 0 ? double(NAN) : x;  // infinity and NaN stay
}
static inline double log2(double x) {  // of a power of 2 exact
  double k;
  const double f = log_parts(x, k);
  return x > 0 && x < INFINITY ? k + log(1 + f) * LOG2E : log(x);
}
// log(u) + (x - (u - 1)) / u with u = 1 + x as it is rounded.
static inline double log1p(double x) {
  const double u = 1 + x, value = log(u) + (x - (u - 1)) / u;
  return x == 0 ? x : u > 0 && u < INFINITY ? value : log(u);
}

static inline double tanh(double x) {  // -d / (2 + d) with d = exp(-2 |x|) - 1
  const double far = x < 0 ? -x : x, d = expm1(-2 * far), value = -d / (2 + d);
  return x == 0 ? x : x < 0 ? -value : value;
}

// Sums and products of two doubles as the unevaluated sum of two.
struct Doubled {
  double high, low;
};
static inline Doubled sum_of(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
static inline Doubled product_of(double a, double b) {  // |a| and |b| below 2^970
  const double a_wide = a * 134217729.0, b_wide = b * 134217729.0, product = a * b;
  const double a1 = a_wide - (a_wide - a), b1 = b_wide - (b_wide - b), a2 = a - a1, b2 = b - b1;
  return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}
static inline Doubled times(Doubled a, Doubled b) {
  const Doubled p = product_of(a.high, b.high);
  return sum_of(p.high, p.low + (a.high * b.low + a.low * b.high));
}
static inline Doubled plus(Doubled a, Doubled b) {
  const Doubled s = sum_of(a.high, b.high);
  return sum_of(s.high, s.low + (a.low + b.low));
}

// The logarithm of a finite x > 0 in about 100 bits of which 60 count: s and s^3 / 3 in pairs, what follows in double.
static inline Doubled log_doubled(double x) {
  double k;
  const double f = log_parts(x, k);
  const Doubled d = sum_of(2, f);
  const double s0 = f / d.high;
  const Doubled back = product_of(s0, d.high);
  const Doubled s = sum_of(s0, ((f - back.high) - back.low - s0 * d.low) / d.high);
  const Doubled z = times(s, s), cube = times(s, z);
  const Doubled third = times(cube, {0x1.5555555555555p-2, 0x1.5555555555555p-56});
  double sum = 1.0 / 23;
  for (int n = 21; n >= 5; n -= 2) sum = sum * z.high + 1.0 / n;
  const Doubled series = plus(plus(s, third), {cube.high * z.high * sum, 0});
  const Doubled whole = plus({k * LN2_HIGH, 0}, sum_of(2 * series.high, 2 * series.low));
  return sum_of(whole.high, whole.low + k * LN2_LOW);
}

// x^y where size = |x|^y: C's rules for signs, 1, 0, infinity and NaN.
static inline double power_of(double x, double y, double size) {
  const bool whole = std::floor(y) == y, odd = whole && std::floor(y * 0.5) != y * 0.5 && (y < 0 ? -y : y) < INFINITY;
  const double value = x < 0 && !whole ? double(NAN) : odd && std::signbit(x) ? -size : size;
  return y == 0 || x == 1 || (x == -1 && (y < 0 ? -y : y) == INFINITY) ? 1.0 : x == -INFINITY && !whole ? size : value;
}
static inline double pow(double x, double y) {
  const double size = x < 0 ? -x : x;
  double value;
  if (size > 0 && size < INFINITY && (y < 0 ? -y : y) < 0x1p900 && (y < 0 ? -y : y) > 0x1p-900) {
    const Doubled l = log_doubled(size), whole = product_of(l.high, y);
    const double low = whole.low + l.low * y;
    value = exp_of(whole.high, (whole.high < 0 ? -whole.high : whole.high) < 800 ? low : 0);
  } else {
    value = exp(y * log(size));
  }
  return power_of(x, y, value);
}

// x - k pi / 2 and k modulo 4.
struct Reduced {
  double r, low;
  int k;
};
// 2 / pi in binary, the bits behind the point.
static const unsigned TWO_OVER_PI[] = {
    0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu, 0xDEBBC561u, 0xB7246E3Au,
    0x424DD2E0u, 0x06492EEAu, 0x09D1921Cu, 0xFE1DEB1Cu, 0xB129A73Eu, 0xE88235F5u, 0x2EBB4484u, 0xE99C7026u, 0xB45F7E41u,
    0x3991D639u, 0x835339F4u, 0x9C845F8Bu, 0xBDF9283Bu, 0x1FF897FFu, 0xDE05980Fu, 0xEF2F118Bu, 0x5A0A6D1Fu, 0x6D367ECFu,
    0x27CB09B7u, 0x4F463F66u, 0x9E5FEA2Du, 0x7527BAC7u, 0xEBE5F17Bu, 0x3D0739F7u, 0x8A5292EAu, 0x6BFB5FB1u, 0x1F8D5D08u,
    0x56033046u};
static inline Reduced reduced(double x) {
  const double far = x < 0 ? -x : x;
  if (!(far < INFINITY)) return {double(NAN), 0, 0};
  if (far < 1e5) {  // pi / 2 in parts of 33 bits: k times one is exact
    const double whole = x * 0x1.45f306dc9c883p-1 + INTEGER, k = whole - INTEGER;
    const Doubled first = sum_of(x - k * 0x1.921fb54400000p0, -(k * 0x1.0b4611a600000p-34));
    const Doubled all = sum_of(first.high, first.low - k * 0x1.3198a2e037073p-69);
    return {all.high, all.low, int(unsigned(bits_of(whole))) & 3};
  }
  // far = mantissa * 2^exponent: of mantissa * 2 / pi the bits of 2 / pi that make multiples of 4 do not count.
  const unsigned long long bits = bits_of(far), mantissa = (bits & 0x000fffffffffffffull) | 0x0010000000000000ull;
  const int exponent = int(bits >> 52) - 1075, from = exponent - 2 > 0 ? exponent - 2 : 0;  // from which bit on
  unsigned window[6] = {};
  for (int i = 0; i < 6; ++i) {
    const int word = from / 32 + i, shift = from % 32;
    const unsigned first = TWO_OVER_PI[word], second = TWO_OVER_PI[word + 1];
    window[i] = shift ? first << shift | second >> (32 - shift) : first;
  }
  // window is (2 / pi) * 2^(from + 192) modulo 2^192; the product's bit 192 - (exponent - from) is 1.
  unsigned product[8] = {};
  const unsigned halves[2] = {unsigned(mantissa), unsigned(mantissa >> 32)};
  for (int h = 0; h < 2; ++h) {
    unsigned long long carry = 0;
    for (int i = 0; i < 6; ++i) {
      carry += (unsigned long long)window[5 - i] * halves[h] + product[i + h];
      product[i + h] = unsigned(carry);
      carry >>= 32;
    }
    product[6 + h] += unsigned(carry);
  }
  const int point = 192 - (exponent - from);  // bits behind the point
  unsigned fraction[4];                      // two bits of the whole number, then what is behind the point
  for (int i = 0; i < 4; ++i) {
    const int at = point + 2 - 32 * (i + 1), word = at >= 0 ? at / 32 : -1, shift = at & 31;
    fraction[i] = product[word] >> shift | (shift ? product[word + 1] << (32 - shift) : 0);
  }
  int k = int(fraction[0] >> 30);
  const bool up = fraction[0] >> 29 & 1;  // more than a half: the next whole number is nearer
  k += up;
  double turn = 0, rest = 0;  // |x| 2 / pi - k
  for (int i = 3; i >= 0; --i) {
    const unsigned word = (i == 0 ? fraction[0] & 0x3fffffffu : fraction[i]);
    const double part = double(up ? (i == 0 ? 0x3fffffffu - word : ~word) : word) * two_to(2 - 32 * (i + 1));
    const Doubled s = sum_of(part, turn);
    turn = s.high;
    rest += s.low;
  }
  const Doubled r = times(sum_of(turn, rest), {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54});
  const double sign = (x < 0) != up ? -1 : 1;
  return {sign * r.high, sign * r.low, (x < 0 ? -k : k) & 3};
}
static inline double sine_of(const Reduced& t, int quarter) {
  const double z = t.r * t.r;
  const int k = (t.k + quarter) & 3;
  double value;
  if (k & 1) {  // the cosine, 1 - z / 2! + z^2 / 4! - ...
    constexpr double factors[] = {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24};
    double sum = -1.0 / 6402373705728000;
    for (double each : factors) sum = sum * z + each;
    const double half = 0.5 * z, first = 1 - half;
    value = first + (((1 - first) - half) + (z * z * sum - t.r * t.low));
  } else {  // r - r^3 / 3! + r^5 / 5! - ...
    constexpr double factors[] = {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                                  1.0 / 120, -1.0 / 6};
    double sum = -1.0 / 121645100408832000;
    for (double each : factors) sum = sum * z + each;
    value = t.r + (t.r * z * sum + t.low * (1 - 0.5 * z));
  }
  return k & 2 ? -value : value;
}
static inline double sin(double x) { return x == 0 ? x : sine_of(reduced(x), 0); }
static inline double cos(double x) { return sine_of(reduced(x), 1); }

static inline float exp(float x) { return float(exp(double(x))); }
static inline float exp2(float x) { return float(exp2(double(x))); }
static inline float expm1(float x) { return float(expm1(double(x))); }
static inline float log(float x) { return float(log(double(x))); }
static inline float log2(float x) { return float(log2(double(x))); }
static inline float log1p(float x) { return float(log1p(double(x))); }
static inline float tanh(float x) { return float(tanh(double(x))); }
static inline float sin(float x) { return float(sin(double(x))); }
static inline float cos(float x) { return float(cos(double(x))); }
static inline float pow(float x, float y) {
  return float(power_of(x, y, exp(double(y) * log(double(x < 0 ? -x : x)))));
}

}  // namespace same

// exp, log and what follows from them, of floats in float, for texts that need not be the same everywhere: to three units of the last
// digit, where the C library's, which is called for each number, takes four to twenty times as long. Those of a double are the C library's.
// A product and a sum are one operation in a loop's vectors and in its rest alike, wherever the machine has it.
namespace quick {

static inline float fused(float a, float b, float sum) { return a * b + sum; }
static inline unsigned bits_of(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
static inline float of_bits(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
static inline float two_to(int k) { return of_bits(unsigned(k + 127) << 23); }  // k from -126 to 127

// ln 2 in two parts, of which the first has 15 bits, so that k times it is exact.
constexpr float LN2_HIGH = 0x1.62e400p-1f, LN2_LOW = 0x1.7f7d1cp-20f, LOG2E = 0x1.715476p+0f, INTEGER = 0x1.8p23f;
constexpr float INFINITE = __builtin_inff();

// exp(r) - 1 to the seventh power of r, and k. |x| is at most 210.
static inline float exp_parts(float x, int& k) {
  const float of = fused(x, LOG2E, INTEGER) - INTEGER;
  k = int(of);
  const float r = fused(of, -LN2_LOW, fused(of, -LN2_HIGH, x));
  float sum = 1.0f / 5040;
  sum = fused(sum, r, 1.0f / 720);
  sum = fused(sum, r, 1.0f / 120);
  sum = fused(sum, r, 1.0f / 24);
  sum = fused(sum, r, 1.0f / 6);
  sum = fused(sum, r, 0.5f);
  return fused(r * r, sum, r);
}

static inline float exp(float x) {
  x = x > 89 ? 89 : x;  // infinity
  x = x < -104 ? -104 : x;  // 0
  int k;
  const float part = exp_parts(x, k);
  const int half = k >> 1;
  return (1 + part) * two_to(half) * two_to(k - half);
}

static inline float expm1(float x) {
  float near = x > 89 ? 89 : x;  // infinity
  near = near < -20 ? -20 : near;  // -1
  int k;
  const float part = exp_parts(near, k), twice = k > 64 ? 2 : 1, scale = two_to(k - (k > 64));
  return x == 0 ? x : fused(part, scale, scale - 1 / twice) * twice;
}

static inline float tanh(float x) {  // -d / (2 + d) with d = exp(-2 |x|) - 1
  float far = x < 0 ? -x : x;
  far = far > 10 ? 10 : far;  // 1
  const float d = expm1(-2 * far), value = -d / (2 + d);
  return x == 0 ? x : x < 0 ? -value : value;
}

// log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + z (2 / 3 + z (2 / 5 + ...)))) with s = f / (2 + f) and z = s^2.
static inline float log(float x) {
  const bool tiny = x < 0x1p-126f;
  const unsigned bits = bits_of(tiny ? x * 0x1p24f : x), from = bits - 0x3f3504f3;  // from the root of 1 / 2
  const float k = float(int(from) >> 23) - (tiny ? 24.0f : 0.0f);
  const float f = of_bits((from & 0x7fffff) + 0x3f3504f3) - 1, s = f / (2 + f), z = s * s, half = 0.5f * f * f;
  float sum = 2.0f / 9;
  sum = fused(sum, z, 2.0f / 7);
  sum = fused(sum, z, 2.0f / 5);
  sum = fused(sum, z, 2.0f / 3);
  const float rest = fused(k, LN2_LOW, s * fused(sum, z, half));
  const float value = fused(k, LN2_HIGH, f - (half - rest));
  return x > 0 && x < INFINITE ? value : x == 0 ? -INFINITE : x < 0 ? __builtin_nanf("") : x;
}

static inline float log1p(float x) {
  const float whole = 1 + x, lost = (x - (whole - 1)) / whole;  // whole lacks it
  const float value = log(whole) + (lost * lost < 1 ? lost : 0.0f);  // it is NaN of -1 and infinity
  return x == 0 ? x : value;
}

static inline double exp(double x) { return std::exp(x); }
static inline double expm1(double x) { return std::expm1(x); }
static inline double tanh(double x) { return std::tanh(x); }
static inline double log(double x) { return std::log(x); }
static inline double log1p(double x) { return std::log1p(x); }

}  // namespace quick
