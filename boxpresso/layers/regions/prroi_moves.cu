// prroi_moves.cu: the sums for the gradient of PrROIPooling's regions, for a GPU: a block for a region in a slab.
#include "prroi.h"
#include "wide.h"

#if defined(__CUDACC__)
constexpr int SLOTS = 64;  // parts of the rows of a region: with SHARES of channels, work for 256 threads
#else
constexpr int SLOTS = 1;
#endif
constexpr int SUMS = SLOTS * SHARES;
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

// The surface at an edge, of the pixels `below` and after it; 0 off the map.
DEVICE Wide surface(const Real* row, int below, Real part, int limit, int share) {
  Wide value = {};
  if (unsigned(below) < unsigned(limit)) value += (1 - part) * wide(row, below, share);
  if (unsigned(below + 1) < unsigned(limit)) value += part * wide(row, below + 1, share);
  return value;
}

// How much of edge e of y's line is in a row: the rows before and after it share it.
DEVICE Real part_of(const Region& r, int row, int e) {
  const int beyond = row - r.below_y[e];
  return beyond == 0 ? 1 - r.part_y[e] : beyond == 1 ? r.part_y[e] : Real(0);
}

// Adds to sum[MOVES] what one row of the map gives; `values`: that row of the slab. Bins first to end of y take it.
DEVICE void add_row(const Region& r, int row, int first, int end, int share, Wide* stage, const Real* values, Real* sum) {
  const Real share_y = Real(1) / r.pooled_height, share_x = Real(1) / r.pooled_width;
  Wide before = {};
  for (int pw = 0; pw <= r.pooled_width; ++pw) {
    Wide gradient = {};
    if (pw < r.pooled_width) {
      const Real* across = r.across + pw * r.width;
      Wide inside = {};
#pragma unroll 2  // more would cost registers, and with them blocks
      for (int x = r.x[pw], last = r.x[r.pooled_width + pw]; x < last; ++x) inside += across[x] * wide(values, x, share);
#pragma unroll 1
      for (int ph = first; ph < end; ++ph) {
        const Wide given = given_of(r, stage, ph * r.pooled_width + pw, share);
        const Real weight = r.down[ph * r.height + row], product = dot(given, inside);
        const Real low = part_of(r, row, ph), high = part_of(r, row, ph + 1);
        gradient += weight * given;
        sum[4] += weight * product;
        sum[2] += (high - low) * product;
        sum[3] += ((ph + 1) * high - ph * low) * share_y * product;
      }
    }
    const Real change = dot(before - gradient, surface(values, r.below_x[pw], r.part_x[pw], r.width, share));
    sum[0] += change;
    sum[1] += pw * share_x * change;
    before = gradient;
  }
}

// features in slabs (B * slabs_of(C), area, SLAB); slopes: (slabs, K, MOVES). Threads take parts of the rows, and their sums are
// added by twos: the order depends on nothing but the region.
KERNEL prroi_pooling_moves(int n, const Store* top_diff, const Real* slabs, const int* image, const int* bins, const Real* weights,
                           const int* below, Real* slopes, Geometry g) {
  const int cells = g.pooled_height * g.pooled_width, count = slabs_of(g.channels), width = g.width;
  BLOCK_LOOP(b, n) {
    SHARED Wide stage[stage_of(STAGED)];
    SHARED Real sums[MOVES][SUMS];
    const int s = b / g.regions, k = b - s * g.regions;
    const Store* given = top_diff + ((long long)k * g.channels + s * SLAB) * cells;
    const Region r = region_of(k, bins, weights, below, given, min(SLAB, g.channels - s * SLAB), g);
    const int from = r.y[0], to = image[k] < 0 ? from : max(from, r.y[2 * r.pooled_height - 1]);
    const Real* slab = slabs + ((long long)max(image[k], 0) * count + s) * g.height * width * SLAB;
    if (cells <= STAGED && from < to) fill_stage(given, r.channels, cells, cells, stage);
    BARRIER();
    TILE_LOOP(slot, share, SLOTS, SHARES) {
      Real sum[MOVES] = {};
      const int last = from + (to - from) * (slot + 1) / SLOTS;
      for (int row = from + (to - from) * slot / SLOTS, first = 0, end = 0; row < last && !STOPPED(); ++row) {
        while (first < r.pooled_height && r.y[r.pooled_height + first] <= row) ++first;
        while (end < r.pooled_height && r.y[end] <= row) ++end;
        if (first < end) add_row(r, row, first, end, share, stage, slab + (long long)row * width * SLAB, sum);
      }
      for (int q = 0; q < MOVES; ++q) sums[q][slot * SHARES + share] = sum[q];
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
