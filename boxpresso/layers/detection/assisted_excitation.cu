// assisted_excitation.cu: a map that is added to all channels, under a mask.
#include "kernel.h"

KERNEL excite(int n, const Real* features, const Real* map, const Real* mask, Real* top, int channels, int area) {
  GRID_LOOP(i, n) {
    const int at = i / area / channels * area + i % area;
    top[i] = mask[at] ? features[i] + mask[at] * map[at] : features[i];
  }
}

KERNEL excite_backward(int n, const Real* top_diff, const Real* mask, Real* bottom_diff, int channels, int area) {
  GRID_LOOP(i, n) {
    const Real* diff = top_diff + i / area * channels * area + i % area;
    Real sum = 0;
    for (int c = 0; c < channels; ++c) sum += diff[c * area];
    bottom_diff[i] = mask[i] * sum;
  }
}
