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

// The first place of a line whose pixel below is `low` or a later one.
DEVICE int first_above(int low, int size, int out) {
  int at = max(int((long long)max(low, 0) * out / size) - 2, 0);
  while (at < out && tap(at, size, out).low < low) ++at;
  return at;
}

// What a place takes of a pixel.
DEVICE Real weight_of(const Tap& at, int pixel) { return at.low == pixel ? 1 - at.part : at.high == pixel ? at.part : Real(0); }

// n: pixels of the bottom, each of which is in the places between those of its neighbours.
KERNEL resize_backward(int n, const Real* top_diff, Real* bottom_diff, int rows, int columns, int height, int width) {
  GRID_LOOP(pixel, n) {
    const int plane = pixel / (rows * columns), row = pixel / columns % rows, column = pixel % columns;
    const int first = first_above(column - 1, columns, width);
    const Real* from = top_diff + plane * height * width;
    Real sum = 0;
    for (int i = first_above(row - 1, rows, height); i < height; ++i) {
      const Tap y = tap(i, rows, height);
      if (y.low > row) break;
      for (int j = first; j < width; ++j) {
        const Tap x = tap(j, columns, width);
        if (x.low > column) break;
        sum += weight_of(y, row) * weight_of(x, column) * from[i * width + j];
      }
    }
    bottom_diff[pixel] = sum;
  }
}
