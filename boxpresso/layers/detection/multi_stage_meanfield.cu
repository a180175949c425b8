// multi_stage_meanfield.cu: what CRF-RNN does to planes between its filters and products.
#include "kernel.h"

KERNEL meanfield_scale(int n, Real* x, const Real* norm, int points) {
  GRID_LOOP(i, n) x[i] *= norm[i % points];
}

KERNEL meanfield_minus(int n, const Real* unary, const Real* pairs, Real* q) {
  GRID_LOOP(i, n) q[i] = unary[i] - pairs[i];
}

KERNEL meanfield_add(int n, const Real* x, Real* sum) {
  GRID_LOOP(i, n) sum[i] += x[i];
}

KERNEL meanfield_negate(int n, Real* x) {
  GRID_LOOP(i, n) x[i] = -x[i];
}
