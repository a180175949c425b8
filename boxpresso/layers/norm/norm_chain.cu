// norm_chain.cu: BatchNorm, Scale and ReLU as one pass forward and two backward. A plane is one channel of one image.
#include "sum.h"

struct Planes {
  int channels, size, normalised;  // size: of a plane; normalised: whether what is read is normalised already
  int active;                      // whether a ReLU follows, with a slope below 0 and a ceiling
  Real slope, ceiling;
};

// What normalises a plane, and what scales it. Null pointers: scale 1, bias 0.
struct Map {
  Real off, by, times, plus;
};
DEVICE Map map_of(const Planes& p, int c, const Real* mean, const Real* inverse, const Real* scale, const Real* bias) {
  const Real off = p.normalised ? Real(0) : mean[c], by = p.normalised ? Real(1) : inverse[c];
  return {off, by, scale ? by * scale[c] : by, bias ? bias[c] : Real(0)};
}
DEVICE Real mapped(const Map& m, Real x) { return (x - m.off) * m.times + m.plus; }
DEVICE Real rectified(const Planes& p, Real x) {
  const Real y = x > 0 ? x : x * p.slope;
  return y > p.ceiling ? p.ceiling : y;
}
// The gradient at a value before the ReLU, given the one after it.
DEVICE Real through(const Planes& p, Real x, Real g) { return x >= p.ceiling ? Real(0) : x > 0 ? g : g * p.slope; }

KERNEL chain_normalise(int n, const Real* x, const Real* mean, const Real* inverse, Real* normal, Planes p) {
  BLOCK_LOOP(plane, n) {
    const Real off = mean[plane % p.channels], by = inverse[plane % p.channels];
    const int at = plane * p.size;
    THREAD_LOOP(i, p.size) normal[at + i] = (x[at + i] - off) * by;
  }
}

// normal: takes the normalised x, where y takes the place of x; or null.
KERNEL chain_forward(int n, const Real* x, const Real* mean, const Real* inverse, const Real* scale, const Real* bias,
                     Real* normal, Real* y, Planes p) {
  BLOCK_LOOP(plane, n) {
    const int c = plane % p.channels, at = plane * p.size;
    Map m = map_of(p, c, mean, inverse, scale, bias);
    const Real* from = x + at;
    Real* to = y + at;
    if (normal) {
      THREAD_LOOP(i, p.size) normal[at + i] = (from[i] - m.off) * m.by;
      from = normal + at;
      m = {0, 1, scale ? scale[c] : Real(1), m.plus};
    }
    if (p.active) THREAD_LOOP(i, p.size) to[i] = rectified(p, mapped(m, from[i]));
    else THREAD_LOOP(i, p.size) to[i] = mapped(m, from[i]);
  }
}

// partial[plane] = sums of g and of g * normalised x, g being the gradient before the ReLU. keep: what takes diff's place,
// 0: nothing, 1: g, 2: g * scale, the gradient before Scale.
KERNEL chain_sums(int n, Real* diff, const Real* x, const Real* mean, const Real* inverse, const Real* scale, const Real* bias,
                  double* partial, Planes p, int keep) {
  SHARED Real part[2 * PARTS];
  SHARED double whole[2 * PARTS];
  BLOCK_LOOP(plane, n) {
    const int c = plane % p.channels;
    const Map m = map_of(p, c, mean, inverse, scale, bias);
    const Real* from = x + plane * p.size;
    Real* g = diff + plane * p.size;
    double* sums = partial + 2 * plane;
    const Real times = keep == 2 && scale ? scale[c] : Real(1);
    auto take = [=](int i, Real value, Real* values) {
      values[0] = value;
      values[1] = value * ((from[i] - m.off) * m.by);
      if (keep) g[i] = value * times;
    };
    if (p.active)
      block_sums(part, whole, p.size, sums,
                 [=](int i, Real* values) { take(i, through(p, mapped(m, from[i]), g[i]), values); });
    else
      block_sums(part, whole, p.size, sums, [=](int i, Real* values) { take(i, g[i], values); });
  }
}

// The gradient before BatchNorm. sum_mean, dot_mean: means of the sums, or null where the statistics are constants. keep: as
// chain_sums left diff. In place diff and bottom_diff are one array.
KERNEL chain_diff(int n, const Real* diff, const Real* x, const Real* mean, const Real* inverse, const Real* scale,
                  const Real* bias, const Real* sum_mean, const Real* dot_mean, Real* bottom_diff, Planes p, int keep) {
  BLOCK_LOOP(plane, n) {
    const int c = plane % p.channels;
    const Map m = map_of(p, c, mean, inverse, scale, bias);
    const Real by = inverse[c], all = scale ? by * scale[c] : by, times = keep == 2 ? by : all;
    const Real sum = sum_mean ? sum_mean[c] * all : Real(0), dot = sum_mean ? dot_mean[c] * m.by * all : Real(0);
    const Real *from = x + plane * p.size, *g = diff + plane * p.size;
    Real* to = bottom_diff + plane * p.size;
    auto value = [=](Real g, Real x) { return g * times - (x - m.off) * dot - sum; };
    if (p.active && keep == 0) {
      if (g == to) THREAD_LOOP(i, p.size) to[i] = value(through(p, mapped(m, from[i]), to[i]), from[i]);
      else THREAD_LOOP(i, p.size) to[i] = value(through(p, mapped(m, from[i]), g[i]), from[i]);
    } else if (g == to) {
      THREAD_LOOP(i, p.size) to[i] = value(to[i], from[i]);
    } else {
      THREAD_LOOP(i, p.size) to[i] = value(g[i], from[i]);
    }
  }
}
