// bnll.cu: log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)); its slope, 1 / (1 + exp(-x)), is 1 - exp(-top).
#include <math.h>
#include "kernel.h"

KERNEL bnll_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i], soft = log1p(exp(-abs(x)));
    top[i] = x > 0 ? x + soft : soft;
  }
}

KERNEL bnll_backward(int n, const Real* top, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[i] * -expm1(-top[i]);
}
