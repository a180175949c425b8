// smooth_l1_loss_ohem.cu: f(weights * (a - b)), f a parabola up to |d| = 1, a line beyond; summed over channels, then over all.
#include "sum.h"

// each[i]: the loss at place i of (region, inner), in double so that the total keeps its digits.
KERNEL ohem_sums(int n, const Real* a, const Real* b, const Real* weights, double* each, int channels, int inner) {
  GRID_LOOP(i, n) {
    const int region = i / inner, first = region * channels * inner + i - region * inner;
    double sum = 0;
    for (int c = 0, at = first; c < channels; ++c, at += inner) {
      const Real d = (a[at] - b[at]) * (weights ? weights[at] : Real(1)), far = abs(d);
      sum += double(far < 1 ? Real(0.5) * d * d : far - Real(0.5));
    }
    each[i] = sum;
  }
}

KERNEL ohem_total(int n, const double* each, Real* top, int count, double divisor) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, count, [=](int i) { return each[i]; });
    THREAD_LOOP(t, 1) top[b] = Real(sum / divisor);
  }
}

KERNEL ohem_each(int n, const double* each, Real* top) {
  GRID_LOOP(i, n) top[i] = Real(each[i]);
}

// scale: 1 / the normaliser, negative for b's gradient.
KERNEL ohem_backward(int n, const Real* a, const Real* b, const Real* weights, const Real* top_diff, Real* bottom_diff,
                     Real scale) {
  GRID_LOOP(i, n) {
    const Real weight = weights ? weights[i] : Real(1), d = (a[i] - b[i]) * weight;
    const Real slope = abs(d) < 1 ? d : Real((d > 0) - (d < 0));
    bottom_diff[i] = scale * top_diff[0] * slope * weight;
  }
}
