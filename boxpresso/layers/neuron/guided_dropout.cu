// guided_dropout.cu: channels of each image live or die by what guides them. Factors are kept for backward.
#include "random.h"
#include "sum.h"

// factor[image, c] = 0, or channels / (how many are left, or are expected to be). draws: left with probability
// sigmoid(slope * guide), else left where the guide is above `bound`. n: images.
KERNEL guided_factors(int n, const Real* guide, Real* factor, int channels, int draws, Real bound, Real slope, unsigned key,
                      unsigned iteration) {
  SHARED double part[PARTS];
  BLOCK_LOOP(image, n) {
    const Real* g = guide + image * channels;
    const double left = block_sum(part, channels, [=](int c) {
      return draws ? 1 / (1 + exp(-double(slope) * g[c])) : double(g[c] > bound);
    });
    const double scale = left > 0 ? channels / left : 1;
    THREAD_LOOP(c, channels) {
      const double likely = 1 / (1 + exp(-double(slope) * g[c]));
      const bool stays = draws ? philox(image * channels + c, iteration, key) < likely * 4294967296.0 : g[c] > bound;
      factor[image * channels + c] = stays ? Real(scale) : Real(0);
    }
  }
}

KERNEL guided_dropout(int n, const Real* from, const Real* factor, Real* to, int inner) {
  BLOCK_LOOP(plane, n) {
    const Real by = factor[plane];
    THREAD_LOOP(i, inner) to[plane * inner + i] = by == 0 ? Real(0) : from[plane * inner + i] * by;
  }
}
