// roi_align_tiles.cu: the gradient of the maps of roi_align.cu in tiles, for a GPU.
#include "roi_lists.h"
#include "tiles.h"

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

KERNEL roi_align_backward_tiles(int n, const Store* top_diff, const int* lists, const int* head, const Real* inverse,
                                const int* index, const Real* weight, const int* pixel_index, const Real* pixel_weight,
                                Store* diff, ListGeometry g) {
  const int channels = g.channels, height = g.height, width = g.width, pooled_width = g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Lanes own[TILE_OWN];
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
