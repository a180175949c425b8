// winograd_last.cpp: Winograd's F(2x2, 3x3), and with less exact sums F(4x4, 3x3), for channels-last images on the host (Lavin
// and Gray 2016): M x M places from (M + 2) x (M + 2) pixels. Every step is over vectors of channels, so nothing is shuffled.
#include "last.h"

// One step of each transform, along one axis of a tile.
template <int M>
struct Transform;

template <>
struct Transform<2> {
  static void taps(Vector a, Vector b, Vector c, Vector* out) {  // of 3 weights
    out[0] = a, out[1] = (a + b + c) * Real(0.5), out[2] = (a - b + c) * Real(0.5), out[3] = c;
  }
  static void points(const Vector* d, Vector* out) {  // of 4 pixels
    out[0] = d[0] - d[2], out[1] = d[1] + d[2], out[2] = d[2] - d[1], out[3] = d[1] - d[3];
  }
  static void places(const Vector* m, Vector* out) {  // of 4 products
    out[0] = m[0] + m[1] + m[2], out[1] = m[1] - m[2] - m[3];
  }
};

template <>
struct Transform<4> {
  static void taps(Vector a, Vector b, Vector c, Vector* out) {
    const Vector even = a + c, near = a + Real(4) * c;
    out[0] = a * Real(0.25), out[1] = (even + b) * Real(-1 / 6.), out[2] = (even - b) * Real(-1 / 6.);
    out[3] = (near + Real(2) * b) * Real(1 / 24.), out[4] = (near - Real(2) * b) * Real(1 / 24.), out[5] = c;
  }
  static void points(const Vector* d, Vector* out) {
    const Vector a = d[4] - Real(4) * d[2], b = d[3] - Real(4) * d[1], c = d[4] - d[2], e = Real(2) * (d[3] - d[1]);
    out[0] = Real(4) * d[0] - Real(5) * d[2] + d[4], out[1] = a + b, out[2] = a - b;
    out[3] = c + e, out[4] = c - e, out[5] = Real(4) * d[1] - Real(5) * d[3] + d[5];
  }
  static void places(const Vector* m, Vector* out) {
    const Vector a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
    out[0] = m[0] + a + c, out[1] = b + Real(2) * d, out[2] = a + Real(4) * c, out[3] = b + Real(8) * d + m[5];
  }
};

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
      Real taps[9][LANES] = {};
      for (int lane = 0; lane < count; ++lane)
        for (int tap = 0; tap < 9; ++tap)
          taps[tap][lane] = from[((long long)lane * channels + c) * 9 + tap] * (scale ? scale[group * filters + f0 + lane] : Real(1));
      Vector rows[3][A], column[A];
      for (int y = 0; y < 3; ++y)
        Transform<M>::taps(load(taps[3 * y]), load(taps[3 * y + 1]), load(taps[3 * y + 2]), rows[y]);
      for (int x = 0; x < A; ++x) {
        Transform<M>::taps(rows[0][x], rows[1][x], rows[2][x], column);
        for (int y = 0; y < A; ++y) store(to + (y * A + x) * groups * matrix + (long long)c * vectors * LANES, column[y]);
      }
    }
  }
}

// Tiles of a block that are transformed at once: `many` from tile `first` on of the rows of tiles that begin at `y0`.
template <int M>
struct LastTiles {
  static constexpr int A = M + 2;
  const Window& g;
  int y0, first, many, across;

  LastTiles(const Window& g, int y0, int first, int many)
      : g(g), y0(y0), first(first), many(many), across((g.out_width + M - 1) / M) {}
  int count() const { return many; }

  // Pixels to points: point (i, j) of tile t at to[(i * A + j) * step + t * pitch].
  void take(const Real* image, int image_pitch, int channels, Real* to, long long step, long long pitch) const {
    for (int t = 0; t < count(); ++t) {
      const int y = (y0 + (first + t) / across) * M - g.pad_h, x = (first + t) % across * M - g.pad_w;
      const bool inside = y >= 0 && x >= 0 && y + A <= g.height && x + A <= g.width;
      for (int c = 0; c < channels; c += LANES) {
        const bool part = channels - c < LANES;
        Vector d[A][A], column[A], out[A];
        for (int i = 0; i < A; ++i) {
          Vector line[A];
          for (int j = 0; j < A; ++j) {
            const Real* at = image + ((long long)(y + i) * g.width + x + j) * image_pitch + c;
            if (!inside && (y + i < 0 || y + i >= g.height || x + j < 0 || x + j >= g.width)) line[j] = Vector{};
            else line[j] = part ? load_part(at, channels - c) : load(at);
          }
          Transform<M>::points(line, d[i]);
        }
        for (int j = 0; j < A; ++j) {
          for (int i = 0; i < A; ++i) column[i] = d[i][j];
          Transform<M>::points(column, out);
          for (int i = 0; i < A; ++i) store(to + (i * A + j) * step + t * pitch + c, out[i]);
        }
      }
    }
  }
  // Products of the filters from `channel` on, `vectors` of them, to places, or to the maxima of 2 x 2 of them. Returns whether all
  // of them were finite.
  template <bool HALVED>
  bool give(const Real* from, long long step, int vectors, Real* map, long long map_pitch, long long other_pitch, int channel, int filters,
            const Epilogue& e) const {
    Vector probe = {};
    for (int t = 0; t < count(); ++t) {
      const int y = (y0 + (first + t) / across) * M, x = (first + t) % across * M;
      for (int v = 0; v < vectors; ++v) {
        const int c = channel + v * LANES, left = filters - c;
        Vector m[M][A], column[A], out[M], best[M / 2][M / 2];
        for (int j = 0; j < A; ++j) {
          for (int i = 0; i < A; ++i) column[i] = load(from + (i * A + j) * step + (long long)t * vectors * LANES + v * LANES);
          Transform<M>::places(column, out);
          for (int i = 0; i < M; ++i) m[i][j] = out[i];
        }
        for (int i = 0; i < M && y + i < g.out_height; ++i) {
          Transform<M>::places(m[i], out);
          for (int j = 0; j < M && x + j < g.out_width; ++j) {
            const long long place = (long long)(y + i) * g.out_width + x + j;
            probe += 0 * out[j];
            const Vector value = e(out[j], c, place * other_pitch, left);
            if (HALVED) {
              Vector& most = best[i / 2][j / 2];
              if (i % 2 + j % 2 == 0) most = value;
              else most = value > most ? value : most;
            } else if (left >= LANES) store(map + place * map_pitch + c, value);
            else store_part(map + place * map_pitch + c, value, left);
          }
        }
        for (int i = 0; HALVED && i < M / 2 && y + 2 * i < g.out_height; ++i) {
          for (int j = 0; j < M / 2 && x + 2 * j < g.out_width; ++j) {
            const long long place = (long long)(y / 2 + i) * ((g.out_width + 1) / 2) + x / 2 + j;
            if (left >= LANES) store(map + place * map_pitch + c, best[i][j]);
            else store_part(map + place * map_pitch + c, best[i][j], left);
          }
        }
      }
    }
    Real total = 0;
    for (int lane = 0; lane < LANES; ++lane) total += probe[lane];
    return total == 0;
  }
};

constexpr int TOGETHER = 512;  // tiles

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
