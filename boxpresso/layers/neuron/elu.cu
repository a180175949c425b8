// elu.cu: the exponential linear unit and its gradient.
#include <math.h>
#include "kernel.h"

KERNEL elu_forward(int n, const Real* bottom, Real* top, Real alpha, Real lambda) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    top[i] = lambda * (x > 0 ? x : alpha * expm1(x));
  }
}

KERNEL elu_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real alpha, Real lambda) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    bottom_diff[i] = top_diff[i] * lambda * (x > 0 ? Real(1) : alpha * exp(x));
  }
}
