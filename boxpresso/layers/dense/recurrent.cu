// recurrent.cu: what lies between the products of a recurrent layer.
#include "kernel.h"

// Every row of pre becomes the bias, with what its sequence's static input adds. n: steps * sequences.
KERNEL begin(int n, const Real* bias, const Real* fixed, Real* pre, int width, int sequences) {
  BLOCK_LOOP(row, n) {
    Real* to = pre + row * width;
    if (fixed) {
      const Real* from = fixed + row % sequences * width;
      THREAD_LOOP(i, width) to[i] = bias[i] + from[i];
    } else {
      THREAD_LOOP(i, width) to[i] = bias[i];
    }
  }
}

// result = x * cont of its sequence, 0 where that is 0 whatever x is; it may be x.
KERNEL continued(int n, const Real* x, const Real* cont, Real* result, int size) {
  GRID_LOOP(i, n) {
    const Real by = cont[i / size];
    result[i] = by == 0 ? Real(0) : x[i] * by;
  }
}

KERNEL over_time(int n, const Real* diff, Real* sum, int steps) {
  GRID_LOOP(i, n) {
    Real all = 0;
    for (int t = 0; t < steps; ++t) all += diff[t * n + i];
    sum[i] = all;
  }
}
