// prroi_pooling.cu: the exact average of the bilinear surface over each bin of each region.
//
// The surface is the sum of v[i, j] hat(y - i) hat(x - j) with hat(t) = max(0, 1 - |t|): 0 from one pixel outside the map on.
// So a bin's average is Wy . v . Wx with the averages Wy[i] of hat(y - i) and Wx[j] of hat(x - j) over its sides.
#include "prroi.h"
#include "tiles.h"
#include "wide.h"

DEVICE double hat(double t) { return max(0.0, 1 - abs(t)); }

// The sides of a bin on one axis, in pixels of the map. In double: narrow bins are differences of nearly equal numbers.
struct Side {
  double low, high;
};

DEVICE Side side_of(const Store* region, Real scale, int axis, int p, int count) {
  const double first = min(max(double(Real(region[axis ? 1 : 2])) * scale, -1e9), 1e9);
  const double size = max(min(max(double(Real(region[axis ? 3 : 4])) * scale, -1e9), 1e9) - first, 0.0);
  return {first + p * size / count, first + (p + 1) * size / count};
}

// The average of hat(t - pixel) for t in the side: hat is straight between whole numbers, where its middle is its average.
DEVICE Real average(Side side, int pixel) {
  double sum = 0;
  for (int half = -1; half < 1; ++half) {
    const double low = max(side.low, double(pixel + half)), high = min(side.high, double(pixel + half + 1));
    if (low < high) sum += (high - low) * hat((low + high) / 2 - pixel);
  }
  return Real(sum / (side.high - side.low));
}

// image[k]: of region k, -1 if it contributes nothing; weights, see weights_of; below (K, pooled_height + pooled_width + 2): of
// each edge of a bin, from the first of y to the last of x, the pixel before it; -2 or the size of the map if it is far off.
KERNEL prroi_pooling_weights(int n, const Store* regions, int* image, int* bins, Real* weights, int* below, Geometry g) {
  BLOCK_LOOP(k, n) {
    const Store* region = regions + 5 * k;
    const int of = image_of(region, 5, g.batch);
    const Side down = side_of(region, g.scale, 0, 0, g.pooled_height), across = side_of(region, g.scale, 1, 0, g.pooled_width);
    const bool valid = of >= 0 && down.low < down.high && across.low < across.high;  // no area: no bins
    Real* weight = weights_of(weights, k, g);
    THREAD_LOOP(t, 1) image[k] = of;
    const int edges = g.pooled_height + g.pooled_width + 2;
    THREAD_LOOP(t, edges) {
      const int axis = t > g.pooled_height, e = axis ? t - g.pooled_height - 1 : t;
      const double at = side_of(region, g.scale, axis, e, axis ? g.pooled_width : g.pooled_height).low;
      below[k * edges + t] = int(min(max(-2.0, floor(at)), double(axis ? g.width : g.height)));  // NaN is -2
      weight[g.pooled_height * g.height + g.pooled_width * g.width + t] = Real(at - floor(at));
    }
    cut_bins(bins, pooled_of(g), k, valid, [&](int axis, int p, int* begin, int* end) {
      const Side side = side_of(region, g.scale, axis, p, axis ? g.pooled_width : g.pooled_height);
      const int limit = axis ? g.width : g.height;
      *begin = int(min(max(floor(side.low), 0.0), double(limit)));
      *end = int(min(max(ceil(side.high) + 1, 0.0), double(limit)));
      Real* of_bin = weight + (axis ? g.pooled_height * g.height : 0) + p * limit;
      for (int pixel = *begin; pixel < *end; ++pixel) of_bin[pixel] = side.low < side.high ? average(side, pixel) : Real(0);
    });
  }
}

// One bin of a region: its pixels, and the weights of rows and columns.
struct Bin {
  Box box;
  const Real *down, *across;
};

DEVICE Bin bin_of(const int* bins, const Real* weights, int k, int ph, int pw, const Geometry& g) {
  const Real* weight = weights_of(weights, k, g);
  return {box_of(bins, pooled_of(g), k, ph, pw), weight + ph * g.height, weight + g.pooled_height * g.height + pw * g.width};
}

