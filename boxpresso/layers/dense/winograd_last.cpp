// winograd_last.cpp: winograd_last.h's convolutions of images of Real.
#include "winograd_last.h"

// A panel of a group's filters, transformed, point by point.
template <int M>
DEVICE void pack(int block, int groups, const Real* weights, const Real* scale, Real* packed, int filters, int channels) {
  constexpr int A = M + 2;
  const Panels panels(filters);
  const int group = block % groups, panel = block / groups;
  if (panel >= panels.count) return;
  const int vectors = panels.wide(panel);
  const long long matrix = (long long)(panels.vectors) * LANES * channels;
  for (int v = 0; v < vectors; ++v) {
    const int f0 = (panels.first(panel) + v) * LANES, count = min(LANES, filters - f0);
    const Real* from = weights + ((long long)group * filters + f0) * channels * 9;
    Real* to = packed + group * matrix + (long long)(panels.first(panel)) * LANES * channels + v * LANES;
    for (int c = 0; c < channels; ++c) {
      Vector points[A][A];
      filter_points<M>(from + c * 9, scale ? scale + group * filters + f0 : nullptr, count, channels * 9, points);
      for (int y = 0; y < A; ++y)
        for (int x = 0; x < A; ++x) store(to + (y * A + x) * groups * matrix + (long long)c * vectors * LANES, points[y][x]);
    }
  }
}

template <int M>
DEVICE bool convolve_tiles(const LastTiles<M>& tiles, const Window& g, const Layout& l, int group, const Real* planes,
                           const Real* packed, const Epilogue& e, Real* map) {
  constexpr int POINTS = (M + 2) * (M + 2);
  const int channels = g.group_channels(), filters = g.group_maps();
  const Panels panels(filters);
  const long long pitch = (channels + LANES - 1) / LANES * LANES + PAD, step = tiles.count() * pitch;
  const long long matrix = (long long)(panels.vectors) * LANES * channels, out_step = (long long)(tiles.count()) * 3 * LANES;
  Real *pixels = scratch(3, Count(step) * POINTS + LANES), *products = scratch(4, Count(out_step) * POINTS);
  tiles.take(planes, l.bottom_pitch, channels, pixels, step, pitch);
  bool finite = true;
  Layout none = {};
  const Epilogue nothing(none, nullptr, nullptr, nullptr);
  for (int p = 0; p < panels.count; ++p) {
    const int wide = panels.wide(p), channel = panels.first(p) * LANES;
    for (int point = 0; point < POINTS; ++point) {
      const Real* panel = packed + ((long long)point * g.group + group) * matrix + (long long)channel * channels;
      for (int k0 = 0; k0 < channels; k0 += DEEP) {
        const int depth = min(DEEP, channels - k0);
        const TileRows t = {pixels + point * step + k0, pitch, nullptr, nullptr, products + point * out_step, wide * LANES, 0, 0};
        const Real* right = panel + (long long)k0 * wide * LANES;
        const bool first = k0 == 0;
        if (wide == 3) rows_last<3, 0>(depth, t, right, tiles.count(), 0, 3 * LANES, nothing, first, false);
        else if (wide == 2) rows_last<2, 0>(depth, t, right, tiles.count(), 0, 2 * LANES, nothing, first, false);
        else rows_last<1, 0>(depth, t, right, tiles.count(), 0, LANES, nothing, first, false);
      }
    }
    finite &= l.halved ? tiles.template give<true>(products, out_step, wide, map, l.top_pitch, l.other_pitch, channel, filters, e)
                       : tiles.template give<false>(products, out_step, wide, map, l.top_pitch, l.other_pitch, channel, filters, e);
  }
  return finite;
}

template <int M>
DEVICE bool convolve(const Window& g, const Layout& l, int y0, int rows, int group, const Real* planes, const Real* packed,
                     const Epilogue& e, Real* map) {
  const int all = rows * ((g.out_width + M - 1) / M);
  bool finite = true;
  for (int t = 0; t < all; t += TOGETHER)
    finite &= convolve_tiles<M>({g, y0, t, min(TOGETHER, all - t)}, g, l, group, planes, packed, e, map);
  return finite;
}

// packed: (m + 2)^2 matrices for each group, in panels. m: 2 or 4. scale: a factor a filter, or null. n: groups x panels, or more.
KERNEL pack_winograd(int n, const Real* weights, const Real* scale, Real* packed, int groups, int filters, int channels, int m) {
  BLOCK_LOOP(block, n) {
    if (m == 2) pack<2>(block, groups, weights, scale, packed, filters, channels);
    else pack<4>(block, groups, weights, scale, packed, filters, channels);
  }
}

// As convolve_last, for 3 x 3 windows with stride and dilation 1. odd[block]: whether a sum was not finite, where these products
// differ from the plain ones. n: images x groups x blocks of `rows` rows of tiles.
KERNEL winograd_last(int n, const Real* image, const Real* packed, const Real* bias, const Real* slopes, const Real* other,
                     Real* map, Real* odd, Geometry geometry, Layout layout, int rows, int m) {
  const Window g(geometry);
  const int tile_rows = (g.out_height + m - 1) / m, down = (tile_rows + rows - 1) / rows, filters = g.group_maps();
  BLOCK_LOOP(block, n) {
    const int y0 = block % down * rows, product = block / down, group = product % g.group, number = product / g.group;
    const int f0 = group * filters, high = min(rows, tile_rows - y0);
    const Real* planes = image + (long long)number * layout.bottom_step + group * g.group_channels();
    Real* to = map + (long long)number * layout.top_step + f0;
    const Epilogue e(layout, bias ? bias + f0 : nullptr, slopes ? slopes + f0 : nullptr,
                     other ? other + (long long)number * layout.other_step + f0 : nullptr);
    const bool finite = m == 2 ? convolve<2>(g, layout, y0, high, group, planes, packed, e, to)
                               : convolve<4>(g, layout, y0, high, group, planes, packed, e, to);
    odd[block] = !finite;
  }
}
