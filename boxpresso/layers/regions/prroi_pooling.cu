// prroi_pooling.cu: the exact average of the bilinear surface over each bin of each region.
//
// The surface is the sum of v[i, j] hat(y - i) hat(x - j) with hat(t) = max(0, 1 - |t|): 0 from one pixel outside the map on.
// So a bin's average is Wy . v . Wx with the averages Wy[i] of hat(y - i) and Wx[j] of hat(x - j) over its sides.
#include "listed.h"
#include "prroi.h"

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
  int height, width, pooled_height, pooled_width, left, right;  // left to right: the columns that it has pixels in
  const int *y, *x;                                             // the row of `bins`: begins, then ends
  const Real *down, *across;                                    // weights
  const int *below_y, *below_x;                                 // edges
  const Real *part_y, *part_x;
};

DEVICE Region region_of(int k, const int* bins, const Real* weights, const int* below, const Geometry& g) {
  const int *y = bins + k * pooled_of(g).columns(), *x = y + 2 * g.pooled_height;
  const int* edges = below + k * (g.pooled_height + g.pooled_width + 2);
  const Real *down = weights_of(weights, k, g), *across = down + g.pooled_height * g.height;
  const Real* part = across + g.pooled_width * g.width;
  return {g.height, g.width, g.pooled_height, g.pooled_width, x[0], x[2 * g.pooled_width - 1], y, x, down, across,
          edges, edges + g.pooled_height + 1, part, part + g.pooled_height + 1};
}

#if defined(__CUDACC__)
constexpr int SLOTS = 16;  // of the columns of a region, each SLOTS after the one before: work for so many threads
constexpr int BESIDE = 1;  // columns that a thread takes together
#else
constexpr int SLOTS = 1;
constexpr int BESIDE = 4;
#endif
DEVICE int first_of(int slot, int begin) { return begin + (slot - begin % SLOTS + SLOTS) % SLOTS; }  // column of a slot
DEVICE void add_to(Lanes* sums, int move, int slot, int group, const Lanes& value) { sums[(move * SLOTS + slot) * GROUPS + group] += value; }
DEVICE void add_edge(Lanes* sums, int move, int slot, int group, const Lanes& change, Real part) {
  add_to(sums, move, slot, group, change);
  add_to(sums, move + 1, slot, group, part * change);
}

// Rows of bin ph of y: those from `begin` to `middle` are the bin's before, too, and are done for both at once.
struct Rows {
  int begin, middle, end;
};

// Whether the rows that bins ph - 1 and ph of y have in common are those of no other bin.
DEVICE bool joined(const Region& r, int ph) {
  const int *begin = r.y, *end = r.y + r.pooled_height;
  if (ph < 1 || ph >= r.pooled_height) return false;
  return (ph < 2 || end[ph - 2] <= begin[ph]) && (ph + 1 >= r.pooled_height || end[ph - 1] <= begin[ph + 1]);
}

DEVICE Rows rows_of(const Region& r, int ph, int first, int from, int to) {
  const int *begin = r.y, *end = r.y + r.pooled_height;
  Rows rows = {max(begin[ph], from), 0, min(end[ph], to)};
  rows.middle = ph > first && joined(r, ph) ? max(min(end[ph - 1], to), rows.begin) : rows.begin;
  if (joined(r, ph + 1) && begin[ph + 1] < to) rows.end = max(min(rows.end, begin[ph + 1]), rows.middle);
  return rows;
}

// The weight of a row in the surface at edge e of y.
DEVICE Real nearness(const Region& r, int e, int row) {
  return row == r.below_y[e] ? 1 - r.part_y[e] : row == r.below_y[e] + 1 ? r.part_y[e] : Real(0);
}

// What lies in the rows of bin ph of y, and in those of the bin before that it shares, in `count` columns from x on. map and values
// begin at row `top`. lines: for both bins, ph's first, the gradient that a row of weight 1 gets; columns: the sums of the values by
// the rows' weights, whose products with the gradients go to `whole`; what the edge between both bins changes goes to `edge`.
template <int count, bool ADD, bool MOVE>
DEVICE void columns_back(const Region& r, const Rows& rows, int ph, int top, int x, int group, Real* const* lines, Real* map,
                         const Real* values, Real* const* columns, Lanes& whole, Lanes& edge) {
  const Real *down = r.down + ph * r.height, *down_before = down - r.height;
  const bool both = rows.begin < rows.middle;
  Lanes gradient[count], before[count], sum[count] = {}, more[count] = {}, surface[count] = {};
  for (int i = 0; i < count; ++i) {
    gradient[i] = lanes(lines[0], x + i, group);
    before[i] = both ? lanes(lines[1], x + i, group) : Lanes{};
  }
  for (int row = rows.begin; row < rows.middle; ++row) {
    const Real weight = down[row], other = down_before[row], near = nearness(r, ph, row);
    const long long start = (long long)(row - top) * r.width * SLAB;
    for (int i = 0; i < count; ++i) {
      if (ADD) lanes(map + start, x + i, group) += weight * gradient[i] + other * before[i];
      if (MOVE) {
        const Lanes value = lanes(values + start, x + i, group);
        sum[i] += weight * value;
        more[i] += other * value;
        surface[i] += near * value;
      }
    }
  }
  for (int row = rows.middle; row < rows.end; ++row) {
    const Real weight = down[row];
    const long long start = (long long)(row - top) * r.width * SLAB;
    for (int i = 0; i < count; ++i) {
      if (ADD) lanes(map + start, x + i, group) += weight * gradient[i];
      if (MOVE) sum[i] += weight * lanes(values + start, x + i, group);
    }
  }
  for (int i = 0; MOVE && i < count; ++i) {
    lanes(columns[0], x + i, group) = sum[i];
    whole += gradient[i] * sum[i];
    if (!both) continue;
    lanes(columns[1], x + i, group) += more[i];
    whole += before[i] * more[i];
    edge += (before[i] - gradient[i]) * surface[i];
  }
}

