// normalization_l2.cu: rows of length 1, and their gradient; behind: added to the
// length. A row of zeros stays as it is and has no gradient.
#include "sum.h"

KERNEL unit_forward(int n, const Real* bottom, Real* top, Real* lengths, int size, Real behind) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const Real* x = bottom + row * size;
    const double length = sqrt(block_sum(part, size, [=](int i) { return double(x[i]) * double(x[i]); }));
    THREAD_LOOP(i, size) top[row * size + i] = length > 0 ? Real(x[i] / (length + behind)) : Real(0);
    THREAD_LOOP(t, 1) lengths[row] = Real(length);
  }
}

KERNEL unit_backward(int n, const Real* top, const Real* top_diff, const Real* lengths, Real* bottom_diff, int size,
                     Real behind) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    const Real *y = top + row * size, *diff = top_diff + row * size;
    const double along = block_sum(part, size, [=](int i) { return double(y[i]) * double(diff[i]); });
    THREAD_LOOP(i, size)
      bottom_diff[row * size + i] =
          lengths[row] > 0 ? Real(diff[i] / (lengths[row] + behind) - along * y[i] / lengths[row]) : Real(0);
  }
}
