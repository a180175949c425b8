// mish.cu: x times t, t the hyperbolic tangent of log(1 + exp(x)), and its gradient.
#include "kernel.h"

struct Gate {
  Real tangent, rest, slope;  // t, 1 - t, and the slope of log(1 + exp(x))
};

// t is (e^2 - 1) / (e^2 + 1) with e = 1 + exp(x), here by exp(-|x|), which cannot overflow.
DEVICE Gate gate_of(Real x) {
  const Real u = exp(-abs(x)), above = 1 + 2 * u, below = u * (u + 2);
  if (x > 0) return {above / (above + 2 * u * u), 2 * u * u / (above + 2 * u * u), 1 / (1 + u)};
  return {below / (below + 2), 2 / (below + 2), u / (1 + u)};
}

KERNEL mish_forward(int n, const Real* bottom, Real* top) {
  GRID_LOOP(i, n) top[i] = bottom[i] * gate_of(bottom[i]).tangent;
}

KERNEL mish_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff) {
  GRID_LOOP(i, n) {
    const Gate gate = gate_of(bottom[i]);
    bottom_diff[i] = top_diff[i] * (gate.tangent + bottom[i] * gate.rest * (1 + gate.tangent) * gate.slope);
  }
}
