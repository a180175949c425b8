// eltwise.cu: two blobs at a time, element by element. The result may lie in the place of the first.
#include "kernel.h"

KERNEL eltwise_sum(int n, const Real* a, const Real* b, Real* top, Real a_coeff, Real b_coeff) {
  GRID_LOOP(i, n) top[i] = a_coeff * a[i] + b_coeff * b[i];
}

KERNEL eltwise_scale(int n, const Real* top_diff, Real* bottom_diff, Real coeff) {
  GRID_LOOP(i, n) bottom_diff[i] = coeff * top_diff[i];
}

KERNEL eltwise_product(int n, const Real* a, const Real* b, Real* top) {
  GRID_LOOP(i, n) top[i] = a[i] * b[i];
}

// The product of all others as a quotient: cheaper than stable, and NaN where the factor is 0.
KERNEL eltwise_quotient(int n, const Real* top_diff, const Real* top, const Real* factor, Real* bottom_diff) {
  GRID_LOOP(i, n) bottom_diff[i] = top_diff[i] * (top[i] / factor[i]);
}

// The maximum alone, as eltwise_max and eltwise_max_next find it.
KERNEL eltwise_larger(int n, const Real* a, const Real* b, Real* top) { GRID_LOOP(i, n) top[i] = a[i] > b[i] ? a[i] : b[i]; }
KERNEL eltwise_next(int n, const Real* a, const Real* b, Real* top) { GRID_LOOP(i, n) top[i] = b[i] > a[i] ? b[i] : a[i]; }

// winner[i]: which bottom gave the maximum. Bottom 1 wins a tie with bottom 0, as in Caffe.
KERNEL eltwise_max(int n, const Real* a, const Real* b, Real* top, int* winner) {
  GRID_LOOP(i, n) {
    const bool first = a[i] > b[i];
    winner[i] = first ? 0 : 1;
    top[i] = first ? a[i] : b[i];
  }
}

// A later bottom must be larger.
KERNEL eltwise_max_next(int n, const Real* b, Real* top, int* winner, int index) {
  GRID_LOOP(i, n) {
    const bool larger = b[i] > top[i];
    winner[i] = larger ? index : winner[i];
    top[i] = larger ? b[i] : top[i];
  }
}

KERNEL eltwise_max_backward(int n, const Real* top_diff, const int* winner, Real* bottom_diff, int index) {
  GRID_LOOP(i, n) bottom_diff[i] = winner[i] == index ? top_diff[i] : Real(0);
}
