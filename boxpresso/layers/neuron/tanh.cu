// tanh.cu: the hyperbolic tangent and its gradient.
#include "kernel.h"

KERNEL tanh_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) top[i] = tanh(bottom[i]);
}

KERNEL tanh_backward(int n, const Real* top, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[i] * (1 - top[i] * top[i]);
}