DEVICE Wide average(const Real* slab, const Bin& bin, int width, int share) {
  Wide sum = {};
  for (int y = bin.box.top; y < bin.box.bottom; ++y) {
    const Real* row = slab + (long long)y * width * SLAB;
    Wide across = {};
    for (int x = bin.box.left; x < bin.box.right; ++x) across += bin.across[x] * wide(row, x, share);
    sum += bin.down[y] * across;
  }
  return sum;
}

constexpr int BINS = 64;  // of a region, whose averages a block keeps before it stores them plane by plane

// A block owns a region in a slab, `packed` before; or else it takes one slab after another into its room (n, area, SLAB), and
// there the regions of that image in `order`. top: (K, channels, pooled_height, pooled_width).
KERNEL prroi_pooling_forward(int n, const Store* features, const int* order, const int* image, const int* bins,
                             const Real* weights, Real* slabs, Store* top, int packed, Geometry g) {
  const int regions = g.regions, channels = g.channels, area = g.height * g.width, width = g.width, count = slabs_of(channels);
  const int pooled_width = g.pooled_width, cells = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Wide averages[stage_of(BINS)];
    for (int i = packed ? b / regions : b; i < (packed ? count : g.batch * count); i += n) {
      const int s = i % count;
      if (!packed) fill_slab(i, features, slabs + (long long)b * area * SLAB, channels, area, 0, area);
      BARRIER();
      for (int j = packed ? b % regions : 0; j < regions && !STOPPED(); j += packed ? regions : 1) {
        const int k = packed ? j : order[j], of = max(image[k], 0);  // what lies in no image has no bins and becomes 0
        if (!packed && of != i / count) continue;
        const Real* slab = slabs + (packed ? (long long)of * count + s : (long long)b) * area * SLAB;
        Store* out = top + ((long long)k * channels + s * SLAB) * cells;
        for (int first = 0; first < cells; first += BINS) {
          const int some = min(BINS, cells - first);
          TILE_LOOP(i, share, some, SHARES) {
            const int ph = (first + i) / pooled_width, pw = first + i - ph * pooled_width;
            staged(averages, i, share) = average(slab, bin_of(bins, weights, k, ph, pw, g), width, share);
          }
          BARRIER();
          empty_stage(averages, out + first, channels - s * SLAB, cells, some);
          BARRIER();
        }
      }
      BARRIER();
    }
  }
}

// The Geometry of region.h, and how many rows of the map are taken together.
struct BandGeometry {
  int regions, batch, channels, height, width, pooled_height, pooled_width, band;
  Real scale;
};

DEVICE Geometry geometry_of(const BandGeometry& b) {
  return {b.regions, b.batch, b.channels, b.height, b.width, b.pooled_height, b.pooled_width, b.scale};
}

// What the threads of a block share in the backward pass of a region.
struct Region {
  int k, height, width, pooled_height, pooled_width;
  const int *y, *x;              // the row of `bins`: begins, then ends
  const Real *down, *across;     // weights
  const int *below_y, *below_x;  // edges
  const Real *part_y, *part_x;
};

DEVICE Region region_of(int k, const int* bins, const Real* weights, const int* below, const Geometry& g) {
  const int *y = bins + k * pooled_of(g).columns(), *edges = below + k * (g.pooled_height + g.pooled_width + 2);
  const Real *down = weights_of(weights, k, g), *across = down + g.pooled_height * g.height;
  const Real* part = across + g.pooled_width * g.width;
  return {k, g.height, g.width, g.pooled_height, g.pooled_width, y, y + 2 * g.pooled_height, down, across,
          edges, edges + g.pooled_height + 1, part, part + g.pooled_height + 1};
}

// The surface at an edge, of the pixels `below` and after it; 0 off the map.
DEVICE Lanes surface(const Real* row, int below, Real part, int limit, int group) {
  Lanes value = {};
  if (unsigned(below) < unsigned(limit)) value += (1 - part) * lanes(row, below, group);
  if (unsigned(below + 1) < unsigned(limit)) value += part * lanes(row, below + 1, group);
  return value;
}

// The sums of prroi.h.
struct Moves {
  Lanes edges_x, parts_x, edges_y, parts_y, whole;
};

