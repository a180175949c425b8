// grid_pooling.cu: the maxima of the cells of a grid over each plane.
#include "kernel.h"

// places: of each maximum, in its plane.
KERNEL grid_pooling_forward(int n, const Real* bottom, Real* top, int* places, int height, int width, int high, int wide) {
  GRID_LOOP(i, n) {
    const int row = i / wide % high, column = i % wide;
    const Real* plane = bottom + i / (high * wide) * height * width;
    const int below = ((row + 1) * height + high - 1) / high, right = ((column + 1) * width + wide - 1) / wide;
    int best = row * height / high * width + column * width / wide;
    for (int y = row * height / high; y < below; ++y)
      for (int x = column * width / wide; x < right; ++x)
        if (plane[y * width + x] > plane[best]) best = y * width + x;
    top[i] = plane[best];
    places[i] = best;
  }
}

KERNEL grid_pooling_backward(int n, const Real* top_diff, const int* places, Real* bottom_diff, int height, int width, int high,
                             int wide) {
  GRID_LOOP(i, n) {
    const int pixels = height * width, cells = high * wide, first = i / pixels * cells;
    Real sum = 0;
    for (int cell = first; cell < first + cells; ++cell)
      if (places[cell] == i % pixels) sum += top_diff[cell];
    bottom_diff[i] = sum;
  }
}
