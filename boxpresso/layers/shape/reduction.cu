// reduction.cu: each row of `length` elements becomes one number.
#include "sum.h"

constexpr int SUM = 0, ASUM = 1, SUMSQ = 2;  // `operation`: of the elements, their absolute values or their squares

KERNEL reduction_forward(int n, const Real* bottom, Real* top, int length, int operation, Real coeff) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const Real* x = bottom + row * length;
    const double sum = operation == SUM    ? block_sum(part, length, [=](int i) { return x[i]; })
                       : operation == ASUM ? block_sum(part, length, [=](int i) { return abs(x[i]); })
                                           : block_sum(part, length, [=](int i) { return double(x[i]) * x[i]; });
    THREAD_LOOP(t, 1) top[row] = Real(sum * coeff);
  }
}

KERNEL reduction_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, int length, int operation,
                          Real coeff) {
  BLOCK_LOOP(row, n) {
    const Real* x = bottom + row * length;
    Real* diff = bottom_diff + row * length;
    const Real g = coeff * top_diff[row];
    if (operation == SUM) THREAD_LOOP(i, length) diff[i] = g;
    else if (operation == ASUM) THREAD_LOOP(i, length) diff[i] = x[i] > 0 ? g : x[i] < 0 ? -g : Real(0);
    else THREAD_LOOP(i, length) diff[i] = 2 * g * x[i];
  }
}
