// entropy_loss.cu: the entropy of the probabilities of each place, and its gradient. A place is one (outer, inner) pair.
#include <cfloat>
#include "loss.h"

DEVICE double logarithm_of(Real p) { return log(double(p < Real(FLT_MIN) ? Real(FLT_MIN) : p)); }  // a NaN stays one

// entropy: of each place. partial[3 b ...]: the sum of those of block b's places, their number, 0.
KERNEL entropy_losses(int n, const Real* probability, Real* entropy, double* partial, int places, int channels, int inner) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const int first = b * PIECE, count = min(PIECE, places - first);
    THREAD_LOOP(i, count) {
      const int place = first + i, at = place / inner * channels * inner + place % inner;
      double sum = 0;
      for (int k = 0; k < channels; ++k) sum -= double(probability[at + k * inner]) * logarithm_of(probability[at + k * inner]);
      entropy[place] = Real(sum);
    }
    BARRIER();
    const double loss = block_sum(part, count, [=](int i) { return double(entropy[first + i]); });
    THREAD_LOOP(t, 1) {
      partial[3 * b] = loss;
      partial[3 * b + 1] = count;
      partial[3 * b + 2] = 0;
    }
  }
}

KERNEL entropy_diffs(int n, const Real* probability, const Real* entropy, const Real* top_diff, const Real* result,
                     Real* bottom_diff, int channels, int inner) {
  GRID_LOOP(i, n) {
    const Real of_place = entropy[i / inner / channels * inner + i % inner];
    bottom_diff[i] = -top_diff[0] / result[0] * probability[i] * (Real(logarithm_of(probability[i])) + of_place);
  }
}
