// center_loss.cu: how far rows of features are from the centres of their classes.
#include "loss.h"

DEVICE Real way(Real from, int first_order) { return first_order ? Real((from > 0) - (from < 0)) : from; }

// costs[row] = |x - center|^2, or with first_order the sum of |x - center|; 0 for a label that is no class.
KERNEL center_costs(int n, const Real* x, const Real* label, const Real* centers, Real* costs, int length, int classes,
                    int first_order) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const int truth = truth_of(label[row]);
    const bool known = state_of(label[row], classes, 0, 0) == COUNTS;
    const double cost = block_sum(part, known ? length : 0, [=](int i) {
      const double off = double(x[row * length + i]) - double(centers[truth * length + i]);
      return first_order ? abs(off) : off * off;
    });
    THREAD_LOOP(t, 1) costs[row] = Real(cost);
  }
}

KERNEL center_losses(int n, const Real* costs, const Real* label, double* partial, int items, int classes) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return state_of(label[i], classes, 0, 0); }, [=](int i) { return costs[i]; });
}

// A centre's gradient gets the sum of center - x over the rows of its class, divided by 1 + their number. n: classes.
KERNEL center_moves(int n, const Real* x, const Real* label, const Real* centers, Real* diff, int rows, int length,
                    int first_order) {
  BLOCK_LOOP(c, n) {
    THREAD_LOOP(i, length) {
      Real sum = 0;
      int count = 0;
      for (int row = 0; row < rows; ++row)
        if (truth_of(label[row]) == c) {
          sum += way(centers[c * length + i] - x[row * length + i], first_order);
          ++count;
        }
      if (count) diff[c * length + i] += sum / Real(1 + count);
    }
  }
}

KERNEL center_diffs(int n, const Real* x, const Real* label, const Real* centers, const Real* top_diff, Real* bottom_diff,
                    int rows, int length, int classes, int first_order) {
  GRID_LOOP(i, n) {
    const int row = i / length, truth = truth_of(label[row]);
    const bool known = state_of(label[row], classes, 0, 0) == COUNTS;
    bottom_diff[i] = known ? top_diff[0] / rows * way(x[i] - centers[truth * length + i % length], first_order) : Real(0);
  }
}
