// riroi_align_rotated.cu: orientation channels turned with their region, between the two that its angle lies between.
#include "orientations.h"
#include "region.h"

constexpr int SLOTS = 256;  // partial sums of a region, in one fixed order

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
    const Mixed mixed = mixed_of(turn, o, orientations, back);
    const Store* from = pooled + (i - o * bins);
    top[i] = mix(turn, Real(from[mixed.lower * bins]), Real(from[mixed.upper * bins]));
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
