// rotated_near.h: which samples of rotated regions may lie near a tile, and whether one has a pixel in it.
//
// What holds for a region is found by one thread, for as many regions as there are threads; of its samples only those are taken
// that may lie near the tile, and those of several regions together, so that all threads have one.
#pragma once
#include "ranks.h"
#include "rotated.h"
#include "tiles.h"

constexpr int SAMPLES = sizeof(Real) > 4 ? 128 : 256;  // that are found together
constexpr int NEAR = sizeof(Real) > 4 ? 16 : 64;  // regions that are taken together: what fits a block's own memory
constexpr int NEAR_PART = 8;                      // of them, that one thread adds up
constexpr int FEW_SAMPLES = 1 << 20;              // of a region, whose numbers a product with an inverse divides exactly
constexpr int MANY_SAMPLES = 1 << 30;             // of regions that are taken together, unless one alone has more

// A region, and which of its samples may touch the tile: counted over all its bins, rows and columns of them. first_bin: the row of bins
// that the first row lies in; skipped: the rows of it before; few: whether quotients of their numbers are made by products; share: what
// a sample weighs in its bin's average.
struct Near {
  Turned turned;
  int k, rows, first_column, columns, first_bin, skipped, few;
  Real share, row_inverse, column_inverse;  // of how many samples a row of bins has here, and of the columns in a bin
};

// Which of `total` samples that begin half a step from `start`, a step apart, may lie within `reach` of a place. A hundredth of a step
// is left on each side for what the quotients are rounded by.
DEVICE Span samples_near(Real place, Real reach, Real start, Real step, int total) {
  const Real a = (place - reach - start) / step, b = (place + reach - start) / step, slack = Real(0.01) + Real(1e-6) * max(abs(a), abs(b));
  const Real low = ceil(min(a, b) - slack - Real(0.5)), high = floor(max(a, b) + slack + Real(0.5));
  if (!(low >= -REAL_MAX && high <= REAL_MAX) || !(abs(step) > 0)) return {0, total};
  const int first = int(min(max(low, Real(0)), Real(total))), end = int(min(max(high, Real(0)), Real(total)));
  return {min(first, total), min(max(first, end), total)};
}

