// gelu.cu: half of x times 1 + tanh(a (x + b x^3)), and its gradient.
#include "kernel.h"

constexpr double A = 0.79788456080286536;  // the root of 2 / pi
constexpr double B = 0.044715;

KERNEL gelu_forward(int n, const Real* bottom, Real* top, Real coeff) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    top[i] = coeff * Real(0.5) * x * (1 + tanh(Real(A) * (x + Real(B) * x * x * x)));
  }
}

KERNEL gelu_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real coeff) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i], t = tanh(Real(A) * (x + Real(B) * x * x * x));
    const Real slope = t * t < 1 ? (1 - t * t) * Real(A) * (1 + 3 * Real(B) * x * x) : Real(0);  // x * x may be infinite
    bottom_diff[i] = top_diff[i] * coeff * Real(0.5) * (1 + t + x * slope);
  }
}
