// depthwise.h: a filter for each plane, on the host: whole rows of places at once under each tap.
#pragma once
#include "window.h"

// A padded plane cut by the phase of its rows and columns in the stride, so that neighbouring places read neighbouring
// elements under every tap: place (y, x) finds tap t at [offset(t) + y * pitch + x].
struct Phases {
  const Window& g;
  int rows, pitch;
  Real* at;

  explicit Phases(const Window& g) : g(g) {
    rows = g.out_height + (g.kernel_h - 1) * g.dilation_h / g.stride_h + 1;
    pitch = g.out_width + (g.kernel_w - 1) * g.dilation_w / g.stride_w + 1;
    at = scratch(3, size());
    clear();
  }
  size_t size() const { return size_t(rows) * pitch * g.stride_h * g.stride_w + LANES; }
  long offset(int tap) const {
    const int y = tap / g.kernel_w * g.dilation_h, x = tap % g.kernel_w * g.dilation_w;
    return line(y) + long(x % g.stride_w) * rows * pitch + x / g.stride_w;
  }
  long line(int y) const {  // of the padded plane's row y, phase 0
    return (long(y % g.stride_h) * g.stride_w * rows + y / g.stride_h) * pitch;
  }
  void clear() { std::memset(at, 0, size() * sizeof(Real)); }

  // Calls use(row of the plane, its pixels, where the first of them lies in `at`, how far apart) for each row and phase.
  template <class Use>
  void each_row(Use use) const {
    for (int y = 0; y < g.height; ++y) {
      const int padded = y + g.pad_h;
      if (padded / g.stride_h >= rows) break;
      for (int phase = 0; phase < g.stride_w; ++phase) {
        const int first = ((phase - g.pad_w) % g.stride_w + g.stride_w) % g.stride_w;  // the first pixel of this phase
        const int start = (first + g.pad_w) / g.stride_w;
        const int count = min((g.width - first + g.stride_w - 1) / g.stride_w, pitch - start);
        if (count > 0) use(long(y) * g.width + first, count, line(padded) + long(phase) * rows * pitch + start);
      }
    }
  }
  void take(const Real* plane) {  // the padding stays as it was cleared
    each_row([&](long pixel, int count, long to) {
      if (g.stride_w == 1) copy(plane + pixel, at + to, count);
      else
        for (int i = 0; i < count; ++i) at[to + i] = plane[pixel + i * g.stride_w];
    });
  }
  void give(Real* plane, Real bias) const {
    std::fill(plane, plane + g.pixels(), bias);
    each_row([&](long pixel, int count, long from) {
      for (int i = 0; i < count; ++i) plane[pixel + i * g.stride_w] += at[from + i];
    });
  }
};

// LANES places at once under all taps. T: the number of taps where it is known, so that the loop unrolls.
template <int T>
DEVICE Vector under_taps(const Real* at, const long* offset, const Real* weights, int taps, Real bias) {
  Vector sum = all(bias);
  for (int t = 0; t < (T ? T : taps); ++t) sum += weights[t] * load(at + offset[t]);
  return sum;
}

template <int T>
DEVICE void depthwise_plane(const Phases& phases, const Real* weights, const long* offset, Real bias, bool relu, Real* map) {
  const Window& g = phases.g;
  const int taps = g.taps();
  for (int y = 0; y < g.out_height; ++y, map += g.out_width)
    for (int x = 0; x < g.out_width; x += LANES) {
      const int left = g.out_width - x;
      if (left < LANES && x > 0) x -= LANES - left;  // the last vector of a row begins earlier
      Vector sum = under_taps<T>(phases.at + long(y) * phases.pitch + x, offset, weights, taps, bias);
      if (relu) sum = sum < 0 ? Vector{} : sum;
      if (left < LANES && x == 0) std::memcpy(map, &sum, left * sizeof(Real));
      else store(map + x, sum);
    }
}

DEVICE const long* offsets(const Phases& phases) {
  long* offset = reinterpret_cast<long*>(scratch(5, phases.g.taps() * sizeof(long) / sizeof(Real)));
  for (int t = 0; t < phases.g.taps(); ++t) offset[t] = phases.offset(t);
  return offset;
}
