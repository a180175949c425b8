// relu.cu: the rectifier and its gradient.
#include "kernel.h"

KERNEL relu_forward(int n, const Real* bottom, Real* top, Real slope) {
  GRID_LOOP(i, n) top[i] = bottom[i] > 0 ? bottom[i] : bottom[i] * slope;
}

KERNEL relu_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real slope) {
  GRID_LOOP(i, n) bottom_diff[i] = bottom[i] > 0 ? top_diff[i] : top_diff[i] * slope;
}
