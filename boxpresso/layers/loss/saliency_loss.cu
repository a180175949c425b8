// saliency_loss.cu: maps of where people look beside those that a net predicts.
#include "sum.h"

// sums[2 row], sums[2 row + 1] = the sums of |x| and |truth| of a row. n: rows.
KERNEL saliency_sums(int n, const Real* x, const Real* truth, double* sums, int length) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const double own = block_sum(part, length, [=](int i) { return abs(double(x[row * length + i])); });
    const double whole = block_sum(part, length, [=](int i) { return abs(double(truth[row * length + i])); });
    THREAD_LOOP(t, 1) {
      sums[2 * row] = own;
      sums[2 * row + 1] = whole;
    }
  }
}

// costs[row] = the sum of f log(f / (s + tiny) + tiny), f and s being truth and x as parts of their sums. n: rows.
KERNEL divergences(int n, const Real* x, const Real* truth, const double* sums, double* costs, int length, double tiny) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const double own = sums[2 * row] + tiny, whole = sums[2 * row + 1] + tiny;
    const double cost = block_sum(part, length, [=](int i) {
      const double f = double(truth[row * length + i]) / whole, s = double(x[row * length + i]) / own;
      return f * log(max(f / (s + tiny) + tiny, tiny));  // below it only of numbers below 0
    });
    THREAD_LOOP(t, 1) costs[row] = cost;
  }
}

// costs[row] = - the mean of x where people look; 0 of a map where nobody does. n: rows.
KERNEL scanpaths(int n, const Real* x, const Real* truth, const double* sums, double* costs, int length) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const double both = block_sum(part, length, [=](int i) {
      return double(truth[row * length + i]) * double(x[row * length + i]);
    });
    THREAD_LOOP(t, 1) costs[row] = sums[2 * row + 1] > 0 ? -both / sums[2 * row + 1] : 0;
  }
}

// n: 1.
KERNEL saliency_mean(int n, const double* costs, Real* top, int rows) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, rows, [=](int row) { return costs[row]; });
    THREAD_LOOP(t, 1) top[0] = Real(sum / rows);
  }
}

KERNEL divergence_diffs(int n, const Real* x, const Real* truth, const double* sums, const Real* top_diff,
                        Real* bottom_diff, int rows, int length, double tiny) {
  GRID_LOOP(i, n) {
    const double own = sums[2 * (i / length)], f = double(truth[i]) / (sums[2 * (i / length) + 1] + tiny);
    bottom_diff[i] = Real(-top_diff[0] / rows * f * (own - x[i]) / (own * x[i] + tiny));
  }
}

KERNEL scanpath_diffs(int n, const Real* truth, const double* sums, const Real* top_diff, Real* bottom_diff, int rows,
                      int length) {
  GRID_LOOP(i, n) {
    const double whole = sums[2 * (i / length) + 1];
    bottom_diff[i] = whole > 0 ? Real(-top_diff[0] / rows * truth[i] / whole) : Real(0);
  }
}
