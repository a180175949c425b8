// roi_align_max.cu: the largest bilinear sample in each bin of each region, and its gradient. Features in slabs.
#include "bins.h"
#include "grid.h"
#include "maxima.h"
#include "sample.h"
#include "wide.h"

constexpr int LINES = 256;       // samples of an axis of a region that are found once for all its bins
constexpr int FEW_SAMPLES = 4;   // of a bin: so many are taken one after another, each for all channels
constexpr int BINS = 64;         // of a region, whose maxima a block keeps before it stores them plane by plane

// One axis of a sample: its coordinate, the pixels below and above (low is -1 off the map), the part of the upper one.
struct Line {
  Real at, part;
  int low, high;
};

DEVICE Line line_of(const Grid& g, int axis, int p, int s, int size) {
  const Real bin = axis ? g.bin_width : g.bin_height;
  Line line = {(axis ? g.x : g.y) + p * bin + (s + Real(0.5)) * bin / (axis ? g.columns : g.rows), 0, -1, -1};
  neighbours(line.at, size, &line.low, &line.high, &line.part);
  return line;
}

// Both axes of a region: `lines` holds those of y, then those of x, as far as they fit.
struct Axes {
  Grid grid;
  const Line* lines;
  int height, width;
  bool fits_y, fits_x;
};

DEVICE Line line_y(const Axes& a, int p, int s) {
  return a.fits_y ? a.lines[p * a.grid.rows + s] : line_of(a.grid, 0, p, s, a.height);
}
DEVICE Line line_x(const Axes& a, int p, int s) {
  return a.fits_x ? a.lines[LINES + p * a.grid.columns + s] : line_of(a.grid, 1, p, s, a.width);
}

// Fills `lines`, SHARED and of 2 LINES, by the threads of a block.
DEVICE Axes axes_of(const Real* region, Line* lines, const GridGeometry& g) {
  const Grid grid = grid_of(region, g);
  const Axes axes = {grid, lines, g.height, g.width, grid.rows <= LINES / g.pooled_height,
                     grid.columns <= LINES / g.pooled_width};
  if (axes.fits_y) THREAD_LOOP(i, g.pooled_height * grid.rows) lines[i] = line_of(grid, 0, i / grid.rows, i % grid.rows, g.height);
  if (axes.fits_x)
    THREAD_LOOP(i, g.pooled_width * grid.columns)
      lines[LINES + i] = line_of(grid, 1, i / grid.columns, i % grid.columns, g.width);
  BARRIER();
  return axes;
}

// The weights of the four pixels of a sample, as bilinear() has them.
struct Weights {
  Real of[4];
};

DEVICE Weights weights_of(const Line& y, const Line& x) {
  return {{(1 - y.part) * (1 - x.part), (1 - y.part) * x.part, y.part * (1 - x.part), y.part * x.part}};
}

// Where the places of region k lie for a channel, which is a multiple of LANES: places (slabs, K, bins, SLAB).
DEVICE long long place_of(int channel, int k, int regions, int bins) {
  return ((long long)(channel / SLAB) * regions + k) * bins * SLAB + channel % SLAB;
}

// The largest sample of a bin in a share of a slab, and its number; -REAL_MAX and -1 where none took part. A sample off the
// map is 0; the first of equals wins.
struct Largest {
  Wide value;
  WidePlaces place;
};

DEVICE Largest largest_of(const Real* slab, const Axes& axes, int ph, int pw, int share) {
  Largest most = {wide_of(-REAL_MAX), places_of(-1)};
  int place = 0;
  for (int row = 0; row < axes.grid.rows; ++row) {
    const Line y = line_y(axes, ph, row);
    const Real *above = slab + (long long)y.low * axes.width * SLAB, *below = slab + (long long)y.high * axes.width * SLAB;
    for (int column = 0; column < axes.grid.columns; ++column, ++place) {
      const Line x = line_x(axes, pw, column);
      Wide value = {};
      if (y.low >= 0 && x.low >= 0) {
        const Weights w = weights_of(y, x);
        value += w.of[0] * wide(above, x.low, share);
        value += w.of[1] * wide(above, x.high, share);
        value += w.of[2] * wide(below, x.low, share);
        value += w.of[3] * wide(below, x.high, share);
      }
      take_larger(most.value, most.place, value, places_of(place));
    }
  }
  return most;
}

