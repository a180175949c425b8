// relu.cu: the rectifier, up to a ceiling, and its gradient.
#include "kernel.h"

KERNEL relu_forward(int n, const Real* bottom, Real* top, Real slope, Real ceiling) {
  GRID_LOOP(i, n) {
    // Without a slope what is below 0, -infinity too, gives 0, and not -0 or NaN.
    const Real x = bottom[i], y = x > 0 ? x : slope != 0 ? x * slope : x < 0 ? Real(0) : x;
    top[i] = y > ceiling ? ceiling : y;  // not min(): a NaN stays one on both machines
  }
}

KERNEL relu_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real slope, Real ceiling) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i], g = top_diff[i];
    bottom_diff[i] = x >= ceiling ? Real(0) : x > 0 ? g : g * slope;
  }
}
