// inner_distance.cu: distances between two lists of rows.
#include "sum.h"

// How |off|^2, or with first_order |off|, changes with off.
DEVICE Real slope_of(Real off, int first_order) { return first_order ? Real((off > 0) - (off < 0)) : 2 * off; }

KERNEL inner_distances(int n, const Real* x, const Real* centers, Real* top, int others, int depth, int first_order) {
  SHARED double part[PARTS];
  BLOCK_LOOP(at, n) {
    const Real *a = x + at / others * depth, *b = centers + at % others * depth;
    const double sum = block_sum(part, depth, [=](int i) {
      const double off = double(a[i]) - double(b[i]);
      return first_order ? abs(off) : off * off;
    });
    THREAD_LOOP(t, 1) top[at] = Real(sum);
  }
}

KERNEL row_diffs(int n, const Real* top_diff, const Real* x, const Real* centers, Real* diff, int others, int depth,
                 int first_order) {
  GRID_LOOP(at, n) {
    const int row = at / depth, i = at % depth;
    Real sum = 0;
    for (int j = 0; j < others; ++j) sum += top_diff[row * others + j] * slope_of(x[at] - centers[j * depth + i], first_order);
    diff[at] = sum;
  }
}

// label: a null pointer, or a row counts for the centre of its class alone. adds: whether to what is there.
KERNEL center_diffs(int n, const Real* top_diff, const Real* x, const Real* centers, const Real* label, Real* diff, int rows,
                    int others, int depth, int first_order, int adds) {
  GRID_LOOP(at, n) {
    const int j = at / depth, i = at % depth;
    Real sum = 0;
    for (int row = 0; row < rows; ++row)
      if (!label || (label[row] > -1 && int(label[row]) == j))
        sum += top_diff[row * others + j] * slope_of(centers[at] - x[row * depth + i], first_order);
    diff[at] = adds ? diff[at] + sum : sum;
  }
}
