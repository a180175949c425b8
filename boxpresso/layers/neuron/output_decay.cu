// output_decay.cu: values as they are, and in their gradient what draws them to 0.
#include "kernel.h"

KERNEL output_decay_forward(int n, const Real* bottom, Real* top, Real decay, int first_order) {
  GRID_LOOP(i, n) top[i] = bottom[i];
}

KERNEL output_decay_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real decay, int first_order) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i], slope = first_order ? Real((x > 0) - (x < 0)) : x;
    bottom_diff[i] = top_diff[i] + decay * slope;
  }
}
