// winograd_last.h: Winograd's F(2x2, 3x3), and with less exact sums F(4x4, 3x3), for channels-last images on the host (Lavin and
// Gray 2016): M x M places from (M + 2) x (M + 2) pixels. Every step is over vectors of channels, so nothing is shuffled.
#pragma once
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

// A channel's taps of `count` filters, which are `apart` elements from each other, as points. scale: a factor a filter, or null.
template <int M>
DEVICE void filter_points(const Real* from, const Real* scale, int count, long long apart, Vector (&points)[M + 2][M + 2]) {
  constexpr int A = M + 2;
  Real taps[9][LANES] = {};
  for (int lane = 0; lane < count; ++lane)
    for (int tap = 0; tap < 9; ++tap) taps[tap][lane] = from[lane * apart + tap] * (scale ? scale[lane] : Real(1));
  Vector rows[3][A], column[A];
  for (int y = 0; y < 3; ++y) Transform<M>::taps(load(taps[3 * y]), load(taps[3 * y + 1]), load(taps[3 * y + 2]), rows[y]);
  for (int x = 0; x < A; ++x) {
    Transform<M>::taps(rows[0][x], rows[1][x], rows[2][x], column);
    for (int y = 0; y < A; ++y) points[y][x] = column[y];
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
  template <class From, class Point>
  void take(const From* image, int image_pitch, int channels, Point* to, long long step, long long pitch) const {
    for (int t = 0; t < count(); ++t) {
      const int y = (y0 + (first + t) / across) * M - g.pad_h, x = (first + t) % across * M - g.pad_w;
      const bool inside = y >= 0 && x >= 0 && y + A <= g.height && x + A <= g.width;
      for (int c = 0; c < channels; c += LANES) {
        const bool part = channels - c < LANES;
        Vector d[A][A], column[A], out[A];
        for (int i = 0; i < A; ++i) {
          Vector line[A];
          for (int j = 0; j < A; ++j) {
            const From* at = image + ((long long)(y + i) * g.width + x + j) * image_pitch + c;
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
  template <bool HALVED, class To, class Other>
  bool give(const Real* from, long long step, int vectors, To* map, long long map_pitch, long long other_pitch, int channel, int filters,
            const EpilogueOf<Other>& e) const {
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
