// winograd.h: the transforms of Winograd's F(2x2, 3x3) (Lavin and Gray 2016): 2 x 2 places from 4 x 4 pixels with 16 products
// where 36 were. Its sums differ from the plain ones by rounding alone as long as all is finite.
#pragma once
#include "window.h"

// One step of each transform, along one axis.
DEVICE void to_taps(Vector a, Vector b, Vector c, Vector* out) {  // of 3 weights
  out[0] = a, out[1] = (a + b + c) * Real(0.5), out[2] = (a - b + c) * Real(0.5), out[3] = c;
}
DEVICE void to_points(const Vector* d, Vector* out) {  // of 4 pixels
  out[0] = d[0] - d[2], out[1] = d[1] + d[2], out[2] = d[2] - d[1], out[3] = d[1] - d[3];
}
DEVICE void to_places(const Vector* m, Vector* out) {  // of 4 products
  out[0] = m[0] + m[1] + m[2], out[1] = m[1] - m[2] - m[3];
}

DEVICE void from_places(Vector a, Vector b, Vector* out) {  // the adjoint of to_places
  out[0] = a, out[1] = a + b, out[2] = a - b, out[3] = -b;
}
DEVICE void from_points(const Vector* m, Vector* out) {  // the adjoint of to_taps
  const Vector sum = (m[1] + m[2]) * Real(0.5), apart = (m[1] - m[2]) * Real(0.5);
  out[0] = m[0] + sum, out[1] = apart, out[2] = sum + m[3];
}

// Even and odd elements apart, and together again.
DEVICE void split(const Real* __restrict__ from, Real* __restrict__ even, Real* __restrict__ odd, int n) {
  for (int i = 0; i < n; ++i) even[i] = from[2 * i], odd[i] = from[2 * i + 1];
}
DEVICE void join(const Real* __restrict__ even, const Real* __restrict__ odd, Real* __restrict__ to, int n) {
  for (int i = 0; i < n; ++i) to[2 * i] = even[i], to[2 * i + 1] = odd[i];
}

// The tiles of `rows` rows of tiles from row `y0` on: tile (y, x) at [y * across + x], `pitch` elements for each plane.
struct Tiles {
  const Window& g;
  int y0, rows, across, pitch;

  Tiles(const Window& g, int y0, int rows) : g(g), y0(y0), rows(rows), across((g.out_width + 1) / 2) {
    pitch = rows * across + LANES;  // the last vector of a row of tiles runs into the next row, which is written after it
  }

  // The plane's pixels to points: element [point * step + tile].
  void take(const Real* plane, Real* points, long long step) const {
    const int half = across + 1 + LANES;
    Real* lines = scratch(5, Count(8) * half);  // 4 rows of pixels, even and odd columns apart
    for (int y = 0; y < rows; ++y) {
      for (int r = 0; r < 4; ++r) {
        Real *even = lines + 2 * r * half, *odd = even + half;
        const int line = (y0 + y) * 2 + r - g.pad_h;
        if (line < 0 || line >= g.height) {
          std::memset(even, 0, 2 * half * sizeof(Real));
          continue;
        }
        const Real* from = plane + (long long)line * g.width - g.pad_w;
        const int first = (g.pad_w + 1) / 2, last = min(across + 1, (g.width + g.pad_w) / 2);  // pairs inside the image
        auto edge = [&](int x) { return x >= g.pad_w && x < g.width + g.pad_w ? from[x] : Real(0); };
        for (int i = 0; i < min(first, across + 1); ++i) even[i] = edge(2 * i), odd[i] = edge(2 * i + 1);
        split(from + 2 * first, even + first, odd + first, last - first);
        for (int i = max(first, last); i < half; ++i) even[i] = edge(2 * i), odd[i] = edge(2 * i + 1);
      }
      for (int x = 0; x < across; x += LANES) {
        Vector d[4][4], column[4], out[4];
        for (int r = 0; r < 4; ++r) {
          const Real *even = lines + 2 * r * half + x, *odd = even + half;
          const Vector pixels[4] = {load(even), load(odd), load(even + 1), load(odd + 1)};
          to_points(pixels, d[r]);
        }
        for (int i = 0; i < 4; ++i) {
          for (int r = 0; r < 4; ++r) column[r] = d[r][i];
          to_points(column, out);
          for (int r = 0; r < 4; ++r) store(points + (r * 4 + i) * step + y * across + x, out[r]);
        }
      }
    }
  }

