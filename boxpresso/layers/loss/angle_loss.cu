// angle_loss.cu: angles between the channels of two maps (images, channels, places) at each place.
#include "sum.h"

DEVICE bool counts(Real label) { return !(label > 10 || label < -10); }

// The cosine of the angle at a place, from -1 to 1; NaN stays.
DEVICE double cosine(const Real* x, const Real* label, int channels, int places) {
  double t = 0;
  for (int c = 0; c < channels; ++c) t += double(x[c * places]) * label[c * places];
  return t > 1 ? 1 : t < -1 ? -1 : t;
}

KERNEL angle_sums(int n, const Real* x, const Real* label, double* sums, int channels, int places) {
  SHARED double part[PARTS];
  BLOCK_LOOP(image, n) {
    const int first = image * channels * places;
    const double sum = block_sum(part, places, [=](int i) {
      return counts(label[first + i]) ? acos(cosine(x + first + i, label + first + i, channels, places)) : 0.0;
    });
    THREAD_LOOP(t, 1) sums[image] = sum;
  }
}

KERNEL angle_mean(int n, const double* sums, Real* top, int images) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, images, [=](int image) { return sums[image]; });
    THREAD_LOOP(t, 1) top[0] = Real(sum / images);
  }
}

// n: places of all images
KERNEL angle_diffs(int n, const Real* x, const Real* label, const Real* top_diff, Real* diff, int images, int channels,
                   int places) {
  GRID_LOOP(i, n) {
    const int at = i / places * channels * places + i % places;
    const double t = cosine(x + at, label + at, channels, places);
    const double by = counts(label[at]) ? -top_diff[0] / (sqrt(1 - t * t) + 1e-6) / images : 0.0;
    for (int c = 0; c < channels; ++c) diff[at + c * places] = by == 0 ? Real(0) : Real(by * label[at + c * places]);
  }
}
