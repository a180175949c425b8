// deform_roi_tiles.cu: the gradient of the maps of deform_roi.cu in tiles, for a GPU, and where its bins lie.
//
// Of the bins that touch a tile some are taken at a time, a thread to an axis of each. A thread that owns a row of the tile in a
// channel adds what those give to it that have samples there.
#include "deform_roi_tiles.h"
#include "listed.h"
#include "touched.h"
#include "wide.h"

constexpr int FEW = sizeof(Real) > 4 ? 8 : 16;  // bins that are taken together

// Where each bin lies, and where the bins of a region may have pixels, for the lists of tiles.h. A block owns a region.
KERNEL deform_roi_boxes(int n, const Store* regions, const Store* offset, int* boxes, Real* places, Real gamma, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(k, n) {
    SHARED int edge[4];  // of y, then of x: the first pixel, with its sign turned, and the end
    const int image = image_of(regions + 5 * (long long)k, 5, g.batch);
    const Whole whole = region_of(regions, k, g);
    const bool sampled = image >= 0 && whole.grid.rows * whole.grid.columns > 0;
    THREAD_LOOP(e, 4) edge[e] = e == 0 ? -g.height : e == 2 ? -g.width : 0;
    BARRIER();
    THREAD_LOOP(bin, bins) {
      const Grid grid = bin_of(whole, offset, k, bin, g, gamma);
      const BinPlace place = {sampled ? grid.y : Real(NAN), grid.x, grid.bin_height, grid.bin_width};
      ((BinPlace*)places)[(long long)k * bins + bin] = place;
      const Spans spans = spans_of(place, g);
      if (spans.y.first >= spans.y.end) continue;
      raise_to(edge, -spans.y.first);
      raise_to(edge + 1, spans.y.end);
      raise_to(edge + 2, -spans.x.first);
      raise_to(edge + 3, spans.x.end);
    }
    BARRIER();
    THREAD_LOOP(e, 5) boxes[5 * k + e] = e == 0 ? image : e % 2 ? -edge[e - 1] : max(edge[e - 1] + edge[e - 2], 0);
    BARRIER();
  }
}

// One axis of a bin.
struct Axis {
  int count, at[2 * TAKEN];
  Real weight[2 * TAKEN];
};

DEVICE void begin(Axis& axis, int e) { axis.weight[e] = 0; }
DEVICE void raise(Axis& axis, int e, Real weight, Real, int) { axis.weight[e] += weight; }

// Leaves out the pixels outside first to end - 1.
DEVICE void clip(Axis& axis, int first, int end) {
  int kept = 0;
  for (int e = 0; e < axis.count; ++e) {
    if (axis.at[e] < first || axis.at[e] >= end) continue;
    axis.at[kept] = axis.at[e];
    axis.weight[kept++] = axis.weight[e];
  }
  axis.count = kept;
}

// Bins that touch a tile, and their gradients. rows: of each row of the tile, a bit for each bin that has a sample there; entry:
// where its axis has that row.
struct Bins {
  Axis axis[2 * FEW];  // y and x of each; y's weights are times the mask, by the number of samples
  BinPlace place[FEW];
  int rows[TILE_SIDE], entry[TILE_SIDE][FEW];
  Wide given[stage_of(FEW)];
};

// Takes bins hit[0] to hit[some - 1] in.
DEVICE void take(Bins& taken, const int* hit, int some, const Real* places, const Store* top_diff, int channel, const GridGeometry& g) {
  const int bins = g.pooled_height * g.pooled_width;
  THREAD_LOOP(i, some) taken.place[i] = place_at(places, hit[i]);
  TILE_LOOP(c, i, SLAB, some) {
    const int k = hit[i] / bins, bin = hit[i] - k * bins;
    const Store* from = top_diff + ((long long)k * g.channels + channel + c) * bins + bin;
    ((Real*)taken.given)[i * STAGE_ROW + c] = channel + c < g.channels ? Real(*from) : Real(0);
  }
}

