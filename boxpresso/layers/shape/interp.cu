// interp.cu: bilinear interpolation of planes, or of what a margin of `cut` pixels leaves of them.
#include "kernel.h"

struct Place { int low, high; Real part; };  // the pixels below and above, and the part of the upper one

// Where pixel `at` of `out` lies among `size` pixels.
DEVICE Place place(int at, int size, int out) {
  const Real x = out > 1 ? at * (Real(size - 1) / (out - 1)) : Real(0);
  const int low = min(int(x), size - 1), high = min(low + 1, size - 1);
  return {low, high, low == high ? Real(0) : x - low};
}

// n: rows of the top
KERNEL interp_forward(int n, const Real* bottom, Real* top, int rows, int columns, int height, int width, int cut,
                      int out_height, int out_width) {
  BLOCK_LOOP(row, n) {
    const Place y = place(row % out_height, height, out_height);
    const Real* plane = bottom + row / out_height * rows * columns + cut * columns + cut;
    const Real *low = plane + y.low * columns, *high = plane + y.high * columns;
    THREAD_LOOP(j, out_width) {
      const Place x = place(j, width, out_width);
      const Real above = (1 - x.part) * low[x.low] + x.part * low[x.high];
      const Real below = (1 - x.part) * high[x.low] + x.part * high[x.high];
      top[row * out_width + j] = (1 - y.part) * above + y.part * below;
    }
  }
}

// n: planes; a block owns what it adds to
KERNEL interp_backward(int n, const Real* top_diff, Real* bottom_diff, int rows, int columns, int height, int width,
                       int cut, int out_height, int out_width) {
  SUMS_IN_ANY_ORDER;
  BLOCK_LOOP(p, n) {
    Real* whole = bottom_diff + p * rows * columns;
    THREAD_LOOP(i, rows * columns) whole[i] = 0;
    BARRIER();
    Real* plane = whole + cut * columns + cut;
    for (int i = 0; i < out_height; ++i) {
      const Place y = place(i, height, out_height);
      THREAD_LOOP(j, out_width) {
        const Place x = place(j, width, out_width);
        const Real g = top_diff[(p * out_height + i) * out_width + j];
        add(plane + y.low * columns + x.low, (1 - y.part) * (1 - x.part) * g);
        add(plane + y.low * columns + x.high, (1 - y.part) * x.part * g);
        add(plane + y.high * columns + x.low, y.part * (1 - x.part) * g);
        add(plane + y.high * columns + x.high, y.part * x.part * g);
      }
    }
  }
}