#if defined(__CUDACC__)
constexpr int SLOTS = 16;  // of the rows of a region, which are neighbours: work for so many threads
constexpr int RUN = 1;     // rows that a thread takes together
#else
constexpr int SLOTS = 1;
constexpr int RUN = 4;
#endif

// One pixel in each of `count` rows that lie `step` apart: adds its gradient, and its part of a bin's sum.
template <int count, bool ADD, bool MOVE>
DEVICE void pixel_back(Real weight, const Lanes& gradient, Real* map, const Real* values, int x, int group, long long step,
                       Lanes& sum) {
  if (ADD) {
    const Lanes share = weight * gradient;
    for (int i = 0; i < count; ++i) lanes(map + i * step, x, group) += share;
  }
  if (MOVE) {
    Lanes value = lanes(values, x, group);
    for (int i = 1; i < count; ++i) value += lanes(values + i * step, x, group);
    sum += weight * value;
  }
}

// `count` rows of a region in a group of a slab, for the bins first to end of y that take them alike: adds their gradient to
// `map` and their part to `moves`; either map may be null. `map` and `values` begin at the first of the rows; given: (bins,
// SLAB), the gradient of the averages. More than one row only where they are near no edge of y.
template <int count, bool ADD, bool MOVE>
DEVICE void rows_back(const Region& r, int row, int first, int end, int group, const Real* given, Real* map, const Real* values,
                      Moves& moves) {
  const long long step = (long long)r.width * SLAB;
  const Real weight = first < end ? r.down[first * r.height + row] : Real(0), share_x = Real(1) / r.pooled_width;
  bool near = false;  // to an edge of y
  for (int e = first; e <= end; ++e) near = near || unsigned(row - r.below_y[e]) < 2;
  Lanes before = {};
  for (int pw = 0; pw <= r.pooled_width; ++pw) {
    Lanes gradient = {}, sum = {};
    if (pw < r.pooled_width && first < end) {
      const Real* across = r.across + pw * r.width;
      gradient = weight * lanes(given, first * r.pooled_width + pw, group);
      for (int ph = first + 1; ph < end; ++ph)
        gradient += r.down[ph * r.height + row] * lanes(given, ph * r.pooled_width + pw, group);
      Lanes odd = {};  // two sums, so that one does not wait for the other
      for (int x = r.x[pw], last = r.x[r.pooled_width + pw]; x < last; ++x) {
        pixel_back<count, ADD, MOVE>(across[x], gradient, map, values, x, group, step, sum);
        if (++x < last) pixel_back<count, ADD, MOVE>(across[x], gradient, map, values, x, group, step, odd);
      }
      sum += odd;
    }
    if (!MOVE) continue;
    moves.whole += gradient * sum;
    Lanes line = {};
    for (int i = 0; i < count; ++i) line += surface(values + i * step, r.below_x[pw], r.part_x[pw], r.width, group);
    const Lanes change = (before - gradient) * line;
    moves.edges_x += change;
    moves.parts_x += pw * share_x * change;
    before = gradient;
    for (int e = first; near && pw < r.pooled_width && e <= end; ++e) {
      if (unsigned(row - r.below_y[e]) >= 2) continue;
      const Real part = row == r.below_y[e] ? 1 - r.part_y[e] : r.part_y[e];
      Lanes change_y = {};
      if (e > 0) change_y += lanes(given, (e - 1) * r.pooled_width + pw, group);
      if (e < r.pooled_height) change_y -= lanes(given, e * r.pooled_width + pw, group);
      change_y *= part * sum;
      moves.edges_y += change_y;
      moves.parts_y += Real(e) / r.pooled_height * change_y;
    }
  }
}

