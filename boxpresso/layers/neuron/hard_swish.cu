// hard_swish.cu: x times a line that is 0 up to -3 and 1 from 3 on, and its gradient; a NaN stays one.
#include "kernel.h"

KERNEL hard_swish_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    top[i] = x <= -3 ? Real(0) : x >= 3 ? x : x * (x + 3) / 6;
  }
}

KERNEL hard_swish_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    bottom_diff[i] = top_diff[i] * (x <= -3 ? Real(0) : x >= 3 ? Real(1) : (2 * x + 3) / 6);
  }
}
