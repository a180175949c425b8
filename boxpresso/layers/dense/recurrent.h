// recurrent.h: the LSTM's cell, for the layer that is one step of it and for the one that runs it over time.
#pragma once
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
