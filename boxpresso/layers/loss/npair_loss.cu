// npair_loss.cu: rows beside the one other row of their class, and beside all others.
#include "sum.h"

constexpr int NEAREST = 10;  // of the precision

// partners[i] = the other row of row i's class, which is the only one.
KERNEL find_partners(int n, const Real* label, int* partners, int step) {
  SHARED double part[PARTS];
  BLOCK_LOOP(i, n) {
    const int own = int(label[i * step]);
    const double at = block_sum(part, n, [=](int j) { return j != i && int(label[j * step]) == own ? j : 0; });
    THREAD_LOOP(t, 1) partners[i] = int(at);
  }
}

// weights = the gradient of costs[i] = log(1 + the sum over other classes of exp(near[i, j] - near[i, partner])) by near, as a
// mean over the rows, times `scale`. hits[i]: how much of the NEAREST is of row i's class, itself among it.
KERNEL npair_rows(int n, const Real* near, const int* partners, Real* weights, double* costs, double* hits, Real scale) {
  SHARED double part[PARTS];
  BLOCK_LOOP(i, n) {
    const Real* row = near + i * n;
    const int partner = partners[i];
    const double nearest = row[partner];
    const double others = block_sum(part, n, [=](int j) { return j == i || j == partner ? 0 : exp(double(row[j]) - nearest); });
    const double above = block_sum(part, n, [=](int j) { return row[j] > row[i]; });
    const double above_partner = block_sum(part, n, [=](int j) { return row[j] > row[partner]; });
    THREAD_LOOP(j, n) {
      const double weight = j == i ? 0 : j == partner ? -others : exp(double(row[j]) - nearest);
      weights[i * n + j] = Real(weight / (1 + others) / n * scale);
    }
    THREAD_LOOP(t, 1) {
      costs[i] = log(1 + others);
      hits[i] = double((above < NEAREST) + (above_partner < NEAREST)) / NEAREST;
    }
    BARRIER();
  }
}

// top = the mean. n: 1.
KERNEL mean_of_rows(int n, const double* values, Real* top, int rows) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, rows, [=](int i) { return values[i]; });
    THREAD_LOOP(t, 1) top[b] = Real(sum / rows);
  }
}

KERNEL npair_diffs(int n, const Real* x, const Real* top_diff, Real* diff, Real decay) {
  GRID_LOOP(i, n) diff[i] = top_diff[0] * (diff[i] + decay * x[i]);
}
