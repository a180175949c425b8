// roi_align_tiles.cu: roi_align.cu for a GPU: averages from packed slabs, by region and slab, and the gradient of the maps in tiles
// whose lists have no room (listed.h).
#include "listed.h"
#include "roi_lists.h"

constexpr int BINS = 64;  // of a region, whose averages a block keeps before it stores them plane by plane

// A block owns a region in a slab; slabs: (B * slabs_of(C), area, SLAB), top: (K, C, pooled_height, pooled_width).
KERNEL roi_align_forward_packed(int n, const Real* slabs, const int* head, const Real* inverse, const int* index,
                                const Real* weight, Store* top, ListGeometry g) {
  const int channels = g.channels, count = slabs_of(channels), width = g.width, pooled_width = g.pooled_width;
  const int bins = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Wide averages[stage_of(BINS)];
    const int s = b / g.regions, k = b - s * g.regions;  // what lies in no image has empty lists and becomes 0
    const Real* slab = slabs + ((long long)max(head[5 * k], 0) * count + s) * g.height * width * SLAB;
    const Axis y = axis_by_bin(k, 0, head, index, weight, g);
    const Axis x = axis_by_bin(k, 1, head, index, weight, g);
    Store* out = top + ((long long)k * channels + s * SLAB) * bins;
    for (int first = 0; first < bins; first += BINS) {
      const int some = min(BINS, bins - first);
      TILE_LOOP(i, share, some, SHARES) {
        const int ph = (first + i) / pooled_width, pw = first + i - ph * pooled_width;
        Wide sum = {};
        for (int e = y.start[ph]; e < y.start[ph + 1]; ++e) {
          const Real* row = slab + (long long)y.at[e] * width * SLAB;
          Wide across = {};
          for (int f = x.start[pw]; f < x.start[pw + 1]; ++f) across += x.weight[f] * wide(row, x.at[f], share);
          sum += y.weight[e] * across;
        }
        staged(averages, i, share) = inverse[k] * sum;
      }
      BARRIER();
      empty_stage(averages, out + first, channels - s * SLAB, bins, some);
      BARRIER();
    }
  }
}

// What a row of a region gives to `line`, a row of the map in columns left to right: from each bin of x its part of the row's
// gradient. Lists of y by pixel, of x by bin.
DEVICE void add_row(const Axis& y, const Axis& x, const Given& given, Real inverse, int row, int group, int pooled_width,
                   Lanes* line, const TileMap& map, int left, int right) {
  const int begin = y.start[row - y.first], end = y.start[row - y.first + 1];
  const int* at_x = x.at;
  const Real* weight_x = x.weight;
  for (int pw = 0; pw < pooled_width; ++pw) {
    int first = x.start[pw], last = x.start[pw + 1];
    while (first < last && at_x[first] < left) ++first;
    while (first < last && at_x[last - 1] >= right) --last;
    if (first == last) continue;
    Lanes share = {};
    for (int e = begin; e < end; ++e) share += y.weight[e] * lanes_of(given, y.at[e] * pooled_width + pw, group);
    share *= inverse;
    for (int f = first; f < last; ++f) along(line, map, at_x[f]) += weight_x[f] * share;
  }
}

// Of tiles that have no lists; heads: what roi_align_prepare() of roi_align_listed.cu has made.
KERNEL roi_align_backward_tiles(int n, const Store* top_diff, const int* lists, const int* heads, const int* head, const Real* inverse,
                                const int* index, const Real* weight, const int* pixel_index, const Real* pixel_weight,
                                Store* diff, ListGeometry g) {
  const int channels = g.channels, height = g.height, width = g.width, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
    const Tiles tiles = tiles_of(lists);
    if (has_lists(heads + (long long)(b % (g.batch * tiles.down * tiles.across)) * LIST_HEAD)) continue;
    const auto add_regions = [&](const Tile& tile, int channel, const TileMap& map) {
      Given given = {};
      given.channel = channel, given.channels = channels, given.bins = g.pooled_height * pooled_width;
      Axis y, x;
      Real share = 0;
      const auto prepare = [&](int k) {
        take(given, top_diff, k);
        y = axis_by_pixel(k, 0, head, pixel_index, pixel_weight, g);
        x = axis_by_bin(k, 1, head, index, weight, g);
        share = inverse[k];
      };
      const auto rows = [&](int k, int) { return Span{head[5 * k + 1], head[5 * k + 1] + head[5 * k + 2]}; };
      tile_rows(tile, GROUPS, prepare, rows, [&](int, int row, int group) {
        if (y.start[row - y.first] == y.start[row - y.first + 1]) return;
        add_row(y, x, given, share, row, group, pooled_width, line_of(map, tile, row, group), map, tile.left, tile.right);
      });
    };
    make_tiles(b, n, lists, diff, g.batch, channels, height, width, own, false, add_regions);
  }
}
