// label_specific_rescale.cu: the score of the true class is multiplied or raised, those of the others are multiplied.
#include "loss.h"

// How the true score is changed: with `raise` to sign(x) |x|^weight, else to weight x, plus 1 - weight with `fix`; with `above` only
// where it is above 0. slopes[row]: the derivative.
struct Rescaling {
  int raise, fix, above;
};

KERNEL rescale_scores(int n, const Real* bottom, const Real* label, Real* top, Real* slopes, int length, Real weight,
                      Real others, Rescaling how) {
  GRID_LOOP(i, n) {
    const int row = i / length;
    const Real score = bottom[i];
    if (truth_of(label[row]) != i - row * length) {
      top[i] = score * others;
    } else if (how.above && !(score > 0)) {
      top[i] = score;
      slopes[row] = 1;
    } else if (how.raise && weight != 1) {
      const Real size = abs(score), high = size > 0 ? pow(size, weight) : Real(0);
      top[i] = score < 0 ? -high : high;
      slopes[row] = size > 0 ? weight * pow(size, weight - 1) : Real(0);
    } else {
      top[i] = score * weight + (how.fix ? 1 - weight : Real(0));
      slopes[row] = weight;
    }
  }
}

KERNEL rescale_diffs(int n, const Real* top_diff, const Real* label, const Real* slopes, Real* bottom_diff, int length,
                     Real others) {
  GRID_LOOP(i, n) {
    const int row = i / length;
    bottom_diff[i] = top_diff[i] * (truth_of(label[row]) == i - row * length ? slopes[row] : others);
  }
}
