// prroi_columns.cu: the forward of PrROIPooling and the sums for its regions' gradient, for a GPU, from maps as they are.
//
// A block owns a region in a slab. Bins are products of an axis each: first a thread goes down some columns of a bin of y in one
// channel, beside threads that read the same rows beside it, so that nothing is packed before; then sums of columns are summed
// along x.
#include "prroi.h"
#include "slab.h"

constexpr int ABREAST = 4;  // columns of a thread: 128 bits of floats, in one load where rows begin at a multiple of that
#if defined(__CUDACC__)
constexpr int SUMS = 256;  // threads whose sums are kept apart, a power of two
struct alignas(ABREAST * sizeof(Real)) Pixels {
  Real of[ABREAST];
};
#else
constexpr int SUMS = 1;
struct Pixels {
  Real of[ABREAST];
};
#endif
constexpr int LINE = 256;              // columns that are summed along x at once, at most
constexpr int SPACE = LINE + ABREAST;  // room for those of a bin of y in a channel
constexpr int LINES = (sizeof(Real) > 4 ? SLAB : SLAB * 3 / 2) * SPACE;  // for all channels and, of few columns, several bins
constexpr int BINS = 64;  // whose averages a block keeps with them

// Columns x to x + ABREAST - 1 of a map; what is found of those that are not among columns left to right - 1 of a region has no
// meaning, and is left out where columns are summed.
struct Strip {
  const Store* plane;
  int x, left, right, width, whole;
};

DEVICE bool has(const Strip& strip, int i) { return strip.x + i >= strip.left && strip.x + i < strip.right; }

DEVICE bool whole_rows(const Store* maps, int width) {
  return sizeof(Store) == sizeof(Real) && width % ABREAST == 0 && (unsigned long long)maps % sizeof(Pixels) == 0;
}

DEVICE const Store* row_of(const Strip& strip, int row) { return strip.plane + (long long)row * strip.width + strip.x; }

// Adds a row, times its weight.
DEVICE void add_row(const Strip& strip, const Store* at, Real weight, Pixels& sum) {
#if defined(__CUDACC__)
  if (strip.whole) {
    const Pixels values = *(const Pixels*)at;
    for (int i = 0; i < ABREAST; ++i) sum.of[i] += weight * values.of[i];
    return;
  }
#endif
  for (int i = 0; i < ABREAST; ++i)
    if (has(strip, i)) sum.of[i] += weight * Real(at[i]);
}

// The sums of rows `first` to end - 1, times their weights; AHEAD: rows that are loaded together, which costs registers.
template <int AHEAD>
DEVICE Pixels sum_of(const Strip& strip, const Real* down, int first, int end) {
  Pixels sum = {};
  const Store* at = row_of(strip, first);
#pragma unroll AHEAD
  for (int row = first; row < end; ++row, at += strip.width) add_row(strip, at, down[row], sum);
  return sum;
}

// The surface at an edge of y, of the pixels `below` and after it that are among rows `first` to end - 1.
DEVICE Pixels surface(const Strip& strip, int below, Real part, int first, int end) {
  Pixels sum = {};
  if (below >= first && below < end) add_row(strip, row_of(strip, below), 1 - part, sum);
  if (below + 1 >= first && below + 1 < end) add_row(strip, row_of(strip, below + 1), part, sum);
  return sum;
}

// What the threads of a block share.
struct Region {
  int height, width, pooled_height, pooled_width;  // of the map, and bins
  const int *y, *x;                                // the row of `bins`: begins, then ends
  const Real *down, *across;                       // weights
  const int *below_y, *below_x;                    // edges
  const Real *part_y, *part_x;
};

DEVICE Region region_of(int k, const int* bins, const Real* weights, const int* below, const Geometry& g) {
  const int *y = bins + k * pooled_of(g).columns(), *edges = below + k * (g.pooled_height + g.pooled_width + 2);
  const Real *down = weights_of(weights, k, g), *across = down + g.pooled_height * g.height;
  const Real* part = across + g.pooled_width * g.width;
  return {g.height, g.width, g.pooled_height, g.pooled_width, y, y + 2 * g.pooled_height, down, across,
          edges, edges + g.pooled_height + 1, part, part + g.pooled_height + 1};
}