// The rows from `row` to `last`, of which map and values begin at `top`.
template <bool ADD, bool MOVE>
DEVICE void rows_of(const Region& r, int row, int last, int top, int group, const Real* given, Real* map, const Real* values,
                    Moves& moves) {
  const int bins = r.pooled_height;
  for (int first = 0, end = 0; row < last;) {
    while (first < bins && r.y[bins + first] <= row) ++first;
    while (end < bins && r.y[end] <= row) ++end;
    const long long at = (long long)(row - top) * r.width * SLAB;
    int together = 1;  // rows inside a bin, where all have one weight
    if (RUN > 1 && end - first == 1 && row >= r.below_y[first] + 2)
      together = min(min(last, r.below_y[end]), end < bins ? r.y[end] : last) - row;
    if (together >= RUN) {
      rows_back<RUN, ADD, MOVE>(r, row, first, end, group, given, map + at, values + at, moves);
      row += RUN;
    } else if (RUN > 2 && together >= 2) {
      rows_back<2, ADD, MOVE>(r, row, first, end, group, given, map + at, values + at, moves);
      row += 2;
    } else {
      rows_back<1, ADD, MOVE>(r, row, first, max(first, end), group, given, map + at, values + at, moves);
      ++row;
    }
  }
}

// A block takes one slab of an image after another, and of that some rows after others, `band` at a time, so that they stay in
// the nearest cache; there the regions of that image in `order`: each number has one owner and one order. room: (n, 2 band width
// + regions (bins + MOVES), SLAB). diff or null: the gradient of the features; slopes or null, (slabs, K, MOVES): what a slab
// adds to the Moves of each region.
KERNEL prroi_pooling_backward(int n, const Store* top_diff, const Store* features, const int* order, const int* image,
                              const int* bins, const Real* weights, const int* below, Real* room, Store* diff, Real* slopes,
                              BandGeometry banded) {
  const Geometry g = geometry_of(banded);
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width, area = height * width;
  const int cells = g.pooled_height * g.pooled_width, count = slabs_of(channels), band = banded.band;
  BLOCK_LOOP(b, n) {
    SHARED Lanes sums[MOVES * SLOTS * GROUPS];
    Real* map = room + (long long)b * (2 * band * width + (long long)regions * (cells + MOVES)) * SLAB;
    Real *values = map + (long long)band * width * SLAB, *all = values + (long long)band * width * SLAB;
    Real* totals = all + (long long)regions * cells * SLAB;
    for (int i = b; i < g.batch * count; i += n) {
      const int of = i / count, s = i - of * count, owned = min(SLAB, channels - s * SLAB);
      const long long plane = ((long long)of * channels + s * SLAB) * area;
      for (int k = 0; k < regions && !STOPPED(); ++k) {
        if (image[k] != of) continue;
        Real* given = all + (long long)k * cells * SLAB;
        turn(top_diff + ((long long)k * channels + s * SLAB) * cells, cells, given, SLAB, owned, cells);
        TILE_LOOP(cell, c, cells, SLAB - owned) given[cell * SLAB + owned + c] = 0;
        TILE_LOOP(q, c, MOVES, SLAB) totals[((long long)k * MOVES + q) * SLAB + c] = 0;
      }
      for (int top = 0; top < height; top += band) {
        const int rows = min(band, height - top), pixels = rows * width;
        if (diff) TILE_LOOP(row, c, rows, width * SLAB) map[(long long)row * width * SLAB + c] = 0;
        if (slopes) {
          turn(features + plane + top * width, area, values, SLAB, owned, pixels);
          TILE_LOOP(pixel, c, pixels, SLAB - owned) values[(long long)pixel * SLAB + owned + c] = 0;
        }
        BARRIER();
        for (int j = 0; j < regions && !STOPPED(); ++j) {
          const int k = order[j];
          if (image[k] != of) continue;
          const Region r = region_of(k, bins, weights, below, g);
          const int from = max(r.y[0], top), to = min(r.y[2 * r.pooled_height - 1], top + rows);
          if (from >= to) continue;
          const Real* given = all + (long long)k * cells * SLAB;
          TILE_LOOP(slot, group, SLOTS, GROUPS) {
            Moves moves = {};
            const int row = from + (to - from) * slot / SLOTS, last = from + (to - from) * (slot + 1) / SLOTS;
            if (!slopes)
              rows_of<true, false>(r, row, last, top, group, given, map, values, moves);
            else if (!diff)
              rows_of<false, true>(r, row, last, top, group, given, map, values, moves);
            else
              rows_of<true, true>(r, row, last, top, group, given, map, values, moves);
            const int t = slot * GROUPS + group, each = SLOTS * GROUPS;
            sums[t] = moves.edges_x;
            sums[each + t] = moves.parts_x;
            sums[2 * each + t] = moves.edges_y;
            sums[3 * each + t] = moves.parts_y;
            sums[4 * each + t] = moves.whole;
          }
          BARRIER();
          if (slopes) TILE_LOOP(q, group, MOVES, GROUPS) {
            Lanes& total = lanes(totals, k * MOVES + q, group);
            for (int slot = 0; slot < SLOTS; ++slot) total += sums[(q * SLOTS + slot) * GROUPS + group];
          }
          BARRIER();
        }
        if (diff) turn(map, SLAB, diff + plane + top * width, area, pixels, owned);
        BARRIER();
      }
      if (slopes)
        THREAD_LOOP(t, regions * MOVES)
          if (image[t / MOVES] == of) slopes[(long long)s * regions * MOVES + t] = sum_of(totals, t);
      BARRIER();
    }
  }
}

