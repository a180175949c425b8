// permute.cu: top[i] = bottom[source(i)], and backward the same map the other way: every source is hit once.
#include "kernel.h"

// The bottom's flat index of the top's element i. size: the top's axes; step: how far each goes in the bottom.
DEVICE int source(int i, int axes, const int* size, const int* step) {
  int at = 0;
  for (int a = axes - 1; a >= 0; --a) {
    at += i % size[a] * step[a];
    i /= size[a];
  }
  return at;
}

KERNEL permute_forward(int n, const Real* bottom, Real* top, int axes, const int* size, const int* step) {
  GRID_LOOP(i, n) top[i] = bottom[source(i, axes, size, step)];
}

KERNEL permute_backward(int n, const Real* top_diff, Real* bottom_diff, int axes, const int* size, const int* step) {
  GRID_LOOP(i, n) bottom_diff[source(i, axes, size, step)] = top_diff[i];
}
