// tile.cu: each run of `inner` elements `tiles` times, and the sum over these copies.
#include "kernel.h"

KERNEL tile_forward(int n, const Real* bottom, Real* top, int inner, int tiles) {
  GRID_LOOP(i, n) {
    Real* copy = top + i / inner * inner * tiles + i % inner;
    for (int tile = 0; tile < tiles; ++tile) copy[tile * inner] = bottom[i];
  }
}

KERNEL tile_backward(int n, const Real* top_diff, Real* bottom_diff, int inner, int tiles) {
  GRID_LOOP(i, n) {
    const Real* copy = top_diff + i / inner * inner * tiles + i % inner;
    Real sum = 0;
    for (int tile = 0; tile < tiles; ++tile) sum += copy[tile * inner];
    bottom_diff[i] = sum;
  }
}