// Adds what the bins give by TAKEN samples of each axis, from `row` and `column` on.
DEVICE void add_bins(Bins& taken, const int* hit, int some, const Store* mask, int row, int column, const Tile& tile, const TileMap& map,
                     const GridGeometry& g) {
  THREAD_LOOP(line, TILE_SIDE) taken.rows[line] = 0;
  BARRIER();
  THREAD_LOOP(t, 2 * some) {
    Axis& axis = taken.axis[t];
    const Grid grid = grid_at(taken.place[t / 2], g);
    if (t % 2) {
      touch(axis, grid.x, grid.bin_width, grid.columns, column, min(column + TAKEN, grid.columns), g.width);
      clip(axis, tile.left, tile.right);
    } else {
      touch(axis, grid.y, grid.bin_height, grid.rows, row, min(row + TAKEN, grid.rows), g.height);
      clip(axis, tile.top, tile.bottom);
      const Real times = (mask ? Real(mask[hit[t / 2]]) : Real(1)) / (Real(grid.rows) * Real(grid.columns));
      for (int e = 0; e < axis.count; ++e) {
        axis.weight[e] *= times;
        if (e > 0 && axis.at[e] == axis.at[e - 1]) continue;  // pixels ascend, and some are there twice
        taken.entry[axis.at[e] - tile.top][t / 2] = e;
        add(&taken.rows[axis.at[e] - tile.top], 1 << t / 2);
      }
    }
  }
  BARRIER();
  TILE_LOOP(line, group, tile.bottom - tile.top, GROUPS) {
    Lanes* to = line_of(map, tile, tile.top + line, group);
    const int rows = taken.rows[line];
    for (int i = 0; rows >> i != 0; ++i) {
      if (!(rows >> i & 1)) continue;
      const Axis &y = taken.axis[2 * i], &x = taken.axis[2 * i + 1];
      const Lanes given = *(const Lanes*)((const Real*)taken.given + i * STAGE_ROW + group * LANES);
      for (int e = taken.entry[line][i]; e < y.count && y.at[e] == tile.top + line; ++e) {
        const Lanes share = y.weight[e] * given;
        for (int f = 0; f < x.count; ++f) along(to, map, x.at[f]) += x.weight[f] * share;
      }
    }
  }
  BARRIER();
}

// Of tiles that have no lists; heads: what deform_roi_prepare() of deform_roi_lists.cu has made.
KERNEL deform_roi_backward_tiles(int n, const Store* top_diff, const int* lists, const int* marks, const Real* places,
                                 const int* heads, const Store* mask, Store* diff, GridGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    SHARED Bins taken;
    SHARED int scratch[FLAG_ROOM], hit[HITS];
    const Tiles tiles = tiles_of(lists);
    if (has_lists(heads + (long long)(b % (g.batch * tiles.down * tiles.across)) * LIST_HEAD)) continue;
    const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
      const int* words = marks_of(marks, tile, tiles, bins);
      const int count = tile.count * words_of(bins);
      for (int first = 0; first < count && !STOPPED(); first += WORDS) {
        const int hits = hits_of(tile, words, first, min(WORDS, count - first), bins, scratch, hit);
        for (int h = 0; h < hits; h += FEW) {
          const int some = min(FEW, hits - h);
          take(taken, hit + h, some, places, top_diff, channel, g);
          int rows = g.sampling_ratio, columns = rows;  // the most samples of an axis of these bins
          for (int i = h; i < h + some && g.sampling_ratio <= 0; ++i) {
            const Grid grid = grid_at(place_at(places, hit[i]), g);
            rows = max(rows, grid.rows);
            columns = max(columns, grid.columns);
          }
          for (int row = 0; row < rows; row += TAKEN)
            for (int column = 0; column < columns; column += TAKEN)
              add_bins(taken, hit + h, some, mask, row, column, tile, map, g);
        }
      }
    };
    make_tiles(b, n, lists, diff, g.batch, g.channels, g.height, g.width, own, false, add_regions);
  }
}