// The box around the tile, turned into the region's own axes, widened by what rounding may move samples.
DEVICE Near near_of(const Real* rows, int k, const Tile& tile, int clockwise, const GridGeometry& g) {
  const Turned t = turned(rows + 6 * (long long)k, g, clockwise);
  const Grid& grid = t.grid;
  if (grid.rows * grid.columns == 0) return {t, k, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const Real half_y = Real(tile.bottom - tile.top + 1) / 2, half_x = Real(tile.right - tile.left + 1) / 2;
  const Real y = tile.top - 1 + half_y - t.y, x = tile.left - 1 + half_x - t.x, sine = abs(t.sine), cosine = abs(t.cosine);
  const Real margin = Real(0.01) + Real(1e-5) * (abs(t.y) + abs(t.x) + abs(grid.y) + abs(grid.x) + abs(y) + abs(x));
  const long long most = 1 << 30;  // samples of an axis: no region has more that a Real tells apart
  const Span down = samples_near(y * t.cosine + x * t.sine, half_y * cosine + half_x * sine + margin, grid.y, grid.bin_height / grid.rows,
                                 int(min(most, (long long)g.pooled_height * grid.rows)));
  const Span across = samples_near(x * t.cosine - y * t.sine, half_y * sine + half_x * cosine + margin, grid.x,
                                   grid.bin_width / grid.columns, int(min(most, (long long)g.pooled_width * grid.columns)));
  const int lines = down.end - down.first, columns = across.end - across.first, first_bin = down.first / grid.rows;
  const bool few = (lines + 2 * (long long)grid.rows) * columns < FEW_SAMPLES && across.end < FEW_SAMPLES;
  return {t, k, lines, across.first, columns, first_bin, down.first - first_bin * grid.rows, few,
          1 / (Real(grid.rows) * Real(grid.columns)), 1 / (Real(grid.rows) * Real(max(columns, 1))), 1 / Real(grid.columns)};
}

// A sample of a region near the tile, and its bin; last: no further sample of the bin follows.
struct NearSample {
  Sample sample;
  int region, bin;
  bool last;
};

// Whether one has a pixel in the tile, where (row, column) is the pixel above and left, 1 more than in the tile.
DEVICE bool touches(const Sample& s, int row, int column, const Tile& tile) {
  return s.inside && row >= (s.below > 0 ? 0 : 1) && s.top < tile.bottom && column >= (s.beside > 0 ? 0 : 1) && s.left < tile.right;
}

// a / b of numbers from 0 on; inverse: 1 / b, whose product with an int below FEW_SAMPLES is rounded by less than half of 1 / b. Of others
// bit by bit, which takes few registers.
DEVICE int divided(int a, int, Real inverse) { return int((a + Real(0.5)) * inverse); }
DEVICE int divided(long long a, long long b, Real) {
  int quotient = 0;
#pragma unroll 1
  for (int bit = 30; bit >= 0; --bit) {
    if (a >> bit < b) continue;
    a -= b << bit;
    quotient |= 1 << bit;
  }
  return quotient;
}

// The bin of a sample, and its row and column there; last: no further one near the tile has that bin.
struct Spot {
  int ph, pw, row, column;
  bool last;
};

// Number `local` of the samples of a region. Those of a row of bins come column by column, so that a bin's follow one another.
template <class Int>
DEVICE Spot spot_of(const Near& of, Int local) {
  const int samples = of.turned.grid.rows, columns = of.turned.grid.columns;
  const Int skipped = Int(of.skipped) * of.columns, each = Int(samples) * of.columns;
  const int line = divided(local + skipped, each, of.row_inverse), begin = line == 0 ? of.skipped : 0;
  const int rows = min(samples, of.skipped + of.rows - line * samples) - begin;
  const Int rest = line == 0 ? local : local + skipped - line * each;
  const int column = divided(rest, Int(rows), 1 / Real(rows)), place = of.first_column + column;
  const int pw = divided(Int(place), Int(columns), of.column_inverse);
  const int row = int(rest - Int(column) * rows), across = place - pw * columns;
  return {of.first_bin + line, pw, begin + row, across, row == rows - 1 && (across == columns - 1 || column == of.columns - 1)};
}

// Regions that are taken together. before[j]: how many samples near the tile the first j of them have; starts: the same for those that
// are searched, and more than any for the others; taken: how many regions that are.
struct Nearby {
  Near near[NEAR];
  long long before[NEAR + 1], parts[NEAR / NEAR_PART];
  int starts[NEAR], taken;
};

DEVICE long long samples_of(const Near& near) { return (long long)near.rows * near.columns; }

// Regions of a tile's list from number `base` on, NEAR at most, to nearby, which is SHARED; how many they are.
DEVICE int take_near(const Real* rows, const Tile& tile, int base, int clockwise, const GridGeometry& g, Nearby& nearby) {
  const int some = min(NEAR, tile.count - base);
  THREAD_LOOP(j, some) nearby.near[j] = near_of(rows, tile.list[base + j], tile, clockwise, g);
  THREAD_LOOP(one, 1) nearby.taken = 1;
  BARRIER();
  THREAD_LOOP(part, NEAR / NEAR_PART) {
    long long sum = 0;
#pragma unroll 1
    for (int i = part * NEAR_PART; i < min((part + 1) * NEAR_PART, some); ++i) sum += samples_of(nearby.near[i]);
    nearby.parts[part] = sum;
  }
  BARRIER();
  THREAD_LOOP(j, NEAR + 1) {
    long long sum = 0;
#pragma unroll 1
    for (int part = 0; part < j / NEAR_PART; ++part) sum += nearby.parts[part];
#pragma unroll 1
    for (int i = j / NEAR_PART * NEAR_PART; i < min(j, some); ++i) sum += samples_of(nearby.near[i]);
    const bool few = j <= some && sum <= MANY_SAMPLES;
    nearby.before[j] = sum;
    if (few) raise_to(&nearby.taken, j);
    if (j < NEAR) nearby.starts[j] = few && j < some ? int(sum) : 2 * (MANY_SAMPLES - 1);
  }
  BARRIER();
  return nearby.taken;
}

// Number `number` of the samples of those regions.
DEVICE NearSample find(long long number, const Nearby& nearby, const GridGeometry& g) {
  const int searched = int(min(number, (long long)MANY_SAMPLES));
  int j = 0;
  for (int step = NEAR / 2; step > 0; step /= 2)
    if (nearby.starts[j + step] <= searched) j += step;
  const Near& of = nearby.near[j];
  const long long local = number - nearby.starts[j];
  const Spot s = of.few ? spot_of(of, int(local)) : spot_of(of, local);
  return {sample_of(of.turned, s.ph, s.pw, s.row, s.column, g.height, g.width), j, s.ph * g.pooled_width + s.pw, s.last};
}
