// relevant_loss.cu: differences between the coordinates of points beside those between the true ones.
#include "sum.h"

// means[half] = the mean of e = a - b over a half of a row, costs[half] = the sum over its pairs of (e_i - e_j)^2, which is
// how many there are times their squares about the mean. n: 2 rows; the first half has `first` of `length` numbers.
KERNEL relevant_halves(int n, const Real* a, const Real* b, double* means, double* costs, int length, int first) {
  SHARED double part[PARTS];
  BLOCK_LOOP(half, n) {
    const int start = half / 2 * length + half % 2 * first, count = half % 2 ? length - first : first;
    const double sum = block_sum(part, count, [=](int i) { return double(a[start + i]) - double(b[start + i]); });
    const double mean = count ? sum / count : 0;
    const double spread = block_sum(part, count, [=](int i) {
      const double off = double(a[start + i]) - double(b[start + i]) - mean;
      return off * off;
    });
    THREAD_LOOP(t, 1) {
      means[half] = mean;
      costs[half] = spread * count;
    }
  }
}

// n: 1.
KERNEL relevant_loss(int n, const double* costs, Real* top, int rows) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, 2 * rows, [=](int half) { return costs[half]; });
    THREAD_LOOP(t, 1) top[0] = Real(sum / 2 / rows);
  }
}

// diff = scale top_diff * the sum over the others of its half of e_i - e_j.
KERNEL relevant_diffs(int n, const Real* a, const Real* b, const double* means, const Real* top_diff, Real* diff, int length,
                      int first, Real scale) {
  GRID_LOOP(i, n) {
    const bool second = i % length >= first;
    const int count = second ? length - first : first;
    const double off = double(a[i]) - double(b[i]) - means[2 * (i / length) + second];
    diff[i] = Real(scale * top_diff[0] * count * off);
  }
}
