// log.cu: factor * log(scale * x + shift); factor is 1 / log(base).
#include "kernel.h"

KERNEL log_forward(int n, const Real* bottom, Real* top, Real scale, Real shift, Real factor) {
  GRID_LOOP(i, n) top[i] = factor * log(scale * bottom[i] + shift);
}

KERNEL log_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real scale, Real shift,
                    Real factor) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[i] * (factor * scale / (scale * bottom[i] + shift));
}
