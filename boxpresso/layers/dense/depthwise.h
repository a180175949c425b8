// depthwise.h: a filter for each plane, on the host. A plane is laid out with its padding, so that neighbouring places read
// neighbouring numbers under every tap, and rows of places are summed as vectors.
#pragma once
#include "window.h"

// to[x] = bias + the sum over taps of weights[t] * from[offset[t] + x]. T: the number of taps where it is known.
template <int T>
DEVICE void row_under_taps(const Real* from, const long long* offset, const Real* weights, int taps, Real bias, bool relu, Real* to,
                           int count) {
  for (int x = 0; x < count; x += LANES) {
    const int left = count - x;
    if (left < LANES && x > 0) x -= LANES - left;  // the last vector of a row begins earlier
    Vector sum = all(bias);
    for (int t = 0; t < (T ? T : taps); ++t) sum = fused(all(weights[t]), load(from + offset[t] + x), sum);
    if (relu) sum = sum < 0 ? Vector{} : sum;
    if (left < LANES && x == 0) store_part(to, sum, left);
    else store(to + x, sum);
  }
}

// The numbers of taps that 3 x 3 windows have, with strides 1 and 2, unrolled.
DEVICE void row_under(const Real* from, const long long* offset, const Real* weights, int taps, Real bias, bool relu, Real* to,
                      int count) {
  if (taps == 9) row_under_taps<9>(from, offset, weights, taps, bias, relu, to, count);
  else if (taps == 4) row_under_taps<4>(from, offset, weights, taps, bias, relu, to, count);
  else if (taps == 2) row_under_taps<2>(from, offset, weights, taps, bias, relu, to, count);
  else if (taps == 1) row_under_taps<1>(from, offset, weights, taps, bias, relu, to, count);
  else row_under_taps<0>(from, offset, weights, taps, bias, relu, to, count);
}

// A padded plane of the image cut by the phase of its rows and columns in the stride: place (y, x) finds tap t at
// [offset[t] + y * pitch + x].
struct Phases {
  struct Line {  // the pixels of one row in one phase
    long long pixel, to;
    int count;
  };
  const Window& g;
  int rows, pitch, count = 0;
  Real* at;
  Line* lines;
  long long* offset;

  explicit Phases(const Window& g) : g(g) {
    rows = g.out_height + (g.kernel_h - 1) * g.dilation_h / g.stride_h + 1;
    pitch = g.out_width + (g.kernel_w - 1) * g.dilation_w / g.stride_w + 1;
    const Count size = Count(rows) * pitch * g.stride_h * g.stride_w + LANES;
    at = scratch(3, size);
    std::memset(at, 0, size.value * sizeof(Real));  // the padding stays so
    lines = scratch<Line>(2, Count(g.height) * g.stride_w);
    offset = scratch<long long>(2, g.taps());
    for (int t = 0; t < g.taps(); ++t) {
      const int y = t / g.kernel_w * g.dilation_h, x = t % g.kernel_w * g.dilation_w;
      offset[t] = line(y) + (long long)(x % g.stride_w) * rows * pitch + x / g.stride_w;
    }
    for (int phase = 0; phase < g.stride_w; ++phase) {
      const int first = ((phase - g.pad_w) % g.stride_w + g.stride_w) % g.stride_w;  // the first pixel of this phase
      const int start = (first + g.pad_w) / g.stride_w;
      const int wide = min((g.width - first + g.stride_w - 1) / g.stride_w, pitch - start);
      for (int y = 0; y < g.height && wide > 0 && (y + g.pad_h) / g.stride_h < rows; ++y)
        lines[count++] = {(long long)y * g.width + first, line(y + g.pad_h) + (long long)phase * rows * pitch + start, wide};
    }
  }
  long long line(int y) const {  // of the padded plane's row y, phase 0
    return ((long long)(y % g.stride_h) * g.stride_w * rows + y / g.stride_h) * pitch;
  }
  void take(const Real* plane) const {
    for (int i = 0; i < count; ++i) {
      const Line& l = lines[i];
      const Real* __restrict__ from = plane + l.pixel;
      Real* __restrict__ to = at + l.to;
      if (g.stride_w == 1) copy(from, to, l.count);
      else if (g.stride_w == 2)
        for (int x = 0; x < l.count; ++x) to[x] = from[2 * x];
      else
        for (int x = 0; x < l.count; ++x) to[x] = from[x * g.stride_w];
    }
  }
};

// What the pixels of an image receive from the planes of a map, the adjoint of Phases: each pixel gathers the places that
// have it under a tap. Pixels of one phase in the stride share their taps.
struct Spread {
  struct Phase {
    int first, count;  // taps, in the lists below
    int start, from;   // the first pixel of a row, and where the places of its first tap lie
    int pixels;        // of a row
  };
  const Window& g;
  const int each;  // planes of the map for one of the image
  int top, left, rows, pitch, taps = 0;
  long long plane;  // elements of a padded plane of the map
  Real *at, *lines, *weights;
  long long* offset;
  int* tap;
  Phase* phases;

