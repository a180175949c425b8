// winograd_bf16.cpp: winograd_last.h's F(2x2, 3x3) on maps in bfloat16: the points of pixels and of filters are rounded to that, and
// the sums of their products are of Real (pairs.h), on CPUs that multiply pairs of them.
#include "pairs.h"
#include "winograd_last.h"

constexpr int POINTS = 16;  // of a tile of 4 x 4 pixels

// packed: for each point a matrix of each group's filters in panels, two channels in 32 bits; a channel too many is 0. scale: a factor
// a filter, or null. n: groups x panels, or more.
KERNEL pack_winograd_bf16(int n, const Real* weights, const Real* scale, int* packed, int groups, int filters, int channels) {
#if BF16
  const Panels panels(filters);
  const int pairs = (channels + 1) / 2;
  const long long matrix = (long long)(panels.vectors) * LANES * pairs;
  BLOCK_LOOP(block, n) {
    const int group = block % groups, panel = block / groups;
    if (panel >= panels.count) continue;
    const int vectors = panels.wide(panel);
    for (int v = 0; v < vectors; ++v) {
      const int f0 = (panels.first(panel) + v) * LANES, count = min(LANES, filters - f0);
      const Real* from = weights + ((long long)group * filters + f0) * channels * 9;
      const Real* factors = scale ? scale + group * filters + f0 : nullptr;
      int* to = packed + group * matrix + (long long)(panels.first(panel)) * LANES * pairs + v * LANES;
      for (int q = 0; q < pairs; ++q, to += vectors * LANES) {
        Vector low[4][4], high[4][4] = {};
        filter_points<2>(from + 2 * q * 9, factors, count, channels * 9, low);
        if (2 * q + 1 < channels) filter_points<2>(from + (2 * q + 1) * 9, factors, count, channels * 9, high);
        for (int point = 0; point < POINTS; ++point)
          *(Pairs*)(to + point * groups * matrix) = pairs_by_lane(low[point / 4][point % 4], high[point / 4][point % 4]);
      }
    }
  }
#endif
}

#if BF16

template <class To>
DEVICE bool tiles_bf16(const LastTiles<2>& tiles, const Window& g, const Layout& l, int group, const bfloat16* image,
                       const int* packed, const EpilogueOf<bfloat16>& e, To* map) {
  const int channels = g.group_channels(), filters = g.group_maps(), pairs = (channels + 1) / 2, count = tiles.count();
  const Panels panels(filters);
  const long long pitch = (channels + LANES - 1) / LANES * LANES + 2 * PAD, step = count * pitch;
  const long long matrix = (long long)(panels.vectors) * LANES * pairs, out_step = (long long)(count) * 3 * LANES;
  bfloat16* pixels = scratch<bfloat16>(3, Count(step) * POINTS + 2 * LANES);
  Real* products = scratch(4, Count(out_step) * POINTS + 3 * LANES * SPARE);
  const Pair** lines = scratch<const Pair*>(5, count);
  tiles.take(image, l.bottom_pitch, channels, pixels, step, pitch);
  for (int t = 0; t < count; ++t) lines[t] = (const Pair*)(pixels + t * pitch);
  const Layout none = {};
  const Epilogue nothing(none, nullptr, nullptr, nullptr);
  const Target nowhere = {nullptr, nullptr, 0, nullptr, 0, nothing};
  bool finite = true;
  for (int p = 0; p < panels.count; ++p) {
    const int wide = panels.wide(p), channel = panels.first(p) * LANES;
    for (int point = 0; point < POINTS; ++point) {
      const int* panel = packed + ((long long)point * g.group + group) * matrix + (long long)channel * pairs;
      for (int k0 = 0; k0 < pairs; k0 += DEEP_PAIRS) {
        const PairRows left = {lines, point * step / 2 + k0, nullptr, false};
        panel_pairs<false>(wide, min(DEEP_PAIRS, pairs - k0), left, panel + (long long)k0 * wide * LANES, count, 0, 3 * LANES,
                           products + point * out_step, k0 == 0, false, nowhere);
      }
    }
    finite &= l.halved ? tiles.template give<true>(products, out_step, wide, map, l.top_pitch, l.other_pitch, channel, filters, e)
                       : tiles.template give<false>(products, out_step, wide, map, l.top_pitch, l.other_pitch, channel, filters, e);
  }
  return finite;
}

#endif

// As winograd_last with m = 2. The map is stored in bfloat16, or as floats, the one of the two that is there.
KERNEL winograd_bf16(int n, const bfloat16* image, const int* packed, const Real* bias, const Real* slopes, const bfloat16* other,
                     bfloat16* map, Real* floats, Real* odd, Geometry geometry, Layout layout, int rows) {
#if BF16
  const Window g(geometry);
  const int tile_rows = (g.out_height + 1) / 2, down = (tile_rows + rows - 1) / rows, filters = g.group_maps();
  const Tiles registers((g.group_channels() + 1) / 2);
  BLOCK_LOOP(block, n) {
    const int y0 = block % down * rows, product = block / down, group = product % g.group, number = product / g.group;
    const int f0 = group * filters, all = min(rows, tile_rows - y0) * ((g.out_width + 1) / 2);
    const bfloat16* from = image + (long long)number * layout.bottom_step + group * g.group_channels();
    const long long to = (long long)number * layout.top_step + f0;
    const EpilogueOf<bfloat16> e(layout, bias ? bias + f0 : nullptr, slopes ? slopes + f0 : nullptr,
                                 other ? other + (long long)number * layout.other_step + f0 : nullptr);
    bool finite = true;
    for (int t = 0; t < all; t += TOGETHER) {
      const LastTiles<2> tiles(g, y0, t, min(TOGETHER, all - t));
      finite &= map ? tiles_bf16(tiles, g, layout, group, from, packed, e, map + to) : tiles_bf16(tiles, g, layout, group, from, packed, e, floats + to);
    }
    odd[block] = !finite;
  }
#endif
}
