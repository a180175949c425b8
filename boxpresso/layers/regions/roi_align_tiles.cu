// roi_align_tiles.cu: roi_align.cu for a GPU: averages from packed slabs, by region and some slabs, and the gradient of the maps in tiles
// whose lists have no room (listed.h).
#include "listed.h"
#include "roi_lists.h"

constexpr int BINS = sizeof(Real) > 4 ? 32 : 64;  // of a region, whose averages a block keeps before it stores them plane by plane, in
constexpr int TOGETHER = 4;                       // slabs
constexpr int TAPS = 512;                         // entries of an axis that a block keeps

// An entry of an axis: a weight, and which pixel it has; of y the first of its row.
struct alignas(2 * sizeof(Real)) Tap {
  Real weight;
  int pixel;
};

// A pixel of a slab. Its number is an address by one instruction, as it has no sign.
struct Pixel {
  Real of[SLAB];
};

// The sum of the pixels that entries begin_y to end_y - 1 and begin_x to end_x - 1 name, with their weights; share: of the slab.
template <int UNROLLED, class Down, class Across>
DEVICE Wide weighed(const Real* share, int begin_y, int end_y, int begin_x, int end_x, Down down, Across across) {
  Wide sum = {};
  for (int e = begin_y; e < end_y; ++e) {
    const Tap y = down(e);
    const Pixel* row = (const Pixel*)share + unsigned(y.pixel);
    Wide line = {};
#pragma unroll UNROLLED
    for (int f = begin_x; f < end_x; ++f) {
      const Tap x = across(f);
      line += x.weight * *(const Wide*)(row + unsigned(x.pixel));
    }
    sum += y.weight * line;
  }
  return sum;
}

// A block owns a region in TOGETHER slabs; slabs: (B * slabs_of(C), area, SLAB), top: (K, C, pooled_height, pooled_width).
KERNEL roi_align_forward_packed(int n, const Real* slabs, const int* head, const Real* inverse, const int* index,
                                const Real* weight, Store* top, ListGeometry g) {
  const int channels = g.channels, count = slabs_of(channels), width = g.width, pooled_width = g.pooled_width;
  const int bins = g.pooled_height * pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED Wide averages[TOGETHER * stage_of(BINS)];
    SHARED Tap taps[2][TAPS];
    const int first_slab = b / g.regions * TOGETHER, k = b % g.regions;  // what lies in no image has empty lists and becomes 0
    const int slabs_here = min(TOGETHER, count - first_slab), channels_here = min(SLAB * TOGETHER, channels - first_slab * SLAB);
    const long long area = (long long)g.height * width;
    const Real* from = slabs + ((long long)max(head[5 * k], 0) * count + first_slab) * area * SLAB;
    const Axis y = axis_by_bin(k, 0, head, index, weight, g);
    const Axis x = axis_by_bin(k, 1, head, index, weight, g);
    const int all_y = y.start[g.pooled_height], all_x = x.start[pooled_width];
    const bool fit = max(all_y, all_x) <= TAPS;
    const auto down = [&](int e) { return Tap{y.weight[e], y.at[e] * width}; };
    const auto across = [&](int f) { return Tap{x.weight[f], x.at[f]}; };
    if (fit) THREAD_LOOP(e, all_y) taps[0][e] = down(e);
    if (fit) THREAD_LOOP(f, all_x) taps[1][f] = across(f);
    BARRIER();
    const Real factor = inverse[k];
    Store* out = top + ((long long)k * channels + first_slab * SLAB) * bins;
    for (int first = 0; first < bins; first += BINS) {
      const int some = min(BINS, bins - first);
      TILE_LOOP(i, u, some, TOGETHER * SHARES) {
        const int s = u / SHARES, share = u % SHARES;
        if (s >= slabs_here) continue;
        const int ph = (first + i) / pooled_width, pw = first + i - ph * pooled_width;
        const int begin_y = y.start[ph], end_y = y.start[ph + 1], begin_x = x.start[pw], end_x = x.start[pw + 1];
        const Real* of = from + s * area * SLAB + share * WIDE;
        const Wide sum = fit ? weighed<2>(of, begin_y, end_y, begin_x, end_x, [&](int e) { return taps[0][e]; },
                                       [&](int f) { return taps[1][f]; })
                             : weighed<1>(of, begin_y, end_y, begin_x, end_x, down, across);
        staged(averages + s * stage_of(BINS), i, share) = factor * sum;
      }
      BARRIER();
      THREAD_LOOP(t, channels_here * BINS) {
        const unsigned c = unsigned(t) / BINS, i = unsigned(t) % BINS, slab = c / SLAB;
        if (i < some) out[c * bins + first + i] = ((const Real*)averages)[(slab * BINS + i) * STAGE_ROW + c % SLAB];
      }
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
