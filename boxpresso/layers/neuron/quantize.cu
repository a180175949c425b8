// quantize.cu: the scales of skeletons as classes, and as numbers from -1 to 1.
#include "kernel.h"

KERNEL quantize(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    top[i] = x >= 1 && x < 200 ? Real(1 + (x >= 12) + (x >= 36) + (x >= 80)) : Real(0);
  }
}

KERNEL rescale(int n, const Real* bottom, Real* top, Real* seen, Real field) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    const bool counts = x < field && abs(x) > Real(0.0001);
    top[i] = counts ? 2 * x / field - 1 : Real(0);
    if (seen) seen[i] = counts;
  }
}
