// sigmoid.cu: the logistic function and its gradient. exp(-x) may be infinity: the quotient is then 0, as it should be.
#include "kernel.h"

KERNEL sigmoid_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) top[i] = 1 / (1 + exp(-bottom[i]));
}

KERNEL sigmoid_backward(int n, const Real* top, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[i] * top[i] * (1 - top[i]);
}
