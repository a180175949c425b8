// depthwise_last.h: a filter for each channel of a channels-last image on the host, for a plan at TEST. One tap is a factor
// for each channel, without filters a copy: so this also does what BatchNorm, Scale, an activation, a sum or a copy would.
//
// From and To are what numbers are read as and stored as; sums are of Real.
#pragma once
#include "epilogue.h"
#include "geometry.h"

constexpr int NEAR = 4, WIDE = REGISTERS < 32 ? 4 : 8;  // neighbouring places that are summed together
#define INLINE static inline __attribute__((always_inline))

// LANES channels of a pixel, or fewer.
template <bool PART, class From>
INLINE Vector pixel_of(const From* at, int count) {
  return PART ? load_part(at, count) : load(at);
}

// What is done with sums of one vector of channels, all of it in registers: RELU, CLIP and no activation are bounds, LEAKY and
// SLOPES slopes below 0. NaN stays NaN.
template <bool SLOPED>
struct Ends {
  Vector bias, slope, least, most;

  template <class Other>
  INLINE Ends with(const EpilogueOf<Other>& e, Vector bias, Vector slopes) {
    return {bias, e.activation == SLOPES ? slopes : all(e.slope), e.least(), e.most()};
  }
  INLINE Vector finish(const Ends& ends, Vector value) {
    if (SLOPED) return value < 0 ? ends.slope * value : value;
    return min_lanes(ends.most, max_lanes(ends.least, value));
  }
};

// What a row of the map is made of.
template <class From, class To>
struct Row {
  const Window& g;
  const Layout& l;
  const EpilogueOf<From>& e;
  const From* image;    // of the row's first tap
  const Real* weights;  // of channel 0: each tap's `apart`
  To* map;
  long long apart, line, pixel, step;  // elements between taps' weights, rows of taps, taps of a row, places
  int first, last;                // the rows of taps that lie inside the image

