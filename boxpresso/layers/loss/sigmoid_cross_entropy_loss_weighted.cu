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

// result: what the sum of all terms was divided by.
KERNEL weighted_backward(int n, const Real* x, const Real* target, const Real* weight, const Real* top_diff, const Real* result,
                         Real* bottom_diff) {
  GRID_LOOP(i, n)  // where the weight is 0, not even NaN matters
    bottom_diff[i] = weight[i] != 0 ? top_diff[0] / result[0] * weight[i] * (1 / (1 + exp(-x[i])) - target[i]) : Real(0);
}

// The weight of a target of 1 is the share of those of 0 in its example, and the other way round; of any other target 0.
KERNEL balance_weights(int n, const Real* target, Real* weight, int size) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const Real* t = target + row * size;
    const double ones = block_sum(part, size, [=](int i) { return t[i] == 1; });
    const double zeros = block_sum(part, size, [=](int i) { return t[i] == 0; });
    THREAD_LOOP(i, size)
      weight[row * size + i] = t[i] == 1 ? Real(zeros / (ones + zeros)) : t[i] == 0 ? Real(ones / (ones + zeros)) : Real(0);
  }
}

// partial[3 b ...]: how many targets of block b's are yes (above 0), how many count, 0.
KERNEL count_yes(int n, const Real* target, double* partial, int items, int has_ignored, int ignored) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return is_ignored(target[i], has_ignored, ignored) ? IGNORED : COUNTS; },
        [=](int i) { return target[i] > 0; });
}

// From the share of yes among the targets that count, and their number. halves: each kind counts half of all in sum, and one
// that is not there is taken for a single target; else each kind weighs the share of the other.
KERNEL kind_weights(int n, const Real* target, const Real* share, const Real* number, Real* weight, int halves,
                    int has_ignored, int ignored) {
  GRID_LOOP(i, n) {
    const double least = halves ? 1 / double(number[0]) : 0, yes = min(max(double(share[0]), least), 1 - least);
    const double own = target[i] > 0 ? yes : 1 - yes;
    const double by = halves ? (own > 0 ? 0.5 / own : 1) : 1 - own;
    weight[i] = is_ignored(target[i], has_ignored, ignored) ? Real(0) : Real(by);
  }
}
