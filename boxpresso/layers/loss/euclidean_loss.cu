// euclidean_loss.cu: sum((a - b)^2) / divisor, summed row by row in a fixed order.
#include "kernel.h"

KERNEL euclidean_rows(int n, const Real* a, const Real* b, Real* partial, int length) {
  GRID_LOOP(row, n) {
    double sum = 0;
    for (int i = row * length; i < (row + 1) * length; ++i) {
      const double d = double(a[i]) - double(b[i]);
      sum += d * d;
    }
    partial[row] = Real(sum);
  }
}

KERNEL euclidean_total(int n, const Real* partial, Real* top, int batch, int divisor) {
  GRID_LOOP(i, n) {
    double sum = 0;
    for (int row = 0; row < batch; ++row) sum += partial[row];
    top[i] = Real(sum / divisor);
  }
}

KERNEL euclidean_backward(int n, const Real* a, const Real* b, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * (a[i] - b[i]);
}

KERNEL differences(int n, const Real* a, const Real* b, Real* to) {
  GRID_LOOP(i, n) to[i] = a[i] - b[i];
}
