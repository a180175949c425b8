// merge_crop.cu: the sum of a map and of the window that is cut out of another.
#include "kernel.h"

KERNEL merge_sum(int n, const Real* a, const Real* b, Real* top) {
  GRID_LOOP(i, n) top[i] = a[i] + b[i];
}
