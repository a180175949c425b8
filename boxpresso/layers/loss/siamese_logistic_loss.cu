// siamese_logistic_loss.cu: the logistic loss of scores and labels of either sign, each with a weight.
#include "loss.h"

KERNEL logistic_terms(int n, const Real* x, const Real* label, const Real* weight, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return weight[i] != 0 ? COUNTS : IGNORED; },
        [=](int i) {
          const double away = -double(x[i]) * double(label[i]);  // log(1 + exp(away)), whatever its size
          return weight[i] * (max(away, 0.0) + log1p(exp(-abs(away))));
        });
}

KERNEL logistic_backward(int n, const Real* x, const Real* label, const Real* weight, const Real* top_diff, Real* bottom_diff,
                         Real scale) {
  GRID_LOOP(i, n)  // where the weight is 0, not even NaN matters
    bottom_diff[i] = weight[i] != 0 ? -scale * top_diff[0] * weight[i] * label[i] / (1 + exp(x[i] * label[i])) : Real(0);
}
