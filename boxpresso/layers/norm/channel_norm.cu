// channel_norm.cu: the length of the vector that the channels of a place are.
#include "kernel.h"

KERNEL channel_norm(int n, const Real* x, Real* top, int channels, int inner) {
  GRID_LOOP(i, n) {
    const int first = i / inner * channels * inner + i % inner;
    double sum = 0;
    for (int c = 0; c < channels; ++c) sum += double(x[first + c * inner]) * double(x[first + c * inner]);
    top[i] = Real(sqrt(sum));
  }
}

KERNEL channel_norm_diff(int n, const Real* x, const Real* top, const Real* top_diff, Real* diff, int channels, int inner) {
  GRID_LOOP(i, n) {
    const int at = i / (channels * inner) * inner + i % inner;
    diff[i] = top_diff[at] * x[i] / (top[at] + Real(1e-9));  // 0 where all channels are
  }
}
