// softmax_cross_entropy_loss.cu: probabilities beside targets, element by element, with a weight for each channel.
#include "loss.h"

DEVICE int channel_at(int i, int channels, int inner) { return i / inner % channels; }

KERNEL without_channel(int n, const Real* score, Real* to, int channels, int inner, int zero) {
  GRID_LOOP(i, n) to[i] = channel_at(i, channels, inner) == zero ? Real(0) : score[i];
}

// weight: of each channel; a null pointer stands for ones.
KERNEL target_entropies(int n, const Real* probability, const Real* target, const Real* weight, double* partial, int items,
                        int channels, int inner, int has_ignored, int ignored) {
  SHARED double part[PARTS];
  BLOCK_LOOP(b, n)
    piece_of_loss(
        part, partial, b, items, [=](int i) { return is_ignored(target[i], has_ignored, ignored) ? IGNORED : COUNTS; },
        [=](int i) {
          const double p = probability[i], by = weight ? double(weight[channel_at(i, channels, inner)]) : 1.0;
          return target[i] == 0 ? 0.0 : -by * double(target[i]) * log(p < 1e-20 ? 1e-20 : p);
        });
}

KERNEL target_diffs(int n, const Real* probability, const Real* target, const Real* weight, const Real* top_diff,
                    const Real* result, Real* bottom_diff, int channels, int inner, int has_ignored, int ignored, int zero) {
  GRID_LOOP(i, n) {
    const int channel = channel_at(i, channels, inner);
    const Real by = top_diff[0] / result[0] * (weight ? weight[channel] : Real(1));
    const bool counts = channel != zero && !is_ignored(target[i], has_ignored, ignored);
    bottom_diff[i] = counts ? by * (probability[i] - target[i]) : Real(0);
  }
}
