// yolov3.cu: the gradient, from the errors that the host has computed.
#include "kernel.h"

KERNEL yolo_backward(int n, const Real* error, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * error[i];
}
