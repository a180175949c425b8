// hinge_loss.cu: how far each score stays short of its margin, for the label above 0 and for the others below.
#include "loss.h"

DEVICE Real hinge(Real x, bool own, Real margin) {
  const Real short_of = own ? margin - x : margin + x;
  return short_of < 0 ? Real(0) : short_of;
}

KERNEL hinges(int n, const Real* score, const Real* label, double* partial, int rows, int channels, int squared,
              Real margin) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(part, partial, b, rows, [=](int i) { return state_of(label[i], channels, 0, 0); },
                  [=](int i) {
                    double sum = 0;
                    for (int c = 0; c < channels; ++c) {
                      const double h = hinge(score[i * channels + c], c == int(label[i]), margin);
                      sum += squared ? h * h : h;
                    }
                    return sum;
                  });
}

KERNEL hinges_backward(int n, const Real* score, const Real* label, const Real* top_diff, Real* bottom_diff,
                       int channels, int squared, Real margin) {
  BLOCK_LOOP(row, n) {
    const Real by = top_diff[0] / n;
    const int truth = truth_of(label[row]);
    THREAD_LOOP(c, channels) {
      const int i = row * channels + c;
      const Real h = hinge(score[i], c == truth, margin), slope = squared ? 2 * h : h > 0 ? Real(1) : Real(0);
      bottom_diff[i] = c == truth ? -slope * by : slope * by;
    }
  }
}