// All bins of region k in slab s, which has the map at `slab`: into top (or null), (K, C, pooled_height, pooled_width), and
// places (or null), the numbers of the samples in their bins, see place_of; a region that lies in no image gives 0 and -1.
DEVICE void put_largest(const Real* slab, const Real* region, int k, int s, Store* top, int* places, Line* lines, Wide* values,
                        const GridGeometry& g) {
  const int bins = g.pooled_height * g.pooled_width, image = image_of(region, 5, g.batch);
  const Axes axes = axes_of(region, lines, g);
  for (int first = 0; first < bins; first += BINS) {
    const int some = min(BINS, bins - first);
    TILE_LOOP(i, share, some, SHARES) {
      const int ph = (first + i) / g.pooled_width, pw = first + i - ph * g.pooled_width;
      Largest most = {Wide{}, places_of(-1)};
      if (image >= 0) most = largest_of(slab, axes, ph, pw, share);
      staged(values, i, share) = most.value;
      if (places) put_places(places + place_of(s * SLAB, k, g.regions, bins) + (first + i) * SLAB + share * WIDE, most.place);
    }
    BARRIER();
    if (top) empty_stage(values, top + ((long long)k * g.channels + s * SLAB) * bins + first, g.channels - s * SLAB, bins, some);
    BARRIER();
  }
}

// A block takes one slab of an image after another into its room (n, area, SLAB), and there all regions of that image in `order`.
KERNEL roi_align_max_forward(int n, const Store* features, const int* order, const Real* rows, Real* room, Store* top,
                             int* places, GridGeometry g) {
  const int channels = g.channels, area = g.height * g.width, count = slabs_of(channels);
  BLOCK_LOOP(b, n) {
    SHARED Line lines[2 * LINES];
    SHARED Wide values[stage_of(BINS)];
    Real* slab = room + (long long)b * area * SLAB;
    for (int i = b; i < g.batch * count; i += n) {
      fill_slab(i, features, slab, channels, area, 0, area);
      BARRIER();
      for (int j = 0; j < g.regions && !STOPPED(); ++j) {
        const int k = order[j];
        const Real* region = rows + 5 * (long long)k;
        if (max(image_of(region, 5, g.batch), 0) == i / count) put_largest(slab, region, k, i % count, top, places, lines, values, g);
      }
    }
  }
}

// The same of all maps in slabs (B * slabs_of(C), area, SLAB), for a GPU: a block owns a region in a slab.
KERNEL roi_align_max_forward_packed(int n, const Real* slabs, const Real* rows, Store* top, int* places, GridGeometry g) {
  BLOCK_LOOP(b, n) {
    SHARED Line lines[2 * LINES];
    SHARED Wide values[stage_of(BINS)];
    const int s = b / g.regions, k = b - s * g.regions;
    const Real* region = rows + 5 * (long long)k;
    const long long slab = (long long)max(image_of(region, 5, g.batch), 0) * slabs_of(g.channels) + s;
    put_largest(slabs + slab * g.height * g.width * SLAB, region, k, s, top, places, lines, values, g);
  }
}

// Where the largest samples lie on the map: y and x (K, C, pooled_height, pooled_width); -1 where there is none.
KERNEL roi_align_max_places(int n, const int* places, const Real* rows, Store* y, Store* x, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  GRID_LOOP(i, n) {
    const int k = i / (g.channels * bins), channel = i / bins % g.channels, bin = i % bins;
    const int place = places[place_of(channel, k, g.regions, bins) + bin * SLAB];
    const Grid grid = grid_of(rows + 5 * (long long)k, g);
    const int columns = max(grid.columns, 1);
    y[i] = place < 0 ? Real(-1) : line_of(grid, 0, bin / g.pooled_width, place / columns, g.height).at;
    x[i] = place < 0 ? Real(-1) : line_of(grid, 1, bin % g.pooled_width, place % columns, g.width).at;
  }
}

// give(pixel, weight) for the four pixels of a sample. One at y = -1 has no gradient: that is mmcv's mark of "none".
template <class Give>
DEVICE void give_back(const Line& y, const Line& x, int width, Give give) {
  if (y.low < 0 || x.low < 0 || y.at == -1) return;
  const Weights w = weights_of(y, x);
  give(y.low * width + x.low, w.of[0]);
  give(y.low * width + x.high, w.of[1]);
  give(y.high * width + x.low, w.of[2]);
  give(y.high * width + x.high, w.of[3]);
}

