// mask_resize.cu: bilinear interpolation of planes, the first pixels on each other.
#include "tile.h"
#include "warp.h"

struct Place { int low, high; Real part; bool inside; };  // the pixels below and above, and the part of the upper one

// Where pixel `at` of `out` lies among `size` pixels.
DEVICE Place place(int at, int size, int out) {
  Place p = {0, 0, 0, false};
  p.inside = neighbours_within(at * (Real(size) / Real(out)), size, &p.low, &p.high, &p.part);
  return p;
}

// A block is a plane.
KERNEL mask_resize_forward(int n, const Real* bottom, Real* top, int height, int width, int out_height, int out_width) {
  BLOCK_LOOP(p, n) {
    const Real* plane = bottom + (long long)p * height * width;
    Real* out = top + (long long)p * out_height * out_width;
    TILE_LOOP(i, j, out_height, out_width) {
      const Place y = place(i, height, out_height), x = place(j, width, out_width);
      Real value = 0;
      if (y.inside && x.inside) {
        const Real *low = plane + y.low * width, *high = plane + y.high * width;
        value = (1 - y.part) * ((1 - x.part) * low[x.low] + x.part * low[x.high]) +
                y.part * ((1 - x.part) * high[x.low] + x.part * high[x.high]);
      }
      out[i * out_width + j] = value;
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
      if (y.inside && x.inside) {
        const Real g = given[i * out_width + j];
        add(plane + y.low * width + x.low, (1 - y.part) * (1 - x.part) * g);
        add(plane + y.low * width + x.high, (1 - y.part) * x.part * g);
        add(plane + y.high * width + x.low, y.part * (1 - x.part) * g);
        add(plane + y.high * width + x.high, y.part * x.part * g);
      }
    }
  }
}
