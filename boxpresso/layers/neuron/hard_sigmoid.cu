// hard_sigmoid.cu: a line between 0 and 1, and its gradient; a NaN stays one.
#include "kernel.h"

KERNEL hard_sigmoid_forward(int n, const Real* bottom, Real* top, Real alpha, Real beta) {
  GRID_LOOP(i, n) {
    const Real y = alpha * bottom[i] + beta;
    top[i] = y < 0 ? Real(0) : y > 1 ? Real(1) : y;
  }
}

KERNEL hard_sigmoid_backward(int n, const Real* top, const Real* top_diff, Real* bottom_diff, Real alpha, Real beta) {
  GRID_LOOP(i, n) bottom_diff[i] = top[i] > 0 && top[i] < 1 ? top_diff[i] * alpha : Real(0);
}
