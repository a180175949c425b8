// multinomial_logistic_loss.cu: minus the logarithm of the probability of each label.
#include "loss.h"

DEVICE Real at_least(Real p) { return p < Real(1e-20) ? Real(1e-20) : p; }  // a NaN stays one

KERNEL row_losses(int n, const Real* probability, const Real* label, double* partial, int rows, int channels) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(part, partial, b, rows, [=](int i) { return state_of(label[i], channels, 0, 0); },
                  [=](int i) { return -log(at_least(probability[i * channels + int(label[i])])); });
}

KERNEL row_diffs(int n, const Real* probability, const Real* label, const Real* top_diff, Real* bottom_diff,
                 int channels) {
  BLOCK_LOOP(row, n) {
    const Real by = -top_diff[0] / n;
    const int truth = truth_of(label[row]);
    THREAD_LOOP(c, channels) {
      const int i = row * channels + c;
      bottom_diff[i] = c == truth ? by / at_least(probability[i]) : Real(0);
    }
  }
}
