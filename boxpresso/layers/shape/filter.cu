// filter.cu: chosen entries of `length` elements to the front, and their gradient back.
#include "kernel.h"

KERNEL choose(int n, const Real* bottom, const int* chosen, Real* top, int length) {
  BLOCK_LOOP(m, n) {
    const Real* from = bottom + chosen[m] * length;
    THREAD_LOOP(i, length) top[m * length + i] = from[i];
  }
}

// place: of each entry in the top, or -1
KERNEL put_back(int n, const Real* top_diff, const int* place, Real* bottom_diff, int length) {
  BLOCK_LOOP(entry, n) {
    Real* to = bottom_diff + entry * length;
    const int m = place[entry];
    THREAD_LOOP(i, length) to[i] = m < 0 ? Real(0) : top_diff[m * length + i];
  }
}
