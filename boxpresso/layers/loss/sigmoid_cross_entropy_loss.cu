// sigmoid_cross_entropy_loss.cu: the cross entropy from scores, without a logarithm of 0.
#include "loss.h"

DEVICE double entropy(double x, double target) { return (x > 0 ? x : 0) - x * target + log(1 + exp(-abs(x))); }

KERNEL entropies(int n, const Real* score, const Real* target, double* partial, int items, int has_ignored,
                 int ignored) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return is_ignored(target[i], has_ignored, ignored) ? IGNORED : COUNTS; },
        [=](int i) { return entropy(score[i], target[i]); });
}

// partial[3 b], partial[3 b + 1] = the sums of block b's weighted losses and of its weights.
KERNEL weighted_entropies(int n, const Real* score, const Real* target, const Real* weight, double* partial, int items,
                          int has_ignored, int ignored) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const int first = b * PIECE, count = min(PIECE, items - first);
    const double loss = block_sum(part, count, [=](int i) {
      const int at = first + i;
      return is_ignored(target[at], has_ignored, ignored) ? 0 : weight[at] * entropy(score[at], target[at]);
    });
    const double whole = block_sum(part, count, [=](int i) {
      return is_ignored(target[first + i], has_ignored, ignored) ? 0 : double(weight[first + i]);
    });
    THREAD_LOOP(t, 1) {
      partial[3 * b] = loss;
      partial[3 * b + 1] = whole;
    }
  }
}

// result[0] = what to divide by; infinity where the weights have no sum above 0, so that the gradient is 0.
KERNEL join_weighted(int n, const double* partial, Real* top, Real* result, int blocks) {
  GRID_LOOP(i, n) {
    double loss = 0, whole = 0;
    for (int b = 0; b < blocks; ++b) {
      loss += partial[3 * b];
      whole += partial[3 * b + 1];
    }
    top[i] = Real(whole > 0 ? loss / whole : 0);
    result[0] = whole > 0 ? Real(whole) : Real(INFINITY);
    result[1] = 0;
  }
}

KERNEL entropies_backward(int n, const Real* score, const Real* target, const Real* weight, const Real* top_diff,
                          const Real* result, Real* bottom_diff, int has_ignored, int ignored) {
  GRID_LOOP(i, n) {
    const Real off = (1 / (1 + exp(-score[i])) - target[i]) * (weight ? weight[i] : Real(1));
    bottom_diff[i] = is_ignored(target[i], has_ignored, ignored) ? Real(0) : off * (top_diff[0] / result[0]);
  }
}

// Of targets that are above 0 for yes, below for no, and 0 for not known.
KERNEL signed_entropies(int n, const Real* score, const Real* target, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return target[i] == 0 ? IGNORED : COUNTS; },
        [=](int i) { return entropy(score[i], target[i] > 0); });
}

KERNEL signed_entropies_backward(int n, const Real* score, const Real* target, const Real* top_diff, const Real* result,
                                 Real* bottom_diff) {
  GRID_LOOP(i, n) {
    const Real off = 1 / (1 + exp(-score[i])) - Real(target[i] > 0);
    bottom_diff[i] = target[i] == 0 ? Real(0) : off * (top_diff[0] / result[0]);
  }
}
