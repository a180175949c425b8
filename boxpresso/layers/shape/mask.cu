// mask.cu: the vectors at some places, and back.
#include "kernel.h"

KERNEL mask_take(int n, const Real* bottom, const int* places, Real* top, int channels, int area) {
  GRID_LOOP(i, n) top[i] = bottom[i % channels * area + places[i / channels]];
}

KERNEL mask_put(int n, const Real* top_diff, const int* rows, Real* bottom_diff, int channels, int area) {
  GRID_LOOP(i, n) {
    const int row = rows[i % area];
    bottom_diff[i] = row < 0 ? Real(0) : top_diff[row * channels + i / area];
  }
}
