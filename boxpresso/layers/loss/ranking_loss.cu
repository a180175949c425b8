// ranking_loss.cu: scores that are not a margin below that of the label.
#include "loss.h"

// firsts[row] = the first score of a row that is too high, `classes` where none is. n: rows.
KERNEL first_too_high(int n, const Real* x, const Real* label, int* firsts, int classes, Real margin) {
  GRID_LOOP(row, n) {
    const int truth = state_of(label[row], classes, 0, 0) == COUNTS ? truth_of(label[row]) : 0;
    const Real* scores = x + row * classes;
    int first = 0;
    while (first < classes && (first == truth || !(margin - scores[truth] + scores[first] > 0))) ++first;
    firsts[row] = first;
  }
}

// By how much score i of a row is too high; firsts: of `first_alone`, the one that counts.
DEVICE Real excess(const Real* scores, int i, int truth, int first, int first_alone, Real margin) {
  const Real over = i == truth || (first_alone && i != first) ? Real(0) : margin - scores[truth] + scores[i];
  return over > 0 ? over : Real(0);
}

// costs[row] = the sum of what is too high. n: rows.
KERNEL ranking_costs(int n, const Real* x, const Real* label, const int* firsts, Real* costs, int classes, int first_alone,
                     Real margin) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const bool known = state_of(label[row], classes, 0, 0) == COUNTS;
    const int truth = known ? truth_of(label[row]) : 0, first = firsts[row];
    const double cost = block_sum(part, known ? classes : 0, [=](int i) {
      return excess(x + row * classes, i, truth, first, first_alone, margin);
    });
    THREAD_LOOP(t, 1) costs[row] = Real(cost);
  }
}

KERNEL ranking_losses(int n, const Real* costs, const Real* label, double* partial, int items, int classes) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(part, partial, b, items, [=](int i) { return state_of(label[i], classes, 0, 0); },
                  [=](int i) { return costs[i]; });
}

KERNEL ranking_diffs(int n, const Real* x, const Real* label, const int* firsts, const Real* top_diff, Real* diff, int rows,
                     int classes, int first_alone, Real margin) {
  GRID_LOOP(i, n) {
    const int row = i / classes, own = i % classes, first = firsts[row];
    const int truth = state_of(label[row], classes, 0, 0) == COUNTS ? truth_of(label[row]) : 0;
    const Real* scores = x + row * classes;
    int count = excess(scores, own, truth, first, first_alone, margin) > 0;
    if (own == truth)
      for (int k = 0; k < classes; ++k) count -= excess(scores, k, truth, first, first_alone, margin) > 0;
    diff[i] = top_diff[0] / rows * Real(count);
  }
}
