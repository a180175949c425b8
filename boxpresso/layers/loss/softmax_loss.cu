// softmax_loss.cu: minus the logarithm of the probability of each label. A position is one (outer, inner) pair.
#include <cfloat>
#include "sum.h"

constexpr int PIECE = 1024;  // positions that one block sums, as in softmax_loss.py

// partial[3 b ...] = the block's sum of losses, its labels that count, its labels that are no channel
KERNEL label_losses(int n, const Real* probability, const Real* label, double* partial, int positions, int channels,
                    int inner, int has_ignored, int ignored) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const int first = b * PIECE, count = min(PIECE, positions - first);
    const auto counts = [=](int i) { return !has_ignored || int(label[first + i]) != ignored; };
    const auto fits = [=](int i) { return label[first + i] > -1 && label[first + i] < channels; };
    const double loss = block_sum(part, count, [=](int i) {
      if (!counts(i) || !fits(i)) return Real(0);
      const int at = first + i, outer = at / inner;
      const Real p = probability[(outer * channels + int(label[at])) * inner + at - outer * inner];
      return -log(p < Real(FLT_MIN) ? Real(FLT_MIN) : p);
    });
    const double valid = block_sum(part, count, [=](int i) { return counts(i) ? 1 : 0; });
    const double wrong = block_sum(part, count, [=](int i) { return counts(i) && !fits(i) ? 1 : 0; });
    THREAD_LOOP(t, 1) {
      partial[3 * b] = loss;
      partial[3 * b + 1] = valid;
      partial[3 * b + 2] = wrong;
    }
  }
}

// result = what to divide by, and how many labels are wrong. divisor: 0 for the labels that count.
KERNEL join_losses(int n, const double* partial, Real* top, Real* result, int blocks, Real divisor) {
  GRID_LOOP(i, n) {
    double loss = 0, valid = 0, wrong = 0;
    for (int b = 0; b < blocks; ++b) {
      loss += partial[3 * b];
      valid += partial[3 * b + 1];
      wrong += partial[3 * b + 2];
    }
    const double by = max(divisor > 0 ? double(divisor) : valid, 1.0);
    top[i] = Real(loss / by);
    result[0] = Real(by);
    result[1] = Real(wrong);
  }
}

// bottom_diff = (probability - 1 at the label) * top_diff / result[0]; 0 where the label is ignored
KERNEL label_diffs(int n, const Real* probability, const Real* label, const Real* top_diff, const Real* result,
                   Real* bottom_diff, int channels, int inner, int has_ignored, int ignored) {
  BLOCK_LOOP(b, n) {
    const Real by = top_diff[0] / result[0];
    const int outer = b / channels, c = b % channels;
    THREAD_LOOP(i, inner) {
      const int truth = int(label[outer * inner + i]), at = b * inner + i;
      const Real off = probability[at] - (truth == c ? Real(1) : Real(0));
      bottom_diff[at] = has_ignored && truth == ignored ? Real(0) : off * by;
    }
  }
}

KERNEL label_diffs_of_rows(int n, const Real* probability, const Real* label, const Real* top_diff, const Real* result,
                           Real* bottom_diff, int channels, int has_ignored, int ignored) {
  GRID_LOOP(row, n) {
    const int truth = int(label[row]), at = row * channels;
    const bool counts = !has_ignored || truth != ignored;
    const Real by = top_diff[0] / result[0];
    for (int c = 0; c < channels; ++c) {
      const Real off = probability[at + c] - (truth == c ? Real(1) : Real(0));
      bottom_diff[at + c] = counts ? off * by : Real(0);
    }
  }
}
