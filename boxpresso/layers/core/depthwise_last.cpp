// depthwise_last.cpp: a filter for each channel of a channels-last image on the host, for a plan at TEST. One tap is a factor
// for each channel, without filters a copy: so this also does what BatchNorm, Scale, an activation, a sum or a copy would.
#include "epilogue.h"
#include "geometry.h"

constexpr int NEAR = 4;  // neighbouring places that are summed together

// COUNT neighbouring places whose windows lie inside the image along x. at: of the first tap; first, last: the rows of taps.
template <int COUNT>
DEVICE void near_places(const Window& g, const Real* at, long line, long pixel, long apart, const Vector* w, int first, int last,
                        Vector* sum) {
  for (int i = 0; i < COUNT; ++i) sum[i] = Vector{};
  for (int ky = first; ky < last; ++ky) {
    const Real* row = at + ky * line;
    const Vector* weights = w + ky * g.kernel_w;
    for (int kx = 0; kx < g.kernel_w; ++kx)
#pragma GCC unroll 4
      for (int i = 0; i < COUNT; ++i) sum[i] += weights[kx] * load(row + i * apart + kx * pixel);
  }
}
// The same for 3 taps a row, whose weights stay in registers.
template <int COUNT, int STRIDE>
DEVICE void near_places_3(const Real* at, long line, long pixel, const Vector* w, int first, int last, Vector* sum) {
  for (int i = 0; i < COUNT; ++i) sum[i] = Vector{};
  for (int ky = first; ky < last; ++ky) {
    const Real* row = at + ky * line;
    Vector d[(COUNT - 1) * STRIDE + 3];
#pragma GCC unroll 16
    for (int x = 0; x < (COUNT - 1) * STRIDE + 3; ++x) d[x] = load(row + x * pixel);
#pragma GCC unroll 4
    for (int i = 0; i < COUNT; ++i)
      sum[i] += w[3 * ky] * d[i * STRIDE] + w[3 * ky + 1] * d[i * STRIDE + 1] + w[3 * ky + 2] * d[i * STRIDE + 2];
  }
}

// map = activation(filters * image + bias + other). weights: [tap][channel], each tap padded to whole vectors; null for a copy of
// one tap. n: images x rows of the map.
KERNEL depthwise_last(int n, const Real* image, const Real* weights, const Real* bias, const Real* slopes, const Real* other,
                      Real* map, Geometry geometry, Layout layout) {
  const Window g(geometry);
  const int channels = g.channels, padded = (channels + LANES - 1) / LANES * LANES;
  const long pixel = long(layout.bottom_pitch) * g.dilation_w, line = long(layout.bottom_pitch) * g.width * g.dilation_h;
  const long apart = long(layout.bottom_pitch) * g.stride_w;
  // Places whose windows lie inside the image along x.
  const int low = min(g.out_width, (g.pad_w + g.stride_w - 1) / g.stride_w);
  const int room = g.width + g.pad_w - (g.kernel_w - 1) * g.dilation_w - 1;
  const int high = room < 0 ? low : max(low, min(g.out_width, room / g.stride_w + 1));
  const bool three = g.kernel_w == 3 && g.dilation_w == 1 && g.stride_w <= 2;
  Vector* w = reinterpret_cast<Vector*>(scratch(3, size_t(g.taps()) * LANES));
  BLOCK_LOOP(block, n) {
    const int number = block / g.out_height, oy = block % g.out_height, y = oy * g.stride_h - g.pad_h;
    const int first = y < 0 ? (-y + g.dilation_h - 1) / g.dilation_h : 0;
    const int last = y >= g.height ? first : max(first, min(g.kernel_h, (g.height - y + g.dilation_h - 1) / g.dilation_h));
    const Real* image_row = image + long(number) * layout.bottom_step + long(y) * g.width * layout.bottom_pitch;
    Real* map_row = map + long(number) * layout.top_step + long(oy) * g.out_width * layout.top_pitch;
    const Epilogue e(layout, bias, slopes,
                     other ? other + long(number) * layout.other_step + long(oy) * g.out_width * layout.other_pitch : nullptr);
    for (int c = 0; c < channels; c += LANES) {
      const int count = channels - c;
      for (int t = 0; t < g.taps(); ++t) w[t] = weights ? load(weights + long(t) * padded + c) : all(1);
      const Real* from = image_row + c;
      auto give = [&](int x, Vector value) {
        value = e(value, c, long(x) * layout.other_pitch, count);
        if (count >= LANES) store(map_row + long(x) * layout.top_pitch + c, value);
        else store_part(map_row + long(x) * layout.top_pitch + c, value, count);
      };
      auto one = [&](int x) {  // at an edge, or of less than a vector
        Vector sum = {};
        for (int ky = first; ky < last; ++ky)
          for (int kx = 0; kx < g.kernel_w; ++kx) {
            const int at = x * g.stride_w - g.pad_w + kx * g.dilation_w;
            if (at < 0 || at >= g.width) continue;
            const Real* tap = from + ky * line + long(at) * layout.bottom_pitch;
            sum += w[ky * g.kernel_w + kx] * (count >= LANES ? load(tap) : load_part(tap, count));
          }
        give(x, sum);
      };
      int x = 0;
      for (; x < low; ++x) one(x);
      if (count >= LANES)
        for (; x + NEAR <= high; x += NEAR) {
          Vector sum[NEAR];
          const Real* at = from + long(x * g.stride_w - g.pad_w) * layout.bottom_pitch;
          if (three && g.stride_w == 1) near_places_3<NEAR, 1>(at, line, pixel, w, first, last, sum);
          else if (three) near_places_3<NEAR, 2>(at, line, pixel, w, first, last, sum);
          else near_places<NEAR>(g, at, line, pixel, apart, w, first, last, sum);
          for (int i = 0; i < NEAR; ++i) give(x + i, sum[i]);
        }
      for (; x < g.out_width; ++x) one(x);
    }
  }
}
