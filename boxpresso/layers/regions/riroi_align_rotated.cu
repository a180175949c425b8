// riroi_align_rotated.cu: orientation channels turned with their region, between the two that its angle lies between.
#include "region.h"

#define TWO_PI 6.283185307179586

constexpr int SLOTS = 256;  // partial sums of a region, in one fixed order

// An angle in orientations: the whole ones, from 0 to orientations - 1, and the part above.
struct Turn {
  int whole;
  Real part;
};

DEVICE Turn turn_of(Real theta, int orientations) {
  const Real turns = Real(double(theta * orientations) / TWO_PI);
  const Real whole = floor(float(turns));  // in float, as mmcv does also in double: a multiple of the unit stays whole
  if (!(abs(turns) <= REAL_MAX)) return {0, Real(0)};
  const Real index = whole - floor(whole / orientations) * orientations;
  return {int(max(min(index, Real(orientations - 1)), Real(0))), turns - whole};
}

// top (K, C, bins) of pooled, C = groups * orientations with the orientation fastest; or, when `back`, the gradient of pooled
// in `top` from that of the top in `pooled`: the same mixture, turned the other way.
KERNEL riroi_align_rotated_mix(int n, const Store* pooled, const Real* rows, Store* top, int channels, int bins,
                               int orientations, int batch, int back) {
  GRID_LOOP(i, n) {
    const int row = i / bins, k = row / channels, c = row - k * channels, o = c % orientations;
    if (image_of(rows + 6 * (long long)k, 6, batch) < 0) {
      top[i] = Real(0);
      continue;
    }
    const Turn turn = turn_of(rows[6 * (long long)k + 5], orientations);
    const int shift = back ? turn.whole : orientations - turn.whole;
    const int lower = (o + shift) % orientations, upper = (o + shift + (back ? orientations - 1 : 1)) % orientations;
    const Store* from = pooled + (i - o * bins);
    top[i] = (1 - turn.part) * Real(from[lower * bins]) + turn.part * Real(from[upper * bins]);
  }
}

// Adds to the angle's gradient what the mixture gives; a block owns a region.
KERNEL riroi_align_rotated_angle(int n, const Store* pooled, const Store* top_diff, const Real* rows, Store* diff,
                                 int channels, int bins, int orientations, int batch) {
  BLOCK_LOOP(k, n) {
    SHARED Real sum[SLOTS];
    const Turn turn = turn_of(rows[6 * (long long)k + 5], orientations);
    const long long first = (long long)k * channels * bins;
    THREAD_LOOP(t, SLOTS) {
      Real total = 0;
      for (int i = t; i < channels * bins; i += SLOTS) {
        const int o = i / bins % orientations, shift = orientations - turn.whole;
        const Store* from = pooled + first + (i - o * bins);
        const Real lower = Real(from[(o + shift) % orientations * bins]);
        total += Real(top_diff[first + i]) * (Real(from[(o + shift + 1) % orientations * bins]) - lower);
      }
      sum[t] = total;
    }
    BARRIER();
    THREAD_LOOP(one, 1) {
      Real total = 0;
      for (int i = 0; i < SLOTS; ++i) total += sum[i];
      if (image_of(rows + 6 * (long long)k, 6, batch) >= 0)
        diff[6 * (long long)k + 5] = Real(diff[6 * (long long)k + 5]) + total * orientations / Real(TWO_PI);
    }
    BARRIER();
  }
}
