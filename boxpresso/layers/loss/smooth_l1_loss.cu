// smooth_l1_loss.cu: f(inside * (a - b)) * outside; f is a parabola up to |d| = 1 / sigma^2, a line beyond.
#include "sum.h"

constexpr int PIECE = 4096;  // terms that one block sums

// The term of element i.
DEVICE Real smooth_l1(const Real* a, const Real* b, const Real* inside, const Real* outside, int i, Real sigma2) {
  const Real d = (a[i] - b[i]) * (inside ? inside[i] : Real(1)), far = abs(d);
  const Real value = far < 1 / sigma2 ? Real(0.5) * d * d * sigma2 : far - Real(0.5) / sigma2;
  return outside ? value * outside[i] : value;
}

KERNEL smooth_l1_sums(int n, const Real* a, const Real* b, const Real* inside, const Real* outside, double* partial,
                      int count, Real sigma2) {
  SHARED double part[PARTS];
  BLOCK_LOOP(block, n) {
    const int first = block * PIECE;
    const double sum = block_sum(part, min(PIECE, count - first), [=](int i) {
      return smooth_l1(a, b, inside, outside, first + i, sigma2);
    });
    THREAD_LOOP(t, 1) partial[block] = sum;
  }
}

// The terms of each image and place, summed over the channels.
KERNEL smooth_l1_rows(int n, const Real* a, const Real* b, const Real* inside, const Real* outside, Real* top,
                      int channels, int area, Real sigma2) {
  GRID_LOOP(at, n) {
    const int first = at / area * (channels * area) + at % area;
    Real sum = 0;
    for (int c = 0; c < channels; ++c) sum += smooth_l1(a, b, inside, outside, first + c * area, sigma2);
    top[at] = sum;
  }
}

KERNEL smooth_l1_total(int n, const double* partial, Real* top, int blocks, int images) {
  GRID_LOOP(i, n) {
    double sum = 0;
    for (int b = 0; b < blocks; ++b) sum += partial[b];
    top[i] = Real(sum / images);
  }
}

// The gradient at a, and with `sign` -1 at b.
KERNEL smooth_l1_backward(int n, const Real* a, const Real* b, const Real* inside, const Real* outside,
                          const Real* top_diff, Real* bottom_diff, Real sigma2, Real sign, int images) {
  GRID_LOOP(i, n) {
    const Real weight = inside ? inside[i] : Real(1), d = (a[i] - b[i]) * weight;
    const Real slope = abs(d) < 1 / sigma2 ? d * sigma2 : Real((d > 0) - (d < 0));
    bottom_diff[i] = sign * top_diff[0] / images * slope * weight * (outside ? outside[i] : Real(1));
  }
}
