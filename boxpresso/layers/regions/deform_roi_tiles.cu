// deform_roi_tiles.cu: the gradient of the maps of deform_roi.cu in tiles, for a GPU.
//
// Bins of several regions are taken together: each thread looks whether one of them may touch the tile, and those that do are
// taken some at a time, a thread to an axis of each. A thread that owns a row of the tile in a channel adds what they give to it.
#include "ranks.h"
#include "tiles.h"
#include "touched.h"
#include "wide.h"

constexpr int NEAR = sizeof(Real) > 4 ? 16 : 32, FEW = sizeof(Real) > 4 ? 8 : 16;  // regions, and bins, that are taken together

// One axis of a bin.
struct Axis {
  int count, at[2 * TAKEN];
  Real weight[2 * TAKEN];
};

DEVICE void begin(Axis& axis, int e) { axis.weight[e] = 0; }
DEVICE void raise(Axis& axis, int e, Real weight, Real, int) { axis.weight[e] += weight; }

// Where the bins of each region may have pixels, for the lists of tiles.h.
KERNEL deform_roi_boxes(int n, const Store* regions, const Store* offset, int* boxes, Real gamma, GridGeometry g) {
  GRID_LOOP(k, n) {
    const Whole whole = region_of(regions, k, g);
    Span y = {g.height, 0}, x = {g.width, 0};
    for (int bin = 0; bin < g.pooled_height * g.pooled_width && whole.grid.rows * whole.grid.columns > 0; ++bin) {
      const Grid grid = bin_of(whole, offset, k, bin, g, gamma);
      const Span down = pixels_of(grid.y, grid.bin_height, g.height), across = pixels_of(grid.x, grid.bin_width, g.width);
      if (down.first >= down.end || across.first >= across.end) continue;
      y = {min(y.first, down.first), max(y.end, down.end)};
      x = {min(x.first, across.first), max(x.end, across.end)};
    }
    int* box = boxes + 5 * k;
    box[0] = image_of(regions + 5 * k, 5, g.batch);
    box[1] = y.first;
    box[2] = max(y.end - y.first, 0);
    box[3] = x.first;
    box[4] = max(x.end - x.first, 0);
  }
}

// Bins that touch a tile: of which of the regions near it, and what they give.
struct Bins {
  Axis axis[2 * FEW];  // y and x of each
  int region[FEW], bin[FEW];
  Wide given[stage_of(FEW)];
};

// What the threads of a block share of the regions near a tile.
struct Near {
  Whole whole[NEAR];
  int k[NEAR];
};

// Takes those of hit[0] to hit[some - 1] in, each the number of a bin among those of all regions near the tile: gradients times mask
// by the number of samples.
DEVICE void take(Bins& taken, const int* hit, int some, const Near& near, const Store* top_diff, const Store* mask, int channel,
                 const GridGeometry& g) {
  const int bins = g.pooled_height * g.pooled_width;
  THREAD_LOOP(i, some) {
    taken.region[i] = hit[i] / bins;
    taken.bin[i] = hit[i] % bins;
  }
  TILE_LOOP(c, i, SLAB, some) {
    const int j = hit[i] / bins, bin = hit[i] - j * bins, k = near.k[j];
    const Grid& grid = near.whole[j].grid;
    const Real times = (mask ? Real(mask[(long long)k * bins + bin]) : Real(1)) / (Real(grid.rows) * Real(grid.columns));
    const Store* from = top_diff + ((long long)k * g.channels + channel + c) * bins + bin;
    ((Real*)taken.given)[i * STAGE_ROW + c] = channel + c < g.channels ? times * Real(*from) : Real(0);
  }
  BARRIER();
}

// Adds what the bins give by TAKEN samples of each axis, from `row` and `column` on.
DEVICE void add(Bins& taken, int some, const Near& near, const Store* offset, int row, int column, const Tile& tile,
                const TileMap& map, Real gamma, const GridGeometry& g) {
  THREAD_LOOP(t, 2 * some) {
    const int j = taken.region[t / 2];
    const Grid grid = bin_of(near.whole[j], offset, near.k[j], taken.bin[t / 2], g, gamma);
    if (t % 2)
      touch(taken.axis[t], grid.x, grid.bin_width, grid.columns, column, min(column + TAKEN, grid.columns), g.width);
    else
      touch(taken.axis[t], grid.y, grid.bin_height, grid.rows, row, min(row + TAKEN, grid.rows), g.height);
  }
  BARRIER();
  TILE_LOOP(line_number, group, tile.bottom - tile.top, GROUPS) {
    const int line = tile.top + line_number;
    Lanes* to = line_of(map, tile, line, group);
    for (int i = 0; i < some; ++i) {
      const Axis &y = taken.axis[2 * i], &x = taken.axis[2 * i + 1];
      if (y.count == 0 || y.at[0] > line || y.at[y.count - 1] < line) continue;  // pixels ascend
      const Lanes given = *(const Lanes*)((const Real*)taken.given + i * STAGE_ROW + group * LANES);
      for (int e = 0; e < y.count; ++e) {
        if (y.at[e] != line) continue;
        const Lanes share = y.weight[e] * given;
        for (int f = 0; f < x.count; ++f)
          if (x.at[f] >= tile.left && x.at[f] < tile.right) along(to, map, x.at[f]) += x.weight[f] * share;
      }
    }
  }
  BARRIER();
}

KERNEL deform_roi_backward_tiles(int n, const Store* top_diff, const int* lists, const Store* regions, const Store* offset,
                                 const Store* mask, Store* diff, Real gamma, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Near near;
    SHARED Bins taken;
    SHARED int scratch[FLAG_ROOM], hit[FLAGS];
    const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
      const int together = max(1, min(NEAR, (1 << 30) / bins));  // regions, so that their bins can be counted
      for (int base = 0; base < tile.count; base += together) {
        const int some = min(together, tile.count - base);
        THREAD_LOOP(j, some) {
          near.k[j] = tile.list[base + j];
          near.whole[j] = region_of(regions, tile.list[base + j], g);
        }
        BARRIER();
        for (int first = 0; first < some * bins && !STOPPED(); first += FLAGS) {
          const auto touches = [&](int i) {
            const int j = (first + i) / bins;
            const Grid grid = bin_of(near.whole[j], offset, near.k[j], first + i - j * bins, g, gamma);
            const Span y = pixels_of(grid.y, grid.bin_height, g.height), x = pixels_of(grid.x, grid.bin_width, g.width);
            return grid.rows * grid.columns > 0 && y.first < tile.bottom && y.end > tile.top && x.first < tile.right && x.end > tile.left;
          };
          const int hits = compact(scratch, min(FLAGS, some * bins - first), touches, [&](int rank, int i) { hit[rank] = first + i; });
          for (int h = 0; h < hits; h += FEW) {
            const int count = min(FEW, hits - h);
            take(taken, hit + h, count, near, top_diff, mask, channel, g);
            int rows = 0, columns = 0;  // the most samples of an axis of these bins
            for (int i = 0; i < count; ++i) {
              rows = max(rows, near.whole[taken.region[i]].grid.rows);
              columns = max(columns, near.whole[taken.region[i]].grid.columns);
            }
            for (int row = 0; row < rows; row += TAKEN)
              for (int column = 0; column < columns; column += TAKEN)
                add(taken, count, near, offset, row, column, tile, map, gamma, g);
          }
        }
        BARRIER();
      }
    };
    make_tiles(b, n, lists, diff, g.batch, g.channels, g.height, g.width, own, false, add_regions);
  }
}
