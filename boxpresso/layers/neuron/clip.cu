// clip.cu: values between two bounds; a NaN stays one.
#include "kernel.h"

KERNEL clip_forward(int n, const Real* bottom, Real* top, Real low, Real high) {
  GRID_LOOP(i, n) {
    const Real x = bottom[i];
    top[i] = x < low ? low : x > high ? high : x;
  }
}

KERNEL clip_backward(int n, const Real* bottom, const Real* top_diff, Real* bottom_diff, Real low, Real high) {
  GRID_LOOP(i, n) bottom_diff[i] = bottom[i] >= low && bottom[i] <= high ? top_diff[i] : Real(0);
}
