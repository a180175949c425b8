// infogain_loss.cu: -sum(H[label] * log(p)). A position is one (outer, inner) pair.
#include "loss.h"

DEVICE Real at_least(Real p) { return p < Real(1e-20) ? Real(1e-20) : p; }  // a NaN stays one

KERNEL gains(int n, const Real* probability, const Real* label, const Real* table, double* partial, int positions,
             int channels, int inner, int has_ignored, int ignored) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, positions, [=](int i) { return state_of(label[i], channels, has_ignored, ignored); },
        [=](int i) {
          const int outer = i / inner;
          const Real* p = probability + outer * channels * inner + i - outer * inner;
          const Real* gain = table + int(label[i]) * channels;
          double sum = 0;
          for (int k = 0; k < channels; ++k) sum -= double(gain[k]) * log(at_least(p[k * inner]));
          return sum;
        });
}

KERNEL sum_rows(int n, const Real* table, Real* sums) {
  GRID_LOOP(row, n) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += table[row * n + k];
    sums[row] = Real(sum);
  }
}

// With `sums`, those of the table's rows, the gradient goes on to the scores: p * sum(H[label]) - H[label].
// n: outer * channels.
KERNEL gains_backward(int n, const Real* probability, const Real* label, const Real* table, const Real* sums,
                      const Real* top_diff, const Real* result, Real* bottom_diff, int channels, int inner,
                      int has_ignored, int ignored) {
  BLOCK_LOOP(b, n) {
    const Real by = top_diff[0] / result[0];
    const int outer = b / channels, c = b % channels;
    THREAD_LOOP(i, inner) {
      const int at = b * inner + i;
      const Real truth = label[outer * inner + i];
      if (state_of(truth, channels, has_ignored, ignored) != COUNTS) {
        bottom_diff[at] = 0;
      } else {
        const Real p = probability[at], gain = table[int(truth) * channels + c];
        bottom_diff[at] = by * (sums ? p * sums[int(truth)] - gain : -gain / at_least(p));
      }
    }
  }
}
