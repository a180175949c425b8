// batch_reindex.cu: entries of `length` elements by their numbers, and the sum over the copies of each.
#include "kernel.h"

KERNEL reindex(int n, const Real* bottom, const Real* number, Real* top, int length) {
  BLOCK_LOOP(m, n) {
    const Real* from = bottom + int(number[m]) * length;
    THREAD_LOOP(i, length) top[m * length + i] = from[i];
  }
}

KERNEL reindex_backward(int n, const Real* number, const Real* top_diff, Real* bottom_diff, int copies, int length) {
  BLOCK_LOOP(entry, n) {
    Real* to = bottom_diff + entry * length;
    THREAD_LOOP(i, length) to[i] = 0;
    BARRIER();
    for (int m = 0; m < copies; ++m) {
      const Real* from = top_diff + m * length;
      if (int(number[m]) == entry) THREAD_LOOP(i, length) to[i] += from[i];
    }
  }
}
