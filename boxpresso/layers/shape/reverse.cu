// reverse.cu: elements from the mirrored place.
#include "kernel.h"

// axes: for each axis that is turned around its length, and how many elements lie between neighbours
KERNEL turn_around(int n, const Real* from, Real* to, const int* axes, int count) {
  GRID_LOOP(i, n) {
    int at = i;
    for (int a = 0; a < count; ++a) {
      const int length = axes[2 * a], step = axes[2 * a + 1], k = i / step % length;
      at += (length - 1 - 2 * k) * step;
    }
    to[i] = from[at];
  }
}
