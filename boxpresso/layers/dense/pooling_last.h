// pooling_last.h: the maximum or mean of each window of a channels-last image on the host, for a plan at TEST. From and To are what
// numbers are read as and stored as; sums are of Real.
#pragma once
#include <cfloat>

#include "../../device/epilogue.h"

// What Python fills in. inside: a mean is over the pixels inside the image alone, not over the padding too.
struct LastPool {
  int channels, height, width, out_height, out_width;
  int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, mean, inside;
};

// What a window without a number is stored as: -FLT_MAX, or in bfloat16 the least finite number, for -FLT_MAX would be rounded to -infinity.
template <class To>
constexpr Real nothing() {
  return sizeof(To) == 2 ? Real(-3.3895313892515355e38f) : Real(-FLT_MAX);
}

constexpr int NEAR = 4;  // neighbouring places that are done together

// COUNT neighbouring places of as many pixels, [y0, y1) x [x0, x1) of the first one's; at: of pixel (0, 0). size: what a sum is
// divided by.
template <int COUNT, bool PART, class From, class To>
DEVICE void places(const LastPool& g, const From* at, int pitch, int y0, int y1, int x0, int x1, Real size, To* to, int top_pitch,
                   int count) {
  Vector value[COUNT];
  for (int i = 0; i < COUNT; ++i) value[i] = g.mean ? Vector{} : all(nothing<To>());
  const long long step = (long long)(g.stride_w) * pitch, line = (long long)(g.width) * pitch;
  for (int iy = y0; iy < y1; ++iy) {
    const From* row = at + iy * line;
    for (int ix = x0; ix < x1; ++ix)
#pragma GCC unroll 4
      for (int i = 0; i < COUNT; ++i) {
        const From* from = row + (long long)ix * pitch + i * step;
        const Vector pixel = PART ? load_part(from, count) : load(from);
        value[i] = g.mean ? value[i] + pixel : max_lanes(pixel, value[i]);
      }
  }
#pragma GCC unroll 4
  for (int i = 0; i < COUNT; ++i) {
    if (g.mean) value[i] /= all(size);
    if (PART) store_part(to + (long long)i * top_pitch, value[i], count);
    else store(to + (long long)i * top_pitch, value[i]);
  }
}

// n: images x rows of the top x cuts of the channels.
template <class From, class To>
DEVICE void pool(int n, const From* bottom, To* top, const LastPool& g, const Layout& layout, int cuts) {
  const int vectors = (g.channels + LANES - 1) / LANES;
  BLOCK_LOOP(block, n) {
    const int cut = block % cuts, row = block / cuts, oy = row % g.out_height, number = row / g.out_height;
    const int y = oy * g.stride_h - g.pad_h, y0 = max(y, 0), y1 = min(y + g.kernel_h, g.height);
    const int down = min(y + g.kernel_h, g.height + g.pad_h) - y;
    const int first = int((long long)vectors * cut / cuts), end = int((long long)vectors * (cut + 1) / cuts);
    const From* image = bottom + (long long)number * layout.bottom_step;
    To* to = top + (long long)number * layout.top_step + (long long)oy * g.out_width * layout.top_pitch;
    for (int ox = 0; ox < g.out_width;) {
      const int x = ox * g.stride_w - g.pad_w, x0 = max(x, 0), x1 = min(x + g.kernel_w, g.width);
      const bool near = x >= 0 && ox + NEAR <= g.out_width && x + (NEAR - 1) * g.stride_w + g.kernel_w <= g.width;
      const int across = min(x + g.kernel_w, g.width + g.pad_w) - x;
      const Real size = g.inside ? Real(y1 - y0) * Real(x1 - x0) : Real(down) * Real(across);
      for (int v = first; v < end; ++v) {
        const int c = v * LANES, count = g.channels - c;
        const auto whole = near ? places<NEAR, false, From, To> : places<1, false, From, To>;
        const auto part = near ? places<NEAR, true, From, To> : places<1, true, From, To>;
        (count >= LANES ? whole : part)(g, image + c, layout.bottom_pitch, y0, y1, x0, x1, size, to + c, layout.top_pitch, count);
      }
      ox += near ? NEAR : 1;
      to += (long long)(near ? NEAR : 1) * layout.top_pitch;
    }
  }
}
