// prroi_columns.cu: the forward of PrROIPooling and the sums for its regions' gradient, for a GPU, from maps as they are.
//
// A block owns a region in a slab. Bins are products of an axis each: first a thread goes down a column of a bin of y, beside
// threads that read the same rows beside it, so that nothing is packed before; then sums of columns are summed along x.
#include "prroi.h"
#include "wide.h"

#if defined(__CUDACC__)
constexpr int SUMS = 256;  // threads whose sums are kept apart, a power of two
#else
constexpr int SUMS = 1;
#endif
constexpr int LINE = 256;    // columns, of one bin of y or several, whose sums a block keeps
constexpr int BINS = 64;     // whose averages it keeps with them
constexpr int STAGED = 200;  // bins of a region whose gradient a block keeps; of more it reads it where it is

// What the threads of a block share.
struct Region {
  int height, width, pooled_height, pooled_width, channels;  // of the map, bins, and channels of the slab that there are
  const int *y, *x;                                          // the row of `bins`: begins, then ends
  const Real *down, *across;                                 // weights
  const int *below_y, *below_x;                              // edges
  const Real *part_y, *part_x;
  const Store* given;  // the gradient of the top, (channels, bins)
};

// A column of the map in WIDE channels, of which there are `channels`, at least one.
struct Column {
  const Store* from;
  long long area;
  int width, channels;
};

DEVICE Column column_of(const Store* maps, int image, int channel, int channels, int x, int height, int width) {
  const long long area = (long long)height * width;
  return {maps + ((long long)image * channels + channel) * area + x, area, width, min(WIDE, channels - channel)};
}

// A row of a column; missing channels have the numbers of the last one.
DEVICE Wide pixels(const Column& column, int row) {
  alignas(Wide) Real values[WIDE];
  for (int i = 0; i < WIDE; ++i) values[i] = Real(column.from[min(i, column.channels - 1) * column.area + (long long)row * column.width]);
  return wide_from(values);
}

// The sum of rows `first` to end - 1 of a column, times their weights.
DEVICE Wide sum_of(const Column& column, const Real* down, int first, int end) {
  Wide sum = {};
#pragma unroll 4
  for (int row = first; row < end; ++row) sum += down[row] * pixels(column, row);
  return sum;
}

// The surface of a column at an edge of y, of the pixels `below` and after it that are among rows `first` to end - 1.
DEVICE Wide surface(const Column& column, int below, Real part, int first, int end) {
  Wide value = {};
  if (below >= first && below < end) value += (1 - part) * pixels(column, below);
  if (below + 1 >= first && below + 1 < end) value += part * pixels(column, below + 1);
  return value;
}

DEVICE Region region_of(int k, const int* bins, const Real* weights, const int* below, const Store* given, int channels,
                        const Geometry& g) {
  const int *y = bins + k * pooled_of(g).columns(), *edges = below + k * (g.pooled_height + g.pooled_width + 2);
  const Real *down = weights_of(weights, k, g), *across = down + g.pooled_height * g.height;
  const Real* part = across + g.pooled_width * g.width;
  return {g.height, g.width, g.pooled_height, g.pooled_width, channels, y, y + 2 * g.pooled_height, down, across,
          edges, edges + g.pooled_height + 1, part, part + g.pooled_height + 1, given};
}

// The gradient of a bin, from the stage or from where it is.
DEVICE Wide given_of(const Region& r, Wide* stage, int bin, int share) {
  const int bins = r.pooled_height * r.pooled_width;
  if (bins <= STAGED) return staged(stage, bin, share);
  alignas(Wide) Real values[WIDE] = {};
  for (int i = 0; i < min(WIDE, r.channels - share * WIDE); ++i) values[i] = Real(r.given[(share * WIDE + i) * bins + bin]);
  return wide_from(values);
}

// The bins of x that have a column, and the edges of x beside it: first to end - 1. Both ascend.
struct Beside {
  int first, end, first_edge, end_edge;
};

DEVICE Beside beside(const Region& r, int x) {
  Beside b = {0, 0, 0, 0};
  while (b.first < r.pooled_width && r.x[r.pooled_width + b.first] <= x) ++b.first;
  for (b.end = b.first; b.end < r.pooled_width && r.x[b.end] <= x;) ++b.end;
  while (b.first_edge <= r.pooled_width && r.below_x[b.first_edge] < x - 1) ++b.first_edge;
  for (b.end_edge = b.first_edge; b.end_edge <= r.pooled_width && r.below_x[b.end_edge] <= x;) ++b.end_edge;
  return b;
}

// Adds to sum[MOVES] what column x gives in bins `first` to end - 1 of y.
DEVICE void add_column(const Region& r, const Column& column, int x, int first, int end, int share, Wide* stage, Real* sum) {
  const Real share_y = Real(1) / r.pooled_height, share_x = Real(1) / r.pooled_width;
  const Beside b = beside(r, x);
  Wide low = surface(column, r.below_y[first], r.part_y[first], r.y[first], r.y[r.pooled_height + first]);
#pragma unroll 1
  for (int ph = first; ph < end; ++ph) {
    const int top = r.y[ph], bottom = r.y[r.pooled_height + ph];
    const Wide inside = sum_of(column, r.down + ph * r.height, top, bottom);
    const Wide high = surface(column, r.below_y[ph + 1], r.part_y[ph + 1], top, bottom);
    Wide gradient = {};
#pragma unroll 1
    for (int pw = b.first; pw < b.end; ++pw)
      gradient += r.across[pw * r.width + x] * given_of(r, stage, ph * r.pooled_width + pw, share);
    const Real at_low = dot(gradient, low), at_high = dot(gradient, high);
    sum[4] += dot(gradient, inside);
    sum[2] += at_high - at_low;
    sum[3] += ((ph + 1) * at_high - ph * at_low) * share_y;
#pragma unroll 1
    for (int e = b.first_edge; e < b.end_edge; ++e) {
      Wide change = {};
      if (e > 0) change += given_of(r, stage, ph * r.pooled_width + e - 1, share);
      if (e < r.pooled_width) change = change - given_of(r, stage, ph * r.pooled_width + e, share);
      const Real moved = (r.below_x[e] == x ? 1 - r.part_x[e] : r.part_x[e]) * dot(change, inside);
      sum[0] += moved;
      sum[1] += e * share_x * moved;
    }
    low = high;
  }
}

