// split.cu: the sum of two gradients; `sum` may be `a` itself.
#include "kernel.h"

KERNEL split_backward(int n, const Real* a, const Real* b, Real* sum) {
  GRID_LOOP(i, n) sum[i] = a[i] + b[i];
}
