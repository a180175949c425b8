// parameter.cu: a parameter's gradient is its top's.
#include "kernel.h"

KERNEL parameter_backward(int n, const Real* top_diff, Real* diff) {
  GRID_LOOP(i, n) diff[i] += top_diff[i];
}
