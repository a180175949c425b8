// rotated_near.h: which samples of rotated regions may lie near a tile, and those that have a pixel in it.
//
// What holds for a region is found by one thread, for as many regions as there are threads; of its samples only those are taken
// that may lie near the tile, and those of several regions together, so that all threads have one.
#pragma once
#include "ranks.h"
#include "rotated.h"
#include "tiles.h"

constexpr int SAMPLES = FLAGS;                    // that are found together
constexpr int NEAR = sizeof(Real) > 4 ? 16 : 32;  // regions that are taken together: what fits a block's own memory

// A region, and which of its samples may touch the tile: counted over all its bins, rows and columns of them.
struct Near {
  Turned turned;
  int k, first_row, rows, first_column, columns;
};

// Which of `total` samples that begin half a step from `start`, a step apart, may lie within `reach` of a place. Half a step more
// is left on each side for what the quotients are rounded by.
DEVICE Span samples_near(Real place, Real reach, Real start, Real step, int total) {
  const Real a = (place - reach - start) / step, b = (place + reach - start) / step, slack = 1 + Real(1e-6) * max(abs(a), abs(b));
  const Real low = min(a, b) - slack, high = max(a, b) + slack;
  if (!(low >= -REAL_MAX && high <= REAL_MAX) || !(abs(step) > 0)) return {0, total};
  const int first = int(min(max(low, Real(0)), Real(total))), end = int(min(max(high, Real(0)), Real(total)));
  return {min(first, total), min(max(first, end), total)};
}

// The box around the tile, turned into the region's own axes, widened by what rounding may move samples.
DEVICE Near near_of(const Real* rows, int k, const Tile& tile, int clockwise, const GridGeometry& g) {
  const Turned t = turned(rows + 6 * (long long)k, g, clockwise);
  const Grid& grid = t.grid;
  if (grid.rows * grid.columns == 0) return {t, k, 0, 0, 0, 0};
  const Real half_y = Real(tile.bottom - tile.top + 1) / 2, half_x = Real(tile.right - tile.left + 1) / 2;
  const Real y = tile.top - 1 + half_y - t.y, x = tile.left - 1 + half_x - t.x, sine = abs(t.sine), cosine = abs(t.cosine);
  const Real margin = Real(0.01) + Real(1e-5) * (abs(t.y) + abs(t.x) + abs(grid.y) + abs(grid.x) + abs(y) + abs(x));
  const long long most = 1 << 30;  // samples of an axis: no region has more that a Real tells apart
  const Span down = samples_near(y * t.cosine + x * t.sine, half_y * cosine + half_x * sine + margin, grid.y, grid.bin_height / grid.rows,
                                 int(min(most, (long long)g.pooled_height * grid.rows)));
  const Span across = samples_near(x * t.cosine - y * t.sine, half_y * sine + half_x * cosine + margin, grid.x,
                                   grid.bin_width / grid.columns, int(min(most, (long long)g.pooled_width * grid.columns)));
  return {t, k, down.first, down.end - down.first, across.first, across.end - across.first};
}

// Samples that were found: `where` says which of the regions it is, the row and the column of the pixel above and left, 1 more than in
// the tile, and whether there is a pixel below (2) and beside (1); -1 for a sample without a pixel in the tile.
struct Found {
  int where[SAMPLES], bin[SAMPLES];
  Real down[SAMPLES], across[SAMPLES];
};
DEVICE int region_of(int where) { return where >> 12; }
DEVICE int row_of(int where) { return where >> 7 & 31; }
DEVICE int column_of(int where) { return where >> 2 & 31; }

DEVICE void put(Found& found, int i, const Sample& s, int region, int bin, const Tile& tile) {
  const int row = s.top - tile.top + 1, column = s.left - tile.left + 1, below = s.below > 0, beside = s.beside > 0;
  const bool touches = s.inside && row >= 1 - below && s.top < tile.bottom && column >= 1 - beside && s.left < tile.right;
  found.where[i] = touches ? region << 12 | row << 7 | column << 2 | below << 1 | beside : -1;
  found.bin[i] = bin;
  found.down[i] = s.down;
  found.across[i] = s.across;
}

// a / b of numbers from 0 on, by a quotient of Reals where that is exact.
DEVICE int quotient(int a, int b) { return a < 1 << 22 ? int((a + Real(0.5)) / Real(b)) : a / b; }

// Number `number` of the samples near the tile: `before` has how many those of earlier regions are.
DEVICE void find(long long number, const Near* near, const long long* before, int some, const Tile& tile, const GridGeometry& g,
                 Found& found, int i) {
  int j = 0;
  for (int step = NEAR / 2; step > 0; step /= 2)
    if (j + step < some && before[j + step] <= number) j += step;
  const Near& of = near[j];
  const long long local = number - before[j];
  const int line = local < 1 << 30 ? quotient(int(local), of.columns) : int(local / of.columns);
  const int row = of.first_row + line, column = of.first_column + int(local - (long long)line * of.columns);
  const int ph = quotient(row, of.turned.grid.rows), pw = quotient(column, of.turned.grid.columns);
  const Sample s = sample_of(of.turned, ph, pw, row - ph * of.turned.grid.rows, column - pw * of.turned.grid.columns, g.height, g.width);
  put(found, i, s, j, ph * g.pooled_width + pw, tile);
}

// The regions of a tile's list from number `base` on, NEAR at most; how many they are. before[j]: how many samples near the tile
// the first j of them have. near and before: SHARED, the latter of NEAR + 1.
DEVICE int take_near(const Real* rows, const Tile& tile, int base, int clockwise, const GridGeometry& g, Near* near,
                     long long* before) {
  const int some = min(NEAR, tile.count - base);
  THREAD_LOOP(j, some) near[j] = near_of(rows, tile.list[base + j], tile, clockwise, g);
  BARRIER();
  THREAD_LOOP(one, 1) {
    before[0] = 0;
    for (int j = 0; j < some; ++j) before[j + 1] = before[j] + (long long)near[j].rows * near[j].columns;
  }
  BARRIER();
  return some;
}