// Edge e of y: the bins before and behind it, whose lines those are, change by what lies on it.
DEVICE Lanes edge_of_y(const Region& r, int e, int from, int to, int top, int slot, int group, const Real* before,
                       const Real* behind, const Real* values) {
  const int row = r.below_y[e];
  const bool one = row >= from && row < to, two = row + 1 >= from && row + 1 < to;
  Lanes change = {};
  if (!one && !two) return change;
  const Real part = one ? 1 - r.part_y[e] : Real(0), rest = two ? r.part_y[e] : Real(0);
  const Real* upper = values + (long long)((one ? row : row + 1) - top) * r.width * SLAB;
  const Real* lower = two ? values + (long long)(row + 1 - top) * r.width * SLAB : upper;
  for (int x = first_of(slot, r.left); x < r.right; x += SLOTS)
    change += (lanes(before, x, group) - lanes(behind, x, group)) * (part * lanes(upper, x, group) + rest * lanes(lower, x, group));
  return change;
}

// The gradient that a row of weight 1 gets from bins ph of y. given: (bins, SLAB), that of the averages.
DEVICE void line_of(const Region& r, int ph, int slot, int group, const Real* given, Real* line) {
  for (int pw = 0, done = r.left; pw < r.pooled_width; ++pw) {  // up to `done` there is a bin's gradient already
    const Real* across = r.across + pw * r.width;
    const Lanes gradient = lanes(given, ph * r.pooled_width + pw, group);
    const int last = r.x[r.pooled_width + pw];
    int x = first_of(slot, r.x[pw]);
    for (; x < min(done, last); x += SLOTS) lanes(line, x, group) += across[x] * gradient;
    for (; x < last; x += SLOTS) lanes(line, x, group) = across[x] * gradient;
    done = last;
  }
}

// What the edges of x give to `sums` for bins ph of y, from the sums of their columns.
DEVICE void edges_of_x(const Region& r, int ph, const Real* given, const Real* column, Lanes* sums) {
  TILE_LOOP(slot, group, SLOTS, GROUPS) {
    Lanes edges = {}, parts = {};
    for (int e = slot; e <= r.pooled_width; e += SLOTS) {
      Lanes change = {}, surface = {};
      if (e > 0) change += lanes(given, ph * r.pooled_width + e - 1, group);
      if (e < r.pooled_width) change -= lanes(given, ph * r.pooled_width + e, group);
      for (int side = 0; side < 2; ++side) {
        const int x = r.below_x[e] + side;
        if (x >= r.left && x < r.right) surface += (side ? r.part_x[e] : 1 - r.part_x[e]) * lanes(column, x, group);
      }
      change *= surface;
      edges += change;
      parts += Real(e) / r.pooled_width * change;
    }
    add_to(sums, 0, slot, group, edges);
    add_to(sums, 1, slot, group, parts);
  }
  BARRIER();
}

