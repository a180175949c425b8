// threshold.cu: whether x is above a threshold.
#include "kernel.h"

KERNEL threshold_forward(int n, const Real* bottom, Real* top, Real threshold) {
  GRID_LOOP(i, n) top[i] = bottom[i] > threshold ? Real(1) : Real(0);
}
