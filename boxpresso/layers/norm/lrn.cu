// lrn.cu: scale = k + by * (the window's sum of x^2), top = x * scale^-beta. Windows are of channels (`across`) or of
// positions (`within`). The gradient is a sum over the same windows, of ratio = top_diff * x * scale^(-beta - 1).
#include "kernel.h"

constexpr int PIECE = 256;  // positions that one block does

// save(i, sum) for each element i, with the sum of value(j) over the channels of its window
template <class Value, class Save>
DEVICE void across(int n, int channels, int plane, int pieces, int half, Value value, Save save) {
  SHARED Real sum[PIECE];
  BLOCK_LOOP(b, n) {
    const int first = b % pieces * PIECE, at = b / pieces * channels * plane + first, width = min(PIECE, plane - first);
    for (int c = 0; c < channels; ++c) {
      THREAD_LOOP(t, width) sum[t] = 0;
      for (int k = max(c - half, 0); k < min(c + half + 1, channels); ++k)
        THREAD_LOOP(t, width) sum[t] += value(at + k * plane + t);
      THREAD_LOOP(t, width) save(at + c * plane + t, sum[t]);
    }
  }
}

// The same over the positions of its window: a block does a row.
template <class Value, class Save>
DEVICE void within(int n, int height, int width, int half, Value value, Save save) {
  BLOCK_LOOP(b, n) {
    const int y = b % height, above = max(y - half, 0) - y, below = min(y + half, height - 1) - y;
    THREAD_LOOP(x, width) {
      Real sum = 0;
      for (int i = above; i <= below; ++i)
        for (int j = max(x - half, 0); j <= min(x + half, width - 1); ++j) sum += value((b + i) * width + j);
      save(b * width + x, sum);
    }
  }
}

// 1 / scale^beta; for 0.75, the usual value, without pow
DEVICE Real power(Real scale, Real beta) {
  return beta == Real(0.75) ? 1 / sqrt(scale * sqrt(scale)) : pow(scale, -beta);
}

KERNEL scales_across(int n, const Real* x, Real* scale, int channels, int plane, int pieces, int half, Real by,
                     Real k) {
  across(n, channels, plane, pieces, half, [=](int i) { return x[i] * x[i]; },
         [=](int i, Real sum) { scale[i] = k + by * sum; });
}

KERNEL scales_within(int n, const Real* x, Real* scale, int height, int width, int half, Real by, Real k) {
  within(n, height, width, half, [=](int i) { return x[i] * x[i]; },
         [=](int i, Real sum) { scale[i] = k + by * sum; });
}

KERNEL lrn_forward(int n, const Real* x, const Real* scale, Real* top, Real beta) {
  GRID_LOOP(i, n) top[i] = x[i] * power(scale[i], beta);
}

KERNEL ratios(int n, const Real* x, const Real* scale, const Real* top_diff, Real* ratio, Real beta) {
  GRID_LOOP(i, n) ratio[i] = top_diff[i] * x[i] * power(scale[i], beta) / scale[i];
}

KERNEL across_backward(int n, const Real* x, const Real* scale, const Real* top_diff, const Real* ratio,
                       Real* bottom_diff, int channels, int plane, int pieces, int half, Real by, Real beta) {
  across(n, channels, plane, pieces, half, [=](int i) { return ratio[i]; }, [=](int i, Real sum) {
    bottom_diff[i] = top_diff[i] * power(scale[i], beta) - 2 * by * beta * x[i] * sum;
  });
}

KERNEL within_backward(int n, const Real* x, const Real* scale, const Real* top_diff, const Real* ratio,
                       Real* bottom_diff, int height, int width, int half, Real by, Real beta) {
  within(n, height, width, half, [=](int i) { return ratio[i]; }, [=](int i, Real sum) {
    bottom_diff[i] = top_diff[i] * power(scale[i], beta) - 2 * by * beta * x[i] * sum;
  });
}