  // Stores the sums of COUNT neighbouring places.
  template <int KIND, int COUNT, bool PART>
  INLINE void store_as(const Row& r, int x, int c, const Vector* sums) {
    const int count = r.g.channels - c;
    To* to = r.map + (long long)x * r.l.top_pitch + c;
#pragma GCC unroll 8
    for (int i = 0; i < COUNT; ++i) {
      const Vector value = r.e.template apply<KIND>(sums[i], c, (long long)(x + i) * r.l.other_pitch, PART ? count : LANES);
      if (PART) store_part(to + (long long)i * r.l.top_pitch, value, count);
      else store(to + (long long)i * r.l.top_pitch, value);
    }
  }
  template <int COUNT, bool PART>
  INLINE void give(const Row& r, int x, int c, const Vector* sums) {
    switch (r.e.activation) {
      case RELU: return store_as<RELU, COUNT, PART>(r, x, c, sums);
      case LEAKY: return store_as<LEAKY, COUNT, PART>(r, x, c, sums);
      case SLOPES: return store_as<SLOPES, COUNT, PART>(r, x, c, sums);
      case CLIP: return store_as<CLIP, COUNT, PART>(r, x, c, sums);
      default: return store_as<0, COUNT, PART>(r, x, c, sums);
    }
  }
  // LANES channels, or fewer, of all places, with windows of 3 x 3 taps; [low, high) as below. What all places have in common is
  // read once, before the first store: the compiler cannot know that no store changes it.
  template <int STRIDE, bool PART, bool SLOPED>
  void run_three(int low, int high, int c) const {
    const int count = g.channels - c, begin = first, end = last;
    const long long bottom_pitch = l.bottom_pitch, top_pitch = l.top_pitch, other_pitch = l.other_pitch, rows = line;
    const From* const corner = image + c - g.pad_w * bottom_pitch;
    const From* const other = e.other ? e.other + c : nullptr;
    To* const to = map + c;
    const auto ends = Ends<SLOPED>::with(e, e.bias ? load(e.bias + c) : -Vector{}, e.slopes ? load(e.slopes + c) : Vector{});
    Vector weight[9];
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) weight[i] = load(weights + i * apart + c);
    // COUNT neighbouring places from x on, of whose rows of taps [left, right) lie inside the image.
    const auto near = [=](auto number, int x, int left, int right) __attribute__((always_inline)) {
      constexpr int COUNT = number;
      const From* at = corner + x * STRIDE * bottom_pitch;
      Vector sum[COUNT] = {};
#pragma GCC unroll 3
      for (int ky = 0; ky < 3; ++ky) {
        if (ky < begin || ky >= end) continue;
        const From* row = at + ky * rows;
#pragma GCC unroll 32
        for (int p = 0; p < (COUNT - 1) * STRIDE + 3; ++p) {  // each pixel is read once
          if (COUNT == 1 && (p < left || p >= right)) continue;
          const Vector d = held(pixel_of<PART>(row + p * bottom_pitch, count));
#pragma GCC unroll 3
          for (int kx = 0; kx < 3; ++kx)
            if (p >= kx && (p - kx) % STRIDE == 0 && (p - kx) / STRIDE < COUNT) sum[(p - kx) / STRIDE] = fused(weight[3 * ky + kx], d, sum[(p - kx) / STRIDE]);
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < COUNT; ++i) {
        Vector value = sum[i] + ends.bias;
        if (other) value += pixel_of<PART>(other + (x + i) * other_pitch, count);
        value = Ends<SLOPED>::finish(ends, value);
        if (PART) store_part(to + (x + i) * top_pitch, value, count);
        else store(to + (x + i) * top_pitch, value);
      }
    };
    const auto edge = [&](int x) {
      const int from = x * STRIDE - g.pad_w;
      near(std::integral_constant<int, 1>(), x, max(0, -from), min(3, g.width - from));
    };
    int x = 0;
    for (; x < low; ++x) edge(x);
    for (; x + WIDE <= high; x += WIDE) near(std::integral_constant<int, WIDE>(), x, 0, 3);
    if (WIDE > NEAR && x + NEAR <= high) {
      near(std::integral_constant<int, NEAR>(), x, 0, 3);
      x += NEAR;
    }
    for (; x < g.out_width; ++x) edge(x);
  }
  // Places [x, x + COUNT) of any windows that lie inside the image along x.
  template <int COUNT, bool PART>
  INLINE void near(const Row& r, int x, int c) {
    const int count = r.g.channels - c, taps = r.g.kernel_w;
    const From* at = r.image + (long long)(x * r.g.stride_w - r.g.pad_w) * r.l.bottom_pitch + c;
    const Real* w = r.weights + c;
    Vector sum[COUNT] = {};
    for (int ky = r.first; ky < r.last; ++ky) {
      const From* row = at + ky * r.line;
      const Real* of_row = w + ky * taps * r.apart;
      for (int kx = 0; kx < taps; ++kx) {
        const Vector weight = r.weights ? load(of_row + kx * r.apart) : all(1);
#pragma GCC unroll 8
        for (int i = 0; i < COUNT; ++i) sum[i] = fused(weight, pixel_of<PART>(row + i * r.step + kx * r.pixel, count), sum[i]);
      }
    }
    give<COUNT, PART>(r, x, c, sum);
  }
  // A place whose window may hang over an edge.
  void edge(int x, int c) const {
    const int count = g.channels - c, left = x * g.stride_w - g.pad_w;
    const int begin = left < 0 ? (-left + g.dilation_w - 1) / g.dilation_w : 0;
    const int end = left >= g.width ? begin : min(g.kernel_w, (g.width - left + g.dilation_w - 1) / g.dilation_w);
    const From* at = image + (long long)left * l.bottom_pitch + c;
    Vector sum = {};
    for (int ky = first; ky < last; ++ky)
      for (int kx = begin; kx < end; ++kx) {
        const From* tap = at + ky * line + kx * pixel;
        const Vector value = count >= LANES ? load(tap) : load_part(tap, count);
        sum = weights ? fused(load(weights + (ky * g.kernel_w + kx) * apart + c), value, sum) : sum + value;
      }
    if (count >= LANES) give<1, false>(*this, x, c, &sum);
    else give<1, true>(*this, x, c, &sum);
  }
  // All places; [low, high) are those whose windows lie inside the image along x. Places come before channels, so that memory
  // is walked in its order.
  void run(int low, int high) const {
    for (int x = 0; x < g.out_width;) {
      const bool inside = x >= low && x + NEAR <= high;
      int c = 0;
      if (inside) {
        for (; c + LANES <= g.channels; c += LANES) near<NEAR, false>(*this, x, c);
        if (c < g.channels) near<NEAR, true>(*this, x, c);
        x += NEAR;
      } else {
        for (; c < g.channels; c += LANES) edge(x, c);
        ++x;
      }
    }
  }
  // The same for windows of 3 x 3 taps: channels come before places, for a line of a pixel is read in one turn alone.
  template <int STRIDE>
  void run_three(int low, int high) const {
    const bool slope = !e.bounded();
    for (int c = 0; c < g.channels; c += LANES) {
      const bool part = c + LANES > g.channels;
      if (part && slope) run_three<STRIDE, true, true>(low, high, c);
      else if (part) run_three<STRIDE, true, false>(low, high, c);
      else if (slope) run_three<STRIDE, false, true>(low, high, c);
      else run_three<STRIDE, false, false>(low, high, c);
    }
  }
  // A row of one channel without a window: its pixels lie beside each other.
  template <bool SLOPED>
  void run_flat() const {
    const auto ends = Ends<SLOPED>::with(e, e.bias ? all(*e.bias) : -Vector{}, all(e.slopes ? *e.slopes : 0));
    const Vector weight = all(weights ? *weights : 1);
    const From *const from = image, *const other = e.other;
    To* const to = map;
    const int width = g.out_width;
    for (int x = 0; x < width; x += LANES) {
      const int count = min(LANES, width - x);
      const bool whole = count == LANES;
      Vector value = weight * (whole ? load(from + x) : load_part(from + x, count)) + ends.bias;
      if (other) value += whole ? load(other + x) : load_part(other + x, count);
      value = Ends<SLOPED>::finish(ends, value);
      if (whole) store(to + x, value);
      else store_part(to + x, value, count);
    }
  }
};

