// pair_loss.cu: losses of two blobs, element by element.
#include "loss.h"

KERNEL absolute_terms(int n, const Real* a, const Real* b, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(k, n)
    piece_of_loss(
        part, partial, k, items, [=](int) { return COUNTS; }, [=](int i) { return abs(double(a[i]) - double(b[i])); });
}

KERNEL absolute_backward(int n, const Real* a, const Real* b, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) {
    const Real d = a[i] - b[i];
    bottom_diff[i] = scale * top_diff[0] * Real((d > 0) - (d < 0));
  }
}

KERNEL product_terms(int n, const Real* a, const Real* b, double* partial, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(k, n)
    piece_of_loss(
        part, partial, k, items, [=](int) { return COUNTS; }, [=](int i) { return -double(a[i]) * double(b[i]); });
}

KERNEL product_backward(int n, const Real* other, const Real* top_diff, Real* bottom_diff, Real scale) {
  GRID_LOOP(i, n) bottom_diff[i] = scale * top_diff[0] * other[i];
}
