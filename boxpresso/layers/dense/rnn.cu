// rnn.cu: tanh and its gradient, from its own value and a sum of one or two gradients.
#include "kernel.h"

KERNEL rnn_forward(int n, const Real* pre, Real* value) {
  GRID_LOOP(i, n) value[i] = tanh(pre[i]);
}

KERNEL rnn_backward(int n, const Real* value, const Real* diff, const Real* more, Real* pre_diff) {
  GRID_LOOP(i, n) pre_diff[i] = (diff[i] + (more ? more[i] : Real(0))) * (1 - value[i] * value[i]);
}
