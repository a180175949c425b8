// gradient_scaler.cu: a gradient times a number.
#include "kernel.h"

KERNEL gradient_scaler_backward(int n, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[i];
}
