// pooling_last.cpp: the maximum or mean of each window of a channels-last image on the host, for a plan at TEST.
#include "../../device/epilogue.h"

// What Python fills in. inside: a mean is over the pixels inside the image alone, not over the padding too.
struct LastPool {
  int channels, height, width, out_height, out_width;
  int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, mean, inside;
};

// n: images x rows of the top x cuts of the channels.
KERNEL pool_last(int n, const Real* bottom, Real* top, LastPool g, Layout layout, int cuts) {
  const int vectors = (g.channels + LANES - 1) / LANES;
  BLOCK_LOOP(block, n) {
    const int cut = block % cuts, row = block / cuts, oy = row % g.out_height, number = row / g.out_height;
    const int y = oy * g.stride_h - g.pad_h, y0 = max(y, 0), y1 = min(y + g.kernel_h, g.height);
    const int down = min(y + g.kernel_h, g.height + g.pad_h) - y;
    const Real* image = bottom + long(number) * layout.bottom_step;
    Real* to = top + long(number) * layout.top_step + long(oy) * g.out_width * layout.top_pitch;
    for (int ox = 0; ox < g.out_width; ++ox, to += layout.top_pitch) {
      const int x = ox * g.stride_w - g.pad_w, x0 = max(x, 0), x1 = min(x + g.kernel_w, g.width);
      const int across = min(x + g.kernel_w, g.width + g.pad_w) - x;
      const Real size = g.inside ? (y1 - y0) * (x1 - x0) : down * across;
      for (int v = int(long(vectors) * cut / cuts), end = int(long(vectors) * (cut + 1) / cuts); v < end; ++v) {
        const int c = v * LANES, count = g.channels - c;
        Vector value = g.mean ? Vector{} : all(-REAL_MAX);
        for (int iy = y0; iy < y1; ++iy) {
          const Real* at = image + (long(iy) * g.width + x0) * layout.bottom_pitch + c;
          for (int ix = x0; ix < x1; ++ix, at += layout.bottom_pitch) {
            const Vector pixel = count >= LANES ? load(at) : load_part(at, count);
            if (g.mean) value += pixel;
            else value = pixel > value ? pixel : value;
          }
        }
        if (g.mean) value /= all(size);
        if (count >= LANES) store(to + c, value);
        else store_part(to + c, value, count);
      }
    }
  }
}
