// loss.cu: the pieces of a loss, joined.
#include "first.h"
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

// Where `wrong` labels are not a channel, the first of them is told; see first.h. n: 1.
KERNEL tell_label(int n, const Real* wrong, const Real* label, double* record, int items, int channels, int has_ignored,
                  int ignored, int mark) {
  BLOCK_LOOP(b, n) {
    SHARED int first[1];
    tell_first(first, record, mark, wrong[b] > 0 ? items : 0, channels,
               [=](int i) { return state_of(label[i], channels, has_ignored, ignored) == WRONG; }, [=](int i) { return label[i]; });
  }
}