  Spread(const Window& g, int each) : g(g), each(each) {
    top = (g.kernel_h - 1) * g.dilation_h / g.stride_h, left = (g.kernel_w - 1) * g.dilation_w / g.stride_w;
    rows = top + (g.height - 1 + g.pad_h) / g.stride_h + 1;
    pitch = left + (g.width - 1 + g.pad_w) / g.stride_w + 1;
    plane = (long long)rows * pitch;
    const Count all = Count(plane) * each + LANES, wide = g.width / g.stride_w + 1 + LANES, most = Count(g.taps()) * each;
    at = scratch(3, all);
    std::memset(at, 0, all.value * sizeof(Real));
    lines = scratch(4, wide * g.stride_w + most);
    weights = lines + wide.value * g.stride_w;
    offset = scratch<long long>(2, most);
    phases = scratch<Phase>(2, Count(g.stride_h) * g.stride_w);
    tap = scratch<int>(2, most);
    for (int a = 0; a < g.stride_h; ++a)
      for (int b = 0; b < g.stride_w; ++b) find(a, b, phases[a * g.stride_w + b]);
  }
  void find(int a, int b, Phase& p) {  // the taps of rows of phase a and columns of phase b
    p.first = taps;
    for (int e = 0; e < each; ++e)
      for (int t = 0; t < g.taps(); ++t) {
        const int y = t / g.kernel_w * g.dilation_h - a, x = t % g.kernel_w * g.dilation_w - b;
        if (y % g.stride_h || x % g.stride_w) continue;
        offset[taps] = e * plane + (long long)(top - y / g.stride_h) * pitch + left - x / g.stride_w;
        tap[taps++] = e * g.taps() + t;
      }
    p.count = taps - p.first;
    p.start = ((b - g.pad_w) % g.stride_w + g.stride_w) % g.stride_w;
    p.from = (p.start + g.pad_w) / g.stride_w;
    p.pixels = max(0, (g.width - p.start + g.stride_w - 1) / g.stride_w);
  }
  void take(const Real* map) const {  // the planes of the map
    const int high = min(g.out_height, rows - top), wide = min(g.out_width, pitch - left);
    for (int e = 0; e < each; ++e)
      for (int y = 0; y < high; ++y)
        copy(map + (long long)e * g.places() + (long long)y * g.out_width, at + e * plane + (long long)(top + y) * pitch + left, wide);
  }
  void give(const Real* filters, Real bias, Real* image) const {
    for (int t = 0; t < taps; ++t) weights[t] = filters[tap[t]];
    const size_t wide = g.width / g.stride_w + 1 + LANES;
    for (int y = 0; y < g.height; ++y, image += g.width) {
      const Phase* p = phases + (y + g.pad_h) % g.stride_h * g.stride_w;
      const Real* from = at + (long long)((y + g.pad_h) / g.stride_h) * pitch;
      for (int b = 0; b < g.stride_w; ++b, ++p)
        row_under(from + p->from, offset + p->first, weights + p->first, p->count, bias, false,
                  g.stride_w == 1 ? image : lines + p->start * wide, p->pixels);
      if (g.stride_w == 2) {
        const Real *__restrict__ even = lines, *__restrict__ odd = lines + wide;
        for (int x = 0; x < g.width / 2; ++x) image[2 * x] = even[x], image[2 * x + 1] = odd[x];
        if (g.width % 2) image[g.width - 1] = even[g.width / 2];
      } else if (g.stride_w > 2) {
        for (int b = 0; b < g.stride_w; ++b)
          for (int x = 0; b + x * g.stride_w < g.width; ++x) image[b + x * g.stride_w] = lines[b * wide + x];
      }
    }
  }
  // The same place by place, for weights that zeros of the padding must not meet: infinite ones.
  void give_singly(const Real* map, const Real* filters, Real bias, Real* image) const {
    std::fill(image, image + g.pixels(), bias);
    for (int e = 0; e < each; ++e)
      for (int place = 0; place < g.places(); ++place, ++map)
        for (int t = 0; t < g.taps(); ++t) {
          const int y = place / g.out_width * g.stride_h - g.pad_h + t / g.kernel_w * g.dilation_h;
          const int x = place % g.out_width * g.stride_w - g.pad_w + t % g.kernel_w * g.dilation_w;
          if (y >= 0 && y < g.height && x >= 0 && x < g.width) image[y * g.width + x] = fused(filters[e * g.taps() + t], *map, image[y * g.width + x]);
        }
  }
};

// sums[t] += the sum over a plane's places of map * the pixel under tap t, in PARTS parts: place x of a row goes to x % PARTS. T: as
// above.
constexpr int PARTS = 16;  // whatever the machine's vectors
struct Parts {
  Vector of[PARTS / LANES];
};
template <int T>
DEVICE void sum_under_taps(const Phases& phases, const Real* map, int taps, Parts* sums) {
  const Window& g = phases.g;
  constexpr int ONCE = T ? T : 1;  // taps whose sums are in registers together
  for (int first = 0; first < taps; first += ONCE) {
    Parts sum[ONCE];
    for (int t = 0; t < ONCE; ++t) sum[t] = sums[first + t];
    const Real* row = map;
    for (int y = 0; y < g.out_height; ++y, row += g.out_width) {
      const Real* at = phases.at + (long long)y * phases.pitch;
      int x = 0;
      for (; x + PARTS <= g.out_width; x += PARTS)
        for (int v = 0; v < PARTS / LANES; ++v) {
          const Vector value = load(row + x + v * LANES);
          for (int t = 0; t < ONCE; ++t) sum[t].of[v] = fused(value, load(at + phases.offset[first + t] + x + v * LANES), sum[t].of[v]);
        }
      for (int v = 0; x < g.out_width; ++v, x += LANES) {
        const int rest = min(LANES, g.out_width - x);
        const Vector value = load_part(row + x, rest);
        for (int t = 0; t < ONCE; ++t) sum[t].of[v] = fused(value, load_part(at + phases.offset[first + t] + x, rest), sum[t].of[v]);
      }
    }
    for (int t = 0; t < ONCE; ++t) sums[first + t] = sum[t];
  }
}
