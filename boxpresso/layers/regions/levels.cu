// levels.cu: rows of numbers, such as the bins of a region, brought together by level and back.
#include "kernel.h"

// to[i] = from[index[i]] and to[index[i]] = from[i], for n rows of `size` numbers; in the second no index comes twice.
KERNEL take_rows(int n, const Store* from, const int* index, Store* to, int size) {
  BLOCK_LOOP(i, n) {
    const Store* row = from + (long long)index[i] * size;
    THREAD_LOOP(k, size) to[(long long)i * size + k] = row[k];
  }
}
KERNEL put_rows(int n, const Store* from, const int* index, Store* to, int size) {
  BLOCK_LOOP(i, n) {
    Store* row = to + (long long)index[i] * size;
    THREAD_LOOP(k, size) row[k] = from[(long long)i * size + k];
  }
}

// The level of a region (batch index, x1, y1, x2, y2): how many of the `levels` - 1 numbers of least are at most its area; 0 for one with
// NaN or infinity.
DEVICE int level_of(const Real* region, const Real* least, int levels) {
  const Real area = (region[3] - region[1]) * (region[4] - region[2]);
  int level = 0;
  for (int l = 0; l < levels - 1; ++l) level += area >= least[l];
  for (int k = 0; k < 5; ++k)
    if (!(abs(region[k]) <= REAL_MAX)) level = 0;
  return level;
}

// The regions as one level pools them: those of other levels have the batch index -1, of which a pooling makes 0.
KERNEL level_regions(int n, const Real* regions, const Real* least, Real* rows, int level, int levels) {
  GRID_LOOP(i, n) {
    const Real* region = regions + 5 * i;
    for (int k = 0; k < 5; ++k) rows[5 * i + k] = region[k];
    if (level_of(region, least, levels) != level) rows[5 * i] = -1;
  }
}

// to[i] = from[i], rows of `size` numbers, for the regions of a level.
KERNEL level_bins(int n, const Real* regions, const Real* least, const Real* from, Real* to, int level, int levels, int size) {
  BLOCK_LOOP(i, n) {
    const long long first = (long long)i * size;
    const bool mine = level_of(regions + 5 * i, least, levels) == level;
    THREAD_LOOP(k, mine ? size : 0) to[first + k] = from[first + k];
  }
}
