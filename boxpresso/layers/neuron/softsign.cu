// softsign.cu: x / (1 + |x|) and its gradient.
#include "kernel.h"

KERNEL softsign_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) top[i] = bottom[i] / (1 + abs(bottom[i]));
}

KERNEL softsign_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) {
    const Real below = 1 + abs(bottom[i]);
    bottom_diff[i] = top_diff[i] / below / below;  // whose square may be infinite
  }
}
