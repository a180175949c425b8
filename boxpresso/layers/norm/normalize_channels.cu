// normalize_channels.cu: the channels of each place divided by their length, and the gradients of both.
#include "kernel.h"

DEVICE Real sign_of(Real x) { return Real(x > 0) - Real(x < 0); }

// norm: of each place; absolute: the sum of magnitudes, else the root of the sum of squares. added: to the sum; behind: to the root.
KERNEL channel_norms(int n, const Real* x, Real* norm, int channels, int inner, int absolute, Real added, Real behind) {
  GRID_LOOP(i, n) {
    const Real* own = x + i / inner * channels * inner + i % inner;
    double sum = added;
    for (int c = 0; c < channels; ++c) {
      const double value = own[c * inner];
      sum += absolute ? abs(value) : value * value;
    }
    norm[i] = Real(absolute ? sum : sqrt(sum) + behind);
  }
}

KERNEL divide_channels(int n, const Real* x, const Real* norm, Real* top, int channels, int inner) {
  GRID_LOOP(i, n) top[i] = x[i] / norm[i / (channels * inner) * inner + i % inner];
}

// norm_diff: the gradient of the norms, or none.
KERNEL channel_norm_diff(int n, const Real* x, const Real* norm, const Real* top_diff, const Real* norm_diff, Real* diff,
                         int channels, int inner, int absolute, Real behind) {
  GRID_LOOP(i, n) {
    const int first = i / inner * channels * inner + i % inner;
    double along = 0;
    for (int c = 0; c < channels; ++c) along += double(x[first + c * inner]) * top_diff[first + c * inner];
    along /= norm[i];
    double length = norm[i];  // without what is behind the root
    if (behind != 0) {
      double squares = 0;
      for (int c = 0; c < channels; ++c) squares += double(x[first + c * inner]) * x[first + c * inner];
      length = squares > 0 ? sqrt(squares) : 1;
    }
    const double more = norm_diff ? double(norm_diff[i]) : 0;
    for (int c = 0; c < channels; ++c) {
      const int at = first + c * inner;
      const double way = absolute ? double(sign_of(x[at])) : double(x[at]) / length;
      diff[at] = Real((top_diff[at] - way * along) / norm[i] + way * more);
    }
  }
}
