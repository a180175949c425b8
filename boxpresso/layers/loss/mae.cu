// mae.cu: how far ages are from those that scores tell.
#include "sum.h"

// What a row of C numbers tells: the number itself, or the place of the first of the largest.
DEVICE Real told_by(const Real* row, int channels) {
  int best = 0;
  for (int c = 1; c < channels; ++c) best = row[c] > row[best] ? c : best;
  return channels == 1 ? row[0] : Real(best);
}

KERNEL row_errors(int n, const Real* x, const Real* label, Real* error, int channels, int label_channels) {
  GRID_LOOP(i, n) error[i] = abs(told_by(x + i * channels, channels) - told_by(label + i * label_channels, label_channels));
}

// Of ranks, in how many the second score is the higher; -1 for a label that is ignored.
KERNEL rank_errors(int n, const Real* x, const Real* label, Real* error, int ranks, int inner, int has_ignored, int ignored) {
  GRID_LOOP(i, n) {
    const Real* scores = x + i / inner * 2 * ranks * inner + i % inner;
    int rank = 0;
    for (int k = 0; k < ranks; ++k) rank += scores[2 * k * inner] < scores[(2 * k + 1) * inner];
    const int truth = int(label[i]);
    error[i] = has_ignored && truth == ignored ? Real(-1) : Real(abs(truth - rank));
  }
}

// top = the mean of the errors that are not negative. n: 1.
KERNEL mean_error(int n, const Real* error, Real* top, int items) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const double sum = block_sum(part, items, [=](int i) { return error[i] < 0 ? Real(0) : error[i]; });
    const double count = block_sum(part, items, [=](int i) { return !(error[i] < 0); });
    THREAD_LOOP(t, 1) top[b] = Real(sum / count);
  }
}