// slopes: (slabs, K, MOVES). Threads take columns, of some bins of y where a region is narrow, and their sums are added by twos:
// the order depends on nothing but the region.
KERNEL prroi_pooling_moves(int n, const Store* top_diff, const Store* features, const int* image, const int* bins,
                           const Real* weights, const int* below, Real* slopes, Geometry g) {
  const int cells = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Wide stage[stage_of(STAGED)];
    SHARED Real sums[MOVES][SUMS];
    const int s = b / g.regions, k = b - s * g.regions, channels = min(SLAB, g.channels - s * SLAB);
    const Store* given = top_diff + ((long long)k * g.channels + s * SLAB) * cells;
    const Region r = region_of(k, bins, weights, below, given, channels, g);
    const int left = r.x[0], columns = image[k] < 0 ? 0 : max(r.x[2 * r.pooled_width - 1] - left, 0);
    const int shares = (channels + WIDE - 1) / WIDE, parts = max(min(SUMS / max(shares * columns, 1), r.pooled_height), 1);
    if (cells <= STAGED && columns > 0) fill_stage(given, r.channels, cells, cells, stage);
    THREAD_LOOP(t, MOVES * SUMS) sums[t / SUMS][t % SUMS] = 0;
    BARRIER();
    for (int from = 0; from < parts * shares * columns && !STOPPED(); from += SUMS)
      THREAD_LOOP(t, min(SUMS, parts * shares * columns - from)) {
        const int q = (from + t) / columns, x = left + (from + t) - q * columns, share = q % shares, part = q / shares;
        const int first = r.pooled_height * part / parts, end = r.pooled_height * (part + 1) / parts;
        Real sum[MOVES] = {};
        add_column(r, column_of(features, image[k], s * SLAB + share * WIDE, g.channels, x, g.height, g.width), x, first, end, share,
                   stage, sum);
        for (int move = 0; move < MOVES; ++move) sums[move][t] += sum[move];
      }
    BARRIER();
    for (int half = SUMS / 2; half > 0; half /= 2) {
      TILE_LOOP(q, i, MOVES, half) sums[q][i] += sums[q][i + half];
      BARRIER();
    }
    THREAD_LOOP(q, MOVES) slopes[(long long)b * MOVES + q] = sums[q][0];
    BARRIER();
  }
}

// top: (K, channels, pooled_height, pooled_width). Bins are taken in whole rows where BINS hold them, and columns LINE at a time.
KERNEL prroi_pooling_forward_columns(int n, const Store* features, const int* image, const int* bins, const Real* weights,
                                     Store* top, Geometry g) {
  const int cells = g.pooled_height * g.pooled_width, wide = min(g.pooled_width, BINS);
  BLOCK_LOOP(b, n) {
    SHARED Wide line[stage_of(LINE)], averages[stage_of(BINS)];
    const int s = b / g.regions, k = b - s * g.regions, channels = min(SLAB, g.channels - s * SLAB), shares = (channels + WIDE - 1) / WIDE;
    const int *y = bins + k * pooled_of(g).columns(), *x = y + 2 * g.pooled_height;
    const Real *down = weights_of(weights, k, g), *across = down + g.pooled_height * g.height;
    Store* out = top + ((long long)k * g.channels + s * SLAB) * cells;
    for (int pw = 0; pw < g.pooled_width; pw += wide) {
      const int some = min(wide, g.pooled_width - pw), left = x[pw], right = x[g.pooled_width + pw + some - 1];
      const int held = wide < g.pooled_width ? 1 : BINS / wide;  // bins of y: those of several lie one behind the other in the top
      const int most = max(min(min(LINE / max(right - left, 1), held), g.pooled_height), 1);
      for (int ph = 0; ph < g.pooled_height && !STOPPED(); ph += most) {
        const int rows = min(most, g.pooled_height - ph);
        TILE_LOOP(i, share, rows * some, shares) staged(averages, i, share) = Wide{};
        for (int start = left; start < right; start += LINE) {
          const int columns = min(LINE, right - start);
          TILE_LOOP(q, i, rows * shares, columns) {
            const int p = ph + q / shares, share = q % shares;
            const Column column = column_of(features, image[k], s * SLAB + share * WIDE, g.channels, start + i, g.height, g.width);
            staged(line, q / shares * columns + i, share) = sum_of(column, down + p * g.height, y[p], y[g.pooled_height + p]);
          }
          BARRIER();
          TILE_LOOP(i, share, rows * some, shares) {
            const int row = i / some, p = pw + i - row * some, first = max(x[p], start), end = min(x[g.pooled_width + p], start + columns);
            Wide sum = staged(averages, i, share);
            for (int at = first; at < end; ++at) sum += across[p * g.width + at] * staged(line, row * columns + at - start, share);
            staged(averages, i, share) = sum;
          }
          BARRIER();
        }
        BARRIER();
        empty_stage(averages, out + ph * g.pooled_width + pw, channels, cells, rows * some);
        BARRIER();
      }
    }
  }
}