// Calls run(row, low, high) for each row of the map; [low, high) are the places whose windows lie inside the image along x. weights:
// [tap][channel], each tap `apart` from the one before. n: images x rows of the map.
template <class From, class To, class Run>
DEVICE void rows_of(int n, const From* image, const Real* weights, const Real* bias, const Real* slopes, const From* other, To* map,
                    const Window& g, const Layout& l, long long apart, Run run) {
  const long long pixel = (long long)(l.bottom_pitch) * g.dilation_w;
  const long long line = (long long)(l.bottom_pitch) * g.width * g.dilation_h, step = (long long)(l.bottom_pitch) * g.stride_w;
  const int low = min(g.out_width, (g.pad_w + g.stride_w - 1) / g.stride_w);
  const int room = g.width + g.pad_w - (g.kernel_w - 1) * g.dilation_w - 1;
  const int high = room < 0 ? low : max(low, min(g.out_width, room / g.stride_w + 1));
  BLOCK_LOOP(block, n) {
    const int number = block / g.out_height, oy = block % g.out_height, y = oy * g.stride_h - g.pad_h;
    const int first = y < 0 ? (-y + g.dilation_h - 1) / g.dilation_h : 0;
    const int last = y >= g.height ? first : max(first, min(g.kernel_h, (g.height - y + g.dilation_h - 1) / g.dilation_h));
    const long long place = (long long)oy * g.out_width;
    const EpilogueOf<From> e(l, bias, slopes, other ? other + (long long)number * l.other_step + place * l.other_pitch : nullptr);
    const Row<From, To> row = {g, l, e, image + (long long)number * l.bottom_step + (long long)y * g.width * l.bottom_pitch, weights,
                               map + (long long)number * l.top_step + place * l.top_pitch, apart, line, pixel, step, first, last};
    run(row, low, high);
  }
}

// map = activation(filters * image + bias + other). weights: [tap][channel], each tap padded to 16 channels; null for a copy of
// one tap. n: images x rows of the map.
template <class From, class To>
DEVICE void depthwise(int n, const From* image, const Real* weights, const Real* bias, const Real* slopes, const From* other,
                      To* map, const Geometry& geometry, const Layout& l) {
  const Window g(geometry);
  const bool three = weights && g.kernel_h == 3 && g.kernel_w == 3 && g.dilation_w == 1 && g.stride_w <= 2;
  const bool touching = l.bottom_pitch == 1 && l.top_pitch == 1 && (!other || l.other_pitch == 1);
  const bool flat = g.channels == 1 && g.kernel_h * g.kernel_w == 1 && g.stride_w == 1 && !g.pad_w && touching;
  rows_of(n, image, weights, bias, slopes, other, map, g, l, (g.channels + 15) / 16 * 16, [&](const auto& row, int low, int high) {
    if (flat && row.first < row.last) row.e.bounded() ? row.template run_flat<false>() : row.template run_flat<true>();
    else if (three && g.stride_w == 1) row.template run_three<1>(low, high);
    else if (three) row.template run_three<2>(low, high);
    else row.run(low, high);
  });
}
