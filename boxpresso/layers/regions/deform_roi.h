// deform_roi.h: where the bins of deformable pooling lie.
#pragma once
#include "grid.h"

// A region: the grid of samples of its first bin, and its size in pixels of the map.
struct Whole {
  Grid grid;
  Real height, width;
};

DEVICE Whole region_of(const Store* regions, int k, const GridGeometry& g) {
  const Store* region = regions + 5 * (long long)k;
  const Real x = Real(region[1]) * g.scale - Real(0.5), y = Real(region[2]) * g.scale - Real(0.5);
  const Real width = Real(region[3]) * g.scale - Real(0.5) - x, height = Real(region[4]) * g.scale - Real(0.5) - y;
  return {grid_of(y, x, height, width, g.pooled_height, g.pooled_width, g.sampling_ratio), height, width};
}

// The grid of samples of bin `bin` of region k, which starts at the bin. offset (K, 2, bins) or null: x then y, in units of
// gamma times the size of the region.
DEVICE Grid bin_of(const Whole& whole, const Store* offset, int k, int bin, const GridGeometry& g, Real gamma) {
  const int ph = bin / g.pooled_width, pw = bin - ph * g.pooled_width, bins = g.pooled_height * g.pooled_width;
  Grid grid = whole.grid;
  if (offset) {
    const Store* own = offset + 2ll * k * bins + bin;
    grid.x += gamma * whole.width * Real(own[0]);
    grid.y += gamma * whole.height * Real(own[bins]);
  }
  grid.y += ph * grid.bin_height;
  grid.x += pw * grid.bin_width;
  return grid;
}

constexpr int MANY = 1024;  // samples of a bin, from which on those outside the map are left out

struct Reach {
  int from, to;
};

// Which of `count` samples from `start` on, `size` apart in all, may touch the pixels from `first` to `end` of an axis.
DEVICE Reach part_on_map(Real start, Real size, int count, int first, int end) {
  const Real step = size / count, a = (first - 1 - start) / step, b = (end - start) / step;
  const Real margin = 3 + Real(1e-5) * (abs(a) + abs(b) + abs(first / step)), low = min(a, b) - margin, high = max(a, b) + margin;
  if (!(low >= -REAL_MAX && high <= REAL_MAX)) return {0, count};
  const int from = int(max(min(low, Real(count)), Real(0)));
  return {from, max(from, int(max(min(high, Real(count)), Real(0))))};
}

// The samples of a bin that are looked at, in order: `count` from row `top` and column `left` on, `columns` in a row.
struct Looked {
  int top, left, columns, count;
};

DEVICE Looked looked_at(const Grid& bin, int height, int width) {
  Reach down = {0, bin.rows}, across = {0, bin.columns};
  if (bin.rows * bin.columns > MANY) {
    down = part_on_map(bin.y, bin.bin_height, bin.rows, 0, height);
    across = part_on_map(bin.x, bin.bin_width, bin.columns, 0, width);
  }
  return {down.from, across.from, across.to - across.from, (down.to - down.from) * (across.to - across.from)};
}
