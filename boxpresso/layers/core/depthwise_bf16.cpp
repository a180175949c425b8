// depthwise_bf16.cpp: depthwise_last.h's rows of a map in bfloat16, on CPUs that have it, and windows of 3 x 3 taps by whole cache lines.
#include "bf16.h"
#include "depthwise_last.h"

#if BF16

constexpr int LINE = 2 * LANES;  // channels that are done together: those at even places and those at odd ones

// Windows of 3 x 3 taps over LINE channels from `c` on, or fewer, of a row of places; [low, high) are those whose windows lie inside
// the image along x. Parameters are in lines: the LANES channels at even places, then those at odd ones.
template <int STRIDE, bool PART, bool SLOPED>
DEVICE void three_of_line(const Row<bfloat16, bfloat16>& r, int low, int high, int c) {
  constexpr int TOGETHER = STRIDE == 1 ? 4 : 2;  // places: their sums, and the weights, are in registers
  const Window& g = r.g;
  const int count = min(LINE, g.channels - c), begin = r.first, end = r.last;
  const long long pitch = r.l.bottom_pitch, top_pitch = r.l.top_pitch, other_pitch = r.l.other_pitch, rows = r.line;
  const bfloat16* const corner = r.image + c - g.pad_w * pitch;
  const bfloat16* const other = r.e.other ? r.e.other + c : nullptr;
  bfloat16* const to = r.map + c;
  const Vector none = {};
  const Real *bias = r.e.bias ? r.e.bias + c : nullptr, *slopes = r.e.slopes ? r.e.slopes + c : nullptr;
  const auto ends_even = Ends<SLOPED>::with(r.e, bias ? load(bias) : -none, slopes ? load(slopes) : none);
  const auto ends_odd = Ends<SLOPED>::with(r.e, bias ? load(bias + LANES) : -none, slopes ? load(slopes + LANES) : none);
  Vector weight[9][2];
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) weight[i][0] = load(r.weights + i * r.apart + c), weight[i][1] = load(r.weights + i * r.apart + c + LANES);
  const auto take = [=](const bfloat16* from, Vector& even, Vector& odd) __attribute__((always_inline)) {
    split(PART ? load_pairs_part(from, count) : load_pairs(from), even, odd);
  };
  // COUNT neighbouring places from x on, of whose rows of taps [left, right) lie inside the image.
  const auto near = [=](auto number, int x, int left, int right) __attribute__((always_inline)) {
    constexpr int COUNT = number;
    const bfloat16* at = corner + x * STRIDE * pitch;
    Vector even[COUNT] = {}, odd[COUNT] = {};
#pragma GCC unroll 3
    for (int ky = 0; ky < 3; ++ky) {
      if (ky < begin || ky >= end) continue;
      const bfloat16* row = at + ky * rows;
#pragma GCC unroll 32
      for (int p = 0; p < (COUNT - 1) * STRIDE + 3; ++p) {  // each pixel is read once
        if (COUNT == 1 && (p < left || p >= right)) continue;
        Vector low, high;
        take(row + p * pitch, low, high);
#pragma GCC unroll 3
        for (int kx = 0; kx < 3; ++kx)
          if (p >= kx && (p - kx) % STRIDE == 0 && (p - kx) / STRIDE < COUNT) {
            even[(p - kx) / STRIDE] = fused(weight[3 * ky + kx][0], low, even[(p - kx) / STRIDE]);
            odd[(p - kx) / STRIDE] = fused(weight[3 * ky + kx][1], high, odd[(p - kx) / STRIDE]);
          }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < COUNT; ++i) {
      Vector low = even[i] + ends_even.bias, high = odd[i] + ends_odd.bias;
      if (other) {
        Vector a, b;
        take(other + (x + i) * other_pitch, a, b);
        low += a, high += b;
      }
      const Pairs pairs = pairs_by_lane(Ends<SLOPED>::finish(ends_even, low), Ends<SLOPED>::finish(ends_odd, high));
      if (PART) store_pairs_part(to + (x + i) * top_pitch, pairs, count);
      else std::memcpy(to + (x + i) * top_pitch, &pairs, sizeof pairs);
    }
  };
  const auto edge = [&](int x) {
    const int from = x * STRIDE - g.pad_w;
    near(std::integral_constant<int, 1>(), x, max(0, -from), min(3, g.width - from));
  };
  int x = 0;
  for (; x < low; ++x) edge(x);
  for (; x + TOGETHER <= high; x += TOGETHER) near(std::integral_constant<int, TOGETHER>(), x, 0, 3);
  for (; x < g.out_width; ++x) edge(x);
}

template <int STRIDE>
DEVICE void three_by_lines(const Row<bfloat16, bfloat16>& r, int low, int high) {
  const bool slope = !r.e.bounded();
  for (int c = 0; c < r.g.channels; c += LINE) {
    const bool part = c + LINE > r.g.channels;
    if (part && slope) three_of_line<STRIDE, true, true>(r, low, high, c);
    else if (part) three_of_line<STRIDE, true, false>(r, low, high, c);
    else if (slope) three_of_line<STRIDE, false, true>(r, low, high, c);
    else three_of_line<STRIDE, false, false>(r, low, high, c);
  }
}

#endif

// As depthwise_last: weights and sums are of Real. The map is stored in bfloat16, or as floats, the one of the two that is there.
// n: images x rows of the map.
KERNEL depthwise_bf16(int n, const bfloat16* image, const Real* weights, const Real* bias, const Real* slopes, const bfloat16* other,
                      bfloat16* map, Real* floats, Geometry geometry, Layout l) {
#if BF16
  if (map) depthwise(n, image, weights, bias, slopes, other, map, geometry, l);
  else depthwise(n, image, weights, bias, slopes, other, floats, geometry, l);
#endif
}

// Parameters for depthwise_three_bf16, each row of `from` a number a channel: of each 2 x LANES channels those at even places, then
// those at odd ones. to: rows of `room` numbers, a multiple of 2 x LANES. n: rows.
KERNEL split_bf16(int n, const Real* from, Real* to, int channels, int room) {
  GRID_LOOP(row, n)
    for (int i = 0; i < room; ++i) {
      const int c = i / (2 * LANES) * 2 * LANES + i % LANES * 2 + i / LANES % 2;
      to[(long long)row * room + i] = c < channels ? from[(long long)row * channels + c] : Real(0);
    }
}

// The same for windows of 3 x 3 taps without dilation, of strides 1 and 2, into a map in bfloat16. weights, bias and slopes: from
// split_bf16; each tap is `room` behind the one before.
KERNEL depthwise_three_bf16(int n, const bfloat16* image, const Real* weights, const Real* bias, const Real* slopes,
                            const bfloat16* other, bfloat16* map, Geometry geometry, Layout l, int room) {
#if BF16
  const Window g(geometry);
  rows_of(n, image, weights, bias, slopes, other, map, g, l, room, [&](const auto& row, int low, int high) {
    if (g.stride_w == 1) three_by_lines<1>(row, low, high);
    else three_by_lines<2>(row, low, high);
  });
#endif
}
