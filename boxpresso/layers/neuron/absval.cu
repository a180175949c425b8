// absval.cu: |x|, and the sign of x times the gradient.
#include "kernel.h"

KERNEL absval_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) top[i] = abs(bottom[i]);
}

KERNEL absval_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i], g = top_diff[i];
    bottom_diff[i] = x > 0 ? g : x < 0 ? -g : Real(0);
  }
}
