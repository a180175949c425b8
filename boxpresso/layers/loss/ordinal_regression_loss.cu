// ordinal_regression_loss.cu: for each rank whether a label is as high, as a softmax of two.
#include "loss.h"

// The score of what is true of rank k minus that of what is not.
DEVICE double lead(const Real* x, int k, Real label) {
  const double more = double(x[2 * k + 1]) - double(x[2 * k]);
  return k <= truth_of(label) ? more : -more;
}

KERNEL ordinal_losses(int n, const Real* x, const Real* label, const Real* weight, double* partial, int rows, int ranks) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, rows, [=](int i) { return state_of(label[i], ranks, 0, 0); },
        [=](int i) {
          double loss = 0;
          for (int k = 0; k < ranks; ++k) {
            const double ahead = lead(x + 2 * ranks * i, k, label[i]);
            loss += double(weight[k]) * ((ahead < 0 ? -ahead : 0) + log(1 + exp(-abs(ahead))));
          }
          return loss;
        });
}

KERNEL ordinal_diffs(int n, const Real* x, const Real* label, const Real* weight, const Real* top_diff, Real* diff,
                     int ranks, Real scale) {
  GRID_LOOP(i, n) {
    const int row = i / (2 * ranks), k = i / 2 % ranks;
    const bool own = i % 2 == (k <= truth_of(label[row]));  // whether it is the score of what is true
    const double missed = 1 / (1 + exp(lead(x + 2 * ranks * row, k, label[row])));
    diff[i] = scale * top_diff[0] * weight[k] * Real(own ? -missed : missed);
  }
}
