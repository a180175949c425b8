// sigmoid_cross_entropy_loss.cu: the cross entropy from scores, without a logarithm of 0.
#include "loss.h"

KERNEL entropies(int n, const Real* score, const Real* target, double* partial, int items, int has_ignored,
                 int ignored) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return is_ignored(target[i], has_ignored, ignored) ? IGNORED : COUNTS; },
        [=](int i) {
          const double x = score[i];
          return (x > 0 ? x : 0) - x * target[i] + log(1 + exp(-abs(x)));
        });
}

KERNEL entropies_backward(int n, const Real* score, const Real* target, const Real* top_diff, const Real* result,
                          Real* bottom_diff, int has_ignored, int ignored) {
  GRID_LOOP(i, n) {
    const Real off = 1 / (1 + exp(-score[i])) - target[i];
    bottom_diff[i] = is_ignored(target[i], has_ignored, ignored) ? Real(0) : off * (top_diff[0] / result[0]);
  }
}
