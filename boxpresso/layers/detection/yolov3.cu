// yolov3.cu: the errors, found on the host, are the gradient.
#include "kernel.h"

KERNEL yolo_backward(int n, const Real* error, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * error[i];
}