// The rows `from` to `to` of a region in a slab, of which map and values begin at `top`: adds their gradient to `map` and their part
// to `sums`, the MOVES of prroi.h by slot. given: (bins, SLAB), the gradient of the averages; room: for 4 rows. It is done bin by
// bin of y, first along the rows, then along the columns, so that a pixel costs a product for the map and one for the sums.
template <bool ADD, bool MOVE>
DEVICE void region_back(const Region& r, int from, int to, int top, const Real* given, Real* map, const Real* values, Real* room,
                        Lanes* sums) {
  const long long step = (long long)r.width * SLAB;
  Real *lines[2] = {room, room + step}, *columns[2] = {room + 2 * step, room + 3 * step};  // of a bin, and of the one before
  int first = 0, ph;
  while (first < r.pooled_height && r.y[r.pooled_height + first] <= from) ++first;
  if (MOVE) TILE_LOOP(slot, group, SLOTS, GROUPS)
    for (int x = first_of(slot, r.left); x < r.right; x += SLOTS) lanes(lines[1], x, group) = Lanes{};
  for (ph = first; ph < r.pooled_height && r.y[ph] < to; ++ph) {
    const Rows rows = rows_of(r, ph, first, from, to);
    TILE_LOOP(slot, group, SLOTS, GROUPS) {
      line_of(r, ph, slot, group, given, lines[0]);
      Lanes whole = {}, edge = {};
      int x = first_of(slot, r.left);
      for (; BESIDE > 1 && x + BESIDE <= r.right; x += BESIDE)
        columns_back<BESIDE, ADD, MOVE>(r, rows, ph, top, x, group, lines, map, values, columns, whole, edge);
      for (; x < r.right; x += SLOTS)
        columns_back<1, ADD, MOVE>(r, rows, ph, top, x, group, lines, map, values, columns, whole, edge);
      if (MOVE) {
        add_to(sums, 4, slot, group, whole);
        if (rows.begin == rows.middle) edge = edge_of_y(r, ph, from, to, top, slot, group, lines[1], lines[0], values);
        add_edge(sums, 2, slot, group, edge, Real(ph) / r.pooled_height);
      }
    }
    BARRIER();
    if (MOVE && ph > first) edges_of_x(r, ph - 1, given, columns[1], sums);
    Real *const line = lines[1], *const column = columns[1];
    lines[1] = lines[0], lines[0] = line, columns[1] = columns[0], columns[0] = column;
  }
  if (MOVE && ph > first) edges_of_x(r, ph - 1, given, columns[1], sums);
  if (MOVE) TILE_LOOP(slot, group, SLOTS, GROUPS) {
    for (int x = first_of(slot, r.left); x < r.right; x += SLOTS) lanes(lines[0], x, group) = Lanes{};
    const Lanes edge = edge_of_y(r, r.pooled_height, from, to, top, slot, group, lines[1], lines[0], values);
    add_edge(sums, 2, slot, group, edge, Real(1));
  }
  BARRIER();
}

// A block takes one slab of an image after another, and of that some rows after others, `band` at a time, so that they stay in
// the nearest cache; there the regions of that image in `order`: each number has one owner and one order. room: (n, 2 band width
// + regions (bins + MOVES) + 4 width, SLAB). diff or null: the gradient of the features; slopes or null, (slabs, K, MOVES): what a slab
// adds to the Moves of each region.
KERNEL prroi_pooling_backward(int n, const Store* top_diff, const Store* features, const int* order, const int* image,
                              const int* bins, const Real* weights, const int* below, Real* room, Store* diff, Real* slopes,
                              BandGeometry banded) {
  const Geometry g = geometry_of(banded);
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width, area = height * width;
  const int cells = g.pooled_height * g.pooled_width, count = slabs_of(channels), band = banded.band;
  BLOCK_LOOP(b, n) {
    SHARED Lanes sums[MOVES * SLOTS * GROUPS];
    Real* map = room + (long long)b * ((2 * band + 4) * width + (long long)regions * (cells + MOVES)) * SLAB;
    Real *values = map + (long long)band * width * SLAB, *all = values + (long long)band * width * SLAB;
    Real *totals = all + (long long)regions * cells * SLAB, *lines = totals + (long long)regions * MOVES * SLAB;
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
          THREAD_LOOP(t, MOVES * SLOTS * GROUPS) sums[t] = Lanes{};
          BARRIER();
          if (!slopes) region_back<true, false>(r, from, to, top, given, map, values, lines, sums);
          else if (!diff) region_back<false, true>(r, from, to, top, given, map, values, lines, sums);
          else region_back<true, true>(r, from, to, top, given, map, values, lines, sums);
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

// The gradient of the features in tiles that have no lists, for a GPU: see tiles.h and prroi_lists.cu.
KERNEL prroi_pooling_backward_tiles(int n, const Store* top_diff, const int* lists, const int* heads, const int* bins,
                                    const Real* weights, Store* diff, Geometry g) {
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, channels = g.channels;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    const Tiles tiles = tiles_of(lists);
    if (has_lists(heads + (long long)(b % (g.batch * tiles.down * tiles.across)) * LIST_HEAD)) continue;
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

// region_diff (K, 5) from the sums over the slabs or, of regions that are not left out, from those of `listed`, which may be null; 0 for
// the batch index. A side that moves by d adds d (line - average) / length
// to a bin's average, and it moves by its share of what the region's first and last side move by.
KERNEL prroi_pooling_region_diff(int n, const Real* slopes, const Real* listed, const int* left_out, const Store* regions,
                                 const int* image, const int* bins, Store* region_diff, Geometry g) {
  GRID_LOOP(k, n) {
    const int* row = bins + k * pooled_of(g).columns();
    const bool valid = image[k] >= 0 && row[g.pooled_height + g.pooled_height - 1] > 0;  // some row of the map is taken
    double sum[MOVES] = {};
    const bool once = listed && !left_out[k];
    for (int s = 0; s < (once ? 1 : slabs_of(g.channels)) && valid; ++s)
      for (int q = 0; q < MOVES; ++q) sum[q] += (once ? listed : slopes)[((long long)s * g.regions + k) * MOVES + q];
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
