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

// A block owns the plane that it adds to.
KERNEL mask_resize_backward(int n, const Real* top_diff, Real* diff, int height, int width, int out_height, int out_width) {
  BLOCK_LOOP(p, n) {
    Real* plane = diff + (long long)p * height * width;
    const Real* given = top_diff + (long long)p * out_height * out_width;
    THREAD_LOOP(i, height * width) plane[i] = 0;
    BARRIER();
    TILE_LOOP(i, j, out_height, out_width) {
      const Place y = place(i, height, out_height), x = place(j, width, out_width);
      const Real gradient = given[i * out_width + j];
      visit_pixels(width, y, x, [&](int pixel, Real weight) { add(plane + pixel, weight * gradient); });
    }
  }
}
