// shakeout.cu: the two products of a shaken layer, made of one draw for each input. Nothing drawn is stored.
#include "random.h"

// What an input is multiplied by: 0, or the inverse of the probability that it is kept.
DEVICE Real kept_by(int i, unsigned key, unsigned iteration, unsigned threshold, Real scale) {
  return philox(i, iteration, key) >= threshold ? scale : Real(0);
}

KERNEL shake(int n, const Real* x, Real* kept, Real* moved, unsigned key, unsigned iteration, unsigned threshold, Real scale,
             Real strength) {
  GRID_LOOP(i, n) {
    const Real by = kept_by(i, key, iteration, threshold, scale);
    kept[i] = x[i] * by;
    moved[i] = x[i] * strength * (by - 1);
  }
}

KERNEL shake_back(int n, const Real* of_weights, const Real* of_signs, Real* diff, unsigned key, unsigned iteration,
                  unsigned threshold, Real scale, Real strength) {
  GRID_LOOP(i, n) {
    const Real by = kept_by(i, key, iteration, threshold, scale);
    diff[i] = of_weights[i] * by + of_signs[i] * strength * (by - 1);
  }
}

KERNEL shake_signs(int n, const Real* weights, Real* signs) {
  GRID_LOOP(i, n) signs[i] = weights[i] > 0 ? Real(1) : weights[i] < 0 ? Real(-1) : Real(0);
}

// A sign is taken for tanh(smooth * w) by its gradient.
KERNEL shake_weights(int n, const Real* weights, const Real* of_signs, Real* diff, Real smooth) {
  GRID_LOOP(i, n) {
    const Real sign = tanh(smooth * weights[i]);
    diff[i] += of_signs[i] * smooth * (1 - sign * sign);
  }
}
