// lstm_unit.cu: one thread does one cell.
#include "recurrent.h"

KERNEL unit_forward(int n, const Real* before, const Real* x, const Real* cont, Real* state, Real* hidden, int size) {
  GRID_LOOP(i, n) {
    const int image = i / size;
    const Cell c = cell_of(x + image * 3 * size + i, size, before[i], cont[image]);
    state[i] = c.state;
    hidden[i] = c.output * c.curved;
  }
}

KERNEL unit_backward(int n, const Real* before, const Real* x, const Real* cont, const Real* state_diff,
                     const Real* hidden_diff, Real* before_diff, Real* x_diff, int size) {
  GRID_LOOP(i, n) {
    const int image = i / size, at = image * 3 * size + i;
    const Cell c = cell_of(x + at, size, before[i], cont[image]);
    Real diff[4];
    const Real back = cell_gradient(c, x + at, size, before[i], cont[image], state_diff[i], hidden_diff[i], diff);
    if (before_diff) before_diff[i] = back;
    if (x_diff)
      for (int gate = 0; gate < 4; ++gate) x_diff[at + gate * size] = diff[gate];
  }
}
