// softmax_with_loss.cu: minus the logarithm of the probability of each label. A position is one (outer, inner) pair.
#include <cfloat>
#include "loss.h"

// The weight of a position, 1 without weights.
DEVICE Real weight_of(const Real* weight, int i, int has_weight) { return has_weight ? weight[i] : Real(1); }

// weight[position] = what `table` has for its label's class, times the weight that it is given.
KERNEL weights_of_labels(int n, const Real* label, const Real* given, const Real* table, Real* weight, int channels) {
  GRID_LOOP(i, n) {
    const bool known = label[i] > -1 && label[i] < channels;
    weight[i] = (known ? table[int(label[i])] : Real(0)) * (given ? given[i] : Real(1));
  }
}

KERNEL labels_from_zero(int n, const Real* label, Real* result) {
  GRID_LOOP(i, n) result[i] = label[i] - 1;
}

// partial[3 b ...]: as piece_of_loss has it
KERNEL label_losses(int n, const Real* probability, const Real* label, double* partial, int positions, int channels,
                    int inner, int has_ignored, int ignored, const Real* weight, int has_weight) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, positions, [=](int i) { return state_of(label[i], channels, has_ignored, ignored); },
        [=](int i) {
          const int outer = i / inner;
          const Real p = probability[(outer * channels + int(label[i])) * inner + i - outer * inner];
          return -log(p < Real(FLT_MIN) ? Real(FLT_MIN) : p) * weight_of(weight, i, has_weight);
        });
}

// bottom_diff = (probability - 1 at the label) * top_diff / result[0]; 0 where the label is ignored
KERNEL label_diffs(int n, const Real* probability, const Real* label, const Real* top_diff, const Real* result,
                   Real* bottom_diff, int channels, int inner, int has_ignored, int ignored, const Real* weight,
                   int has_weight) {
  BLOCK_LOOP(b, n) {
    const Real by = top_diff[0] / result[0];
    const int outer = b / channels, c = b % channels;
    THREAD_LOOP(i, inner) {
      const Real given = label[outer * inner + i];
      const int truth = truth_of(given), at = b * inner + i;
      const Real off = probability[at] - (truth == c ? Real(1) : Real(0));
      const Real share = by * weight_of(weight, outer * inner + i, has_weight);
      bottom_diff[at] = is_ignored(given, has_ignored, ignored) ? Real(0) : off * share;
    }
  }
}

KERNEL label_diffs_of_rows(int n, const Real* probability, const Real* label, const Real* top_diff, const Real* result,
                           Real* bottom_diff, int channels, int has_ignored, int ignored, const Real* weight,
                           int has_weight) {
  GRID_LOOP(row, n) {
    const int truth = truth_of(label[row]), at = row * channels;
    const bool counts = !is_ignored(label[row], has_ignored, ignored);
    const Real by = top_diff[0] / result[0] * weight_of(weight, row, has_weight);
    for (int c = 0; c < channels; ++c) {
      const Real off = probability[at + c] - (truth == c ? Real(1) : Real(0));
      bottom_diff[at + c] = counts ? off * by : Real(0);
    }
  }
}
