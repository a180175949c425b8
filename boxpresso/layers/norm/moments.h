// moments.h: a batch's statistics of a channel, from the sums of its planes.
#pragma once
#include "sum.h"

struct Batch {
  int images, size;    // size: of a plane
  Real eps, fraction;  // fraction: of a running average that a batch leaves of it
};

// What sums of d and d^2, d = x - (the channel's first x), of each plane tell of channel c of n: its mean and 1 / sqrt(variance + eps); returns the variance.
DEVICE double moments(int c, int n, const Real* x, const double* partial, const Batch& b, Real* mean, Real* inverse) {
  double sum = 0, squares = 0;
  for (int plane = c; plane < b.images * n; plane += n) {
    sum += partial[2 * plane];
    squares += partial[2 * plane + 1];
  }
  const double count = double(b.images) * b.size, off = sum / count;
  const double variance = max(squares / count - off * off, 0.0);
  mean[c] = Real(x[c * b.size] + off);
  inverse[c] = Real(1 / sqrt(variance + double(b.eps)));
  return variance;
}
