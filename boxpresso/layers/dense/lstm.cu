// lstm.cu: one step of every cell. Pre-activations are (N, 4, size), the rest is (N, size).
#include "recurrent.h"

KERNEL lstm_forward(int n, const Real* before, const Real* pre, const Real* cont, Real* state, Real* hidden, int size) {
  GRID_LOOP(i, n) {
    const int image = i / size;
    const Cell c = cell_of(pre + image * 3 * size + i, size, before[i], cont[image]);
    state[i] = c.state;
    hidden[i] = c.output * c.curved;
  }
}

// hidden_diff: from the step after; state_diff: that too, and from here on of the state before. threshold: above 0, the
// most that a gradient of a pre-activation may be.
KERNEL lstm_backward(int n, const Real* before, const Real* pre, const Real* cont, const Real* top_diff,
                     const Real* hidden_diff, Real* state_diff, Real* pre_diff, int size, Real threshold) {
  GRID_LOOP(i, n) {
    const int image = i / size, at = image * 3 * size + i;
    const Cell c = cell_of(pre + at, size, before[i], cont[image]);
    Real diff[4];
    const Real hidden = top_diff[i] + hidden_diff[i];
    state_diff[i] = cell_gradient(c, pre + at, size, before[i], cont[image], state_diff[i], hidden, diff);
    for (int gate = 0; gate < 4; ++gate)
      pre_diff[at + gate * size] = threshold > 0 ? max(-threshold, min(threshold, diff[gate])) : diff[gate];
  }
}
