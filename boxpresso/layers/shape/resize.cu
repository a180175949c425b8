// resize.cu: bilinear interpolation of planes from their upper left corner on; what lies beyond the last row or column counts 0.
#include "kernel.h"

struct Tap { int low, high; Real part; };  // the pixels below and above, and the part of the upper one; high < 0: there is none

DEVICE Tap tap(int at, int size, int out) {
  const Real x = at * (Real(size) / out);
  const int low = min(int(x), size - 1);
  return {low, low + 1 < size ? low + 1 : -1, x - low};
}

KERNEL resize_forward(int n, const Real* bottom, Real* top, int rows, int columns, int height, int width) {
  GRID_LOOP(i, n) {
    const int plane = i / (height * width), at = i - plane * height * width;
    const Tap y = tap(at / width, rows, height), x = tap(at % width, columns, width);
    const Real* from = bottom + plane * rows * columns;
    Real sum = (1 - y.part) * (1 - x.part) * from[y.low * columns + x.low];
    if (x.high >= 0) sum += (1 - y.part) * x.part * from[y.low * columns + x.high];
    if (y.high >= 0) sum += y.part * (1 - x.part) * from[y.high * columns + x.low];
    if (x.high >= 0 && y.high >= 0) sum += y.part * x.part * from[y.high * columns + x.high];
    top[i] = sum;
  }
}

// n: planes; a block owns what it adds to
KERNEL resize_backward(int n, const Real* top_diff, Real* bottom_diff, int rows, int columns, int height, int width) {
  SUMS_IN_ANY_ORDER;
  BLOCK_LOOP(p, n) {
    Real* plane = bottom_diff + p * rows * columns;
    THREAD_LOOP(i, rows * columns) plane[i] = 0;
    BARRIER();
    for (int i = 0; i < height; ++i) {
      const Tap y = tap(i, rows, height);
      THREAD_LOOP(j, width) {
        const Tap x = tap(j, columns, width);
        const Real g = top_diff[(p * height + i) * width + j];
        add(plane + y.low * columns + x.low, (1 - y.part) * (1 - x.part) * g);
        if (x.high >= 0) add(plane + y.low * columns + x.high, (1 - y.part) * x.part * g);
        if (y.high >= 0) add(plane + y.high * columns + x.low, y.part * (1 - x.part) * g);
        if (x.high >= 0 && y.high >= 0) add(plane + y.high * columns + x.high, y.part * x.part * g);
      }
    }
  }
}