  // The adjoint of `give`: LANES planes of a map, of which there are `planes`, to points in panels: those of tile t at
  // [point * step + t * WIDTH], beside each other for the planes.
  void spread(const Real* map, int planes, Real* panels, long long step) const {
    const int wide = across + LANES;
    Real *lines = scratch(5, Count(4) * wide), *points = scratch(2, Count(LANES) * 16 * wide);  // of one row of tiles
    for (int y = 0; y < rows; ++y) {
      for (int f = 0; f < LANES; ++f) {
        Real* to = points + (long long)f * 16 * wide;
        if (f >= planes) {
          std::memset(to, 0, 16 * wide * sizeof(Real));
          continue;
        }
        for (int r = 0; r < 2; ++r) {
          Real *even = lines + 2 * r * wide, *odd = even + wide;
          const int line = (y0 + y) * 2 + r;
          const bool inside = line < g.out_height;
          const Real* from = map + (long long)f * g.places() + (long long)line * g.out_width;
          const int pairs = inside ? g.out_width / 2 : 0;
          if (inside) split(from, even, odd, pairs);
          std::memset(even + pairs, 0, (wide - pairs) * sizeof(Real));
          std::memset(odd + pairs, 0, (wide - pairs) * sizeof(Real));
          if (inside && g.out_width % 2) even[pairs] = from[2 * pairs];
        }
        for (int x = 0; x < across; x += LANES) {
          Vector d[2][4], out[4];
          for (int r = 0; r < 2; ++r) from_places(load(lines + 2 * r * wide + x), load(lines + (2 * r + 1) * wide + x), d[r]);
          for (int i = 0; i < 4; ++i) {
            from_places(d[0][i], d[1][i], out);
            for (int r = 0; r < 4; ++r) store(to + (r * 4 + i) * wide + x, out[r]);
          }
        }
      }
      for (int point = 0; point < 16; ++point)
        for (int x = 0; x < across; x += LANES) {
          Vector square[LANES];
          for (int f = 0; f < LANES; ++f) square[f] = load(points + ((long long)f * 16 + point) * wide + x);
          transpose(square);
          Real* to = panels + point * step + ((long long)y * across + x) * WIDTH;
          for (int q = 0; q < min(LANES, across - x); ++q) store(to + (long long)q * WIDTH, square[q]);
        }
    }
  }

  // Products back to places of a plane of the map. Returns whether all of them were finite.
  bool give(const Real* products, long long step, Real* plane, Real bias, bool relu) const {
    Vector probe = {};
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < across; x += LANES) {
        const int tiles = min(LANES, across - x);
        Vector m[2][4], column[4];
        for (int i = 0; i < 4; ++i) {
          Vector sums[2];
          for (int r = 0; r < 4; ++r) column[r] = load(products + (r * 4 + i) * step + y * across + x);
          to_places(column, sums);
          m[0][i] = sums[0], m[1][i] = sums[1];
        }
        for (int r = 0; r < 2; ++r) {
          const int line = (y0 + y) * 2 + r;
          if (line >= g.out_height) break;
          Vector out[2];
          to_places(m[r], out);
          const Vector both = out[0] + out[1];
          for (int lane = 0; lane < LANES; ++lane) probe[lane] += lane < tiles ? 0 * both[lane] : Real(0);
          Real pairs[2 * LANES];
          for (Vector& value : out) {
            value += bias;
            if (relu) value = value < 0 ? Vector{} : value;
          }
          join(reinterpret_cast<Real*>(&out[0]), reinterpret_cast<Real*>(&out[1]), pairs, LANES);
          copy(pairs, plane + (long long)line * g.out_width + 2 * x, min(2 * tiles, g.out_width - 2 * x));
        }
      }
    Real total = 0;
    for (int lane = 0; lane < LANES; ++lane) total += probe[lane];
    return total == 0;
  }
};