// The bins of x that have one of ABREAST columns, and the edges of x beside them: first to end - 1. Both ascend.
struct Beside {
  int first, end, first_edge, end_edge;
};

DEVICE Beside beside(const Region& r, int x) {
  Beside b = {0, 0, 0, 0};
  while (b.first < r.pooled_width && r.x[r.pooled_width + b.first] <= x) ++b.first;
  for (b.end = b.first; b.end < r.pooled_width && r.x[b.end] < x + ABREAST;) ++b.end;
  while (b.first_edge <= r.pooled_width && r.below_x[b.first_edge] < x - 1) ++b.first_edge;
  for (b.end_edge = b.first_edge; b.end_edge <= r.pooled_width && r.below_x[b.end_edge] < x + ABREAST;) ++b.end_edge;
  return b;
}

// Adds to sum[MOVES] what some columns give in bins `first` to end - 1 of y; given: the gradient of the top, (bins), in their channel.
DEVICE void add_columns(const Region& r, const Strip& strip, int first, int end, const Store* given, Real* sum) {
  const Real share_y = Real(1) / r.pooled_height, share_x = Real(1) / r.pooled_width;
  const Beside b = beside(r, strip.x);
  Pixels low = surface(strip, r.below_y[first], r.part_y[first], r.y[first], r.y[r.pooled_height + first]);
#pragma unroll 1  // more at once would cost registers, and with them blocks
  for (int ph = first; ph < end; ++ph) {
    const int top = r.y[ph], bottom = r.y[r.pooled_height + ph];
    const Store* line = given + ph * r.pooled_width;
    const Pixels inside = sum_of<2>(strip, r.down + ph * r.height, top, bottom);
    const Pixels high = surface(strip, r.below_y[ph + 1], r.part_y[ph + 1], top, bottom);
    Real whole = 0, at_low = 0, at_high = 0;
#pragma unroll 1
    for (int pw = b.first; pw < b.end; ++pw) {
      const Real* across = r.across + pw * r.width + strip.x;
      const int from = r.x[pw] - strip.x, to = r.x[r.pooled_width + pw] - strip.x;
      const Real gradient = Real(line[pw]);
      for (int i = 0; i < ABREAST; ++i) {
        if (i < from || i >= to) continue;
        const Real weight = across[i] * gradient;
        whole += weight * inside.of[i];
        at_low += weight * low.of[i];
        at_high += weight * high.of[i];
      }
    }
    sum[4] += whole;
    sum[2] += at_high - at_low;
    sum[3] += ((ph + 1) * at_high - ph * at_low) * share_y;
#pragma unroll 1
    for (int e = b.first_edge; e < b.end_edge; ++e) {
      const int at = r.below_x[e] - strip.x;
      const Real part = r.part_x[e], change = (e > 0 ? Real(line[e - 1]) : Real(0)) - (e < r.pooled_width ? Real(line[e]) : Real(0));
      Real value = 0;
      for (int i = 0; i < ABREAST; ++i)
        if ((at == i || at + 1 == i) && has(strip, i)) value += (at == i ? 1 - part : part) * inside.of[i];
      sum[0] += change * value;
      sum[1] += e * share_x * (change * value);
    }
    low = high;
  }
}

// How many times ABREAST columns, from a multiple of it on, hold columns left to right - 1.
DEVICE int abreast(int left, int right) { return left < right ? (right - 1) / ABREAST - left / ABREAST + 1 : 0; }

