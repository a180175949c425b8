// yolo_seg.cu: how far the sigmoid of each score is from its label, and the sum of the squares.
#include "loss.h"

KERNEL yolo_seg_errors(int n, const Real* score, const Real* label, const Real* scales, Real* error, Real plain,
                       int channels, int area) {
  GRID_LOOP(i, n) {
    const Real scale = label[i] > Real(0.5) ? scales[i / area % channels] : plain;
    error[i] = scale * (1 / (1 + exp(-score[i])) - label[i]);
  }
}

KERNEL yolo_seg_squares(int n, const Real* error, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int) { return COUNTS; }, [=](int i) { return double(error[i]) * error[i]; });
}

KERNEL yolo_seg_backward(int n, const Real* error, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * error[i];
}
