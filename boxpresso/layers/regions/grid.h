// grid.h: where the align family takes its samples: rows x columns in each bin of a region.
#pragma once
#include "region.h"

// The Geometry of region.h, and what the samples depend on: sampling_ratio of them along each side of a bin or, from
// 0 down, as many as its size in pixels; whether half a pixel is taken off (`aligned`).
struct GridGeometry {
  int regions, batch, channels, height, width, pooled_height, pooled_width;
  int sampling_ratio, aligned;
  Real scale;
};

struct Grid {
  Real y, x, bin_height, bin_width;  // where the region starts, and the size of a bin, in pixels of the map
  int rows, columns;                 // of samples in a bin; 0 for a region that has none
};

// A size in pixels of the map in bins, sampled at sampling_ratio^2 points each or, from 0 down, at one per pixel begun. What
// overflows has no samples.
DEVICE Grid grid_of(Real y, Real x, Real height, Real width, int pooled_height, int pooled_width, int sampling_ratio) {
  Grid g = {y, x, height / pooled_height, width / pooled_width, sampling_ratio, sampling_ratio};
  if (sampling_ratio <= 0) {
    const Real most = MOST_SAMPLES;
    g.rows = int(max(Real(0), min(most, ceil(g.bin_height))));  // NaN becomes most
    g.columns = int(max(Real(0), min(most, ceil(g.bin_width))));
  }
  if (!(abs(x) + abs(y) + abs(width) + abs(height) <= REAL_MAX)) g.rows = g.columns = 0;
  return g;
}

// The grid of a region (batch index, x1, y1, x2, y2). `aligned` takes half a pixel off; without, the size is at least 1.
template <class Sampled>  // GridGeometry, or a struct with more fields
DEVICE Grid grid_of(const Real* region, const Sampled& g) {
  const Real half = g.aligned ? Real(0.5) : Real(0);
  const Real x = region[1] * g.scale - half, y = region[2] * g.scale - half;
  Real width = region[3] * g.scale - half - x, height = region[4] * g.scale - half - y;
  if (!g.aligned) {
    width = max(width, Real(1));
    height = max(height, Real(1));
  }
  return grid_of(y, x, height, width, g.pooled_height, g.pooled_width, g.sampling_ratio);
}

// Cascade R-CNN's grid: one sample at each corner of the cells that a region, widened by pad_ratio on each side, is cut into.
// So bin p's sample is where its cell starts, pooled_height x pooled_width counts corners, and there is one cell less.
DEVICE Grid corners_of(const Real* region, int pooled_height, int pooled_width, Real scale, Real pad_ratio) {
  const Real pad_x = (region[3] - region[1] + 1) * pad_ratio, pad_y = (region[4] - region[2] + 1) * pad_ratio;
  const Real x = (region[1] - pad_x) * scale - Real(0.5), y = (region[2] - pad_y) * scale - Real(0.5);
  const Real width = (region[3] + pad_x) * scale - Real(0.5) - x, height = (region[4] + pad_y) * scale - Real(0.5) - y;
  Grid g = grid_of(y, x, height, width, pooled_height - 1, pooled_width - 1, 1);
  if (!(width > 0 && height > 0)) g.rows = g.columns = 0;
  return g;
}

// How many bins of an axis lie between two whose samples share no pixel, at least: samples that are `reach` apart do not.
// That is 4 along an axis of the map, for each sample has 2 pixels there and the borders may draw two samples together by 1
// each, and 6 across. Far from the map, where coordinates are rounded, no two bins are taken to be apart.
DEVICE int apart(Real start, Real bin, int samples, int bins, Real reach) {
  const Real size = abs(bin);
  if (!(abs(start) + bins * size < 65536) || size == 0 || samples < 1) return bins;
  return int(max(min(1 + ceil((reach - size / samples) / size), Real(bins)), Real(1)));
}