// The gradient of the features in tiles, for a GPU: see tiles.h.
KERNEL prroi_pooling_backward_tiles(int n, const Store* top_diff, const int* lists, const int* bins, const Real* weights,
                                    Store* diff, Geometry g) {
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, channels = g.channels;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
      Given given = {};
      given.channel = channel, given.channels = channels, given.bins = pooled_height * pooled_width;
      const auto rows = [&](int k, int) {
        const int* y = bins + k * pooled_of(g).columns();
        return Span{y[0], y[2 * pooled_height - 1]};
      };
      const auto prepare = [&](int k) { take(given, top_diff, k); };
      tile_rows(tile, GROUPS, prepare, rows, [&](int k, int row, int group) {
        const int *y = bins + k * pooled_of(g).columns(), *x = y + 2 * pooled_height;
        const Real *down = weights_of(weights, k, g), *across = down + pooled_height * g.height;
        int first = 0, end = 0;
        while (first < pooled_height && y[pooled_height + first] <= row) ++first;
        while (end < pooled_height && y[end] <= row) ++end;
        Lanes* line = line_of(map, tile, row, group);
        for (int pw = 0; pw < pooled_width && x[pw] < tile.right; ++pw) {
          const int left = max(x[pw], tile.left), right = min(x[pooled_width + pw], tile.right);
          if (left >= right) continue;
          Lanes gradient = {};
          for (int ph = first; ph < end; ++ph) gradient += down[ph * g.height + row] * lanes_of(given, ph * pooled_width + pw, group);
          for (int i = left; i < right; ++i) along(line, map, i) += across[pw * g.width + i] * gradient;
        }
      });
    };
    make_tiles(b, n, lists, diff, g.batch, channels, g.height, g.width, own, false, add_regions);
  }
}

// region_diff (K, 5) from the sums over the slabs; 0 for the batch index. A side that moves by d adds d (line - average) / length
// to a bin's average, and it moves by its share of what the region's first and last side move by.
KERNEL prroi_pooling_region_diff(int n, const Real* slopes, const Store* regions, const int* image, const int* bins,
                                 Store* region_diff, Geometry g) {
  GRID_LOOP(k, n) {
    const int* row = bins + k * pooled_of(g).columns();
    const bool valid = image[k] >= 0 && row[g.pooled_height + g.pooled_height - 1] > 0;  // some row of the map is taken
    double sum[MOVES] = {};
    for (int s = 0; s < slabs_of(g.channels) && valid; ++s)
      for (int q = 0; q < MOVES; ++q) sum[q] += slopes[((long long)s * g.regions + k) * MOVES + q];
    region_diff[5 * k] = Real(0);
    for (int axis = 0; axis < 2; ++axis) {
      const int count = axis ? g.pooled_width : g.pooled_height;
      const Side side = side_of(regions + 5 * k, g.scale, axis, 0, 1);
      const double edges = sum[axis ? 0 : 2], parts = sum[axis ? 1 : 3], whole = sum[4] / count;
      const double each = double(g.scale) * count, size = side.high - side.low;
      region_diff[5 * k + (axis ? 1 : 2)] = valid ? Real((edges - parts + whole) * each / size) : Real(0);
      region_diff[5 * k + (axis ? 3 : 4)] = valid ? Real((parts - whole) * each / size) : Real(0);
    }
  }
}
