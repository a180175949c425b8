// argmax.cu: the k largest along the middle axis of (outer, length, inner), the largest first, later places first; the first of the
// largest channels of (images, channels, plane).
#include "kernel.h"

// n: outer * inner. Places, then values, each k of them, as has_places and has_values say.
KERNEL argmax(int n, const Real* bottom, Real* top, int length, int inner, int k, int has_places, int has_values) {
  GRID_LOOP(row, n) {
    const int outer = row / inner, at = row - outer * inner;
    const Real* x = bottom + outer * length * inner + at;
    Real* y = top + outer * (has_places + has_values) * k * inner + at;
    int last = length;  // the place of the rank before; those before it are larger, or later and of the same value
    for (int rank = 0; rank < k; ++rank) {
      int best = -1;
      for (int i = 0; i < length; ++i) {
        const bool left = last == length || x[i * inner] < x[last * inner] ||
                          (x[i * inner] == x[last * inner] && i < last);
        if (left && (best < 0 || x[i * inner] >= x[best * inner] || x[best * inner] != x[best * inner])) best = i;
      }
      if (best < 0) best = 0;  // nothing but NaN is left
      if (has_places) y[rank * inner] = Real(best);
      if (has_values) y[(has_places * k + rank) * inner] = x[best * inner];
      last = best;
    }
  }
}

// Places, and where there is room for them values.
KERNEL likeliest(int n, const Real* bottom, Real* places, Real* values, int channels, int plane) {
  GRID_LOOP(i, n) {
    const int image = i / plane, at = i - image * plane;
    const Real* x = bottom + image * channels * plane + at;
    int best = 0;
    for (int c = 1; c < channels; ++c)
      if (x[c * plane] > x[best * plane]) best = c;
    places[i] = Real(best);
    if (values) values[i] = x[best * plane];
  }
}
