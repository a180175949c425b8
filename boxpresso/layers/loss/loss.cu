// loss.cu: the pieces of a loss, joined.
#include "loss.h"

// result = what to divide by, and how many labels are wrong. divisor: 0 for the items that count, but 1 at least.
KERNEL join(int n, const double* partial, Real* top, Real* result, int blocks, Real divisor) {
  GRID_LOOP(i, n) {
    double loss = 0, valid = 0, wrong = 0;
    for (int b = 0; b < blocks; ++b) {
      loss += partial[3 * b];
      valid += partial[3 * b + 1];
      wrong += partial[3 * b + 2];
    }
    const double by = divisor > 0 ? double(divisor) : max(valid, 1.0);
    top[i] = Real(loss / by);
    result[0] = Real(by);
    result[1] = Real(wrong);
  }
}
