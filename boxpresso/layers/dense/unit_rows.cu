// unit_rows.cu: rows of weights, brought to length 1.
#include "sum.h"

// w = w / sqrt(|w|^2 + 1e-6) for each row, as in NormFace. n: rows.
KERNEL unit_rows(int n, Real* weights, int depth) {
  SHARED double part[PARTS];
  BLOCK_LOOP(row, n) {
    Real* w = weights + row * depth;
    const double square = block_sum(part, depth, [=](int i) { return double(w[i]) * double(w[i]); });
    THREAD_LOOP(i, depth) w[i] *= Real(1 / sqrt(square + 1e-6));
  }
}