// A block takes one slab of an image after another into its room (n, area + bins, SLAB), and there the regions of that image in
// `order`, of each together the bins that share no pixel: each number has one owner and one order.
KERNEL roi_align_max_backward(int n, const Store* top_diff, const int* places, const int* order, const Real* rows, Real* room,
                              Store* diff, GridGeometry g) {
  const int regions = g.regions, channels = g.channels, height = g.height, width = g.width, area = height * width;
  const int pooled_height = g.pooled_height, pooled_width = g.pooled_width, bins = pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Line lines[2 * LINES];
    Real *map = room + (long long)b * (area + bins) * SLAB, *given = map + (long long)area * SLAB;
    const int count = slabs_of(channels);
    for (int i = b; i < g.batch * count; i += n) {
      const int image = i / count, channel = (i - image * count) * SLAB;
      TILE_LOOP(row, c, height, width * SLAB) map[(long long)row * width * SLAB + c] = 0;
      BARRIER();
      for (int j = 0; j < regions && !STOPPED(); ++j) {
        const int k = order[j];
        const Real* region = rows + 5 * (long long)k;
        if (image_of(region, 5, g.batch) != image) continue;
        turn(top_diff + ((long long)k * channels + channel) * bins, bins, given, SLAB, min(SLAB, channels - channel), bins);
        const Axes axes = axes_of(region, lines, g);
        const Grid grid = axes.grid;
        const int* place = places + place_of(channel, k, regions, bins);
        const Real across = Real(1) / max(grid.columns, 1);  // times s + 1/2 < 2^20: exact enough for the row
        const int step_y = apart(grid.y, grid.bin_height, grid.rows, pooled_height, 4);
        const int step_x = apart(grid.x, grid.bin_width, grid.columns, pooled_width, 4);
        visit_apart({pooled_height, pooled_width}, step_y, step_x, GROUPS, [&](int ph, int pw, int group) {
          const int bin = ph * pooled_width + pw, first = group * LANES;
          if (LANES > 1 && grid.rows * grid.columns <= FEW_SAMPLES) {
            const Lanes all = lanes(given, bin, group);
            const Places best = places_from(place + bin * SLAB + first);
            for (int s = 0; s < grid.rows * grid.columns; ++s) {
              const auto mine = best == Places{} + s;
              const Lanes gradient = mine ? all : Lanes{};
              give_back(line_y(axes, ph, s / grid.columns), line_x(axes, pw, s % grid.columns), width,
                        [&](int at, Real weight) { lanes(map, at, group) += weight * gradient; });
            }
            return;
          }
          for (int c = first; c < min(first + LANES, channels - channel); ++c) {
            const int s = place[bin * SLAB + c];
            if (s < 0) continue;
            const int row = int((s + Real(0.5)) * across), column = s - row * grid.columns;
            const Real gradient = given[bin * SLAB + c];
            give_back(line_y(axes, ph, row), line_x(axes, pw, column), width,
                      [&](int at, Real weight) { map[(long long)at * SLAB + c] += weight * gradient; });
          }
        });
        BARRIER();
      }
      empty_slab(i, map, diff, channels, area);
      BARRIER();
    }
  }
}

// The table of bins.h for the tiles: image[k], -1 if region k contributes nothing, and the pixels that each bin's samples may have.
KERNEL roi_align_max_bins(int n, const Real* rows, int* image, int* bins, GridGeometry g) {
  BLOCK_LOOP(k, n) {
    const Real* region = rows + 5 * (long long)k;
    const Grid grid = grid_of(region, g);
    const int of = grid.rows * grid.columns > 0 ? image_of(region, 5, g.batch) : -1;
    THREAD_LOOP(t, 1) image[k] = of;
    cut_bins(bins, Pooled{g.pooled_height, g.pooled_width}, k, of >= 0, [&](int axis, int p, int* begin, int* end) {
      const int size = axis ? g.width : g.height;
      const Real a = line_of(grid, axis, p, 0, size).at, b = line_of(grid, axis, p, (axis ? grid.columns : grid.rows) - 1, size).at;
      const Real low = min(a, b), high = max(a, b);
      if (!(low <= size && high >= -1)) return;
      *begin = min(int(max(low, Real(0))), size - 1);
      *end = min(int(min(max(high, Real(0)), Real(size))) + 2, size);
    });
  }
}

