// cross_entropy_loss.cu: cross entropies of probabilities that are given, each of a yes-or-no target.
#include "loss.h"

DEVICE double log_of(double p, double least) { return log(p < least ? least : p); }  // a NaN stays one

// target: a null pointer stands for `same` for all. A target of 0 or 1 has one of the two terms alone, whatever the other logarithm is.
KERNEL probable_entropies(int n, const Real* probability, const Real* target, double* partial, int items, double least,
                          int has_ignored, Real ignored, Real same) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return has_ignored && target && target[i] == ignored ? IGNORED : COUNTS; },
        [=](int i) {
          const double p = probability[i], t = target ? target[i] : same;
          return -(t != 0 ? t * log_of(p, least) : 0) - (t != 1 ? (1 - t) * log_of(1 - p, least) : 0);
        });
}

KERNEL probable_diffs(int n, const Real* probability, const Real* target, const Real* top_diff, const Real* result,
                      Real* bottom_diff, double least, int has_ignored, Real ignored, Real same) {
  GRID_LOOP(i, n) {
    const double p = probability[i], t = target ? target[i] : same, by = top_diff[0] / result[0];
    const double off = (1 - t) / max(1 - p, least) - t / max(p, least);
    bottom_diff[i] = has_ignored && target && target[i] == ignored ? Real(0) : Real(by * off);
  }
}

KERNEL total(int n, const Real* a, const Real* b, Real* sum) {
  GRID_LOOP(i, n) sum[i] = a[i] + (b ? b[i] : Real(0));
}
