// binary_code_loss.cu: how far numbers, or their mean, are from a half.
#include "sum.h"

// sums[row] = the sum of x - 1/2 over a row, or of its squares.
KERNEL code_sums(int n, const Real* x, double* sums, int length, int of_mean) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const double sum = block_sum(part, length, [=](int k) {
      const double off = double(x[row * length + k]) - 0.5;
      return of_mean ? off : off * off;
    });
    THREAD_LOOP(t, 1) sums[row] = sum;
  }
}

// The loss, and for the gradient how far the mean is from a half. n: 1.
KERNEL code_loss(int n, const double* sums, Real* top, Real* offset, int rows, int length, int of_mean) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, rows, [=](int row) { return sums[row]; });
    THREAD_LOOP(t, 1) {
      const double mean = sum / rows / length;
      top[0] = Real((of_mean ? mean * mean : -mean) / 2 / rows);
      offset[0] = Real(mean);
    }
  }
}

KERNEL code_diffs(int n, const Real* x, const Real* offset, const Real* top_diff, Real* bottom_diff, int rows, int of_mean) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[0] * (of_mean ? offset[0] : Real(0.5) - x[i]) / n / rows;
}
