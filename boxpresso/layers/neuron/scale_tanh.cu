// scale_tanh.cu: the hyperbolic tangent of values times a number, and its gradient.
#include "kernel.h"

KERNEL scale_tanh_forward(int n, const Real* bottom, Real* top, Real scale) {
  GRID_LOOP(i, n) top[i] = tanh(scale * bottom[i]);
}

KERNEL scale_tanh_backward(int n, const Real* top, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[i] * (1 - top[i] * top[i]);
}
