// mvn.cu: a row is the elements that are normalised together.
#include "sum.h"

KERNEL mvn_forward(int n, const Real* bottom, Real* top, Real* inverse, int length, int scales, int eps_inside,
                   Real eps) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const Real* x = bottom + row * length;
    Real* y = top + row * length;
    const double mean = block_sum(part, length, [=](int i) { return x[i]; }) / length;
    double by = 1;
    if (scales) {
      const double squares = block_sum(part, length, [=](int i) { return (x[i] - mean) * (x[i] - mean); });
      const double variance = squares / length;
      by = 1 / (eps_inside ? sqrt(variance + eps) : sqrt(variance) + eps);
    }
    THREAD_LOOP(t, 1) inverse[row] = Real(by);
    THREAD_LOOP(i, length) y[i] = Real((x[i] - mean) * by);
  }
}

// bottom_diff = (g - mean(g) - y * mean(g * y)) * inverse, without the last two steps where only the mean was taken off
KERNEL mvn_backward(int n, const Real* top, const Real* top_diff, const Real* inverse, Real* bottom_diff, int length,
                    int scales) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const Real *y = top + row * length, *g = top_diff + row * length;
    Real* diff = bottom_diff + row * length;
    const double mean = block_sum(part, length, [=](int i) { return g[i]; }) / length;
    const double along = scales ? block_sum(part, length, [=](int i) { return double(g[i]) * y[i]; }) / length : 0;
    const double by = inverse[row];
    THREAD_LOOP(i, length) diff[i] = Real((g[i] - mean - y[i] * along) * by);
  }
}
