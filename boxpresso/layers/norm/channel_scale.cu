// channel_scale.cu: each place of an image times a number of its own, the same for all channels.
#include "kernel.h"

// top = x * scale at the element's image and place.
KERNEL channel_scale(int n, const Real* x, const Real* scale, Real* top, int channels, int inner) {
  GRID_LOOP(i, n) top[i] = x[i] * scale[i / (channels * inner) * inner + i % inner];
}

// The gradient of each number: the sum of x * top_diff over the channels of its place.
KERNEL channel_scale_diff(int n, const Real* x, const Real* top_diff, Real* diff, int channels, int inner) {
  GRID_LOOP(i, n) {
    const int first = i / inner * channels * inner + i % inner;
    double sum = 0;
    for (int c = 0; c < channels; ++c) sum += double(x[first + c * inner]) * top_diff[first + c * inner];
    diff[i] = Real(sum);
  }
}
