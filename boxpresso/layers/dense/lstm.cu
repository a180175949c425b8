// lstm.cu: one step of every cell, one thread a cell; LSTM runs them over time, LSTMUnit is one of them. Pre-activations are
// (N, 4, size), the rest is (N, size).
#include "kernel.h"

DEVICE Real logistic(Real x) { return 1 / (1 + exp(-x)); }

// What a step makes of the four pre-activations of a cell: input, forget, output and what is written, and the states.
struct Cell { Real input, forget, output, write, state, curved; };

// x: the cell's four pre-activations, `stride` apart. `keeps` is 0 where a sequence begins.
DEVICE Cell cell_of(const Real* x, int stride, Real before, Real keeps) {
  Cell c;
  c.input = logistic(x[0]);
  c.forget = keeps == 0 ? Real(0) : keeps * logistic(x[stride]);
  c.output = logistic(x[2 * stride]);
  c.write = tanh(x[3 * stride]);
  c.state = (keeps == 0 ? Real(0) : c.forget * before) + c.input * c.write;
  c.curved = tanh(c.state);
  return c;
}

// diff: the gradients of the four pre-activations; returned: that of the state before; from those of state and hidden.
DEVICE Real cell_gradient(const Cell& c, const Real* x, int stride, Real before, Real keeps, Real state_diff,
                          Real hidden_diff, Real* diff) {
  const Real g = state_diff + hidden_diff * c.output * (1 - c.curved * c.curved);
  diff[0] = g * c.write * c.input * (1 - c.input);
  diff[1] = keeps == 0 ? Real(0) : g * before * c.forget * (1 - logistic(x[stride]));
  diff[2] = hidden_diff * c.curved * c.output * (1 - c.output);
  diff[3] = g * c.input * (1 - c.write * c.write);
  return g * c.forget;
}

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

// Gradients that are not asked for are null pointers.
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
