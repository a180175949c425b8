// sigmoid_cross_entropy_loss_weighted.cu: cross entropies of yes-or-no targets, each with a weight of its own.
#include "loss.h"

KERNEL weighted_terms(int n, const Real* x, const Real* target, const Real* weight, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return weight[i] != 0 ? COUNTS : IGNORED; },
        [=](int i) {
          const double score = x[i];
          return weight[i] * (max(score, 0.0) - score * target[i] + log(1 + exp(-abs(score))));
        });
}

KERNEL weighted_backward(int n, const Real* x, const Real* target, const Real* weight, const Real* top_diff, Real* bottom_diff,
                         Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * weight[i] * (1 / (1 + exp(-x[i])) - target[i]);
}
