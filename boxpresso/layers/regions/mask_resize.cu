// mask_resize.cu: bilinear interpolation of planes, the first pixels on each other.
#include "tile.h"
#include "warp.h"

// Where pixel `at` of `out` lies among `size` pixels.
DEVICE Place place(int at, int size, int out) {
  Place p = {-1, -1, 0};
  neighbours_within(at * (Real(size) / Real(out)), size, &p.low, &p.high, &p.part);
  return p;
}

// A block is a plane.
KERNEL mask_resize_forward(int n, const Real* bottom, Real* top, int height, int width, int out_height, int out_width) {
  BLOCK_LOOP(p, n) {
    const Real* plane = bottom + (long long)p * height * width;
    Real* out = top + (long long)p * out_height * out_width;
    TILE_LOOP(i, j, out_height, out_width) {
      const Place y = place(i, height, out_height), x = place(j, width, out_width);
      out[i * out_width + j] = sample_at(plane, width, y, x);
    }
  }
}

// A block owns the plane that it adds to, on a GPU a thread a row of it, so that sums have one order.
KERNEL mask_resize_backward(int n, const Real* top_diff, Real* diff, int height, int width, int out_height, int out_width) {
  BLOCK_LOOP(p, n) {
    Real* plane = diff + (long long)p * height * width;
    const Real* given = top_diff + (long long)p * out_height * out_width;
    THREAD_LOOP(i, height * width) plane[i] = 0;
    BARRIER();
    const auto add_row = [&](int i, const Place& y, int first, int end) {
      for (int j = 0; j < out_width; ++j) {
        const Real gradient = given[i * out_width + j];
        visit_pixels(width, y, place(j, width, out_width), [&](int pixel, Real weight) {
          if (pixel >= first && pixel < end) plane[pixel] += weight * gradient;
        });
      }
    };
#if defined(__CUDACC__)
    THREAD_LOOP(h, height)
      for (int i = 0; i < out_height; ++i) {
        const Place y = place(i, height, out_height);
        if (y.low >= 0 && (y.low == h || y.high == h)) add_row(i, y, h * width, (h + 1) * width);
      }
#else
    for (int i = 0; i < out_height; ++i) add_row(i, place(i, height, out_height), 0, height * width);
#endif
  }
}
