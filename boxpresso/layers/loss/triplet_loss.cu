// triplet_loss.cu: what triplets of rows cost, an anchor, one that is like it and one that is not.
#include "sum.h"

// costs[row] = weight max(margin + |a - p|^2 - |a - n|^2, 0). n: rows.
KERNEL triplet_costs(int n, const Real* anchor, const Real* like, const Real* other, const Real* weight, double* costs,
                     int length, Real margin, int weighted) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const double more = block_sum(part, length, [=](int i) {
      const int at = row * length + i;
      const double near = double(anchor[at]) - double(like[at]), far = double(anchor[at]) - double(other[at]);
      return near * near - far * far;
    });
    THREAD_LOOP(t, 1) {
      const double cost = double(margin) + more;
      costs[row] = cost > 0 ? cost * (weighted ? double(weight[row]) : 1) : 0;
    }
  }
}

// n: 1.
KERNEL triplet_loss(int n, const double* costs, Real* top, int rows) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, rows, [=](int row) { return costs[row]; });
    THREAD_LOOP(t, 1) top[0] = Real(sum / 2 / rows);
  }
}

// diff = top_diff weight / rows (from - to) where a row costs anything, else 0.
KERNEL triplet_diffs(int n, const Real* from, const Real* to, const Real* weight, const double* costs,
                     const Real* top_diff, Real* bottom_diff, int rows, int length, int weighted) {
  GRID_LOOP(i, n) {
    const int row = i / length;
    const Real by = costs[row] != 0 ? top_diff[0] / rows * (weighted ? weight[row] : Real(1)) : Real(0);
    bottom_diff[i] = by * (from[i] - to[i]);
  }
}
