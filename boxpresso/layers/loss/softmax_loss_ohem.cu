// softmax_loss_ohem.cu: minus the logarithm of the probability of each label. Position i is one (outer, inner) pair.
#include <cfloat>
#include "loss.h"

KERNEL region_losses(int n, const Real* probability, const Real* label, Real* each, int channels, int inner,
                     int has_ignored, int ignored) {
  GRID_LOOP(i, n) {
    each[i] = 0;
    if (state_of(label[i], channels, has_ignored, ignored) != COUNTS) continue;
    const int outer = i / inner;
    const Real p = probability[(outer * channels + int(label[i])) * inner + i - outer * inner];
    each[i] = -log(p < Real(FLT_MIN) ? Real(FLT_MIN) : p);
  }
}

// result = what to divide by (divisor, or 0 for the labels that count), and how many labels are not a channel.
KERNEL region_total(int n, const Real* each, const Real* label, Real* top, Real* result, int positions, int channels,
                    int has_ignored, int ignored, Real divisor) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double loss = block_sum(part, positions, [=](int i) { return each[i]; });
    const auto state = [=](int i) { return state_of(label[i], channels, has_ignored, ignored); };
    const double valid = block_sum(part, positions, [=](int i) { return state(i) == COUNTS; });
    const double wrong = block_sum(part, positions, [=](int i) { return state(i) == WRONG; });
    THREAD_LOOP(t, 1) {
      const double by = divisor > 0 ? double(divisor) : valid;
      result[0] = Real(by > 1 ? by : 1.0);
      result[1] = Real(wrong);
      top[b] = Real(loss / double(result[0]));
    }
  }
}

KERNEL region_diffs(int n, const Real* probability, const Real* label, const Real* top_diff, const Real* result,
                    Real* bottom_diff, int channels, int inner, int has_ignored, int ignored) {
  GRID_LOOP(i, n) {
    const int outer = i / inner, first = outer * channels * inner + i - outer * inner, truth = truth_of(label[i]);
    const bool counts = state_of(label[i], channels, has_ignored, ignored) == COUNTS;
    const Real by = counts ? top_diff[0] / result[0] : Real(0);
    for (int c = 0, at = first; c < channels; ++c, at += inner)
      bottom_diff[at] = by * (probability[at] - (c == truth ? Real(1) : Real(0)));
  }
}
