// signed_sqrt.cu: the root of the magnitude with the sign, and a gradient that is bounded at 0.
#include "kernel.h"

constexpr double BOUND = 0.03;  // added to the root in the gradient

KERNEL signed_sqrt_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) {
    const Real root = sqrt(abs(bottom[i]));
    top[i] = bottom[i] < 0 ? -root : root;
  }
}

KERNEL signed_sqrt_backward(int n, const Real* top, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[i] / 2 / (abs(top[i]) + Real(BOUND));
}
