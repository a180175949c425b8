// axpy.cu: a * x + y, with one a for each plane of `size` elements.
#include "sum.h"

KERNEL axpy_forward(int n, const Real* a, const Real* x, const Real* y, Real* top, int size) {
  BLOCK_LOOP(plane, n) {
    const Real by = a[plane];
    THREAD_LOOP(i, size) top[plane * size + i] = by * x[plane * size + i] + y[plane * size + i];
  }
}

KERNEL axpy_scaled(int n, const Real* a, const Real* top_diff, Real* x_diff, int size) {
  BLOCK_LOOP(plane, n) {
    const Real by = a[plane];
    THREAD_LOOP(i, size) x_diff[plane * size + i] = by * top_diff[plane * size + i];
  }
}

KERNEL axpy_factors(int n, const Real* x, const Real* top_diff, Real* a_diff, int size) {
  SHARED double part[PARTS];
  BLOCK_LOOP(plane, n) {
    const int at = plane * size;
    const double sum = block_sum(part, size, [=](int i) { return double(x[at + i]) * top_diff[at + i]; });
    THREAD_LOOP(t, 1) a_diff[plane] = Real(sum);
  }
}
