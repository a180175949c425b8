// norm_chain.cu: BatchNorm, Scale and ReLU as one pass forward and two backward. A plane is one channel of one image.
#include "moments.h"

// What a kernel does with a plane becomes part of it, so that the host's compiler knows which memory is the block's own.
#define PART_OF DEVICE __attribute__((always_inline))

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
  const Real y = x > 0 ? x : p.slope != 0 ? x * p.slope : x < 0 ? Real(0) : x;  // as relu.cu
  return y > p.ceiling ? p.ceiling : y;
}
// The gradient at a value before the ReLU, given the one after it.
DEVICE Real through(const Planes& p, Real x, Real g) { return x >= p.ceiling ? Real(0) : x > 0 ? g : g * p.slope; }

// The forward pass of a plane. normal: takes the normalised x, where y takes the place of x; or null.
PART_OF void plane_forward(const Planes& p, Map m, int at, const Real* x, const Real* scale, int c, Real* normal, Real* y) {
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

// The sums of a plane's gradient: see chain_sums.
PART_OF void plane_sums(const Planes& p, const Map& m, const Real* from, Real* g, Real times, int keep, Real* part, double* whole,
                       double* sums) {
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

// The gradient of a plane before BatchNorm. sum, dot: the means of the sums, times what scales the gradient.
PART_OF void plane_diff(const Planes& p, const Map& m, const Real* from, const Real* g, Real* to, Real times, Real sum, Real dot,
                       int keep) {
  // Of running statistics dot is 0, and an infinite x is none of the gradient's business.
  auto value = [=](Real g, Real x) { return g * times - (dot != 0 ? (x - m.off) * dot : Real(0)) - sum; };
  if (p.active && keep == 0) {
    if (g == to) THREAD_LOOP(i, p.size) to[i] = value(through(p, mapped(m, from[i]), to[i]), from[i]);
    else THREAD_LOOP(i, p.size) to[i] = value(through(p, mapped(m, from[i]), g[i]), from[i]);
  } else if (g == to) {
    THREAD_LOOP(i, p.size) to[i] = value(to[i], from[i]);
  } else {
    THREAD_LOOP(i, p.size) to[i] = value(g[i], from[i]);
  }
}

KERNEL chain_normalise(int n, const Real* x, const Real* mean, const Real* inverse, Real* normal, Planes p) {
  BLOCK_LOOP(plane, n) {
    const Real off = mean[plane % p.channels], by = inverse[plane % p.channels];
    const int at = plane * p.size;
    THREAD_LOOP(i, p.size) normal[at + i] = (x[at + i] - off) * by;
  }
}

KERNEL chain_forward(int n, const Real* x, const Real* mean, const Real* inverse, const Real* scale, const Real* bias,
                     Real* normal, Real* y, Planes p) {
  BLOCK_LOOP(plane, n) {
    const int c = plane % p.channels;
    plane_forward(p, map_of(p, c, mean, inverse, scale, bias), plane * p.size, x, scale, c, normal, y);
  }
}

// A batch's statistics and the forward pass, channel by channel: on the host a channel's planes are in the cache by then.
// partial (images x channels, 2): room for the planes' sums; partial[2 c] is channel c's variance in the end. n: channels.
KERNEL chain_train(int n, const Real* x, double* partial, Real* mean, Real* inverse, const Real* scale, const Real* bias,
                   Real* normal, Real* y, Planes p, Batch b) {
  SHARED Real part[2 * PARTS];
  SHARED double whole[2 * PARTS];
  BLOCK_LOOP(c, n) {
    const Real origin = x[c * p.size];
    for (int plane = c; plane < b.images * n; plane += n) {
      const Real* from = x + plane * p.size;
      block_sums(part, whole, p.size, partial + 2 * plane, [=](int i, Real* value) {
        value[0] = from[i] - origin;
        value[1] = value[0] * value[0];
      });
    }
    THREAD_LOOP(t, 1) partial[2 * c] = moments(c, n, x, partial, b, mean, inverse);
    BARRIER();
    const Map m = map_of(p, c, mean, inverse, scale, bias);
    for (int plane = c; plane < b.images * n; plane += n) plane_forward(p, m, plane * p.size, x, scale, c, normal, y);
    BARRIER();
  }
}

// partial[plane] = sums of g and of g * normalised x, g being the gradient before the ReLU. keep: what takes diff's place,
// 0: nothing, 1: g, 2: g * scale, the gradient before Scale.
KERNEL chain_sums(int n, Real* diff, const Real* x, const Real* mean, const Real* inverse, const Real* scale, const Real* bias,
                  double* partial, Planes p, int keep) {
  SHARED Real part[2 * PARTS];
  SHARED double whole[2 * PARTS];
  BLOCK_LOOP(plane, n) {
    const int c = plane % p.channels, at = plane * p.size;
    const Real times = keep == 2 && scale ? scale[c] : Real(1);
    plane_sums(p, map_of(p, c, mean, inverse, scale, bias), x + at, diff + at, times, keep, part, whole, partial + 2 * plane);
  }
}

// The gradient before BatchNorm. sum_mean, dot_mean: means of the sums, or null where the statistics are constants. keep: as
// chain_sums left diff. In place diff and bottom_diff are one array.
KERNEL chain_diff(int n, const Real* diff, const Real* x, const Real* mean, const Real* inverse, const Real* scale,
                  const Real* bias, const Real* sum_mean, const Real* dot_mean, Real* bottom_diff, Planes p, int keep) {
  BLOCK_LOOP(plane, n) {
    const int c = plane % p.channels, at = plane * p.size;
    const Map m = map_of(p, c, mean, inverse, scale, bias);
    const Real by = inverse[c], all = scale ? by * scale[c] : by, times = keep == 2 ? by : all;
    const Real sum = sum_mean ? sum_mean[c] * all : Real(0), dot = sum_mean ? dot_mean[c] * m.by * all : Real(0);
    plane_diff(p, m, x + at, diff + at, bottom_diff + at, times, sum, dot, keep);
  }
}

// chain_sums and chain_diff of a batch's statistics, channel by channel, as chain_train. n: channels.
KERNEL chain_back(int n, Real* diff, const Real* x, const Real* mean, const Real* inverse, const Real* scale, const Real* bias,
                  double* partial, Real* bottom_diff, Planes p, int keep, int images) {
  SHARED Real part[2 * PARTS];
  SHARED double whole[2 * PARTS];
  BLOCK_LOOP(c, n) {
    const Map m = map_of(p, c, mean, inverse, scale, bias);
    const Real by = inverse[c], all = scale ? by * scale[c] : by, times = keep == 2 && scale ? scale[c] : Real(1);
    double sum = 0, dot = 0;
    for (int plane = c; plane < images * n; plane += n) {
      const int at = plane * p.size;
      plane_sums(p, m, x + at, diff + at, times, keep, part, whole, partial + 2 * plane);
      sum += partial[2 * plane];
      dot += partial[2 * plane + 1];
    }
    const Real sum_mean = Real(sum / images / p.size), dot_mean = Real(dot / images / p.size);
    for (int plane = c; plane < images * n; plane += n) {
      const int at = plane * p.size;
      plane_diff(p, m, x + at, diff + at, bottom_diff + at, keep == 2 ? by : all, sum_mean * all, dot_mean * m.by * all, keep);
    }
    BARRIER();
  }
}
