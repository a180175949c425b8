// conv_lstm.cu: what lies between the convolutions of a ConvLSTM. Pre-activations are (N, 4, size), states (N, size), with size =
// maps * height * width; a peephole weight stands for each of the last `wide` elements of a state, in each image.
#include "kernel.h"

// pre += what the hidden state gives, and the cell's peepholes into the first three gates (none: null pointers).
KERNEL add_hidden(int n, const Real* hidden, const Real* before, const Real* input, const Real* forget, const Real* output,
                  Real* pre, int size, int wide) {
  GRID_LOOP(i, n) {
    const int at = i / size * 3 * size + i, place = i % wide;
    const Real* weights[3] = {input, forget, output};
    for (int gate = 0; gate < 4; ++gate) {
      const Real peep = gate < 3 && input ? weights[gate][place] * before[i] : Real(0);
      pre[at + gate * size] += hidden[at + gate * size] + peep;
    }
  }
}

// state_diff += the gradient that the state before has through the peepholes.
KERNEL peep_back(int n, const Real* pre_diff, const Real* input, const Real* forget, const Real* output, Real* state_diff,
                 int size, int wide) {
  GRID_LOOP(i, n) {
    const int at = i / size * 3 * size + i, place = i % wide;
    state_diff[i] += input[place] * pre_diff[at] + forget[place] * pre_diff[at + size] + output[place] * pre_diff[at + 2 * size];
  }
}

// diff += the gradient of a peephole weight: over all steps, images and states that it stands for. n: wide.
KERNEL peep_diff(int n, const Real* pre_diff, const Real* before, Real* diff, int rows, int size, int wide, int gate) {
  GRID_LOOP(place, n) {
    double sum = 0;
    for (int row = 0; row < rows; ++row)
      for (int k = place; k < size; k += wide)
        sum += double(before[row * size + k]) * pre_diff[(row * 4 + gate) * size + k];
    diff[place] += Real(sum);
  }
}
