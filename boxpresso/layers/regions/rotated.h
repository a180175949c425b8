// rotated.h: where the samples of rotated regions lie.
//
// A region is a row (batch index, cx, cy, w, h, theta); its samples lie on an upright grid around its centre, turned by theta:
// y = yy cos - xx sin + cy, x = yy sin + xx cos + cx (the image's y goes down, so theta turns it counter-clockwise).
#pragma once
#include "grid.h"

struct Turned {
  Grid grid;  // around the centre
  Real y, x, sine, cosine;
};

// The grid around the centre, before it is turned; without `aligned`, sizes are at least 1.
DEVICE Grid grid_around(const Real* region, const GridGeometry& g) {
  Real width = region[3] * g.scale, height = region[4] * g.scale;
  if (!g.aligned) {
    width = max(width, Real(1));
    height = max(height, Real(1));
  }
  return grid_of(-height / 2, -width / 2, height, width, g.pooled_height, g.pooled_width, g.sampling_ratio);
}

// `clockwise` turns the other way; `aligned` takes half a pixel off the centre.
DEVICE Turned turned(const Real* region, const GridGeometry& g, int clockwise) {
  const Real half = g.aligned ? Real(0.5) : Real(0), theta = clockwise ? -region[5] : region[5];
  Turned t = {grid_around(region, g), region[2] * g.scale - half, region[1] * g.scale - half, sin(theta), cos(theta)};
  if (!(abs(t.y) + abs(t.x) <= REAL_MAX)) t.grid.rows = t.grid.columns = 0;
  return t;
}

// A sample: `at` is the pixel above and left of it, `below` and `beside` are how much further the others lie, 0 at the border;
// (top, left) is `at`, and `down` and `across` say how far the sample lies beyond it; (yy, xx): before it is turned, (y, x) after,
// at least 0.
struct Sample {
  bool inside;
  int at, beside, below, nowhere, top, left;
  Real down, across, yy, xx, y, x;
};

// The one bilinear: the sample at a row and a column of the samples of bin (ph, pw). Without branches, so that the host makes
// vectors of it.
DEVICE Sample sample_of(const Turned& t, int ph, int pw, int row, int column, int height, int width) {
  const Grid& g = t.grid;
  const Real half = Real(0.5);
  const Real yy = g.y + ph * g.bin_height + (row + half) * g.bin_height / g.rows;
  const Real xx = g.x + pw * g.bin_width + (column + half) * g.bin_width / g.columns;
  const Real y = yy * t.cosine - xx * t.sine + t.y, x = yy * t.sine + xx * t.cosine + t.x;
  const bool inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width) & (height > 0) & (width > 0);  // as neighbours()
  const Real on_y = inside ? max(y, Real(0)) : Real(0), on_x = inside ? max(x, Real(0)) : Real(0);
  const int top = min(int(on_y), height - 1), left = min(int(on_x), width - 1);
  const int below = top + 1 < height ? width : 0, beside = left + 1 < width ? 1 : 0, at = top * width + left;
  const Real down = below > 0 ? on_y - top : Real(0), across = beside > 0 ? on_x - left : Real(0);
  return Sample{inside, at, beside, below, height * width, top, left, down, across, yy, xx, on_y, on_x};
}
