// softmax_kld_loss.cu: probabilities beside the distribution of each place. A place is one (outer, inner) pair.
#include <cfloat>
#include "loss.h"

DEVICE double logarithm(Real p) { return log(double(p < Real(FLT_MIN) ? Real(FLT_MIN) : p)); }  // a NaN stays one

// partial[3 b ...]: the sum of the losses of block b's places, that of the sizes of their weights, 0.
KERNEL distribution_losses(int n, const Real* probability, const Real* truth, const Real* weight, double* partial, int places,
                           int channels, int inner, int divergence) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n) {
    const int first = b * PIECE, count = min(PIECE, places - first);
    const double loss = block_sum(part, count, [=](int i) {
      const int place = first + i, at = place / inner * channels * inner + place % inner;
      double sum = 0;
      for (int k = 0; k < channels; ++k) {
        const Real q = truth[at + k * inner];
        sum -= double(q) * (logarithm(probability[at + k * inner]) - (divergence ? logarithm(q) : 0));
      }
      return weight ? sum * double(weight[place]) : sum;
    });
    const double whole = block_sum(part, count, [=](int i) { return weight ? abs(double(weight[first + i])) : 1.0; });
    THREAD_LOOP(t, 1) {
      partial[3 * b] = loss;
      partial[3 * b + 1] = whole;
      partial[3 * b + 2] = 0;
    }
  }
}

KERNEL distribution_diffs(int n, const Real* probability, const Real* truth, const Real* weight, const Real* top_diff,
                          const Real* result, Real* bottom_diff, int channels, int inner) {
  GRID_LOOP(i, n) {
    const Real by = top_diff[0] / result[0] * (weight ? weight[i / inner / channels * inner + i % inner] : Real(1));
    bottom_diff[i] = by * (probability[i] - truth[i]);
  }
}
