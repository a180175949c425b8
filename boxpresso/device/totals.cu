// totals.cu: the sums of arrays, such as losses, brought together so that one copy tells the host all of them.
#include "sum.h"

// totals[at] = the sum of count numbers. n: 1.
KERNEL add_up(int n, const Real* values, double* totals, int count, int at) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, count, [=](int i) { return values[i]; });
    THREAD_LOOP(t, 1) totals[at] = sum;
  }
}
