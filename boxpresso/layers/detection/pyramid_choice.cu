// pyramid_choice.cu: regions (image, xmin, ymin, xmax, ymax) sorted by the level of a feature pyramid that their size belongs to, on the
// device. order.cu lists the regions of each level, in their order, at start[level] and on.
#include "kernel.h"

// numpy's maximum: NaN stays.
DEVICE Real side(Real from, Real to) {
  const Real length = to - from;
  return length > 0 || length != length ? length : Real(0);
}

// values (levels, room): -i where region i, of the first count[0] or, where that is null, of all, belongs to the level, else NaN. A region
// belongs to level l if l of the numbers of least (levels - 1) are at most the root of its area; NaN has none.
KERNEL level_values(int n, const Real* regions, const int* count, const Real* least, Real* values, int levels, int room) {
  GRID_LOOP(i, n) {
    const Real *box = regions + 5ll * i + 1, size = sqrt(side(box[0], box[2]) * side(box[1], box[3]));
    int own = 0;
    for (int l = 0; l < levels - 1; ++l) own += size >= least[l];
    const bool some = !count || i < count[0];
    for (int l = 0; l < levels; ++l) values[(long long)l * room + i] = some && l == own ? Real(-i) : Real(NAN);
  }
}

// The regions of one level, to `own` and to `whole`, where they follow those of the levels before it. An empty level has a row of zeros.
// At whole[tail]: how many regions there are, how many rows `whole` has, and then how many each level has.
KERNEL level_rows(int n, const Real* regions, const int* order, const int* start, Real* whole, Real* own, int level, int levels,
                  int tail) {
  GRID_LOOP(i, n) {
    const int size = start[level + 1] - start[level], rows = max(size, 1);
    int before = start[level];
    for (int l = 0; l < level; ++l) before += start[l + 1] == start[l];
    if (i == 0) {
      whole[tail + 2 + level] = rows;
      if (level == levels - 1) {
        whole[tail] = start[levels];
        whole[tail + 1] = before + rows;
      }
    }
    if (i >= rows) continue;
    for (int k = 0; k < 5; ++k) {
      const Real value = size ? regions[5ll * order[start[level] + i] + k] : Real(0);
      whole[5ll * (before + i) + k] = value;
      own[5ll * i + k] = value;
    }
  }
}
