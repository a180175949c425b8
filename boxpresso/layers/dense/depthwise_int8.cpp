// depthwise_int8.cpp: a filter for each channel of a channels-last image in 8 bits. Terms are whole numbers below 2^16 and there are
// few of them, so that floats hold their sums exactly: this is the arithmetic of whole numbers too (int8.h), in the registers that
// have a product and a sum in one instruction.
#include "../../device/int8.h"
#include "../core/geometry.h"

constexpr int NEAR = 4;           // neighbouring places that are summed together
constexpr int MOST_TAPS = 512;    // of which a float holds the sum: 512 * 255 * 127 < 2^24
#define INLINE inline __attribute__((always_inline))

template <class Top>
struct Row {
  const Window& g;
  const Int8Layout& l;
  const Int8Epilogue& e;
  const uint8_t* image;  // of the row's first tap
  const float* weights;
  Top* map;
  long other, apart;
  int first, last;  // the rows of taps that lie inside the image

  // COUNT neighbouring places from x on, of whose rows of taps [left, right) lie inside the image.
  template <int COUNT, int TAPS>
  INLINE void near(int x, int c, int left, int right) const {
    const int count = g.channels - c;
    const long step = long(g.stride_w) * l.bottom_pitch, across = long(g.dilation_w) * l.bottom_pitch;
    const long line = long(g.dilation_h) * g.width * l.bottom_pitch;
    const uint8_t* at = image + long(x * g.stride_w - g.pad_w) * l.bottom_pitch + c;
    const Sums zero = all_sums(l.zero);
    Floats sum[COUNT] = {};
    for (int ky = first; ky < last; ++ky)
#pragma GCC unroll 3
      for (int kx = TAPS ? 0 : left; kx < (TAPS ? TAPS : right); ++kx) {
        const Floats weight = *(const Floats*)(weights + (ky * g.kernel_w + kx) * apart + c);
        const uint8_t* pixel = at + ky * line + kx * across;
#pragma GCC unroll 4
        for (int i = 0; i < COUNT; ++i) sum[i] += weight * to_floats(to_sums(load_bytes(pixel + i * step, count)) - zero);
      }
#pragma GCC unroll 4
    for (int i = 0; i < COUNT; ++i)
      e.store(e(nearest(sum[i]), c, other + long(x + i) * l.other_pitch, count), map + long(x + i) * l.top_pitch + c, count);
  }
  // All places; [low, high) are those whose windows lie inside the image along x.
  void run(int low, int high) const {
    for (int x = 0; x < g.out_width;) {
      const int from = x * g.stride_w - g.pad_w;
      if (x >= low && x + NEAR <= high) {
        for (int c = 0; c < g.channels; c += SUMS)
          if (g.kernel_w == 3) near<NEAR, 3>(x, c, 0, 3);
          else near<NEAR, 0>(x, c, 0, g.kernel_w);
        x += NEAR;
        continue;
      }
      const int left = from < 0 ? (-from + g.dilation_w - 1) / g.dilation_w : 0;
      const int right = from >= g.width ? left : min(g.kernel_w, (g.width - from + g.dilation_w - 1) / g.dilation_w);
      for (int c = 0; c < g.channels; c += SUMS) near<1, 0>(x, c, left, right);
      ++x;
    }
  }
};

template <class Top>
DEVICE void depthwise(int n, const uint8_t* image, const float* weights, const int* bias, const float* factors, const float* slopes,
                      const uint8_t* other, Top* map, const Geometry& geometry, const Int8Layout& l) {
  const Window g(geometry);
  const int low = min(g.out_width, (g.pad_w + g.stride_w - 1) / g.stride_w);
  const int room = g.width + g.pad_w - (g.kernel_w - 1) * g.dilation_w - 1;
  const int high = room < 0 ? low : max(low, min(g.out_width, room / g.stride_w + 1));
  const Int8Epilogue e(l, bias, factors, slopes, other);
  BLOCK_LOOP(block, n) {
    const int number = block / g.out_height, oy = block % g.out_height, y = oy * g.stride_h - g.pad_h;
    const int first = y < 0 ? (-y + g.dilation_h - 1) / g.dilation_h : 0;
    const int last = y >= g.height ? first : max(first, min(g.kernel_h, (g.height - y + g.dilation_h - 1) / g.dilation_h));
    const long place = long(oy) * g.out_width;
    const Row<Top> row = {g, l, e, image + long(number) * l.bottom_step + long(y) * g.width * l.bottom_pitch, weights,
                          map + long(number) * l.top_step + place * l.top_pitch,
                          long(number) * l.other_step + place * l.other_pitch, (g.channels + 15) / 16 * 16, first, last};
    row.run(low, high);
  }
}

// map, or with a null one real = activation(filters * image + bias + other). weights: whole numbers, [tap][channel], each tap padded
// to 16 channels; bias, factors and slopes padded too. n: images x rows of the map.
KERNEL depthwise_int8(int n, const uint8_t* image, const float* weights, const int* bias, const float* factors, const float* slopes,
                      const uint8_t* other, uint8_t* map, float* real, Geometry geometry, Int8Layout layout) {
  if (map) depthwise(n, image, weights, bias, factors, slopes, other, map, geometry, layout);
  else depthwise(n, image, weights, bias, factors, slopes, other, real, geometry, layout);
}
