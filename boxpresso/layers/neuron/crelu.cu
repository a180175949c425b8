// crelu.cu: relu(x) and relu(-x); a row of `inner` elements becomes two.
#include "kernel.h"

KERNEL crelu_forward(int n, const Real* bottom, Real* top, int inner, Real slope) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    Real* y = top + i / inner * inner + i;
    y[0] = x > 0 ? x : slope * x;
    y[inner] = x < 0 ? -x : -slope * x;
  }
}

KERNEL crelu_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, int inner, Real slope) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    const Real* g = top_diff + i / inner * inner + i;
    bottom_diff[i] = (x > 0 ? g[0] : slope * g[0]) - (x < 0 ? g[inner] : slope * g[inner]);
  }
}
