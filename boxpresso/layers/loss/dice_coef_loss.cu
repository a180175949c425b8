// dice_coef_loss.cu: how far the overlap of two rows is from that of equal ones.
#include "sum.h"

// rows[2 row ...] = the overlap (2 x y + smooth) / (x x + y y + smooth) of a row, and what it is divided by.
KERNEL dice_rows(int n, const Real* x, const Real* y, double* rows, int length, Real smooth) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const Real *a = x + row * length, *b = y + row * length;
    const double both = block_sum(part, length, [=](int i) { return double(a[i]) * b[i]; });
    const double squares = block_sum(part, length, [=](int i) { return double(a[i]) * a[i] + double(b[i]) * b[i]; });
    THREAD_LOOP(t, 1) {
      rows[2 * row] = squares + smooth > 0 ? (2 * both + smooth) / (squares + smooth) : 1;
      rows[2 * row + 1] = squares + smooth;
    }
  }
}

// top = 1 - the mean of the overlaps. n: 1.
KERNEL dice_loss(int n, const double* rows, Real* top, int count) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, count, [=](int row) { return rows[2 * row]; });
    THREAD_LOOP(t, 1) top[0] = Real(1 - sum / count);
  }
}

// diff of x = top_diff * 2 (overlap x - y) / divisor
KERNEL dice_diff(int n, const Real* x, const Real* y, const double* rows, const Real* top_diff, Real* diff, int length) {
  GRID_LOOP(i, n) {
    const double *row = rows + 2 * (i / length);
    diff[i] = row[1] > 0 ? Real(2 * top_diff[0] * (row[0] * x[i] - y[i]) / row[1]) : Real(0);
  }
}
