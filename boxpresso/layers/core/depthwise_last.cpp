// depthwise_last.cpp: a filter for each channel of a channels-last image on the host, for a plan at TEST. One tap is a factor
// for each channel, without filters a copy: so this also does what BatchNorm, Scale, an activation, a sum or a copy would.
#include "epilogue.h"
#include "geometry.h"

constexpr int NEAR = 4;  // neighbouring places that are summed together
#define INLINE static inline __attribute__((always_inline))

// LANES channels of a pixel, or fewer.
template <bool PART>
INLINE Vector pixel_of(const Real* at, int count) {
  return PART ? load_part(at, count) : load(at);
}

// What a row of the map is made of.
struct Row {
  const Window& g;
  const Layout& l;
  const Epilogue& e;
  const Real *image, *weights;  // of the row's first tap, and of channel 0: each tap's `apart`
  Real* map;
  long apart, line, pixel, step;  // elements between taps' weights, rows of taps, taps of a row, places
  int first, last;                // the rows of taps that lie inside the image

  template <bool PART>
  INLINE void give(const Row& r, int x, int c, Vector value) {
    const int count = r.g.channels - c;
    value = r.e(value, c, long(x) * r.l.other_pitch, PART ? count : LANES);
    if (PART) store_part(r.map + long(x) * r.l.top_pitch + c, value, count);
    else store(r.map + long(x) * r.l.top_pitch + c, value);
  }
  // Places [x, x + COUNT), whose windows lie inside the image along x. TAPS: of a row, touching, in STRIDE steps; 0: any.
  template <int COUNT, int TAPS, int STRIDE, bool PART>
  INLINE void near(const Row& r, int x, int c) {
    const int count = r.g.channels - c, taps = TAPS ? TAPS : r.g.kernel_w;
    const Real* at = r.image + long(x * r.g.stride_w - r.g.pad_w) * r.l.bottom_pitch + c;
    const Real* w = r.weights + c;
    Vector sum[COUNT] = {};
    for (int ky = r.first; ky < r.last; ++ky) {
      const Real* row = at + ky * r.line;
      const Real* of_row = w + ky * taps * r.apart;
      if constexpr (TAPS > 0) {
        Vector weight[TAPS];
#pragma GCC unroll 8
        for (int kx = 0; kx < TAPS; ++kx) weight[kx] = load(of_row + kx * r.apart);
#pragma GCC unroll 16
        for (int p = 0; p < (COUNT - 1) * STRIDE + TAPS; ++p) {  // each pixel is read once
          const Vector d = pixel_of<PART>(row + p * r.pixel, count);
#pragma GCC unroll 8
          for (int kx = 0; kx < TAPS; ++kx)
            if (p >= kx && (p - kx) % STRIDE == 0 && (p - kx) / STRIDE < COUNT) sum[(p - kx) / STRIDE] += weight[kx] * d;
        }
      } else {
        for (int kx = 0; kx < taps; ++kx) {
          const Vector weight = r.weights ? load(of_row + kx * r.apart) : all(1);
#pragma GCC unroll 8
          for (int i = 0; i < COUNT; ++i) sum[i] += weight * pixel_of<PART>(row + i * r.step + kx * r.pixel, count);
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < COUNT; ++i) give<PART>(r, x + i, c, sum[i]);
  }
  // A place whose window may hang over an edge.
  void edge(int x, int c) const {
    const int count = g.channels - c;
    Vector sum = {};
    for (int ky = first; ky < last; ++ky)
      for (int kx = 0; kx < g.kernel_w; ++kx) {
        const int at = x * g.stride_w - g.pad_w + kx * g.dilation_w;
        if (at < 0 || at >= g.width) continue;
        const Real* tap = image + ky * line + long(at) * l.bottom_pitch + c;
        const Vector pixel = count >= LANES ? load(tap) : load_part(tap, count);
        sum += weights ? load(weights + (ky * g.kernel_w + kx) * apart + c) * pixel : pixel;
      }
    if (count >= LANES) give<false>(*this, x, c, sum);
    else give<true>(*this, x, c, sum);
  }
  // All places; [low, high) are those whose windows lie inside the image along x. Places come before channels, so that memory
  // is walked in its order.
  template <int TAPS, int STRIDE>
  void run(int low, int high) const {
    for (int x = 0; x < g.out_width;) {
      const bool inside = x >= low && x + NEAR <= high;
      int c = 0;
      if (inside) {
        for (; c + LANES <= g.channels; c += LANES) near<NEAR, TAPS, STRIDE, false>(*this, x, c);
        if (c < g.channels) near<NEAR, TAPS, STRIDE, true>(*this, x, c);
        x += NEAR;
      } else {
        for (; c < g.channels; c += LANES) edge(x, c);
        ++x;
      }
    }
  }
};

// map = activation(filters * image + bias + other). weights: [tap][channel], each tap padded to 16 channels; null for a copy of
// one tap. n: images x rows of the map.
KERNEL depthwise_last(int n, const Real* image, const Real* weights, const Real* bias, const Real* slopes, const Real* other,
                      Real* map, Geometry geometry, Layout l) {
  const Window g(geometry);
  const long apart = (g.channels + 15) / 16 * 16, pixel = long(l.bottom_pitch) * g.dilation_w;
  const long line = long(l.bottom_pitch) * g.width * g.dilation_h, step = long(l.bottom_pitch) * g.stride_w;
  const int low = min(g.out_width, (g.pad_w + g.stride_w - 1) / g.stride_w);
  const int room = g.width + g.pad_w - (g.kernel_w - 1) * g.dilation_w - 1;
  const int high = room < 0 ? low : max(low, min(g.out_width, room / g.stride_w + 1));
  const bool three = weights && g.kernel_w == 3 && g.dilation_w == 1;
  BLOCK_LOOP(block, n) {
    const int number = block / g.out_height, oy = block % g.out_height, y = oy * g.stride_h - g.pad_h;
    const int first = y < 0 ? (-y + g.dilation_h - 1) / g.dilation_h : 0;
    const int last = y >= g.height ? first : max(first, min(g.kernel_h, (g.height - y + g.dilation_h - 1) / g.dilation_h));
    const long place = long(oy) * g.out_width;
    const Epilogue e(l, bias, slopes, other ? other + long(number) * l.other_step + place * l.other_pitch : nullptr);
    const Row row = {g, l, e, image + long(number) * l.bottom_step + long(y) * g.width * l.bottom_pitch, weights,
                     map + long(number) * l.top_step + place * l.top_pitch, apart, line, pixel, step, first, last};
    if (three && g.stride_w == 1) row.run<3, 1>(low, high);
    else if (three && g.stride_w == 2) row.run<3, 2>(low, high);
    else row.run<0, 1>(low, high);
  }
}
