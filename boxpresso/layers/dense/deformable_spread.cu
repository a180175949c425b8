// deformable_spread.cu: the columns' gradient back to the image.
#include "kernel.h"

// n: channels blocks, each the owner of its map in image_diff, which is 0 before. For the rest see deformable.cu.
KERNEL deformable_spread(int n, const Real* given, const int* at, const Real* parts, const Real* mask, Real* image_diff,
                         int taps, int places, int area, int shared) {
  SUMS_IN_ANY_ORDER;
  BLOCK_LOOP(channel, n) {
    const int first = channel / shared * taps * places;
    const Real* g = given + channel * taps * places;
    Real* map = image_diff + channel * area;
    THREAD_LOOP(t, taps * places) {
      const int* k = at + 4 * (first + t);
      const Real fy = parts[2 * (first + t)], fx = parts[2 * (first + t) + 1];
      const Real value = mask ? mask[first + t] * g[t] : g[t];
      if (k[0] >= 0) add(map + k[0], (1 - fy) * (1 - fx) * value);
      if (k[1] >= 0) add(map + k[1], (1 - fy) * fx * value);
      if (k[2] >= 0) add(map + k[2], fy * (1 - fx) * value);
      if (k[3] >= 0) add(map + k[3], fy * fx * value);
    }
  }
}