constexpr int SAMPLED = sizeof(Real) > 4 ? 8 : 32;  // bins that are taken together, and
constexpr int KEPT = 4;                             // samples of an axis of each, up to which they are found once for all channels

// A bin, the place of its gradients in `slabs`, and that of its samples' numbers: these times SLAB.
struct SampledBin {
  Grid grid;
  Real one_column;  // 1 / the samples of a row
  int ph, pw, from, place;
  Line y[KEPT], x[KEPT];
};

// A gradient and its sample: the row and the column of the pixel above and left, 1 more than in the tile, and whether there is a
// pixel beside.
struct alignas(4 * sizeof(Real)) Sampled {
  Real gradient, down, across;
  int where;
};

struct Samples {
  Maxima<SAMPLED> maxima;
  SampledBin bin[SAMPLED];
  Sampled given[SAMPLED][SLAB];
};

// The same gradient in tiles, for a GPU; slabs: see given.h.
KERNEL roi_align_max_backward_tiles(int n, const Real* slabs, const int* places, const int* lists, const int* marks, const Real* rows,
                                    Store* diff, GridGeometry g) {
  const int channels = g.channels, height = g.height, width = g.width, bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Samples samples;
    const Tiles tiles = tiles_of(lists);
    make_tiles(b, n, lists, diff, g.batch, channels, height, width, own, false,
               [&](const Tile& tile, int channel, const TileMap& map) {
      const int slab = channel / SLAB, columns = tile.right - tile.left;
      const auto prepare = [&](int i, int number) {
        const int k = number / bins, bin = number - k * bins, ph = bin / g.pooled_width;
        const Grid grid = grid_of(rows + 5 * (long long)k, g);
        const int pw = bin - ph * g.pooled_width;
        SampledBin& to = samples.bin[i];
        to.grid = grid, to.one_column = Real(1) / max(grid.columns, 1), to.ph = ph, to.pw = pw;
        to.from = number + (k * (slabs_of(channels) - 1) + slab) * bins, to.place = number + slab * g.regions * bins;
        if (max(grid.rows, grid.columns) > KEPT) return;
        for (int s = 0; s < grid.rows; ++s) to.y[s] = line_of(grid, 0, ph, s, height);
        for (int s = 0; s < grid.columns; ++s) to.x[s] = line_of(grid, 1, pw, s, width);
      };
      const auto rows_of = [&](int i, int c) {
        const SampledBin& bin = samples.bin[i];
        const int s = places[(long long)bin.place * SLAB + c];
        if (s < 0 || channel + c >= channels) return Span{0, 0};
        const int of_y = int((s + Real(0.5)) * bin.one_column);
        const int of_x = s - of_y * bin.grid.columns;
        const bool kept = max(bin.grid.rows, bin.grid.columns) <= KEPT;
        const Line y = kept ? bin.y[of_y] : line_of(bin.grid, 0, bin.ph, of_y, height);
        const Line x = kept ? bin.x[of_x] : line_of(bin.grid, 1, bin.pw, of_x, width);
        if (y.low < 0 || y.at == -1 || x.low < 0 || x.low >= tile.right || x.high < tile.left || y.low >= tile.bottom) return Span{0, 0};
        const int where = (y.low - tile.top + 1) << 16 | (x.low - tile.left + 1) << 8 | (x.high > x.low ? 1 : 0);
        samples.given[i][c] = Sampled{slabs[(long long)bin.from * SLAB + c], y.part, x.part, where};
        return Span{max(y.low, tile.top) - tile.top, min(y.high + 1, tile.bottom) - tile.top};
      };
      const auto give = [&](int i, int row, int c) {
        const Sampled given = samples.given[i][c];
        const int left = (given.where >> 8 & 255) - 1;
        const Real share = (row + 1 == given.where >> 16 ? 1 - given.down : given.down) * given.gradient;
        Real* to = map.base + row * map.line + left * map.pixel + c * (map.plane / LANES);
        if (left >= 0) to[0] += (1 - given.across) * share;
        if (given.where & 1 && left + 1 < columns) to[map.pixel] += given.across * share;
      };
      add_maxima(tile, marks_of(marks, tile, tiles, bins), bins, samples.maxima, prepare, rows_of, give);
    });
  }
}
