// swish.cu: x * s and its gradient, s the logistic function of beta * x.
#include "kernel.h"

KERNEL swish_forward(int n, const Real* bottom, Real* top, Real beta) {
  GRID_LOOP(i, n) top[i] = bottom[i] / (1 + exp(-beta * bottom[i]));
}

KERNEL swish_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real beta) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i], s = 1 / (1 + exp(-beta * x));
    bottom_diff[i] = top_diff[i] * s * (1 + beta * x * (1 - s));
  }
}
