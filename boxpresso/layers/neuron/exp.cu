// exp.cu: exp(slope * x + shift); its slope is slope * top.
#include "kernel.h"

KERNEL exp_forward(int n, const Real* bottom, Real* top, Real slope, Real shift) {
  GRID_LOOP(i, n) top[i] = exp(slope * bottom[i] + shift);
}

KERNEL exp_backward(int n, const Real* top, const Real* top_diff, Real* bottom_diff, Real slope, Real shift) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[i] * (slope * top[i]);
}