// slopes: (slabs, K, MOVES), of regions that are left out by prroi_lists.cu. Threads take columns, of some bins of y where a region is narrow, and their sums are added by twos:
// the order depends on nothing but the region.
KERNEL prroi_pooling_moves(int n, const Store* top_diff, const Store* features, const int* image, const int* bins,
                           const Real* weights, const int* below, const int* left_out, Real* slopes, Geometry g) {
  const int cells = g.pooled_height * g.pooled_width;
  const bool whole = whole_rows(features, g.width);
  BLOCK_LOOP(b, n) {
    SHARED Real sums[MOVES][SUMS];
    const int s = b / g.regions, k = b - s * g.regions, channels = min(SLAB, g.channels - s * SLAB);
    if (!left_out[k]) continue;
    const Store* given = top_diff + ((long long)k * g.channels + s * SLAB) * cells;
    const Store* maps = features + ((long long)max(image[k], 0) * g.channels + s * SLAB) * g.height * g.width;
    const Region r = region_of(k, bins, weights, below, g);
    const int left = r.x[0], right = image[k] < 0 ? left : r.x[2 * r.pooled_width - 1], count = abreast(left, right);
    const int parts = max(min(SUMS / max(channels * count, 1), r.pooled_height), 1), items = parts * channels * count;
    THREAD_LOOP(t, MOVES * SUMS) sums[t / SUMS][t % SUMS] = 0;
    BARRIER();
    for (int from = 0; from < items && !STOPPED(); from += SUMS)
      THREAD_LOOP(t, min(SUMS, items - from)) {
        const int q = (from + t) / count, f = (from + t) - q * count, c = q % channels, part = q / channels;
        const int first = r.pooled_height * part / parts, end = r.pooled_height * (part + 1) / parts;
        const Strip strip = {maps + (long long)c * g.height * g.width, (left / ABREAST + f) * ABREAST, left, right, g.width, whole};
        Real sum[MOVES] = {};
        add_columns(r, strip, first, end, given + (long long)c * cells, sum);
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
  const bool whole = whole_rows(features, g.width);
  BLOCK_LOOP(b, n) {
    SHARED Pixels line[LINES / ABREAST];
    SHARED Real averages[SLAB][BINS];
    const int s = b / g.regions, k = b - s * g.regions, channels = min(SLAB, g.channels - s * SLAB);
    const int *y = bins + k * pooled_of(g).columns(), *x = y + 2 * g.pooled_height;
    const Real *down = weights_of(weights, k, g), *across = down + g.pooled_height * g.height;
    const Store* maps = features + ((long long)max(image[k], 0) * g.channels + s * SLAB) * g.height * g.width;
    Store* out = top + ((long long)k * g.channels + s * SLAB) * cells;
    for (int pw = 0; pw < g.pooled_width; pw += wide) {
      const int some = min(wide, g.pooled_width - pw), left = x[pw], right = x[g.pooled_width + pw + some - 1];
      const int space = min(abreast(left, right) * ABREAST + ABREAST, SPACE);  // from the columns of a bin and channel to the next
      const int held = wide < g.pooled_width ? 1 : BINS / wide;  // bins of y: those of several lie one behind the other in the top
      const int most = max(min(min(LINES / (SLAB * space), held), g.pooled_height), 1);
      for (int ph = 0; ph < g.pooled_height && !STOPPED(); ph += most) {
        const int rows = min(most, g.pooled_height - ph);
        TILE_LOOP(c, i, channels, rows * some) averages[c][i] = 0;
        for (int start = left / ABREAST * ABREAST; start < right; start += LINE) {
          const int stop = min(start + LINE, right);
          TILE_LOOP(q, f, rows * channels, abreast(start, stop)) {
            const int p = ph + q / channels, c = q % channels;
            const Strip strip = {maps + (long long)c * g.height * g.width, start + f * ABREAST, left, right, g.width, whole};
            line[q * (space / ABREAST) + f] = sum_of<4>(strip, down + p * g.height, y[p], y[g.pooled_height + p]);
          }
          BARRIER();
          TILE_LOOP(c, i, channels, rows * some) {
            const int row = i / some, p = pw + i - row * some, end = min(x[g.pooled_width + p], stop);
            const Real* sums = (const Real*)line + (row * channels + c) * space - start;
            Real sum = averages[c][i];
            for (int at = max(x[p], start); at < end; ++at) sum += across[p * g.width + at] * sums[at];
            averages[c][i] = sum;
          }
          BARRIER();
        }
        TILE_LOOP(c, i, channels, rows * some) out[(long long)c * cells + ph * g.pooled_width + pw + i] = averages[c][i];
        BARRIER();
      }
    }
  }
}
