// depthwise_int8.cpp: a filter for each channel of a channels-last image in 8 bits. Terms are whole numbers below 2^16 and there are
// at most 512 of them, 512 * 255 * 127 < 2^24, so that floats hold their sums exactly: this is the arithmetic of whole numbers too (int8.h), in the registers that
// have a product and a sum in one instruction.
#include "../../device/int8.h"
#include "../core/geometry.h"

constexpr int NEAR = REGISTERS < 32 ? 4 : 8;  // neighbouring places that are summed together

template <class Top>
struct Row {
  const Window& g;
  const Int8Layout& l;
  const Int8Epilogue& e;
  const uint8_t* image;  // of the row's first tap
  const float* weights;
  Top* map;
  const uint8_t* other;
  long long apart;
  int first, last;  // the rows of taps that lie inside the image

  // SUMS channels of all places, with windows of 3 x 3 taps: what places have in common stays in registers, and each pixel of a row
  // of taps is read once for the places that it is under. [low, high): places whose windows lie inside the image along x.
  template <int STRIDE, bool SIMPLE>
  void three(int low, int high, int c) const {
    const int count = SIMPLE ? SUMS : g.channels - c, begin = first, end = last;
    const long long pitch = l.bottom_pitch, top_pitch = l.top_pitch, line = (long long)(g.width) * pitch;
    const uint8_t* const corner = image + c - (long long)(g.pad_w) * pitch;
    const Int8Epilogue ends = e;
    const auto own = e.own(c);
    const Sums zero = all_sums(l.zero);
    Top* const to = map + c;
    Floats weight[9];
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) weight[i] = *(const Floats*)(weights + i * apart + c);
    const auto near = [=](auto number, int x, int left, int right) __attribute__((always_inline)) {
      constexpr int COUNT = number;
      const uint8_t* at = corner + x * STRIDE * pitch;
      Floats sum[COUNT] = {};
#pragma GCC unroll 3
      for (int ky = 0; ky < 3; ++ky) {
        if (ky < begin || ky >= end) continue;
        const uint8_t* row = at + ky * line;
#pragma GCC unroll 32
        for (int p = 0; p < (COUNT - 1) * STRIDE + 3; ++p) {
          if (COUNT == 1 && (p < left || p >= right)) continue;
          const Floats pixel = to_floats(to_sums(load_bytes(row + p * pitch, count)) - zero);
#pragma GCC unroll 3
          for (int kx = 0; kx < 3; ++kx)
            if (p >= kx && (p - kx) % STRIDE == 0 && (p - kx) / STRIDE < COUNT) sum[(p - kx) / STRIDE] += weight[3 * ky + kx] * pixel;
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < COUNT; ++i) {
        const uint8_t* addend = SIMPLE || !other ? nullptr : other + (x + i) * (long long)(l.other_pitch) + c;
        ends.store(ends.template finish<SIMPLE>(nearest(sum[i]), own, addend, count), to + (x + i) * top_pitch, count);
      }
    };
    const auto edge = [&](int x) {
      const int from = x * STRIDE - g.pad_w;
      near(std::integral_constant<int, 1>(), x, max(0, -from), min(3, g.width - from));
    };
    int x = 0;
    for (; x < low; ++x) edge(x);
    for (; x + NEAR <= high; x += NEAR) near(std::integral_constant<int, NEAR>(), x, 0, 3);
    for (; x < g.out_width; ++x) edge(x);
  }
  template <int STRIDE>
  void run_three(int low, int high) const {
    for (int c = 0; c < g.channels; c += SUMS)
      if (e.simple() && c + SUMS <= g.channels) three<STRIDE, true>(low, high, c);
      else three<STRIDE, false>(low, high, c);
  }
  // A place of any window, of whose rows of taps [left, right) lie inside the image.
  void place(int x, int c, int left, int right) const {
    const int count = g.channels - c;
    const uint8_t* at = image + (long long)(x * g.stride_w - g.pad_w) * l.bottom_pitch + c;
    Floats sum = {};
    for (int ky = first; ky < last; ++ky)
      for (int kx = left; kx < right; ++kx) {
        const uint8_t* pixel = at + ((long long)(ky) * g.dilation_h * g.width + (long long)(kx) * g.dilation_w) * l.bottom_pitch;
        const Floats weight = *(const Floats*)(weights + (ky * g.kernel_w + kx) * apart + c);
        sum += weight * to_floats(to_sums(load_bytes(pixel, count)) - all_sums(l.zero));
      }
    const uint8_t* addend = other ? other + (long long)(x) * l.other_pitch + c : nullptr;
    e.store(e.template finish<false>(nearest(sum), e.own(c), addend, count), map + (long long)(x) * l.top_pitch + c, count);
  }
  void run() const {
    for (int x = 0; x < g.out_width; ++x) {
      const int from = x * g.stride_w - g.pad_w;
      const int left = from < 0 ? (-from + g.dilation_w - 1) / g.dilation_w : 0;
      const int right = from >= g.width ? left : min(g.kernel_w, (g.width - from + g.dilation_w - 1) / g.dilation_w);
      for (int c = 0; c < g.channels; c += SUMS) place(x, c, left, right);
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
  const bool three = g.kernel_h == 3 && g.kernel_w == 3 && g.dilation_h == 1 && g.dilation_w == 1 && g.stride_w <= 2;
  const Int8Epilogue e(l, bias, factors, slopes, other);
  BLOCK_LOOP(block, n) {
    const int number = block / g.out_height, oy = block % g.out_height, y = oy * g.stride_h - g.pad_h;
    const int first = y < 0 ? (-y + g.dilation_h - 1) / g.dilation_h : 0;
    const int last = y >= g.height ? first : max(first, min(g.kernel_h, (g.height - y + g.dilation_h - 1) / g.dilation_h));
    const long long place = (long long)(oy) * g.out_width;
    const Row<Top> row = {g, l, e, image + (long long)(number) * l.bottom_step + (long long)(y) * g.width * l.bottom_pitch, weights,
                          map + (long long)(number) * l.top_step + place * l.top_pitch,
                          other ? other + (long long)(number) * l.other_step + place * l.other_pitch : nullptr,
                          (g.channels + 15) / 16 * 16, first, last};
    if (three && g.stride_w == 1) row.template run_three<1>(low, high);
    else if (three) row.template run_three<2>(low, high);
    else row.run();
  }
}

// map, or with a null one real = activation(filters * image + bias + other). weights: whole numbers, [tap][channel], each tap padded
// to 16 channels; bias, factors and slopes padded too. n: images x rows of the map.
KERNEL depthwise_int8(int n, const uint8_t* image, const float* weights, const int* bias, const float* factors, const float* slopes,
                      const uint8_t* other, uint8_t* map, float* real, Geometry geometry, Int8Layout layout) {
  if (map) depthwise(n, image, weights, bias, factors, slopes, other, map, geometry, layout);
  else depthwise(n, image, weights, bias, factors, slopes, other, real, geometry, layout);
}
