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

// Of the middle axis of (outer, length, step): parts from begins[k] to begins[k + 1], summed; mean: divided by their lengths.
KERNEL parts_forward(int n, const Real* bottom, const int* begins, Real* top, int parts, int length, int step, int mean) {
  GRID_LOOP(i, n) {
    const int k = i / step % parts, from = begins[k], to = begins[k + 1];
    const Real* x = bottom + i / step / parts * length * step + i % step;
    double sum = 0;
    for (int t = from; t < to; ++t) sum += x[t * step];
    top[i] = Real(mean ? sum / (to - from) : sum);
  }
}

// part_of: of each place of the middle axis.
KERNEL parts_backward(int n, const Real* top_diff, const int* begins, const int* part_of, Real* bottom_diff, int parts, int length,
                      int step, int mean) {
  GRID_LOOP(i, n) {
    const int k = part_of[i / step % length];
    const Real diff = top_diff[(i / step / length * parts + k) * step + i % step];
    bottom_diff[i] = mean ? diff / (begins[k + 1] - begins[k]) : diff;
  }
}
